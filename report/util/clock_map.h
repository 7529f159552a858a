/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts times from one clock to another by pairs of readings taken at the same time
 * (FORMAT.md, `anchor`). Between neighbouring pairs it interpolates in integers, exact to about 1
 * ns.
 */
#ifndef REPORT_UTIL_CLOCK_MAP_H
#define REPORT_UTIL_CLOCK_MAP_H

#include <stddef.h>
#include <stdint.h>

struct clock_point {
	uint64_t from;
	uint64_t to;
	uint64_t slope; /* 32.32, to the next point; of the last one to the previous */
};

struct clock_map {
	struct clock_point *points; /* by rising `from` */
	size_t nr_points, capacity;
	struct clock_point now; /* of the last look-up; zeros before the first */
	uint64_t now_length;	/* to the next one; 0 where the points have changed */
	uint64_t mean_slope;	/* 32.32 fixed point, for durations */
	uint64_t first_slope;	/* for times before the first point */
	uint64_t nr_back;	/* points left out because `to` runs backwards there */
};

void clock_map_add(struct clock_map *map, uint64_t from, uint64_t to);

/*
 * Sorts the points and computes the slopes. Call it after the last clock_map_add. An empty map
 * leaves times as they are.
 */
void clock_map_finish(struct clock_map *map);
void clock_map_fini(struct clock_map *map);

/*
 * Rounded to the nearest ns: cut off, all durations would be 1 ns short where the clock counts a
 * little less than 1 ns a tick, which is 2 % of a call of 50 ns.
 */
static inline uint64_t clock_map_scale(uint64_t ticks, uint64_t slope)
{
	return (uint64_t)(((unsigned __int128)ticks * slope + (1u << 31)) >> 32);
}

/* Used by the inline function: a time that is not behind the point of the last look-up. */
uint64_t clock_map_find_time(struct clock_map *map, uint64_t from);

static inline uint64_t clock_map_time(struct clock_map *map, uint64_t from)
{
	uint64_t after = from - map->now.from;

	if (__builtin_expect(after >= map->now_length, 0)) {
		return clock_map_find_time(map, from);
	}
	return map->now.to + clock_map_scale(after, map->now.slope);
}

static inline uint64_t clock_map_duration(const struct clock_map *map, uint64_t duration)
{
	return clock_map_scale(duration, map->mean_slope);
}

#endif
