/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions by address: from an ELF file of 64 bits, or from the map that a just-in-time
 * compiler writes for perf. Trusts neither.
 */
#ifndef REPORT_UTIL_CODE_SYMBOLS_H
#define REPORT_UTIL_CODE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct code_symbols;

/*
 * Reads the functions of the file; build_id: that which the file must have, as hexadecimal digits,
 * "" if none: then it must not have changed after that time (since 1970). A stripped file's names
 * come from its debug file, if that is in /usr/lib/debug. Returns NULL if there is no such file, or
 * if it is another one.
 */
struct code_symbols *code_symbols_open(
	const char *path, const char *build_id, uint64_t not_after_ns);

/* The same from the bytes of an ELF file. */
struct code_symbols *code_symbols_of_elf(const void *bytes, size_t nr_bytes, const char *build_id);

/* The same from the text of a perf map: lines of address, size and name. NULL: it has none. */
struct code_symbols *code_symbols_of_perf_map(const char *text, size_t nr_bytes);

void code_symbols_destroy(struct code_symbols *symbols);

/*
 * The name of the function at the address, as it is in the file; valid as long as the symbols are.
 * NULL: it has none; then *begin is where the function begins, or the address if that is unknown.
 */
const char *code_symbols_find(
	const struct code_symbols *symbols, uint64_t address, uint64_t *begin);

#endif
