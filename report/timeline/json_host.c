/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/util/progress.h"
#include "report/model/py_stack.h"
#include "report/model/ranges.h"
#include "report/model/select.h"
#include "report/util/text.h"
#include "report/timeline/timeline.h"
#include "report/timeline/json_lane.h"
#include "report/timeline/json_nccl.h"
#include "report/timeline/op.h"
#include "report/timeline/python.h"

uint32_t timeline_tid(const struct timeline *timeline, uint64_t thread)
{
	const struct model_thread *found =
		thread > UINT32_MAX ? NULL
				    : idmap_get(&timeline->process->threads, (uint32_t)thread);

	return found && found->tid ? found->tid : (uint32_t)thread;
}

/*
 * A step lasts until the next one. The last one has no end of its own and reaches to the end of the
 * recording; tools that drop the last step as unfinished then drop just this one.
 */
static void add_steps(struct timeline *timeline)
{
	struct process *process = timeline->process;

	for (size_t i = 0; i < process->nr_steps; i++) {
		const struct model_step *step = &process->steps[i];
		uint64_t begin_ns = timeline_host_ns(timeline, step->tick);
		uint64_t end_ns = timeline_last_ns(timeline);
		uint32_t tid = timeline_tid(timeline, step->thread);
		char name[64];

		/* A trace has ranges of its own for steps, which are among its operators. */
		if (model_step_is_gap(step) || step->how == MODEL_STEP_TRACE) {
			continue;
		}
		if (i + 1 < process->nr_steps) {
			end_ns = timeline_host_ns(timeline, step[1].tick);
		}
		end_ns = end_ns > begin_ns ? end_ns : begin_ns + 1000;
		if (!select_has_step(process, i) || !timeline_picks(timeline, begin_ns, end_ns) ||
			!timeline_lanes_place(
				timeline->lanes, TIMELINE_LANE_STEP, &tid, begin_ns, end_ns)) {
			continue;
		}
		snprintf(name, sizeof(name), "\"ProfilerStep#%" PRIu64 "\"", step->step);
		timeline_begin(timeline, 'X', "user_annotation", name);
		timeline_place(timeline, timeline->pid, tid, begin_ns, &end_ns);
		buf_text(timeline->out, ", \"args\": {}}");
	}
}

/*
 * HolisticTraceAnalysis drops the last step as unfinished. That of a stream has no end, and goes;
 * of a trace, whose steps are ranges, all would be whole: one more is put behind them.
 */
static void add_step_to_drop(struct timeline *timeline)
{
	const struct process *process = timeline->process;
	uint64_t begin_ns = timeline_last_ns(timeline);
	uint64_t end_ns = begin_ns + 1000;
	const struct model_step *last = NULL;
	char name[64];
	uint32_t tid;

	for (size_t i = 0; i < process->nr_steps; i++) {
		last = process->steps[i].how == MODEL_STEP_TRACE ? &process->steps[i] : last;
	}
	if (!last || timeline_lanes_is_first(timeline->lanes) ||
		!timeline_picks(timeline, begin_ns, end_ns)) {
		return;
	}
	tid = timeline_tid(timeline, last->thread);
	snprintf(name, sizeof(name), "\"ProfilerStep#%" PRIu64 "\"", last->step + 1);
	timeline_begin(timeline, 'X', "user_annotation", name);
	timeline_place(timeline, timeline->pid, tid, begin_ns, &end_ns);
	buf_text(timeline->out, ", \"args\": {}}");
}

static const char *api_category(uint8_t api)
{
	switch (api) {
	case GPROF_API_DRIVER:
		return "cuda_driver";
	case GPROF_API_RUNTIME:
		return "cuda_runtime";
	default:
		return "cpu_op";
	}
}

/* py_stacks: NULL for calls that have none. */
static void take_calls(struct timeline *timeline, const struct batch *b, const uint64_t *py_stacks)
{
	struct buf *out = timeline->out;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin_ns = timeline_host_ns(timeline, b->col[COL_api_begin][i]);
		uint64_t end_ns = timeline_host_ns(
			timeline, b->col[COL_api_begin][i] + b->col[COL_api_dur][i]);
		uint32_t tid = timeline_tid(timeline, b->col[COL_api_thread][i]);
		uint32_t correlation, name;
		uint8_t api;

		if (!timeline_lanes_place(
			    timeline->lanes, TIMELINE_LANE_CALL, &tid, begin_ns, end_ns)) {
			continue;
		}
		correlation = (uint32_t)b->col[COL_api_correlation][i];
		name = process_call_name(timeline->process, b->col[COL_api_call][i], &api);
		timeline_begin(timeline, 'X', api_category(api), timeline_name(name));
		timeline_place(timeline, timeline->pid, tid, begin_ns, &end_ns);
		buf_text(out, ", \"args\": {\"correlation\": ");
		buf_uint(out, correlation);
		if (b->col[COL_api_result][i]) {
			buf_printf(out, ", \"result\": %d", (int)b->col[COL_api_result][i]);
		}
		if (py_stacks && py_stacks[i]) {
			buf_printf(out, ", \"Call stack\": %s",
				timeline_name(
					py_stack_text(timeline->process, (uint32_t)py_stacks[i])));
		}
		buf_text(out, "}}");
		if (correlation && idset_has(timeline->worked, correlation)) {
			timeline_flow(timeline, 's', correlation, timeline->pid, tid, begin_ns);
		}
	}
}

static const char *range_name(const struct range *range, struct buf *joined)
{
	size_t nr_bytes;
	const char *bytes;

	if (!range->domain) {
		return timeline_name(range->name);
	}
	joined->nr_bytes = 0;
	bytes = string_pool_text(range->domain, &nr_bytes);
	text_add_json(joined, bytes, nr_bytes);
	joined->nr_bytes--; /* the quote */
	buf_char(joined, ':');
	buf_text(joined, timeline_name(range->name) + 1);
	buf_char(joined, '\0');
	return joined->bytes;
}

/* What NVTX's types are: unsigned, signed and floating numbers of 64 bits, then of 32. */
static void add_payload(struct buf *out, const struct range *range)
{
	double number;
	float small;

	if (!range->payload_type && range->op != GPROF_NVTX_PUSH) {
		return;
	}
	memcpy(&number, &range->payload, sizeof(number));
	memcpy(&small, &range->payload, sizeof(small));
	buf_text(out, ", \"args\": {");
	switch (range->payload_type) {
	case 1:
	case 4:
		buf_text(out, "\"payload\": ");
		buf_uint(out, range->payload);
		break;
	case 2:
		buf_printf(out, "\"payload\": %" PRId64, (int64_t)range->payload);
		break;
	case 5:
		buf_printf(out, "\"payload\": %" PRId32, (int32_t)range->payload);
		break;
	case 3:
	case 6:
		number = range->payload_type == 6 ? (double)small : number;
		if (isfinite(number)) { /* JSON has no others */
			buf_printf(out, "\"payload\": %.9g", number);
		}
		break;
	default:
		break;
	}
	buf_text(out, "}");
}

/* Start/end ranges overlap freely, so they become asynchronous events, which may. */
static void take_range(void *context, const struct range *range)
{
	struct timeline *timeline = context;
	uint64_t begin_ns = timeline_host_ns(timeline, range->begin);
	uint64_t end_ns = timeline_host_ns(timeline, range->end);
	uint32_t tid = timeline_tid(timeline, range->thread);
	struct buf joined = {0};
	const char *name;

	if (!timeline_picks(timeline, begin_ns, end_ns)) {
		return;
	}
	if (range->op == GPROF_NVTX_MARK || range->op == GPROF_NVTX_START
			? timeline_lanes_is_first(timeline->lanes)
			: !timeline_lanes_place(
				  timeline->lanes, TIMELINE_LANE_RANGE, &tid, begin_ns, end_ns)) {
		return;
	}
	name = range_name(range, &joined);
	if (range->op == GPROF_NVTX_MARK) {
		timeline_begin(timeline, 'i', "user_annotation", name);
		buf_text(timeline->out, ", \"s\": \"t\"");
		timeline_place(timeline, timeline->pid, tid, begin_ns, NULL);
		add_payload(timeline->out, range);
		buf_text(timeline->out, "}");
	} else if (range->op == GPROF_NVTX_START) {
		uint64_t id = timeline->nr_events;

		for (int end = 0; end < 2; end++) {
			timeline_begin(timeline, end ? 'e' : 'b', "user_annotation", name);
			buf_printf(timeline->out, ", \"id\": %" PRIu64, id);
			timeline_place(timeline, timeline->pid, tid, end ? end_ns : begin_ns, NULL);
			if (!end) {
				add_payload(timeline->out, range);
			}
			buf_text(timeline->out, "}");
		}
	} else {
		timeline_begin(timeline, 'X', "user_annotation", name);
		timeline_place(timeline, timeline->pid, tid, begin_ns, &end_ns);
		add_payload(timeline->out, range);
		buf_text(timeline->out, "}");
	}
	buf_fini(&joined);
}

static uint32_t wanted(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_nccl:
		return TIMELINE_NCCL_MASK;
	case GPROF_TABLE_nvtx:
		return RANGES_MASK;
	case GPROF_TABLE_op:
		return TIMELINE_OP_MASK;
	case GPROF_TABLE_py_call:
		return TIMELINE_PYTHON_MASK;
	case GPROF_TABLE_alloc:
		return TIMELINE_ALLOC_MASK;
	default:
		return timeline_api_mask(table);
	}
}

/* For the first walk. */
static uint32_t wanted_first(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_nvtx:
		return RANGES_MASK;
	case GPROF_TABLE_op:
		return COL_BIT(COL_op_begin) | COL_BIT(COL_op_dur) | COL_BIT(COL_op_thread);
	case GPROF_TABLE_nccl:
		return COL_BIT(COL_nccl_begin) | COL_BIT(COL_nccl_dur) | COL_BIT(COL_nccl_thread);
	case GPROF_TABLE_py_call:
		return COL_BIT(COL_py_call_begin) | COL_BIT(COL_py_call_dur) |
		       COL_BIT(COL_py_call_thread);
	case GPROF_TABLE_alloc:
		return 0;
	default:
		return wanted(table) ? COL_BIT(COL_api_begin) | COL_BIT(COL_api_dur) |
					       COL_BIT(COL_api_thread)
				     : 0;
	}
}

static void take_batch(struct timeline *timeline, struct timeline_ops *ops, struct ranges *ranges,
	const struct batch *batch)
{
	switch (batch->table) {
	case GPROF_TABLE_api_launch:
		take_calls(timeline, batch, batch->col[COL_api_launch_py_stack]);
		break;
	case GPROF_TABLE_nccl:
		timeline_nccl_take(timeline, batch);
		break;
	case GPROF_TABLE_nvtx:
		ranges_take(ranges, timeline->process, batch, take_range, timeline);
		break;
	case GPROF_TABLE_op:
		timeline_ops_take(ops, batch);
		break;
	case GPROF_TABLE_py_call:
		timeline_python_take(timeline, batch);
		break;
	case GPROF_TABLE_alloc:
		timeline_allocs_take(ops, batch);
		break;
	default:
		take_calls(timeline, batch, NULL);
		break;
	}
}

static void walk(struct timeline *timeline, struct timeline_ops *ops)
{
	struct stream *stream = timeline->process->stream;
	struct ranges *ranges = ranges_create();
	bool is_first = timeline_lanes_is_first(timeline->lanes);

	if (timeline_shows(timeline, TIMELINE_STEPS)) {
		add_steps(timeline);
		if (timeline_is_for_hta(timeline)) {
			add_step_to_drop(timeline);
		}
	}
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i);
		uint32_t mask = is_first ? wanted_first(table) : wanted(table);
		struct batch batch;

		if (!mask) {
			continue;
		}
		if (timeline_load(timeline, i, mask, &batch)) {
			take_batch(timeline, ops, ranges, &batch);
		}
		if (!is_first) {
			progress_add(stream->blocks[i].nr_rows);
		}
	}
	ranges_destroy(ranges);
}

void timeline_host(struct timeline *timeline)
{
	struct timeline_ops *ops = timeline_ops_create(timeline);

	timeline->lanes = timeline_lanes_create();
	walk(timeline, ops);
	timeline_lanes_find(timeline->lanes);
	timeline_lanes_name(timeline->lanes, timeline);
	walk(timeline, ops);
	timeline_lanes_destroy(timeline->lanes);
	timeline->lanes = NULL;
	timeline_ops_destroy(ops);
}
