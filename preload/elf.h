/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of a mapped object, read from its own tables: dlopen and dlsym would take the loader's
 * lock, and dlopen of an object that is just being loaded would run its constructors too early.
 */
#ifndef PRELOAD_ELF_H
#define PRELOAD_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct elf {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash;	  /* DT_GNU_HASH, or NULL */
	const uint32_t *old_hash; /* DT_HASH, or NULL */
};

/* From a callback of dl_iterate_phdr. False if the object has no such tables. */
bool elf_open(struct elf *elf, const struct dl_phdr_info *info);

/* The address of a symbol that the object itself defines, NULL if there is none. */
void *elf_find(const struct elf *elf, const char *name);

#endif
