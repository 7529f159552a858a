/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and sets with the calls that started them, in the layout of Paddle's Memory Manipulation
 * Summary: "GpuMemcpySync:GPU->CPU" is the kind of memory on both sides, and whether the call asked
 * for it to be asynchronous. What a graph copies has no call of its own, and so no time of the
 * host. Of Paddle's ranges around copies those are here that are no copy themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "report/ops/event_tree.h"
#include "report/ops/op.h"
#include "report/ops/step_share.h"
#include "report/analysis/view.h"
#include "report/util/text.h"

struct manipulation_view {
	struct view_input input;
	struct event_tree tree;
	struct idmap bytes; /* uint64_t, by the row's number */
	struct step_share share;
	bool is_gpu;
	uint64_t nr_without_call;
};

static void init(void *state)
{
	struct manipulation_view *view = state;

	idmap_init(&view->bytes, sizeof(uint64_t));
	step_share_init(&view->share);
}

static void begin(void *context, struct process *process)
{
	struct manipulation_view *view = context;

	view->is_gpu = process_has_device_records(process, NULL);
	step_share_begin(&view->share, process, view->input.has_all_steps);
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct manipulation_view *view = context;

	(void)process;
	step_share_end(&view->share, phases);
}

static uint32_t find_row(struct manipulation_view *view, uint32_t name)
{
	const struct event_key key = {.name = name, .kind = EVENT_KIND_COPY};

	return event_tree_find(&view->tree, &key);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct manipulation_view *view = context;
	uint64_t cpu_ns = UINT64_MAX, gpu_ns = UINT64_MAX;
	uint64_t *bytes;
	uint32_t row;

	(void)op;
	if (!gprof_table_is(record->table, GPROF_IS_COPYING)) {
		return;
	}
	view->nr_without_call += !call;
	if (call && (call->table == GPROF_TABLE_api_copy || call->table == GPROF_TABLE_api_set)) {
		cpu_ns = clock_map_duration(
			&view->input.process->host_clock, call->end - call->begin);
	}
	row = find_row(view, event_copy_name(view->input.process, record, call));
	gpu_ns = record->is_timed ? record->end_ns - record->begin_ns : gpu_ns;
	event_tree_add(&view->tree, row, cpu_ns, gpu_ns);
	if (call) {
		step_share_add(&view->share, row, call->begin, cpu_ns, gpu_ns);
	}
	bytes = idmap_put(&view->bytes, row);
	*bytes = *bytes + record->bytes < *bytes ? UINT64_MAX : *bytes + record->bytes;
}

/* Its own ranges around copies that are rows already are none. */
static bool is_manipulation(const struct op *op)
{
	const char *name;

	if (op->framework != GPROF_FRAMEWORK_PADDLE ||
		!op_is_user(op->name, op->framework, op->scope)) {
		return false;
	}
	name = string_pool_text(op->name, NULL);
	return event_is_manipulation(name) && strncasecmp(name, "GpuMemcpy", 9) != 0 &&
	       strncasecmp(name, "GpuMemset", 9) != 0;
}

static void on_op(void *context, const struct op *op)
{
	struct manipulation_view *view = context;

	if (is_manipulation(op)) {
		uint32_t row = find_row(view, op->name);
		uint64_t cpu_ns =
			clock_map_duration(&view->input.process->host_clock, op->end - op->begin);
		uint64_t gpu_ns = view->is_gpu ? op->gpu_total_ns : UINT64_MAX;

		event_tree_add(&view->tree, row, cpu_ns, gpu_ns);
		step_share_add(&view->share, row, op->begin, cpu_ns, gpu_ns);
	}
}

static void on_replay(void *context, const struct op *op)
{
	struct manipulation_view *view = context;

	if (view->is_gpu && is_manipulation(op)) {
		uint32_t row = find_row(view, op->name);

		event_tree_add_replay(&view->tree, row, op->gpu_total_ns);
		step_share_add(&view->share, row, op->begin, 0, op->gpu_total_ns);
	}
}

struct shown_row {
	struct event_row event;
	struct step_times share;
	uint64_t bytes;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(shown_row, event.both.nr)),
	TABLE_COLUMN("total_ns", "CPU total", TABLE_TIME,
		TABLE_IF(shown_row, event.cpu.sum, event.cpu.nr)),
	TABLE_COLUMN("avg_ns", "CPU avg", TABLE_MEAN_TIME,
		TABLE_MEAN(shown_row, event.cpu.sum, event.cpu.nr)),
	TABLE_COLUMN("max_ns", "CPU max", TABLE_TIME, .is_minor = true,
		TABLE_IF(shown_row, event.cpu.max, event.cpu.nr)),
	TABLE_COLUMN("min_ns", "CPU min", TABLE_TIME, .is_minor = true,
		TABLE_IF(shown_row, event.cpu.min, event.cpu.nr)),
	TABLE_COLUMN("ratio_pct", "% of steps", TABLE_PERCENT, .is_wide_only = true,
		.help = "CPU time in the steps that count, as a share of them",
		TABLE_SHARE(shown_row, share.cpu_ns, share.steps_ns)),
	TABLE_COLUMN("gpu_total_ns", "GPU total", TABLE_TIME,
		.help = "sum of the copies and memsets",
		TABLE_IF(shown_row, event.gpu.sum, event.gpu.nr)),
	TABLE_COLUMN("gpu_avg_ns", "GPU avg", TABLE_MEAN_TIME,
		TABLE_MEAN(shown_row, event.gpu.sum, event.gpu.nr)),
	TABLE_COLUMN("gpu_max_ns", "GPU max", TABLE_TIME, .is_minor = true,
		TABLE_IF(shown_row, event.gpu.max, event.gpu.nr)),
	TABLE_COLUMN("gpu_min_ns", "GPU min", TABLE_TIME, .is_minor = true,
		TABLE_IF(shown_row, event.gpu.min, event.gpu.nr)),
	TABLE_COLUMN("gpu_ratio_pct", "% of GPU in steps", TABLE_PERCENT, .is_wide_only = true,
		.help = "GPU time launched in these steps, as a share of all that",
		TABLE_SHARE(shown_row, share.gpu_ns, share.steps_gpu_ns)),
	TABLE_COLUMN("total_bytes", "Size", TABLE_SIZE, TABLE_MEMBER(shown_row, bytes)),
	TABLE_COLUMN("name", "Operation", TABLE_NAME, TABLE_MEMBER(shown_row, event.key.name)),
};

static void fill_table(void *state, struct table *table)
{
	struct manipulation_view *view = state;

	for (size_t i = 0; i < view->tree.nr_rows; i++) {
		const struct event_row *row = view->tree.rows[i];
		const uint64_t *bytes = idmap_get(&view->bytes, row->number);
		struct shown_row shown = {*row, step_share_times(&view->share, row->number),
			bytes ? *bytes : UINT64_MAX};

		shown.share.steps_ns = row->cpu.nr ? shown.share.steps_ns : 0;
		shown.share.steps_gpu_ns = row->gpu.nr ? shown.share.steps_gpu_ns : 0;
		table_add(table, &shown);
	}
	view_note_devices(table, &view->input, "The view memcpy has the copies by their calls.");
	if (view->nr_without_call) {
		table_note(table, "%llu GPU %s no recorded call, so no CPU time.",
			(unsigned long long)view->nr_without_call,
			text_many(view->nr_without_call, "activity has", "activities have"));
	}
	table_sort(table, "gpu_total");
	table_sort(table, "total");
}

static void fini(void *state)
{
	struct manipulation_view *view = state;

	event_tree_fini(&view->tree);
	idmap_fini(&view->bytes);
	step_share_fini(&view->share);
}

VIEW(memops, 300) = {
	.name = "memops",
	.subject = VIEW_ABOUT_GPU,
	.help = "copies and memsets with their calls, synchronous and asynchronous",
	.about = "CPU times are those of the calls, GPU times those of the copies and memsets that "
		 "they launched.",
	.title = "Memory operations",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct manipulation_view),
	.ops = {.begin = begin, .op = on_op, .replay = on_replay, .record = on_record, .end = end},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
