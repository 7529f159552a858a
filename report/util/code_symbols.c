/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions are an array, sorted by where they begin. A stripped file keeps the table by which
 * exceptions find the functions that they unwind (.eh_frame_hdr): it has where each begins, so that
 * samples of a function without a name still are one row.
 *
 * Every offset of the file is checked before it is used; a file that lies has no names.
 */
#include "report/util/code_symbols.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/files.h"
#include "report/util/sort.h"

/* As in the file's header of the table: what linkers write, 4 bytes from the table's begin. */
#define DWARF_DATAREL_SDATA4 0x3bu
#define DWARF_UDATA4	     0x03u
#define NO_NAME		     SIZE_MAX

struct function {
	uint64_t begin;
	uint64_t nr_bytes; /* 0: up to the next one */
	size_t name;	   /* in `names`, or NO_NAME */
};

struct code_symbols {
	struct function *all;
	size_t nr, capacity;
	struct buf names; /* each with a 0 at its end */
};

struct elf {
	const unsigned char *bytes;
	size_t nr_bytes;
	const Elf64_Shdr *sections;
	unsigned int nr_sections;
	const char *section_names;
	size_t nr_name_bytes;
};

static void add(struct code_symbols *symbols, uint64_t begin, uint64_t nr_bytes, const char *name,
	size_t nr_name_bytes)
{
	symbols->all =
		array_grow(symbols->all, symbols->nr, &symbols->capacity, sizeof(*symbols->all));
	symbols->all[symbols->nr++] =
		(struct function){begin, nr_bytes, name ? symbols->names.nr_bytes : NO_NAME};
	if (name) {
		buf_add(&symbols->names, name, nr_name_bytes);
		buf_char(&symbols->names, '\0');
	}
}

/* ---- ELF ---- */

static bool has_bytes(const struct elf *elf, uint64_t at, uint64_t nr_bytes)
{
	return at <= elf->nr_bytes && nr_bytes <= elf->nr_bytes - at;
}

/* The content of a section, NULL if the file does not have it. */
static const void *content_of(const struct elf *elf, const Elf64_Shdr *section)
{
	bool is_there = section->sh_type != SHT_NOBITS &&
			has_bytes(elf, section->sh_offset, section->sh_size);

	return is_there ? elf->bytes + section->sh_offset : NULL;
}

static bool read_head(struct elf *elf)
{
	const Elf64_Ehdr *head = (const void *)elf->bytes;
	const Elf64_Shdr *names;

	if (elf->nr_bytes < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
		head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
		head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff % 8 ||
		!has_bytes(elf, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr)) ||
		head->e_shstrndx >= head->e_shnum) {
		return false;
	}
	elf->sections = (const void *)(elf->bytes + head->e_shoff);
	elf->nr_sections = head->e_shnum;
	names = &elf->sections[head->e_shstrndx];
	elf->section_names = content_of(elf, names);
	elf->nr_name_bytes = elf->section_names ? names->sh_size : 0;
	return true;
}

static const Elf64_Shdr *find_section(const struct elf *elf, const char *name)
{
	size_t length = strlen(name) + 1;

	for (unsigned int i = 0; i < elf->nr_sections; i++) {
		const Elf64_Shdr *section = &elf->sections[i];

		if (section->sh_name < elf->nr_name_bytes &&
			length <= elf->nr_name_bytes - section->sh_name &&
			memcmp(elf->section_names + section->sh_name, name, length) == 0) {
			return section;
		}
	}
	return NULL;
}

/* Does the note say that this is its file? */
static bool is_build_id(const unsigned char *note, size_t nr_bytes, const char *build_id)
{
	Elf64_Nhdr head;
	char digits[3];

	if (nr_bytes < sizeof(head) + 4) {
		return false;
	}
	memcpy(&head, note, sizeof(head));
	note += sizeof(head) + 4; /* behind "GNU" */
	if (head.n_type != NT_GNU_BUILD_ID || head.n_namesz != 4 ||
		head.n_descsz > nr_bytes - sizeof(head) - 4 ||
		2 * (size_t)head.n_descsz != strlen(build_id)) {
		return false;
	}
	for (size_t i = 0; i < head.n_descsz; i++) {
		snprintf(digits, sizeof(digits), "%02x", note[i]);
		if (memcmp(digits, build_id + 2 * i, 2) != 0) {
			return false;
		}
	}
	return true;
}

/* A file without an ID is the right one if that which ran had none either. */
static bool is_it(const struct elf *elf, const char *build_id)
{
	const Elf64_Shdr *section = find_section(elf, ".note.gnu.build-id");
	const void *note = section ? content_of(elf, section) : NULL;

	return note ? is_build_id(note, section->sh_size, build_id) : !*build_id;
}

static void add_table(
	struct code_symbols *symbols, const struct elf *elf, const Elf64_Shdr *section)
{
	const Elf64_Shdr *strings =
		section->sh_link < elf->nr_sections ? &elf->sections[section->sh_link] : NULL;
	const unsigned char *table = content_of(elf, section);
	const char *names = strings ? content_of(elf, strings) : NULL;

	for (size_t i = 0; table && names && i < section->sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym symbol;
		unsigned int type;

		memcpy(&symbol, table + i * sizeof(symbol), sizeof(symbol));
		type = ELF64_ST_TYPE(symbol.st_info);
		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF &&
			symbol.st_name < strings->sh_size && names[symbol.st_name]) {
			add(symbols, symbol.st_value, symbol.st_size, names + symbol.st_name,
				strnlen(names + symbol.st_name, strings->sh_size - symbol.st_name));
		}
	}
}

static bool add_tables(struct code_symbols *symbols, const struct elf *elf, uint32_t type)
{
	size_t nr_before = symbols->nr;

	for (unsigned int i = 0; i < elf->nr_sections; i++) {
		if (elf->sections[i].sh_type == type) {
			add_table(symbols, elf, &elf->sections[i]);
		}
	}
	return symbols->nr != nr_before;
}

/* Adds where functions begin, without names. */
static void add_begins(struct code_symbols *symbols, const struct elf *elf)
{
	const Elf64_Shdr *section = find_section(elf, ".eh_frame_hdr");
	const unsigned char *table = section ? content_of(elf, section) : NULL;
	int32_t entry[2];
	uint32_t nr;

	/* Version, three encodings, the place of .eh_frame, the number of functions. */
	if (!table || section->sh_size < 12 || table[0] != 1 || table[2] != DWARF_UDATA4 ||
		table[3] != DWARF_DATAREL_SDATA4) {
		return;
	}
	memcpy(&nr, table + 8, sizeof(nr));
	for (uint32_t i = 0; i < nr && 12 + ((uint64_t)i + 1) * sizeof(entry) <= section->sh_size;
		i++) {
		memcpy(entry, table + 12 + i * sizeof(entry), sizeof(entry));
		add(symbols, section->sh_addr + (uint64_t)(int64_t)entry[0], 0, NULL, 0);
	}
}

/* ---- by address ---- */

/* Sorts by address. Several functions may begin at one address; the one to show comes last. */
static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return ORDER(COMPARE(a->begin, b->begin), COMPARE(b->name == NO_NAME, a->name == NO_NAME),
		COMPARE(b->name, a->name));
}

/* Drops functions without a name that lie within one that has a name: they are parts of it. */
static void drop_parts(struct code_symbols *symbols)
{
	uint64_t begin = 0, nr_bytes = 0;
	size_t nr = 0;

	for (size_t i = 0; i < symbols->nr; i++) {
		const struct function *function = &symbols->all[i];

		if (function->name != NO_NAME) {
			begin = function->begin;
			nr_bytes = function->nr_bytes;
		} else if (function->begin - begin < nr_bytes) {
			continue;
		}
		symbols->all[nr++] = *function;
	}
	symbols->nr = nr;
}

static struct code_symbols *sorted(struct code_symbols *symbols)
{
	if (symbols->nr) {
		qsort(symbols->all, symbols->nr, sizeof(*symbols->all), compare);
		drop_parts(symbols);
	}
	return symbols;
}

const char *code_symbols_find(const struct code_symbols *symbols, uint64_t address, uint64_t *begin)
{
	const struct function *function;
	size_t at;

	BISECT(at, 0, symbols->nr, symbols->all[at].begin <= address);
	*begin = address;
	function = at ? &symbols->all[at - 1] : NULL;
	if (!function || (function->nr_bytes && address - function->begin >= function->nr_bytes)) {
		return NULL;
	}
	*begin = function->begin;
	return function->name == NO_NAME ? NULL : symbols->names.bytes + function->name;
}

void code_symbols_destroy(struct code_symbols *symbols)
{
	if (symbols) {
		buf_fini(&symbols->names);
		free(symbols->all);
		free(symbols);
	}
}

/* ---- sources ---- */

static bool has_debug_names(struct code_symbols *symbols, const char *build_id);

static struct code_symbols *read_elf(
	const void *bytes, size_t nr_bytes, const char *build_id, bool may_have_debug_file)
{
	struct elf elf = {.bytes = bytes, .nr_bytes = nr_bytes};
	struct code_symbols *symbols;

	if (!read_head(&elf) || !is_it(&elf, build_id)) {
		return NULL;
	}
	symbols = mem_zeroed(1, sizeof(*symbols));
	if (!add_tables(symbols, &elf, SHT_SYMTAB) &&
		!(may_have_debug_file && has_debug_names(symbols, build_id))) {
		add_tables(symbols, &elf, SHT_DYNSYM);
	}
	add_begins(symbols, &elf);
	return symbols;
}

struct code_symbols *code_symbols_of_elf(const void *bytes, size_t nr_bytes, const char *build_id)
{
	struct code_symbols *symbols = read_elf(bytes, nr_bytes, build_id, false);

	return symbols ? sorted(symbols) : NULL;
}

static bool is_newer(int fd, uint64_t ns)
{
	struct stat status;

	return fstat(fd, &status) ||
	       (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec >
		       ns;
}

/* Maps a whole file; NULL if it cannot be read, or has changed after that time. */
static void *map_file(const char *path, uint64_t not_after_ns, uint64_t *nr_bytes)
{
	int fd = plain_file_open(path, nr_bytes);
	void *bytes = MAP_FAILED;

	if (fd >= 0) {
		bytes = *nr_bytes && !is_newer(fd, not_after_ns)
				? mmap(NULL, *nr_bytes, PROT_READ, MAP_PRIVATE, fd, 0)
				: MAP_FAILED;
		close(fd);
	}
	return bytes == MAP_FAILED ? NULL : bytes;
}

static bool has_debug_names(struct code_symbols *symbols, const char *build_id)
{
	struct elf elf = {0};
	uint64_t nr_bytes = 0;
	struct buf path = {0};
	bool has_names = false;
	void *bytes;

	if (strlen(build_id) <= 2) {
		return false;
	}
	buf_printf(&path, "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	buf_char(&path, '\0');
	bytes = map_file(path.bytes, UINT64_MAX, &nr_bytes);
	buf_fini(&path);
	if (bytes) {
		elf = (struct elf){.bytes = bytes, .nr_bytes = nr_bytes};
		has_names = read_head(&elf) && is_it(&elf, build_id) &&
			    add_tables(symbols, &elf, SHT_SYMTAB);
		munmap(bytes, nr_bytes);
	}
	return has_names;
}

struct code_symbols *code_symbols_open(
	const char *path, const char *build_id, uint64_t not_after_ns)
{
	uint64_t nr_bytes = 0;
	void *bytes = map_file(path, *build_id ? UINT64_MAX : not_after_ns, &nr_bytes);
	struct code_symbols *symbols;

	if (!bytes) {
		return NULL;
	}
	symbols = read_elf(bytes, nr_bytes, build_id, true);
	munmap(bytes, nr_bytes);
	return symbols ? sorted(symbols) : NULL;
}

struct code_symbols *code_symbols_of_perf_map(const char *text, size_t nr_bytes)
{
	struct code_symbols *symbols = mem_zeroed(1, sizeof(*symbols));
	const char *line = text, *end = text + nr_bytes;

	while (line < end) {
		const char *line_end = memchr(line, '\n', (size_t)(end - line));
		unsigned long long begin, size;
		char head[64];
		int at = 0;

		if (!line_end) {
			break; /* still being written */
		}
		snprintf(head, sizeof(head), "%.*s",
			(int)(line_end - line < 63 ? line_end - line : 63), line);
		if (sscanf(head, "%llx %llx %n", &begin, &size, &at) == 2 && at && size &&
			at < line_end - line) {
			add(symbols, begin, size, line + at, (size_t)(line_end - line - at));
		}
		line = line_end + 1;
	}
	if (!symbols->nr) {
		code_symbols_destroy(symbols);
		return NULL;
	}
	return sorted(symbols);
}
