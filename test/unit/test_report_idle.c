/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/idle.h"

#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "test/unit/report_scene.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

/* The plain way: for each record all that begin before it are looked at. */
struct plain {
	uint64_t total[NR_IDLE_CAUSES], nr[NR_IDLE_CAUSES], before[NR_IDLE_CAUSES];
	uint64_t longest;
};

static bool is_before(const struct scene_work *a, const struct scene_work *b)
{
	return a->begin != b->begin ? a->begin < b->begin : a->correlation < b->correlation;
}

static void add_gap(struct plain *plain, const struct scene_work *work, uint64_t begin)
{
	uint64_t before = work->call_begin > begin ? work->call_begin - begin : 0;
	uint64_t ready = work->call_end > begin ? work->call_end : begin;
	enum idle_cause cause = before ? IDLE_HOST : IDLE_LAUNCH;

	if (work->begin - ready > IDLE_LAUNCH_NS && work->begin - ready > before) {
		cause = IDLE_DEPENDENCY;
	}
	cause = work->has_call ? cause : IDLE_UNKNOWN;
	plain->total[cause] += work->begin - begin;
	plain->before[cause] += before;
	plain->nr[cause]++;
	plain->longest =
		work->begin - begin > plain->longest ? work->begin - begin : plain->longest;
}

static struct plain count(const struct scene *scene, uint32_t device)
{
	struct plain plain = {0};

	for (uint32_t i = 0; i < scene->nr_activities; i++) {
		const struct scene_work *work = &scene->works[i];
		bool is_first = true;
		uint64_t until = 0;

		for (uint32_t k = 0; k < scene->nr_activities && work->device == device; k++) {
			const struct scene_work *other = &scene->works[k];

			if (other->device == device && is_before(other, work)) {
				is_first = false;
				until = other->end > until ? other->end : until;
			}
		}
		if (work->device == device && !is_first && until < work->begin) {
			add_gap(&plain, work, until);
		}
	}
	return plain;
}

static void check_device(const struct table *table, const struct scene *scene, uint32_t device)
{
	struct plain plain = count(scene, device);

	for (size_t i = 0; i < table->nr_rows; i++) {
		const char *name = tables_cell(table, i, "cause")->text;
		unsigned int cause = 0;

		if (tables_number(table, i, "device") != device) {
			continue;
		}
		while (strcmp(idle_cause_names[cause], name) != 0) {
			cause++;
		}
		ck_assert_uint_eq(tables_number(table, i, "total_ns"), plain.total[cause]);
		ck_assert_uint_eq(tables_number(table, i, "gaps"), plain.nr[cause]);
		if (cause != IDLE_UNKNOWN) {
			ck_assert_uint_eq(
				tables_number(table, i, "before_call_ns"), plain.before[cause]);
		}
		plain.nr[cause] = 0;
	}
	for (unsigned int cause = 0; cause < NR_IDLE_CAUSES; cause++) {
		ck_assert_uint_eq(plain.nr[cause], 0);
	}
}

/* Times in us, so that what takes 10 us is told apart. */
static void make_slow(struct scene *scene, uint64_t *seed)
{
	scene_make(scene, seed, unit_random(seed) % 2);
	for (uint32_t i = 0; i < scene->nr_activities; i++) {
		struct scene_work *work = &scene->works[i];

		work->begin *= 1000;
		work->end *= 1000;
		work->call_begin *= 1000;
		work->call_end *= 1000;
		if (unit_random(seed) % 8 == 0) { /* waits for something; out of turn, too */
			work->begin += 40000;
			work->end += 40000;
		}
	}
}

START_TEST(causes_are_those_of_a_look_at_all_that_came_before)
{
	uint64_t seed = 51;

	for (int round = 0; round < 60; round++) {
		struct table *idle, *gaps;
		struct scene scene;
		const char *path;

		make_slow(&scene, &seed);
		path = scene_write(&scene, "idle", &seed);
		idle = tables_of(&view_idle, path, false);
		gaps = tables_of(&view_idle_gaps, path, false);
		for (uint32_t device = 0; device < SCENE_DEVICES; device++) {
			size_t row = 0;

			check_device(idle, &scene, device);
			while (tables_number(gaps, row, "device") != device) {
				row++;
			}
			ck_assert_uint_eq(tables_number(gaps, row, "duration_ns"),
				count(&scene, device).longest);
		}
		table_destroy(idle);
		table_destroy(gaps);
	}
}
END_TEST

/* The gap of each row is one that the plain way finds, by the record that ends it. */
START_TEST(the_longest_gaps_say_what_ended_them)
{
	uint64_t seed = 61;
	struct scene scene;
	struct table *table;

	make_slow(&scene, &seed);
	table = tables_of(&view_idle_gaps, scene_write(&scene, "gaps", &seed), false);
	for (size_t i = 0; i < table->nr_rows; i++) {
		uint64_t duration = tables_number(table, i, "duration_ns");
		bool is_known = tables_cell(table, i, "call")->is_known;
		bool is_found = false;

		ck_assert(tables_cell(table, i, "activity")->is_known);
		ck_assert_int_eq(
			is_known, strcmp(tables_cell(table, i, "cause")->text, "unknown") != 0);
		for (uint32_t k = 0; k < scene.nr_activities && is_known; k++) {
			const struct scene_work *work = &scene.works[k];
			uint64_t begin = work->begin - duration;
			uint64_t until = work->call_begin > begin ? work->call_begin - begin : 0;

			is_found |= work->has_call && work->begin > duration &&
				    tables_number(table, i, "before_call_ns") == until;
		}
		ck_assert(is_found || !is_known);
		ck_assert(!i || duration <= tables_number(table, i - 1, "duration_ns"));
	}
	table_destroy(table);
}
END_TEST

static void put_op(struct gen *gen, const char *name, uint64_t begin, uint64_t end, uint16_t depth)
{
	uint32_t id = gen_op_name(gen, name);
	struct gprof_row_op *row = gen_row(gen, GPROF_TABLE_op);

	row->begin = SCENE_BASE_NS + begin;
	row->dur = SCENE_BASE_NS + end;
	row->thread = 1;
	row->op_name = id;
	row->depth = depth;
	row->framework = 1;
}

static void put_call(struct gen *gen, unsigned int table, uint16_t call, uint64_t begin,
	uint64_t end, uint32_t correlation)
{
	struct gprof_row_api *row = gen_row(gen, table);

	row->begin = SCENE_BASE_NS + begin;
	row->dur = SCENE_BASE_NS + end;
	row->thread = 1;
	row->call = call;
	row->correlation = correlation;
}

static void put_kernel(
	struct gen *gen, uint32_t place, uint64_t begin, uint64_t end, uint32_t correlation)
{
	struct gprof_row_kernel *row = gen_row(gen, GPROF_TABLE_kernel);

	row->begin = SCENE_BASE_NS + begin;
	row->dur = SCENE_BASE_NS + end;
	row->place = place;
	row->correlation = correlation;
}

/*
 * Between two kernels the host is in an operator for 300 of 1,000 ns, in one with another in it for
 * 360 (of which 250 in the inner one), and waits for 220 in a call.
 */
START_TEST(what_the_host_did_is_the_operator_itself_and_the_call_that_took_most)
{
	const char *path = streams_path("host");
	struct gen *gen = gen_open(path);
	uint16_t launch = gen_call(gen, "cudaLaunchKernel", GPROF_API_RUNTIME);
	uint16_t wait = gen_call(gen, "cudaStreamSynchronize", GPROF_API_RUNTIME);
	uint32_t place = gen_place(gen, 0, 1, 7);
	struct table *table;

	gen_anchor(gen, SCENE_BASE_NS, SCENE_BASE_NS, SCENE_BASE_NS);
	put_call(gen, GPROF_TABLE_api_launch, launch, 10, 20, 1);
	put_call(gen, GPROF_TABLE_api_sync, wait, 50, 320, 2);
	put_op(gen, "long", 50, 400, 0);
	put_op(gen, "inner", 550, 800, 1);
	put_op(gen, "outer", 500, 860, 0);
	put_call(gen, GPROF_TABLE_api_launch, launch, 1100, 1110, 3);
	put_op(gen, "launching", 1090, 1200, 0);
	put_kernel(gen, place, 30, 100, 1);
	put_kernel(gen, place, 1120, 1200, 3);
	gen_close(gen, "exit");
	table = tables_of(&view_idle_gaps, path, false);
	ck_assert_uint_eq(table->nr_rows, 1);
	ck_assert_uint_eq(tables_number(table, 0, "duration_ns"), 1020);
	ck_assert_uint_eq(tables_number(table, 0, "before_call_ns"), 1000);
	ck_assert_str_eq(tables_cell(table, 0, "cause")->text, "host");
	ck_assert_uint_eq(tables_find(table, "call", "cudaLaunchKernel", 0), 0);
	ck_assert_uint_eq(tables_find(table, "op", "launching", 0), 0);
	ck_assert_uint_eq(tables_find(table, "host_op", "long", 0), 0);
	ck_assert_uint_eq(tables_number(table, 0, "host_op_ns"), 300);
	ck_assert_uint_eq(tables_find(table, "host_call", "cudaStreamSynchronize", 0), 0);
	ck_assert_uint_eq(tables_number(table, 0, "host_call_ns"), 220);
	table_destroy(table);
}
END_TEST

START_TEST(the_oldest_makes_room_when_too_many_wait)
{
	struct recent_calls recent = {0};
	struct recent_calls_item gone;

	for (uint32_t i = 1; i <= RECENT_CALLS_ITEMS; i++) {
		ck_assert(
			!recent_calls_put(&recent, &(struct recent_calls_item){i, i, i, 0}, &gone));
	}
	ck_assert(recent_calls_remove(&recent, 2, &gone));
	ck_assert_uint_eq(gone.begin, 2);
	ck_assert(
		recent_calls_put(&recent, &(struct recent_calls_item){7, 7, UINT32_MAX, 0}, &gone));
	ck_assert_uint_eq(gone.correlation, 1);
	ck_assert(!recent_calls_put(
		&recent, &(struct recent_calls_item){8, 8, UINT32_MAX - 1, 0}, &gone));
	ck_assert(recent_calls_put(
		&recent, &(struct recent_calls_item){9, 9, UINT32_MAX - 2, 0}, &gone));
	ck_assert_uint_eq(gone.correlation, 3);
	ck_assert(!recent_calls_get(&recent, 1, &gone));
	ck_assert(!recent_calls_get(&recent, 2, &gone));
	ck_assert(!recent_calls_get(&recent, 0, &gone));
	ck_assert(recent_calls_get(&recent, UINT32_MAX - 1, &gone));
	ck_assert_uint_eq(gone.begin, 8);
	ck_assert(recent_calls_get(&recent, 4, &gone));
	ck_assert_uint_eq(gone.begin, 4);
	ck_assert_uint_eq(recent.nr_slots, RECENT_CALLS_ITEMS);
	recent_calls_fini(&recent);
}
END_TEST

START_TEST(nonsense_is_no_harm)
{
	tables_of_nonsense(&view_idle, false);
	tables_of_nonsense(&view_idle_gaps, false);
}
END_TEST

UNIT_SUITE("report/idle", causes_are_those_of_a_look_at_all_that_came_before,
	the_longest_gaps_say_what_ended_them,
	what_the_host_did_is_the_operator_itself_and_the_call_that_took_most,
	the_oldest_makes_room_when_too_many_wait, nonsense_is_no_harm)
