/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/op.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/ops/op.h"
#include "report/model/py_stack.h"
#include "report/util/text.h"
#include "report/timeline/arrow.h"
#include "report/timeline/json_lane.h"
#include "report/timeline/json_shape.h"

struct timeline_ops {
	struct timeline *timeline;
	struct arrows *arrows;
};

/* ---- arrows ---- */

/* One end. Ids differ from those of calls by their category. */
static void add_end(struct timeline *timeline, char ph, uint64_t id, const struct arrow_end *end)
{
	timeline_begin(timeline, ph, "fwdbwd", "\"fwdbwd\"");
	buf_printf(timeline->out, ", \"id\": %" PRIu64, timeline->first_id + id);
	timeline_place(timeline, timeline->pid, end->place, end->ns, NULL);
	buf_text(timeline->out, ph == 'f' ? ", \"bp\": \"e\"}" : "}");
}

static void draw(
	void *context, uint64_t nr, const struct arrow_end *from, const struct arrow_end *to)
{
	add_end(context, 's', nr, from);
	add_end(context, 'f', nr, to);
}

struct timeline_ops *timeline_ops_create(struct timeline *timeline)
{
	struct timeline_ops *ops = mem_zeroed(1, sizeof(*ops));

	ops->timeline = timeline;
	ops->arrows = arrows_create(timeline, draw, timeline);
	return ops;
}

void timeline_ops_destroy(struct timeline_ops *ops)
{
	arrows_destroy(ops->arrows);
	free(ops);
}

/* ---- slices ---- */

static const char *category_of(uint32_t name, uint8_t framework, uint8_t scope)
{
	if (framework == GPROF_FRAMEWORK_PYTHON) {
		return "python_function";
	}
	if (framework == GPROF_FRAMEWORK_TORCH && scope == OP_TORCH_USER) {
		return "user_annotation";
	}
	return op_is_user(name, framework, scope) ? "user_annotation" : "cpu_op";
}

static void add_args(struct timeline *timeline, const struct batch *b, uint32_t i)
{
	uint64_t sequence = b->col[COL_op_sequence][i];
	uint64_t shape_id = b->col[COL_op_op_shape][i];
	const uint32_t *shape =
		shape_id && shape_id <= UINT32_MAX
			? idmap_get(&timeline->process->op_shapes, (uint32_t)shape_id)
			: NULL;
	struct buf *out = timeline->out;

	buf_text(out, ", \"args\": {");
	if (sequence) {
		buf_printf(out, "\"Sequence number\": %" PRIu64 ", \"Fwd thread id\": %" PRIu64,
			sequence - 1, b->col[COL_op_forward_thread][i]);
	}
	if (shape) {
		buf_text(out, sequence ? ", " : "");
		buf_text(out, timeline_shape_text(*shape));
	}
	if (b->col[COL_op_py_stack][i]) {
		buf_printf(out, "%s\"Call stack\": %s", sequence || shape ? ", " : "",
			timeline_name(py_stack_text(
				timeline->process, (uint32_t)b->col[COL_op_py_stack][i])));
	}
	buf_text(out, "}}");
}

static void take_op(struct timeline_ops *ops, const struct batch *b, uint32_t i)
{
	struct timeline *timeline = ops->timeline;
	uint64_t begin = b->col[COL_op_begin][i];
	uint64_t begin_ns = timeline_host_ns(timeline, begin);
	uint64_t end_ns = timeline_host_ns(timeline, begin + b->col[COL_op_dur][i]);
	uint32_t tid = timeline_tid(timeline, b->col[COL_op_thread][i]);
	uint8_t framework, scope;
	uint32_t name;

	if (!timeline_lanes_place(timeline->lanes, TIMELINE_LANE_CALL, &tid, begin_ns, end_ns)) {
		return;
	}
	framework = (uint8_t)b->col[COL_op_framework][i];
	scope = (uint8_t)b->col[COL_op_scope][i];
	name = op_name(timeline->process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]);
	timeline_begin(timeline, 'X', category_of(name, framework, scope), timeline_name(name));
	timeline_place(timeline, timeline->pid, tid, begin_ns, &end_ns);
	add_args(timeline, b, i);
	arrows_add(ops->arrows, b, i, op_class(name, framework, scope),
		&(struct arrow_end){begin_ns, tid});
}

/* Do they lie in each other for all of their time, as those of traces with few digits may? */
static bool is_tie(const struct batch *b, uint32_t i, uint32_t k)
{
	return b->col[COL_op_begin][i] == b->col[COL_op_begin][k] &&
	       b->col[COL_op_dur][i] == b->col[COL_op_dur][k] &&
	       b->col[COL_op_thread][i] == b->col[COL_op_thread][k];
}

/* A stream has the inner one first, which ends first; readers of Chrome JSON take the first one for
 * the outer. */
void timeline_ops_take(struct timeline_ops *ops, const struct batch *b)
{
	for (uint32_t i = 0, next; i < b->nr_rows; i = next) {
		for (next = i + 1; next < b->nr_rows && is_tie(b, i, next); next++) {
		}
		for (uint32_t k = next; k > i; k--) {
			take_op(ops, b, k - 1);
		}
	}
}

void timeline_allocs_take(struct timeline_ops *ops, const struct batch *b)
{
	struct timeline *timeline = ops->timeline;

	for (uint32_t i = 0; i < b->nr_rows && !timeline_lanes_is_first(timeline->lanes); i++) {
		timeline_begin(timeline, 'i', "cpu_instant_event", "\"[memory]\"");
		buf_text(timeline->out, ", \"s\": \"t\"");
		timeline_place(timeline, timeline->pid,
			timeline_tid(timeline, b->col[COL_alloc_thread][i]),
			timeline_host_ns(timeline, b->col[COL_alloc_time][i]), NULL);
		buf_printf(timeline->out,
			", \"args\": {\"Total Reserved\": %" PRIu64
			", \"Total Allocated\": %" PRIu64 ", \"Bytes\": %" PRId64
			", \"Addr\": %" PRIu64 ", \"Device Id\": %u, \"Device Type\": %u}}",
			b->col[COL_alloc_reserved_bytes][i], b->col[COL_alloc_allocated_bytes][i],
			(int64_t)b->col[COL_alloc_bytes][i], b->col[COL_alloc_address][i],
			(unsigned int)b->col[COL_alloc_device][i],
			(unsigned int)b->col[COL_alloc_device_type][i]);
	}
}
