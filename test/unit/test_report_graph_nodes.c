/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of graphs: what a copy stands for, and when, in whole streams and in damaged ones. */
#include <string.h>

#include "report/ops/graph_nodes.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

static struct graph_nodes graphs;
static struct process *process;

static void add_member(
	struct gen *gen, uint32_t graph, uint64_t id, uint64_t original, uint64_t tick)
{
	struct gprof_row_graph_node *row = gen_row(gen, GPROF_TABLE_graph_node);

	row->node = id;
	row->original = original;
	row->time = tick;
	row->thread = 1;
	row->graph = graph;
}

static void add_node(struct gen *gen, uint64_t id, uint64_t original, uint64_t tick)
{
	add_member(gen, 0, id, original, tick);
}

static void read_nodes(const char *path)
{
	process = streams_process(path);
	memset(&graphs, 0, sizeof(graphs));
	graph_nodes_read(&graphs, process);
}

static void forget(void)
{
	graph_nodes_fini(&graphs);
	process_destroy(process);
}

/* 0: none. */
static uint64_t created(uint64_t id, uint64_t tick)
{
	const struct graph_node *node = graph_nodes_find(&graphs, id, tick);

	return node ? node->id : 0;
}

START_TEST(copies_of_copies_stand_for_the_node_that_was_created)
{
	const char *path = streams_path("copies.gprof");
	struct gen *gen = gen_open(path);

	add_node(gen, 1, 0, 100);
	add_node(gen, 2, 0, 110);
	add_node(gen, 11, 1, 200);
	add_node(gen, 21, 11, 300);
	add_node(gen, 22, 2, 300);
	gen_close(gen, "exit");
	read_nodes(path);
	ck_assert(graphs.is_known);
	ck_assert_uint_eq(graphs.nr_nodes, 2);
	ck_assert_uint_eq(created(1, 100), 1);
	ck_assert_uint_eq(created(21, 400), 1);
	ck_assert_uint_eq(created(22, 400), 2);
	ck_assert_uint_eq(created(1, 99), 0);
	ck_assert_uint_eq(created(3, 400), 0);
	ck_assert_ptr_nonnull(graph_nodes_created(&graphs, 1, 100));
	ck_assert_ptr_null(graph_nodes_created(&graphs, 1, 101));
	ck_assert_ptr_null(graph_nodes_created(&graphs, 11, 200));
	forget();
}
END_TEST

START_TEST(an_update_counts_from_its_time_on)
{
	const char *path = streams_path("update.gprof");
	struct gen *gen = gen_open(path);

	add_node(gen, 1, 0, 100);
	add_node(gen, 11, 1, 200);
	add_node(gen, 2, 0, 300);
	add_node(gen, 11, 2, 400);
	/* A copy keeps what its original stood for when the copy was made. */
	add_node(gen, 31, 11, 250);
	add_node(gen, 32, 11, 450);
	gen_close(gen, "exit");
	read_nodes(path);
	ck_assert_uint_eq(created(11, 399), 1);
	ck_assert_uint_eq(created(11, 400), 2);
	ck_assert_uint_eq(created(31, 500), 1);
	ck_assert_uint_eq(created(32, 500), 2);
	forget();
}
END_TEST

START_TEST(what_was_created_before_the_recording_is_unknown)
{
	const char *path = streams_path("unknown.gprof");
	struct gen *gen = gen_open(path);

	add_node(gen, 11, 1, 200);
	add_node(gen, 21, 11, 300);
	/* No recorder writes a circle, or a copy of itself. */
	add_node(gen, 31, 32, 400);
	add_node(gen, 32, 31, 400);
	add_node(gen, 33, 33, 400);
	gen_close(gen, "exit");
	read_nodes(path);
	ck_assert(graphs.is_known);
	ck_assert_uint_eq(graphs.nr_nodes, 0);
	for (uint64_t id = 11; id <= 33; id++) {
		ck_assert_uint_eq(created(id, 500), 0);
	}
	forget();
}
END_TEST

START_TEST(a_chain_of_copies_may_be_long)
{
	const char *path = streams_path("chain.gprof");
	struct gen *gen = gen_open(path);

	add_node(gen, 1, 0, 100);
	for (uint64_t id = 2; id <= 1000; id++) {
		add_node(gen, id, id - 1, 100 + id / 2); /* two at the same tick */
	}
	gen_close(gen, "exit");
	read_nodes(path);
	ck_assert_uint_eq(created(1000, 1000), 1);
	ck_assert_uint_eq(created(999, 1000), 1);
	forget();
}
END_TEST

START_TEST(a_capture_may_be_open_during_many_others)
{
	struct phases phases = {0};

	memset(&graphs, 0, sizeof(graphs));
	graph_nodes_add_capture(
		&graphs, &(struct graph_capture){.begin = 1, .end = 5000, .thread = 1});
	for (uint64_t i = 0; i < 1000; i++) {
		graph_nodes_add_capture(
			&graphs, &(struct graph_capture){
					 .begin = 10 + 4 * i, .end = 12 + 4 * i, .thread = 2});
	}
	graph_nodes_finish(&graphs, &phases);
	ck_assert_uint_eq(graph_nodes_capture(&graphs, 4500, 1)->begin, 1);
	ck_assert_uint_eq(graph_nodes_capture(&graphs, 4005, 1)->begin, 1);
	ck_assert_ptr_null(graph_nodes_capture(&graphs, 5001, 1));
	graph_nodes_fini(&graphs);
}
END_TEST

START_TEST(a_capture_of_the_own_thread_is_preferred)
{
	const struct graph_capture captures[] = {{.begin = 100, .end = 500, .thread = 1},
		{.begin = 200, .end = 300, .thread = 2}, {.begin = 600, .end = 700, .thread = 1}};
	struct phases phases = {0};

	memset(&graphs, 0, sizeof(graphs));
	ck_assert_ptr_null(graph_nodes_capture(&graphs, 100, 1));
	for (size_t i = 3; i-- > 0;) {
		graph_nodes_add_capture(&graphs, &captures[i]);
	}
	graph_nodes_finish(&graphs, &phases);
	ck_assert_uint_eq(graph_nodes_capture(&graphs, 250, 1)->begin, 100);
	ck_assert_uint_eq(graph_nodes_capture(&graphs, 250, 2)->begin, 200);
	ck_assert_uint_eq(graph_nodes_capture(&graphs, 250, 3)->begin, 200);
	ck_assert_uint_eq(graph_nodes_capture(&graphs, 400, 3)->begin, 100);
	ck_assert_uint_eq(graph_nodes_capture(&graphs, 700, 9)->begin, 600);
	ck_assert_ptr_null(graph_nodes_capture(&graphs, 99, 1));
	ck_assert_ptr_null(graph_nodes_capture(&graphs, 550, 1));
	graph_nodes_fini(&graphs);
}
END_TEST

static unsigned int nr_members[8], nr_unknown;

static void count_member(void *context, const struct graph_member *member)
{
	ck_assert_ptr_eq(context, &graphs);
	nr_members[member->graph]++;
	nr_unknown += member->is_capture_unknown;
}

static void count_members(struct gen *gen, const char *path)
{
	gen_close(gen, "exit");
	read_nodes(path);
	memset(nr_members, 0, sizeof(nr_members));
	nr_unknown = 0;
	graph_nodes_each_member(&graphs, count_member, &graphs);
	forget();
}

START_TEST(a_graph_has_the_nodes_that_each_of_its_copies_has)
{
	const char *path = streams_path("members.gprof");
	struct gen *gen = gen_open(path);

	/* Graph 1 is instantiated twice (2 and 3), graph 4 never, graph 0 has no ID. */
	add_member(gen, 1, 1, 0, 100);
	add_member(gen, 1, 2, 0, 110);
	for (uint32_t copy = 2; copy <= 3; copy++) {
		add_member(gen, copy, 10 * copy + 1, 1, 100 * copy);
		add_member(gen, copy, 10 * copy + 2, 2, 100 * copy);
	}
	add_member(gen, 4, 41, 0, 500);
	add_member(gen, 0, 51, 0, 500);
	count_members(gen, path);
	ck_assert_uint_eq(nr_members[1], 2);
	ck_assert_uint_eq(nr_members[2], 2);
	ck_assert_uint_eq(nr_members[3], 2);
	ck_assert_uint_eq(nr_members[4], 1);
	ck_assert_uint_eq(nr_members[0], 0);
	ck_assert_uint_eq(nr_unknown, 0);
}
END_TEST

START_TEST(the_nodes_of_a_graph_that_changed_are_unknown)
{
	const char *path = streams_path("changed.gprof");
	struct gen *gen = gen_open(path);

	/* Graph 1 gets a node between two instantiations. */
	add_member(gen, 1, 1, 0, 100);
	add_member(gen, 2, 21, 1, 200);
	add_member(gen, 1, 2, 0, 300);
	add_member(gen, 3, 31, 1, 400);
	add_member(gen, 3, 32, 2, 400);
	/* The executable copy 5 of graph 4 is updated with graph 6. */
	add_member(gen, 4, 41, 0, 500);
	add_member(gen, 5, 51, 41, 600);
	add_member(gen, 6, 61, 0, 700);
	add_member(gen, 5, 51, 61, 800);
	count_members(gen, path);
	ck_assert_uint_eq(nr_members[1], 0);
	ck_assert_uint_eq(nr_members[3], 2);
	ck_assert_uint_eq(nr_members[4], 0);
	ck_assert_uint_eq(nr_members[5], 0);
	ck_assert_uint_eq(nr_members[6], 1);
}
END_TEST

START_TEST(a_graph_that_was_captured_in_part_is_unknown_but_its_copy_is_whole)
{
	const char *path = streams_path("part.gprof");
	struct gen *gen = gen_open(path);

	/* Node 2 of graph 1 has no row; nor do copies of themselves end the search. */
	add_member(gen, 1, 1, 0, 100);
	add_member(gen, 2, 21, 1, 200);
	add_member(gen, 2, 22, 2, 200);
	add_member(gen, 3, 31, 31, 300);
	add_member(gen, 4, 41, 42, 300);
	add_member(gen, 4, 42, 41, 300);
	count_members(gen, path);
	ck_assert_uint_eq(nr_members[1], 0);
	ck_assert_uint_eq(nr_members[2], 2);
	ck_assert_uint_ge(nr_unknown, 1);
}
END_TEST

UNIT_SUITE("report/graph_nodes", a_graph_has_the_nodes_that_each_of_its_copies_has,
	the_nodes_of_a_graph_that_changed_are_unknown,
	a_graph_that_was_captured_in_part_is_unknown_but_its_copy_is_whole,
	copies_of_copies_stand_for_the_node_that_was_created, an_update_counts_from_its_time_on,
	what_was_created_before_the_recording_is_unknown, a_chain_of_copies_may_be_long,
	a_capture_may_be_open_during_many_others, a_capture_of_the_own_thread_is_preferred)
