/* SPDX-License-Identifier: Apache-2.0 */
#include "report/phase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/op_walk.h"
#include "report/worked.h"
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

/* Ticks are ns. Listed by their ends, as rows of a thread come. scope: '0' function, '7' user. */
struct line {
	uint32_t thread, begin, end;
	uint16_t depth;
	const char *name;
	char scope;
	uint32_t kernel_ns; /* one launch in its middle, whose kernel runs long after everything */
	uint32_t end_thread;
};

#define OP(t, b, e, d, n, ...)                                                        \
	{                                                                             \
		.thread = t, .begin = b, .end = e, .depth = d, .name = n, __VA_ARGS__ \
	}

static void write_line(struct gen *gen, const struct line *line, uint32_t number)
{
	struct gprof_row_op *op;
	uint32_t name = gen_op_name(gen, line->name);

	if (line->kernel_ns) {
		struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);
		struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

		call->begin = call->dur = (line->begin + line->end) / 2;
		call->thread = line->thread;
		call->correlation = kernel->correlation = number + 1;
		kernel->begin = 1000000;
		kernel->dur = kernel->begin + line->kernel_ns;
	}
	op = gen_row(gen, GPROF_TABLE_op);
	op->begin = line->begin;
	op->dur = line->end;
	op->thread = line->thread;
	op->end_thread = line->end_thread ? line->end_thread : line->thread;
	op->op_name = name;
	op->depth = line->depth;
	op->scope = line->scope ? (uint8_t)(line->scope - '0') : 0;
}

/* What the views got. */
static struct {
	struct phases phases; /* copied, and freed by the test */
	char ops[16][96];     /* "name in parent: self, gpu self, gpu total" */
	size_t nr_ops;
	char allocs[4][64];
	size_t nr_allocs;
} seen;

static void see_op(void *context, const struct op *op)
{
	(void)context;
	ck_assert_uint_lt(seen.nr_ops, 16);
	snprintf(seen.ops[seen.nr_ops++], sizeof(seen.ops[0]), "%s in %s: %u, %u, %u",
		names_raw(op->name, NULL), op->parent ? names_raw(op->parent->name, NULL) : "-",
		(unsigned int)(op->end - op->begin - op->child_ticks),
		(unsigned int)op->gpu_self_ns, (unsigned int)op->gpu_total_ns);
}

static void see_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	(void)context;
	ck_assert_uint_lt(seen.nr_allocs, 4);
	snprintf(seen.allocs[seen.nr_allocs++], sizeof(seen.allocs[0]), "%d in %s",
		(int)alloc->bytes, op ? names_raw(op->name, NULL) : "-");
}

static void see_end(void *context, struct process *process, const struct phases *phases)
{
	(void)context;
	(void)process;
	seen.phases = *phases;
	seen.phases.segments = calloc(phases->nr_segments + 1, sizeof(*phases->segments));
	seen.phases.steps = calloc(phases->nr_steps, sizeof(*phases->steps));
	memcpy(seen.phases.segments, phases->segments,
		phases->nr_segments * sizeof(*phases->segments));
	memcpy(seen.phases.steps, phases->steps, phases->nr_steps * sizeof(*phases->steps));
}

static void walk(const char *path)
{
	static const struct op_view view = {.op = see_op, .alloc = see_alloc, .end = see_end};
	static const struct op_view nothing = {.end = see_end};
	static struct process *process; /* what was seen still speaks of it */
	struct op_walk walk = {&view, NULL};

	phases_fini(&seen.phases);
	memset(&seen, 0, sizeof(seen));
	if (process) {
		process_destroy(process);
	}
	process = streams_process(path);
	if (stream_in_table(process->stream, GPROF_TABLE_op) &&
		stream_in_table(process->stream, GPROF_TABLE_op)->nr_rows > 16) {
		walk.view = &nothing;
	}
	op_walk_run(&process, 1, &walk, 1);
}

/* steps: ticks where they begin, the list ends with 0. */
static void run(const struct line *lines, size_t nr_lines, const uint64_t *steps)
{
	const char *path = streams_path("phase.gprof");
	struct gen *gen = gen_open(path);

	for (size_t i = 0; i < nr_lines; i++) {
		write_line(gen, &lines[i], (uint32_t)i);
	}
	for (size_t i = 0; steps && (!i || steps[i]); i++) {
		struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

		row->time = steps[i];
		row->step = i;
		row->how = GPROF_STEP_OPTIMIZER;
	}
	gen_close(gen, "exit");
	walk(path);
}

#define RUN(lines, steps) run(lines, sizeof(lines) / sizeof((lines)[0]), steps)

/* All segments as "Forward 10-20 gpu 5; ..." */
static const char *told(void)
{
	static char text[1024];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < seen.phases.nr_segments; i++) {
		const struct phase_segment *s = &seen.phases.segments[i];

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

START_TEST(gradients_are_cleared_before_forward_or_after_it)
{
	static const struct line lines[] = {
		OP(LOOP, 100, 200, 0, LOADER),
		OP(LOOP, 210, 290, 0, MM, .kernel_ns = 7),
		OP(LOOP, 300, 310, 0, ZERO),
		OP(LOOP, 320, 330, 0, "aten::ones_like"),
		OP(LOOP, 340, 400, 0, NODE),
		OP(LOOP, 410, 450, 0, STEP),
		OP(LOOP, 460, 470, 0, "aten::item"),
		OP(LOOP, 480, 490, 0, ZERO),
		OP(LOOP, 500, 510, 0, LOADER),
		OP(LOOP, 520, 530, 0, MM),
		OP(LOOP, 540, 600, 0, NODE),
	};

	RUN(lines, NULL);
	ck_assert_str_eq(told(),
		"D 100-200; F 210-290 gpu 7; O 300-310; F 320-330; B 340-400; "
		"O 410-450; t 460-470; O 480-490; D 500-510; F 520-530; B 540-600");
}
END_TEST

START_TEST(without_a_loader_what_lies_before_the_clearing_is_forward)
{
	static const struct line lines[] = {
		OP(LOOP, 210, 290, 0, MM),
		OP(LOOP, 300, 310, 0, ZERO),
		OP(LOOP, 340, 400, 0, NODE),
		OP(LOOP, 410, 450, 0, STEP),
		OP(LOOP, 510, 590, 0, MM),
		OP(LOOP, 600, 610, 0, ZERO),
		OP(LOOP, 620, 700, 0, NODE),
	};

	RUN(lines, NULL);
	ck_assert_str_eq(told(),
		"F 210-290; O 300-310; B 340-400; O 410-450; F 510-590; O 600-610; "
		"B 620-700");
}
END_TEST

START_TEST(a_step_on_one_thread)
{
	static const struct line lines[] = {
		OP(LOOP, 110, 140, 1, "aten::stack"),
		OP(LOOP, 100, 200, 0, LOADER),
		OP(LOOP, 210, 220, 0, ZERO),
		OP(LOOP, 240, 260, 1, MM, .kernel_ns = 7),
		OP(LOOP, 270, 280, 1, MM),
		OP(LOOP, 230, 290, 0, "my range", .scope = USER),
		OP(LOOP, 300, 310, 0, "aten::ones_like"),
		OP(LOOP, 330, 340, 1, MM, .kernel_ns = 5),
		OP(LOOP, 320, 350, 0, NODE),
		OP(LOOP, 360, 400, 0, NODE),
		OP(LOOP, 410, 450, 0, STEP),
		OP(LOOP, 460, 470, 0, "aten::item"),
		OP(LOOP, 500, 510, 0, LOADER),
	};

	RUN(lines, NULL);
	ck_assert_str_eq(told(), "D 100-200; O 210-220; F 240-310 gpu 7; B 320-400 gpu 5; "
				 "O 410-450; t 460-470; D 500-510");
}
END_TEST

/* The loop's thread waits in backward() and has no operator then. */
START_TEST(backward_runs_on_a_thread_of_its_own)
{
	static const struct line lines[] = {
		OP(LOOP, 100, 200, 0, LOADER),
		OP(LOOP, 210, 300, 0, MM),
		OP(AUTOGRAD, 330, 340, 1, MM, .kernel_ns = 9),
		OP(AUTOGRAD, 320, 350, 0, NODE),
		OP(AUTOGRAD, 360, 400, 0, NODE),
		OP(LOOP, 420, 450, 0, STEP),
	};

	RUN(lines, NULL);
	ck_assert_str_eq(told(), "D 100-200; F 210-300; B 320-400 gpu 9; O 420-450");
}
END_TEST

/* DistributedDataParallel, on CPUs and on GPUs. What comes after it is no part of it. */
START_TEST(waiting_for_other_processes_gradients_is_backward)
{
	static const char reducer[] = "torch.distributed.ddp.reducer::copy_bucket_to_grad";
	static const struct line cpu[] = {
		OP(LOOP, 100, 110, 0, MM),
		OP(LOOP, 120, 130, 0, NODE, .kernel_ns = 2),
		OP(OTHER, 125, 290, 0, "gloo:all_reduce", .scope = USER),
		OP(LOOP, 300, 302, 0, "aten::as_strided", .kernel_ns = 3),
		OP(LOOP, 304, 306, 1, "aten::copy_"),
		OP(LOOP, 303, 307, 0, reducer, .kernel_ns = 4),
		OP(LOOP, 308, 310, 0, reducer),
		OP(LOOP, 320, 330, 0, "aten::linalg_vector_norm"),
		OP(LOOP, 340, 350, 0, STEP),
	};
	static const struct line gpu[] = {
		OP(LOOP, 100, 110, 0, MM),
		OP(AUTOGRAD, 120, 130, 0, NODE),
		OP(AUTOGRAD, 300, 302, 0, "aten::as_strided"),
		OP(AUTOGRAD, 303, 307, 0, reducer, .kernel_ns = 4),
		OP(LOOP, 340, 350, 0, STEP),
	};
	static const struct line alone[] = {
		OP(LOOP, 100, 110, 0, reducer),
		OP(LOOP, 340, 350, 0, STEP),
	};

	RUN(cpu, NULL);
	ck_assert_str_eq(told(), "F 100-110; B 120-310 gpu 9; t 320-330; O 340-350");
	RUN(gpu, NULL);
	ck_assert_str_eq(told(), "F 100-110; B 120-307 gpu 4; O 340-350");
	RUN(alone, NULL);
	ck_assert_str_eq(told(), "B 100-110; O 340-350");
}
END_TEST

START_TEST(gradients_of_two_batches_are_added_up)
{
	static const struct line lines[] = {
		OP(LOOP, 100, 110, 0, LOADER),
		OP(LOOP, 120, 200, 0, MM),
		OP(AUTOGRAD, 210, 300, 0, NODE),
		OP(LOOP, 310, 320, 0, LOADER),
		OP(LOOP, 330, 400, 0, MM),
		OP(AUTOGRAD, 410, 500, 0, NODE),
		OP(LOOP, 510, 600, 0, STEP),
		OP(LOOP, 601, 610, 0, ZERO),
	};

	RUN(lines, NULL);
	ck_assert_str_eq(told(), "D 100-110; F 120-200; B 210-300; D 310-320; F 330-400; "
				 "B 410-500; O 510-600; O 601-610");
}
END_TEST

START_TEST(two_backwards_and_two_optimizers_a_step)
{
	static const struct line lines[] = {
		OP(LOOP, 100, 110, 0, MM),
		OP(LOOP, 120, 130, 0, NODE),
		OP(LOOP, 140, 150, 0, MM),
		OP(LOOP, 160, 170, 0, NODE),
		OP(LOOP, 180, 190, 0, "Optimizer.step#SGD.step"),
		OP(LOOP, 200, 210, 0, STEP),
		OP(LOOP, 300, 310, 0, MM),
		OP(LOOP, 320, 330, 0, NODE),
		OP(LOOP, 340, 350, 0, STEP),
	};
	static const uint64_t steps[] = {50, 215, 355, 0};

	RUN(lines, steps);
	ck_assert_str_eq(told(), "F 100-110; B 120-130; F 140-150; B 160-170; O 180-190; "
				 "O 200-210; F 300-310; B 320-330; O 340-350");
	ck_assert_uint_eq(seen.phases.steps[1].ticks[PHASE_FORWARD], 20);
	ck_assert_uint_eq(seen.phases.steps[1].ticks[PHASE_BACKWARD], 20);
	ck_assert_uint_eq(seen.phases.steps[2].ticks[PHASE_FORWARD], 10);
	ck_assert(phases_is_whole(&seen.phases, 2));
	ck_assert(!phases_is_whole(&seen.phases, 1)); /* nothing tells where it begins */
	ck_assert(!phases_is_whole(&seen.phases, 3));
	ck_assert(!phases_is_whole(&seen.phases, 0));
}
END_TEST

/* Checkpointing computes the forward once more, inside an autograd node, with a backward in it. */
START_TEST(what_backward_computes_again_stays_backward)
{
	static const struct line lines[] = {
		OP(LOOP, 100, 200, 0, MM),
		OP(AUTOGRAD, 320, 330, 1, MM, .kernel_ns = 3),
		OP(AUTOGRAD, 340, 350, 1, NODE, .kernel_ns = 4),
		OP(AUTOGRAD, 310, 360, 0,
			"autograd::engine::evaluate_function: CheckpointBackward"),
		OP(LOOP, 400, 410, 0, STEP),
	};

	RUN(lines, NULL);
	ck_assert_str_eq(told(), "F 100-200; B 310-360 gpu 7; O 400-410");
}
END_TEST

/* L-BFGS computes the loss and its gradients inside its step. */
START_TEST(a_backward_inside_the_optimizer_is_backward)
{
	static const struct line lines[] = {
		OP(LOOP, 110, 120, 1, MM, .kernel_ns = 2),
		OP(LOOP, 140, 150, 1, NODE, .kernel_ns = 4),
		OP(LOOP, 160, 170, 1, NODE),
		OP(LOOP, 171, 172, 1, "aten::mul", .kernel_ns = 1),
		OP(LOOP, 174, 176, 1, NODE),
		OP(LOOP, 180, 190, 1, "aten::add_", .kernel_ns = 8),
		OP(LOOP, 100, 200, 0, STEP),
		OP(LOOP, 300, 400, 0, LOADER),
	};

	RUN(lines, NULL);
	ck_assert_str_eq(told(), "O 100-140 rest; B 140-170 gpu 4; O 170-174 rest; B 174-176; O "
				 "176-200 gpu 11; D 300-400");
}
END_TEST

START_TEST(without_an_optimizers_range_nothing_is_guessed)
{
	static const struct line lines[] = {
		OP(LOOP, 100, 110, 0, MM),
		OP(LOOP, 120, 130, 0, NODE),
		OP(LOOP, 140, 150, 0, "aten::add_"),
		OP(LOOP, 160, 170, 0, NODE),
		OP(LOOP, 180, 190, 0, "aten::add_"),
	};
	static const struct line with_loader[] = {
		OP(LOOP, 90, 95, 0, LOADER),
		OP(LOOP, 100, 110, 0, MM),
		OP(LOOP, 120, 130, 0, NODE),
		OP(LOOP, 140, 150, 0, "aten::add_"),
		OP(LOOP, 155, 156, 0, LOADER),
	};

	RUN(lines, NULL);
	ck_assert_str_eq(told(), "F 100-110; B 120-130; t 140-150; B 160-170; t 180-190");
	ck_assert_ptr_nonnull(strstr(phases_remark(&seen.phases), "may be it or Forward"));
	RUN(with_loader, NULL);
	ck_assert_str_eq(told(), "D 90-95; F 100-110; B 120-130; t 140-150; D 155-156");
	ck_assert_ptr_nonnull(strstr(phases_remark(&seen.phases), "Optimization is unknown"));
}
END_TEST

START_TEST(inference_is_forward)
{
	static const struct line loop[] = {
		OP(LOOP, 10, 20, 0, "aten::randn"),
		OP(LOOP, 90, 95, 0, LOADER),
		OP(LOOP, 100, 110, 0, MM),
		OP(LOOP, 120, 125, 0, LOADER),
		OP(LOOP, 130, 140, 0, MM),
	};
	static const struct line bare[] = {
		OP(LOOP, 100, 110, 0, MM),
		OP(LOOP, 130, 140, 0, MM, .kernel_ns = 5),
	};

	RUN(loop, NULL);
	ck_assert_str_eq(told(), "t 10-20; D 90-95; F 100-110; D 120-125; F 130-140");
	ck_assert_ptr_null(phases_remark(&seen.phases));
	RUN(bare, NULL);
	ck_assert_str_eq(told(), "F 100-140 gpu 5");
}
END_TEST

/* What other threads launch outside of autograd nodes is nobody's phase. */
START_TEST(other_threads_count_as_others)
{
	static const struct line lines[] = {
		OP(OTHER, 100, 110, 0, MM, .kernel_ns = 5),
		OP(LOOP, 100, 200, 0, MM, .kernel_ns = 6),
		OP(LOOP, 300, 310, 0, STEP),
	};
	static const uint64_t steps[] = {50, 400, 0};

	RUN(lines, steps);
	ck_assert_str_eq(told(), "t 100-200 gpu 6; O 300-310");
	ck_assert_uint_eq(seen.phases.steps[1].gpu_ns[PHASE_OTHERS], 11);
	ck_assert_uint_eq(phases_step_gpu_ns(&seen.phases, 1), 11);
}
END_TEST

/* ---- the walk ---- */

START_TEST(operators_nest_by_their_times_and_work_by_its_call)
{
	static const struct line lines[] = {
		OP(LOOP, 110, 120, 2, "b", .kernel_ns = 3),
		OP(LOOP, 120, 120, 2, "empty"),
		OP(LOOP, 120, 120, 2, "empty"),
		OP(OTHER, 105, 125, 0, "elsewhere", .kernel_ns = 100),
		OP(LOOP, 105, 130, 1, "a"),
		OP(LOOP, 130, 140, 1, "c", .kernel_ns = 4),
		OP(LOOP, 100, 150, 0, "top"),
		OP(LOOP, 60, 145, 0, "async", .end_thread = OTHER),
	};

	RUN(lines, NULL);
	ck_assert_uint_eq(seen.nr_ops, 8);
	ck_assert_str_eq(seen.ops[0], "async in -: 85, 0, 0");
	ck_assert_str_eq(seen.ops[1], "c in top: 10, 4, 4");
	ck_assert_str_eq(seen.ops[2], "empty in a: 0, 0, 0");
	ck_assert_str_eq(seen.ops[3], "empty in a: 0, 0, 0");
	ck_assert_str_eq(seen.ops[4], "b in a: 10, 3, 3");
	ck_assert_str_eq(seen.ops[5], "a in top: 15, 0, 3");
	ck_assert_str_eq(seen.ops[6], "top in -: 15, 0, 7");
	ck_assert_str_eq(seen.ops[7], "elsewhere in -: 20, 100, 100");
}
END_TEST

/* Written in three groups: a checkpoint closes each. What is open goes on in the next one. */
START_TEST(operators_are_joined_over_groups)
{
	const char *path = streams_path("groups.gprof");
	struct gen *gen = gen_open(path);
	static const struct line lines[] = {
		OP(LOOP, 110, 120, 1, "first", .kernel_ns = 3),
		OP(OTHER, 50, 125, 0, "elsewhere"),
		OP(LOOP, 130, 140, 1, "second", .kernel_ns = 4),
		OP(LOOP, 100, 150, 0, "top"),
	};
	struct gprof_row_kernel *early;

	early = gen_row(gen, GPROF_TABLE_kernel); /* its call comes with the next group */
	early->dur = 5;
	early->correlation = 77;
	for (uint32_t i = 0; i < 4; i++) {
		if (i == 1) {
			struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);

			call->begin = call->dur = 118;
			call->thread = LOOP;
			call->correlation = 77;
		}
		write_line(gen, &lines[i], i);
		gen_row(gen, GPROF_TABLE_checkpoint);
		gen_flush(gen);
	}
	gen_close(gen, "exit");
	walk(path);
	ck_assert_uint_eq(seen.nr_ops, 4);
	ck_assert_str_eq(seen.ops[0], "second in top: 10, 4, 4");
	ck_assert_str_eq(seen.ops[1], "first in top: 10, 8, 8");
	ck_assert_str_eq(seen.ops[2], "top in -: 30, 0, 12");
	ck_assert_str_eq(seen.ops[3], "elsewhere in -: 75, 0, 0");
}
END_TEST

/* Rings are read one after the other: a thread's rows may come a group later than another's. */
START_TEST(threads_are_put_in_order_over_groups)
{
	const char *path = streams_path("threads.gprof");
	struct gen *gen = gen_open(path);
	static const struct line lines[] = {
		OP(AUTOGRAD, 30, 40, 0, NODE),
		OP(LOOP, 10, 20, 0, MM),
		OP(LOOP, 50, 60, 0, STEP),
	};

	for (uint32_t i = 0; i < 3; i++) {
		write_line(gen, &lines[i], i);
		gen_row(gen, GPROF_TABLE_checkpoint);
		gen_flush(gen);
	}
	gen_close(gen, "exit");
	walk(path);
	ck_assert_str_eq(told(), "F 10-20; B 30-40; O 50-60");
}
END_TEST

START_TEST(allocations_belong_to_the_innermost_operator)
{
	const char *path = streams_path("alloc.gprof");
	struct gen *gen = gen_open(path);
	static const struct line lines[] = {
		OP(LOOP, 110, 120, 1, "in"),
		OP(LOOP, 100, 150, 0, "out"),
	};
	static const uint32_t times[] = {90, 115, 130, 160};

	for (uint32_t i = 0; i < 4; i++) {
		struct gprof_row_alloc *row = gen_row(gen, GPROF_TABLE_alloc);

		row->time = times[i];
		row->thread = LOOP;
		row->bytes = i == 3 ? -64 : 64 * (int64_t)(i + 1);
	}
	write_line(gen, &lines[0], 0);
	write_line(gen, &lines[1], 1);
	gen_close(gen, "exit");
	walk(path);
	ck_assert_uint_eq(seen.nr_allocs, 4);
	ck_assert_str_eq(seen.allocs[0], "-64 in -");
	ck_assert_str_eq(seen.allocs[1], "192 in out");
	ck_assert_str_eq(seen.allocs[2], "128 in in");
	ck_assert_str_eq(seen.allocs[3], "64 in -");
}
END_TEST

START_TEST(work_is_taken_once_by_its_call)
{
	struct worked worked = {0};
	struct worked_entry entry;

	ck_assert(!worked_take(&worked, 1, &entry));
	worked_add(&worked, 0, 5);
	for (uint32_t id = 1; id <= 5000; id++) {
		worked_add(&worked, id * 2654435761u | 1u, id);
		worked_add(&worked, id * 2654435761u | 1u, 1);
	}
	for (uint32_t id = 1; id <= 5000; id++) {
		uint32_t key = id * 2654435761u | 1u;

		if (worked_take(&worked, key, &entry)) {
			ck_assert_uint_eq(entry.correlation, key);
			ck_assert_uint_ge(entry.nr_works, 2);
			ck_assert(!worked_take(&worked, key, &entry));
		}
	}
	ck_assert_uint_eq(worked.nr_entries, 0);
	worked_fini(&worked);
}
END_TEST

START_TEST(places_of_work_that_was_taken_are_used_again)
{
	struct worked worked = {0};
	struct worked_entry entry;
	uint64_t random = 1;

	for (uint32_t id = 1; id <= 200000; id++) {
		uint32_t early = id > 100 ? id - (uint32_t)(unit_random(&random) % 100) : 0;

		worked_add(&worked, id, id);
		if (worked_take(&worked, early, &entry)) {
			ck_assert_uint_eq(entry.ns, early);
			ck_assert_ptr_null(worked_find(&worked, early));
		}
		if (id > 200 && worked_take(&worked, id - 200, &entry)) {
			ck_assert_uint_eq(entry.ns, id - 200);
		}
		ck_assert_uint_le(worked.nr_entries, 200);
		ck_assert(early == id || worked_find(&worked, id));
	}
	ck_assert_uint_le(worked.capacity, 1024);
	ck_assert(!worked_find(&worked, 7));
	worked_add(&worked, 7, 2);
	ck_assert(worked_take(&worked, 7, &entry));
	worked_add(&worked, 7, 3); /* not added to what was taken */
	ck_assert(worked_take(&worked, 7, &entry));
	ck_assert_uint_eq(entry.ns, 3);
	ck_assert_uint_eq(entry.nr_works, 1);
	worked_fini(&worked);
}
END_TEST

UNIT_SUITE("report/phase", a_step_on_one_thread, gradients_are_cleared_before_forward_or_after_it,
	without_a_loader_what_lies_before_the_clearing_is_forward,
	backward_runs_on_a_thread_of_its_own, waiting_for_other_processes_gradients_is_backward,
	gradients_of_two_batches_are_added_up, two_backwards_and_two_optimizers_a_step,
	what_backward_computes_again_stays_backward, a_backward_inside_the_optimizer_is_backward,
	without_an_optimizers_range_nothing_is_guessed, inference_is_forward,
	other_threads_count_as_others, operators_nest_by_their_times_and_work_by_its_call,
	operators_are_joined_over_groups, threads_are_put_in_order_over_groups,
	allocations_belong_to_the_innermost_operator, work_is_taken_once_by_its_call,
	places_of_work_that_was_taken_are_used_again)
