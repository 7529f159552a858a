/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites a process's device_clock so that durations on the GPU survive the conversion to host
 * time. Sessions call it once, after the clocks of the job are aligned and before the axis of time
 * is set. The idea: merge the activities into busy periods. Within a period the map has slope 1;
 * the difference of the clocks is made up for while the GPU is idle.
 *
 *   host     |=====|..........|========|...|====|      = busy: slope 1, exact durations
 *            |     |  idle:   |        |               . idle: stretched or compressed, so
 *   device   |=====|........|========|...|====|          that the next period meets the readings
 */
#include "report/model/device_clock.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/busy.h"

#define ONE (1ull << 32)

/*
 * A period may stand later than the readings say by this much. The readings are no more exact, and
 * the map needs fewer points.
 */
#define LATE_NS 100

/*
 * The new map, and the busy period at its end. Offsets are host time - device time; times of a
 * damaged stream may be anything, so offsets wrap.
 */
struct exact_clock {
	struct clock_map *readings;
	struct clock_map map;
	struct interval period; /* on the device */
	bool has_period;
	uint64_t offset; /* of the map's last piece */
	uint64_t end_ns; /* on the device, of the last period in the map */
};

static bool is_less(uint64_t offset, uint64_t other)
{
	return (int64_t)(offset - other) < 0;
}

/* ---- the map ---- */

static bool is_exact(const struct clock_map *map)
{
	for (size_t i = 0; i < map->nr_points; i++) {
		const struct clock_point *point = &map->points[i];

		if (point->slope != ONE ||
			(i && point->to - point[-1].to != point->from - point[-1].from)) {
			return false;
		}
	}
	return map->first_slope == ONE || !map->nr_points;
}

static void add_point(struct exact_clock *clock, uint64_t from, uint64_t to, uint64_t slope)
{
	clock_map_add(&clock->map, from, to);
	clock->map.points[clock->map.nr_points - 1].slope = slope;
}

static uint64_t read_offset(struct exact_clock *clock, uint64_t device_ns)
{
	return clock_map_time(clock->readings, device_ns) - device_ns;
}

/* Between the last period and `begin`, both clocks run from what they showed to what they show. */
static void add_idle(struct exact_clock *clock, uint64_t begin, uint64_t offset)
{
	uint64_t from = clock->end_ns, to = from + clock->offset;

	add_point(clock, from, to,
		(uint64_t)(((unsigned __int128)(begin + offset - to) << 32) / (begin - from)));
}

/*
 * No part of the period may be earlier than by the readings, or than the end of the period before.
 * Both ends of the period are read, and the larger offset counts for all of it. If the offset of
 * the last piece still fits, the period needs no point of its own.
 */
static void add_period(struct exact_clock *clock)
{
	uint64_t begin = clock->period.begin, end = clock->period.end;
	uint64_t first = read_offset(clock, begin), last = read_offset(clock, end);
	uint64_t offset = is_less(first, last) ? last : first;
	bool is_first = !clock->map.nr_points;

	if (!is_first && !is_less(clock->offset, offset) &&
		!is_less(offset, clock->offset - LATE_NS)) {
		clock->end_ns = end;
		return;
	}
	if (!is_first) {
		uint64_t least = clock->offset - (begin - clock->end_ns);

		if (is_less(clock->offset, offset)) {
			offset += LATE_NS; /* it goes on rising: the next periods need no point */
		} else if (is_less(offset, least)) {
			offset = least;
		}
		add_idle(clock, begin, offset);
	}
	add_point(clock, begin, begin + offset, ONE);
	clock->offset = offset;
	clock->end_ns = end;
}

/* Activities come by their begins, so one that begins behind the open period closes it. */
static void take_activity(void *context, const struct interval *activity)
{
	struct exact_clock *clock = context;

	if (clock->has_period && activity->begin <= clock->period.end) {
		clock->period.end =
			activity->end > clock->period.end ? activity->end : clock->period.end;
		return;
	}
	if (clock->has_period) {
		add_period(clock);
	}
	clock->period = *activity;
	clock->has_period = true;
}

/* ---- the activities ---- */

/* Kernels, copies, memsets and graphs have begin and duration in the same columns. */
static void add_batch(struct busy *activities, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_kernel_begin][i], dur = b->col[COL_kernel_dur][i];

		busy_add(activities, begin, begin + dur < begin ? UINT64_MAX : begin + dur);
	}
}

/*
 * Blocks are not in order of time, but each knows its earliest begin. What begins before the
 * earliest begin of all later blocks (later_min) can no longer be overtaken, so busy hands it out;
 * the rest waits.
 */
static void read_activities(struct exact_clock *clock, struct stream *stream)
{
	const uint32_t mask = COLS(kernel, begin, dur);
	struct stream_request *requests = mem_zeroed(stream->nr_blocks + 1, sizeof(*requests));
	uint64_t *later_min = stream_later_begins(stream, table_set_with(GPROF_IS_ACTIVITY));
	struct busy activities;
	struct batch batch;
	size_t nr = 0;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		if (gprof_table_is(stream_block_table(stream, i), GPROF_IS_ACTIVITY)) {
			requests[nr++] =
				(struct stream_request){.stream = stream, .block = i, .mask = mask};
		}
	}
	stream_expect(requests, nr);
	busy_init(&activities);
	for (size_t i = 0; i < nr; i++) {
		if (!stream_load(stream, requests[i].block, mask, 0, &batch)) {
			add_batch(&activities, &batch);
		}
		busy_take(&activities, later_min[requests[i].block], take_activity, clock);
	}
	busy_take(&activities, UINT64_MAX, take_activity, clock);
	busy_fini(&activities);
	free(later_min);
	free(requests);
}

void device_clock_keep_durations(struct process *process)
{
	struct clock_map *readings = &process->device_clock;
	struct exact_clock clock = {.readings = readings};

	if (is_exact(readings)) {
		return;
	}
	read_activities(&clock, process->stream);
	if (!clock.has_period) {
		return;
	}
	add_period(&clock);
	add_point(&clock, clock.end_ns, clock.end_ns + clock.offset, readings->mean_slope);
	clock.map.mean_slope = readings->mean_slope;
	clock.map.first_slope = readings->first_slope;
	clock.map.nr_back = readings->nr_back;
	clock_map_fini(readings);
	process->device_clock = clock.map;
	if (clock.end_ns + clock.offset > process->last_ns) {
		process->last_ns = clock.end_ns + clock.offset;
	}
}
