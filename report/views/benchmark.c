/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast batches go by, in the layout of Paddle's Perf Summary: reader_cost is the time of a step
 * in the data loader, batch_cost that of the step, ips the samples a second (steps a second where
 * the batch is not known), the reader's ratio the share of all batch_cost in all reader_cost. The
 * steps are those that count (counted_steps.h). Paddle's own table leaves out a fixed number of
 * first ones, and has the length of steps that were not recorded.
 */
#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/select.h"
#include "report/ops/counted_steps.h"
#include "report/stats/min_max_sum.h"
#include "report/analysis/view.h"

/* Paddle leaves out so many first steps; of a program of few steps, the first alone. */
#define PADDLE_WARM_UP 10u

/* First dimensions of what layers got, and how often. */
#define MAX_SIZES 16u

struct row {
	struct process *process;
	struct min_max_sum reader, batch; /* ns */
	uint64_t read_batch_ns;		  /* of the steps that reader is of */
	int64_t batch_size;		  /* -1 unknown */
	bool has_reader, is_seen;	  /* the size was seen in shapes */
	/* For the table. */
	uint64_t nr_readers, reader_whole_ns; /* reader.nr, read_batch_ns; 0 without a reader */
	double ips_avg, ips_max, ips_min;
};

struct benchmark_view {
	struct view_input input;
	struct row *rows;
	size_t nr_rows, capacity;
	size_t nr_warm_up, nr_outliers;
	/* of the current process */
	struct {
		uint64_t size, nr;
	} sizes[MAX_SIZES];
	size_t nr_sizes;
	uint64_t nr_layers;
};

static void begin(void *context, struct process *process)
{
	struct benchmark_view *view = context;

	(void)process;
	view->nr_sizes = 0;
	view->nr_layers = 0;
}

/* Layers whose first input begins with the batch, unless a program has it elsewhere. */
static bool is_layer(uint32_t op_name, uint8_t framework, uint8_t scope)
{
	const char *name = string_pool_text(op_name, NULL);

	(void)framework;
	(void)scope;
	return strcmp(name, "aten::linear") == 0 || strcmp(name, "aten::conv2d") == 0 ||
	       strcmp(name, "aten::conv1d") == 0 || strcmp(name, "aten::conv3d") == 0;
}

static void on_op(void *context, const struct op *op)
{
	struct benchmark_view *view = context;
	const char *at = op->shape ? strchr(string_pool_text(op->shape, NULL), '[') : NULL;
	uint64_t size;
	size_t i = 0;

	/* More may come than the filter wants. */
	if (!at || !is_layer(op->name, op->framework, op->scope)) {
		return;
	}
	size = strtoull(at + 1, NULL, 10);
	view->nr_layers++;
	while (i < view->nr_sizes && view->sizes[i].size != size) {
		i++;
	}
	if (i == view->nr_sizes && i < MAX_SIZES) {
		view->sizes[view->nr_sizes].size = size;
		view->sizes[view->nr_sizes++].nr = 0;
	}
	if (i < view->nr_sizes) {
		view->sizes[i].nr++;
	}
}

/* The size that nine of ten layers saw; the last batch may be smaller. -1 if they do not agree. */
static int64_t seen_size(const struct benchmark_view *view)
{
	for (size_t i = 0; i < view->nr_sizes; i++) {
		if (view->sizes[i].nr * 10 >= view->nr_layers * 9 && view->sizes[i].size &&
			view->sizes[i].size <= INT32_MAX) {
			return (int64_t)view->sizes[i].size;
		}
	}
	return -1;
}

/* Adds the data loader's time of a recorded step; of others only the length is known. */
static void add_reader(struct row *row, const struct phases *phases, uint32_t step)
{
	const struct clock_map *clock = &row->process->host_clock;
	uint64_t reader = phases->steps[step].ticks[PHASE_DATALOADER];

	min_max_sum_add(&row->reader, clock_map_duration(clock, reader));
	row->read_batch_ns += phases_step_ns(phases, step);
	row->has_reader |= reader != 0;
}

static void add_batch(struct row *row, const struct phases *phases, uint32_t step)
{
	min_max_sum_add(&row->batch, phases_step_ns(phases, step));
	if (phases->steps[step].is_recorded) {
		add_reader(row, phases, step);
	}
}

static void add_counted(struct benchmark_view *view, struct row *row, const struct phases *phases)
{
	struct counted_steps counted;

	counted_steps_init(&counted, row->process, false);
	for (uint32_t step = 1; step < phases->nr_steps; step++) {
		if (counted.counts[step]) {
			add_batch(row, phases, step);
		}
	}
	view->nr_warm_up += counted.nr_warm_up;
	view->nr_outliers += counted.nr_outliers;
	counted_steps_fini(&counted);
}

static void add_steps_of_paddle(struct row *row, const struct phases *phases)
{
	uint32_t nr_whole = (uint32_t)phases->nr_steps - 2;
	uint32_t nr_left_out = nr_whole > 2 * PADDLE_WARM_UP ? PADDLE_WARM_UP : 1;
	bool is_closed;

	/* Who chooses steps chooses all of them. */
	nr_left_out = row->process->select ? 0 : nr_left_out;
	for (uint32_t step = 1 + nr_left_out; step <= nr_whole; step++) {
		if (phases->steps[step].is_chosen &&
			!model_step_is_gap(&row->process->steps[step - 1])) {
			add_batch(row, phases, step);
		}
	}
	is_closed = !row->reader.nr;
	/* A schedule may have recorded none of these, but some of the warm-up. */
	for (uint32_t step = 2; is_closed && step <= nr_left_out; step++) {
		if (phases->steps[step].is_recorded && phases->steps[step].is_chosen) {
			add_reader(row, phases, step);
		}
	}
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct benchmark_view *view = context;
	struct row *row;

	if (!phases_has_steps(phases)) {
		return;
	}
	view->rows = array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
	row = &view->rows[view->nr_rows++];
	*row = (struct row){.process = process};
	row->batch_size = process_number(process, "config.GPROF_BATCH_SIZE");
	if (row->batch_size <= 0) {
		row->batch_size = seen_size(view);
		row->is_seen = row->batch_size > 0;
	}
	if (view->input.has_all_steps) {
		add_steps_of_paddle(row, phases);
	} else {
		add_counted(view, row, phases);
	}
}

static void add_note(const struct benchmark_view *view, struct table *table)
{
	size_t nr_known = 0;
	bool has_readers = true, is_seen = false, is_part = false;

	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct row *row = &view->rows[i];

		nr_known += row->batch_size > 0;
		is_seen = is_seen || row->is_seen;
		has_readers = has_readers && row->has_reader;
		is_part = is_part || (row->has_reader && row->reader.nr != row->batch.nr);
	}
	if (!view->nr_rows) {
		table_note(table, "No steps were recorded.");
		return;
	}
	counted_steps_note(view->nr_warm_up, view->nr_outliers, table);
	if (view->input.has_all_steps) {
		table_note(table,
			"As in Paddle, the first %u steps are excluded; of up to %u steps, only "
			"the "
			"first.",
			PADDLE_WARM_UP, 2 * PADDLE_WARM_UP);
	}
	if (nr_known < view->nr_rows) {
		table_note(table,
			"ips is in %ssteps per second; set GPROF_BATCH_SIZE to get samples per "
			"second.",
			nr_known ? "samples per second where Batch is known, else " : "");
	}
	if (is_seen) {
		table_note(table,
			"The batch size is that of the inputs of linear and convolution layers.");
	}
	if (is_part) {
		table_note(table, "Reader cost and ratio cover only the recorded steps.");
	}
	if (!has_readers) {
		table_note(table, "Some processes have no known data loader.");
	}
}

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(row, process)),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT, TABLE_MEMBER(row, batch.nr)),
	TABLE_COLUMN("reader_cost_avg_ns", "reader_cost avg", TABLE_MEAN_TIME,
		.help = "time per step spent waiting for data",
		TABLE_MEAN(row, reader.sum, nr_readers)),
	TABLE_COLUMN("reader_cost_max_ns", "reader_cost max", TABLE_TIME, .is_minor = true,
		.help = "longest wait in a step", TABLE_IF(row, reader.max, nr_readers)),
	TABLE_COLUMN("reader_cost_min_ns", "reader_cost min", TABLE_TIME, .is_minor = true,
		.help = "shortest wait in a step", TABLE_IF(row, reader.min, nr_readers)),
	TABLE_COLUMN("batch_cost_avg_ns", "batch_cost avg", TABLE_MEAN_TIME,
		.help = "time per step", TABLE_MEAN(row, batch.sum, batch.nr)),
	TABLE_COLUMN("batch_cost_max_ns", "batch_cost max", TABLE_TIME, .is_minor = true,
		.help = "longest step", TABLE_IF(row, batch.max, batch.nr)),
	TABLE_COLUMN("batch_cost_min_ns", "batch_cost min", TABLE_TIME, .is_minor = true,
		.help = "shortest step", TABLE_IF(row, batch.min, batch.nr)),
	TABLE_COLUMN("reader_ratio_pct", "reader % of batch", TABLE_PERCENT,
		.help = "reader cost, as a share of batch cost",
		TABLE_SHARE(row, reader.sum, reader_whole_ns)),
	TABLE_COLUMN("batch_size", "Batch", TABLE_COUNT, .help = "samples per step",
		TABLE_NONZERO(row, batch_size)),
	TABLE_COLUMN("ips_avg", "ips avg", TABLE_NUMBER,
		.help = "samples per second; steps per second where the batch size is unknown",
		TABLE_MEMBER(row, ips_avg)),
	TABLE_COLUMN(
		"ips_max", "ips max", TABLE_NUMBER, .is_minor = true, TABLE_MEMBER(row, ips_max)),
	TABLE_COLUMN(
		"ips_min", "ips min", TABLE_NUMBER, .is_minor = true, TABLE_MEMBER(row, ips_min)),
};

static void finish_row(struct row *row)
{
	double samples = row->batch_size > 0 ? (double)row->batch_size : 1;
	const struct min_max_sum *batch = &row->batch;

	row->nr_readers = row->has_reader ? row->reader.nr : 0;
	row->reader_whole_ns = row->has_reader ? row->read_batch_ns : 0;
	row->batch_size = row->batch_size > 0 ? row->batch_size : 0;
	row->ips_avg = batch->sum ? samples * (double)batch->nr / (double)batch->sum * 1e9 : NAN;
	row->ips_max = batch->min ? samples / (double)batch->min * 1e9 : NAN;
	row->ips_min = batch->min ? samples / (double)batch->max * 1e9 : NAN;
}

static void fill_table(void *state, struct table *table)
{
	struct benchmark_view *view = state;

	for (size_t i = 0; i < view->nr_rows; i++) {
		finish_row(&view->rows[i]);
		table_add(table, &view->rows[i]);
	}
	add_note(view, table);
}

static void fini(void *state)
{
	struct benchmark_view *view = state;

	free(view->rows);
}

VIEW(benchmark, 400) = {
	.name = "benchmark",
	.subject = VIEW_ABOUT_STEPS,
	.help = "reader_cost, batch_cost and samples per second",
	.about =
		"The figures of Paddle's benchmark timer, of the steps that count, see `help "
		"headline`. In Paddle's own layout the first 10 steps are left out instead, or, of "
		"up to 20 steps, the first.",
	.title = "Benchmark",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct benchmark_view),
	.ops = {.op_wants = is_layer, .begin = begin, .op = on_op, .end = end},
	.fill = fill_table,
	.fini = fini,
};
