/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtorch calls these functions at the begin and end of every operator, autograd node and user
 * range: two reads of the clock, and a row at the end. A stack of the thread keeps the begin, since
 * they nest; for one that ends on another thread (asynchronous), all stacks are searched.
 */
#include <string.h>

#include "preload/hook/hook.h"
#include "preload/python/op_name.h"
#include "preload/python/op_stack.h"
#include "preload/python/python_call.h"
#include "preload/torch/torch.h"

/* The stack on which this thread's ranges are kept now, NULL if not at all. */
static inline struct op_stack *enter(struct ring_tls *self)
{
	if (__builtin_expect(hook_mode() & COLLECTOR_COLD, 0)) {
		recorder_ensure_started_counting_loss(0);
	}
	return ring_in_profiler(self) ? NULL : op_stack_of(self);
}

static void push(struct op_stack *stack, const void *fn, uint32_t shape)
{
	struct op_frame *frame;

	if (!stack->framework_thread) {
		stack->framework_thread = (uint32_t)torch_layout.current_thread();
	}
	if (python_has(PYTHON_MODULES)) {
		python_call_look(stack);
	}
	frame = op_stack_push(stack, fn);
	if (frame) {
		frame->shape = shape;
	}
}

/* The first of a thread, one in gprof itself, while the recorder starts, or with Python's stacks.
 */
static __attribute__((noinline)) void **begin_slow(void **context, const void *fn)
{
	struct op_stack *stack = enter(&ring_tls);

	if (stack) {
		push(stack, fn, 0);
	}
	return context;
}

/* The stack of a thread in the usual state, in which a begin calls no other function. */
static inline __attribute__((always_inline)) struct op_stack *usual_stack(
	const struct ring_tls *self)
{
	struct op_stack *stack = op_stack_have(self);

	return __builtin_expect(stack && stack->framework_thread &&
					!(self->frame & RING_IN_PROFILER) && clock_is_counter(),
		       1)
		       ? stack
		       : NULL;
}

TORCH_BEGIN(torch_op_begin)
{
	struct op_stack *stack = usual_stack(&ring_tls);
	struct op_frame *frame = NULL;

	*context = NULL;
	if (__builtin_expect(stack && !(hook_mode() & COLLECTOR_COLD) && !python_has_any(), 1)) {
		frame = op_stack_try_push(stack, fn);
	}
	if (__builtin_expect(!frame, 0)) {
		return begin_slow(context, fn);
	}
	frame->shape = 0;
	return context;
}

TORCH_BEGIN(torch_op_begin_shapes)
{
	struct op_stack *stack = enter(&ring_tls);

	*context = NULL;
	if (stack) {
		push(stack, fn, hook_mode() & COLLECTOR_RECORD ? torch_shape_id(fn) : 0);
	}
	return context;
}

/* An autograd node has ended. Only those that gather gradients of parameters count. */
static __attribute__((noinline)) void look_at_node(const char *name)
{
	if (strcmp(name, "torch::autograd::AccumulateGrad") == 0) {
		collector_gradient();
	}
}

/* The names of most other nodes are those of their classes: AddmmBackward0. */
static inline bool may_gather(const void *fn, const char *name)
{
	return *((const uint8_t *)fn + torch_layout.scope_at) == TORCH_SCOPE_BACKWARD &&
	       name[0] == 't';
}

/* Every column, so that none is set twice. */
static inline __attribute__((always_inline)) void fill(struct gprof_row_op *row,
	struct op_ended ended, const void *fn, uint32_t name, uint32_t end_thread)
{
	const char *fn_bytes = fn;
	uint64_t forward_thread;
	int64_t sequence;

	memcpy(&sequence, fn_bytes + torch_layout.sequence_at, sizeof(sequence));
	memcpy(&forward_thread, fn_bytes + torch_layout.forward_thread_at, sizeof(forward_thread));
	row->head = (struct gprof_row_head){.bytes = sizeof(*row), .table = GPROF_TABLE_op};
	row->begin = ended.begin;
	row->dur = ended.end;
	row->sequence = (uint64_t)(sequence + 1);
	row->thread = ended.thread;
	row->op_name = name;
	row->name = 0;
	row->op_shape = ended.shape;
	row->framework_thread = ended.framework_thread;
	row->forward_thread = (uint32_t)forward_thread;
	row->end_thread = end_thread;
	row->depth = (uint16_t)ended.depth;
	row->framework = GPROF_FRAMEWORK_TORCH;
	row->scope = *(const uint8_t *)(fn_bytes + torch_layout.scope_at);
	row->py_stack = ended.py_stack;
}

/* An operator whose name got no id. */
static __attribute__((noinline)) void emit_text(
	struct ring_tls *self, const struct op_ended *ended, const void *fn, const char *text)
{
	struct gprof_row_op row = {0};

	fill(&row, *ended, fn, 0, self->id);
	ring_emit(&row, GPROF_TABLE_op, text, strnlen(text, GPROF_TEXT_BYTES + 1));
}

static void emit(struct ring_tls *self, const struct op_ended *ended, const void *fn)
{
	const char *text = torch_layout.name(fn);
	uint32_t name = op_name_intern(OP_NAME_NAMES, text);
	struct gprof_row_op *row;

	if (!name) {
		emit_text(self, ended, fn, text);
		return;
	}
	row = (struct gprof_row_op *)ring_reserve(self, sizeof(*row));
	if (row) {
		fill(row, *ended, fn, name, self->id);
		ring_commit(self, row, sizeof(*row));
	}
}

/* One that is not the last of its thread, was not seen to begin, or is a user's range. */
static __attribute__((noinline)) void end_slow(const void *fn, uint64_t end)
{
	struct ring_tls *self = &ring_tls;
	struct op_ended ended;
	struct op_stack *stack;

	if (ring_in_profiler(self) || !(stack = op_stack_of(self))) {
		return;
	}
	ended = op_stack_pop(stack, fn);
	ended.end = end;
	if (!ended.begin && (hook_mode() & COLLECTOR_RECORD)) {
		loss_add(LOSS_OP, 1);
	}
	if (ended.begin && (hook_mode() & COLLECTOR_RECORD)) {
		emit(self, &ended, fn);
	}
	if (ended.begin && *((const uint8_t *)fn + torch_layout.scope_at) == TORCH_SCOPE_USER) {
		const char *name = torch_layout.name(fn);

		if (collector_times_fetch(name)) {
			emit(self, &ended, fn);
		}
		collector_range(name, ended.begin, end);
	}
}

/* From the begin of a cache line, wherever the linker puts it: each line counts. */
__attribute__((aligned(64))) void torch_op_end(const void *fn, void *context)
{
	struct ring_tls *self = &ring_tls;
	uint64_t end = clock_raw();
	struct op_stack *stack = usual_stack(self);
	const struct op_frame *frame = stack ? op_stack_find_top(stack, fn) : NULL;
	struct gprof_row_op *row;
	uint32_t name = 0, depth;

	(void)context;
	if (__builtin_expect(
		    frame && (hook_mode() & COLLECTOR_RECORD) &&
			    *((const uint8_t *)fn + torch_layout.scope_at) != TORCH_SCOPE_USER,
		    1)) {
		const char *text = torch_layout.name(fn);

		if (__builtin_expect(may_gather(fn, text), 0)) {
			look_at_node(text);
		}
		name = op_name_intern(OP_NAME_NAMES, text);
	}
	if (__builtin_expect(!name, 0)) {
		end_slow(fn, end);
		return;
	}
	/* Until the row is written the frame stays: a signal handler's operators go above it. */
	depth = op_stack_load(&stack->depth) - 1;
	row = (struct gprof_row_op *)ring_reserve(self, sizeof(*row));
	if (__builtin_expect(row != NULL, 1)) {
		struct op_ended ended = op_stack_ended(stack, frame, depth);

		ended.end = end;
		fill(row, ended, fn, name, self->id);
		ring_commit(self, row, sizeof(*row));
	}
	op_stack_set_depth(stack, depth);
}

void torch_range_begin(const void *object)
{
	struct op_stack *stack = torch_layout.current_thread ? enter(&ring_tls) : NULL;

	if (stack) {
		push(stack, object, 0);
	}
}

void torch_range_end(const void *object, const char *name)
{
	struct ring_tls *self = &ring_tls;
	struct op_stack *stack =
		torch_layout.current_thread && !ring_in_profiler(self) ? op_stack_of(self) : NULL;
	struct op_ended ended = stack ? op_stack_pop(stack, object) : (struct op_ended){0};
	uint64_t end = clock_raw();
	uint32_t id;

	if (!stack || !name || !(hook_mode() & COLLECTOR_RECORD)) {
		return;
	}
	if (!ended.begin) {
		loss_add(LOSS_OP, 1);
		return;
	}
	id = op_name_intern(OP_NAME_NAMES, name);
	ring_emit(&(struct gprof_row_op){.begin = ended.begin,
			  .dur = end,
			  .thread = ended.thread,
			  .op_name = id,
			  .framework_thread = ended.framework_thread,
			  .end_thread = self->id,
			  .depth = (uint16_t)ended.depth,
			  .framework = GPROF_FRAMEWORK_TORCH,
			  .scope = TORCH_SCOPE_USER,
			  .py_stack = ended.py_stack},
		GPROF_TABLE_op, name, id ? 0 : strlen(name));
}
