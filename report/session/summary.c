/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The style `gprof`: the tables of views, with the processes before them and hints behind. Nothing
 * is printed before it is known that --sort fits a table. The second part lists the words that
 * --sort takes.
 */
#include "report/session/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/device_records.h"
#include "report/model/process_tree.h"
#include "report/model/run_state.h"
#include "report/session/options.h"
#include "report/util/sort.h"
#include "report/util/text.h"

struct process_row {
	uint32_t pid;
	int64_t rank, world;
	uint64_t duration_ns, nr_events, missing;
	const char *host, *state, *path, *command;
};

struct table *summary_processes(const struct cmd_input *input)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("pid", "PID", TABLE_ID, TABLE_MEMBER(process_row, pid)),
		TABLE_COLUMN("host", "Host", TABLE_TEXT, TABLE_MEMBER(process_row, host)),
		TABLE_COLUMN("rank", "Rank", TABLE_ID, TABLE_MEMBER(process_row, rank)),
		TABLE_COLUMN("world_size", "World", TABLE_ID, TABLE_MEMBER(process_row, world)),
		TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME,
			TABLE_MEMBER(process_row, duration_ns)),
		TABLE_COLUMN("events", "Events", TABLE_COUNT, TABLE_MEMBER(process_row, nr_events)),
		TABLE_COLUMN(
			"missing", "Missing", TABLE_COUNT, TABLE_SATURATED(process_row, missing)),
		TABLE_COLUMN("state", "State", TABLE_TEXT, TABLE_MEMBER(process_row, state)),
		TABLE_COLUMN("file", "File", TABLE_TEXT, TABLE_MEMBER(process_row, path)),
		TABLE_COLUMN("command", "Command", TABLE_TEXT, TABLE_MEMBER(process_row, command)),
	};
	struct table *table = table_create(
		"processes", "Processes", columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < input->nr_processes; i++) {
		struct process *process = input->processes[i];

		table_add(
			table, &(struct process_row){.pid = process->pid,
				       .host = process_host(process),
				       .rank = process->rank,
				       .world = process->world,
				       .duration_ns = process->first_ns <= process->last_ns
							      ? process->last_ns - process->first_ns
							      : UINT64_MAX,
				       .nr_events = process->nr_events,
				       .missing = process_missing(process),
				       .state = process_is_complete(process) ? "complete"
						: process->is_ended	     ? "incomplete"
									     : "unfinished",
				       .path = process->stream->path,
				       .command = process_command(process)});
	}
	return table;
}

/* ---- the views ---- */

static bool is_left_out(
	const struct summary *summary, const struct view_class *class, const struct table *table)
{
	return summary->is_default && !summary->is_all &&
	       summary->asked.table.format != TABLE_JSON &&
	       (table->is_aside || (class->is_empty_hidden && !table->nr_rows));
}

/* Adds the lowest and the highest rank, if there are any. */
static void add_ranks(struct buf *line, const struct cmd_input *input)
{
	const struct process *first = NULL, *last = NULL;

	for (size_t i = 0; i < input->nr_processes; i++) {
		if (input->processes[i]->rank >= 0) {
			first = first ? first : input->processes[i];
			last = input->processes[i];
		}
	}
	if (first && first->rank == last->rank) {
		buf_printf(line, ", rank %" PRId64, first->rank);
	} else if (first) {
		buf_printf(line, ", ranks %" PRId64 " to %" PRId64, first->rank, last->rank);
	}
	if (first && first->world > 0) {
		buf_printf(line, " of %" PRId64, first->world);
	}
}

/* Returns the first rank. Without ranks it is the process with most steps: others help it. */
static const struct process *main_process(const struct cmd_input *input)
{
	const struct process *most = input->processes[0];

	for (size_t i = 0; i < input->nr_processes; i++) {
		const struct process *process = input->processes[i];

		if (process->rank >= 0) {
			return process;
		}
		most = process->nr_steps > most->nr_steps ? process : most;
	}
	return most;
}

/* Prints what ran, in one line, and what of it is missing. */
static void print_run(const struct cmd_input *input, size_t width, struct buf *out)
{
	const struct process *first = input->nr_processes ? main_process(input) : NULL;
	struct buf line = {0};

	if (!first) {
		return;
	}
	if (input->nr_processes == 1) {
		const char *host = process_fact(first, "host.name", NULL);

		buf_printf(&line, ", pid %" PRIu32, first->pid);
		buf_text(&line, host ? " on " : "");
		text_add_shown(&line, host ? host : "", host ? strlen(host) : 0, 24);
		process_tree_add_worker(&line, first);
	} else {
		buf_printf(&line, ", %zu processes", input->nr_processes);
	}
	add_ranks(&line, input);
	run_state_add_program(out, first,
		width > line.nr_bytes + 12 ? width - line.nr_bytes
		: width			   ? 12
					   : 0);
	buf_add(out, line.bytes, line.nr_bytes);
	buf_char(out, '\n');
	run_state_add_losses(out, input->processes, input->nr_processes, "", width);
	buf_char(out, '\n');
	buf_fini(&line);
}

bool summary_is_plain(const struct summary *summary)
{
	return summary->asked.table.format == TABLE_CSV && summary->nr_views == 1 &&
	       !summary->is_default;
}

void summary_print_table(const struct summary *summary, const struct table *table, struct buf *out)
{
	struct table_style style = summary->asked.table;

	style.is_plain = summary_is_plain(summary);
	buf_text(out, style.format == TABLE_JSON ? ",\n" : "");
	table_print(table, &style, out);
	for (const char *note = style.is_plain ? table->note : NULL; note;
		note = table_next_note(note)) {
		cmd_error("note: %.*s", (int)table_note_length(note), note);
	}
}

/* Does the output begin with the headline? Text and Markdown do, if it is the first view. */
static bool has_headline(const struct summary *summary)
{
	enum table_format format = summary->asked.table.format;

	return !summary->is_across_ranks && summary->nr_views &&
	       summary->views[0] == &view_headline &&
	       (format == TABLE_TEXT_FORMAT || format == TABLE_MARKDOWN);
}

static void print_head(const struct summary *summary, const struct cmd_input *input,
	struct table *processes, struct buf *out)
{
	if (summary_is_plain(summary)) {
		return;
	}
	switch (summary->asked.table.format) {
	case TABLE_JSON:
		buf_printf(out, "{\n  \"gprof_report\": \"%s\",\n", GPROF_VERSION);
		table_print(processes, &summary->asked.table, out);
		break;
	case TABLE_TEXT_FORMAT:
		print_run(input, table_line_width(&summary->asked.table), out);
		break;
	default:
		table_print(processes, &summary->asked.table, out);
		break;
	}
}

static void print_selection(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	struct table *table = summary_is_plain(summary)
				      ? NULL
				      : select_table(input->processes, input->nr_processes);

	if (table) {
		table_cut(table, summary->asked.top);
		buf_text(out, summary->asked.table.format == TABLE_JSON ? ",\n" : "");
		table_print(table, &summary->asked.table, out);
		table_destroy(table);
	}
}

/* Paddle's keys (CPUTotal ...) stand for columns of gprof. */
bool summary_sort(struct table *table, const char *key)
{
	static const struct {
		const char *name, *key;
		bool is_rising;
	} others[] = {
		{"CPUTotal", "total", false},
		{"CPUAvg", "avg", false},
		{"CPUMax", "max", false},
		{"CPUMin", "min", true},
		{"GPUTotal", "gpu_total", false},
		{"GPUAvg", "gpu_avg", false},
		{"GPUMax", "gpu_max", false},
		{"GPUMin", "gpu_min", true},
		{"ave", "avg", false},
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(key, others[i].name) == 0) {
			return others[i].is_rising ? table_sort_rising(table, others[i].key)
						   : table_sort(table, others[i].key);
		}
	}
	return table_sort(table, key);
}

/* ---- keys for --sort ---- */

/* Returns a key of JSON without its unit. */
static char *sort_key(const char *key)
{
	static const char *const units[] = {"_ns", "_bytes", "_pct"};
	char *text = mem_text(key);
	size_t length = strlen(text);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t nr = strlen(units[i]);

		if (length > nr && strcmp(text + length - nr, units[i]) == 0) {
			text[length - nr] = '\0';
			break;
		}
	}
	return text;
}

char **summary_sort_keys(const struct view_class *const *views, size_t nr_views)
{
	size_t nr = 0, capacity = 0, kept = 0;
	char **keys = NULL;

	for (size_t i = 0; i < nr_views; i++) {
		for (unsigned int c = 0; c < views[i]->nr_columns; c++) {
			keys = array_grow(keys, nr, &capacity, sizeof(*keys));
			keys[nr++] = sort_key(views[i]->columns[c].key);
		}
	}
	qsort(keys, nr, sizeof(*keys), by_string);
	for (size_t i = 0; i < nr; i++) {
		if (kept && strcmp(keys[kept - 1], keys[i]) == 0) {
			free(keys[i]);
		} else {
			keys[kept++] = keys[i];
		}
	}
	keys = array_grow(keys, kept, &capacity, sizeof(*keys));
	keys[kept] = NULL;
	return keys;
}

void summary_free_sort_keys(char **keys)
{
	for (char **each = keys; *each; each++) {
		free(*each);
	}
	free(keys);
}

void summary_add_sort_keys(const struct view_class *const *views,
	void (*add)(void *context, const char *word), void *context)
{
	size_t nr = 0;
	char **keys;

	while (views[nr]) {
		nr++;
	}
	keys = summary_sort_keys(views, nr);
	for (size_t i = 0; keys[i]; i++) {
		add(context, keys[i]);
	}
	summary_free_sort_keys(keys);
}

#define NR_NEXT 5u

static bool has_rows(const struct cmd_input *input, table_set tables)
{
	for (size_t i = 0; i < input->nr_processes; i++) {
		if (stream_has_rows(input->processes[i]->stream, tables)) {
			return true;
		}
	}
	return false;
}

static bool has_gpu(const struct cmd_input *input)
{
	for (size_t i = 0; i < input->nr_processes; i++) {
		if (process_has_device_records(input->processes[i], NULL)) {
			return true;
		}
	}
	return false;
}

/* Finds views for which the recording has data. */
static size_t find_next(const struct cmd_input *input, const struct view_class **next)
{
	bool has_devices = has_gpu(input), has_ops = has_rows(input, table_bit(GPROF_TABLE_op));
	const struct {
		const struct view_class *view;
		bool fits;
	} all[] = {
		{&view_advice, true},
		{&view_steps, true},
		{&view_breakdown, true},
		{&view_idle, has_devices},
		{&view_data_loading, !has_devices && has_ops},
		{&view_operator_types, !has_devices && has_ops},
		{&view_memory, !has_devices && has_rows(input, table_bit(GPROF_TABLE_alloc))},
		{&view_api, has_rows(input, table_set_with(GPROF_IS_CALL))},
	};
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && nr < NR_NEXT; i++) {
		if (all[i].fits) {
			next[nr++] = all[i].view;
		}
	}
	return nr;
}

/* Names the views to look at next. They are not printed by default because they take longer. */
static void print_next(const struct cmd_input *input, struct buf *out)
{
	const struct view_class *next[NR_NEXT];
	size_t nr = find_next(input, next), width = 0;

	for (size_t i = 0; i < nr; i++) {
		width = strlen(next[i]->name) > width ? strlen(next[i]->name) : width;
	}
	buf_text(out,
		"More with --view NAME, or --all; gprof-report help summary lists the views:\n");
	for (size_t i = 0; i < nr; i++) {
		buf_printf(out, "  %-*s  %s\n", (int)width, next[i]->name, next[i]->help);
	}
}

static void print_behind_headline(const struct summary *summary, const struct cmd_input *input,
	const struct table *processes, struct buf *out)
{
	print_selection(summary, input, out);
	if (summary->is_all && summary->is_default) {
		table_print(processes, &summary->asked.table, out);
	}
}

/* Prints each view over ranks, in the given order. Returns the first error, and then prints none.
 */
static const char *print_across_ranks(const struct summary *summary, const struct cmd_input *input,
	const struct view_input *view_input, struct buf *out)
{
	struct table *tables[SUMMARY_VIEWS];
	struct table *processes;
	struct rank_waits waits;
	const char *wrong = NULL;
	size_t nr = 0;

	rank_waits_read(&waits, view_input->processes, view_input->nr_processes);
	while (nr < summary->nr_views && !wrong) {
		tables[nr] = rank_spread_table(
			summary->views[nr], view_input, &waits, summary->sort, &wrong);
		nr += !wrong;
	}
	rank_waits_fini(&waits);
	if (!wrong) {
		processes = summary_processes(input);
		print_head(summary, input, processes, out);
		table_destroy(processes);
		print_selection(summary, input, out);
	}
	for (size_t i = 0; i < nr; i++) {
		if (!wrong) {
			table_cut(tables[i], summary->asked.top);
			summary_print_table(summary, tables[i], out);
		}
		table_destroy(tables[i]);
	}
	buf_text(out, !wrong && summary->asked.table.format == TABLE_JSON ? "\n}\n" : "");
	return wrong;
}

/*
 * One scan serves all views. Their tables are printed in the order of the request, and freed one by
 * one.
 */
static const char *print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	struct view_input view_input = {.processes = input->processes,
		.nr_processes = input->nr_processes,
		.is_per_thread = summary->is_per_thread,
		.is_detailed = summary->is_detailed,
		.is_all = summary->is_all,
		.detail = summary->detail,
		.times = summary->times,
		.at = summary->at,
		.what_if = summary->what_if,
		.nr_rows = summary->sort ? 0 : summary->asked.top,
		.line_width = table_line_width(&summary->asked.table)};
	void *views[SUMMARY_VIEWS];
	struct table *tables[SUMMARY_VIEWS];
	struct table *processes;
	bool is_sorted = !summary->sort;

	if (summary->is_across_ranks) {
		return print_across_ranks(summary, input, &view_input, out);
	}
	view_run(&view_input, summary->views, summary->nr_views, views);
	for (size_t i = 0; i < summary->nr_views; i++) {
		tables[i] = view_table(summary->views[i], views[i]);
		if (summary->sort) {
			is_sorted = summary_sort(tables[i], summary->sort) || is_sorted;
		}
		table_cut(tables[i], summary->asked.top);
	}
	/* After the scan: damage in columns is known by now. */
	processes = summary_processes(input);
	if (is_sorted && !has_headline(summary)) {
		print_head(summary, input, processes, out);
		print_selection(summary, input, out);
	}
	for (size_t i = 0; i < summary->nr_views; i++) {
		if (is_sorted && !is_left_out(summary, summary->views[i], tables[i])) {
			summary_print_table(summary, tables[i], out);
		}
		if (is_sorted && !i && has_headline(summary)) {
			print_behind_headline(summary, input, processes, out);
		}
		table_destroy(tables[i]);
		view_destroy(summary->views[i], views[i]);
	}
	buf_text(out, is_sorted && summary->asked.table.format == TABLE_JSON ? "\n}\n" : "");
	if (is_sorted && summary->is_default && !summary->is_all &&
		summary->asked.table.format == TABLE_TEXT_FORMAT) {
		print_next(input, out);
	}
	table_destroy(processes);
	return is_sorted ? NULL : "no view has such a column for --sort";
}

const struct summary_style style_gprof = {
	.name = "gprof",
	.help = "the tables of gprof (the default)",
	.formats = 1u << TABLE_TEXT_FORMAT | 1u << TABLE_CSV | 1u << TABLE_JSON |
		   1u << TABLE_MARKDOWN | 1u << TABLE_OPENMETRICS,
	.print = print,
};
