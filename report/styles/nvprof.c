/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvprof's summary: GPU activities and API calls of each process. In CSV one unit holds for a whole
 * column, as the line of units says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/styles/nvprof.h"
#include "report/util/text.h"
#include "report/util/sort.h"

/* A line of the table: a kernel, a direction of copies, all sets, or a call. */
struct line {
	char *name;
	size_t nr_name;
	double total_ns;
	uint64_t calls;
	uint64_t timed;
	bool is_counted; /* it has no times: its calls are only counted */
	uint64_t min_ns, max_ns;
};

struct section {
	const char *title;
	struct line *lines;
	size_t nr_lines, capacity;
	double total_ns;
};

static struct line *find_line(struct section *section, const char *name, size_t nr_name)
{
	struct line *line;

	for (size_t i = 0; i < section->nr_lines; i++) {
		line = &section->lines[i];
		if (line->nr_name == nr_name && memcmp(line->name, name, nr_name) == 0) {
			return line;
		}
	}
	section->lines = array_grow(
		section->lines, section->nr_lines, &section->capacity, sizeof(*section->lines));
	line = &section->lines[section->nr_lines++];
	*line = (struct line){.name = mem_zeroed(nr_name + 1, 1), .nr_name = nr_name};
	memcpy(line->name, name, nr_name);
	line->min_ns = UINT64_MAX;
	return line;
}

static void add_to_line(
	struct section *section, struct line *line, const struct keyed_stats *tally, size_t i)
{
	const struct histogram_group *times = &tally->times.groups[i];

	line->calls += keyed_stats_calls(tally, i);
	if (tally->rows[i].is_counted) {
		line->is_counted = true;
		return;
	}
	line->timed += times->count;
	line->total_ns += (double)times->sum;
	section->total_ns += (double)times->sum;
	line->min_ns = times->min < line->min_ns ? times->min : line->min_ns;
	line->max_ns = times->max > line->max_ns ? times->max : line->max_ns;
}

/* Calls of pthreads and NCCL are not of CUDA. */
static bool is_left_out(const struct keyed_stats_row *row, bool is_api)
{
	return is_api && row->kind != GPROF_API_RUNTIME && row->kind != GPROF_API_DRIVER;
}

static void add_tally(struct section *section, const struct keyed_stats *tally, bool is_api)
{
	for (size_t i = 0; i < tally->nr_rows; i++) {
		size_t nr_name;
		const char *name;

		if (is_left_out(&tally->rows[i], is_api)) {
			continue;
		}
		name = string_pool_shown(tally->rows[i].name, &nr_name);
		add_to_line(section, find_line(section, name, nr_name), tally, i);
	}
}

static void add_copies(struct section *section, const struct keyed_stats *tally)
{
	for (size_t i = 0; i < tally->nr_rows; i++) {
		uint32_t kind = tally->rows[i].kind;
		char name[64];
		int nr_name;

		if (kind & COPY_IS_HOST_CALL) {
			continue; /* not an activity of a GPU */
		}
		nr_name = kind & COPY_IS_SET ? snprintf(name, sizeof(name), "[CUDA memset]")
					     : snprintf(name, sizeof(name), "[CUDA memcpy %s]",
						       api_copy_name(copy_kind_of(kind)));
		add_to_line(section, find_line(section, name, (size_t)nr_name), tally, i);
	}
}

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return ORDER(COMPARE(y->total_ns, x->total_ns), strcmp(x->name, y->name));
}

static double share(const struct section *section, const struct line *line)
{
	return section->total_ns > 0 ? 100 * line->total_ns / section->total_ns : 0;
}

static double mean(const struct line *line)
{
	return line->timed ? line->total_ns / (double)line->timed : 0;
}

static void add_padded_time(struct buf *out, const struct line *line, double ns, size_t width)
{
	struct buf text = {0};

	if (line->is_counted) {
		buf_text(&text, "n/a");
	} else {
		table_add_auto_time(&text, ns);
	}
	buf_pad(out, ' ', text.nr_bytes < width ? width - text.nr_bytes : 0);
	buf_add(out, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

static void print_text(const struct section *section, bool is_first, struct buf *out)
{
	if (is_first) {
		buf_printf(out, "%16s  %7s  %8s  %8s  %8s  %8s  %8s  %s\n", "Type", "Time(%)",
			"Time", "Calls", "Avg", "Min", "Max", "Name");
	}
	for (size_t i = 0; i < section->nr_lines; i++) {
		const struct line *line = &section->lines[i];

		buf_printf(out, "%15s%c  ", i ? "" : section->title, i ? ' ' : ':');
		if (line->is_counted) {
			buf_printf(out, "%7s  ", "n/a");
		} else {
			buf_printf(out, "%6.2f%%  ", share(section, line));
		}
		add_padded_time(out, line, line->total_ns, 8);
		buf_printf(out, "  %8" PRIu64 "  ", line->calls);
		add_padded_time(out, line, mean(line), 8);
		buf_text(out, "  ");
		add_padded_time(out, line, line->timed ? (double)line->min_ns : 0, 8);
		buf_text(out, "  ");
		add_padded_time(out, line, (double)line->max_ns, 8);
		buf_text(out, "  ");
		text_add_shown(out, line->name, line->nr_name, 0);
		buf_char(out, '\n');
	}
}

/* ---- CSV ---- */

static const struct {
	const char *name;
	double ns;
} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};

/* The unit of a column of both sections: the largest in which its largest value is at least 1. */
static size_t find_unit(const struct section *sections, double (*value)(const struct line *line))
{
	double most = 0;
	size_t unit = 0;

	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; i < sections[s].nr_lines; i++) {
			double ns = value(&sections[s].lines[i]);

			most = ns > most ? ns : most;
		}
	}
	while (unit < 3 && most < units[unit].ns) {
		unit++;
	}
	return unit;
}

static double total_of(const struct line *line)
{
	return line->total_ns;
}

static double min_of(const struct line *line)
{
	return line->timed ? (double)line->min_ns : 0;
}

static double max_of(const struct line *line)
{
	return (double)line->max_ns;
}

/* Adds nothing where a line has no times. */
static void add_number(struct buf *out, const struct line *line, double value)
{
	if (!line->is_counted) {
		buf_printf(out, "%.6f", value);
	}
}

/* Both sections share one unit for each column of times. */
static void print_csv(const struct section *sections, struct buf *out)
{
	static double (*const values[])(const struct line *line) = {total_of, mean, min_of, max_of};
	size_t unit[4];

	for (size_t i = 0; i < 4; i++) {
		unit[i] = find_unit(sections, values[i]);
	}
	buf_text(out, "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n");
	buf_printf(out, ",%%,%s,,%s,%s,%s,\n", units[unit[0]].name, units[unit[1]].name,
		units[unit[2]].name, units[unit[3]].name);
	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; i < sections[s].nr_lines; i++) {
			const struct line *line = &sections[s].lines[i];

			buf_printf(out, "\"%s\",", sections[s].title);
			add_number(out, line, share(&sections[s], line));
			buf_char(out, ',');
			add_number(out, line, total_of(line) / units[unit[0]].ns);
			buf_printf(out, ",%" PRIu64, line->calls);
			for (size_t k = 1; k < 4; k++) {
				buf_char(out, ',');
				add_number(out, line, values[k](line) / units[unit[k]].ns);
			}
			buf_char(out, ',');
			text_add_csv(out, line->name, line->nr_name);
			buf_char(out, '\n');
		}
	}
}

/* ---- a process ---- */

static void finish(struct section *section, size_t top)
{
	if (section->nr_lines) {
		qsort(section->lines, section->nr_lines, sizeof(*section->lines), compare);
	}
	for (size_t i = top; top && i < section->nr_lines; i++) {
		free(section->lines[i].name);
	}
	section->nr_lines = top && section->nr_lines > top ? top : section->nr_lines;
}

void nvprof_print_head(const struct process *process, bool is_csv, struct buf *out)
{
	const char *command = process_command(process);
	for (int line = 0; line < 2; line++) {
		buf_printf(out, "==%u== ", process->pid);
		if (line) {
			buf_text(out, "Profiling application: ");
		} else {
			buf_printf(out, "NVPROF is profiling process %u, command: ", process->pid);
		}
		if (is_csv) {
			text_add_csv_remark(out, command, strlen(command));
		} else {
			text_add_shown(out, command, strlen(command), 0);
		}
		buf_char(out, '\n');
	}
	if (!process_is_complete(process)) {
		buf_printf(out,
			"==%u== Warning: the data are incomplete, %" PRIu64
			" events are missing%s\n",
			process->pid, process_missing(process),
			process->is_ended ? "" : ", the stream is unfinished");
	}
	buf_printf(out, "==%u== Profiling result:\n", process->pid);
}

static void print_process(const struct summary *summary, struct process *process, struct buf *out)
{
	static const struct view_class *const classes[] = {
		&view_kernel, &view_memcpy, &view_memset, &view_api};
	struct section sections[2] = {{.title = "GPU activities"}, {.title = "API calls"}};
	struct view_input input = {.processes = &process, .nr_processes = 1};
	void *views[4];

	view_run(&input, classes, 4, views);
	add_tally(&sections[0], view_keyed(&view_kernel, views[0]), false);
	add_copies(&sections[0], view_keyed(&view_memcpy, views[1]));
	add_copies(&sections[0], view_keyed(&view_memset, views[2]));
	add_tally(&sections[1], view_keyed(&view_api, views[3]), true);
	nvprof_print_head(process, summary->asked.table.format == TABLE_CSV, out);
	for (size_t s = 0; s < 2; s++) {
		finish(&sections[s], summary->asked.top);
	}
	if (!sections[0].nr_lines && !sections[1].nr_lines) {
		buf_text(out, "No kernels were profiled.\n");
	} else if (summary->asked.table.format == TABLE_CSV) {
		print_csv(sections, out);
	} else {
		print_text(&sections[0], sections[0].nr_lines != 0, out);
		print_text(&sections[1], !sections[0].nr_lines, out);
	}
	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; i < sections[s].nr_lines; i++) {
			free(sections[s].lines[i].name);
		}
		free(sections[s].lines);
	}
	for (size_t i = 0; i < 4; i++) {
		view_destroy(classes[i], views[i]);
	}
}

/* Prints the traces that the user named; false if there are none. */
static bool print_traces(const struct summary *summary, struct process *process, struct buf *out)
{
	bool has_any = false;

	for (size_t i = 0; i < summary->nr_views && !summary->is_default; i++) {
		const struct view_class *class = summary->views[i];

		if (class == &view_gpu_trace || class == &view_api_trace) {
			buf_text(out, has_any ? "\n" : "");
			nvprof_print_trace(summary, process, class, out);
			has_any = true;
		}
	}
	return has_any;
}

static const char *print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	for (size_t i = 0; i < input->nr_processes; i++) {
		buf_text(out, i ? "\n" : "");
		if (!print_traces(summary, input->processes[i], out)) {
			print_process(summary, input->processes[i], out);
		}
	}
	return NULL;
}

const struct summary_style style_nvprof = {
	.name = "nvprof",
	.help = "nvprof's two sections for each process, or its traces: --view gpu-trace, "
		"api-trace",
	.formats = 1u << TABLE_TEXT_FORMAT | 1u << TABLE_CSV,
	.print = print,
};
