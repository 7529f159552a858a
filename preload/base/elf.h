/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of a mapped object, read from its own tables: dlopen and dlsym would take the loader's
 * lock, and dlopen of an object that is just being loaded would run its constructors too early.
 */
#ifndef PRELOAD_BASE_ELF_H
#define PRELOAD_BASE_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

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
	const ElfW(Verdef) * defined; /* what the numbers of defined symbols mean, or NULL */
	const ElfW(Verneed) * needed; /* the same for undefined ones, or NULL */
};

/* From a callback of dl_iterate_phdr. False if the object has no tables of symbols. */
bool elf_open(struct elf *elf, const struct dl_phdr_info *info);

/*
 * The address of a symbol that the object itself defines, NULL if there is none. A name may stand
 * there in several versions: the loader's choice for a reference to `version` is returned, NULL
 * being one without a version.
 */
void *elf_find_version(const struct elf *elf, const char *name, const char *version);
void *elf_find(const struct elf *elf, const char *name);

/*
 * Does the object refer to a symbol that others define? *version is the one that it asks for, NULL
 * if it does not say. Takes a look at every undefined symbol.
 */
bool elf_refers(const struct elf *elf, const char *name, const char **version);

/* The next library that the object names as needed after `before` (NULL: the first), or NULL. */
const char *elf_next_needed(const struct elf *elf, const ElfW(Dyn) * *before);

#endif
