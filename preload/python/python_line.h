/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of Python's code objects: which line an instruction belongs to, by the table that the code
 * object carries. The table is read in pieces, since it may be larger than a thread's stack.
 */
#ifndef PRELOAD_PYTHON_PYTHON_LINE_H
#define PRELOAD_PYTHON_PYTHON_LINE_H

#include <stdint.h>

enum python_lines {
	PYTHON_LINES_LNOTAB, /* co_lnotab, up to 3.9 */
	PYTHON_LINES_PAIRS,  /* co_linetable of 3.10 */
	PYTHON_LINES_PLACES, /* co_linetable from 3.11 on */
};

/*
 * Returns the line of the instruction at `offset` bytes in the code that begins on first_line.
 * Returns 0 if it has none, is past the table, or the table at `at` cannot be read.
 */
uint32_t python_line_find(enum python_lines form, uintptr_t at, uint32_t nr_bytes,
	uint32_t first_line, uint32_t offset);

#endif
