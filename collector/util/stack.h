/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock-free stack of indices for any number of threads. The links are in an array of the owner.
 * The head carries a count, so that a pop notices an index that left and returned.
 */
#ifndef COLLECTOR_UTIL_STACK_H
#define COLLECTOR_UTIL_STACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define STACK_NONE UINT32_MAX

struct stack {
	_Atomic uint64_t head; /* count << 32 | index */
};

static inline void stack_init(struct stack *stack)
{
	atomic_store(&stack->head, STACK_NONE);
}

static inline void stack_push(struct stack *stack, _Atomic uint32_t *links, uint32_t index)
{
	uint64_t head = atomic_load(&stack->head);

	do {
		atomic_store(&links[index], (uint32_t)head);
	} while (!atomic_compare_exchange_weak(
		&stack->head, &head, ((head >> 32) + 1) << 32 | index));
}

/* Returns STACK_NONE when it is empty. */
static inline uint32_t stack_pop(struct stack *stack, _Atomic uint32_t *links)
{
	uint64_t head = atomic_load(&stack->head);

	while ((uint32_t)head != STACK_NONE) {
		uint32_t next = atomic_load(&links[(uint32_t)head]);

		if (atomic_compare_exchange_weak(
			    &stack->head, &head, ((head >> 32) + 1) << 32 | next)) {
			break;
		}
	}
	return (uint32_t)head;
}

static inline bool stack_is_empty(const struct stack *stack)
{
	return (uint32_t)atomic_load(&stack->head) == STACK_NONE;
}

/*
 * Pops the index that was pushed first. `ordered` holds those that were taken from the stack so far
 * and not popped; only one thread uses it.
 */
static inline uint32_t stack_pop_oldest(
	struct stack *ordered, struct stack *stack, _Atomic uint32_t *links)
{
	uint32_t index = stack_pop(ordered, links);

	if (index != STACK_NONE) {
		return index;
	}
	while ((index = stack_pop(stack, links)) != STACK_NONE) {
		stack_push(ordered, links, index);
	}
	return stack_pop(ordered, links);
}

/* A used index if there is any, else the next unused one below `limit`, else STACK_NONE. */
static inline uint32_t stack_take(
	struct stack *used, _Atomic uint32_t *links, _Atomic uint32_t *nr_fresh, uint32_t limit)
{
	uint32_t index = stack_pop(used, links), fresh = atomic_load(nr_fresh);

	while (index == STACK_NONE && fresh < limit) {
		if (atomic_compare_exchange_weak(nr_fresh, &fresh, fresh + 1)) {
			index = fresh;
		}
	}
	return index;
}

#endif
