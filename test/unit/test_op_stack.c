/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of frameworks on a thread's stack: nested, ended elsewhere, left by a jump. */
#include "collector/util/loss.h"
#include "collector/util/memory.h"
#include "preload/python/op_stack.h"

#include <setjmp.h>
#include <sys/resource.h>

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

/* The push of usual threads leaves to the other one what it would have to put right first. */
START_TEST(odd_stacks_are_not_for_the_quick_push)
{
	static char objects[OP_STACK_DEPTH + 2];
	struct op_stack *stack = start();
	struct op_frame *frame = op_stack_try_push(stack, &objects[0]);

	ck_assert_ptr_eq(frame, &stack->frames[0]);
	ck_assert_uint_ne(frame->begin, 0);
	ck_assert_ptr_eq(op_stack_find_top(stack, &objects[0]), frame);
	ck_assert_ptr_null(op_stack_find_top(stack, &objects[1]));
	begin(stack, &objects[1]);
	ck_assert_uint_ne(op_stack_pop_slow(stack, &objects[0]).begin, 0);
	ck_assert_uint_ne(op_stack_pop_slow(stack, &objects[1]).begin, 0);
	stack->frames[0].object = NULL;
	atomic_store(&stack->depth, 1); /* as another thread leaves it */
	ck_assert_ptr_null(op_stack_try_push(stack, &objects[1]));
	begin(stack, &objects[1]);
	ck_assert_uint_eq(op_stack_load(&stack->depth), 1);
	for (uint32_t i = 2; i <= OP_STACK_DEPTH; i++) {
		ck_assert_ptr_nonnull(op_stack_try_push(stack, &objects[i]));
	}
	ck_assert_ptr_null(op_stack_try_push(stack, &objects[OP_STACK_DEPTH + 1]));
	ck_assert_uint_eq(op_stack_load(&stack->depth), OP_STACK_DEPTH);
	ck_assert_ptr_null(op_stack_push(stack, &objects[OP_STACK_DEPTH + 1]));
	ck_assert_ptr_null(op_stack_find_top(stack, &objects[OP_STACK_DEPTH]));
	ck_assert_uint_eq(op_stack_pop(stack, &objects[OP_STACK_DEPTH + 1]).begin, 0);
	ck_assert_uint_ne(op_stack_pop(stack, &objects[OP_STACK_DEPTH]).begin, 0);
}
END_TEST

START_TEST(operators_without_memory_are_told)
{
	struct rlimit before, none = {0, RLIM_INFINITY};
	struct notice notice;

	clock_init(NULL);
	ck_assert_int_eq(ring_start(NULL, 1, 8 * RING_CHUNK_BYTES), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
	none.rlim_max = before.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
	if (memory_map(1)) {
		return; /* qemu knows no such limit */
	}
	for (int recording = 0; recording < 2; recording++) { /* of a process and its child */
		notice_forget();
		ck_assert_ptr_null(op_stack_of(&ring_tls));
		ck_assert_ptr_null(op_stack_of(&ring_tls));
		ck_assert(notice_take(&notice));
		ck_assert_str_eq(notice.cause, "no memory");
		ck_assert(!notice_take(&notice));
	}
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
	ck_assert_ptr_nonnull(op_stack_of(&ring_tls));
}
END_TEST

UNIT_SUITE("op_stack", ranges_nest_and_end, ranges_that_were_left_are_counted_and_hold_nothing_up,
	ranges_of_objects_elsewhere_stay_open, odd_stacks_are_not_for_the_quick_push,
	operators_without_memory_are_told)
