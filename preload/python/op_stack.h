/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open ranges of frameworks on each thread; ranges of all frameworks nest on one stack. The
 * address of the framework's object identifies a range. Other threads may remove frames from a
 * stack, and nothing else.
 */
#ifndef PRELOAD_PYTHON_OP_STACK_H
#define PRELOAD_PYTHON_OP_STACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"
#include "preload/python/python.h"

#define OP_STACK_DEPTH 510u

struct op_frame {
	const void *_Atomic object; /* NULL: ended, on another thread or out of order */
	uintptr_t on_stack;	    /* the same, if it is on the thread's stack, else 0 */
	uint64_t begin;
	struct python_place python;
	uint32_t shape;
	uint32_t name;		/* PyTorch supplies it at the end */
	uint8_t scope;		/* as is this */
} __attribute__((aligned(64))); /* a cache line */

/* Consecutive operators of an optimizer, for paddle_step.c. */
struct op_run {
	uint64_t begin, end; /* so far; set while `optimizer` is */
	uint32_t optimizer;  /* 1 + its index in the list there, 0: none is running */
	uint32_t written;    /* the last one written */
	uint32_t nr_marked;  /* ranges of optimizers that Paddle has marked itself, and are open */
	uint32_t marked;     /* the optimizer whose operators ran in them, 0: none so far */
	bool has_frame;	     /* the stack contains it, as &stack->run */
	bool has_gradient;   /* there were gradients since the last one was written */
};

/* A recorded call of a Python function or module that has not returned, for python_call.c. */
#define OP_STACK_CALLS 512u
struct op_python_call {
	uintptr_t at;	     /* on the stack */
	uintptr_t frame;     /* Python's */
	uint32_t nr_modules; /* modules on the call stack, with this one */
	bool is_module;
};

/* The stack of one thread, in ring_thread.source_data. */
struct op_stack {
	struct op_stack *next;	   /* all of the process; none is ever given back */
	_Atomic uint32_t id;	   /* owner: as ring_tls.id */
	uint32_t framework_thread; /* torch's number of it, 0 if not queried yet */
	_Atomic uint32_t depth;	   /* may exceed OP_STACK_DEPTH: deeper ranges are not kept */
	struct op_run run;
	struct op_frame frames[OP_STACK_DEPTH];
	uint32_t nr_calls;
	struct op_python_call calls[OP_STACK_CALLS];
};

/* A range that ended; begin is 0 if its begin was not seen. */
struct op_ended {
	uint64_t begin, end;
	uint32_t thread, framework_thread, depth, shape, name, py_stack;
	uint8_t scope;
};

/* The stack of this thread, new and empty or as it is; NULL if there can be none. */
struct op_stack *op_stack_make(struct ring_tls *self);

/* op_stack_pop of one that is not the last of this thread. */
struct op_ended op_stack_pop_slow(struct op_stack *stack, const void *object);

/* Returns where Python is as the range begins that will be the frame of that depth. */
struct python_place op_stack_find_python(const struct op_stack *stack, uint32_t depth);

/* Has this one begun on that stack, and not ended? */
bool op_stack_has(const struct op_stack *stack, const void *object);

/* In a forked child, whose rings are new. */
void op_stack_forget(void);

static inline uint32_t op_stack_load(const _Atomic uint32_t *number)
{
	return atomic_load_explicit(number, memory_order_relaxed);
}

static inline void op_stack_set_depth(struct op_stack *stack, uint32_t depth)
{
	atomic_store_explicit(&stack->depth, depth, memory_order_relaxed);
}

/* The stack of this thread if it has one. */
static inline struct op_stack *op_stack_have(const struct ring_tls *self)
{
	struct op_stack *stack = self->thread ? self->thread->source_data : NULL;

	return __builtin_expect(stack && op_stack_load(&stack->id) == self->id, 1) ? stack : NULL;
}

static inline struct op_stack *op_stack_of(struct ring_tls *self)
{
	struct op_stack *stack = op_stack_have(self);

	return __builtin_expect(stack != NULL, 1) ? stack : op_stack_make(self);
}

/* Removes ended frames from the top, left by another thread or by ends out of order. */
static inline uint32_t op_stack_trim(const struct op_stack *stack, uint32_t depth)
{
	while (depth && depth <= OP_STACK_DEPTH &&
		!atomic_load_explicit(&stack->frames[depth - 1].object, memory_order_relaxed)) {
		depth--;
	}
	return depth;
}

/*
 * A range is left without an end (ring.h) if its object is on the stack below the current stack
 * pointer, or if it begins again. An object on another stack, as coroutines have, is normally
 * further away than any stack is large.
 */
#define OP_STACK_NEAR 16384u
#define OP_STACK_FAR  (8u << 20)

static inline bool op_stack_is_left(
	const struct op_frame *frame, uintptr_t here, const void *object)
{
	return frame->on_stack &&
	       (here - frame->on_stack - 1 < OP_STACK_FAR || frame->on_stack == (uintptr_t)object);
}

/* Is that of a frame at the top, which ended on another thread or out of order, or was left? */
static inline bool op_stack_is_over(
	const struct op_frame *frame, uintptr_t here, const void *object)
{
	return !atomic_load_explicit(&frame->object, memory_order_relaxed) ||
	       op_stack_is_left(frame, here, object);
}

/* The depth without frames at the top that ended or were left, before `object` begins. */
uint32_t op_stack_drop_left(
	const struct op_stack *stack, uint32_t depth, uintptr_t here, const void *object);

/* Begins a range now, in the frame after the open ones. */
static inline __attribute__((always_inline)) struct op_frame *op_stack_put(struct op_stack *stack,
	uint32_t depth, uintptr_t here, const void *object, struct python_place python,
	uint64_t begin)
{
	struct op_frame *frame = &stack->frames[depth];

	frame->on_stack = (uintptr_t)object - here < OP_STACK_NEAR ? (uintptr_t)object : 0;
	frame->python = python;
	frame->begin = begin;
	atomic_store_explicit(&frame->object, object, memory_order_release);
	atomic_store_explicit(&stack->depth, depth + 1, memory_order_release);
	return frame;
}

/* Begins a range now. Returns its frame, to be completed by the caller; NULL if it is too deep. */
static inline __attribute__((always_inline)) struct op_frame *op_stack_push(
	struct op_stack *stack, const void *object)
{
	uint32_t depth = op_stack_load(&stack->depth);
	uintptr_t here = RING_STACK;

	if (depth - 1 < OP_STACK_DEPTH &&
		__builtin_expect(op_stack_is_over(&stack->frames[depth - 1], here, object), 0)) {
		depth = op_stack_drop_left(stack, depth, here, object);
	}
	if (__builtin_expect(depth >= OP_STACK_DEPTH, 0)) {
		atomic_store_explicit(&stack->depth, depth + 1, memory_order_release);
		return NULL;
	}
	return op_stack_put(stack, depth, here, object,
		python_has(PYTHON_STACKS) ? op_stack_find_python(stack, depth)
					  : (struct python_place){0},
		clock_raw());
}

/*
 * The same without a call of another function, where no Python stacks are wanted and the clock is a
 * counter. Returns NULL, and has begun nothing, if frames at the top are over, or it is too deep.
 */
static inline __attribute__((always_inline)) struct op_frame *op_stack_try_push(
	struct op_stack *stack, const void *object)
{
	uint32_t depth = op_stack_load(&stack->depth);
	uintptr_t here = RING_STACK;

	if (__builtin_expect(
		    depth >= OP_STACK_DEPTH ||
			    (depth && op_stack_is_over(&stack->frames[depth - 1], here, object)),
		    0)) {
		return NULL;
	}
	return op_stack_put(stack, depth, here, object, (struct python_place){0}, clock_counter());
}

/* The innermost open range, NULL if there is none, or it is too deep. */
static inline struct op_frame *op_stack_top(struct op_stack *stack)
{
	uint32_t depth = op_stack_trim(stack, op_stack_load(&stack->depth));

	return depth && depth <= OP_STACK_DEPTH ? &stack->frames[depth - 1] : NULL;
}

/* Returns what ends with that frame, the top one. */
static inline __attribute__((always_inline)) struct op_ended op_stack_ended(
	const struct op_stack *stack, const struct op_frame *frame, uint32_t depth)
{
	return (struct op_ended){.begin = frame->begin,
		.thread = op_stack_load(&stack->id),
		.framework_thread = stack->framework_thread,
		.depth = depth,
		.shape = frame->shape,
		.name = frame->name,
		.py_stack = frame->python.stack,
		.scope = frame->scope};
}

/* Is that the range at the top? Then its frame, else NULL. */
static inline __attribute__((always_inline)) struct op_frame *op_stack_find_top(
	struct op_stack *stack, const void *object)
{
	uint32_t at = op_stack_load(&stack->depth) - 1;

	return __builtin_expect(
		       at < OP_STACK_DEPTH && atomic_load_explicit(&stack->frames[at].object,
						      memory_order_relaxed) == object,
		       1)
		       ? &stack->frames[at]
		       : NULL;
}

/* Ends a range; the caller supplies the time. */
static inline struct op_ended op_stack_pop(struct op_stack *stack, const void *object)
{
	const struct op_frame *frame = op_stack_find_top(stack, object);
	uint32_t depth;

	if (!frame) {
		return op_stack_pop_slow(stack, object);
	}
	depth = op_stack_load(&stack->depth) - 1;
	op_stack_set_depth(stack, depth);
	return op_stack_ended(stack, frame, depth);
}

#endif
