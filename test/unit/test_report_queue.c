/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/queue_depth.h"

#include "report/analysis/view.h"
#include "test/unit/report_scene.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

enum { TIMES = 40000 };

/* The plain way: the length at each moment. */
struct plain {
	uint64_t nr, max, empty, area, first, last;
};

static struct plain count(const struct scene *scene, uint32_t device, uint32_t stream)
{
	static int changes[TIMES + 1];
	struct plain plain = {.first = TIMES};
	int length = 0;

	for (int t = 0; t <= TIMES; t++) {
		changes[t] = 0;
	}
	for (uint32_t i = 0; i < scene->nr_activities; i++) {
		const struct scene_work *work = &scene->works[i];

		if (work->device != device || work->stream != stream || !work->has_call) {
			continue;
		}
		ck_assert_uint_lt(work->begin, TIMES);
		plain.nr++;
		plain.first = work->call_begin < plain.first ? work->call_begin : plain.first;
		plain.last = work->begin > plain.last ? work->begin : plain.last;
		changes[work->call_begin]++;
		changes[work->begin]--;
	}
	for (uint64_t t = plain.first; t < plain.last; t++) {
		length += changes[t];
		plain.area += (uint64_t)length;
		plain.empty += !length;
		plain.max = (uint64_t)length > plain.max ? (uint64_t)length : plain.max;
	}
	return plain;
}

static void check_stream(const struct table *table, size_t row, const struct scene *scene)
{
	struct plain plain = count(scene, (uint32_t)tables_number(table, row, "device"),
		(uint32_t)tables_number(table, row, "stream"));
	double span = (double)(plain.last - plain.first);

	ck_assert_uint_eq(tables_number(table, row, "launches"), plain.nr);
	ck_assert_uint_eq(tables_number(table, row, "max_length"), plain.max);
	ck_assert_uint_eq(tables_number(table, row, "span_ns"), plain.last - plain.first);
	ck_assert_uint_eq(tables_number(table, row, "blocked"), 0);
	ck_assert_double_eq_tol(
		tables_cell(table, row, "avg_length")->number, (double)plain.area / span, 1e-9);
	ck_assert_double_eq_tol(tables_cell(table, row, "empty_pct")->number,
		100 * (double)plain.empty / span, 1e-9);
	ck_assert_double_le(tables_cell(table, row, "full_pct")->number, 0);
}

START_TEST(lengths_are_those_of_a_count_at_each_moment)
{
	uint64_t seed = 31;

	for (int round = 0; round < 60; round++) {
		struct scene scene;
		struct table *table;
		uint64_t nr = 0, nr_known = 0;

		scene_make(&scene, &seed, round % 2);
		table = tables_of(&view_queue, scene_write(&scene, "queue", &seed), false);
		for (size_t i = 0; i < table->nr_rows; i++) {
			check_stream(table, i, &scene);
			nr += tables_number(table, i, "launches");
		}
		for (uint32_t i = 0; i < scene.nr_activities; i++) {
			nr_known += scene.works[i].has_call;
		}
		ck_assert_uint_eq(nr, nr_known);
		table_destroy(table);
	}
}
END_TEST

START_TEST(a_full_queue_holds_the_host_up)
{
	enum { NR = 30000, AHEAD = 1022 };
	struct queue_depth queue = {0};

	/* One begins every 10 ns; the host is 1,022 ahead from the 1,022nd launch on. */
	for (uint64_t i = NR; i-- > 0;) {
		uint64_t begin = 100000 + 10 * i;
		uint64_t call = i < AHEAD ? 10 * i : 100000 + 10 * (i - AHEAD) + 5;

		queue_depth_add(&queue, call, call + 7, begin);
	}
	queue_depth_finish(&queue);
	ck_assert_uint_eq(queue.nr, NR);
	ck_assert_uint_eq(queue.max, AHEAD);
	/* Until 1,000 are left at the end; from the 1,000th call on. */
	ck_assert_uint_eq(
		queue.full_ns, 100000 + 10 * (NR - QUEUE_DEPTH_FULL) - 10 * (QUEUE_DEPTH_FULL - 1));
	ck_assert_uint_eq(queue.nr_blocked, NR - QUEUE_DEPTH_FULL);
	ck_assert_uint_eq(queue.blocked_ns, 7 * (NR - QUEUE_DEPTH_FULL));
	ck_assert_uint_eq(queue.empty_ns, 0);
	/* What it holds is the queue, not all calls. */
	ck_assert_uint_lt(queue.capacity, 5 * AHEAD);
	queue_depth_fini(&queue);
}
END_TEST

START_TEST(work_before_its_call_and_out_of_turn_makes_nothing_negative)
{
	struct queue_depth queue = {0};
	uint64_t seed = 9;

	queue_depth_finish(&queue);
	ck_assert_uint_eq(queue.nr, 0);
	for (uint64_t i = 2000; i-- > 0;) {
		uint64_t call = 20 * i + unit_random(&seed) % 500;

		queue_depth_add(&queue, call, call - 3, unit_random(&seed) % 60000);
	}
	queue_depth_finish(&queue);
	ck_assert_uint_le(queue.max, 2000);
	ck_assert_uint_le(queue.empty_ns + queue.full_ns, 60000);
	queue_depth_fini(&queue);
}
END_TEST

/* Delays by the plain way: of all that is launched under that name. */
static void check_launches(const struct table *table, const struct scene *scene, const char *name,
	enum scene_kind kind, uint8_t number)
{
	uint64_t nr = 0, total = 0, min = UINT64_MAX, max = 0, nr_short = 0;
	size_t row;

	for (uint32_t i = 0; i < scene->nr_activities; i++) {
		const struct scene_work *work = &scene->works[i];
		uint64_t delay = work->begin - work->call_end;

		if (work->kind == kind && work->has_call &&
			(kind == SCENE_COMMUNICATION || work->name == number)) {
			nr++;
			total += delay;
			min = delay < min ? delay : min;
			max = delay > max ? delay : max;
			nr_short += work->end - work->begin < work->call_end - work->call_begin;
		}
	}
	if (!nr) {
		return;
	}
	row = tables_find(table, "name", name, 0);
	ck_assert_uint_eq(tables_number(table, row, "calls"), nr);
	ck_assert_uint_eq(tables_number(table, row, "total_ns"), total);
	ck_assert_uint_eq(tables_number(table, row, "min_ns"), min);
	ck_assert_uint_eq(tables_number(table, row, "max_ns"), max);
	ck_assert_uint_eq(tables_number(table, row, "short"), nr_short);
}

START_TEST(delays_are_from_calls_to_work_by_correlation)
{
	static const char *const names[] = {"gemm", "softmax", "relu", "adam"};
	uint64_t seed = 41;

	for (int round = 0; round < 20; round++) {
		struct scene scene;
		struct table *table;

		scene_make(&scene, &seed, round % 2);
		table = tables_of(
			&view_launch_latency, scene_write(&scene, "launch", &seed), false);
		for (uint8_t i = 0; i < 4; i++) {
			check_launches(table, &scene, names[i], SCENE_COMPUTATION, i);
		}
		check_launches(table, &scene,
			"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, "
			"ncclWork*)",
			SCENE_COMMUNICATION, 0);
		table_destroy(table);
	}
}
END_TEST

/* A launch of a graph with three nodes, which begin in another order than they stand. */
START_TEST(a_graph_counts_once_from_its_first_begin_to_its_last_end)
{
	static const struct {
		uint64_t begin, end;
	} nodes[] = {{900, 1000}, {500, 800}, {700, 950}};
	const char *path = streams_path("graph");
	struct gen *gen = gen_open(path);
	uint16_t launch = gen_call(gen, "cudaGraphLaunch", GPROF_API_RUNTIME);
	uint32_t place = gen_place(gen, 0, 1, 7);
	struct gprof_row_api_launch *call;
	struct table *table;

	gen_anchor(gen, 1000, 1000, 1000);
	call = gen_row(gen, GPROF_TABLE_api_launch);
	call->begin = 1100;
	call->dur = 1300;
	call->thread = 1;
	call->call = launch;
	call->correlation = 5;
	for (int i = 0; i < 3; i++) {
		struct gprof_row_kernel *row = gen_row(gen, GPROF_TABLE_kernel);

		row->begin = 1000 + nodes[i].begin;
		row->dur = 1000 + nodes[i].end;
		row->place = place;
		row->correlation = 5;
		row->graph = 1;
		row->graph_node = 1 + (uint64_t)i;
	}
	gen_close(gen, "exit");
	table = tables_of(&view_launch_latency, path, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_str_eq(tables_name(table, 0), "cudaGraphLaunch");
	ck_assert_uint_eq(tables_number(table, 0, "calls"), 1);
	ck_assert_uint_eq(tables_number(table, 0, "total_ns"), 200);
	ck_assert_double_eq_tol(tables_cell(table, 0, "activity_avg_ns")->number, 500, 1e-9);
	table_destroy(table);
	table = tables_of(&view_queue, path, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "launches"), 1);
	ck_assert_double_eq_tol(tables_cell(table, 0, "avg_wait_ns")->number, 400, 1e-9);
	table_destroy(table);
}
END_TEST

START_TEST(nonsense_is_no_harm)
{
	tables_of_nonsense(&view_launch_latency, false);
	tables_of_nonsense(&view_queue, false);
}
END_TEST

UNIT_SUITE("report/queue", lengths_are_those_of_a_count_at_each_moment,
	a_full_queue_holds_the_host_up, work_before_its_call_and_out_of_turn_makes_nothing_negative,
	delays_are_from_calls_to_work_by_correlation,
	a_graph_counts_once_from_its_first_begin_to_its_last_end, nonsense_is_no_harm)
