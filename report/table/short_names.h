/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of a column as lines of text show them: as short as possible, and no two alike unless
 * the names themselves are.
 */
#ifndef REPORT_TABLE_SHORT_NAMES_H
#define REPORT_TABLE_SHORT_NAMES_H

#include "report/util/buf.h"

struct short_names;

/* Names of kernels get the forms of kernel_name.h; other names are only cut. */
struct short_names *short_names_create(bool are_kernels);
void short_names_destroy(struct short_names *names);

/* Adds a number of string_pool.h, once or more often. */
void short_names_add(struct short_names *names, uint32_t name);

/* After the last name: chooses the shortest forms that differ. */
void short_names_choose(struct short_names *names);

/* Then, perhaps: cuts the forms to as many columns of the terminal, so that they still differ. */
void short_names_cut(struct short_names *names, size_t limit);

/* Returns the text for a name that was added, which is valid until the next change. */
const char *short_names_text(const struct short_names *names, uint32_t name, size_t *nr_bytes);

#endif
