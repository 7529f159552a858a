/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and shapes of operators as ids, for rows of table op. All frameworks, and modules of
 * PyTorch seen from Python, share them.
 */
#ifndef PRELOAD_PYTHON_OP_NAME_H
#define PRELOAD_PYTHON_OP_NAME_H

#include <stdint.h>

enum op_name_table { OP_NAME_NAMES, OP_NAME_SHAPES, OP_NAME_NR_TABLES };

/* Entries of a table. */
#define OP_NAME_MAX 32768u

/*
 * The id of a text; writes a new one to the stream at once. 0 if there are too many: OP_NAME_MAX,
 * or 4 MB of text. A row must carry the text of its name then. Any thread, no lock.
 */
uint32_t op_name_intern(enum op_name_table table, const char *text);

/* In a forked child, whose stream is new. */
void op_name_forget(void);

#endif
