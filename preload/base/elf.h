/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of a mapped object, read from its own tables: dlopen and dlsym would take the loader's
 * lock, and dlopen of an object that is still loading would run its constructors too early.
 */
#ifndef PRELOAD_BASE_ELF_H
#define PRELOAD_BASE_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/util/clock.h"

struct elf {
	uintptr_t base;
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *strings;
	uint64_t nr_string_bytes;
	const char *soname;	      /* "" if it has none */
	const uint32_t *hash;	      /* DT_GNU_HASH, or NULL */
	const uint32_t *old_hash;     /* DT_HASH, or NULL */
	const uint16_t *versions;     /* DT_VERSYM: a number for each symbol, or NULL */
	const ElfW(Verdef) * defined; /* versions of defined symbols by number, or NULL */
	const ElfW(Verneed) * needed; /* the same for undefined ones, or NULL */
	const ElfW(Rela) * slots;     /* relocations of calls, and all others */
	const ElfW(Rela) * others;
	uint64_t nr_slot_bytes, nr_other_bytes;
};

/* From a callback of dl_iterate_phdr. Returns false if the object has no symbol tables. */
bool elf_open(struct elf *elf, const struct dl_phdr_info *info);

/*
 * The address of a symbol that the object itself defines, NULL if there is none. If a name has
 * several versions, returns the loader's choice for a reference to `version` (NULL: without a
 * version).
 */
void *elf_find_version(const struct elf *elf, const char *name, const char *version);
void *elf_find(const struct elf *elf, const char *name);

/* The same of a variable. *nr_bytes: its size, 0 if there is none. */
void *elf_find_variable(const struct elf *elf, const char *name, uint64_t *nr_bytes);

/* Does it define it as an indirect function (STT_GNU_IFUNC), which only the loader finds? */
bool elf_has_indirect(const struct elf *elf, const char *name);

/*
 * Does the object refer to a symbol that others define? *version is the requested version, NULL if
 * none. Scans every undefined symbol.
 */
bool elf_refers(const struct elf *elf, const char *name, const char **version);

/*
 * Returns the name of a symbol that the loader has bound to an address in [low, low + span), NULL
 * if there is none. *place is where to begin, at first 0, and afterwards where to continue.
 */
const char *elf_next_bound(const struct elf *elf, uintptr_t low, uintptr_t span, uint64_t *place);

/* The next library that the object names as needed after `before` (NULL: the first), or NULL. */
const char *elf_next_needed(const struct elf *elf, const ElfW(Dyn) * *before);

/*
 * The kernel's own clock_gettime, in the object that it maps into every process; NULL if it has
 * mapped none (valgrind hides it). That of the C library may be another library's: one that shows
 * the target another time.
 */
clock_function elf_kernel_clock(void);

#endif
