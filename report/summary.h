/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked of `summary`, and the printers of its styles. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "report/cmd.h"
#include "report/view.h"

#define SUMMARY_VIEWS 32u

enum summary_style {
	SUMMARY_GPROF,
	SUMMARY_NVPROF,
	SUMMARY_NSYS,
};

struct summary {
	const struct view_class *views[SUMMARY_VIEWS];
	size_t nr_views;
	bool is_default; /* no --view was given */
	enum summary_style style;
	struct table_style table;
	const char *sort; /* NULL: each view's own order */
	size_t top;
	bool is_per_thread, is_detailed;
	const char *output;
	struct cmd_filter filter;
};

/* Prints all views, as text, CSV, JSON or Markdown. Returns a usage text if --sort fits no view. */
const char *summary_print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out);

/* nvprof's two sections, a pair for each process. Text or CSV. */
void style_nvprof_print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out);

/* The reports of `nsys stats` that fit. Text or CSV. */
void style_nsys_print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out);

#endif
