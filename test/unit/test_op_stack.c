/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of frameworks on a thread's stack: nested, ended elsewhere, left by a jump. */
#include "collector/util/loss.h"
#include "preload/python/op_stack.h"

#include <setjmp.h>

#include "collector/util/notice.h"
#include "test/unit/unit.h"

_Atomic uint32_t python_parts;

struct python_place python_stack_take(const struct python_place *outer)
{
	(void)outer;
	return (struct python_place){0};
}

static jmp_buf place;

static struct op_stack *start(void)
{
	struct op_stack *stack;

	clock_init(NULL);
	ck_assert_int_eq(ring_start(NULL, 1, 8 * RING_CHUNK_BYTES), 0);
	stack = op_stack_of(&ring_tls);
	ck_assert_ptr_nonnull(stack);
	return stack;
}

static uint64_t nr_left(void)
{
	return loss_take(LOSS_LEFT);
}

/* PyTorch calls ours from the function that has the object. */
static __attribute__((noinline)) void begin(struct op_stack *stack, const void *object)
{
	ck_assert_ptr_nonnull(op_stack_push(stack, object));
}

static __attribute__((noinline)) void run(struct op_stack *stack, int depth, bool is_left)
{
	volatile char object[64] = {0};

	begin(stack, (const void *)object);
	if (depth) {
		run(stack, depth - 1, is_left);
	} else if (is_left) {
		longjmp(place, 1);
	}
	ck_assert_uint_ne(op_stack_pop(stack, (const void *)object).begin, 0);
}

START_TEST(ranges_nest_and_end)
{
	struct op_stack *stack = start();

	run(stack, 20, false);
	ck_assert_uint_eq(op_stack_load(&stack->depth), 0);
	ck_assert_uint_eq(nr_left(), 0);
}
END_TEST

START_TEST(ranges_that_were_left_are_counted_and_hold_nothing_up)
{
	struct op_stack *stack = start();

	for (int i = 0; i < 200; i++) {
		if (!setjmp(place)) {
			run(stack, 4, true);
		}
		ck_assert_uint_eq(op_stack_load(&stack->depth), 5);
		run(stack, 0, false);
		ck_assert_uint_eq(op_stack_load(&stack->depth), 0);
	}
	ck_assert_uint_eq(nr_left(), 200 * 5);
}
END_TEST

/* Objects on the heap may end wherever they like. */
START_TEST(ranges_of_objects_elsewhere_stay_open)
{
	static char objects[2];
	struct op_stack *stack = start();

	begin(stack, &objects[0]);
	run(stack, 3, false);
	begin(stack, &objects[1]);
	run(stack, 0, false);
	ck_assert_uint_eq(op_stack_load(&stack->depth), 2);
	ck_assert_uint_ne(op_stack_pop(stack, &objects[0]).begin, 0);
	ck_assert_uint_ne(op_stack_pop(stack, &objects[1]).begin, 0);
	run(stack, 3, false);
	ck_assert_uint_eq(nr_left(), 0);
}
END_TEST

UNIT_SUITE("op_stack", ranges_nest_and_end, ranges_that_were_left_are_counted_and_hold_nothing_up,
	ranges_of_objects_elsewhere_stay_open)
