/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of NCCL that launches of CUDA graphs run, by hand-made nodes, launches and kernels. */
#include "report/comm/nccl_ops.h"

#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

static struct gen *gen;
static struct nccl_ops ops;
static struct process *process;

static void begin(const char *name)
{
	gen = gen_open(streams_path(name));
	gen_anchor(gen, 0, 0, 0);
	gen_place(gen, 0, 1, 7);
}

static void call(uint8_t kind, uint64_t at, uint64_t bytes, uint64_t group, uint32_t comm)
{
	struct gprof_row_nccl *row = gen_row(gen, GPROF_TABLE_nccl);

	row->begin = at;
	row->dur = at + 10;
	row->thread = 1;
	row->bytes = bytes;
	row->group = group;
	row->comm = comm;
	row->kind = kind;
	row->sequence = 1;
	row->peer = -1;
}

static void node(uint64_t id, uint64_t original, uint64_t at, uint32_t thread)
{
	struct gprof_row_graph_node *row = gen_row(gen, GPROF_TABLE_graph_node);

	row->time = at;
	row->node = id;
	row->original = original;
	row->thread = thread;
}

static void launch(uint32_t correlation, uint64_t at)
{
	struct gprof_row_api_launch *row = gen_row(gen, GPROF_TABLE_api_launch);

	row->begin = at;
	row->dur = at + 5;
	row->thread = 1;
	row->correlation = correlation;
}

static void kernel(uint64_t id, uint32_t correlation, uint64_t at, uint64_t end)
{
	struct gprof_row_kernel *row = gen_row(gen, GPROF_TABLE_kernel);

	row->begin = at;
	row->dur = end;
	row->place = 1;
	row->correlation = correlation;
	row->graph = 1;
	row->graph_node = id;
}

static void read_ops(const char *name)
{
	gen_close(gen, "exit");
	process = streams_process(streams_path(name));
	ops = (struct nccl_ops){0};
	nccl_ops_read(&ops, process);
}

static void forget(void)
{
	nccl_ops_fini(&ops);
	process_destroy(process);
}

/* The operation at that place is a replay of so many bytes and ns. */
static void check_replay(size_t place, uint64_t bytes, uint64_t ns)
{
	const struct nccl_op *op = &ops.ops[place];

	ck_assert_uint_lt(place, ops.nr_ops);
	ck_assert(op->is_in_graph && !op->is_captured && !op->sequence && !op->correlation);
	ck_assert_uint_eq(op->id, place);
	ck_assert_uint_eq(op->bytes, bytes);
	ck_assert_uint_eq(op->end_ns - op->begin_ns, ns);
}

START_TEST(each_launch_of_a_graph_runs_what_was_captured)
{
	begin("replays.gprof");
	/* One call with two kernels; another thread creates a node meanwhile. */
	call(GPROF_NCCL_ALL_REDUCE, 100, 4096, 1, 1);
	node(1, 0, 103, 1);
	node(2, 0, 104, 1);
	node(3, 0, 105, 2);
	for (uint64_t id = 1; id <= 3; id++) {
		node(10 + id, id, 200, 1);
	}
	launch(7, 300);
	launch(8, 400);
	kernel(11, 7, 310, 320);
	kernel(12, 7, 315, 340);
	kernel(13, 7, 350, 360);
	kernel(11, 8, 410, 420);
	/* Nothing launched it. */
	kernel(11, 9, 510, 520);
	read_ops("replays.gprof");
	ck_assert_uint_eq(ops.nr_ops, 3);
	ck_assert(ops.ops[0].is_captured && !nccl_op_has_time(&ops.ops[0]));
	check_replay(1, 4096, 30);
	check_replay(2, 4096, 10);
	nccl_ops_drop_captured(&ops);
	ck_assert_uint_eq(ops.nr_ops, 2);
	ck_assert(ops.ops[0].is_in_graph);
	forget();
}
END_TEST

START_TEST(a_node_that_a_launch_runs_again_is_another_operation)
{
	begin("again.gprof");
	call(GPROF_NCCL_ALL_REDUCE, 100, 4096, 1, 1);
	node(1, 0, 103, 1);
	/* A loop runs node 11; nodes 21 and 22 are two copies of it in one graph. */
	node(11, 1, 200, 1);
	node(21, 1, 200, 1);
	node(22, 1, 200, 1);
	launch(7, 300);
	launch(8, 400);
	for (uint64_t i = 0; i < 3; i++) {
		kernel(11, 7, 310 + 10 * i, 315 + 10 * i);
	}
	kernel(21, 8, 410, 420);
	kernel(22, 8, 415, 425);
	read_ops("again.gprof");
	ck_assert_uint_eq(ops.nr_ops, 6);
	for (size_t i = 1; i <= 3; i++) {
		check_replay(i, 4096, 5);
	}
	check_replay(4, 4096, 10);
	check_replay(5, 4096, 10);
	forget();
}
END_TEST

START_TEST(an_update_changes_what_later_launches_run)
{
	begin("updated.gprof");
	call(GPROF_NCCL_ALL_REDUCE, 100, 4096, 1, 1);
	node(1, 0, 103, 1);
	node(11, 1, 200, 1);
	call(GPROF_NCCL_BROADCAST, 400, 128, 2, 1);
	node(2, 0, 403, 1);
	node(11, 2, 500, 1);
	launch(7, 300);
	launch(8, 600);
	kernel(11, 7, 310, 320);
	kernel(11, 8, 610, 615);
	read_ops("updated.gprof");
	ck_assert_uint_eq(ops.nr_ops, 4);
	check_replay(2, 4096, 10);
	check_replay(3, 128, 5);
	ck_assert_uint_eq(ops.ops[3].kind, GPROF_NCCL_BROADCAST);
	forget();
}
END_TEST

START_TEST(a_group_over_two_communicators_has_no_kernels)
{
	begin("two.gprof");
	call(GPROF_NCCL_ALL_REDUCE, 100, 4096, 1, 1);
	call(GPROF_NCCL_ALL_REDUCE, 110, 4096, 1, 2);
	call(GPROF_NCCL_GROUP_END, 120, 0, 1, 0);
	node(1, 0, 125, 1);
	node(11, 1, 200, 1);
	launch(7, 300);
	kernel(11, 7, 310, 320);
	read_ops("two.gprof");
	ck_assert_uint_eq(ops.nr_ops, 2);
	ck_assert(ops.ops[0].is_captured && ops.ops[1].is_captured);
	forget();
}
END_TEST

UNIT_SUITE("report/nccl_graph", each_launch_of_a_graph_runs_what_was_captured,
	a_node_that_a_launch_runs_again_is_another_operation,
	an_update_changes_what_later_launches_run, a_group_over_two_communicators_has_no_kernels)
