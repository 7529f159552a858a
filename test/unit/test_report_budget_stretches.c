/* SPDX-License-Identifier: Apache-2.0 */
/* What the time of steps went to, with more kernels than are held at once. */
#include "report/budget/budget.h"

#include "report/ops/op_walk.h"
#include "test/unit/report_made.h"

enum { FEW = 64 };

struct few {
	struct budget budget;
	size_t most_kernels;
};

static void begin_few(void *context, struct process *process)
{
	struct few *few = context;

	budget_begin(&few->budget, process, true);
	few->budget.most = few->most_kernels;
}

static void enter_few(void *context, const struct op *op)
{
	budget_enter(&((struct few *)context)->budget, op);
}

static void call_few(void *context, const struct op_call *call, const struct op *op)
{
	budget_call(&((struct few *)context)->budget, call, op);
}

static void record_few(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct few *few = context;

	budget_record(&few->budget, record, call, op);
	ck_assert_uint_le(few->budget.work.nr_kernels, few->most_kernels + 1);
	ck_assert_uint_le(few->budget.nr_works, few->most_kernels + 1);
}

static void end_few(void *context, struct process *process, const struct phases *phases)
{
	(void)process;
	budget_end(&((struct few *)context)->budget, phases);
}

/* What is made of a stream where no more kernels than that are held. */
static void run_few(struct few *few, const char *path, size_t most)
{
	static const struct op_view view = {.ignores_selection = true,
		.begin = begin_few,
		.enter = enter_few,
		.call = call_few,
		.record = record_few,
		.end = end_few};
	const struct op_walk walk = {&view, few};
	struct process *process = streams_process(path);

	few->most_kernels = most;
	op_walk_run(&process, 1, &walk, 1);
	process_destroy(process);
}

/* One stream that works off what is launched; with steps, if there are to be any. */
static const char *write_queue(uint64_t seed, uint32_t nr_steps, uint32_t nr_kernels)
{
	static const struct {
		const char *name;
		uint32_t grid;
	} kernels[] = {{"nvjet_a", 66}, {"volta_sgemm_b", 33}, {"c", 300}, {"ncclKernel_d", 12}};
	struct made made = made_open("queue.gprof");
	uint64_t host = 1000, device = 1000;

	for (unsigned int i = 0; i < 4; i++) {
		made_shape(&made, kernels[i].name, kernels[i].grid, 64, 16, 0);
	}
	for (uint32_t step = 0; step < (nr_steps ? nr_steps : 1); step++) {
		if (nr_steps) {
			made_step(&made, host, step);
		}
		for (uint32_t i = 0; i < nr_kernels; i++) {
			uint64_t begin, end, op = host;

			host += 1 + unit_below(&seed, 20);
			begin = device > host ? device : host + 3;
			end = begin + 1 + unit_below(&seed, 70);
			device = end + unit_below(&seed, 4);
			made_launch(&made, 1 + unit_below(&seed, 4), host, 5, begin, end);
			host += 5 + unit_below(&seed, 20);
			if (unit_below(&seed, 2)) {
				made_op(&made, "aten::mm", op, host, 0);
			}
		}
		gen_flush(made.gen);
	}
	if (nr_steps) {
		made_step(&made, host, nr_steps);
	}
	gen_close(made.gen, "exit");
	return made.path;
}

static void check_same(const struct budget *a, const struct budget *b)
{
	ck_assert_uint_eq(a->nr_steps, b->nr_steps);
	for (size_t i = 0; i < a->nr_steps; i++) {
		const struct budget_step *x = &a->steps[i], *y = &b->steps[i];

		ck_assert_uint_eq(x->begin_ns, y->begin_ns);
		ck_assert_uint_eq(x->end_ns, y->end_ns);
		ck_assert_mem_eq(x->ns, y->ns, sizeof(x->ns));
		ck_assert_uint_eq(x->nr_devices, 1);
		ck_assert_uint_eq(y->nr_devices, 1);
		ck_assert_uint_eq(x->devices[0].busy_ns, y->devices[0].busy_ns);
		ck_assert_double_eq_tol(x->devices[0].sm_ns, y->devices[0].sm_ns, 1e-3);
		ck_assert_double_eq_tol(x->devices[0].occupancy, y->devices[0].occupancy, 1e-3);
		ck_assert_mem_eq(x->devices[0].tensor_ns, y->devices[0].tensor_ns,
			sizeof(x->devices[0].tensor_ns));
	}
}

START_TEST(steps_of_many_kernels_are_the_same_in_stretches)
{
	for (uint64_t seed = 1; seed < 30; seed++) {
		uint32_t nr_steps = seed % 3 ? 3 : 0;
		const char *path = write_queue(seed * 77, nr_steps, 600);
		static struct few whole, stretches;

		run_few(&whole, path, BUDGET_MAX);
		run_few(&stretches, path, FEW);
		ck_assert(!stretches.budget.is_too_much);
		ck_assert_uint_eq(stretches.budget.nr_cut, 0);
		ck_assert_uint_gt(whole.budget.steps[0].ns[BUDGET_COMPUTING], 0);
		check_same(&whole.budget, &stretches.budget);
		budget_fini(&whole.budget);
		budget_fini(&stretches.budget);
	}
}
END_TEST

/* What comes after the stretch that it ran in is cut off, and counted; parts still are the whole.
 */
START_TEST(work_out_of_order_is_cut_and_told)
{
	struct made made = made_open("late.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	static struct few few;
	uint64_t sum = 0;

	made.place = gen_place(made.gen, 0, 1, 9);
	made_launch(&made, shape, 1010, 5, 8000, 9000);
	made.place = gen_place(made.gen, 0, 1, 7);
	for (uint64_t i = 0; i < 300; i++) {
		made_launch(&made, shape, 1030 + 20 * i, 5, 1050 + 20 * i, 1060 + 20 * i);
	}
	gen_close(made.gen, "exit");
	run_few(&few, made.path, FEW);
	ck_assert(!few.budget.is_too_much);
	ck_assert_uint_eq(few.budget.nr_cut, 1);
	for (unsigned int i = 0; i < NR_BUDGET_PARTS; i++) {
		sum += few.budget.steps[0].ns[i];
	}
	ck_assert_uint_eq(sum, few.budget.steps[0].end_ns - few.budget.steps[0].begin_ns);
	budget_fini(&few.budget);
}
END_TEST

/* All at one time: there is no later half. */
START_TEST(too_many_at_one_moment_are_unknown)
{
	struct made made = made_open("crowd.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	static struct few few;

	for (uint64_t i = 0; i < 300; i++) {
		made_launch(&made, shape, 1030 + 20 * i, 5, 10000, 10000 + i);
	}
	gen_close(made.gen, "exit");
	run_few(&few, made.path, FEW);
	ck_assert(few.budget.is_too_much);
	budget_fini(&few.budget);
}
END_TEST

UNIT_SUITE("report/budget_stretches", steps_of_many_kernels_are_the_same_in_stretches,
	work_out_of_order_is_cut_and_told, too_many_at_one_moment_are_unknown)
