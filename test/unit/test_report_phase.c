/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/phase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/ops/loop.h"
#include "report/ops/op_walk.h"
#include "test/unit/report_lines.h"
#include "test/unit/report_made.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define LOOP	 1
#define AUTOGRAD 2
#define OTHER	 3
#define LOADER	 "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
#define NODE	 "autograd::engine::evaluate_function: AddmmBackward0"
#define STEP	 "Optimizer.step#Adam.step"
#define ZERO	 "Optimizer.zero_grad#Adam.zero_grad"
#define MM	 "aten::mm"
#define USER	 '7'
#define REDUCER	 "torch.distributed.ddp.reducer::copy_bucket_to_grad"

static struct phases seen; /* copied, and freed by the next walk */

static void see_end(void *context, struct process *process, const struct phases *phases)
{
	(void)context;
	(void)process;
	seen = *phases;
	seen.segments = calloc(phases->nr_segments + 1, sizeof(*phases->segments));
	seen.steps = calloc(phases->nr_steps, sizeof(*phases->steps));
	memcpy(seen.segments, phases->segments, phases->nr_segments * sizeof(*phases->segments));
	memcpy(seen.steps, phases->steps, phases->nr_steps * sizeof(*phases->steps));
}

static void walk(const char *path)
{
	static const struct op_view view = {.end = see_end};
	static struct process *process; /* what was seen still speaks of it */
	const struct op_walk walk = {&view, NULL};

	phases_fini(&seen);
	if (process) {
		process_destroy(process);
	}
	process = streams_process(path);
	op_walk_run(&process, 1, &walk, 1);
}

/* All segments as "Forward 10-20 gpu 5; ..." */
static const char *told(void)
{
	static char text[1024];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < seen.nr_segments; i++) {
		const struct phase_segment *s = &seen.segments[i];

		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%c %u-%u%s",
			i ? "; " : "", phase_names[s->phase][s->phase == PHASE_OTHERS ? 1 : 0],
			(unsigned int)s->begin, (unsigned int)s->end, s->is_rest ? " rest" : "");
		if (s->gpu_ns) {
			length += (size_t)snprintf(text + length, sizeof(text) - length, " gpu %u",
				(unsigned int)s->gpu_ns);
		}
	}
	return text;
}

static const struct phase_case {
	const char *what;
	struct line lines[16];
	const char *told, *remark; /* a part of it; "": there is none, NULL: any */
} cases[] = {
	{"gradients are cleared before forward or after it",
		{
			LINE(LOOP, 100, 200, 0, LOADER),
			LINE(LOOP, 210, 290, 0, MM, .kernel_ns = 7),
			LINE(LOOP, 300, 310, 0, ZERO),
			LINE(LOOP, 320, 330, 0, "aten::ones_like"),
			LINE(LOOP, 340, 400, 0, NODE),
			LINE(LOOP, 410, 450, 0, STEP),
			LINE(LOOP, 460, 470, 0, "aten::item"),
			LINE(LOOP, 480, 490, 0, ZERO),
			LINE(LOOP, 500, 510, 0, LOADER),
			LINE(LOOP, 520, 530, 0, MM),
			LINE(LOOP, 540, 600, 0, NODE),
		},
		"D 100-200; F 210-290 gpu 7; O 300-310; F 320-330; B 340-400; "
		"O 410-450; t 460-470; O 480-490; D 500-510; F 520-530; B 540-600",
		NULL},
	{"without a loader what lies before the clearing is forward",
		{
			LINE(LOOP, 210, 290, 0, MM),
			LINE(LOOP, 300, 310, 0, ZERO),
			LINE(LOOP, 340, 400, 0, NODE),
			LINE(LOOP, 410, 450, 0, STEP),
			LINE(LOOP, 510, 590, 0, MM),
			LINE(LOOP, 600, 610, 0, ZERO),
			LINE(LOOP, 620, 700, 0, NODE),
		},
		"F 210-290; O 300-310; B 340-400; O 410-450; F 510-590; O 600-610; "
		"B 620-700",
		NULL},
	{"a step on one thread",
		{
			LINE(LOOP, 110, 140, 1, "aten::stack"),
			LINE(LOOP, 100, 200, 0, LOADER),
			LINE(LOOP, 210, 220, 0, ZERO),
			LINE(LOOP, 240, 260, 1, MM, .kernel_ns = 7),
			LINE(LOOP, 270, 280, 1, MM),
			LINE(LOOP, 230, 290, 0, "my range", .scope = USER),
			LINE(LOOP, 300, 310, 0, "aten::ones_like"),
			LINE(LOOP, 330, 340, 1, MM, .kernel_ns = 5),
			LINE(LOOP, 320, 350, 0, NODE),
			LINE(LOOP, 360, 400, 0, NODE),
			LINE(LOOP, 410, 450, 0, STEP),
			LINE(LOOP, 460, 470, 0, "aten::item"),
			LINE(LOOP, 500, 510, 0, LOADER),
		},
		"D 100-200; O 210-220; F 240-310 gpu 7; B 320-400 gpu 5; "
		"O 410-450; t 460-470; D 500-510",
		NULL},
	/* The loop's thread waits in backward() and has no operator then. */
	{"backward runs on a thread of its own",
		{
			LINE(LOOP, 100, 200, 0, LOADER),
			LINE(LOOP, 210, 300, 0, MM),
			LINE(AUTOGRAD, 330, 340, 1, MM, .kernel_ns = 9),
			LINE(AUTOGRAD, 320, 350, 0, NODE),
			LINE(AUTOGRAD, 360, 400, 0, NODE),
			LINE(LOOP, 420, 450, 0, STEP),
		},
		"D 100-200; F 210-300; B 320-400 gpu 9; O 420-450", NULL},
	/* DistributedDataParallel, on CPUs and on GPUs. What comes after it is no part of it. */
	{"waiting for gradients of other processes is backward, on CPUs",
		{
			LINE(LOOP, 100, 110, 0, MM),
			LINE(LOOP, 120, 130, 0, NODE, .kernel_ns = 2),
			LINE(OTHER, 125, 290, 0, "gloo:all_reduce", .scope = USER),
			LINE(LOOP, 300, 302, 0, "aten::as_strided", .kernel_ns = 3),
			LINE(LOOP, 304, 306, 1, "aten::copy_"),
			LINE(LOOP, 303, 307, 0, REDUCER, .kernel_ns = 4),
			LINE(LOOP, 308, 310, 0, REDUCER),
			LINE(LOOP, 320, 330, 0, "aten::linalg_vector_norm"),
			LINE(LOOP, 340, 350, 0, STEP),
		},
		"F 100-110; B 120-310 gpu 9; t 320-330; O 340-350", NULL},
	{"waiting for gradients of other processes is backward, on GPUs",
		{
			LINE(LOOP, 100, 110, 0, MM),
			LINE(AUTOGRAD, 120, 130, 0, NODE),
			LINE(AUTOGRAD, 300, 302, 0, "aten::as_strided"),
			LINE(AUTOGRAD, 303, 307, 0, REDUCER, .kernel_ns = 4),
			LINE(LOOP, 340, 350, 0, STEP),
		},
		"F 100-110; B 120-307 gpu 4; O 340-350", NULL},
	{"waiting for gradients of other processes is backward, with nothing before",
		{
			LINE(LOOP, 100, 110, 0, REDUCER),
			LINE(LOOP, 340, 350, 0, STEP),
		},
		"B 100-110; O 340-350", NULL},
	{"gradients of two batches are added up",
		{
			LINE(LOOP, 100, 110, 0, LOADER),
			LINE(LOOP, 120, 200, 0, MM),
			LINE(AUTOGRAD, 210, 300, 0, NODE),
			LINE(LOOP, 310, 320, 0, LOADER),
			LINE(LOOP, 330, 400, 0, MM),
			LINE(AUTOGRAD, 410, 500, 0, NODE),
			LINE(LOOP, 510, 600, 0, STEP),
			LINE(LOOP, 601, 610, 0, ZERO),
		},
		"D 100-110; F 120-200; B 210-300; D 310-320; F 330-400; "
		"B 410-500; O 510-600; O 601-610",
		NULL},
	/* Checkpointing computes the forward again in an autograd node, with a backward in it. */
	{"what backward computes again stays backward",
		{
			LINE(LOOP, 100, 200, 0, MM),
			LINE(AUTOGRAD, 320, 330, 1, MM, .kernel_ns = 3),
			LINE(AUTOGRAD, 340, 350, 1, NODE, .kernel_ns = 4),
			LINE(AUTOGRAD, 310, 360, 0,
				"autograd::engine::evaluate_function: CheckpointBackward"),
			LINE(LOOP, 400, 410, 0, STEP),
		},
		"F 100-200; B 310-360 gpu 7; O 400-410", NULL},
	/* L-BFGS computes the loss and its gradients inside its step. */
	{"a backward inside the optimizer is backward",
		{
			LINE(LOOP, 110, 120, 1, MM, .kernel_ns = 2),
			LINE(LOOP, 140, 150, 1, NODE, .kernel_ns = 4),
			LINE(LOOP, 160, 170, 1, NODE),
			LINE(LOOP, 171, 172, 1, "aten::mul", .kernel_ns = 1),
			LINE(LOOP, 174, 176, 1, NODE),
			LINE(LOOP, 180, 190, 1, "aten::add_", .kernel_ns = 8),
			LINE(LOOP, 100, 200, 0, STEP),
			LINE(LOOP, 300, 400, 0, LOADER),
		},
		"O 100-140 rest; B 140-170 gpu 4; O 170-174 rest; B 174-176; O "
		"176-200 gpu 11; D 300-400",
		NULL},
	{"without a range of the optimizer nothing is guessed",
		{
			LINE(LOOP, 100, 110, 0, MM),
			LINE(LOOP, 120, 130, 0, NODE),
			LINE(LOOP, 140, 150, 0, "aten::add_"),
			LINE(LOOP, 160, 170, 0, NODE),
			LINE(LOOP, 180, 190, 0, "aten::add_"),
		},
		"F 100-110; B 120-130; t 140-150; B 160-170; t 180-190",
		"may be Optimization or Forward"},
	{"without a range of the optimizer nothing is guessed, with a loader",
		{
			LINE(LOOP, 90, 95, 0, LOADER),
			LINE(LOOP, 100, 110, 0, MM),
			LINE(LOOP, 120, 130, 0, NODE),
			LINE(LOOP, 140, 150, 0, "aten::add_"),
			LINE(LOOP, 155, 156, 0, LOADER),
		},
		"D 90-95; F 100-110; B 120-130; t 140-150; D 155-156", "Optimization is unknown"},
	{"inference is forward",
		{
			LINE(LOOP, 10, 20, 0, "aten::randn"),
			LINE(LOOP, 90, 95, 0, LOADER),
			LINE(LOOP, 100, 110, 0, MM),
			LINE(LOOP, 120, 125, 0, LOADER),
			LINE(LOOP, 130, 140, 0, MM),
		},
		"t 10-20; D 90-95; F 100-110; D 120-125; F 130-140", ""},
	{"what ends on another thread is no phase",
		{
			LINE(LOOP, 10, 20, 0, ZERO, .end_thread = OTHER),
			LINE(LOOP, 90, 95, 0, LOADER),
			LINE(LOOP, 100, 110, 0, MM),
		},
		"D 90-95; F 100-110", ""},
	{"without steps and marks a run may be anything",
		{
			LINE(LOOP, 100, 110, 0, MM),
			LINE(LOOP, 130, 140, 0, MM, .kernel_ns = 5),
		},
		"t 100-140 gpu 5", "Nothing marks phases"},
};

START_TEST(operators_make_phases)
{
	const struct phase_case *c = &cases[_i];
	size_t nr_lines = 0;

	while (c->lines[nr_lines].name) {
		nr_lines++;
	}
	walk(lines_write(c->lines, nr_lines, NULL));
	ck_assert_msg(!strcmp(told(), c->told), "%s: %s", c->what, told());
	if (c->remark && *c->remark) {
		ck_assert_ptr_nonnull(strstr(phases_remark(&seen), c->remark));
	} else if (c->remark) {
		ck_assert_ptr_null(phases_remark(&seen));
	}
}
END_TEST

/* Where the first phase begins, if it shows by its class that it is in the loop; else `row`. */
static uint64_t begin_by_phases(uint64_t row)
{
	for (size_t i = 0; i < seen.nr_segments; i++) {
		const struct phase_segment *s = &seen.segments[i];

		if (s->phase != PHASE_OTHERS) {
			return s->class == OP_OTHER || s->class == OP_BACKWARD ? row : s->begin;
		}
	}
	return row;
}

/* By the few operators before it as by all phases. */
START_TEST(first_step_begins_where_its_phases_show)
{
	static const uint64_t steps[] = {2, 5000, 0};
	const struct phase_case *c = &cases[_i];
	struct process *process;
	size_t nr_lines = 0;
	const char *path;
	uint64_t begin;

	while (c->lines[nr_lines].name) {
		nr_lines++;
	}
	path = lines_write(c->lines, nr_lines, steps);
	walk(path);
	begin = begin_by_phases(2);
	ck_assert_int_eq(phases_is_whole(&seen, 1), begin != 2);
	if (begin != 2) {
		ck_assert_uint_eq(phases_step_ticks(&seen, 1), 5000 - begin);
	}
	process = streams_process(path);
	loop_begin_steps(process);
	ck_assert_msg(process->steps[0].tick == begin, "%s: %u, not %u", c->what,
		(unsigned int)process->steps[0].tick, (unsigned int)begin);
	ck_assert_uint_eq(process->first_row_tick, begin == 2 ? 0 : 2);
	process_destroy(process);
}
END_TEST

START_TEST(two_backwards_and_two_optimizers_a_step)
{
	static const struct line lines[] = {
		LINE(LOOP, 100, 110, 0, MM),
		LINE(LOOP, 120, 130, 0, NODE),
		LINE(LOOP, 140, 150, 0, MM),
		LINE(LOOP, 160, 170, 0, NODE),
		LINE(LOOP, 180, 190, 0, "Optimizer.step#SGD.step"),
		LINE(LOOP, 200, 210, 0, STEP),
		LINE(LOOP, 300, 310, 0, MM),
		LINE(LOOP, 320, 330, 0, NODE),
		LINE(LOOP, 340, 350, 0, STEP),
	};
	static const uint64_t steps[] = {50, 215, 355, 0};

	walk(lines_write(lines, sizeof(lines) / sizeof(lines[0]), steps));
	ck_assert_str_eq(told(), "F 100-110; B 120-130; F 140-150; B 160-170; O 180-190; "
				 "O 200-210; F 300-310; B 320-330; O 340-350");
	ck_assert_uint_eq(seen.steps[1].ticks[PHASE_FORWARD], 20);
	ck_assert_uint_eq(seen.steps[1].ticks[PHASE_BACKWARD], 20);
	ck_assert_uint_eq(seen.steps[2].ticks[PHASE_FORWARD], 10);
	ck_assert(phases_is_whole(&seen, 2));
	ck_assert(!phases_is_whole(&seen, 1)); /* nothing marks where it begins */
	ck_assert(!phases_is_whole(&seen, 3));
	ck_assert(!phases_is_whole(&seen, 0));
}
END_TEST

START_TEST(inference_in_a_step_is_forward)
{
	static const struct line lines[] = {
		LINE(LOOP, 100, 110, 0, MM),
		LINE(LOOP, 130, 140, 0, MM, .kernel_ns = 5),
		LINE(LOOP, 300, 310, 0, MM),
	};
	static const uint64_t steps[] = {50, 200, 400, 0};

	walk(lines_write(lines, sizeof(lines) / sizeof(lines[0]), steps));
	ck_assert_str_eq(told(), "F 100-140 gpu 5; F 300-310");
}
END_TEST

/* What other threads launch outside of autograd nodes is nobody's phase. */
START_TEST(other_threads_count_as_others)
{
	static const struct line lines[] = {
		LINE(OTHER, 100, 110, 0, MM, .kernel_ns = 5),
		LINE(LOOP, 100, 200, 0, MM, .kernel_ns = 6),
		LINE(LOOP, 300, 310, 0, STEP),
	};
	static const uint64_t steps[] = {50, 400, 0};

	walk(lines_write(lines, sizeof(lines) / sizeof(lines[0]), steps));
	ck_assert_str_eq(told(), "t 100-200 gpu 6; O 300-310");
	ck_assert_uint_eq(seen.steps[1].gpu_ns[PHASE_OTHERS], 11);
	ck_assert_uint_eq(phases_step_gpu_ns(&seen, 1), 11);
}
END_TEST

/* Rings are read one after the other: a thread's rows may come a group later than another's. */
START_TEST(threads_are_put_in_order_over_groups)
{
	const char *path = streams_path("threads.gprof");
	struct gen *gen = gen_open(path);
	static const struct line lines[] = {
		LINE(AUTOGRAD, 30, 40, 0, NODE),
		LINE(LOOP, 10, 20, 0, MM),
		LINE(LOOP, 50, 60, 0, STEP),
	};

	for (uint32_t i = 0; i < 3; i++) {
		lines_add(gen, &lines[i], i);
		gen_row(gen, GPROF_TABLE_checkpoint);
		gen_flush(gen);
	}
	gen_close(gen, "exit");
	walk(path);
	ck_assert_str_eq(told(), "F 10-20; B 30-40; O 50-60");
}
END_TEST

/* Of what a phase launched: calls that only communicate, not those that do more, and copies
 * neither. */
START_TEST(what_communicates_is_told_apart)
{
	struct made made = made_open("communicates.gprof");
	uint32_t gemm = made_shape(&made, "gemm", 1, 32, 16, 0);
	uint32_t nccl = made_shape(&made, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 32, 16, 0);
	struct gprof_row_memcpy *copy;

	made_op(&made, LOADER, 100, 110, 0);
	made_launch(&made, gemm, 210, 1, 1000, 1005);
	made_launch(&made, gemm, 220, 1, 1000, 1000);
	copy = gen_row(made.gen, GPROF_TABLE_memcpy);
	copy->begin = 1000;
	copy->dur = 1009;
	copy->correlation = made.correlation;
	made_op(&made, MM, 200, 300, 0);
	made_launch(&made, nccl, 410, 1, 1000, 1070);
	made_launch(&made, gemm, 420, 1, 1000, 1006);
	made_launch(&made, gemm, 430, 1, 1000, 1002); /* a graph's, both of them */
	made_kernel(&made, nccl, made.correlation, 1000, 1030);
	made_op(&made, NODE, 400, 500, 0);
	made_op(&made, STEP, 600, 700, 0);
	made_launch(&made, nccl, 710, 1, 1000, 1040);
	gen_close(made.gen, "exit");
	walk(made.path);
	ck_assert_uint_eq(seen.steps[0].gpu_ns[PHASE_FORWARD], 14);
	ck_assert_uint_eq(seen.steps[0].communication_ns[PHASE_FORWARD], 0);
	ck_assert_uint_eq(seen.steps[0].gpu_ns[PHASE_BACKWARD], 108);
	ck_assert_uint_eq(seen.steps[0].communication_ns[PHASE_BACKWARD], 70);
	ck_assert_uint_eq(seen.steps[0].gpu_ns[PHASE_OTHERS], 40);
	ck_assert_uint_eq(seen.steps[0].communication_ns[PHASE_OTHERS], 40);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {two_backwards_and_two_optimizers_a_step,
		inference_in_a_step_is_forward, other_threads_count_as_others,
		threads_are_put_in_order_over_groups, what_communicates_is_told_apart};
	Suite *suite = unit_make("report/phase", tests, sizeof(tests) / sizeof(tests[0]));

	unit_loop(suite, operators_make_phases, sizeof(cases) / sizeof(cases[0]));
	unit_loop(suite, first_step_begins_where_its_phases_show, sizeof(cases) / sizeof(cases[0]));
	return suite;
}
