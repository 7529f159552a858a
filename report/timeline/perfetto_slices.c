/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/model/kernel_class.h"
#include "report/timeline/perfetto.h"
#include "report/util/progress.h"
#include "report/model/py_stack.h"
#include "report/model/ranges.h"
#include "report/model/select.h"
#include "report/timeline/arrow.h"
#include "report/timeline/op.h"
#include "report/timeline/python.h"

struct perfetto_slice *perfetto_add_slice(struct perfetto *pftrace, enum perfetto_kind kind,
	size_t row, uint32_t name, uint64_t begin_ns, uint64_t end_ns)
{
	struct perfetto_slice *slice = external_sort_add(pftrace->spool);

	slice->dur_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
	slice->head.key = begin_ns;
	slice->head.order = UINT64_MAX - slice->dur_ns;
	slice->kind = (uint8_t)kind;
	slice->row = (uint32_t)row;
	slice->name = name;
	return slice;
}

/* ---- the host ---- */

static uint8_t call_category(uint8_t api)
{
	return api == GPROF_API_RUNTIME	 ? PERFETTO_RUNTIME
	       : api == GPROF_API_DRIVER ? PERFETTO_DRIVER
	       : api == GPROF_API_NCCL	 ? PERFETTO_NCCL
					 : PERFETTO_LIBRARY;
}

static void take_calls(struct perfetto *pftrace, const struct batch *b)
{
	struct timeline *timeline = &pftrace->timeline;
	const uint64_t *stacks =
		b->table == GPROF_TABLE_api_launch ? b->col[COL_api_launch_py_stack] : NULL;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_api_begin][i];
		struct perfetto_slice *slice;
		uint8_t api;
		uint32_t name = process_call_name(timeline->process, b->col[COL_api_call][i], &api);

		slice = perfetto_add_slice(pftrace, PERFETTO_CALL,
			perfetto_thread_row(pftrace, b->col[COL_api_thread][i]), name,
			timeline_host_ns(timeline, begin),
			timeline_host_ns(timeline, begin + b->col[COL_api_dur][i]));
		slice->category = call_category(api);
		slice->correlation = (uint32_t)b->col[COL_api_correlation][i];
		slice->shape = (uint32_t)b->col[COL_api_result][i];
		slice->place = stacks ? (uint32_t)stacks[i] : 0;
	}
}

static uint8_t op_category(uint32_t name, uint8_t framework, uint8_t scope)
{
	if (framework == GPROF_FRAMEWORK_PYTHON) {
		return PERFETTO_PYTHON;
	}
	return op_is_user(name, framework, scope) ||
			       (framework == GPROF_FRAMEWORK_TORCH && scope == OP_TORCH_USER)
		       ? PERFETTO_ANNOTATION
		       : PERFETTO_OPERATOR;
}

static void take_ops(struct perfetto *pftrace, struct arrows *arrows, const struct batch *b)
{
	struct timeline *timeline = &pftrace->timeline;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_op_begin][i];
		uint8_t framework = (uint8_t)b->col[COL_op_framework][i];
		uint8_t scope = (uint8_t)b->col[COL_op_scope][i];
		size_t row = perfetto_thread_row(pftrace, b->col[COL_op_thread][i]);
		uint32_t name = op_name(
			timeline->process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]);
		uint64_t begin_ns = timeline_host_ns(timeline, begin);
		uint64_t shape_id = b->col[COL_op_op_shape][i];
		const uint32_t *shape =
			shape_id && shape_id <= UINT32_MAX
				? idmap_get(&timeline->process->op_shapes, (uint32_t)shape_id)
				: NULL;
		struct perfetto_slice *slice = perfetto_add_slice(pftrace, PERFETTO_OP, row, name,
			begin_ns, timeline_host_ns(timeline, begin + b->col[COL_op_dur][i]));

		slice->category = op_category(name, framework, scope);
		slice->value = b->col[COL_op_sequence][i];
		slice->shape = shape ? *shape : 0;
		slice->place = (uint32_t)b->col[COL_op_py_stack][i];
		arrows_add(arrows, b, i, op_class(name, framework, scope),
			&(struct arrow_end){begin_ns, (uint32_t)row});
	}
}

static void take_arrow(
	void *context, uint64_t nr, const struct arrow_end *from, const struct arrow_end *to)
{
	struct perfetto *pftrace = context;
	const struct arrow_end *ends[] = {from, to};

	for (int i = 0; i < 2; i++) {
		struct perfetto_slice *arrow = perfetto_add_slice(
			pftrace, PERFETTO_ARROW, ends[i]->place, 0, ends[i]->ns, ends[i]->ns);

		arrow->head.order = 0; /* before the slice */
		arrow->value = PERFETTO_AUTOGRAD_FLOW | (pftrace->timeline.first_id + nr);
	}
}

static void take_range(void *context, const struct range *range)
{
	struct perfetto *pftrace = context;
	uint64_t begin_ns = timeline_host_ns(&pftrace->timeline, range->begin);
	uint64_t end_ns = timeline_host_ns(&pftrace->timeline, range->end);
	size_t row;
	struct perfetto_slice *slice;

	if (!timeline_picks(&pftrace->timeline, begin_ns, end_ns)) {
		return;
	}
	row = perfetto_range_row(pftrace, range->thread, range->domain);
	if (range->op == GPROF_NVTX_MARK) {
		perfetto_out_instant(&pftrace->out,
			&(struct perfetto_event){
				.track = perfetto_rows_track(&pftrace->rows, row, &pftrace->out),
				.ns = begin_ns,
				.name = range->name,
				.category = PERFETTO_ANNOTATION});
		return;
	}
	slice = perfetto_add_slice(pftrace, PERFETTO_RANGE, row, range->name, begin_ns, end_ns);
	slice->category = PERFETTO_ANNOTATION;
	slice->value = range->payload;
	slice->shape = range->payload_type;
}

static void take_python(struct perfetto *pftrace, const struct batch *b)
{
	struct timeline *timeline = &pftrace->timeline;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_py_call_begin][i];

		perfetto_add_slice(pftrace, PERFETTO_SLICE,
			perfetto_python_row(pftrace, b->col[COL_py_call_thread][i]),
			py_code_text(timeline->process, (uint32_t)b->col[COL_py_call_py_code][i]),
			timeline_host_ns(timeline, begin),
			timeline_host_ns(timeline, begin + b->col[COL_py_call_dur][i]))
			->category = PERFETTO_PYTHON;
	}
}

/* ---- devices ---- */

static uint32_t work_name(const struct perfetto *pftrace, const struct batch *b, uint32_t i)
{
	char text[64];

	switch (b->table) {
	case GPROF_TABLE_kernel:
		return process_shape_name(pftrace->timeline.process, b->col[COL_kernel_shape][i]);
	case GPROF_TABLE_memcpy:
		return copy_name(copy_pack((uint32_t)b->col[COL_memcpy_copy_kind][i],
			(uint32_t)b->col[COL_memcpy_src_kind][i],
			(uint32_t)b->col[COL_memcpy_dst_kind][i]));
	case GPROF_TABLE_memset:
		return copy_name(
			copy_pack(0, 0, (uint32_t)b->col[COL_memset_memory_kind][i]) | COPY_IS_SET);
	default:
		return string_pool_intern(
			text, (size_t)snprintf(text, sizeof(text), "CUDA graph %" PRIu64,
				      b->col[COL_graph_graph][i]));
	}
}

static void take_works(struct perfetto *pftrace, const struct batch *b)
{
	struct timeline *timeline = &pftrace->timeline;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_kernel_begin][i];
		uint32_t place_id = (uint32_t)b->col[COL_kernel_place][i];
		struct model_place place = process_place(timeline->process, place_id);
		uint32_t name = work_name(pftrace, b, i);
		struct perfetto_slice *slice = perfetto_add_slice(pftrace, PERFETTO_WORK_GRAPH,
			perfetto_stream_row(pftrace, &place, false), name,
			timeline_device_ns(timeline, begin),
			timeline_device_ns(timeline, begin + b->col[COL_kernel_dur][i]));

		slice->category = PERFETTO_KERNEL;
		slice->correlation = (uint32_t)b->col[COL_kernel_correlation][i];
		slice->place = place_id;
		slice->graph = (uint32_t)b->col[COL_kernel_graph][i];
		slice->value = b->col[COL_kernel_graph_node][i];
		if (b->table == GPROF_TABLE_kernel) {
			slice->kind = PERFETTO_WORK_KERNEL;
			slice->shape = (uint32_t)b->col[COL_kernel_shape][i];
			slice->category = kernel_class_of(name) == KERNEL_COMMUNICATION
						  ? PERFETTO_NCCL
						  : PERFETTO_KERNEL;
		} else if (b->table == GPROF_TABLE_memcpy) {
			slice->kind = PERFETTO_WORK_COPY;
			slice->value = b->col[COL_memcpy_bytes][i];
			slice->category = PERFETTO_COPY;
		} else if (b->table == GPROF_TABLE_memset) {
			slice->kind = PERFETTO_WORK_SET;
			slice->value = b->col[COL_memset_bytes][i];
			slice->category = PERFETTO_SET;
		}
	}
}

static void take_waits(struct perfetto *pftrace, const struct batch *b)
{
	struct timeline *timeline = &pftrace->timeline;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct model_place place =
			process_place(timeline->process, b->col[COL_sync_place][i]);
		const char *name = api_sync_name((uint32_t)b->col[COL_sync_type][i]);
		uint64_t begin = b->col[COL_sync_begin][i];
		struct perfetto_slice *slice;

		if (place.device == UINT32_MAX) {
			place.device = process_context_device(timeline->process, place.context);
		}
		slice = perfetto_add_slice(pftrace, PERFETTO_WAIT,
			perfetto_stream_row(pftrace, &place, true),
			string_pool_intern(name, strlen(name)), timeline_device_ns(timeline, begin),
			timeline_device_ns(timeline, begin + b->col[COL_sync_dur][i]));
		slice->category = PERFETTO_SYNC;
		slice->correlation = (uint32_t)b->col[COL_sync_correlation][i];
	}
}

static void take_overheads(struct perfetto *pftrace, const struct batch *b)
{
	struct timeline *timeline = &pftrace->timeline;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const char *name =
			api_overhead_name((uint32_t)b->col[COL_overhead_overhead_kind][i]);
		uint64_t begin = b->col[COL_overhead_begin][i];

		perfetto_add_slice(pftrace, PERFETTO_SLICE,
			perfetto_other_row(pftrace, PERFETTO_ROW_OVERHEAD, 0, "CUPTI's overhead"),
			string_pool_intern(name, strlen(name)), timeline_device_ns(timeline, begin),
			timeline_device_ns(timeline, begin + b->col[COL_overhead_dur][i]))
			->category = PERFETTO_OVERHEAD;
	}
}

/* ---- steps, windows, marks ---- */

static void take_steps(struct perfetto *pftrace)
{
	struct timeline *timeline = &pftrace->timeline;
	const struct process *process = timeline->process;

	for (size_t i = 0; i < process->nr_steps; i++) {
		const struct model_step *step = &process->steps[i];
		uint64_t begin_ns = timeline_host_ns(timeline, step->tick);
		uint64_t end_ns = i + 1 < process->nr_steps
					  ? timeline_host_ns(timeline, step[1].tick)
					  : timeline_last_ns(timeline);
		char text[64];

		if (model_step_is_gap(step) || !select_has_step(process, i) ||
			!timeline_picks(timeline, begin_ns, end_ns)) {
			continue;
		}
		perfetto_add_slice(pftrace, PERFETTO_SLICE,
			perfetto_other_row(pftrace, PERFETTO_ROW_STEPS, 0, "steps"),
			string_pool_intern(text,
				(size_t)snprintf(text, sizeof(text), "step %" PRIu64, step->step)),
			begin_ns, end_ns)
			->category = PERFETTO_STEP;
	}
}

static void take_windows(struct perfetto *pftrace)
{
	struct timeline *timeline = &pftrace->timeline;
	const struct process *process = timeline->process;

	for (size_t i = 0; i < process->nr_windows; i++) {
		const struct model_window *window = &process->windows[i];
		uint64_t begin = window->tick, begin_ns, end_ns;
		uint64_t end = i + 1 < process->nr_windows ? window[1].tick : UINT64_MAX;
		char text[64];
		int nr_bytes = snprintf(text, sizeof(text),
			window->state == GPROF_WINDOW_RECORD  ? "window %u"
			: window->state == GPROF_WINDOW_READY ? "ready for window %u"
							      : "closed, after window %u",
			window->window);

		if (!select_cut_time(process, &begin, &end)) {
			continue;
		}
		begin_ns = timeline_host_ns(timeline, begin);
		end_ns = end < UINT64_MAX ? timeline_host_ns(timeline, end)
					  : timeline_last_ns(timeline);
		if (!timeline_picks(timeline, begin_ns, end_ns)) {
			continue;
		}
		perfetto_add_slice(pftrace, PERFETTO_SLICE,
			perfetto_other_row(pftrace, PERFETTO_ROW_WINDOWS, 0, "record windows"),
			string_pool_intern(text, (size_t)nr_bytes), begin_ns, end_ns)
			->category = PERFETTO_STEP;
	}
}

/* key: of `number`. */
static void add_mark(struct perfetto *pftrace, uint64_t tick, uint32_t name, enum perfetto_key key,
	int64_t number, uint32_t text)
{
	struct perfetto_event event = {.ns = timeline_host_ns(&pftrace->timeline, tick),
		.name = name,
		.category = PERFETTO_MARK};

	if (!timeline_picks(&pftrace->timeline, event.ns, event.ns)) {
		return;
	}
	event.track = perfetto_rows_track(&pftrace->rows,
		perfetto_other_row(pftrace, PERFETTO_ROW_MARKS, 0, "losses and notices"),
		&pftrace->out);
	perfetto_event_int(&event, key, number);
	if (text) {
		perfetto_event_text(&event, PERFETTO_KEY_PAYLOAD, text);
	}
	perfetto_out_instant(&pftrace->out, &event);
}

static void take_losses(struct perfetto *pftrace, size_t block)
{
	struct process *process = pftrace->timeline.process;
	struct batch b;

	if (stream_load(process->stream, block, COL_ALL(NR_COL_loss), 0, &b)) {
		return;
	}
	for (uint32_t i = 0; i < b.nr_rows; i++) {
		struct buf text = {0};

		buf_text(&text, "lost: ");
		buf_text(&text,
			string_pool_text(process_string(process, b.col[COL_loss_cause][i]), NULL));
		add_mark(pftrace, b.col[COL_loss_tick][i],
			string_pool_intern(text.bytes, text.nr_bytes), PERFETTO_KEY_COUNT,
			(int64_t)b.col[COL_loss_count][i], 0);
		buf_fini(&text);
	}
}

static void take_notices(struct perfetto *pftrace)
{
	const struct process *process = pftrace->timeline.process;

	for (size_t i = 0; i < process->nr_notices; i++) {
		const struct model_notice *notice = &process->notices[i];

		add_mark(pftrace, notice->tick, notice->cause, PERFETTO_KEY_CODE, notice->code,
			notice->text);
	}
}

/* ---- blocks ---- */

struct reading {
	struct ranges *ranges;
	struct arrows *arrows;
};

static uint32_t wanted(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_op:
		return TIMELINE_OP_MASK;
	case GPROF_TABLE_nccl:
		return NCCL_OPS_MASK;
	case GPROF_TABLE_nvtx:
		return RANGES_MASK;
	case GPROF_TABLE_py_call:
		return TIMELINE_PYTHON_MASK;
	case GPROF_TABLE_alloc:
		return TIMELINE_ALLOC_MASK;
	case GPROF_TABLE_sample:
		return COL_ALL(NR_COL_sample);
	case GPROF_TABLE_kernel:
		return COL_ALL(NR_COL_kernel);
	case GPROF_TABLE_memcpy:
		return COL_ALL(NR_COL_memcpy);
	case GPROF_TABLE_memset:
		return COL_ALL(NR_COL_memset);
	case GPROF_TABLE_graph:
		return COL_ALL(NR_COL_graph);
	case GPROF_TABLE_sync:
		return COL_ALL(NR_COL_sync);
	case GPROF_TABLE_overhead:
		return COL_ALL(NR_COL_overhead);
	default:
		return timeline_api_mask(table);
	}
}

static void take_batch(struct perfetto *pftrace, struct reading *reading, const struct batch *batch)
{
	switch (batch->table) {
	case GPROF_TABLE_op:
		take_ops(pftrace, reading->arrows, batch);
		break;
	case GPROF_TABLE_nvtx:
		ranges_take(reading->ranges, pftrace->timeline.process, batch, take_range, pftrace);
		break;
	case GPROF_TABLE_nccl:
		perfetto_comm_calls(pftrace, batch);
		break;
	case GPROF_TABLE_py_call:
		take_python(pftrace, batch);
		break;
	case GPROF_TABLE_alloc:
		perfetto_count_allocs(pftrace, batch);
		break;
	case GPROF_TABLE_sample:
		perfetto_count_samples(pftrace, batch);
		break;
	case GPROF_TABLE_kernel:
	case GPROF_TABLE_memcpy:
	case GPROF_TABLE_memset:
	case GPROF_TABLE_graph:
		take_works(pftrace, batch);
		break;
	case GPROF_TABLE_sync:
		take_waits(pftrace, batch);
		break;
	case GPROF_TABLE_overhead:
		take_overheads(pftrace, batch);
		break;
	default:
		take_calls(pftrace, batch);
		break;
	}
}

void perfetto_read(struct perfetto *pftrace)
{
	struct timeline *timeline = &pftrace->timeline;
	struct stream *stream = timeline->process->stream;
	struct reading reading = {ranges_create(), arrows_create(timeline, take_arrow, pftrace)};
	bool has_marks = timeline_shows(timeline, TIMELINE_MARKS);

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i);
		struct batch batch;

		if (table == GPROF_TABLE_loss && has_marks) {
			take_losses(pftrace, i);
		}
		if (wanted(table) && timeline_load(timeline, i, wanted(table), &batch)) {
			take_batch(pftrace, &reading, &batch);
			progress_add(batch.nr_rows);
		}
	}
	if (timeline_shows(timeline, TIMELINE_STEPS)) {
		take_steps(pftrace);
		take_windows(pftrace);
	}
	if (has_marks) {
		take_notices(pftrace);
	}
	arrows_destroy(reading.arrows);
	ranges_destroy(reading.ranges);
}
