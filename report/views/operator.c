/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by name: their time on the CPU, and the GPU time of what they launched. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/gpu_peak.h"
#include "report/ops/flops.h"
#include "report/ops/op_bytes.h"
#include "report/util/hash.h"
#include "report/util/text.h"
#include "report/stats/min_max_sum.h"
#include "report/analysis/view.h"

struct key {
	uint32_t name, shape, process, thread; /* the last three 0 where they are merged */
};

struct row {
	struct key key;
	struct min_max_sum times; /* ns */
	uint64_t self, /* ns */ gpu_total_ns, gpu_self_ns, graph_ns, nr_activities;
	double flops;	 /* of the calls whose shapes give them */
	double least_ns; /* their time at the peak of the GPU */
	uint64_t nr_flops, nr_peaks;
	/* For the table. */
	const struct process *process;
	uint64_t tid;
	double flops_per_s;
	uint32_t merged;	       /* its row in `merged` of the view */
	bool has_gpu, lacks_gpu_times; /* some of its processes have device records, or have not */
	UT_hash_handle hh;
};

#define NR_RECENT 512u
/* Traces round times to a microsecond: that much of an overlap is none. */
#define MAX_ROUNDED_TICKS 1000u

struct operator_view {
	struct view_input input;
	struct row *rows;
	struct row *recent[NR_RECENT]; /* found last, by name and shape; saves the hash */
	struct row *by_kind[OP_KINDS]; /* found last, as op_kinds */
	bool is_by_shape, is_by_name;
	bool is_gpu; /* the current process has device records */
	bool has_gpu, has_shapes, has_graphs, lacks_gpu_times, lacks_sizes;
	uint64_t nr_ops, nr_overlapping;
	double self_ns, gpu_ns;	   /* of all rows */
	struct gpu_peak peak;	   /* of the current process */
	struct keyed_stats merged; /* rows by name alone, with the distribution of their times */
};

static void begin(void *context, struct process *process)
{
	struct operator_view *view = context;

	view->is_by_shape = view->input.is_detailed && !view->input.is_merged;
	view->is_by_name = !view->is_by_shape && !view->input.is_per_thread;
	view->is_gpu = process_has_device_records(process, NULL);
	view->peak = view->is_gpu ? gpu_peak_common(process) : (struct gpu_peak){0};
	if (op_has_any(process)) {
		view->has_gpu |= view->is_gpu;
		view->lacks_gpu_times |= !view->is_gpu;
	}
}

static inline bool is_key(const struct key *x, const struct key *y)
{
	return x->name == y->name && x->shape == y->shape && x->process == y->process &&
	       x->thread == y->thread;
}

static struct row *make_row(struct operator_view *view, const struct key *key)
{
	struct row *row;

	HASH_FIND(hh, view->rows, key, sizeof(*key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = *key;
		row->merged = view->input.is_merged
				      ? keyed_stats_find(&view->merged, key->name, key->name, 0)
				      : 0;
		HASH_ADD(hh, view->rows, key, sizeof(*key), row);
	}
	return row;
}

static struct row *find_row_by_all(
	struct operator_view *view, const struct op *op, const struct op_kind *kind)
{
	struct key key = {.name = kind->row_name};
	struct row **recent;

	if (view->is_by_shape) {
		key.shape = op->shape;
	}
	if (view->input.is_per_thread) {
		key.process = (uint32_t)view->input.number + 1;
		key.thread = op->thread;
	}
	recent = &view->recent[(key.name + 61 * key.shape + 127 * key.thread) % NR_RECENT];
	if (!*recent || !is_key(&(*recent)->key, &key)) {
		*recent = make_row(view, &key);
	}
	return *recent;
}

/* Mostly there is one row for a name. */
static inline struct row *find_row(struct operator_view *view, const struct op *op)
{
	const struct op_kind *kind = op_kind(op->name, op->framework, op->scope);
	struct row **row = &view->by_kind[kind - op_kinds];

	if (view->is_by_name && *row && (*row)->key.name == kind->row_name) {
		return *row;
	}
	*row = find_row_by_all(view, op, kind);
	return *row;
}

/* The call of an operator; or a launch of a graph that ran it, which is no call. */
static inline void add_flops(
	struct operator_view *view, struct row *row, const struct op *op, unsigned int nr_calls)
{
	enum gpu_float type;
	double flops;

	view->has_shapes |= op->shape != 0;
	if (!flops_may_be_of(op)) {
		return;
	}
	if (!flops_of_op(op, &flops)) {
		view->lacks_sizes |= flops_lack_size(op);
		return;
	}
	row->flops += flops;
	row->nr_flops += nr_calls;
	type = op_float(op->shape);
	if (type < NR_GPU_FLOATS && view->peak.flops[type] > 0) {
		row->least_ns += flops / view->peak.flops[type] * 1e9;
		row->nr_peaks += nr_calls;
	}
}

static void add_gpu(struct operator_view *view, struct row *row, const struct op *op)
{
	row->has_gpu |= view->is_gpu;
	row->lacks_gpu_times |= !view->is_gpu;
	row->gpu_total_ns += op->gpu_total_ns;
	row->gpu_self_ns += op->gpu_self_ns;
	row->graph_ns += op->graph_self_ns;
	row->nr_activities += op->nr_activities;
	view->has_graphs |= op->graph_self_ns != 0;
}

static void on_replay(void *context, const struct op *op)
{
	struct operator_view *view = context;
	struct row *row = find_row(view, op);

	add_gpu(view, row, op);
	if (!view->input.is_merged) {
		add_flops(view, row, op, 0);
	}
}

static void on_op(void *context, const struct op *op)
{
	struct operator_view *view = context;
	const struct clock_map *clock = &view->input.process->host_clock;
	uint64_t ticks = op->end - op->begin, ns = clock_map_duration(clock, ticks);
	struct row *row = find_row(view, op);

	min_max_sum_add(&row->times, ns);
	row->self +=
		clock_map_duration(clock, ticks > op->child_ticks ? ticks - op->child_ticks : 0);
	add_gpu(view, row, op);
	view->nr_ops++;
	view->nr_overlapping += op->taken_ticks > MAX_ROUNDED_TICKS;
	if (view->input.is_merged) {
		histogram_add(&view->merged.times, row->merged, ns);
	} else {
		add_flops(view, row, op, 1);
	}
}

static void get_sums(const void *state, uint64_t (*sums)[VIEW_MERGE_SUMS])
{
	const struct operator_view *view = state;

	for (const struct row *row = view->rows; row; row = row->hh.next) {
		uint64_t *of_name = sums[row->merged];

		of_name[0] += row->self;
		of_name[1] += row->gpu_self_ns;
		of_name[2] += row->gpu_total_ns;
		of_name[3] += row->nr_activities;
	}
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	TABLE_COLUMN("share_pct", "% of self CPU time", TABLE_PERCENT,
		.help = "self CPU time, of that of all operators",
		TABLE_SHARE_OF_STATE(row, self, operator_view, self_ns)),
	TABLE_COLUMN("self_ns", "Self CPU", TABLE_TIME, .help = "without operators inside it",
		TABLE_MEMBER(row, self)),
	TABLE_COLUMN("total_ns", "CPU total", TABLE_TIME, .help = "with operators inside it",
		TABLE_MEMBER(row, times.sum)),
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(row, times.nr)),
	TABLE_COLUMN("avg_ns", "CPU avg", TABLE_MEAN_TIME, .is_minor = true,
		TABLE_MEAN(row, times.sum, times.nr)),
	TABLE_COLUMN(
		"max_ns", "CPU max", TABLE_TIME, .is_minor = true, TABLE_MEMBER(row, times.max)),
	TABLE_COLUMN(
		"min_ns", "CPU min", TABLE_TIME, .is_minor = true, TABLE_MEMBER(row, times.min)),
	TABLE_COLUMN("gpu_share_pct", "% of GPU time", TABLE_PERCENT,
		.help = "self GPU time, of that of all operators",
		TABLE_WIDE_UNLESS(operator_view, has_gpu),
		TABLE_SHARE_OF_STATE(row, gpu_self_ns, operator_view, gpu_ns)),
	TABLE_COLUMN("gpu_self_ns", "Self GPU", TABLE_TIME, .help = "launched by it directly",
		TABLE_WIDE_UNLESS(operator_view, has_gpu), TABLE_MEMBER(row, gpu_self_ns)),
	TABLE_COLUMN("gpu_total_ns", "GPU total", TABLE_TIME,
		TABLE_WIDE_UNLESS(operator_view, has_gpu),
		.help = "launched by it and by operators inside it",
		TABLE_MEMBER(row, gpu_total_ns)),
	TABLE_COLUMN("graph_ns", "In graphs", TABLE_TIME,
		TABLE_WIDE_UNLESS(operator_view, has_graphs),
		.help = "self GPU time that launches of CUDA graphs ran, in which the operator was "
			"captured",
		TABLE_MEMBER(row, graph_ns)),
	TABLE_COLUMN("gpu_activities", "GPU activities", TABLE_COUNT, .is_minor = true,
		.help = "GPU activities launched", TABLE_WIDE_UNLESS(operator_view, has_gpu),
		TABLE_MEMBER(row, nr_activities)),
	TABLE_COLUMN("flops", "FLOPs", TABLE_COUNT, TABLE_WIDE_UNLESS(operator_view, has_shapes),
		.help = "floating-point operations, of calls whose input shapes are known",
		TABLE_MEMBER(row, flops)),
	TABLE_COLUMN("flops_per_s", "FLOP/s", TABLE_COUNT, .is_wide_only = true,
		.help = "FLOPs by GPU total; without GPU times, by CPU total",
		TABLE_MEMBER(row, flops_per_s)),
	TABLE_COLUMN("flops_peak_pct", "% of peak FLOP/s", TABLE_PERCENT,
		.help = "FLOP/s, as a share of the GPU's peak for the type of the first "
			"input; float32 can exceed 100 % with TF32",
		TABLE_SHARE(row, least_ns, gpu_total_ns)),
	TABLE_COLUMN("pid", "PID", TABLE_ID, TABLE_WIDE_UNLESS(operator_view, input.is_per_thread),
		VIEW_PID(row, process)),
	TABLE_COLUMN("tid", "TID", TABLE_ID, TABLE_WIDE_UNLESS(operator_view, input.is_per_thread),
		TABLE_MEMBER(row, tid)),
	TABLE_COLUMN("shapes", "Inputs", TABLE_NAME, .is_major = true,
		.help = "shapes and types of the inputs",
		TABLE_WIDE_UNLESS(operator_view, input.is_detailed), TABLE_NONZERO(row, key.shape)),
	TABLE_COLUMN("name", "Operator", TABLE_NAME, TABLE_MEMBER(row, key.name)),
};

/* What a row does not have becomes unknown. */
static void finish(const struct operator_view *view, struct row *row)
{
	const struct process *process =
		row->key.process ? view->input.processes[row->key.process - 1] : NULL;
	double ns = (double)(row->gpu_total_ns ? row->gpu_total_ns : row->times.sum);
	bool has_flops = row->nr_flops || row->flops > 0;
	bool has_rate = has_flops && !(row->has_gpu && row->lacks_gpu_times);

	row->process = process;
	row->tid = process ? process_tid(process, row->key.thread) : UINT64_MAX;
	row->flops_per_s = has_rate && row->nr_flops == row->times.nr ? row->flops / ns * 1e9 : NAN;
	row->least_ns = has_rate && row->nr_peaks == row->times.nr ? row->least_ns : NAN;
	row->flops = has_flops ? row->flops : NAN;
	if (!row->has_gpu) {
		row->gpu_self_ns = row->gpu_total_ns = UINT64_MAX;
		row->graph_ns = row->nr_activities = UINT64_MAX;
	}
}

static void fill_table(void *state, struct table *table)
{
	struct operator_view *view = state;
	struct row *row;

	table_set_wide(table, "flops_peak_pct", !view->has_shapes || !view->has_gpu);
	for (row = view->rows; row; row = row->hh.next) {
		view->self_ns += (double)row->self;
		view->gpu_ns += (double)row->gpu_self_ns;
	}
	for (row = view->rows; row; row = row->hh.next) {
		finish(view, row);
		table_add(table, row);
	}
	if (view->lacks_gpu_times && view->has_gpu) {
		table_note(table, "Some processes have no GPU activities.");
	}
	if (view->lacks_sizes) {
		table_note(table, FLOPS_NOTE);
	}
	if (view->nr_overlapping) {
		table_note(table,
			"%" PRIu64 " %s one that began later on the same thread and ended later; "
			"self times count what both share for the later one.",
			view->nr_overlapping,
			text_many(view->nr_overlapping, "operator overlaps", "operators overlap"));
	}
	table_sort(table, "self");
}

static void fini(void *state)
{
	struct operator_view *view = state;

	hash_free(view->rows);
}

VIEW(operator, 50) = {
	.name = "operator",
	.subject = VIEW_ABOUT_HOST,
	.help = "operators of the framework, and what they launched",
	.about = "Self time excludes the operators inside. GPU time is that of the GPU activities "
		 "that the operator launched, whenever they ran. User ranges are in the view "
		 "user-ranges.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Operators",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct operator_view, merged),
	.merge = {.share = "% of CPU total",
		.sums = {"self_ns", "gpu_self_ns", "gpu_total_ns", "gpu_activities"},
		.keys = {"name"},
		.get_sums = get_sums},
	.ops = {.begin = begin, .op = on_op, .replay = on_replay, .op_is = OP_IS_OPERATOR},
	.fill = fill_table,
	.fini = fini,
};
