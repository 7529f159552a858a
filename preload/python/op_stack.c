/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's stack is made with its first range and stays in the thread's slot of the rings, where
 * the next thread reuses it. All stacks are in one list: a range that ends on another thread than
 * it began on is sought in each of them.
 */
#include "preload/python/op_stack.h"

#include "collector/util/memory.h"
#include "collector/util/target.h"

static struct op_stack *_Atomic all_stacks;

static struct op_stack *map_stack(void)
{
	static atomic_uint reported_in;
	struct op_stack *stack = memory_map(sizeof(*stack));

	if (!stack) {
		notice_no_memory(&reported_in, "operators of a thread");
		return NULL;
	}
	stack->next = atomic_load(&all_stacks);
	while (!atomic_compare_exchange_weak(&all_stacks, &stack->next, stack)) {
	}
	return stack;
}

struct op_stack *op_stack_make(struct ring_tls *self)
{
	TARGET_KEEP_ERRNO;
	struct op_stack *stack;

	if (!ring_enter(self)) {
		return NULL;
	}
	if (!self->thread->source_data) {
		self->thread->source_data = map_stack();
	}
	stack = self->thread->source_data;
	if (stack && op_stack_load(&stack->id) != self->id) {
		atomic_store(&stack->depth, 0);
		stack->framework_thread = 0;
		stack->run = (struct op_run){0};
		stack->nr_calls = 0;
		atomic_store(&stack->id, self->id);
	}
	return stack;
}

struct python_place op_stack_find_python(const struct op_stack *stack, uint32_t depth)
{
	return python_stack_take(depth ? &stack->frames[depth - 1].python : NULL);
}

/* Returns 1 + the index of the innermost frame of `object`; 0 if there is none. */
static uint32_t depth_of(const struct op_stack *stack, const void *object)
{
	uint32_t depth = op_stack_load(&stack->depth);

	depth = depth < OP_STACK_DEPTH ? depth : OP_STACK_DEPTH;
	while (depth && atomic_load_explicit(
				&stack->frames[depth - 1].object, memory_order_acquire) != object) {
		depth--;
	}
	return depth;
}

/* Removes the frame of `object`, if it is there. */
static struct op_ended take(struct op_stack *stack, const void *object)
{
	uint32_t depth = depth_of(stack, object);
	struct op_ended ended = {0};

	if (depth) {
		ended = op_stack_ended(stack, &stack->frames[depth - 1], depth - 1);
		atomic_store_explicit(&stack->frames[depth - 1].object, NULL, memory_order_relaxed);
	}
	return ended;
}

/* Ends a range that is asynchronous, out of order or too deep, or whose begin was not seen. */
struct op_ended op_stack_pop_slow(struct op_stack *stack, const void *object)
{
	uint32_t depth = op_stack_load(&stack->depth);
	struct op_ended ended = take(stack, object);

	if (!ended.begin && depth > OP_STACK_DEPTH) {
		atomic_store_explicit(&stack->depth, depth - 1, memory_order_relaxed);
	} else if (ended.begin) {
		atomic_store_explicit(
			&stack->depth, op_stack_trim(stack, depth), memory_order_relaxed);
	} else {
		for (struct op_stack *other = atomic_load(&all_stacks); other && !ended.begin;
			other = other->next) {
			ended = take(other, object);
		}
	}
	return ended;
}

uint32_t op_stack_drop_left(
	const struct op_stack *stack, uint32_t depth, uintptr_t here, const void *object)
{
	depth = op_stack_trim(stack, depth);
	if (depth > OP_STACK_DEPTH) {
		return depth;
	}
	while (depth && op_stack_is_left(&stack->frames[depth - 1], here, object)) {
		/* Those that another thread has ended are no loss. */
		if (stack->frames[depth - 1].object) {
			loss_add(LOSS_LEFT, 1);
		}
		depth--;
	}
	return depth;
}

bool op_stack_has(const struct op_stack *stack, const void *object)
{
	return depth_of(stack, object) != 0;
}

void op_stack_forget(void)
{
	atomic_store(&all_stacks, NULL);
}
