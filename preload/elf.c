/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/elf.h"

#include <string.h>

/* glibc relocates the addresses of the dynamic section in place, musl does not. */
static const void *address(const struct elf *elf, uintptr_t value)
{
	return (const void *)(value < elf->base ? value + elf->base : value);
}

bool elf_open(struct elf *elf, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;

	*elf = (struct elf){.base = info->dlpi_addr};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
			dynamic = (const ElfW(Dyn) *)(elf->base + info->dlpi_phdr[i].p_vaddr);
		}
	}
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		switch (dynamic->d_tag) {
		case DT_SYMTAB:
			elf->symbols = address(elf, dynamic->d_un.d_ptr);
			break;
		case DT_STRTAB:
			elf->strings = address(elf, dynamic->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			elf->hash = address(elf, dynamic->d_un.d_ptr);
			break;
		case DT_HASH:
			elf->old_hash = address(elf, dynamic->d_un.d_ptr);
			break;
		default:
			break;
		}
	}
	return elf->symbols && elf->strings && (elf->hash || elf->old_hash);
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++) {
		hash = hash * 33 + (unsigned char)*name;
	}
	return hash;
}

static void *find_at(const struct elf *elf, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &elf->symbols[index];

	return symbol->st_shndx != SHN_UNDEF && !strcmp(elf->strings + symbol->st_name, name)
		       ? (void *)(elf->base + symbol->st_value)
		       : NULL;
}

static uint32_t old_hash_of(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (unsigned char)*name;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	return hash;
}

/* The table: numbers of buckets and chains, buckets, chains. */
static void *find_old(const struct elf *elf, const char *name)
{
	uint32_t nr_buckets = elf->old_hash[0];
	const uint32_t *buckets = elf->old_hash + 2, *chains = buckets + nr_buckets;
	void *found = NULL;

	for (uint32_t index = nr_buckets ? buckets[old_hash_of(name) % nr_buckets] : 0;
		index && !found; index = chains[index]) {
		found = find_at(elf, index, name);
	}
	return found;
}

/* The table: buckets' number, first symbol in it, words of the filter, shift; filter, buckets,
 * chains. */
static void *find_gnu(const struct elf *elf, const char *name)
{
	uint32_t nr_buckets = elf->hash[0], first = elf->hash[1], nr_words = elf->hash[2];
	const uint32_t *buckets =
		elf->hash + 4 + nr_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chains = buckets + nr_buckets;
	uint32_t hash = hash_of(name);
	uint32_t index = nr_buckets ? buckets[hash % nr_buckets] : 0;

	if (index < first || !index) {
		return NULL;
	}
	for (;; index++) {
		uint32_t have = chains[index - first];
		void *found = (have | 1u) == (hash | 1u) ? find_at(elf, index, name) : NULL;

		if (found || (have & 1u)) {
			return found;
		}
	}
}

void *elf_find(const struct elf *elf, const char *name)
{
	return elf->hash ? find_gnu(elf, name) : find_old(elf, name);
}
