/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that style_paddle.c prints, made of the cells of our own views; a cell that is not
 * known is a dash. Texts belong to the caller.
 */
#ifndef REPORT_STYLES_PADDLE_REPORT_H
#define REPORT_STYLES_PADDLE_REPORT_H

#include "report/styles/paddle_grid.h"
#include "report/session/summary.h"

/* The views whose tables are needed. */
enum paddle_view {
	PADDLE_OVERVIEW,
	PADDLE_UTILIZATION,
	PADDLE_MODEL,
	PADDLE_OPERATOR,
	PADDLE_KERNEL,
	PADDLE_MANIPULATION,
	PADDLE_USERDEFINED,
	PADDLE_BENCHMARK,
	PADDLE_FRAMEWORK,
	NR_PADDLE_VIEWS,
};

struct paddle_report {
	const struct summary *summary;
	struct table *tables[NR_PADDLE_VIEWS]; /* NULL: not needed */
	const char *unit;
	double unit_ns;
	double steps_ns, steps_gpu_ns; /* the base of shares; 0: unknown */
	struct buf *out;
};

/* ---- cells ---- */

/* That of a row with the key; one that is not known where there is no such column. */
const struct table_cell *paddle_cell(const struct table *table, size_t row, const char *key);
bool paddle_has(const struct table *table, size_t row, const char *key, const char *text);

void paddle_add_time(
	const struct paddle_report *report, struct buf *text, const struct table_cell *time);
char *paddle_time(const struct paddle_report *report, const struct table_cell *time);
char *paddle_percent(const struct table_cell *percent);
char *paddle_count(const struct table_cell *count);

/* A name cut to what is left of the column, further in by its level; that of a row. */
char *paddle_name_text(const struct paddle_report *report, const char *bytes, size_t nr_bytes,
	unsigned int level, size_t width);
char *paddle_name(
	const struct paddle_report *report, const struct table *table, size_t row, size_t width);

/* ---- tables: nothing is printed of those without rows ---- */

void paddle_print_device(struct paddle_report *report);
void paddle_print_overview(struct paddle_report *report);
void paddle_print_distribution(struct paddle_report *report);
void paddle_print_model(struct paddle_report *report);
void paddle_print_operator(struct paddle_report *report);
void paddle_print_kernel(struct paddle_report *report);
void paddle_print_manipulation(struct paddle_report *report);
void paddle_print_userdefined(struct paddle_report *report);
void paddle_print_benchmark(struct paddle_report *report);

#endif
