/* SPDX-License-Identifier: Apache-2.0 */
/* What the time of steps went to, against a computation that paints every nanosecond. */
#include "report/budget/budget.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/report_made.h"

static const struct table_column parts[] = {BUDGET_PLUGIN_COLUMNS};

#define ALL_NS	 20000u
#define NR_STEPS 8u
#define STEP_NS	 2000u

static struct gprof_row_api *add_call(struct made *made, uint64_t begin, uint64_t end)
{
	struct gprof_row_api *row = gen_row(made->gen, GPROF_TABLE_api);

	row->begin = begin;
	row->dur = end;
	row->thread = 1;
	row->call = made->sync;
	row->correlation = ++made->correlation;
	return row;
}

static size_t find_step(const struct table *table, const char *step)
{
	return tables_find(table, "step", step, 0);
}

static double cell(const struct table *table, size_t row, const char *key)
{
	ck_assert(tables_cell(table, row, key)->is_known);
	return tables_cell(table, row, key)->number;
}

static void check_sums(const struct table *table)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		double sum = 0;

		for (unsigned int i = 0; i < NR_BUDGET_PLUGIN_PARTS; i++) {
			sum += cell(table, row, parts[i].key);
		}
		ck_assert_double_eq_tol(sum, cell(table, row, "total_ns"), 1e-6);
	}
}

/* The plugin starts anew where nothing is left of a step, and finds 300 % of it. */
START_TEST(a_step_that_kernels_cover_wholly_sums_to_itself)
{
	struct made made = made_open("full.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	struct table *table;

	made_step(&made, 1000, 0);
	made_step(&made, 2000, 1);
	made_op(&made, "enumerate(DataLoader)#x.__next__", 1000, 1200, 0);
	made_launch(&made, shape, 1300, 300, 1000, 2000);
	made_launch(&made, shape, 1700, 100, 1200, 1900);
	made_op(&made, "aten::mm", 1200, 1900, 0);
	gen_close(made.gen, "exit");
	table = tables_of(&view_breakdown, made.path, false);
	check_sums(table);
	ck_assert_double_eq(cell(table, find_step(table, "0"), "kernel_ns"), 1000);
	ck_assert_double_eq(cell(table, find_step(table, "0"), "total_ns"), 1000);
	ck_assert_double_eq(cell(table, find_step(table, "0"), "cpu_exec_ns"), 0);
	table_destroy(table);
}
END_TEST

START_TEST(each_moment_counts_for_the_first_that_covers_it)
{
	struct made made = made_open("order.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	uint32_t nccl = made_shape(&made, "ncclDevKernel_AllReduce", 1, 32, 16, 0);
	struct table *table;

	made_step(&made, 1000, 7);
	made_step(&made, 2000, 8);
	made_step(&made, 3000, 9);
	made_op(&made, "enumerate(DataLoader)#x.__next__", 1000, 1100, 1);
	made_launch(&made, shape, 1150, 30, 1200, 1300);
	made_op(&made, "aten::mm", 1120, 1190, 1);
	made_launch(&made, nccl, 1400, 20, 1250, 1500);
	made_op(&made, "ProfilerStep#7", 1000, 1950, 0);
	/* runs into the next one, which begins with its end */
	made_launch(&made, shape, 1960, 10, 2500, 2600);
	made_op(&made, "a range", 2000, 2800, 0);
	gen_close(made.gen, "exit");
	table = tables_of(&view_breakdown, made.path, false);
	check_sums(table);
	ck_assert_uint_eq(table->nr_rows, 3);
	ck_assert_double_eq(cell(table, find_step(table, "7"), "total_ns"), 1600);
	ck_assert_double_eq(cell(table, find_step(table, "7"), "kernel_ns"), 200);
	ck_assert_double_eq(cell(table, find_step(table, "7"), "communication_ns"), 200);
	ck_assert_double_eq(cell(table, find_step(table, "7"), "runtime_ns"), 40);
	ck_assert_double_eq(cell(table, find_step(table, "7"), "dataloader_ns"), 100);
	ck_assert_double_eq(cell(table, find_step(table, "7"), "cpu_exec_ns"), 40 + 500);
	/* the last step is kept */
	ck_assert_double_eq(cell(table, find_step(table, "8"), "total_ns"), 400);
	ck_assert_double_eq(cell(table, find_step(table, "8"), "cpu_exec_ns"), 200);
	ck_assert_double_eq(cell(table, find_step(table, "average"), "total_ns"), 1000);
	table_destroy(table);
}
END_TEST

static void collect(
	struct made *made, uint8_t generation, uint32_t thread, uint64_t begin, uint64_t end)
{
	struct gprof_row_py_gc *row = gen_row(made->gen, GPROF_TABLE_py_gc);

	row->begin = begin;
	row->dur = end;
	row->thread = thread;
	row->generation = generation;
	row->collected = 7;
}

static double part(const struct table *table, const char *title, const char *key)
{
	return cell(table, tables_find(table, "part", title, 0), key);
}

/* One hides the operator that it interrupts, and stops the thread that does nothing meanwhile. */
START_TEST(a_collection_is_a_part_wherever_it_lies)
{
	struct made made = made_open("gc.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	struct table *table;

	made_step(&made, 100, 0);
	made_step(&made, 1000, 1);
	made_step(&made, 2000, 2);
	made_step(&made, 3000, 3);
	made_launch(&made, shape, 1100, 10, 1120, 1200);
	add_call(&made, 1150, 1250); /* the gap behind it was opened by a wait */
	collect(&made, 2, 1, 1350, 1450);
	made_op(&made, "aten::add", 1300, 1500, 0);
	collect(&made, 0, 2, 1600, 1650);
	collect(&made, 0, 1, 1910, 1930); /* the GPU works */
	made_launch(&made, shape, 1880, 10, 1900, 1950);
	made_launch(&made, shape, 2100, 10, 2120, 2200);
	gen_close(made.gen, "exit");
	table = tables_of(&view_budget, made.path, false);
	ck_assert_double_eq(part(table, "Idle: garbage collection", "total_ns"), 150);
	ck_assert_double_eq(part(table, "Idle: operators", "total_ns"), 100);
	table_destroy(table);
	table = tables_of(&view_gc, made.path, false);
	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_double_eq(cell(table, 0, "generation"), 0);
	ck_assert_double_eq(cell(table, 0, "collections"), 2);
	ck_assert_double_eq(cell(table, 0, "total_ns"), 70);
	ck_assert_double_eq(cell(table, 0, "longest_ns"), 50);
	ck_assert_double_eq(cell(table, 0, "steps"), 1);
	ck_assert_double_eq(cell(table, 1, "collections"), 1);
	ck_assert_double_eq(cell(table, 1, "collected"), 7);
	table_destroy(table);
}
END_TEST

/* A stream of four steps of 1,000 ns without a GPU, in each of which `add` adds what there is. */
static const char *four_steps(
	const char *name, void (*add)(struct made *made, uint64_t begin), struct table **budget)
{
	struct made made = made_open(name);

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t begin = 1000 + 1000 * i;

		made_step(&made, begin, i);
		made_op(&made, "aten::add", begin + 100, begin + 400, 0);
		add(&made, begin);
	}
	made_step(&made, 5000, 4);
	gen_close(made.gen, "exit");
	*budget = tables_of(&view_budget, made.path, false);
	return made.path;
}

static double reach_of(const char *path, const char *cause)
{
	struct table *table = tables_of(&view_advice, path, false);
	double ns = cell(table, tables_find(table, "cause", cause, 0), "reach_ns");

	table_destroy(table);
	return ns;
}

static void add_polls(struct made *made, uint64_t begin)
{
	for (uint32_t thread = 2; thread < 2 * HOST_THREADS; thread++) {
		gen_os_call(made->gen, "poll", thread, begin + 10, begin + 990);
	}
	gen_os_call(made->gen, "nanosleep", 1, begin + 110, begin + 390); /* in the operator */
	gen_os_call(made->gen, "poll", 1, begin + 500, begin + 600);
}

/* Without a GPU, threads that wait for work, however many, are not what the loop does. */
START_TEST(calls_of_the_system_are_those_of_the_loop)
{
	struct table *table;
	const char *path = four_steps("os.gprof", add_polls, &table);

	ck_assert_double_eq(part(table, "Idle: operators", "mean_ns"), 300);
	ck_assert_double_eq(part(table, "Idle: OS calls", "mean_ns"), 100);
	ck_assert_double_eq(part(table, "Idle: user code", "mean_ns"), 600);
	ck_assert_str_eq(
		tables_cell(table, tables_find(table, "part", "Idle: OS calls", 0), "longest")
			->text,
		"poll");
	ck_assert(!tables_cell(table, tables_find(table, "part", "Idle: user code", 0), "longest")
			   ->is_known);
	table_destroy(table);
	ck_assert_double_eq(reach_of(path, "os_calls"), 100);
}
END_TEST

static void add_waits_for_the_lock(struct made *made, uint64_t begin)
{
	gen_os_call(made->gen, "python_gil", 2, begin, begin + 990);
	gen_os_call(made->gen, "python_gil", 1, begin + 350, begin + 900);
	collect(made, 0, 2, begin + 600, begin + 700);
}

/*
 * Waits for Python's lock hide what they lie in; a collection of another thread is what they wait
 * for. Those of other threads count nowhere: meanwhile the loop may have the lock.
 */
START_TEST(waits_for_the_lock_are_those_of_the_loop)
{
	struct table *table;
	const char *path = four_steps("gil.gprof", add_waits_for_the_lock, &table);

	ck_assert_double_eq(part(table, "Idle: operators", "mean_ns"), 250);
	ck_assert_double_eq(part(table, "Idle: Python's lock", "mean_ns"), 450);
	ck_assert_double_eq(part(table, "Idle: garbage collection", "mean_ns"), 100);
	ck_assert_double_eq(part(table, "Idle: user code", "mean_ns"), 200);
	table_destroy(table);
	ck_assert_double_eq(reach_of(path, "gil"), 450);
}
END_TEST

/* On a GPU, waits of the thread that launches keep it idle, and those of another one do not. */
START_TEST(waits_for_the_lock_keep_the_gpu_idle)
{
	struct made made = made_open("gil_gpu.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	struct table *table;

	made_step(&made, 100, 0);
	made_step(&made, 1000, 1);
	made_step(&made, 2000, 2);
	made_step(&made, 3000, 3);
	made_launch(&made, shape, 1100, 10, 1120, 1200);
	add_call(&made, 1150, 1250); /* the gap behind it was opened by a wait */
	gen_os_call(made.gen, "python_gil", 1, 1300, 1500);
	gen_os_call(made.gen, "python_gil", 2, 1550, 1700);
	made_launch(&made, shape, 1880, 10, 1900, 1950);
	made_launch(&made, shape, 2100, 10, 2120, 2200);
	gen_close(made.gen, "exit");
	table = tables_of(&view_budget, made.path, false);
	ck_assert_double_eq(part(table, "Idle: Python's lock", "total_ns"), 200);
	table_destroy(table);
}
END_TEST

/* A call of CUDA or an operator that contains calls of the system has their time. */
START_TEST(calls_of_the_system_in_other_calls_keep_no_gpu_idle)
{
	struct made made = made_open("os_gpu.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	struct table *table;
	size_t row;

	made_step(&made, 100, 0);
	made_step(&made, 1000, 1);
	made_step(&made, 2000, 2);
	made_step(&made, 3000, 3);
	made_launch(&made, shape, 1050, 10, 1060, 1100);
	gen_os_call(made.gen, "poll", 1, 1130, 1390);
	add_call(&made, 1120, 1400);
	gen_os_call(made.gen, "fsync", 1, 1500, 1600);
	gen_os_call(made.gen, "read", 1, 1620, 1780);
	made_op(&made, "aten::add", 1610, 1800, 0);
	made_launch(&made, shape, 1880, 10, 1900, 1950);
	made_launch(&made, shape, 2100, 10, 2120, 2200);
	gen_close(made.gen, "exit");
	table = tables_of(&view_budget, made.path, false);
	ck_assert_double_eq(part(table, "Idle: OS calls", "total_ns"), 100);
	row = tables_find(table, "part", "Idle: OS calls", 0);
	ck_assert_str_eq(tables_cell(table, row, "longest")->text, "fsync");
	ck_assert_double_eq(cell(table, row, "longest_pct"), 100);
	table_destroy(table);
}
END_TEST

/* ---- what owns gaps ---- */

/* Gaps come from the last to the first; what lies behind them is not kept. */
START_TEST(a_gap_is_of_what_takes_most_of_it)
{
	struct gap_owners owners = {0};
	struct gap_owner around = {5, 1000000, 7, HOST_LOADER};

	gap_owners_push(&owners, &around);
	for (uint64_t time = 999990; time > 100; time -= 100) {
		struct gap_owner longest = {time - 50, time, (uint32_t)time, HOST_WAIT};
		struct gap_owner other = {time - 90, time - 60, 3, HOST_WAIT};
		struct budget_site sites[GAP_OWNER_STATES] = {{0, 0}};

		gap_owners_push(&owners, &longest);
		gap_owners_push(&owners, &other);
		gap_owners_find(&owners, time - 80, time - 20, sites);
		ck_assert_uint_eq(sites[HOST_WAIT].site, time);
		ck_assert_uint_eq(sites[HOST_WAIT].end, time);
		ck_assert_uint_eq(sites[HOST_LOADER].site, 7);
		ck_assert_uint_eq(sites[HOST_ALLOCATION].end, 0);
	}
	ck_assert_uint_lt(owners.capacity, 100);
	gap_owners_fini(&owners);
	/* Where there is no gap, the steps that are closed drop them. */
	for (uint64_t time = 100000; time > 100; time -= 10) {
		struct gap_owner wait = {time - 5, time, 3, HOST_WAIT};

		gap_owners_push(&owners, &wait);
		gap_owners_pass(&owners, time - 5);
	}
	ck_assert_uint_lt(owners.capacity, 100);
	gap_owners_fini(&owners);
}
END_TEST

/* ---- painted ---- */

static const struct {
	const char *name;
	uint32_t grid;
	enum tensor_use tensor;
	bool is_communication;
} kernels[] = {{"nvjet_a", 66, TENSOR_YES, false}, {"volta_sgemm_b", 33, TENSOR_NO, false},
	{"c", 300, TENSOR_UNKNOWN, false}, {"ncclKernel_d", 12, TENSOR_NO, true}};

struct painted {
	uint8_t parts[ALL_NS + 1]; /* bits by enum budget_plugin_part */
	double blocks[ALL_NS + 1];
	bool is_busy[ALL_NS + 1];
	double occupancy[ALL_NS + 1]; /* sum of percent of what runs */
	uint32_t running[ALL_NS + 1], tensor[ALL_NS + 1][NR_TENSOR_USES];
	uint64_t host[NR_STEPS + 1], device_end[NR_STEPS]; /* of steps */
};

static void paint(struct painted *all, enum budget_plugin_part part, uint64_t begin, uint64_t end)
{
	for (uint64_t i = begin; i < end; i++) {
		all->parts[i] |= (uint8_t)(1u << part);
	}
}

static void paint_kernel(struct painted *all, unsigned int k, uint64_t begin, uint64_t end)
{
	double blocks = kernels[k].grid / 132.0;

	paint(all, kernels[k].is_communication ? BUDGET_PLUGIN_COMMUNICATION : BUDGET_PLUGIN_KERNEL,
		begin, end);
	for (uint64_t i = begin; i < end; i++) {
		all->blocks[i] += blocks;
		all->is_busy[i] = true;
		/* 64 threads: 2 of 64 warps a block */
		all->occupancy[i] += (int)(100 * (blocks < 32 ? blocks : 32) * 2 / 64 + 0.5);
		all->running[i]++;
		all->tensor[i][kernels[k].tensor]++;
	}
}

/* Something runs on the device, launched by a call of that step. */
static void add_work(struct made *made, struct painted *all, uint64_t *seed, uint32_t step,
	uint64_t call_begin, uint64_t call_end)
{
	uint64_t begin = call_begin + unit_below(seed, 500), end = begin + unit_below(seed, 900);
	uint32_t what = unit_below(seed, 6);
	bool is_lone = unit_below(seed, 16) == 0;

	add_call(made, call_begin, call_end);
	if (what < 4) {
		made_kernel(made, what + 1, is_lone ? 60000 + made->correlation : made->correlation,
			begin, end);
		paint_kernel(all, what, begin, end);
	} else if (what == 4) {
		struct gprof_row_memcpy *row = gen_row(made->gen, GPROF_TABLE_memcpy);

		row->begin = begin;
		row->dur = end;
		row->place = made->place;
		row->correlation = made->correlation;
		is_lone = false;
		paint(all, BUDGET_PLUGIN_MEMCPY, begin, end);
	} else {
		struct gprof_row_memset *row = gen_row(made->gen, GPROF_TABLE_memset);

		row->begin = begin;
		row->dur = end;
		row->place = made->place;
		row->correlation = made->correlation;
		is_lone = false;
		paint(all, BUDGET_PLUGIN_MEMSET, begin, end);
	}
	if (!is_lone && end > all->device_end[step]) {
		all->device_end[step] = end;
	}
}

/* Loader, then operators with calls in and between them. */
static void add_random_step(
	struct made *made, struct painted *all, uint64_t *seed, uint32_t step, uint64_t begin)
{
	uint64_t at = begin + (step ? unit_below(seed, 20) : 0), end = begin + STEP_NS, next;

	made_step(made, begin, step);
	all->host[step] = begin;
	next = at + 1 + unit_below(seed, 200);
	made_op(made, "enumerate(DataLoader)#x.__next__", at, next, 0);
	paint(all, BUDGET_PLUGIN_DATALOADER, at, next);
	for (at = next; at + 400 < end; at = next) {
		uint64_t call = at + unit_below(seed, 100),
			 call_end = call + 1 + unit_below(seed, 60);

		next = at + 170 + unit_below(seed, 150);
		add_work(made, all, seed, step, call, call_end);
		paint(all, BUDGET_PLUGIN_RUNTIME, call, call_end);
		if (unit_below(seed, 3)) {
			made_op(made, "aten::mm", at, next, 0);
			paint(all, BUDGET_PLUGIN_CPU, at, next);
		}
	}
}

static double part_of_window(
	const struct painted *all, enum budget_plugin_part part, uint64_t begin, uint64_t end)
{
	double sum = 0;

	for (uint64_t i = begin; i < end; i++) {
		unsigned int first = BUDGET_PLUGIN_OTHER;

		for (unsigned int k = BUDGET_PLUGIN_OTHER; k-- > 0;) {
			first = all->parts[i] & 1u << k ? k : first;
		}
		sum += first == part;
	}
	return sum;
}

static void check_uses(const struct painted *all, const char *path, uint64_t begin, uint64_t end)
{
	struct table *table = tables_of(&view_gpu_summary, path, false);
	double busy = 0, sm = 0, occupancy = 0, running = 0, tensor[NR_TENSOR_USES] = {0};

	for (uint64_t i = begin; i < end; i++) {
		busy += all->is_busy[i];
		sm += all->blocks[i] < 1 ? all->blocks[i] : 1;
		occupancy += all->occupancy[i];
		running += all->running[i];
		for (unsigned int k = 0; k < NR_TENSOR_USES; k++) {
			tensor[k] += all->tensor[i][k];
		}
	}
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_double_eq_tol(
		cell(table, 0, "utilization_pct"), 100 * busy / (double)(end - begin), 1e-6);
	ck_assert_double_eq_tol(
		cell(table, 0, "sm_efficiency_pct"), 100 * sm / (double)(end - begin), 1e-4);
	ck_assert_double_eq_tol(cell(table, 0, "occupancy_pct"), occupancy / running, 1e-6);
	ck_assert_double_eq_tol(
		cell(table, 0, "tensor_pct"), 100 * tensor[TENSOR_YES] / running, 1e-6);
	ck_assert_double_eq_tol(
		cell(table, 0, "unknown_tensor_pct"), 100 * tensor[TENSOR_UNKNOWN] / running, 1e-6);
	ck_assert_str_eq(tables_cell(table, 0, "capability")->text, "9.0");
	table_destroy(table);
}

static void check_random(uint64_t seed)
{
	static struct painted all;
	struct made made = made_open("random.gprof");
	uint64_t begins[NR_STEPS + 1], ends[NR_STEPS];
	struct table *table;

	memset(&all, 0, sizeof(all));
	for (unsigned int i = 0; i < 4; i++) {
		made_shape(&made, kernels[i].name, kernels[i].grid, 64, 16, 0);
	}
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		add_random_step(&made, &all, &seed, i, 1000 + i * STEP_NS);
		if (i == 3) {
			gen_flush(made.gen);
		}
	}
	made_step(&made, 1000 + NR_STEPS * STEP_NS, NR_STEPS);
	all.host[NR_STEPS] = 1000 + NR_STEPS * STEP_NS;
	gen_close(made.gen, "exit");
	begins[NR_STEPS] = UINT64_MAX;
	for (uint32_t i = NR_STEPS; i-- > 0;) {
		uint64_t before = i ? all.host[i] : 0;

		before = i && all.device_end[i - 1] > before ? all.device_end[i - 1] : before;
		begins[i] = before > all.host[i] ? before : all.host[i];
		ends[i] = all.device_end[i] > all.host[i + 1] ? all.device_end[i] : all.host[i + 1];
		ends[i] = ends[i] < begins[i + 1] ? ends[i] : begins[i + 1];
	}
	table = tables_of(&view_breakdown, made.path, false);
	ck_assert_uint_eq(table->nr_rows, 1 + NR_STEPS);
	check_sums(table);
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		ck_assert_double_eq(cell(table, 1 + i, "total_ns"), (double)(ends[i] - begins[i]));
		for (unsigned int k = 0; k < NR_BUDGET_PLUGIN_PARTS; k++) {
			ck_assert_double_eq(cell(table, 1 + i, parts[k].key),
				part_of_window(
					&all, (enum budget_plugin_part)k, begins[i], ends[i]));
		}
	}
	table_destroy(table);
	check_uses(&all, made.path, begins[0], ends[NR_STEPS - 1]);
}

START_TEST(random_steps_are_as_painted)
{
	for (uint64_t seed = 1; seed < 40; seed++) {
		check_random(seed * 0x9e3779b97f4a7c15ull);
	}
}
END_TEST

START_TEST(without_steps_all_of_it_is_one)
{
	struct made made = made_open("none.gprof");
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);
	struct table *table;

	made_launch(&made, shape, 1000, 100, 1500, 2000);
	made_kernel(&made, shape, 999, 2500, 3000);
	gen_close(made.gen, "exit");
	table = tables_of(&view_breakdown, made.path, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_double_eq(cell(table, find_step(table, "all"), "total_ns"), 2000);
	ck_assert_double_eq(cell(table, 0, "kernel_ns"), 1000);
	ck_assert_double_eq(cell(table, 0, "runtime_ns"), 100);
	ck_assert_double_eq(cell(table, 0, "other_ns"), 900);
	table_destroy(table);
	table = tables_of(&view_gpu_summary, made.path, false);
	ck_assert_double_eq(cell(table, 0, "utilization_pct"), 50);
	table_destroy(table);
}
END_TEST

/* Adds up ns by site. */
static void give(void *context, const struct budget_site *site, uint64_t ns)
{
	((uint64_t *)context)[site->site] += ns;
}

START_TEST(calls_that_share_a_gap_divide_its_time)
{
	static const struct gap_owner all[] = {{90, 120, 1, HOST_OS}, {60, 80, 2, HOST_OS},
		{40, 60, 3, HOST_LOADER}, {10, 30, 1, HOST_OS}, {0, 5, 2, HOST_OS}};
	const struct gap_owner gap = {.begin = 20, .end = 100, .state = HOST_OS};
	const struct gap_owner empty = {.begin = 30, .end = 60, .state = HOST_OS};
	struct gap_owners owners = {0};
	uint64_t ns[4] = {0};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		gap_owners_push(&owners, &all[i]);
	}
	/* They cover 10, 20 and 10 of it, some of that in operators. */
	ck_assert(gap_owners_divide(&owners, &gap, 30, give, ns));
	ck_assert_uint_eq(ns[1], 15);
	ck_assert_uint_eq(ns[2], 15);
	ck_assert_uint_eq(ns[3], 0);
	ck_assert(!gap_owners_divide(&owners, &empty, 30, give, ns));
	gap_owners_fini(&owners);
}
END_TEST

UNIT_SUITE("report/budget", a_step_that_kernels_cover_wholly_sums_to_itself,
	each_moment_counts_for_the_first_that_covers_it, a_collection_is_a_part_wherever_it_lies,
	calls_of_the_system_are_those_of_the_loop, waits_for_the_lock_are_those_of_the_loop,
	waits_for_the_lock_keep_the_gpu_idle, calls_of_the_system_in_other_calls_keep_no_gpu_idle,
	a_gap_is_of_what_takes_most_of_it, calls_that_share_a_gap_divide_its_time,
	random_steps_are_as_painted, without_steps_all_of_it_is_one)
