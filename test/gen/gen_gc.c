/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of 1,000 us whose GPU waits for collections of garbage:
 *
 *       0-10 us   a launch, whose kernel runs from 20 to 220 us
 *     300-350 us  generation 0, in the thread of the loop
 *     400-450 us  generation 1, in another thread, while the loop's does nothing
 *     600-605 us  a launch, whose kernel runs from 610 to 900 us
 *
 * is_rare: instead, every 12th step has one of generation 2 that takes 3,000 us, in an operator.
 */
#include "test/gen/gen.h"

#define START_NS 1000000000ull
#define NR_STEPS 25u

static void collect(
	struct gen *gen, uint8_t generation, uint32_t thread, uint64_t at, uint32_t dur_us)
{
	struct gprof_row_py_gc *row = gen_row(gen, GPROF_TABLE_py_gc);

	row->begin = at;
	row->dur = at + dur_us * 1000ull;
	row->thread = thread;
	row->generation = generation;
	row->collected = 100u * (generation + 1u);
	row->uncollectable = generation;
}

void gen_gc(struct gen *gen, bool is_rare)
{
	uint64_t at = START_NS;

	gen_info_bytes(gen, "process.command", "python\0train.py", 15);
	gen_info(gen, "step.rule", "nvtx:step");
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		bool has_old = is_rare && i % 12 == 7;

		gen_step(gen, i, at);
		gen_launch(gen, at, 20, 200, 2 * i + 1);
		if (has_old) {
			collect(gen, 2, 1, at + 310000, 3000);
			gen_op(gen, "aten::add", at + 300000, at + 3320000);
			at += 3000000;
		} else if (!is_rare) {
			collect(gen, 0, 1, at + 300000, 50);
			collect(gen, 1, 2, at + 400000, 50);
		}
		gen_launch(gen, at + 600000, 10, 290, 2 * i + 2);
		at += 1000000;
	}
	gen_step(gen, NR_STEPS, at);
	gen_anchor(gen, at, at, at + GEN_CUPTI_OFFSET_NS);
	gen_flush(gen);
}
