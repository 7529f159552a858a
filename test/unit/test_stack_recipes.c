/* SPDX-License-Identifier: Apache-2.0 */
/* The witness is a list of all stacks, each of which is compared word by word. */
#include "collector/ring/stack_recipes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collector/sample/frame_rules.h"
#include "test/unit/unit.h"

#define STACK_WORDS 256u

static struct stack_recipes *recipes;

/* A stack of a thread, and what a walk of it would need. */
struct thread_stack {
	uint64_t words[STACK_WORDS];
	struct stack_words needed;
};

static void begin(void)
{
	recipes = calloc(1, sizeof(*recipes));
	stack_recipes_forget(recipes);
}

static void end(void)
{
	free(recipes);
}

static struct stack_view view_of(const struct thread_stack *stack)
{
	return (struct stack_view){
		.sp = (uint64_t)(uintptr_t)stack->words, .nr_bytes = sizeof(stack->words)};
}

static uint32_t find(const struct thread_stack *stack)
{
	struct stack_view view = view_of(stack);

	return stack_recipes_find(recipes, &view);
}

/* A return address, which a walk needs, at that word of the stack. */
static void put_code(struct thread_stack *stack, uint32_t at, uint64_t address)
{
	stack->words[at] = address;
	stack->needed.all[stack->needed.nr++] = (struct stack_word){at * 8, false, address};
	stack->needed.is_whole = true;
}

/* A frame pointer to a further word of the same stack. */
static void put_pointer(struct thread_stack *stack, uint32_t at, uint32_t to)
{
	stack->words[at] = (uint64_t)(uintptr_t)&stack->words[to];
	stack->needed.all[stack->needed.nr++] = (struct stack_word){at * 8, true, to * 8};
}

START_TEST(a_stack_is_known_by_the_words_that_it_depends_on)
{
	static struct thread_stack one, copy;

	begin();
	memset(&one, 0, sizeof(one));
	put_code(&one, 3, 1000);
	put_pointer(&one, 4, 20);
	put_code(&one, 21, 2000);
	ck_assert_uint_eq(find(&one), 0);
	ck_assert(stack_recipes_add(recipes, &one.needed, 7));
	ck_assert_uint_eq(find(&one), 7);
	one.words[10] = 5; /* a variable */
	ck_assert_uint_eq(find(&one), 7);
	copy = one; /* its pointer points into the other one */
	ck_assert_uint_eq(find(&copy), 0);
	copy.words[4] = (uint64_t)(uintptr_t)&copy.words[20];
	ck_assert_uint_eq(find(&copy), 7);
	copy.words[21] = 2001;
	ck_assert_uint_eq(find(&copy), 0);
	stack_recipes_forget(recipes);
	ck_assert_uint_eq(find(&one), 0);
	end();
}
END_TEST

START_TEST(words_beyond_the_end_of_a_stack_are_not_read)
{
	static struct thread_stack one;
	struct stack_view view = view_of(&one);

	begin();
	memset(&one, 0, sizeof(one));
	put_code(&one, 3, 1000);
	put_code(&one, 20, 2000);
	ck_assert(stack_recipes_add(recipes, &one.needed, 7));
	for (view.nr_bytes = 0; view.nr_bytes < 21 * 8; view.nr_bytes++) {
		ck_assert_uint_eq(stack_recipes_find(recipes, &view), 0);
	}
	ck_assert_uint_eq(stack_recipes_find(recipes, &view), 7);
	end();
}
END_TEST

START_TEST(registers_and_odd_places)
{
	static struct thread_stack one;
	struct stack_view view = view_of(&one);

	begin();
	memset(&one, 0, sizeof(one));
	one.needed.all[0] = (struct stack_word){STACK_WORD_REGISTER + FRAME_FP, true, 64};
	one.needed.nr = 1;
	put_code(&one, 9, 2000);
	view.registers[FRAME_FP] = view.sp + 64;
	ck_assert(stack_recipes_add(recipes, &one.needed, 7));
	ck_assert_uint_eq(stack_recipes_find(recipes, &view), 7);
	view.registers[FRAME_FP]++;
	ck_assert_uint_eq(stack_recipes_find(recipes, &view), 0);
	/* None that a thread could look for. */
	stack_recipes_forget(recipes);
	view.registers[FRAME_FP]--;
	one.needed.all[0].at = STACK_WORD_REGISTER + FRAME_R10;
	ck_assert(stack_recipes_add(recipes, &one.needed, 7));
	one.needed.all[0].at = 12;
	ck_assert(stack_recipes_add(recipes, &one.needed, 7));
	one.needed.all[0].at = STACK_WORD_REGISTER + FRAME_FP;
	one.needed.is_whole = false;
	ck_assert(stack_recipes_add(recipes, &one.needed, 7));
	ck_assert_uint_eq(stack_recipes_find(recipes, &view), 0);
	end();
}
END_TEST

/* ---- many ---- */

#define NR_STACKS 2000u

/*
 * As programs make them: what a frame's address is says how large the frame is, so the same frames
 * lead to the same next place.
 */
static void make_random(struct thread_stack *stack, uint64_t *seed)
{
	uint32_t at = 2, nr = 2 + (uint32_t)unit_below(seed, 30);

	memset(stack, 0, sizeof(*stack));
	for (uint32_t i = 0; i < nr && at < STACK_WORDS - 8; i++) {
		uint64_t code = 1000 + unit_below(seed, 3);

		put_code(stack, at, code);
		if (code == 1001) {
			put_pointer(stack, at + 1, at + 3);
		}
		at += (uint32_t)(code - 998);
	}
	put_code(stack, at, 99); /* the outermost function */
}

static bool is_same(const struct thread_stack *a, const struct thread_stack *b)
{
	return a->needed.nr == b->needed.nr &&
	       !memcmp(a->needed.all, b->needed.all, a->needed.nr * sizeof(a->needed.all[0]));
}

START_TEST(each_of_many_stacks_is_found)
{
	struct thread_stack *stacks = calloc(NR_STACKS, sizeof(*stacks));
	uint64_t seed = 5;

	begin();
	for (uint32_t i = 0; i < NR_STACKS; i++) {
		uint32_t same = 0;

		make_random(&stacks[i], &seed);
		while (!is_same(&stacks[same], &stacks[i])) {
			same++;
		}
		ck_assert_uint_eq(find(&stacks[i]), same < i ? same + 1 : 0);
		ck_assert(stack_recipes_add(recipes, &stacks[i].needed, i + 1));
		ck_assert_uint_eq(find(&stacks[i]), same + 1);
	}
	end();
	free(stacks);
}
END_TEST

START_TEST(what_finds_no_room_is_refused)
{
	static struct thread_stack one;
	bool has_room = true;
	uint64_t code = 1000;
	uint32_t nr = 0;

	begin();
	for (; has_room; nr++) {
		memset(&one, 0, sizeof(one));
		for (uint32_t i = 0; i < 100; i++) {
			put_code(&one, i, code++);
		}
		has_room = stack_recipes_add(recipes, &one.needed, nr + 1);
		ck_assert_uint_eq(find(&one), has_room ? nr + 1 : 0);
	}
	ck_assert_uint_gt(nr, STACK_RECIPES_WORDS / 110);
	stack_recipes_forget(recipes);
	ck_assert(stack_recipes_add(recipes, &one.needed, 3));
	ck_assert_uint_eq(find(&one), 3);
	end();
}
END_TEST

/* ---- threads ---- */

#define NR_SHARED 64u

static struct thread_stack shared[NR_SHARED];
static atomic_bool is_over;

/* Each stack has one id, so another one would be wrong. */
static void *find_shared(void *unused)
{
	uint64_t seed = 9, nr_found = 0;

	(void)unused;
	while (!atomic_load(&is_over)) {
		uint32_t i = (uint32_t)unit_below(&seed, NR_SHARED);
		uint32_t found = find(&shared[i]);

		ck_assert(!found || found == i + 1);
		nr_found += found != 0;
	}
	return (void *)(uintptr_t)nr_found;
}

START_TEST(threads_find_while_the_drain_adds_and_forgets)
{
	pthread_t threads[2];
	uint64_t seed = 3;

	begin();
	for (uint32_t i = 0; i < NR_SHARED; i++) {
		make_random(&shared[i], &seed);
		put_code(&shared[i], STACK_WORDS - 1, 5000 + i);
	}
	for (int i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, find_shared, NULL);
	}
	for (uint32_t round = 0; round < 2000 / (UNIT_IS_SLOW ? 10 : 1); round++) {
		for (uint32_t i = 0; i < NR_SHARED; i++) {
			uint32_t at = (i + round) % NR_SHARED;

			ck_assert(stack_recipes_add(recipes, &shared[at].needed, at + 1));
		}
		stack_recipes_forget(recipes);
	}
	atomic_store(&is_over, true);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
	}
	end();
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {a_stack_is_known_by_the_words_that_it_depends_on,
		words_beyond_the_end_of_a_stack_are_not_read, registers_and_odd_places,
		each_of_many_stacks_is_found, what_finds_no_room_is_refused,
		threads_find_while_the_drain_adds_and_forgets};

	return unit_make("stack_recipes", tests, sizeof(tests) / sizeof(tests[0]));
}
