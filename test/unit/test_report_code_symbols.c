/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions in an ELF file that is made here, whole and damaged, and in perf maps. */
#include "report/util/code_symbols.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/unit.h"

enum { NULL_SECTION, NAMES, SYMBOLS, STRINGS, BUILD_ID, BEGINS, NR_SECTIONS };

#define ID "0a0b0c0d"

/* A file with three functions that have symbols, and two that have none. */
struct file {
	Elf64_Ehdr head;
	Elf64_Shdr sections[NR_SECTIONS];
	Elf64_Sym symbols[6];
	char strings[32];
	char names[80];
	struct {
		Elf64_Nhdr head;
		char name[4];
		unsigned char id[4];
	} note;
	struct {
		unsigned char kinds[4]; /* version and encodings */
		uint32_t frames, nr;
		int32_t entries[4][2];
	} begins;
};

static const char names[] = "\0.shstrtab\0.symtab\0.strtab\0.note.gnu.build-id\0.eh_frame_hdr";
static const char strings[] = "\0outer\0inner\0_Z3addii\0import";

static void set_section(struct file *file, unsigned int section, uint32_t name, uint32_t type,
	const void *content, size_t nr_bytes)
{
	file->sections[section] = (Elf64_Shdr){.sh_name = name,
		.sh_type = type,
		.sh_offset = (uint64_t)((const char *)content - (const char *)file),
		.sh_size = nr_bytes,
		.sh_addr = section == BEGINS ? 0x8000 : 0,
		.sh_link = section == SYMBOLS ? STRINGS : 0};
}

static void set_symbol(struct file *file, unsigned int at, uint32_t name, unsigned char type,
	uint16_t section, uint64_t value, uint64_t nr_bytes)
{
	file->symbols[at] =
		(Elf64_Sym){name, ELF64_ST_INFO(STB_GLOBAL, type), 0, section, value, nr_bytes};
}

static struct file *make_file(void)
{
	struct file *file = calloc(1, sizeof(*file));

	memcpy(file->head.e_ident, ELFMAG, SELFMAG);
	file->head.e_ident[EI_CLASS] = ELFCLASS64;
	file->head.e_ident[EI_DATA] = ELFDATA2LSB;
	file->head.e_shoff = offsetof(struct file, sections);
	file->head.e_shentsize = sizeof(Elf64_Shdr);
	file->head.e_shnum = NR_SECTIONS;
	file->head.e_shstrndx = NAMES;
	memcpy(file->names, names, sizeof(names));
	memcpy(file->strings, strings, sizeof(strings));
	set_section(file, NAMES, 1, SHT_STRTAB, file->names, sizeof(file->names));
	set_section(file, SYMBOLS, 11, SHT_SYMTAB, file->symbols, sizeof(file->symbols));
	set_section(file, STRINGS, 19, SHT_STRTAB, file->strings, sizeof(file->strings));
	set_section(file, BUILD_ID, 27, SHT_NOTE, &file->note, sizeof(file->note));
	set_section(file, BEGINS, 46, SHT_PROGBITS, &file->begins, sizeof(file->begins));
	set_symbol(file, 1, 13, STT_FUNC, 1, 0x1300, 0x20);
	set_symbol(file, 2, 1, STT_FUNC, 1, 0x1000, 0x100);
	set_symbol(file, 3, 7, STT_FUNC, 1, 0x1100, 0x80);
	set_symbol(file, 4, 22, STT_FUNC, SHN_UNDEF, 0x1180, 0x80);
	set_symbol(file, 5, 22, STT_OBJECT, 1, 0x1190, 0x80);
	file->note.head = (Elf64_Nhdr){4, 4, NT_GNU_BUILD_ID};
	memcpy(file->note.name, "GNU", 4);
	memcpy(file->note.id, "\x0a\x0b\x0c\x0d", 4);
	memcpy(file->begins.kinds, "\x01\x1b\x03\x3b", 4);
	file->begins.nr = 4;
	file->begins.entries[0][0] = 0x1000 - 0x8000;
	file->begins.entries[1][0] = 0x1040 - 0x8000; /* a part of outer */
	file->begins.entries[2][0] = 0x1200 - 0x8000;
	file->begins.entries[3][0] = 0x1280 - 0x8000;
	return file;
}

static void check(
	const struct code_symbols *symbols, uint64_t address, const char *name, uint64_t begin)
{
	uint64_t found = 0;
	const char *text = code_symbols_find(symbols, address, &found);

	if (name) {
		ck_assert_ptr_nonnull(text);
		ck_assert_str_eq(text, name);
	} else {
		ck_assert_ptr_null(text);
	}
	ck_assert_uint_eq(found, begin);
}

START_TEST(functions_are_found_by_their_addresses)
{
	struct file *file = make_file();
	struct code_symbols *symbols = code_symbols_of_elf(file, sizeof(*file), ID);

	ck_assert_ptr_nonnull(symbols);
	free(file); /* the names are copies */
	check(symbols, 0x0fff, NULL, 0x0fff);
	check(symbols, 0x1000, "outer", 0x1000);
	check(symbols, 0x1041, "outer", 0x1000);
	check(symbols, 0x10ff, "outer", 0x1000);
	check(symbols, 0x1100, "inner", 0x1100);
	check(symbols, 0x1190, NULL, 0x1190); /* neither a function nor of this file */
	check(symbols, 0x1310, "_Z3addii", 0x1300);
	check(symbols, 0x1320, NULL, 0x1320);
	check(symbols, UINT64_MAX, NULL, UINT64_MAX);
	code_symbols_destroy(symbols);
}
END_TEST

START_TEST(functions_without_names_begin_where_exceptions_say)
{
	struct file *file = make_file();
	struct code_symbols *symbols;

	symbols = code_symbols_of_elf(file, sizeof(*file), ID);
	check(symbols, 0x1210, NULL, 0x1200);
	check(symbols, 0x12ff, NULL, 0x1280);
	code_symbols_destroy(symbols);
	file->sections[SYMBOLS].sh_type = SHT_NULL; /* stripped */
	symbols = code_symbols_of_elf(file, sizeof(*file), ID);
	check(symbols, 0x1030, NULL, 0x1000);
	check(symbols, 0x1050, NULL, 0x1040);
	code_symbols_destroy(symbols);
	free(file);
}
END_TEST

START_TEST(another_file_is_refused)
{
	struct file *file = make_file();
	static const char *const others[] = {"", "0a0b0c0e", "0a0b0c", "0a0b0c0d0e", "0A0B0C0D"};
	struct code_symbols *symbols;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ck_assert_ptr_null(code_symbols_of_elf(file, sizeof(*file), others[i]));
	}
	file->sections[BUILD_ID].sh_type = SHT_NOBITS; /* without an ID it is that without one */
	ck_assert_ptr_null(code_symbols_of_elf(file, sizeof(*file), ID));
	symbols = code_symbols_of_elf(file, sizeof(*file), "");
	ck_assert_ptr_nonnull(symbols);
	code_symbols_destroy(symbols);
	free(file);
}
END_TEST

/* Reads outside the file would be seen by AddressSanitizer, or at a guarded page. */
static void try_bytes(const void *bytes, size_t nr_bytes)
{
	void *copy = malloc(nr_bytes ? nr_bytes : 1);
	struct code_symbols *symbols;
	uint64_t begin;

	memcpy(copy, bytes, nr_bytes);
	symbols = code_symbols_of_elf(copy, nr_bytes, ID);
	free(copy);
	for (uint64_t address = 0xf00; symbols && address < 0x1400; address += 0x10) {
		code_symbols_find(symbols, address, &begin);
	}
	code_symbols_destroy(symbols);
}

START_TEST(damaged_files_are_read_within_their_bounds)
{
	struct file *file = make_file(), *damaged = malloc(sizeof(*damaged));
	uint64_t seed = 1;

	for (size_t nr_bytes = 0; nr_bytes <= sizeof(*file); nr_bytes++) {
		try_bytes(file, nr_bytes);
	}
	for (unsigned int i = 0; i < 20000; i++) {
		memcpy(damaged, file, sizeof(*damaged));
		for (unsigned int k = 0; k <= i % 3; k++) {
			((unsigned char *)damaged)[unit_below(&seed, sizeof(*damaged))] =
				(unsigned char)unit_random(&seed);
		}
		try_bytes(damaged, sizeof(*damaged));
	}
	free(file);
	free(damaged);
}
END_TEST

START_TEST(a_perf_map_names_ranges)
{
	static const char text[] = "7f0000001000 40 py::load:/home/me/my data.py\n"
				   "\n"
				   "7f0000000000 100 LazyCompile:~add file.js:1\n"
				   "nonsense\n"
				   "7f0000002000 0 empty\n"
				   "7f0000003000 10 cut";
	struct code_symbols *symbols = code_symbols_of_perf_map(text, sizeof(text) - 1);

	ck_assert_ptr_nonnull(symbols);
	check(symbols, 0x7f0000000080, "LazyCompile:~add file.js:1", 0x7f0000000000);
	check(symbols, 0x7f000000103f, "py::load:/home/me/my data.py", 0x7f0000001000);
	check(symbols, 0x7f0000001040, NULL, 0x7f0000001040);
	check(symbols, 0x7f0000003000, NULL, 0x7f0000003000);
	code_symbols_destroy(symbols);
	ck_assert_ptr_null(code_symbols_of_perf_map("", 0));
	ck_assert_ptr_null(code_symbols_of_perf_map("x\n", 2));
}
END_TEST

UNIT_SUITE("code_symbols", functions_are_found_by_their_addresses,
	functions_without_names_begin_where_exceptions_say, another_file_is_refused,
	damaged_files_are_read_within_their_bounds, a_perf_map_names_ranges)
