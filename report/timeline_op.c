/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline_op.h"

#include <inttypes.h>
#include <stdlib.h>
#include <uthash.h>

#include "report/op.h"
#include "report/py_stack.h"
#include "report/text.h"

/*
 * What an autograd node and the operator that made it have in common: autograd's numbers count in
 * each thread that computes a forward pass.
 */
struct made {
	uint64_t sequence;
	uint64_t thread; /* the framework's number */
};

/* The ends of an arrow, until both are known. */
struct arrow {
	struct made made;
	uint64_t from_ns, to_ns;
	uint32_t from_tid, to_tid;
	bool has_from, has_to;
	UT_hash_handle hh;
};

struct timeline_ops {
	struct timeline *timeline;
	struct idset *wanted;	      /* what nodes were made by; may hold others, see wanted_id */
	uint64_t thread;	      /* that made them, if all have the same */
	bool has_thread, has_threads; /* one, several */
	struct arrow *arrows;
	uint64_t nr_drawn;
};

/* ---- forward to backward ---- */

/* Numbers of one thread are apart, and few pages of the set hold those of many. */
static uint32_t wanted_id(const struct made *made)
{
	return (uint32_t)made->sequence ^ (uint32_t)made->thread << 24;
}

static bool is_node(uint64_t framework, uint64_t scope)
{
	return framework == GPROF_FRAMEWORK_TORCH && scope == OP_TORCH_BACKWARD;
}

static void read_nodes(struct timeline_ops *ops, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const struct made made = {
			b->col[COL_op_sequence][i], (uint32_t)b->col[COL_op_forward_thread][i]};

		if (!made.sequence ||
			!is_node(b->col[COL_op_framework][i], b->col[COL_op_scope][i])) {
			continue;
		}
		ops->has_threads |= ops->has_thread && made.thread != ops->thread;
		ops->thread = made.thread;
		ops->has_thread = true;
		idset_add(ops->wanted, wanted_id(&made));
	}
}

struct timeline_ops *timeline_ops_create(struct timeline *timeline)
{
	static const uint32_t mask = COL_BIT(COL_op_sequence) | COL_BIT(COL_op_forward_thread) |
				     COL_BIT(COL_op_framework) | COL_BIT(COL_op_scope);
	struct timeline_ops *ops = mem_zeroed(1, sizeof(*ops));
	struct stream_in *stream = timeline->process->stream;

	ops->timeline = timeline;
	ops->wanted = idset_create();
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_in_block_table(stream, i) == GPROF_TABLE_op &&
			!stream_in_load(stream, i, mask, 0, &batch)) {
			read_nodes(ops, &batch);
		}
	}
	return ops;
}

/* One end. Ids differ from those of calls by their category. */
static void add_end(struct timeline *timeline, char ph, uint64_t id, uint32_t tid, uint64_t ns)
{
	timeline_begin(timeline, ph, "fwdbwd", "\"fwdbwd\"");
	buf_printf(timeline->out, ", \"id\": %" PRIu64, timeline->first_id + id);
	timeline_place(timeline, timeline->pid, tid, ns, NULL);
	buf_text(timeline->out, ph == 'f' ? ", \"bp\": \"e\"}" : "}");
}

static void draw(struct timeline_ops *ops, struct arrow *arrow)
{
	if (arrow->has_from && arrow->has_to) {
		ops->nr_drawn++;
		add_end(ops->timeline, 's', ops->nr_drawn, arrow->from_tid, arrow->from_ns);
		add_end(ops->timeline, 'f', ops->nr_drawn, arrow->to_tid, arrow->to_ns);
	}
	HASH_DEL(ops->arrows, arrow);
	free(arrow);
}

void timeline_ops_destroy(struct timeline_ops *ops)
{
	struct arrow *arrow, *next;

	HASH_ITER(hh, ops->arrows, arrow, next)
	{
		draw(ops, arrow);
	}
	idset_destroy(ops->wanted);
	free(ops);
}

static struct arrow *find_arrow(struct timeline_ops *ops, const struct made *made)
{
	struct arrow *arrow;

	HASH_FIND(hh, ops->arrows, made, sizeof(*made), arrow);
	if (!arrow) {
		arrow = mem_zeroed(1, sizeof(*arrow));
		arrow->made = *made;
		HASH_ADD(hh, ops->arrows, made, sizeof(arrow->made), arrow);
	}
	return arrow;
}

/*
 * Operators carry the number that the next node will get, whether or not they make it: the one that
 * did is the last that begins with it. Rows of other threads may be written before it, so a node
 * without its operator waits.
 */
static void add_arrow(struct timeline_ops *ops, const struct batch *b, uint32_t i,
	enum op_class class, uint32_t tid, uint64_t begin_ns)
{
	bool ends = is_node(b->col[COL_op_framework][i], b->col[COL_op_scope][i]);
	struct made made = {
		b->col[COL_op_sequence][i], (uint32_t)(ends ? b->col[COL_op_forward_thread][i]
							    : b->col[COL_op_framework_thread][i])};
	struct arrow *arrow;

	if (!made.sequence || (!ends && class == OP_BACKWARD)) {
		return;
	}
	/* A forward operator that does not tell its thread is that of the only one there is. */
	if (!ends && !made.thread && ops->has_thread && !ops->has_threads) {
		made.thread = ops->thread;
	}
	if (!idset_has(ops->wanted, wanted_id(&made))) {
		return;
	}
	arrow = find_arrow(ops, &made);
	if (!ends && (!arrow->has_from || begin_ns >= arrow->from_ns)) {
		arrow->has_from = true;
		arrow->from_ns = begin_ns;
		arrow->from_tid = tid;
	} else if (ends && !arrow->has_to) {
		arrow->has_to = true;
		arrow->to_ns = begin_ns;
		arrow->to_tid = tid;
		if (arrow->has_from) {
			draw(ops, arrow);
		}
	}
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
		buf_printf(out, "%s\"Inputs\": %s", sequence ? ", " : "", timeline_name(*shape));
	}
	if (b->col[COL_op_py_stack][i]) {
		buf_printf(out, "%s\"Call stack\": %s", sequence || shape ? ", " : "",
			timeline_name(py_stack_text(
				timeline->process, (uint32_t)b->col[COL_op_py_stack][i])));
	}
	buf_text(out, "}}");
}

void timeline_ops_take(struct timeline_ops *ops, const struct batch *b)
{
	struct timeline *timeline = ops->timeline;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_op_begin][i];
		uint64_t begin_ns = timeline_host_ns(timeline, begin);
		uint64_t end_ns = timeline_host_ns(timeline, begin + b->col[COL_op_dur][i]);
		uint8_t framework = (uint8_t)b->col[COL_op_framework][i];
		uint8_t scope = (uint8_t)b->col[COL_op_scope][i];
		uint32_t tid = timeline_tid(timeline, b->col[COL_op_thread][i]);
		uint32_t name = op_name(
			timeline->process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]);

		timeline_begin(
			timeline, 'X', category_of(name, framework, scope), timeline_name(name));
		timeline_place(timeline, timeline->pid, tid, begin_ns, &end_ns);
		add_args(timeline, b, i);
		add_arrow(ops, b, i, op_class(name, framework, scope), tid, begin_ns);
	}
}

void timeline_allocs_take(struct timeline_ops *ops, const struct batch *b)
{
	struct timeline *timeline = ops->timeline;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
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
