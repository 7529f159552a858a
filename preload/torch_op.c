/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libtorch calls at the begin and end of every operator, autograd node and user range: two
 * reads of the clock, and a row at the end. Between them only the begin is kept, on a stack of the
 * thread, since they nest; one that ends on another thread (asynchronous) is looked for in all.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/hook.h"
#include "preload/torch.h"

#define MAX_DEPTH 510u

struct frame {
	const void *fn; /* NULL: taken by another thread */
	uint64_t begin;
};

/* Of one thread, in ring_thread.door. */
struct stack_of_ops {
	uint32_t id;	/* whose: as ring_self.id */
	uint32_t depth; /* may be larger than MAX_DEPTH: those beyond are not kept */
	struct frame frames[MAX_DEPTH];
};

static __attribute__((noinline)) struct stack_of_ops *make_stack(struct ring_self *self)
{
	int error = errno;
	struct stack_of_ops *stack;

	if (!ring_enter(self)) {
		return NULL;
	}
	if (!self->thread->door) {
		void *map = mmap(NULL, sizeof(*stack), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		self->thread->door = map == MAP_FAILED ? NULL : map;
	}
	stack = self->thread->door;
	if (stack && stack->id != self->id) {
		stack->id = self->id;
		stack->depth = 0;
	}
	errno = error;
	return stack;
}

static inline struct stack_of_ops *stack_of(struct ring_self *self)
{
	struct stack_of_ops *stack = self->thread ? self->thread->door : NULL;

	return __builtin_expect(stack && stack->id == self->id, 1) ? stack : make_stack(self);
}

/* As C++ wants it: the place of the result, a std::unique_ptr, comes first and is given back. */
void **torch_op_begin(void **context, const void *fn)
{
	struct ring_self *self = &ring_self;
	struct stack_of_ops *stack;

	*context = NULL;
	if (__builtin_expect(hook_mode() & COLLECTOR_COLD, 0)) {
		hook_start_slow();
	}
	if (ring_is_inside(self) || !(stack = stack_of(self))) {
		return context;
	}
	if (stack->depth < MAX_DEPTH) {
		stack->frames[stack->depth] = (struct frame){.fn = fn, .begin = clock_raw()};
	}
	stack->depth++;
	return context;
}

/* The frame of `fn`, which is the last one, unless some range was left open or is asynchronous. */
static struct frame pop(struct stack_of_ops *stack, const void *fn)
{
	uint32_t depth = stack->depth;
	struct frame frame = {0};

	if (depth > MAX_DEPTH) {
		stack->depth--;
		return frame;
	}
	while (depth && stack->frames[depth - 1].fn != fn) {
		depth--;
	}
	if (!depth) {
		return frame;
	}
	frame = stack->frames[depth - 1];
	if (depth == stack->depth) {
		stack->depth--;
	} else {
		stack->frames[depth - 1].fn = NULL;
	}
	while (stack->depth && stack->depth <= MAX_DEPTH && !stack->frames[stack->depth - 1].fn) {
		stack->depth--;
	}
	return frame;
}

static void emit(
	struct ring_self *self, const void *fn, uint64_t begin, uint64_t end, uint32_t depth)
{
	const char *fn_bytes = fn;
	const char *text = torch_layout.name(fn);
	struct gprof_row_op *row;
	uint32_t name = torch_name_id(text);
	uint64_t forward_thread;
	int64_t sequence;

	if (!name) {
		struct gprof_row_op rare = {.begin = begin,
			.dur = end,
			.thread = self->id,
			.end_thread = self->id,
			.depth = (uint16_t)depth,
			.scope = *(const uint8_t *)(fn_bytes + torch_layout.scope_at)};

		collector_emit(&rare, GPROF_TABLE_op, text, strnlen(text, GPROF_TEXT_BYTES + 1));
		return;
	}
	row = (struct gprof_row_op *)ring_reserve(self, sizeof(*row));
	if (!row) {
		return;
	}
	memcpy(&sequence, fn_bytes + torch_layout.sequence_at, sizeof(sequence));
	memcpy(&forward_thread, fn_bytes + torch_layout.forward_thread_at, sizeof(forward_thread));
	*row = (struct gprof_row_op){.head = {.bytes = sizeof(*row), .table = GPROF_TABLE_op},
		.begin = begin,
		.dur = end,
		.sequence = (uint64_t)(sequence + 1),
		.thread = self->id,
		.op_name = name,
		.forward_thread = (uint32_t)forward_thread,
		.end_thread = self->id,
		.depth = (uint16_t)depth,
		.framework = GPROF_FRAMEWORK_TORCH,
		.scope = *(const uint8_t *)(fn_bytes + torch_layout.scope_at)};
	ring_commit(self, row, sizeof(*row));
}

void torch_op_end(const void *fn, void *context)
{
	struct ring_self *self = &ring_self;
	uint64_t end = clock_raw();
	struct stack_of_ops *stack;
	struct frame frame;

	(void)context;
	if (ring_is_inside(self) || !(stack = stack_of(self))) {
		return;
	}
	frame = pop(stack, fn);
	if (frame.begin && (hook_mode() & COLLECTOR_RECORD)) {
		emit(self, fn, frame.begin, end, stack->depth);
	}
	if (frame.begin && *((const uint8_t *)fn + torch_layout.scope_at) == TORCH_SCOPE_USER) {
		collector_range(torch_layout.name(fn), frame.begin, end);
	}
}
