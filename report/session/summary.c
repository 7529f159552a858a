/* SPDX-License-Identifier: Apache-2.0 */
#include "report/session/summary.h"

#include <inttypes.h>
#include <string.h>

#include "report/model/process_tree.h"
#include "report/util/text.h"

/* Listed at the head of the text; a job may have thousands. */
#define MOST_PROCESSES 32u

/* ---- the processes ---- */

/* The last hang, in the recorder's words. */
static void add_hang(struct buf *line, const struct process *process)
{
	const char *last = process_fact(process, "hang.last", NULL);
	int64_t nr = process_number(process, "hang.count");

	if (last && nr >= 1) {
		buf_printf(line, "hung %" PRId64 " time%s, last: ", nr, nr == 1 ? "" : "s");
		text_add_shown(line, last, strlen(last), 0);
	}
}

static void add_state(struct buf *line, const struct process *process)
{
	const struct stream *stream = process->stream;
	uint64_t missing = process_missing(process);

	if (process_is_complete(process)) {
		buf_text(line, ", complete");
		return;
	}
	buf_text(line, ", INCOMPLETE:");
	if (missing || (process->is_ended && !stream_is_damaged(stream))) {
		buf_printf(line, " %" PRIu64 " event%s missing,", missing, missing == 1 ? "" : "s");
	}
	if (stream->blocks_missing) {
		buf_printf(line, " %" PRIu64 " block%s missing,", stream->blocks_missing,
			stream->blocks_missing == 1 ? "" : "s");
	}
	if (stream_is_damaged(stream)) {
		buf_text(line, " file damaged,");
	}
	buf_text(line, process->is_ended ? "" : " still running or killed,");
	line->nr_bytes--; /* the last comma */
}

static void add_identity(struct buf *line, const struct process *process)
{
	buf_printf(line, "pid %u on ", process->pid);
	text_add_shown(line, process_host(process), strlen(process_host(process)), 64);
	if (process->rank >= 0) {
		buf_printf(line, ", rank %" PRId64, process->rank);
	}
	if (process->rank >= 0 && process->world > 0) {
		buf_printf(line, " of %" PRId64, process->world);
	}
	process_tree_add_worker(line, process);
	if (process->first_ns <= process->last_ns) {
		buf_printf(line, ", %.3f s", (double)(process->last_ns - process->first_ns) / 1e9);
	}
	buf_printf(line, ", %" PRIu64 " events", process->nr_events);
}

/*
 * The CPU time of the recorder's thread, which a process has written if it ended its stream. Its
 * start takes some milliseconds: only of a longer recording a share says something.
 */
static void add_cost(struct buf *line, const struct process *process)
{
	int64_t cpu_ns = process_number(process, "overhead.drain_cpu_ns");
	uint64_t span_ns =
		process->first_ns < process->last_ns ? process->last_ns - process->first_ns : 0;

	if (cpu_ns < 0) {
		return;
	}
	buf_printf(line, ", profiler CPU %" PRId64 " ms", cpu_ns / 1000000);
	if (span_ns >= 1000000000) {
		buf_printf(line, " (%.1f %% of a core)", (double)cpu_ns * 100 / (double)span_ns);
	}
}

/* Wraps the line, indented, and empties it. */
static void end_line(struct buf *out, struct buf *line, size_t width)
{
	buf_char(line, '\0');
	text_wrap(out, line->bytes, "  ", width ? width : SIZE_MAX);
	line->nr_bytes = 0;
}

/* Lines fit into `width`; 0: no limit. */
static void add_process(struct buf *out, const struct process *process, size_t width)
{
	const char *command = process_command(process);
	struct buf line = {0};

	text_add_shown(out, command, strlen(command), width);
	buf_char(out, '\n');
	add_identity(&line, process);
	add_state(&line, process);
	add_cost(&line, process);
	end_line(out, &line, width);
	add_hang(&line, process);
	end_line(out, &line, width);
	buf_fini(&line);
}

struct table *summary_processes(const struct cmd_input *input)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("pid", "PID", TABLE_ID),
		TABLE_COLUMN("host", "Host", TABLE_TEXT),
		TABLE_COLUMN("rank", "Rank", TABLE_ID),
		TABLE_COLUMN("world_size", "World", TABLE_ID),
		TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME),
		TABLE_COLUMN("events", "Events", TABLE_COUNT),
		TABLE_COLUMN("missing", "Missing", TABLE_COUNT),
		TABLE_COLUMN("state", "State", TABLE_TEXT),
		TABLE_COLUMN("file", "File", TABLE_TEXT),
		TABLE_COLUMN("command", "Command", TABLE_TEXT),
	};
	struct table *table = table_create("processes", "Processes", columns, 10);

	for (size_t i = 0; i < input->nr_processes; i++) {
		struct process *process = input->processes[i];
		struct table_cell *cells = table_add_row(table);
		const char *state = process_is_complete(process) ? "complete"
				    : process->is_ended		 ? "incomplete"
								 : "unfinished";

		table_set_integer(&cells[0], process->pid);
		table_set_string(&cells[1], process_host(process));
		if (process->rank >= 0) {
			table_set_integer(&cells[2], (uint64_t)process->rank);
		}
		if (process->world >= 0) {
			table_set_integer(&cells[3], (uint64_t)process->world);
		}
		if (process->first_ns <= process->last_ns) {
			table_set_integer(&cells[4], process->last_ns - process->first_ns);
		}
		table_set_integer(&cells[5], process->nr_events);
		table_set_integer(&cells[6], process_missing(process));
		table_set_string(&cells[7], state);
		table_set_string(&cells[8], process->stream->path);
		table_set_string(&cells[9], process_command(process));
	}
	return table;
}

/* ---- the views ---- */

static bool is_left_out(
	const struct summary *summary, const struct view_class *class, const struct table *table)
{
	return summary->is_default && summary->asked.table.format != TABLE_JSON &&
	       (table->is_aside || (class->is_empty_hidden && !table->nr_rows));
}

static void print_processes(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	size_t nr = input->nr_processes;

	if (summary->asked.top && !summary->asked.table.is_wide && nr > MOST_PROCESSES) {
		nr = MOST_PROCESSES;
	}
	for (size_t i = 0; i < nr; i++) {
		add_process(out, input->processes[i], table_line_width(&summary->asked.table));
	}
	if (nr < input->nr_processes) {
		buf_printf(out, "%zu more processes; --wide lists all\n", input->nr_processes - nr);
	}
}

static void print_head(const struct summary *summary, const struct cmd_input *input,
	struct table *processes, struct buf *out)
{
	switch (summary->asked.table.format) {
	case TABLE_JSON:
		buf_printf(out, "{\n  \"gprof_report\": \"%s\",\n", GPROF_VERSION);
		table_print(processes, &summary->asked.table, out);
		break;
	case TABLE_TEXT_FORMAT:
		print_processes(summary, input, out);
		buf_char(out, '\n');
		break;
	default:
		table_print(processes, &summary->asked.table, out);
		break;
	}
}

static void print_selection(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	struct table *table = select_table(input->processes, input->nr_processes);

	if (table) {
		table_cut(table, summary->asked.top);
		buf_text(out, summary->asked.table.format == TABLE_JSON ? ",\n" : "");
		table_print(table, &summary->asked.table, out);
		table_destroy(table);
	}
}

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

/* Names the views to look at next. They are not printed by default because they take longer. */
static void print_next(struct buf *out)
{
	static const struct view_class *const next[] = {&view_advice, &view_breakdown, &view_idle};

	buf_text(out, "More with --view NAME; gprof-report help summary lists all views:\n");
	for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		buf_printf(out, "  %-9s  %s\n", next[i]->name, next[i]->help);
	}
}

/* Prints each view over ranks, in the given order. Returns the first error, and then prints none.
 */
static const char *print_across_ranks(const struct summary *summary, const struct cmd_input *input,
	const struct view_input *view_input, struct buf *out)
{
	struct table *tables[SUMMARY_VIEWS];
	struct table *processes;
	const char *wrong = NULL;
	size_t nr = 0;

	while (nr < summary->nr_views && !wrong) {
		tables[nr] =
			rank_spread_table(summary->views[nr], view_input, summary->sort, &wrong);
		nr += !wrong;
	}
	if (!wrong) {
		processes = summary_processes(input);
		print_head(summary, input, processes, out);
		table_destroy(processes);
		print_selection(summary, input, out);
	}
	for (size_t i = 0; i < nr; i++) {
		if (!wrong) {
			table_cut(tables[i], summary->asked.top);
			buf_text(out, summary->asked.table.format == TABLE_JSON ? ",\n" : "");
			table_print(tables[i], &summary->asked.table, out);
		}
		table_destroy(tables[i]);
	}
	buf_text(out, !wrong && summary->asked.table.format == TABLE_JSON ? "\n}\n" : "");
	return wrong;
}

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
		.what_if = summary->what_if,
		.nr_rows = summary->sort ? 0 : summary->asked.top};
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
	if (is_sorted) {
		print_head(summary, input, processes, out);
		print_selection(summary, input, out);
	}
	for (size_t i = 0; i < summary->nr_views; i++) {
		if (is_sorted && !is_left_out(summary, summary->views[i], tables[i])) {
			buf_text(out, summary->asked.table.format == TABLE_JSON ? ",\n" : "");
			table_print(tables[i], &summary->asked.table, out);
		}
		table_destroy(tables[i]);
		view_destroy(summary->views[i], views[i]);
	}
	buf_text(out, is_sorted && summary->asked.table.format == TABLE_JSON ? "\n}\n" : "");
	if (is_sorted && summary->is_default && summary->asked.table.format == TABLE_TEXT_FORMAT) {
		print_next(out);
	}
	table_destroy(processes);
	return is_sorted ? NULL : "no view has such a column for --sort";
}

const struct summary_style style_gprof = {
	.name = "gprof",
	.help = "the tables of gprof (the default)",
	.formats =
		1u << TABLE_TEXT_FORMAT | 1u << TABLE_CSV | 1u << TABLE_JSON | 1u << TABLE_MARKDOWN,
	.print = print,
};
