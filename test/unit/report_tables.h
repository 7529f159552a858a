/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of views share: a view over some processes, and the cells of its table. */
#ifndef TEST_UNIT_REPORT_TABLES_H
#define TEST_UNIT_REPORT_TABLES_H

#include "report/analysis/view.h"

/* The table of a view, to be destroyed. */
struct table *tables_with(const struct view_class *class, const struct view_input *input);

/* The same of some processes. is_split: by thread and by shapes. */
struct table *tables_make(
	const struct view_class *class, struct process **processes, size_t nr, bool is_split);

/* The same over the one stream at that path. */
struct table *tables_of(const struct view_class *class, const char *path, bool is_split);

struct table *tables_detailed(const struct view_class *class, const char *path,
	enum view_detail detail, bool is_per_thread);

/* Makes those of streams of nonsense: it is enough that nothing breaks. */
void tables_of_nonsense(const struct view_class *class, bool is_split);

/* A cell by its column's key; its number, which must be known; the text of a name. */
const struct table_cell *tables_cell(const struct table *table, size_t row, const char *key);
uint64_t tables_number(const struct table *table, size_t row, const char *key);
const char *tables_name(const struct table *table, size_t row);

/* The n-th row, from 0, whose column has that text or name. */
size_t tables_find(const struct table *table, const char *key, const char *text, size_t n);

#endif
