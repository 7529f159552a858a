/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a symbol as the loader does: by the GNU hash table or the old one, in the version that the
 * reference names. At the end, the clock of the kernel's own object (vDSO) is found in the same
 * way.
 */
#include "preload/base/elf.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

/* In a symbol's version number: the default version of its name lacks this bit. */
#define VERSION_HIDDEN 0x8000u
/* Numbers from here on are named; 0 and 1 are symbols without a version. */
#define FIRST_VERSION 2u

/* glibc relocates the addresses of the dynamic section in place, musl does not. */
static const void *address(const struct elf *elf, uintptr_t value)
{
	return (const void *)(value < elf->base ? value + elf->base : value);
}

COMPAT_START_CODE static void take_entry(struct elf *elf, const ElfW(Dyn) * entry)
{
	const void *at = address(elf, entry->d_un.d_ptr);

	switch (entry->d_tag) {
	case DT_SYMTAB:
		elf->symbols = at;
		break;
	case DT_STRTAB:
		elf->strings = at;
		break;
	case DT_STRSZ:
		elf->nr_string_bytes = entry->d_un.d_val;
		break;
	case DT_GNU_HASH:
		elf->hash = at;
		break;
	case DT_HASH:
		elf->old_hash = at;
		break;
	case DT_VERSYM:
		elf->versions = at;
		break;
	case DT_VERDEF:
		elf->defined = at;
		break;
	case DT_VERNEED:
		elf->needed = at;
		break;
	case DT_JMPREL:
		elf->slots = at;
		break;
	case DT_PLTRELSZ:
		elf->nr_slot_bytes = entry->d_un.d_val;
		break;
	case DT_RELA:
		elf->others = at;
		break;
	case DT_RELASZ:
		elf->nr_other_bytes = entry->d_un.d_val;
		break;
	default:
		break;
	}
}

COMPAT_START_CODE bool elf_open(struct elf *elf, const struct dl_phdr_info *info)
{
	*elf = (struct elf){.base = info->dlpi_addr, .soname = ""};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
			elf->dynamic = (const ElfW(Dyn) *)(elf->base + info->dlpi_phdr[i].p_vaddr);
		}
	}
	for (const ElfW(Dyn) *entry = elf->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
		take_entry(elf, entry);
	}
	for (const ElfW(Dyn) *entry = elf->dynamic;
		elf->strings && entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SONAME) {
			elf->soname = elf->strings + entry->d_un.d_val;
		}
	}
	return elf->symbols && elf->strings && (elf->hash || elf->old_hash);
}

#if defined(__x86_64__)
#define IS_ADDRESS(type) \
	((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define IS_ADDRESS(type) \
	((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#else
#define IS_ADDRESS(type) ((void)(type), false)
#endif

const char *elf_next_bound(const struct elf *elf, uintptr_t low, uintptr_t span, uint64_t *place)
{
	uint64_t nr_slots = elf->slots ? elf->nr_slot_bytes / sizeof(*elf->slots) : 0;
	uint64_t nr_others = elf->others ? elf->nr_other_bytes / sizeof(*elf->others) : 0;

	while (*place < nr_slots + nr_others) {
		const ElfW(Rela) *entry =
			*place < nr_slots ? &elf->slots[*place] : &elf->others[*place - nr_slots];
		const _Atomic uintptr_t *bound = (const void *)(elf->base + entry->r_offset);

		++*place;
		if (IS_ADDRESS(entry->r_info & 0xffffffff) && entry->r_info >> 32 &&
			atomic_load_explicit(bound, memory_order_relaxed) - low < span) {
			return elf->strings + elf->symbols[entry->r_info >> 32].st_name;
		}
	}
	return NULL;
}

const char *elf_next_needed(const struct elf *elf, const ElfW(Dyn) * *before)
{
	const ElfW(Dyn) *entry = *before ? *before + 1 : elf->dynamic;

	for (; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_NEEDED) {
			*before = entry;
			return elf->strings + entry->d_un.d_val;
		}
	}
	return NULL;
}

/* ---- versions ---- */

/* Returns the name of a version that the object defines, "" for none. */
COMPAT_START_CODE static const char *defined_version(const struct elf *elf, uint16_t number)
{
	const ElfW(Verdef) *definition = elf->defined;

	while (definition && definition->vd_ndx != number) {
		definition =
			definition->vd_next
				? (const void *)((const char *)definition + definition->vd_next)
				: NULL;
	}
	if (!definition || number < FIRST_VERSION) {
		return "";
	}
	return elf->strings +
	       ((const ElfW(Verdaux) *)((const char *)definition + definition->vd_aux))->vda_name;
}

/* Returns the name of a version that the object needs from others, NULL for none. */
static const char *needed_version(const struct elf *elf, uint16_t number)
{
	for (const ElfW(Verneed) *file = elf->needed; file;) {
		const ElfW(Vernaux) *version = (const void *)((const char *)file + file->vn_aux);

		for (unsigned int i = 0; i < file->vn_cnt; i++) {
			if (version->vna_other == number) {
				return elf->strings + version->vna_name;
			}
			version = (const void *)((const char *)version + version->vna_next);
		}
		file = file->vn_next ? (const void *)((const char *)file + file->vn_next) : NULL;
	}
	return NULL;
}

/*
 * As the loader decides: the requested version, or a symbol without one. A reference without a
 * version means the default version.
 */
COMPAT_START_CODE static bool fits(const struct elf *elf, uint32_t index, const char *version)
{
	uint16_t number = elf->versions ? elf->versions[index] : 0;
	bool is_hidden = number & VERSION_HIDDEN;
	const char *name;

	if (!elf->versions) {
		return true;
	}
	if (!version) {
		return !is_hidden;
	}
	name = defined_version(elf, number & ~VERSION_HIDDEN);
	return *name ? !strcmp(name, version) : !is_hidden;
}

/* ---- symbols ---- */

COMPAT_START_CODE static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++) {
		hash = hash * 33 + (unsigned char)*name;
	}
	return hash;
}

COMPAT_START_CODE static const ElfW(Sym) *
	find_at(const struct elf *elf, uint32_t index, const char *name, const char *version)
{
	const ElfW(Sym) *symbol = &elf->symbols[index];

	return symbol->st_shndx != SHN_UNDEF && !strcmp(elf->strings + symbol->st_name, name) &&
			       fits(elf, index, version)
		       ? symbol
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
COMPAT_START_CODE static const ElfW(Sym) *
	find_old(const struct elf *elf, const char *name, const char *version)
{
	uint32_t nr_buckets = elf->old_hash[0];
	const uint32_t *buckets = elf->old_hash + 2, *chains = buckets + nr_buckets;
	const ElfW(Sym) *found = NULL;

	for (uint32_t index = nr_buckets ? buckets[old_hash_of(name) % nr_buckets] : 0;
		index && !found; index = chains[index]) {
		found = find_at(elf, index, name, version);
	}
	return found;
}

/* The table: buckets' number, first symbol in it, words of the filter, shift; filter, buckets,
 * chains. */
COMPAT_START_CODE static const ElfW(Sym) *
	find_gnu(const struct elf *elf, const char *name, const char *version)
{
	uint32_t nr_buckets = elf->hash[0], first = elf->hash[1], nr_words = elf->hash[2];
	const ElfW(Addr) *filter = (const void *)(elf->hash + 4);
	const uint32_t *buckets = (const void *)(filter + nr_words);
	const uint32_t *chains = buckets + nr_buckets;
	const uint32_t bits = 8 * sizeof(*filter);
	uint32_t hash = hash_of(name);
	uint32_t index = nr_buckets ? buckets[hash % nr_buckets] : 0;
	ElfW(Addr) word = nr_words ? filter[hash / bits & (nr_words - 1)] : ~(ElfW(Addr))0;

	if (!(word >> hash % bits & word >> (hash >> elf->hash[3]) % bits & 1) || index < first ||
		!index) {
		return NULL;
	}
	for (;; index++) {
		uint32_t have = chains[index - first];
		const ElfW(Sym) *found =
			(have | 1u) == (hash | 1u) ? find_at(elf, index, name, version) : NULL;

		if (found || (have & 1u)) {
			return found;
		}
	}
}

COMPAT_START_CODE static const ElfW(Sym) *
	find_symbol(const struct elf *elf, const char *name, const char *version)
{
	return elf->hash ? find_gnu(elf, name, version) : find_old(elf, name, version);
}

static bool is_indirect(const ElfW(Sym) * symbol)
{
	return (symbol->st_info & 0xf) == STT_GNU_IFUNC;
}

COMPAT_START_CODE void *elf_find_version(
	const struct elf *elf, const char *name, const char *version)
{
	const ElfW(Sym) *symbol = find_symbol(elf, name, version);

	/* Only the code of an indirect function itself can supply its address. */
	return symbol && !is_indirect(symbol) ? (void *)(elf->base + symbol->st_value) : NULL;
}

bool elf_has_indirect(const struct elf *elf, const char *name)
{
	const ElfW(Sym) *symbol = find_symbol(elf, name, NULL);

	return symbol && is_indirect(symbol);
}

COMPAT_START_CODE void *elf_find(const struct elf *elf, const char *name)
{
	return elf_find_version(elf, name, NULL);
}

void *elf_find_variable(const struct elf *elf, const char *name, uint64_t *nr_bytes)
{
	const ElfW(Sym) *symbol = find_symbol(elf, name, NULL);

	*nr_bytes = symbol ? symbol->st_size : 0;
	return symbol ? (void *)(elf->base + symbol->st_value) : NULL;
}

/*
 * Returns how many symbols may be undefined ones. In a GNU table those that are hashed come last;
 * one that hashes nothing does not say where they begin, but linkers put the strings behind the
 * symbols.
 */
static uint32_t count_undefined(const struct elf *elf)
{
	const char *symbols = (const char *)elf->symbols;

	if (elf->old_hash) {
		return elf->old_hash[1];
	}
	if (elf->hash[1] > 1 || elf->strings < symbols) {
		return elf->hash[1];
	}
	return (uint32_t)((uint64_t)(elf->strings - symbols) / sizeof(*elf->symbols));
}

bool elf_refers(const struct elf *elf, const char *name, const char **version)
{
	uint32_t nr = count_undefined(elf);

	for (uint32_t index = 1; index < nr; index++) {
		const ElfW(Sym) *symbol = &elf->symbols[index];

		if (symbol->st_shndx == SHN_UNDEF && symbol->st_name < elf->nr_string_bytes &&
			!strcmp(elf->strings + symbol->st_name, name)) {
			*version = elf->versions
					   ? needed_version(elf, elf->versions[index] &
									 (uint16_t)~VERSION_HIDDEN)
					   : NULL;
			return true;
		}
	}
	return false;
}

/* ---- the kernel's object ---- */

#if defined(__aarch64__)
#define CLOCK_GETTIME "__kernel_clock_gettime"
#else
#define CLOCK_GETTIME "__vdso_clock_gettime"
#endif

/*
 * Derives the base from the address of the header: the two differ in an object that is prelinked.
 */
static struct dl_phdr_info describe(const ElfW(Ehdr) * header)
{
	struct dl_phdr_info info = {
		.dlpi_phdr = (const ElfW(Phdr) *)((const char *)header + header->e_phoff),
		.dlpi_phnum = header->e_phnum};

	for (int i = 0; i < info.dlpi_phnum; i++) {
		if (info.dlpi_phdr[i].p_type == PT_LOAD) {
			info.dlpi_addr = (uintptr_t)header + info.dlpi_phdr[i].p_offset -
					 info.dlpi_phdr[i].p_vaddr;
			break;
		}
	}
	return info;
}

clock_function elf_kernel_clock(void)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
	clock_function result = NULL;
	struct dl_phdr_info info;
	struct elf elf;

	if (header) {
		info = describe(header);
		if (elf_open(&elf, &info)) {
			*(void **)&result = elf_find(&elf, CLOCK_GETTIME);
		}
	}
	return result;
}
