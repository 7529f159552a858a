/* SPDX-License-Identifier: Apache-2.0 */
#include "report/replay/replay.h"

#include <string.h>

#include "report/util/string_pool.h"
#include "test/unit/unit.h"

enum { LOOP = 1, AUTOGRAD, NAME_OP = 10, NAME_CALL, NAME_BACKWARD, MOST = 64 };

/* Two equal steps, of which the second is replayed; times in us. */
struct world {
	struct step_item items[MOST];
	struct step_activity records[MOST];
	struct step_event events[MOST];
	struct step_events step;
	uint32_t kernel, collective, copy;
};

static struct world world;

static uint64_t us(uint64_t time)
{
	return 1000 * time;
}

static void begin_world(uint64_t length)
{
	memset(&world, 0, sizeof(world));
	world.kernel = string_pool_intern("gemm", 4);
	world.collective = string_pool_intern("ncclDevKernel_AllReduce", 23);
	world.copy = string_pool_intern("Memcpy HtoD", 11);
	world.step = (struct step_events){.begin = us(length),
		.end = us(2 * length),
		.thread = LOOP,
		.number = 1,
		.items = world.items,
		.records = world.records,
		.events = world.events};
}

static struct step_item *add_item(uint32_t thread, uint64_t begin, uint64_t end)
{
	struct step_item *item = &world.items[world.step.nr_items++];

	*item = (struct step_item){
		.begin = us(begin), .end = us(end), .thread = thread, .name = NAME_OP};
	return item;
}

static struct step_item *add_call(uint32_t thread, uint64_t begin, uint64_t end, uint8_t role)
{
	struct step_item *item = add_item(thread, begin, end);

	item->is_call = true;
	item->name = NAME_CALL;
	item->role = role;
	item->stream = 7;
	item->correlation = (uint32_t)world.step.nr_items;
	return item;
}

/* What a call of 10 us launches. */
static struct step_activity *launch(uint32_t thread, uint64_t call, uint64_t begin, uint64_t end)
{
	struct step_item *item = add_call(thread, call, call + 10, CALL_LAUNCHES);
	struct step_activity *activity = &world.records[world.step.nr_records++];

	*activity = (struct step_activity){.begin = us(begin),
		.end = us(end),
		.call_begin = item->begin,
		.call_end = item->end,
		.stream = 7,
		.thread = thread,
		.correlation = item->correlation,
		.name = world.kernel};
	return activity;
}

static uint64_t run_change(const struct replay_change *change)
{
	struct replay_graph *graph = replay_create(&world.step, NULL);
	struct replay_result result;

	replay_run(graph, change, &result);
	replay_destroy(graph);
	return result.step_ns / 1000;
}

static uint64_t without(enum replay_removal removal)
{
	return run_change(&(struct replay_change){.removals = 1u << removal});
}

/* Each step: the loader 50, an operator of 20 with a launch, a kernel of 100, the loop waits. */
static void make_waiting_loop(void)
{
	begin_world(200);
	for (uint64_t at = 0; at < 400; at += 200) {
		add_item(LOOP, at, at + 50)->is_loader = true;
		add_item(LOOP, at + 50, at + 70);
		launch(LOOP, at + 55, at + 70, at + 170);
		add_call(LOOP, at + 75, at + 175, CALL_WAITS_STREAM);
	}
}

START_TEST(an_unchanged_replay_takes_what_was_measured)
{
	make_waiting_loop();
	ck_assert_uint_eq(run_change(NULL), 200);
}
END_TEST

START_TEST(a_step_is_shorter_by_what_it_waits_for)
{
	make_waiting_loop();
	ck_assert_uint_eq(without(REPLAY_NO_LOADER), 150);
	ck_assert_uint_eq(without(REPLAY_NO_COMM), 200);
	ck_assert_uint_eq(without(REPLAY_NO_STRAGGLERS), 200);
}
END_TEST

/* Without the wait the next batch is loaded while the kernel runs: 97 us of the wait are left out.
 */
START_TEST(the_host_runs_ahead_of_the_device)
{
	make_waiting_loop();
	ck_assert_uint_eq(without(REPLAY_NO_SYNC), 103);
}
END_TEST

static uint32_t no_scale(void *context, uint32_t name, enum replay_item item)
{
	(void)context;
	(void)item;
	(void)name;
	return 0;
}

static uint32_t is_backward(void *context, uint32_t name, enum replay_item item)
{
	(void)context;
	return item == REPLAY_ITEM_OPERATOR && name == NAME_BACKWARD;
}

static uint32_t no_collective(void *context, uint64_t correlation)
{
	(void)context;
	(void)correlation;
	return 0;
}

/* Backward runs on another thread, from 40 to 140, and launches a kernel that ends in it. */
START_TEST(the_loop_waits_for_the_thread_that_fills_its_gap)
{
	const struct replay_names backward = {is_backward, no_collective, NULL, NULL, false, NULL};
	const struct replay_change half = {.scales = 1, .factors = {0.5}};
	struct replay_graph *graph;
	struct replay_result result;

	begin_world(200);
	for (uint64_t at = 0; at < 400; at += 200) {
		add_item(LOOP, at, at + 30);
		add_item(AUTOGRAD, at + 40, at + 140)->name = NAME_BACKWARD;
		add_item(LOOP, at + 150, at + 200);
	}
	ck_assert_uint_eq(run_change(NULL), 200);
	/* Half of its 100 us, not the 10 before and after it. */
	graph = replay_create(&world.step, &backward);
	replay_run(graph, &half, &result);
	ck_assert_uint_eq(result.step_ns, us(150));
	replay_destroy(graph);
}
END_TEST

/* Two operators, and between them code of which a range covers a part, from 40 to 70 of each 100.
 */
START_TEST(a_range_of_the_user_lies_between_operators)
{
	const struct replay_names range = {is_backward, no_collective, NULL, NULL, false, NULL};
	struct replay_change change = {.scales = 1};
	struct replay_graph *graph;
	struct replay_result result;

	begin_world(100);
	for (uint64_t at = 0; at < 200; at += 100) {
		struct step_item *item;

		add_item(LOOP, at, at + 20);
		item = add_item(LOOP, at + 40, at + 70);
		item->is_range = true;
		item->name = NAME_BACKWARD;
		add_item(LOOP, at + 80, at + 100);
	}
	graph = replay_create(&world.step, &range);
	ck_assert(replay_has(graph, &change));
	replay_run(graph, NULL, &result);
	ck_assert_uint_eq(result.step_ns, us(100));
	replay_run(graph, &change, &result);
	ck_assert_uint_eq(result.step_ns, us(70));
	change.factors[0] = 0.5;
	replay_run(graph, &change, &result);
	ck_assert_uint_eq(result.step_ns, us(85));
	replay_destroy(graph);
}
END_TEST

/* Two streams: the second kernel waits for the first by an event; correlation IDs 1 to 4 a step. */
START_TEST(a_stream_waits_for_an_event)
{
	struct step_activity *second;

	begin_world(100);
	for (uint64_t at = 0; at < 200; at += 100) {
		uint32_t id = at ? 11 : 1;
		struct step_activity *first = launch(LOOP, at, at + 10, at + 60);

		world.items[world.step.nr_items - 1].correlation = first->correlation = id;
		world.events[world.step.nr_events++] =
			(struct step_event){.stream = 7, .event = 3, .correlation = id + 1};
		world.events[world.step.nr_events++] = (struct step_event){
			.stream = 8, .event = 3, .correlation = id + 2, .is_wait = true};
		second = launch(LOOP, at + 20, at + 60, at + 100);
		second->stream = 8;
		second->name = world.copy;
		second->is_copy = true;
		world.items[world.step.nr_items - 1].stream = 8;
		world.items[world.step.nr_items - 1].correlation = second->correlation = id + 3;
	}
	ck_assert_uint_eq(run_change(NULL), 100);
	/* The copy follows the kernel: without it, what the kernel and the host need is left. */
	ck_assert_uint_eq(without(REPLAY_NO_COPIES), 100);
	world.step.end = us(160);
	ck_assert_uint_eq(run_change(NULL), 100);
	ck_assert_uint_eq(without(REPLAY_NO_COPIES), 60);
}
END_TEST

/* ---- what the device needs ---- */

/*
 * A kernel of 50 on each of two streams; the host waits for the first before it launches the
 * second.
 */
static void make_streams(void)
{
	begin_world(200);
	for (uint64_t at = 0; at < 400; at += 200) {
		struct step_activity *second;

		launch(LOOP, at, at + 10, at + 60);
		add_call(LOOP, at + 15, at + 65, CALL_WAITS_STREAM);
		second = launch(LOOP, at + 70, at + 80, at + 130);
		second->stream = world.items[world.step.nr_items - 1].stream = 8;
		second->name = world.copy;
		second->is_copy = true;
		add_call(LOOP, at + 140, at + 200, CALL_PLAIN);
	}
}

START_TEST(streams_overlap_no_more_than_they_did)
{
	const struct replay_change change = {
		.removals = 1u << REPLAY_NO_SYNC | 1u << REPLAY_NO_LAUNCHES};
	struct replay_graph *graph;
	struct replay_result result;

	make_streams();
	world.step.end = us(335);
	world.step.nr_items--;
	graph = replay_create(&world.step, NULL);
	replay_run(graph, &change, &result);
	/* Each of 50, though neither waits for the other any more. */
	ck_assert_uint_eq(result.least_ns, us(100));
	ck_assert_uint_eq(result.step_ns, us(100));
	ck_assert_uint_eq(result.limits[REPLAY_BUSY], us(100));
	replay_destroy(graph);
}
END_TEST

/* On a device of its own the second one is not in the way of the first. */
START_TEST(each_device_has_its_own_work)
{
	struct replay_graph *graph;
	struct replay_result result;

	make_streams();
	world.records[1].device = world.records[3].device = 1;
	graph = replay_create(&world.step, NULL);
	replay_run(graph, NULL, &result);
	ck_assert_uint_eq(result.least_ns, us(50));
	replay_destroy(graph);
}
END_TEST

static uint32_t is_kernel(void *context, uint32_t name, enum replay_item item)
{
	(void)context;
	return item == REPLAY_ITEM_ACTIVITY && name == world.kernel;
}

/* The copy runs from 20 to 70, the kernel from 10 to 60: 10 alone, 40 together, 10 alone. */
START_TEST(what_overlaps_takes_what_is_left_of_the_longest)
{
	const struct replay_names kernels = {is_kernel, no_collective, NULL, NULL, false, NULL};
	struct replay_change change = {.scales = 1, .factors = {0.5}};
	struct replay_graph *graph;
	struct replay_result result;

	make_streams();
	for (size_t i = 1; i < 4; i += 2) {
		world.records[i].begin = world.records[i - 1].begin + us(10);
		world.records[i].end = world.records[i - 1].end + us(10);
	}
	graph = replay_create(&world.step, &kernels);
	replay_run(graph, NULL, &result);
	ck_assert_uint_eq(result.least_ns, us(60));
	replay_run(graph, &change, &result);
	ck_assert_uint_eq(result.least_ns, us(55));
	change.removals = 1u << REPLAY_NO_COPIES;
	replay_run(graph, &change, &result);
	ck_assert_uint_eq(result.least_ns, us(25));
	/* What gets longer may overlap with more. */
	change = (struct replay_change){.scales = 1, .factors = {2}};
	replay_run(graph, &change, &result);
	ck_assert_uint_eq(result.least_ns, us(60));
	replay_destroy(graph);
}
END_TEST

/* From 190 to 220, of which the step has 10 alone, and from 340 to 390; nothing is known of their
 * launches. */
START_TEST(what_has_no_launch_keeps_the_device_busy)
{
	struct step_activity lone[] = {
		{.begin = us(190), .end = us(220)}, {.begin = us(340), .end = us(390)}};
	struct replay_graph *graph;
	struct replay_result result;

	make_streams();
	lone[0].name = lone[1].name = world.kernel;
	world.step.lone = lone;
	world.step.nr_lone = 2;
	graph = replay_create(&world.step, NULL);
	replay_run(graph, NULL, &result);
	ck_assert_uint_eq(result.step_ns, us(200));
	/* The step begins at 200, the kernels run from 210 to 260 and from 280 to 330. */
	ck_assert_uint_eq(result.least_ns, us(160));
	replay_destroy(graph);
}
END_TEST

/* All of a recording: the host ends at 20, the kernel at 120. */
START_TEST(a_recording_may_end_with_an_activity)
{
	const struct replay_names kernels = {is_kernel, no_collective, NULL, NULL, false, NULL};
	const struct replay_change half = {.scales = 1, .factors = {0.5}};
	struct replay_graph *graph;
	struct replay_result result;

	begin_world(0);
	launch(LOOP, 0, 20, 120);
	world.step.is_recording = true;
	world.step.end = us(120);
	graph = replay_create(&world.step, &kernels);
	replay_run(graph, NULL, &result);
	ck_assert_uint_eq(result.step_ns, us(120));
	replay_run(graph, &half, &result);
	ck_assert_uint_eq(result.step_ns, us(70));
	replay_destroy(graph);
}
END_TEST

/* ---- two ranks ---- */

static uint32_t of_collective(void *context, uint64_t correlation)
{
	(void)context;
	return correlation;
}

static uint32_t two(void *context, uint32_t collective)
{
	(void)context;
	(void)collective;
	return 2;
}

static const struct replay_names names = {no_scale, of_collective, two, NULL, false, NULL};

/* A rank that comes `late` us after its step began; the collective transfers for 20 us. */
static struct replay_graph *make_rank(uint64_t late)
{
	begin_world(200);
	for (uint64_t at = 0; at < 400; at += 200) {
		struct step_activity *all = launch(LOOP, at + late, at + late + 10, at + 150);

		all->name = world.collective;
		add_call(LOOP, at + late + 20, at + 200, CALL_WAITS_STREAM);
	}
	return replay_create(&world.step, &names);
}

START_TEST(ranks_wait_for_the_last_one)
{
	struct replay_graph *graphs[] = {make_rank(20), make_rank(120)};
	struct replay_graph *job = replay_join(graphs, 2, &names);
	struct replay_change change = {0};
	struct replay_result results[2];

	replay_run(job, NULL, results);
	ck_assert_uint_eq(results[0].step_ns, us(200));
	ck_assert_uint_eq(results[1].step_ns, us(200));
	/* The first one then waits for no one: its step is shorter by the 100 that it waited. */
	change.removals = 1u << REPLAY_NO_STRAGGLERS;
	replay_run(job, &change, results);
	ck_assert_uint_eq(results[0].step_ns, us(100));
	/* Without transfers: the last one comes at 130 to what it waits for from 140 on, 3 of it
	 * its own. */
	change.removals = 1u << REPLAY_NO_COMM;
	replay_run(job, &change, results);
	ck_assert_uint_eq(results[0].step_ns, us(193));
	ck_assert_uint_eq(results[1].step_ns, us(193));
	replay_destroy(job);
	replay_destroy(graphs[0]);
	replay_destroy(graphs[1]);
}
END_TEST

/* ---- ranks without devices ---- */

static uint32_t the_first(void *context, uint64_t begin)
{
	(void)context;
	return begin < us(200) ? 1 : 2;
}

static const struct replay_names host_names = {
	no_scale, no_collective, two, NULL, false, the_first};

/*
 * Each step: nothing for `late` us, an operator of 20 that begins an all-reduce, which ends at
 * `end` on a thread of its own, and an operator of 40 from 155 on.
 */
static struct replay_graph *make_host_rank(uint64_t late, uint64_t end)
{
	begin_world(200);
	for (uint64_t at = 0; at < 400; at += 200) {
		struct step_item *reduce;

		add_item(LOOP, at + late, at + late + 20);
		reduce = add_item(AUTOGRAD, at + late + 10, at + end);
		reduce->is_range = reduce->is_collective = true;
		add_item(LOOP, at + 155, at + 195);
	}
	return replay_create(&world.step, &host_names);
}

START_TEST(a_rank_without_devices_waits_for_the_last_one)
{
	struct replay_graph *graphs[] = {make_host_rank(0, 150), make_host_rank(100, 150)};
	struct replay_graph *job = replay_join(graphs, 2, &host_names);
	struct replay_change change = {.removals = 1u << REPLAY_NO_STRAGGLERS};
	struct replay_result results[2];

	replay_run(job, NULL, results);
	ck_assert_uint_eq(results[0].step_ns, us(200));
	ck_assert_uint_eq(results[1].step_ns, us(200));
	ck_assert_uint_eq(results[0].least_ns, 0);
	/* What the first one waits for the second: from 10 to 110. */
	replay_run(job, &change, results);
	ck_assert_uint_eq(results[0].step_ns, us(100));
	/* Without transfers it does until the second has ended its operator, at 120. */
	change.removals = 1u << REPLAY_NO_COMM;
	replay_run(job, &change, results);
	ck_assert_uint_eq(results[0].step_ns, us(165));
	replay_destroy(job);
	replay_destroy(graphs[0]);
	replay_destroy(graphs[1]);
}
END_TEST

/* The thread that carries the all-reduce out notes its end when the loop has gone on. */
START_TEST(a_wait_ends_before_the_end_of_its_collective_is_noted)
{
	struct replay_graph *graphs[] = {make_host_rank(0, 158), make_host_rank(100, 158)};
	struct replay_graph *job = replay_join(graphs, 2, &host_names);
	const struct replay_change change = {.removals = 1u << REPLAY_NO_STRAGGLERS};
	struct replay_result results[2];

	replay_run(job, NULL, results);
	ck_assert_uint_eq(results[0].step_ns, us(200));
	ck_assert_uint_eq(results[1].step_ns, us(200));
	replay_run(job, &change, results);
	ck_assert_uint_eq(results[0].step_ns, us(100));
	replay_destroy(job);
	replay_destroy(graphs[0]);
	replay_destroy(graphs[1]);
}
END_TEST

/* A rank by itself keeps its wait, and the gap is what the collective takes beyond the operator. */
START_TEST(a_collective_of_the_host_fills_a_gap)
{
	const struct replay_change change = {.removals = 1u << REPLAY_NO_COMM};
	struct replay_graph *graph = make_host_rank(0, 150);
	struct replay_result result;

	replay_run(graph, NULL, &result);
	ck_assert_uint_eq(result.step_ns, us(200));
	replay_run(graph, &change, &result);
	ck_assert_uint_eq(result.step_ns, us(65));
	replay_destroy(graph);
}
END_TEST

UNIT_SUITE("report/replay", an_unchanged_replay_takes_what_was_measured,
	a_step_is_shorter_by_what_it_waits_for, the_host_runs_ahead_of_the_device,
	streams_overlap_no_more_than_they_did, each_device_has_its_own_work,
	what_overlaps_takes_what_is_left_of_the_longest, what_has_no_launch_keeps_the_device_busy,
	a_recording_may_end_with_an_activity, the_loop_waits_for_the_thread_that_fills_its_gap,
	a_range_of_the_user_lies_between_operators, a_stream_waits_for_an_event,
	ranks_wait_for_the_last_one, a_rank_without_devices_waits_for_the_last_one,
	a_wait_ends_before_the_end_of_its_collective_is_noted, a_collective_of_the_host_fills_a_gap)
