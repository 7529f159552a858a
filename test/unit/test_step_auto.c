/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/step/step_auto.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/unit.h"

/*
 * A program as text: L fetches from the data loader, A B C are optimizers' steps, Z empties
 * gradients, x is something else, a digit is a backward that gives so many parameters a gradient,
 * ! calls gprof_step(), ( and ) hold a range that contains those in it. Each event takes the time
 * from 10 * i to 10 * i + 5 where i is its place. The result is the program with a | wherever a
 * step ended, behind the end of an event, or before a fetch's begin.
 */
static struct step_auto finder;
static bool is_end[4096], is_end_before[4096];

static const char *name_of(char event)
{
	switch (event) {
	case 'L':
		return "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
	case 'A':
		return "Optimizer.step#SGD.step";
	case 'B':
		return "Optimizer.step#Adam.step";
	case 'C':
		return "Optimizer.step#AdamW.step";
	case 'Z':
		return "Optimizer.zero_grad#SGD.zero_grad";
	default:
		return "forward";
	}
}

static void take_ends(const struct step_auto_ends *ends)
{
	for (uint32_t i = 0; i < ends->nr; i++) {
		bool *at = ends->times[i] % 10 ? is_end : is_end_before;

		ck_assert_uint_ge(ends->times[i], i ? ends->times[i - 1] : 0);
		ck_assert(!at[ends->times[i] / 10]);
		at[ends->times[i] / 10] = true;
	}
}

static void see_range(const char *name, uint64_t nr_gradients, uint64_t begin, uint64_t end,
	struct step_auto_ends *ends)
{
	struct step_auto_range range = {.begin = begin, .end = end, .nr_gradients = nr_gradients};

	if (step_auto_knows(name, &range)) {
		step_auto_range(&finder, &range, ends);
	}
}

static const char *run(enum gprof_step_rule wanted, const char *program)
{
	static char text[16384];
	uint64_t nr_gradients = 0;
	size_t n = 0, open = 0;

	memset(is_end, 0, sizeof(is_end));
	memset(is_end_before, 0, sizeof(is_end_before));
	step_auto_init(&finder, wanted);
	for (size_t i = 0; program[i]; i++) {
		struct step_auto_ends ends = {0};
		/* a ) belongs to the optimizer named behind its ( */
		size_t first = program[i] == ')' ? open : i;

		open = program[i] == '(' ? i : open;
		if (program[i] >= '0' && program[i] <= '9') {
			nr_gradients += (uint64_t)(program[i] - '0');
		} else if (program[i] == '!') {
			is_end[i + 1] = step_auto_call(&finder);
		} else if (program[i] != '(' && !(i && program[i - 1] == '(')) {
			see_range(name_of(program[i] == ')' ? program[open + 1] : program[i]),
				nr_gradients, 10 * (first + 1), 10 * (i + 1) + 5, &ends);
		}
		take_ends(&ends);
	}
	for (size_t i = 0; program[i]; i++) {
		/* the times count from 10, so that none is 0 */
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c%s",
			is_end_before[i + 1] ? "|" : "", program[i], is_end[i + 1] ? "|" : "");
	}
	return text;
}

#define FOUND(program, wanted_text) ck_assert_str_eq(run(0, program), wanted_text)

static void check_verdict(enum gprof_step_rule rule, uint32_t confidence, const char *part)
{
	struct step_auto_verdict verdict = step_auto_verdict(&finder);

	ck_assert_uint_eq(verdict.rule, rule);
	ck_assert_uint_eq(verdict.confidence, confidence);
	ck_assert_msg(strstr(verdict.why, part) != NULL, "%s", verdict.why);
}

START_TEST(each_optimizer_step_is_a_step)
{
	FOUND("LxZxA LxZxA LxZxA ", "LxZxA| LxZxA| LxZxA| ");
	check_verdict(GPROF_STEP_OPTIMIZER, 100, "new data for each");
	FOUND("xA xA xA ", "xA| xA| xA| ");
	check_verdict(GPROF_STEP_OPTIMIZER, 90, "would look like two");
}
END_TEST

START_TEST(gradients_gathered_over_several_fetches_are_one_step)
{
	FOUND("LLLA LLLA LLLA ", "LLLA| LLLA| LLLA| ");
	check_verdict(GPROF_STEP_OPTIMIZER, 100, "optimizer");
	/* the next data are fetched ahead */
	FOUND("LLA LA LA A", "LLA| LA| LA| A");
}
END_TEST

START_TEST(several_optimizers_for_one_fetch_are_one_step)
{
	FOUND("LAB LAB LAB ", "LA|B LAB| LAB| ");
	check_verdict(GPROF_STEP_OPTIMIZER, 95, "several");
	FOUND("LAA LAA LAA ", "LA|A LAA| LAA| ");
	FOUND("LAAA LAAA ", "LA|AA LAAA| ");
	/* with gathered gradients too */
	FOUND("LLAB LLAB ", "LLA|B LLAB| ");
}
END_TEST

START_TEST(a_shorter_group_ends_at_the_next_fetch)
{
	FOUND("LAB LA LAB LA LA LAB", "LA|B LA |LAB| LA |LA |LAB|");
	check_verdict(GPROF_STEP_OPTIMIZER, 80, "lack");
}
END_TEST

START_TEST(an_optimizer_that_never_comes_again_is_forgotten)
{
	char program[256] = "LAB ", wanted[256] = "LA|B ";

	for (int i = 0; i < 18; i++) {
		strcat(program, "LA ");
		/* the 16th that is short ends when the 17th begins; those after are as before */
		strcat(wanted, i < 1 ? "LA " : i < 16 ? "|LA " : i == 16 ? "|LA| " : "LA| ");
	}
	FOUND(program, wanted);
}
END_TEST

START_TEST(many_steps_for_one_fetch_are_steps)
{
	FOUND("LAAAAAAAAAAAAAAAAAAAA LAAA", "LA|A|A|A|A|A|A|A|A|A|A|A|A|A|A|A|A|A|A|A| LA|A|A|");
	check_verdict(GPROF_STEP_OPTIMIZER, 70, "many");
}
END_TEST

START_TEST(optimizers_of_different_names_are_one_step_without_a_loader)
{
	FOUND("AB AB AB ", "A|B AB| AB| ");
	check_verdict(GPROF_STEP_OPTIMIZER, 90, "different names");
	FOUND("ABC ABC ", "A|BC ABC| ");
	FOUND("AB A AB A AB", "A|B A| AB| A| AB|");
	check_verdict(GPROF_STEP_OPTIMIZER, 80, "lack");
}
END_TEST

START_TEST(another_optimizer_may_take_over)
{
	char program[64] = "AAA ", wanted[128] = "A|A|A| ";

	for (int i = 0; i < 20; i++) {
		strcat(program, "B");
		/* the first is taken as late, the next ones wait for A in vain */
		strcat(wanted, i ? "B|" : "B");
	}
	FOUND(program, wanted);
}
END_TEST

/* Of a GAN: only the parameters that their gradients are of differ. */
START_TEST(two_optimizers_of_the_same_name_take_turns)
{
	FOUND("Z2AZ4A Z2AZ4A Z2AZ4A Z2AZ4A ", "Z2A|Z4A| Z2AZ4A| Z2AZ4A| Z2AZ4A| ");
	check_verdict(GPROF_STEP_OPTIMIZER, 80, "take turns");
	ck_assert_uint_eq(step_auto_verdict(&finder).inner_end, 35); /* of the first A */
	/* one backward for both */
	FOUND("6AA 6AA 6AA 6AA ", "6A|A| 6AA| 6AA| 6AA| ");
	/* one of them may skip an iteration, as with infinite gradients */
	FOUND("2A4A 2A4A 2A4A 2A 2A4A 4A 2A4A ", "2A|4A| 2A4A| 2A4A| 2A| 2A4A| 4A| 2A4A| ");
	/* a penalty now and then has more gradients */
	FOUND("2A4A 2A4A 2A4A 3A4A 2A5A 2A4A ", "2A|4A| 2A4A| 2A4A| 3A4A| 2A5A| 2A4A| ");
	/* with a loader, fetches tell */
	FOUND("L2A4A L2A4A L2A4A ", "L2A|4A L2A4A| L2A4A| ");
}
END_TEST

START_TEST(one_optimizer_takes_no_turns)
{
	FOUND("2A 2A 2A 2A 2A 2A ", "2A| 2A| 2A| 2A| 2A| 2A| ");
	check_verdict(GPROF_STEP_OPTIMIZER, 90, "would look like two");
	ck_assert_uint_eq(step_auto_verdict(&finder).inner_end, 0);
	FOUND("2A 3A 4A 2A 5A 2A ", "2A| 3A| 4A| 2A| 5A| 2A| ");
	/* what is held for one step comes with the next */
	FOUND("2A 3A 2A 5A 5A ", "2A| 3A| 2A| 5A| 5A| ");
	/* it is more than two in a row that is believed later */
	FOUND("2A 2A 3A 2A 3A 2A 2A ", "2A| 2A| 3A| 2A| 3A| 2A| 2A| ");
	/* where gradients are not known, all steps are the same */
	FOUND("A A A A A A ", "A| A| A| A| A| A| ");
}
END_TEST

START_TEST(turns_begin_and_end)
{
	FOUND("3A 3A 2A4A 2A4A 2A4A 2A4A 2A4A 2A4A",
		"3A| 3A| 2A|4A| 2A|4A| 2A|4A| 2A4A| 2A4A| 2A4A|");
	ck_assert_uint_eq(step_auto_verdict(&finder).inner_end, 0); /* several were none */
	/* the second one goes on alone */
	FOUND("2A4A 2A4A 4A 4A 4A 4A 4A 4A 4A 4A 4A 4A 4A",
		"2A|4A| 2A4A| 4A| 4A| 4A| 4A| 4A| 4A| 4A| 4A| 4A| 4A| 4A|");
	/* so does the first one: it ends the step before until it is known to be alone */
	FOUND("2A4A 2A4A 2A 2A 2A 2A 2A 2A 2A 2A 2A 2A 2A 2A",
		"2A|4A| 2A4A| 2A| 2A| 2A| 2A| 2A| 2A| 2A| 2A| 2A| 2A| 2A| 2A|");
	check_verdict(GPROF_STEP_OPTIMIZER, 90, "would look like two");
	/* an optimizer of another name joins */
	FOUND("2A4A 2A4A B 2A4A B", "2A|4A| 2A4A| B 2A|4A B|");
}
END_TEST

START_TEST(an_optimizer_within_another_is_one_step)
{
	FOUND("L(AA) L(AA) ", "L(AA|) L(AA)| ");
	FOUND("(AA) (AA) ", "(AA|) (AA|) ");
	FOUND("(BA) (BA) ", "(BA|) (BA)| ");
}
END_TEST

START_TEST(fetches_are_steps_where_no_optimizer_comes)
{
	FOUND("LxLxLxLxLxLxLxLxLxLxLxLxLxLxLxLx", "LxLxLxLxLxLxLxLxLxLxLxLxLxLxLxLx");
	check_verdict(0, 0, "neither");
	/* with the 17th all of them are reported */
	FOUND("LLLLLLLLLLLLLLLLL", "L|L|L|L|L|L|L|L|L|L|L|L|L|L|L|L|L");
	check_verdict(GPROF_STEP_DATALOADER, 90, "fetch");
	FOUND("LLLLLLLLLLLLLLLLLLL", "L|L|L|L|L|L|L|L|L|L|L|L|L|L|L|L|L|L|L");
}
END_TEST

START_TEST(a_test_run_before_the_training_does_not_hide_the_optimizer)
{
	FOUND("LLLLLLLLLLLLLLLLLL LxA LxA LxA",
		"L|L|L|L|L|L|L|L|L|L|L|L|L|L|L|L|L|L |LxA| LxA| LxA|");
	check_verdict(GPROF_STEP_OPTIMIZER, 100, "optimizer");
	/* gradients of very many fetches */
	FOUND("ZLLLLLLLLLLLLLLLLLLLLLLLLA ZLLLLA", "ZLLLLLLLLLLLLLLLLLLLLLLLLA| ZLLLLA|");
}
END_TEST

START_TEST(what_is_asked_for_counts_alone)
{
	ck_assert_str_eq(run(GPROF_STEP_DATALOADER, "LxA LxA LxA "), "LxA |LxA |LxA ");
	check_verdict(GPROF_STEP_DATALOADER, 90, "fetch");
	ck_assert_str_eq(run(GPROF_STEP_OPTIMIZER, "LLLLLLLLLLLLLLLLLLLLA!LA"),
		"LLLLLLLLLLLLLLLLLLLLA|!LA|");
	ck_assert_str_eq(run(GPROF_STEP_DATALOADER, "L!L!L"), "L!|L!|L");
	/* a loader that fetches from another one */
	ck_assert_str_eq(run(GPROF_STEP_DATALOADER, "(LL)x(LL)x(LL)"), "(LL)x(L|L)x(L|L)");
}
END_TEST

START_TEST(the_programs_own_word_comes_first)
{
	FOUND("LxA! LxA! LxA! ", "LxA|! LxA!| LxA!| ");
	check_verdict(GPROF_STEP_CALL, 100, "gprof_step");
	FOUND("! LA ! LA !", "!| LA !| LA !|");
}
END_TEST

START_TEST(only_such_ranges_are_worth_a_look)
{
	static const char *const others[] = {
		"", "Optimizer.step", "enumerate(DataLoader)#x", "my Optimizer.step#SGD.step"};
	struct step_auto_range range;

	ck_assert(step_auto_knows(name_of('L'), &range));
	ck_assert(step_auto_knows(name_of('A'), &range));
	ck_assert(step_auto_knows(name_of('Z'), &range));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ck_assert(!step_auto_knows(others[i], &range));
	}
}
END_TEST

/* Whatever comes: no more ends than fit, in order, and steps for most of it. */
START_TEST(random_programs_end_steps_in_order)
{
	uint64_t seed = 7;
	char program[2001];

	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 2000; i++) {
			program[i] =
				(round % 3 != 1 ? "LLLABCZxx" : "2A4A1AZBx")[unit_random(&seed) %
									     (round % 2 ? 9 : 6)];
		}
		program[2000] = 0;
		run((enum gprof_step_rule)(round % 3 ? 0 : 6 + round % 2), program);
		ck_assert_uint_gt(step_auto_verdict(&finder).confidence, 0);
	}
}
END_TEST

/* Makes steps of `nr` optimizers. Returns the number of ends; *end is the time of the last. */
static uint64_t run_optimizers(uint32_t nr, uint32_t nr_rounds, uint64_t *end)
{
	uint64_t nr_ends = 0;

	step_auto_init(&finder, 0);
	for (uint64_t i = 0; i < (uint64_t)nr * nr_rounds; i++) {
		struct step_auto_ends ends = {0};
		char name[64];

		snprintf(name, sizeof(name), "Optimizer.step#Number%u.step", (uint32_t)(i % nr));
		see_range(name, 0, 10 * i + 10, 10 * i + 15, &ends);
		nr_ends += ends.nr;
		*end = ends.nr ? ends.times[ends.nr - 1] : *end;
	}
	return nr_ends;
}

START_TEST(many_optimizers_are_one_step)
{
	uint64_t end = 0;

	run_optimizers(64, 100, &end);
	ck_assert_uint_eq(end, 10 * 64 * 100 + 5); /* of the last one */
	check_verdict(GPROF_STEP_OPTIMIZER, 90, "different names");
	run_optimizers(65, 100, &end);
	check_verdict(GPROF_STEP_OPTIMIZER, 70, "there are more");
}
END_TEST

UNIT_SUITE("step_auto", each_optimizer_step_is_a_step,
	gradients_gathered_over_several_fetches_are_one_step,
	several_optimizers_for_one_fetch_are_one_step, a_shorter_group_ends_at_the_next_fetch,
	an_optimizer_that_never_comes_again_is_forgotten, many_steps_for_one_fetch_are_steps,
	optimizers_of_different_names_are_one_step_without_a_loader,
	another_optimizer_may_take_over, two_optimizers_of_the_same_name_take_turns,
	one_optimizer_takes_no_turns, turns_begin_and_end, an_optimizer_within_another_is_one_step,
	fetches_are_steps_where_no_optimizer_comes,
	a_test_run_before_the_training_does_not_hide_the_optimizer, what_is_asked_for_counts_alone,
	the_programs_own_word_comes_first, only_such_ranges_are_worth_a_look,
	random_programs_end_steps_in_order, many_optimizers_are_one_step)
