/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of `nsys stats` with their columns and banners; all processes together, as there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/api.h"
#include "report/copy.h"
#include "report/summary.h"
#include "report/text.h"

enum { COLUMNS = 10 };

/* A report as cells of text; `wide` are columns that are names, to the left. */
struct report {
	const char *name, *title, *what; /* what: of "does not contain ... data" */
	const char *const *columns;
	unsigned int nr_columns;
	unsigned int nr_names; /* the last columns */
	char **cells;
	double *keys; /* to sort by, falling */
	size_t nr_rows, capacity, key_capacity;
};

/* A number with one decimal, with separators in the terminal as nsys prints them. */
static char *number(const struct summary *summary, const char *format, double value)
{
	struct buf out = {0};
	char digits[64];
	int length = snprintf(digits, sizeof(digits), format, value);
	int whole = (int)strcspn(digits, ".");

	for (int i = 0; i < length; i++) {
		if (i && i < whole && (whole - i) % 3 == 0 && summary->table.format != TABLE_CSV &&
			digits[i - 1] != '-') {
			buf_char(&out, ',');
		}
		buf_char(&out, digits[i]);
	}
	buf_char(&out, '\0');
	return out.bytes;
}

static char **add_row(struct report *report, double key)
{
	report->cells = array_grow(report->cells, report->nr_rows, &report->capacity,
		report->nr_columns * sizeof(char *));
	report->keys = array_grow(
		report->keys, report->nr_rows, &report->key_capacity, sizeof(*report->keys));
	report->keys[report->nr_rows] = key;
	return &report->cells[report->nr_rows++ * report->nr_columns];
}

static char *shown(const struct summary *summary, const char *bytes, size_t nr_bytes)
{
	struct buf out = {0};

	if (summary->table.format == TABLE_CSV) {
		text_add_csv(&out, bytes, nr_bytes);
	} else {
		text_add_shown(&out, bytes, nr_bytes, 0);
	}
	buf_char(&out, '\0');
	return out.bytes;
}

static char *shown_name(const struct summary *summary, uint32_t name)
{
	size_t nr_bytes;
	const char *bytes = names_shown(name, &nr_bytes);

	return shown(summary, bytes, nr_bytes);
}

/* Cells 0 to 7: share, total, count, avg, med, min, max, deviation. */
static void fill_times(const struct summary *summary, const struct tally *tally, size_t i,
	double total_ns, char **cells)
{
	const struct stat_group *times = &tally->times.groups[i];
	double sum = (double)times->sum;

	cells[0] = number(summary, "%.1f", total_ns > 0 ? 100 * sum / total_ns : 0);
	cells[1] = number(summary, "%.0f", sum);
	cells[2] = number(summary, "%.0f", (double)tally_calls(tally, i));
	cells[3] = number(summary, "%.1f", stat_mean(times));
	cells[4] = number(summary, "%.1f", stat_median(times));
	cells[5] = number(summary, "%.0f", times->count ? (double)times->min : 0);
	cells[6] = number(summary, "%.0f", (double)times->max);
	cells[7] = number(summary, "%.1f", stat_deviation(times));
}

static void add_times(
	const struct summary *summary, struct report *report, const struct tally *tally)
{
	double total_ns = tally_total_ns(tally);

	for (size_t i = 0; i < tally->nr_rows; i++) {
		char **cells = add_row(report, (double)tally->times.groups[i].sum);

		fill_times(summary, tally, i, total_ns, cells);
		cells[8] = shown_name(summary, tally->rows[i].name);
	}
}

static void add_ranges(
	const struct summary *summary, struct report *report, const struct tally *tally)
{
	double total_ns = tally_total_ns(tally);

	for (size_t i = 0; i < tally->nr_rows; i++) {
		const struct tally_row *row = &tally->rows[i];
		const char *style = row->kind == GPROF_NVTX_PUSH ? "PushPop" : "StartEnd";
		char **cells;

		if (row->kind == GPROF_NVTX_MARK) {
			continue;
		}
		cells = add_row(report, (double)tally->times.groups[i].sum);
		fill_times(summary, tally, i, total_ns, cells);
		cells[8] = mem_text(style);
		cells[9] = shown_name(summary, row->name);
	}
}

/* Copies and sets by operation; kinds of memory are not told apart. */
static void merge_operations(struct tally *merged, const struct tally *tally)
{
	for (size_t i = 0; i < tally->nr_rows; i++) {
		uint32_t kind = tally->rows[i].kind;
		char text[64];
		uint32_t row, name;
		int length;

		if (kind & COPY_IS_HOST_CALL) {
			continue;
		}
		length = kind & COPY_IS_SET ? snprintf(text, sizeof(text), "[CUDA memset]")
					    : snprintf(text, sizeof(text), "[CUDA memcpy %s]",
						      api_copy_long_name(copy_kind_of(kind)));
		name = names_intern(text, (size_t)length);
		row = tally_find(merged, name, name, 0);
		stat_merge(&merged->times, row, &tally->times, (uint32_t)i);
		stat_merge(&merged->sizes, row, &tally->sizes, (uint32_t)i);
		merged->rows[row].untimed += tally->rows[i].untimed;
	}
}

static void add_sizes(
	const struct summary *summary, struct report *report, const struct tally *tally)
{
	for (size_t i = 0; i < tally->nr_rows; i++) {
		const struct stat_group *sizes = &tally->sizes.groups[i];
		char **cells = add_row(report, (double)sizes->sum);

		cells[0] = number(summary, "%.3f", (double)sizes->sum / 1e6);
		cells[1] = number(summary, "%.0f", (double)sizes->count);
		cells[2] = number(summary, "%.3f", stat_mean(sizes) / 1e6);
		cells[3] = number(summary, "%.3f", stat_median(sizes) / 1e6);
		cells[4] = number(summary, "%.3f", sizes->count ? (double)sizes->min / 1e6 : 0);
		cells[5] = number(summary, "%.3f", (double)sizes->max / 1e6);
		cells[6] = number(summary, "%.3f", stat_deviation(sizes) / 1e6);
		cells[7] = shown_name(summary, tally->rows[i].name);
	}
}

/* ---- printing ---- */

static void sort(struct report *report)
{
	size_t row_bytes = report->nr_columns * sizeof(char *);
	char *row[COLUMNS];

	/* By insertion: rows come nearly unsorted in number of names, some hundreds. */
	for (size_t i = 1; i < report->nr_rows; i++) {
		double key = report->keys[i];
		size_t k = i;

		memcpy(row, report->cells + i * report->nr_columns, row_bytes);
		while (k > 0 && report->keys[k - 1] < key) {
			memcpy(report->cells + k * report->nr_columns,
				report->cells + (k - 1) * report->nr_columns, row_bytes);
			report->keys[k] = report->keys[k - 1];
			k--;
		}
		memcpy(report->cells + k * report->nr_columns, row, row_bytes);
		report->keys[k] = key;
	}
}

static void print_csv(const struct report *report, size_t nr_rows, struct buf *out)
{
	for (unsigned int c = 0; c < report->nr_columns; c++) {
		buf_printf(out, "%s%s", c ? "," : "", report->columns[c]);
	}
	buf_char(out, '\n');
	for (size_t i = 0; i < nr_rows; i++) {
		for (unsigned int c = 0; c < report->nr_columns; c++) {
			buf_text(out, c ? "," : "");
			buf_text(out, report->cells[i * report->nr_columns + c]);
		}
		buf_char(out, '\n');
	}
	buf_char(out, '\n');
}

static void print_cells(const struct report *report, const char *const *cells, const size_t *widths,
	struct buf *out)
{
	for (unsigned int c = 0; c < report->nr_columns; c++) {
		bool is_left = c + report->nr_names >= report->nr_columns;
		size_t space = widths[c] - strlen(cells[c]);

		buf_text(out, c ? "  " : " ");
		buf_pad(out, ' ', is_left ? 0 : space);
		buf_text(out, cells[c]);
		buf_pad(out, ' ', is_left && c + 1 < report->nr_columns ? space : 0);
	}
	buf_char(out, '\n');
}

static void print_text(const struct report *report, size_t nr_rows, struct buf *out)
{
	size_t widths[COLUMNS];

	for (unsigned int c = 0; c < report->nr_columns; c++) {
		widths[c] = strlen(report->columns[c]);
		for (size_t i = 0; i < nr_rows; i++) {
			size_t width = strlen(report->cells[i * report->nr_columns + c]);

			widths[c] = width > widths[c] ? width : widths[c];
		}
	}
	buf_printf(out, " ** %s (%s):\n\n", report->title, report->name);
	print_cells(report, report->columns, widths, out);
	for (unsigned int c = 0; c < report->nr_columns; c++) {
		buf_text(out, c ? "  " : " ");
		buf_pad(out, '-', widths[c] < 80 ? widths[c] : 80);
	}
	buf_char(out, '\n');
	for (size_t i = 0; i < nr_rows; i++) {
		print_cells(report, (const char *const *)report->cells + i * report->nr_columns,
			widths, out);
	}
	buf_char(out, '\n');
}

static void print_report(const struct summary *summary, const struct cmd_input *input,
	struct report *report, struct buf *out)
{
	size_t nr_rows = report->nr_rows;

	sort(report);
	if (!nr_rows) {
		buf_text(out, "SKIPPED: ");
		for (size_t i = 0; i < input->nr_processes; i++) {
			const char *path = input->processes[i]->stream->path;

			buf_text(out, i ? " " : "");
			text_add_shown(out, path, strlen(path), 0);
		}
		buf_printf(out, " does not contain %s data.\n\n", report->what);
	}
	nr_rows = summary->top && nr_rows > summary->top ? summary->top : nr_rows;
	if (nr_rows && summary->table.format == TABLE_CSV) {
		print_csv(report, nr_rows, out);
	} else if (nr_rows) {
		print_text(report, nr_rows, out);
	}
	for (size_t i = 0; i < report->nr_rows * report->nr_columns; i++) {
		free(report->cells[i]);
	}
	free(report->cells);
	free(report->keys);
}

#define TIME_COLUMNS(count)                                                                   \
	"Time (%)", "Total Time (ns)", count, "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", \
		"StdDev (ns)"

static const char *const call_columns[] = {TIME_COLUMNS("Num Calls"), "Name"};
static const char *const kernel_columns[] = {TIME_COLUMNS("Instances"), "Name"};
static const char *const operation_columns[] = {TIME_COLUMNS("Count"), "Operation"};
static const char *const range_columns[] = {TIME_COLUMNS("Instances"), "Style", "Range"};
static const char *const size_columns[] = {"Total (MB)", "Count", "Avg (MB)", "Med (MB)",
	"Min (MB)", "Max (MB)", "StdDev (MB)", "Operation"};

static void print_losses(const struct cmd_input *input, struct buf *out)
{
	for (size_t i = 0; i < input->nr_processes; i++) {
		const struct process *process = input->processes[i];

		if (!process_is_complete(process)) {
			buf_printf(out,
				"WARNING: process %u is incomplete, %" PRIu64
				" events are missing%s.\n\n",
				process->pid, process_missing(process),
				process->is_ended ? "" : ", the stream is unfinished");
		}
	}
}

static const char *print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	static const struct view_class *const classes[] = {
		&view_nvtx, &view_api, &view_kernel, &view_memcpy, &view_memset};
	struct report ranges = {.name = "nvtx_sum",
		.title = "NVTX Range Summary",
		.what = "NV Tools Extension (NVTX)",
		.columns = range_columns,
		.nr_columns = 10,
		.nr_names = 2};
	struct report calls = {.name = "cuda_api_sum",
		.title = "CUDA API Summary",
		.what = "CUDA trace",
		.columns = call_columns,
		.nr_columns = 9,
		.nr_names = 1};
	struct report kernels = {.name = "cuda_gpu_kern_sum",
		.title = "CUDA GPU Kernel Summary",
		.what = "CUDA kernel",
		.columns = kernel_columns,
		.nr_columns = 9,
		.nr_names = 1};
	struct report times = {.name = "cuda_gpu_mem_time_sum",
		.title = "CUDA GPU MemOps Summary (by Time)",
		.what = "GPU memory",
		.columns = operation_columns,
		.nr_columns = 9,
		.nr_names = 1};
	struct report sizes = {.name = "cuda_gpu_mem_size_sum",
		.title = "CUDA GPU MemOps Summary (by Size)",
		.what = "GPU memory",
		.columns = size_columns,
		.nr_columns = 8,
		.nr_names = 1};
	struct view_input view_input = {
		.processes = input->processes, .nr_processes = input->nr_processes};
	struct scan scans[5];
	void *views[5];
	struct tally merged;

	for (size_t i = 0; i < 5; i++) {
		views[i] = classes[i]->create(&view_input);
		scans[i] = (struct scan){&classes[i]->scan, views[i]};
	}
	scan_run(input->processes, input->nr_processes, scans, 5);
	tally_init(&merged);
	merge_operations(&merged, view_copy_tally(views[3]));
	merge_operations(&merged, view_copy_tally(views[4]));
	tally_finish(&merged);
	print_losses(input, out);
	add_ranges(summary, &ranges, view_nvtx_tally(views[0]));
	add_times(summary, &calls, view_api_tally(views[1]));
	add_times(summary, &kernels, view_kernel_tally(views[2]));
	add_times(summary, &times, &merged);
	add_sizes(summary, &sizes, &merged);
	print_report(summary, input, &ranges, out);
	print_report(summary, input, &calls, out);
	print_report(summary, input, &kernels, out);
	print_report(summary, input, &times, out);
	print_report(summary, input, &sizes, out);
	tally_fini(&merged);
	for (size_t i = 0; i < 5; i++) {
		classes[i]->destroy(views[i]);
	}
	return NULL;
}

const struct summary_style style_nsys = {
	.name = "nsys",
	.help = "the reports of `nsys stats`",
	.formats = 1u << TABLE_TEXT_FORMAT | 1u << TABLE_CSV,
	.print = print,
};
