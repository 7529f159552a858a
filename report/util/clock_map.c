/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts times between clocks by readings of both. model.c adds the anchors of a stream; all
 * times of the report pass through clock_map_time(). Between two points it is a line. A reading has
 * an error of some hundred ns, so points that are close together must not make a slope: a wrong
 * slope would change durations.
 */
#include "report/util/clock_map.h"

#include <stdbool.h>
#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

#define ONE (1ull << 32)

/*
 * Points closer together than this show the error of the readings rather than the rate of the
 * clocks: a reading that is 250 ns late makes 400 ppm of 0.6 ms. Two clocks that both count
 * nanoseconds, so that their rates differ by less than NEAR_ONE, then have the same rate.
 */
#define LONG_ENOUGH 100000000u
#define NEAR_ONE    (ONE >> 10)

void clock_map_add(struct clock_map *map, uint64_t from, uint64_t to)
{
	map->points = array_grow(map->points, map->nr_points, &map->capacity, sizeof(*map->points));
	map->points[map->nr_points++] = (struct clock_point){.from = from, .to = to};
}

static int compare(const void *a, const void *b)
{
	const struct clock_point *x = a, *y = b;

	return COMPARE(x->from, y->from);
}

/* Clocks that count nanoseconds have nearly the same rate; any other slope is damage. */
static uint64_t slope_of(const struct clock_point *a, const struct clock_point *b)
{
	unsigned __int128 slope;

	if (b->from <= a->from || b->to <= a->to) {
		return ONE;
	}
	slope = ((unsigned __int128)(b->to - a->to) << 32) / (b->from - a->from);
	if (slope > 16 * ONE || slope < ONE / 16) {
		return ONE;
	}
	return b->to - a->to < LONG_ENOUGH && slope > ONE - NEAR_ONE && slope < ONE + NEAR_ONE
		       ? ONE
		       : (uint64_t)slope;
}

/* Would the line through both points have a rate that only their errors make? */
static bool is_too_near(const struct clock_point *a, const struct clock_point *b)
{
	return b->to - a->to < LONG_ENOUGH && b->to - a->to != b->from - a->from &&
	       slope_of(a, b) == ONE;
}

/* A map must rise: a clock that went back is counted, and the point is left out. */
static void drop_unordered(struct clock_map *map)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < map->nr_points; i++) {
		if (nr_kept && (map->points[i].from == map->points[nr_kept - 1].from ||
				       map->points[i].to <= map->points[nr_kept - 1].to)) {
			map->nr_back += map->points[i].to < map->points[nr_kept - 1].to;
			continue;
		}
		if (nr_kept && is_too_near(&map->points[nr_kept - 1], &map->points[i])) {
			continue;
		}
		map->points[nr_kept++] = map->points[i];
	}
	map->nr_points = nr_kept;
}

/*
 * Times before the first point and behind the last one go on by a slope over a longer time, if
 * there are points for it.
 */
void clock_map_finish(struct clock_map *map)
{
	struct clock_point *points = map->points;
	size_t last, other;

	map->now_length = 0;
	map->mean_slope = ONE;
	map->first_slope = ONE;
	if (!map->nr_points) {
		return;
	}
	qsort(points, map->nr_points, sizeof(*points), compare);
	drop_unordered(map);
	last = map->nr_points - 1;
	for (size_t i = 0; i < last; i++) {
		points[i].slope = slope_of(&points[i], &points[i + 1]);
	}
	map->mean_slope = slope_of(&points[0], &points[last]);
	for (other = 0; other < last; other++) {
		if (points[other].from - points[0].from >= LONG_ENOUGH) {
			break;
		}
	}
	map->first_slope = slope_of(&points[0], &points[other]);
	for (other = last; other > 0; other--) {
		if (points[last].from - points[other].from >= LONG_ENOUGH) {
			break;
		}
	}
	points[last].slope = slope_of(&points[other], &points[last]);
}

void clock_map_fini(struct clock_map *map)
{
	free(map->points);
	*map = (struct clock_map){0};
}

/* The last point at or before `from`; the first one if there is none. */
static size_t find(const struct clock_map *map, uint64_t from)
{
	size_t at;

	BISECT(at, 1, map->nr_points, map->points[at].from <= from);
	return at - 1;
}

uint64_t clock_map_find_time(struct clock_map *map, uint64_t from)
{
	const struct clock_point *point;
	size_t found;

	if (!map->nr_points) {
		return from;
	}
	found = find(map, from);
	point = &map->points[found];
	if (from < point->from) {
		return point->to - clock_map_scale(point->from - from, map->first_slope);
	}
	map->now = *point;
	map->now_length = (found + 1 < map->nr_points ? point[1].from : UINT64_MAX) - point->from;
	return point->to + clock_map_scale(from - point->from, point->slope);
}
