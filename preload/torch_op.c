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
#include "preload/python.h"
#include "preload/torch.h"

#define MAX_DEPTH 510u

struct frame {
	const void *_Atomic fn; /* NULL: ended, on another thread or out of order */
	uint64_t begin;
	struct python_place python;
	uint32_t shape;
};

/* Of one thread, in ring_thread.door. Other threads take frames out of it, and nothing else. */
struct stack_of_ops {
	struct stack_of_ops *next; /* all of the process; none is ever given back */
	_Atomic uint32_t id;	   /* whose: as ring_self.id */
	uint32_t framework_thread; /* torch's number of it */
	_Atomic uint32_t depth;	   /* may be larger than MAX_DEPTH: those beyond are not kept */
	struct frame frames[MAX_DEPTH];
};

/* A range that ended. */
struct ended {
	uint64_t begin, end; /* begin is 0 if it was not seen */
	uint32_t thread, framework_thread, depth, shape, py_stack;
};

static struct stack_of_ops *_Atomic all_stacks;

static uint32_t load(const _Atomic uint32_t *number)
{
	return atomic_load_explicit(number, memory_order_relaxed);
}

static struct stack_of_ops *map_stack(void)
{
	struct stack_of_ops *stack = mmap(NULL, sizeof(*stack), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (stack == MAP_FAILED) {
		return NULL;
	}
	stack->next = atomic_load(&all_stacks);
	while (!atomic_compare_exchange_weak(&all_stacks, &stack->next, stack)) {
	}
	return stack;
}

static __attribute__((noinline)) struct stack_of_ops *make_stack(struct ring_self *self)
{
	int error = errno;
	struct stack_of_ops *stack;

	if (!ring_enter(self)) {
		return NULL;
	}
	if (!self->thread->door) {
		self->thread->door = map_stack();
	}
	stack = self->thread->door;
	if (stack && load(&stack->id) != self->id) {
		atomic_store(&stack->depth, 0);
		stack->framework_thread = (uint32_t)torch_layout.current_thread();
		atomic_store(&stack->id, self->id);
	}
	errno = error;
	return stack;
}

static inline struct stack_of_ops *stack_of(struct ring_self *self)
{
	struct stack_of_ops *stack = self->thread ? self->thread->door : NULL;

	return __builtin_expect(stack && load(&stack->id) == self->id, 1) ? stack
									  : make_stack(self);
}

/* What another thread or the wrong order has left at the end. */
static inline uint32_t trim(const struct stack_of_ops *stack, uint32_t depth)
{
	while (depth && depth <= MAX_DEPTH &&
		!atomic_load_explicit(&stack->frames[depth - 1].fn, memory_order_relaxed)) {
		depth--;
	}
	return depth;
}

/* Where Python is as the range begins that will be the frame of that depth. */
static __attribute__((noinline)) struct python_place find_python(
	const struct stack_of_ops *stack, uint32_t depth)
{
	return python_stack_take(depth ? &stack->frames[depth - 1].python : NULL);
}

static inline void push(struct stack_of_ops *stack, const void *fn, uint32_t shape)
{
	uint32_t depth = trim(stack, load(&stack->depth));

	if (__builtin_expect(depth < MAX_DEPTH, 1)) {
		stack->frames[depth].python = python_has(PYTHON_STACKS) ? find_python(stack, depth)
									: (struct python_place){0};
		stack->frames[depth].shape = shape;
		stack->frames[depth].begin = clock_raw();
		atomic_store_explicit(&stack->frames[depth].fn, fn, memory_order_release);
	}
	atomic_store_explicit(&stack->depth, depth + 1, memory_order_release);
}

/* The stack on which this thread's ranges are kept now, NULL if not at all. */
static inline struct stack_of_ops *enter(struct ring_self *self)
{
	if (__builtin_expect(hook_mode() & COLLECTOR_COLD, 0)) {
		hook_start_slow();
	}
	return ring_is_inside(self) ? NULL : stack_of(self);
}

TORCH_BEGIN(torch_op_begin)
{
	struct stack_of_ops *stack = enter(&ring_self);

	*context = NULL;
	if (stack) {
		push(stack, fn, 0);
	}
	return context;
}

TORCH_BEGIN(torch_op_begin_shapes)
{
	struct stack_of_ops *stack = enter(&ring_self);

	*context = NULL;
	if (stack) {
		push(stack, fn, hook_mode() & COLLECTOR_RECORD ? torch_shape_id(fn) : 0);
	}
	return context;
}

/* Takes the frame of `fn`, if it is there. */
static struct ended take(struct stack_of_ops *stack, const void *fn)
{
	uint32_t depth = load(&stack->depth);

	for (depth = depth < MAX_DEPTH ? depth : MAX_DEPTH; depth; depth--) {
		struct frame *frame = &stack->frames[depth - 1];
		struct ended ended = {.thread = load(&stack->id),
			.framework_thread = stack->framework_thread,
			.depth = depth - 1};

		if (atomic_load_explicit(&frame->fn, memory_order_acquire) == fn) {
			ended.begin = frame->begin;
			ended.shape = frame->shape;
			ended.py_stack = frame->python.stack;
			atomic_store_explicit(&frame->fn, NULL, memory_order_relaxed);
			return ended;
		}
	}
	return (struct ended){0};
}

/* Not the last one of this thread: asynchronous, out of order, too deep, or not seen. */
static __attribute__((noinline)) struct ended pop_slow(struct stack_of_ops *stack, const void *fn)
{
	uint32_t depth = load(&stack->depth);
	struct ended ended = take(stack, fn);

	if (!ended.begin && depth > MAX_DEPTH) {
		atomic_store_explicit(&stack->depth, depth - 1, memory_order_relaxed);
	} else if (ended.begin) {
		atomic_store_explicit(&stack->depth, trim(stack, depth), memory_order_relaxed);
	} else {
		for (struct stack_of_ops *other = atomic_load(&all_stacks); other && !ended.begin;
			other = other->next) {
			ended = take(other, fn);
		}
	}
	if (!ended.begin && (hook_mode() & COLLECTOR_RECORD)) {
		collector_lose(COLLECTOR_LOST_OP, 1);
	}
	return ended;
}

static inline struct ended pop(struct ring_self *self, struct stack_of_ops *stack, const void *fn)
{
	uint32_t depth = load(&stack->depth);

	if (__builtin_expect(!depth || depth > MAX_DEPTH ||
				     atomic_load_explicit(&stack->frames[depth - 1].fn,
					     memory_order_relaxed) != fn,
		    0)) {
		return pop_slow(stack, fn);
	}
	atomic_store_explicit(&stack->depth, depth - 1, memory_order_relaxed);
	return (struct ended){.begin = stack->frames[depth - 1].begin,
		.thread = self->id,
		.framework_thread = stack->framework_thread,
		.depth = depth - 1,
		.shape = stack->frames[depth - 1].shape,
		.py_stack = stack->frames[depth - 1].python.stack};
}

static inline void fill(struct gprof_row_op *row, const struct ended *ended, const void *fn,
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

/* One whose name is beyond those that get an id. */
static __attribute__((noinline)) void emit_text(
	struct ring_self *self, const struct ended *ended, const void *fn, const char *text)
{
	struct gprof_row_op row;

	fill(&row, ended, fn, 0, self->id);
	collector_emit(&row, GPROF_TABLE_op, text, strnlen(text, GPROF_TEXT_BYTES + 1));
}

static void emit(struct ring_self *self, const struct ended *ended, const void *fn)
{
	const char *text = torch_layout.name(fn);
	uint32_t name = torch_intern(TORCH_NAMES_TABLE, text);
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
	struct ring_self *self = &ring_self;
	struct ended ended;
	uint64_t end = clock_raw();
	struct stack_of_ops *stack;

	(void)context;
	if (ring_is_inside(self) || !(stack = stack_of(self))) {
		return;
	}
	ended = pop(self, stack, fn);
	ended.end = end;
	if (ended.begin && (hook_mode() & COLLECTOR_RECORD)) {
		emit(self, &ended, fn);
	}
	if (ended.begin && *((const uint8_t *)fn + torch_layout.scope_at) == TORCH_SCOPE_USER) {
		collector_range(torch_layout.name(fn), ended.begin, end);
	}
}

void torch_op_forget(void)
{
	atomic_store(&all_stacks, NULL);
}
