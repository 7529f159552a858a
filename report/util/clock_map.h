/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One clock to another by the moments at which both were read (FORMAT.md, `anchor`): straight lines
 * between neighbours, in integers, exact to about a nanosecond.
 */
#ifndef REPORT_UTIL_CLOCK_MAP_H
#define REPORT_UTIL_CLOCK_MAP_H

#include <stddef.h>
#include <stdint.h>

struct clock_point {
	uint64_t from;
	uint64_t to;
	uint64_t slope; /* of the line to the next point, 32.32; of the last: backwards */
};

struct clock_map {
	struct clock_point *points; /* by `from`, rising */
	size_t nr_points, capacity;
	size_t last;	      /* where the last look-up ended */
	uint64_t mean_slope;  /* 32.32, for durations */
	uint64_t first_slope; /* before the first point */
	uint64_t nr_back;     /* points that are left out, since `to` falls from one to it */
};

void clock_map_add(struct clock_map *map, uint64_t from, uint64_t to);

/* After the last add: sorts and computes the slopes. An empty map leaves times as they are. */
void clock_map_finish(struct clock_map *map);
void clock_map_fini(struct clock_map *map);

uint64_t clock_map_time(struct clock_map *map, uint64_t from);

static inline uint64_t clock_map_duration(const struct clock_map *map, uint64_t duration)
{
	return (uint64_t)(((unsigned __int128)duration * map->mean_slope) >> 32);
}

#endif
