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

static inline void push(struct op_stack *stack, const void *fn, uint32_t shape)
{
	struct op_frame *frame;

	if (__builtin_expect(!stack->framework_thread, 0)) {
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

TORCH_BEGIN(torch_op_begin)
{
	struct op_stack *stack = enter(&ring_tls);

	*context = NULL;
	if (stack) {
		push(stack, fn, 0);
	}
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

static inline void fill(struct gprof_row_op *row, const struct op_ended *ended, const void *fn,
	uint32_t name, uint32_t end_thread)
{
	const char *fn_bytes = fn;
	uint64_t forward_thread;
	int64_t sequence;

	memcpy(&sequence, fn_bytes + torch_layout.sequence_at, sizeof(sequence));
	memcpy(&forward_thread, fn_bytes + torch_layout.forward_thread_at, sizeof(forward_thread));
	*row = (struct gprof_row_op){.head = {.bytes = sizeof(*row), .table = GPROF_TABLE_op},
		.begin = ended->begin,
		.dur = ended->end,
		.sequence = (uint64_t)(sequence + 1),
		.thread = ended->thread,
		.op_name = name,
		.op_shape = ended->shape,
		.framework_thread = ended->framework_thread,
		.forward_thread = (uint32_t)forward_thread,
		.end_thread = end_thread,
		.py_stack = ended->py_stack,
		.depth = (uint16_t)ended->depth,
		.framework = GPROF_FRAMEWORK_TORCH,
		.scope = *(const uint8_t *)(fn_bytes + torch_layout.scope_at)};
}

/* An operator whose name got no id. */
static __attribute__((noinline)) void emit_text(
	struct ring_tls *self, const struct op_ended *ended, const void *fn, const char *text)
{
	struct gprof_row_op row;

	fill(&row, ended, fn, 0, self->id);
	ring_emit(&row, GPROF_TABLE_op, text, strnlen(text, GPROF_TEXT_BYTES + 1));
}

static void emit(struct ring_tls *self, const struct op_ended *ended, const void *fn)
{
	const char *text = torch_layout.name(fn);
	uint32_t name = op_name_intern(OP_NAME_NAMES, text);
	struct gprof_row_op *row;

	if (__builtin_expect(!name, 0)) {
		emit_text(self, ended, fn, text);
		return;
	}
	row = (struct gprof_row_op *)ring_reserve(self, sizeof(*row));
	if (row) {
		fill(row, ended, fn, name, self->id);
		ring_commit(self, row, sizeof(*row));
	}
}

void torch_op_end(const void *fn, void *context)
{
	struct ring_tls *self = &ring_tls;
	struct op_ended ended;
	uint64_t end = clock_raw();
	struct op_stack *stack;

	(void)context;
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
