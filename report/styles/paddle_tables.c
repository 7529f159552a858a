/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that are not of five times in a cell: devices, overview, distribution, benchmark. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/styles/paddle.h"

void paddle_print_device(struct paddle_report *report)
{
	struct paddle_grid grid = {.title = "Device Summary",
		.titles = {"Device", "Utilization (%)"},
		.widths = {30, 20},
		.nr_columns = 2,
		.note = "CPU(Process): CPU time of the process in the time that passed, 100 % is "
			"one core. CPU(System): busy time of all cores in all their time.\n"
			"GPU: the union of its kernels in the time of the steps."};
	const struct table *cpu = report->tables[PADDLE_UTILIZATION];
	const struct table *overview = report->tables[PADDLE_OVERVIEW];
	static const char *const names[] = {"CPU(Process)", "CPU(System)"};

	for (size_t i = 0; i < 2; i++) {
		char *percent = NULL;

		for (size_t k = 0; k < cpu->nr_rows; k++) {
			if (!percent && paddle_has(cpu, k, "metric", names[i])) {
				percent = paddle_percent(paddle_cell(cpu, k, "avg"));
			}
		}
		*paddle_grid_add(&grid) = (struct paddle_row){
			.cells = {mem_text(names[i]), percent ? percent : mem_text("-")}};
	}
	for (size_t i = 0; i < overview->nr_rows; i++) {
		const struct table_cell *device = paddle_cell(overview, i, "device");

		if (device->is_known) {
			*paddle_grid_add(&grid) = (struct paddle_row){
				.cells = {paddle_text("GPU%" PRIu64, device->integer),
					paddle_percent(paddle_cell(overview, i, "ratio_pct"))}};
		}
	}
	paddle_grid_print(&grid, report->out);
}

void paddle_print_overview(struct paddle_report *report)
{
	struct paddle_grid grid = {.title = "Overview Summary",
		.unit = report->unit,
		.titles = {"Event Type", "Calls", "CPU Time", "Ratio (%)"},
		.widths = {25, 25, 25, 25},
		.nr_columns = 4};
	const struct table *table = report->tables[PADDLE_OVERVIEW];
	bool is_gpu = false;
	char *note;

	for (size_t i = 0; i < table->nr_rows; i++) {
		if (paddle_cell(table, i, "device")->is_known ||
			paddle_has(table, i, "name", "Computation")) {
			continue;
		}
		if (!is_gpu && paddle_has(table, i, "side", "GPU")) {
			is_gpu = true;
			*paddle_grid_add(&grid) = (struct paddle_row){.is_head = true,
				.cells = {NULL, mem_text("Calls"), mem_text("GPU Time"),
					mem_text("Ratio (%)")}};
		}
		*paddle_grid_add(&grid) = (struct paddle_row){
			.cells = {paddle_name(report, table, i, 25),
				paddle_count(paddle_cell(table, i, "calls")),
				paddle_time(report, paddle_cell(table, i, "total_ns")),
				paddle_percent(paddle_cell(table, i, "ratio_pct"))}};
	}
	note = paddle_note(&view_overview, table);
	grid.note = note;
	paddle_grid_print(&grid, report->out);
	free(note);
}

/* The overlap of two unions is their sum less the union of all kernels. */
void paddle_print_distribution(struct paddle_report *report)
{
	static const char *const names[] = {
		"ProfileStep", "  Communication", "  Computation", "  Overlap"};
	struct paddle_grid grid = {.title = "Distribution Summary",
		.unit = report->unit,
		.titles = {"Name", "Total Time", "Ratio (%)"},
		.widths = {25, 25, 25},
		.nr_columns = 3,
		.note = "Communication: the union of its kernels. Computation: that of all others. "
			"Overlap: what both have in common.\nOf what lies in the steps."};
	const struct table *table = report->tables[PADDLE_OVERVIEW];
	double ns[4] = {0}, kernels = 0;
	bool has_any = false;

	for (size_t i = 0; i < table->nr_rows; i++) {
		double total = paddle_cell(table, i, "total_ns")->number;

		ns[0] = paddle_has(table, i, "name", "ProfileStep") ? total : ns[0];
		ns[1] = paddle_has(table, i, "name", "Communication") ? total : ns[1];
		ns[2] = paddle_has(table, i, "name", "Computation") ? total : ns[2];
		kernels = paddle_has(table, i, "name", "Kernel") ? total : kernels;
		has_any |= paddle_has(table, i, "name", "Computation");
	}
	if (!has_any || ns[0] <= 0) {
		return;
	}
	ns[3] = ns[1] + ns[2] - kernels; /* of unions */
	for (size_t i = 0; i < 4; i++) {
		*paddle_grid_add(&grid) = (struct paddle_row){
			.cells = {mem_text(names[i]), paddle_text("%.2f", ns[i] / report->unit_ns),
				paddle_text("%.2f", 100 * ns[i] / ns[0])}};
	}
	paddle_grid_print(&grid, report->out);
}

/* In the middle of 15 columns, as Python's str.center puts it. */
static void add_centered(struct buf *out, const char *text)
{
	size_t width = strlen(text), left = width < 15 ? 15 - width : 0;

	buf_text(out, "| ");
	buf_pad(out, ' ', (left + 1) / 2);
	buf_text(out, text);
	buf_pad(out, ' ', left / 2 + 1);
}

static void add_stats(struct buf *out, const struct table *table, const char *name, double factor)
{
	static const char *const kinds[] = {"avg", "max", "min"};
	bool is_time = factor < 1;

	add_centered(out, name);
	for (size_t i = 0; i < 3; i++) {
		char key[48], text[48] = "-";
		const struct table_cell *value;

		snprintf(key, sizeof(key), "%s_%s%s", name, kinds[i], is_time ? "_ns" : "");
		value = paddle_cell(table, 0, key);
		if (value->is_known) {
			snprintf(text, sizeof(text), "%.5f", value->number * factor);
		}
		add_centered(out, text);
	}
	buf_text(out, "|\n");
}

void paddle_print_benchmark(struct paddle_report *report)
{
	const struct table *table = report->tables[PADDLE_BENCHMARK];
	struct buf *out = report->out;

	if (!table->nr_rows) {
		return;
	}
	buf_pad(out, '=', 44);
	buf_text(out, "Perf Summary");
	buf_pad(out, '=', 44);
	buf_char(out, '\n');
	if (paddle_cell(table, 0, "reader_ratio_pct")->is_known) {
		buf_printf(out, "Reader Ratio: %.3f%%\n",
			paddle_cell(table, 0, "reader_ratio_pct")->number);
	}
	buf_printf(out, "Time Unit: s, IPS Unit: %s\n",
		paddle_cell(table, 0, "batch_size")->is_known ? "samples/s" : "steps/s");
	add_centered(out, "");
	add_centered(out, "avg");
	add_centered(out, "max");
	add_centered(out, "min");
	buf_text(out, "|\n");
	if (paddle_cell(table, 0, "reader_cost_avg_ns")->is_known) {
		add_stats(out, table, "reader_cost", 1e-9);
	}
	add_stats(out, table, "batch_cost", 1e-9);
	add_stats(out, table, "ips", 1);
	buf_text(out, "\n\n");
}
