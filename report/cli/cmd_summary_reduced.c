/* SPDX-License-Identifier: Apache-2.0 */
/* `summary` of files that `reduce` wrote. */
#include <stdlib.h>
#include <string.h>

#include "report/reduce/reduced_job.h"
#include "report/reduce/reduced_view.h"
#include "report/session/summary.h"

/* ---- printing ---- */

static struct table *make_table(const struct summary *summary,
	const struct reduced_view_class *class, struct reduced *reduced)
{
	bool is_every = summary->is_detailed && class->table == reduced_steps_table;

	if (class->table == reduced_headline_table) {
		return reduced_headline_table(reduced, table_line_width(&summary->asked.table));
	}
	if (summary->is_across_ranks) {
		return reduced_over_table(reduced, class, class->view->name);
	}
	return is_every ? reduced_every_step_table(reduced, 0)
			: class->table(reduced, class->argument);
}

static bool is_asked(const struct summary *summary, const struct reduced_view_class *class)
{
	for (size_t i = 0; i < summary->nr_views; i++) {
		if (summary->views[i] == class->view) {
			return true;
		}
	}
	return false;
}

/* Over ranks that is what is compared, and the order is its own. */
static const char *sort_of(const struct summary *summary)
{
	return summary->is_across_ranks ? NULL : summary->sort;
}

/* Prints a table unless it has none of the wanted rows. False if it cannot be sorted so. */
static bool print_table(const struct summary *summary, struct table *table, struct buf *out)
{
	bool is_json = summary->asked.table.format == TABLE_JSON;
	bool is_sorted = sort_of(summary) && summary_sort(table, sort_of(summary));

	table_cut(table, summary->asked.top);
	if ((table->nr_rows && !table->is_aside) || is_json || !summary->is_default) {
		summary_print_table(summary, table, out);
	}
	table_destroy(table);
	return is_sorted;
}

/* Prints what a job of many processes needs first: each process beside the others. */
static bool print_over(const struct summary *summary, struct reduced *reduced, struct buf *out)
{
	bool is_sorted = false;

	for (const struct reduced_view_class *class = reduced_views;
		class->view && summary->is_default; class ++) {
		struct table *aside = reduced_view_aside(reduced, class);

		if (aside) {
			is_sorted |= print_table(summary, aside, out);
		}
	}
	return is_sorted;
}

static bool print_views(const struct summary *summary, struct reduced *reduced,
	const struct reduced_view_class *first, const struct reduced_view_class *end,
	struct buf *out)
{
	bool is_sorted = false;

	for (const struct reduced_view_class *class = first; class != end; class ++) {
		if (summary->is_default || is_asked(summary, class)) {
			is_sorted |= print_table(summary, make_table(summary, class, reduced), out);
		}
	}
	return is_sorted;
}

/* False if no view has the column to sort by. */
static bool print_all(const struct summary *summary, struct reduced *reduced, struct buf *out)
{
	struct table *processes = reduced_processes_table(reduced);
	enum table_format format = summary->asked.table.format;
	bool is_text = format == TABLE_TEXT_FORMAT || format == TABLE_MARKDOWN;
	bool is_json = format == TABLE_JSON, is_sorted = !sort_of(summary);
	const struct reduced_view_class *rest = reduced_views;

	if (is_json) {
		buf_printf(out, "{\n  \"gprof_report\": \"%s\",\n", GPROF_VERSION);
	}
	/* People read the headline first. */
	if (is_text) {
		is_sorted |= print_views(summary, reduced, reduced_views, ++rest, out);
	}
	table_cut(processes, summary->asked.top);
	if (!summary_is_plain(summary)) {
		table_print(processes, &summary->asked.table, out);
	}
	table_destroy(processes);
	is_sorted |= print_over(summary, reduced, out);
	is_sorted |= print_views(summary, reduced, rest, reduced_views + reduced_nr_views, out);
	buf_text(out, is_json ? "\n}\n" : format == TABLE_OPENMETRICS ? "# EOF\n" : "");
	return is_sorted;
}

/* ---- the request ---- */

static int refuse(const struct summary *summary)
{
	const struct common_options *asked = &summary->asked;
	struct buf names = {0};

	if (summary->style != &style_gprof || summary->is_per_thread || summary->has_detail ||
		select_is_set(&asked->select) || !numbers_is_empty(&asked->filter.pids) ||
		!numbers_is_empty(&asked->filter.ranks)) {
		return cmd_usage(&cmd_summary,
			"a summary written by reduce has no other styles and no "
			"selection of processes or steps; use the streams");
	}
	if (summary->is_across_ranks && summary->sort && strcmp(summary->sort, "total") != 0) {
		return cmd_usage(&cmd_summary,
			"a summary written by reduce compares ranks by total only, not by '%s'; "
			"use the streams",
			summary->sort);
	}
	for (size_t i = 0; !summary->is_default && i < summary->nr_views; i++) {
		if (reduced_view_find(summary->views[i])) {
			continue;
		}
		for (const struct reduced_view_class *class = reduced_views; class->view;
			class ++) {
			buf_printf(&names, "%s%s", names.nr_bytes ? ", " : "", class->view->name);
		}
		cmd_usage(&cmd_summary,
			"a summary written by reduce has no view %s; use the streams; its views "
			"are %.*s",
			summary->views[i]->name, (int)names.nr_bytes, names.bytes);
		buf_fini(&names);
		return CMD_USAGE;
	}
	return 0;
}

int summary_of_reduced(struct summary *summary, char *const *paths, int nr_paths)
{
	struct reduced reduced = {0};
	struct cmd_output output;
	struct buf out;
	int status = refuse(summary);

	status = status ? status : reduced_job_read(&reduced, paths, nr_paths);
	if (!status) {
		cmd_output_init(&output, &out, summary->asked.output);
		if (print_all(summary, &reduced, &out)) {
			status = (int)cmd_output_end(&output, &out);
		} else {
			status = cmd_usage(&cmd_summary,
				"no view has such a column for --sort: '%s'", summary->sort);
		}
		buf_fini(&out);
	}
	if (status != CMD_USAGE && reduced.nr_processes) {
		bool is_incomplete = reduced_job_warn(&reduced);

		status = !status && is_incomplete ? CMD_INCOMPLETE : status;
	}
	reduced_fini(&reduced);
	return status;
}
