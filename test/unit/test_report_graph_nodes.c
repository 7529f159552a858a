/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of graphs: what a copy stands for, and when, in whole streams and in damaged ones. */
#include <string.h>

#include "report/ops/graph_nodes.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

static struct graph_nodes graphs;
static struct process *process;

static void add_node(struct gen *gen, uint64_t id, uint64_t original, uint64_t tick)
{
	struct gprof_row_graph_node *row = gen_row(gen, GPROF_TABLE_graph_node);

	row->node = id;
	row->original = original;
	row->time = tick;
	row->thread = 1;
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

UNIT_SUITE("report/graph_nodes", copies_of_copies_stand_for_the_node_that_was_created,
	an_update_counts_from_its_time_on, what_was_created_before_the_recording_is_unknown,
	a_chain_of_copies_may_be_long, a_capture_may_be_open_during_many_others,
	a_capture_of_the_own_thread_is_preferred)
