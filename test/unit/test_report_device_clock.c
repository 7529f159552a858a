/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/device_clock.h"

#include <stdlib.h>
#include <string.h>

#include "test/gen/gen.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define HOST_NS	  1000000000ull
#define DEVICE_NS 5000000000ull
#define LAST_NS	  400000000ull /* of the second reading, after the first */

#define NR_ACTIVITIES 3000u
#define NR_STREAMS    3u

/* What the map may add to an activity beside the difference of the clocks in one busy period. */
#define LATE_NS 200u

struct activity {
	uint64_t begin, end; /* on the device, after the first reading */
};

/* Some follow each other without a gap, and those of different streams overlap. */
static void make(struct activity *activities, uint64_t *seed)
{
	uint64_t free[NR_STREAMS] = {0};

	for (uint32_t i = 0; i < NR_ACTIVITIES; i++) {
		uint64_t *at = &free[i % NR_STREAMS];

		*at += unit_below(seed, 3) ? unit_below(seed, 200000) : 0;
		activities[i].begin = *at;
		*at += unit_below(seed, 4) ? unit_below(seed, 400000) : unit_below(seed, 3);
		activities[i].end = *at;
	}
}

static struct process *write_and_read(const struct activity *activities, int64_t ppm, uint64_t seed)
{
	const char *path = streams_path("device_clock");
	struct gen *gen = gen_open(path);
	uint32_t place = gen_place(gen, 0, 1, 7);
	struct stream *stream;

	gen_anchor(gen, HOST_NS, HOST_NS, DEVICE_NS);
	gen_anchor(gen, HOST_NS + LAST_NS, HOST_NS + LAST_NS,
		DEVICE_NS + LAST_NS + (uint64_t)((int64_t)LAST_NS * ppm / 1000000));
	for (uint32_t i = 0; i < NR_ACTIVITIES; i++) {
		bool is_kernel = unit_below(&seed, 3);
		struct gprof_row_kernel *kernel =
			is_kernel ? gen_row(gen, GPROF_TABLE_kernel) : NULL;
		struct gprof_row_memcpy *copy = is_kernel ? NULL : gen_row(gen, GPROF_TABLE_memcpy);
		uint64_t *begin = is_kernel ? &kernel->begin : &copy->begin;
		uint64_t *end = is_kernel ? &kernel->dur : &copy->dur;

		*begin = DEVICE_NS + activities[i].begin;
		*end = DEVICE_NS + activities[i].end;
		*(is_kernel ? &kernel->place : &copy->place) = place;
		if (!unit_below(&seed, 50)) {
			gen_flush(gen);
		}
	}
	gen_close(gen, "exit");
	ck_assert_int_eq(stream_open(&stream, path, NULL), 0);
	return process_create(stream);
}

static int by_begin(const void *a, const void *b)
{
	const struct activity *x = a, *y = b;

	return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
				    : (x->end > y->end) - (x->end < y->end);
}

static uint64_t longest_period(const struct activity *sorted)
{
	uint64_t begin = sorted->begin, end = sorted->end, longest = 0;

	for (uint32_t i = 0; i < NR_ACTIVITIES; i++) {
		begin = sorted[i].begin > end ? sorted[i].begin : begin;
		end = sorted[i].end > end ? sorted[i].end : end;
		longest = end - begin > longest ? end - begin : longest;
	}
	return longest;
}

static void check(int64_t ppm, uint64_t seed)
{
	static struct activity activities[NR_ACTIVITIES];
	struct process *process;
	struct clock_map readings = {0}, *map;
	uint64_t before = 0, end = 0, late_ns;

	make(activities, &seed);
	process = write_and_read(activities, ppm, seed);
	map = &process->device_clock;
	for (size_t i = 0; i < map->nr_points; i++) {
		clock_map_add(&readings, map->points[i].from, map->points[i].to);
	}
	clock_map_finish(&readings);
	device_clock_keep_durations(process);
	qsort(activities, NR_ACTIVITIES, sizeof(*activities), by_begin);
	late_ns = LATE_NS + longest_period(activities) * (uint64_t)labs((long)ppm) / 1000000;
	for (uint32_t i = 0; i < NR_ACTIVITIES; i++) {
		uint64_t begin = DEVICE_NS + activities[i].begin;
		uint64_t dur = activities[i].end - activities[i].begin;
		uint64_t ns = clock_map_time(map, begin), least = clock_map_time(&readings, begin);

		ck_assert_uint_eq(clock_map_time(map, begin + dur) - ns, dur);
		ck_assert_uint_ge(ns, least);
		ck_assert_uint_le(ns - least, late_ns);
		/* What overlaps and what follows stays so: only idle time changes. */
		ck_assert(begin > end ? ns >= before : ns - before == begin - end);
		if (begin + dur > end) {
			end = begin + dur;
			before = ns + dur;
		}
		ck_assert_uint_ge(process->last_ns, ns + dur);
	}
	clock_map_fini(&readings);
	process_destroy(process);
}

START_TEST(activities_keep_their_durations_and_overlaps)
{
	static const int64_t rates[] = {500, -500, 37, -3, 0};

	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		for (uint64_t seed = 1; seed <= 5; seed++) {
			check(rates[i], seed);
		}
	}
}
END_TEST

UNIT_SUITE("report device clock", activities_keep_their_durations_and_overlaps)
