/* SPDX-License-Identifier: Apache-2.0 */
/* What hosts communicate, against a computation that paints every nanosecond. */
#include "report/comm/host_collectives.h"

#include <stdlib.h>
#include <string.h>

#include "report/comm/nccl_ops.h"
#include "report/ops/counted_steps.h"
#include "test/unit/report_made.h"

#define ALL_NS	20000u
#define NR_ROWS 60u
#define STEP_NS 4000u

enum { COMPUTES = 1, COMMUNICATES = 2 };

static unsigned char running[ALL_NS];

static void paint(uint64_t begin, uint64_t end, unsigned char what)
{
	for (uint64_t t = begin; t < end; t++) {
		running[t] |= what;
	}
}

/* Moments of [begin, end) at which all of `what` run. */
static uint64_t count(uint64_t begin, uint64_t end, unsigned char what)
{
	uint64_t nr = 0;

	for (uint64_t t = begin; t < end; t++) {
		nr += (running[t] & what) == what;
	}
	return nr;
}

static void check_row(const struct table *table, size_t row, uint64_t begin, uint64_t end)
{
	ck_assert_uint_eq(tables_number(table, row, "time_ns"), end - begin);
	ck_assert_uint_eq(tables_number(table, row, "computation_ns"), count(begin, end, COMPUTES));
	ck_assert_uint_eq(
		tables_number(table, row, "communication_ns"), count(begin, end, COMMUNICATES));
	ck_assert_uint_eq(tables_number(table, row, "overlap_ns"),
		count(begin, end, COMPUTES | COMMUNICATES));
}

/* Operators, what is none, and calls, as they end on three threads; blocks are of a few rows. */
static struct made make(const char *name, uint64_t *seed, bool has_kernels)
{
	static const struct {
		const char *name;
		uint8_t scope;
		unsigned char what;
	} ops[] = {{"aten::mm", 0, COMPUTES}, {"AddBackward0", 1, COMPUTES},
		{"gloo:all_reduce", 7, COMMUNICATES}, {"mpi:send", 7, COMMUNICATES},
		{"c10d::allreduce_", 0, 0}, {"_c10d_functional::wait_tensor", 0, 0},
		{"autograd::engine::evaluate_function: AddBackward0", 1, 0}, {"mine", 7, 0},
		{"enumerate(DataLoader)#x.__next__", 7, 0}, {"nccl:all_reduce", 7, 0}};
	struct made made = made_open(name);
	uint32_t shape = made_shape(&made, "k", 1, 32, 16, 0);

	memset(running, 0, sizeof(running));
	if (has_kernels) {
		made_launch(&made, shape, 4000, 100, 5000, 9000);
		paint(5000, 9000, COMPUTES);
	}
	for (uint64_t i = 0; i < ALL_NS / STEP_NS; i++) {
		made_step(&made, i * STEP_NS, i);
	}
	for (uint32_t i = 0; i < NR_ROWS; i++) {
		uint32_t which = (uint32_t)(unit_random(seed) % (sizeof(ops) / sizeof(ops[0])));
		uint64_t end = (i + 1) * (ALL_NS / NR_ROWS), ns = unit_random(seed) % 1500;
		uint64_t begin = end > ns ? end - ns : 0;
		struct gprof_row_op *row = gen_op(made.gen, ops[which].name, begin, end);
		bool counts = ops[which].what & (has_kernels ? COMMUNICATES : 3);

		row->scope = ops[which].scope;
		row->thread = i % 3 + 1;
		paint(begin, end, counts ? ops[which].what : 0);
		if (unit_random(seed) % 4 == 0) {
			gen_flush(made.gen);
		}
	}
	return made;
}

/* The row is the sum of those of the steps that count. The first begins with the loop. */
static void check_counted(const struct table *whole, const struct table *steps, const char *path)
{
	static const char *const keys[] = {"computation_ns", "communication_ns", "overlap_ns"};
	struct process *process = streams_process(path);
	struct counted_steps counted;
	struct phases phases;
	uint64_t ns;

	counted_steps_init(&counted, process, false);
	phases_init(&phases, process);
	ck_assert_uint_gt(counted_steps_sum(&counted, &phases, &ns), 0);
	ck_assert_uint_eq(tables_number(whole, 0, "time_ns"), ns);
	phases_fini(&phases);
	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < steps->nr_rows; i++) {
			sum += counted.counts[i + 1] ? tables_number(steps, i, keys[k]) : 0;
		}
		ck_assert_uint_eq(tables_number(whole, 0, keys[k]), sum);
	}
	counted_steps_fini(&counted);
	process_destroy(process);
}

START_TEST(times_are_those_of_a_flag_for_each_moment)
{
	uint64_t seed = 11, nr_checked = 0;

	for (int round = 0; round < 40; round++) {
		struct made made = make("painted.gprof", &seed, round % 2);
		struct table *whole, *steps;

		gen_close(made.gen, "exit");
		whole = tables_of(&view_distributed, made.path, false);
		steps = tables_of(&view_distributed, made.path, true);
		ck_assert_uint_eq(whole->nr_rows, 1);
		ck_assert(tables_cell(whole, 0, "device")->is_known == (round % 2 == 1));
		check_counted(whole, steps, made.path);
		ck_assert_uint_eq(steps->nr_rows, ALL_NS / STEP_NS - 1);
		for (size_t i = round % 2 ? 2 : 0; i < steps->nr_rows; i++) {
			check_row(steps, i, i * STEP_NS, (i + 1) * STEP_NS);
			nr_checked++;
		}
		table_destroy(whole);
		table_destroy(steps);
	}
	ck_assert_uint_eq(nr_checked, 20 * 4 + 20 * 2);
}
END_TEST

struct taken {
	struct host_collective comms[8];
	size_t nr;
};

static void take(void *context, const struct host_collective *comm)
{
	struct taken *taken = context;

	ck_assert_uint_lt(taken->nr, 8);
	taken->comms[taken->nr++] = *comm;
}

static struct taken read_calls(const char *path)
{
	struct process *process = streams_process(path);
	struct taken taken = {.nr = 0};

	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(process->stream, i) == GPROF_TABLE_op) {
			ck_assert_int_eq(
				stream_load(process->stream, i, HOST_COLLECTIVE_MASK, 0, &batch),
				0);
			host_collective_scan(process, &batch, false, take, &taken);
		}
	}
	process_destroy(process);
	return taken;
}

START_TEST(sizes_are_those_of_tensors_or_unknown)
{
	static const struct {
		const char *shape;
		uint64_t bytes;
		bool has_bytes;
	} shapes[] = {{"float32[3,5], int64[2]", 76, true}, {"bfloat16[]", 2, true},
		{"float32[0,7]", 0, true}, {"float32[3], ?", 0, false}, {"float32[3", 0, false},
		{"float32[4294967296,4294967296]", 0, false}, {"scalar, float32[3]", 0, false},
		{"bits8[3]", 0, false}};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct made made = made_open("sizes.gprof");
		uint32_t shape = gen_op_shape(made.gen, shapes[i].shape);
		struct taken taken;

		gen_op(made.gen, "gloo:all_reduce", 10, 20)->op_shape = shape;
		gen_close(made.gen, "exit");
		taken = read_calls(made.path);
		ck_assert_uint_eq(taken.nr, 1);
		ck_assert_msg(
			taken.comms[0].has_bytes == shapes[i].has_bytes, "%s", shapes[i].shape);
		ck_assert_uint_eq(shapes[i].has_bytes ? taken.comms[0].bytes : 0, shapes[i].bytes);
	}
}
END_TEST

START_TEST(names_tell_the_library_and_the_kind)
{
	static const struct {
		const char *name;
		enum host_collective_library library;
		uint8_t kind;
	} names[] = {{"gloo:all_reduce", HOST_COLLECTIVE_GLOO, GPROF_NCCL_ALL_REDUCE},
		{"gloo:sparse_all_reduce", HOST_COLLECTIVE_GLOO, GPROF_NCCL_ALL_REDUCE},
		{"gloo:recvAnySource", HOST_COLLECTIVE_GLOO, GPROF_NCCL_RECV},
		{"mpi:barrier", HOST_COLLECTIVE_MPI, NCCL_OPS_BARRIER},
		{"ucc:all_to_all", HOST_COLLECTIVE_UCC, GPROF_NCCL_ALL_TO_ALL},
		{"ucc:news", HOST_COLLECTIVE_UCC, 0}};
	static const char *const others[] = {"nccl:all_reduce", "gloo", "aten::all_reduce", ""};
	struct made made = made_open("names.gprof");
	struct taken taken;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		gen_op(made.gen, names[i].name, 10, 20 + i)->scope = 7;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		gen_op(made.gen, others[i], 10, 30 + i)->scope = 7;
	}
	gen_close(made.gen, "exit");
	taken = read_calls(made.path);
	ck_assert_uint_eq(taken.nr, sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < taken.nr; i++) {
		ck_assert_uint_eq(taken.comms[i].library, names[i].library);
		ck_assert_uint_eq(taken.comms[i].kind, names[i].kind);
		ck_assert_uint_eq(taken.comms[i].end, 20 + i);
	}
}
END_TEST

/* Adds an all-reduce of a process. */
static void add(
	struct nccl_ops *ops, uint32_t process, uint64_t bytes, uint64_t begin, uint64_t end)
{
	ops->ops[ops->nr_ops] = (struct nccl_op){.process = process,
		.bytes = bytes,
		.begin_ns = begin,
		.end_ns = end,
		.boot = 1,
		.id = (uint32_t)ops->nr_ops,
		.kind = GPROF_NCCL_ALL_REDUCE,
		.library = HOST_COLLECTIVE_GLOO};
	ops->nr_ops++;
}

static size_t nr_matched(const struct nccl_ops *ops)
{
	size_t nr = 0;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		nr += ops->ops[i].is_matched;
		ck_assert_uint_eq(ops->ops[i].nr_ranks, ops->ops[i].is_matched ? 2 : 0);
	}
	return nr;
}

START_TEST(collectives_match_by_their_order)
{
	struct nccl_op all[16];
	struct nccl_ops ops = {.ops = all};

	/* The second process comes later. Those of another size may begin in any order. */
	for (uint32_t process = 0; process < 2; process++) {
		for (uint64_t i = 0; i < 3; i++) {
			add(&ops, process, 8, 100 * i + 40 * process, 100 * i + 60);
		}
		add(&ops, process, 16, process ? 95 : 105, 160);
		/* The first ends before the second begins, so they are not the same. */
		add(&ops, process, 24, 300 + 20 * process, 310 + 20 * process);
	}
	/* The other process has none of that size. */
	add(&ops, 1, 32, 400, 410);
	ck_assert_uint_eq(host_collective_match(&ops), 4);
	ck_assert_uint_eq(nr_matched(&ops), 8);
	for (size_t i = 0; i < 8; i += 2) {
		ck_assert_uint_eq(all[i].bytes, all[i + 1].bytes);
		ck_assert_uint_eq(all[i].sequence, all[i + 1].sequence);
		ck_assert_uint_eq(all[i].key, i + 1);
		ck_assert_uint_eq(all[i + 1].key, i + 1);
		ck_assert_uint_eq(all[i].process, 0);
		ck_assert_uint_eq(all[i + 1].process, 1);
	}
}
END_TEST

START_TEST(collectives_match_on_one_clock_only)
{
	struct nccl_op all[2];
	struct nccl_ops ops = {.ops = all};

	add(&ops, 0, 8, 10, 30);
	add(&ops, 1, 8, 20, 30);
	all[1].boot = 2;
	ck_assert_uint_eq(host_collective_match(&ops), 0);
	all[0].boot = all[1].boot = 0;
	ck_assert_uint_eq(host_collective_match(&ops), 0);
	all[0].boot = all[1].boot = 1;
	ck_assert_uint_eq(host_collective_match(&ops), 1);
}
END_TEST

UNIT_SUITE("report/host_comm", times_are_those_of_a_flag_for_each_moment,
	sizes_are_those_of_tensors_or_unknown, names_tell_the_library_and_the_kind,
	collectives_match_by_their_order, collectives_match_on_one_clock_only)
