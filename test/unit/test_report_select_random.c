/* SPDX-License-Identifier: Apache-2.0 */
/* Chosen steps of random streams, against the definition. */
#include <stdio.h>
#include <string.h>

#include "test/unit/report_chosen.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define NR_STEPS  20u
#define NR_CALLS  600u
#define NR_WORKS  900u
#define LAST_TICK 4000u

static struct {
	uint64_t step_ticks[NR_STEPS], call_begin[NR_CALLS], pushes[NR_CALLS], ops[NR_CALLS];
	uint32_t call_of[NR_WORKS]; /* NR_CALLS: none */
	uint64_t seed;
} made;

static uint64_t any(uint64_t below)
{
	return unit_random(&made.seed) % below;
}

static void make_works(struct gen *gen)
{
	for (uint32_t i = 0; i < NR_WORKS; i++) {
		made.call_of[i] = (uint32_t)any(NR_CALLS + 20);
		chosen_kernel(gen, any(LAST_TICK), made.call_of[i] + 1000, i);
	}
}

/* Rows of several blocks: a flush now and then. Begins rise, each is one row's alone. */
static const char *make_random(const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	uint64_t tick = 3;

	for (uint32_t i = 0; i < NR_STEPS; i++) {
		tick += any(300);
		made.step_ticks[i] = tick;
		chosen_step(gen, tick, i + 7);
	}
	for (uint32_t i = 0; i < NR_CALLS; i++) {
		struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);

		made.call_begin[i] = 6 * i + any(3);
		chosen_call(gen, 1 + (uint32_t)any(3), made.call_begin[i], i + 1000);
		made.pushes[i] = 6 * i + any(3);
		chosen_mark(gen, 1, made.pushes[i], GPROF_NVTX_PUSH, 0, 2 * i);
		chosen_mark(gen, 1, made.pushes[i] + 3, GPROF_NVTX_POP, 0, 2 * i + 1);
		made.ops[i] = 6 * i + any(4);
		op->begin = made.ops[i];
		op->dur = op->begin + any(400);
		op->thread = 5;
		op->end_thread = i % 2 ? 5 : 6;
		if (!any(50)) {
			gen_flush(gen);
		}
	}
	make_works(gen);
	gen_close(gen, "exit");
	return path;
}

static bool is_chosen(uint64_t tick, uint64_t steps)
{
	for (uint32_t i = 0; i + 1 < NR_STEPS; i++) {
		if (steps >> i & 1 && tick >= made.step_ticks[i] && tick < made.step_ticks[i + 1]) {
			return true;
		}
	}
	return false;
}

static void check(uint64_t steps)
{
	for (uint32_t i = 0; i < NR_CALLS; i++) {
		bool is_call = is_chosen(made.call_begin[i], steps);
		bool is_push = is_chosen(made.pushes[i], steps);

		ck_assert_uint_eq(chosen.calls[made.call_begin[i]], is_call);
		ck_assert_uint_eq(chosen.walked_calls[made.call_begin[i]], is_call);
		ck_assert_uint_eq(chosen.marks[2 * i], is_push);
		ck_assert_uint_eq(chosen.marks[2 * i + 1], is_push);
		ck_assert_uint_eq(chosen.ranges[made.pushes[i]], is_push);
		ck_assert_uint_eq(chosen.ops[made.ops[i]], is_chosen(made.ops[i], steps));
	}
	for (uint32_t i = 0; i < NR_WORKS; i++) {
		bool is_work = made.call_of[i] < NR_CALLS &&
			       is_chosen(made.call_begin[made.call_of[i]], steps);

		ck_assert_uint_eq(chosen.works[i], is_work);
		ck_assert_uint_eq(chosen.walked_works[i], is_work);
	}
}

START_TEST(any_choice_is_what_its_definition_says)
{
	for (uint64_t seed = 1; seed <= 15; seed++) {
		struct process *process;
		char list[256] = "";
		uint64_t steps = 0;

		made.seed = seed * 104729;
		process = streams_process(make_random("random.gprof"));
		for (uint32_t i = 0; i + 1 < NR_STEPS; i++) {
			if (any(3) == 0 && made.step_ticks[i + 1] > made.step_ticks[i]) {
				steps |= 1ull << i;
				snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%u",
					*list ? "," : "", i + 7);
			}
		}
		ck_assert(*list);
		ck_assert_str_eq(chosen_by(process, list, ""), "");
		chosen_see(process);
		check(steps);
		chosen_end(process);
	}
}
END_TEST

UNIT_SUITE("report/select_random", any_choice_is_what_its_definition_says)
