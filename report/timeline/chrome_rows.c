/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: the first walk sorts all slices by their begins (chrome_lanes_find) and notes those that
 * leave the thread's own row. The second walk looks them up by their number, so both must meet the
 * same slices in the same order. Streams: activities come in the order of their begins, so the
 * first lane that is free takes each.
 *
 * track_rows.c lays out tracks by other rules: there NVTX and steps have rows of their own and
 * waits may nest, while tools of Kineto's dialect look for ranges and steps in the row of their
 * thread.
 */
#include "report/timeline/chrome_rows.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/external_sort.h"
#include "report/util/hash.h"
#include "report/util/idmap.h"

/* Lane k of a thread's row has the thread's tid and k times this; tids of a system are below it. */
#define THREAD_LANE_TIDS 0x00800000u
/* Slices that overlap more often share the last lane. */
#define THREAD_LANES 64u
/* Bytes that are sorted in memory at a time: records are small. */
#define SORTED_BYTES (6u << 20)

/* Lane k of stream n has the tid n + k * this; of its waits and ranges, so many lanes further on.
 */
#define STREAM_LANE_TIDS 1000000u
#define WAITS_LANE	 500u
#define RANGES_LANE	 (WAITS_LANE + CHROME_STREAM_LANES)
/* CUPTI's numbers of streams are below. */
#define UNKNOWN_STREAM 999999u

/* ---- threads ---- */

struct lane_slice {
	struct external_sort_head head; /* by begin, then the longest first */
	uint64_t what : 56;		/* see chrome_lane_slice; more than any program counts */
	uint64_t kind : 8;
	uint32_t tid;
	uint32_t nr; /* number of the slice in the walk, from 1 on */
};

#define LANE_WHAT ((1ull << 56) - 1)

/* A slice that is open. */
struct open_slice {
	uint64_t end_ns;
	struct lane_slice slice;
};

struct lane {
	struct open_slice *open; /* the innermost last */
	size_t nr, capacity;
};

struct lane_row {
	uint32_t tid;
	bool has_steps; /* in lane 1, which is theirs then */
	struct lane *lanes;
	size_t nr_lanes, capacity;
};

struct chrome_lanes {
	struct external_sort *slices; /* NULL in the second walk */
	struct external_sort *moving;
	struct lane_slice *steps;
	size_t nr_steps, capacity;
	struct idmap rows;  /* struct lane_row, by tid */
	struct idmap moved; /* uint32_t, the lane, by number in the walk */
	uint32_t nr;	    /* slices so far in this walk */
};

struct chrome_lanes *chrome_lanes_create(void)
{
	struct chrome_lanes *lanes = mem_zeroed(1, sizeof(*lanes));

	lanes->slices = external_sort_create(sizeof(struct lane_slice), 0, SORTED_BYTES);
	idmap_init(&lanes->rows, sizeof(struct lane_row));
	idmap_init(&lanes->moved, sizeof(uint32_t));
	return lanes;
}

void chrome_lanes_destroy(struct chrome_lanes *lanes)
{
	for (size_t i = 0; i < lanes->rows.nr; i++) {
		struct lane_row *row = idmap_at(&lanes->rows, i);

		for (size_t k = 0; k < row->nr_lanes; k++) {
			free(row->lanes[k].open);
		}
		free(row->lanes);
	}
	idmap_fini(&lanes->rows);
	idmap_fini(&lanes->moved);
	if (lanes->slices) {
		external_sort_destroy(lanes->slices);
	}
	free(lanes->steps);
	free(lanes);
}

static uint64_t end_of(const struct lane_slice *slice)
{
	return slice->head.key + (UINT64_MAX - slice->head.order);
}

static struct lane_row *row_of(struct chrome_lanes *lanes, uint32_t tid)
{
	struct lane_row *row = idmap_put(&lanes->rows, tid);

	row->tid = tid;
	return row;
}

static struct lane *lane_of(struct lane_row *row, size_t k)
{
	while (row->nr_lanes <= k) {
		row->lanes =
			array_grow(row->lanes, row->nr_lanes, &row->capacity, sizeof(*row->lanes));
		row->lanes[row->nr_lanes++] = (struct lane){0};
	}
	return &row->lanes[k];
}

/* Closes the slices that are over. Is this one nested in what is still open? */
static bool has_room(struct lane *lane, const struct lane_slice *slice)
{
	while (lane->nr && lane->open[lane->nr - 1].end_ns <= slice->head.key) {
		lane->nr--;
	}
	return !lane->nr || end_of(slice) <= lane->open[lane->nr - 1].end_ns;
}

static void open_in(struct lane *lane, const struct lane_slice *slice)
{
	lane->open = array_grow(lane->open, lane->nr, &lane->capacity, sizeof(*lane->open));
	lane->open[lane->nr++] = (struct open_slice){end_of(slice), *slice};
}

static bool is_moving(const struct lane_slice *slice)
{
	return slice->kind >= CHROME_LANE_RANGE;
}

/* Steps move later, all together: see place_steps. */
static void move(struct chrome_lanes *lanes, const struct lane_slice *slice)
{
	if (slice->kind == CHROME_LANE_STEP) {
		row_of(lanes, slice->tid)->has_steps = true;
	} else {
		*(struct lane_slice *)external_sort_add(lanes->moving) = *slice;
	}
}

/* Places a slice in the thread's row; ranges that end within it move away. */
static void place_in_thread(struct chrome_lanes *lanes, const struct lane_slice *slice)
{
	struct lane *lane = lane_of(row_of(lanes, slice->tid), 0);

	if (slice->kind == CHROME_LANE_STEP) {
		lanes->steps = array_grow(
			lanes->steps, lanes->nr_steps, &lanes->capacity, sizeof(*lanes->steps));
		lanes->steps[lanes->nr_steps++] = *slice;
	}
	while (!has_room(lane, slice)) {
		const struct lane_slice *last = &lane->open[lane->nr - 1].slice;

		if (is_moving(slice) || !is_moving(last)) {
			move(lanes, slice);
			return;
		}
		move(lanes, last);
		lane->nr--;
	}
	open_in(lane, slice);
}

static void place_beside(struct chrome_lanes *lanes, const struct lane_slice *slice)
{
	struct lane_row *row = row_of(lanes, slice->tid);
	uint32_t k = row->has_steps ? 2 : 1;

	while (k + 1 < THREAD_LANES && !has_room(lane_of(row, k), slice)) {
		k++;
	}
	open_in(lane_of(row, k), slice);
	*(uint32_t *)idmap_put(&lanes->moved, slice->nr) = k;
}

static void place_steps(struct chrome_lanes *lanes)
{
	for (size_t i = 0; i < lanes->nr_steps; i++) {
		struct lane_row *row = row_of(lanes, lanes->steps[i].tid);

		if (row->has_steps) {
			lane_of(row, 1);
			*(uint32_t *)idmap_put(&lanes->moved, lanes->steps[i].nr) = 1;
		}
	}
}

static void add_to(struct chrome_launches *launches, const struct lane_slice *slice)
{
	uint64_t begin_ns = slice->head.key, end_ns = end_of(slice);

	switch (slice->kind) {
	case CHROME_LANE_CALL:
		if (slice->what) {
			chrome_launches_add_call(launches, slice->tid, slice->what, begin_ns);
		}
		break;
	case CHROME_LANE_OP:
		chrome_launches_add_op(launches, slice->tid, slice->nr, begin_ns, end_ns);
		break;
	case CHROME_LANE_ANNOTATION:
	case CHROME_LANE_RANGE:
		chrome_launches_add_range(
			launches, slice->tid, (uint32_t)slice->what, begin_ns, end_ns);
		break;
	case CHROME_LANE_STEP:
		chrome_launches_add_step(launches, (uint32_t)slice->what, begin_ns, end_ns);
		break;
	default:
		break;
	}
}

void chrome_lanes_find(struct chrome_lanes *lanes, struct chrome_launches *launches)
{
	lanes->moving = external_sort_create(sizeof(struct lane_slice), 0, SORTED_BYTES);
	external_sort_finish(lanes->slices);
	for (size_t i = 0; i < external_sort_nr(lanes->slices); i++) {
		const struct lane_slice *slice = external_sort_at(lanes->slices, i);

		place_in_thread(lanes, slice);
		if (launches) {
			add_to(launches, slice);
		}
	}
	place_steps(lanes);
	external_sort_finish(lanes->moving);
	for (size_t i = 0; i < external_sort_nr(lanes->moving); i++) {
		place_beside(lanes, external_sort_at(lanes->moving, i));
	}
	external_sort_destroy(lanes->moving);
	external_sort_destroy(lanes->slices);
	lanes->slices = NULL;
	lanes->nr = 0;
}

uint32_t chrome_lanes_place(
	struct chrome_lanes *lanes, const struct chrome_lane_slice *slice, uint32_t *tid)
{
	struct lane_slice *sorted;
	const uint32_t *lane;

	lanes->nr++;
	if (!lanes->slices) {
		lane = idmap_get(&lanes->moved, lanes->nr);
		*tid += lane ? *lane * THREAD_LANE_TIDS : 0;
		return lanes->nr;
	}
	sorted = external_sort_add(lanes->slices);
	sorted->head.key = slice->begin_ns;
	sorted->head.order =
		UINT64_MAX -
		(slice->end_ns > slice->begin_ns ? slice->end_ns - slice->begin_ns : 0);
	sorted->tid = *tid;
	sorted->nr = lanes->nr;
	sorted->what = slice->what & LANE_WHAT;
	sorted->kind = (uint8_t)slice->kind;
	return 0;
}

size_t chrome_lanes_nr_rows(const struct chrome_lanes *lanes)
{
	return lanes->rows.nr;
}

uint32_t chrome_lanes_row(const struct chrome_lanes *lanes, size_t place)
{
	return ((const struct lane_row *)idmap_at(&lanes->rows, place))->tid;
}

size_t chrome_lanes_nr(const struct chrome_lanes *lanes, uint32_t tid)
{
	const struct lane_row *row = idmap_get(&lanes->rows, tid);

	return row && row->nr_lanes ? row->nr_lanes : 1;
}

uint32_t chrome_lanes_tid(uint32_t tid, size_t lane)
{
	return tid + (uint32_t)lane * THREAD_LANE_TIDS;
}

/* ---- streams ---- */

/* The lanes of a stream, or of its waits. */
struct chrome_stream {
	struct {
		uint32_t device, stream, kind;
	} key;
	size_t *rows; /* by lane: indexes in chrome_streams.rows */
	size_t nr_rows, capacity;
	UT_hash_handle hh;
};

void chrome_streams_fini(struct chrome_streams *streams)
{
	struct chrome_stream *stream, *next;

	HASH_ITER(hh, streams->streams, stream, next)
	{
		HASH_DEL(streams->streams, stream);
		free(stream->rows);
		free(stream);
	}
	free(streams->rows);
	*streams = (struct chrome_streams){0};
}

static struct chrome_stream *find_stream(struct chrome_streams *streams,
	const struct model_place *place, enum chrome_stream_kind kind)
{
	struct chrome_stream *stream, key;

	memset(&key, 0, sizeof(key));
	key.key.device = place->device;
	key.key.stream = place->stream;
	key.key.kind = kind;
	hash_put(streams->streams, key, &key.key, stream);
	return stream;
}

bool chrome_stream_is_unknown(uint32_t stream)
{
	return stream >= UNKNOWN_STREAM;
}

static struct chrome_stream_row *add_stream_row(
	struct chrome_streams *streams, struct chrome_stream *stream)
{
	static const uint32_t first_lanes[] = {[CHROME_STREAM_RANGES] = RANGES_LANE,
		[CHROME_STREAM_WORK] = 0,
		[CHROME_STREAM_WAITS] = WAITS_LANE};
	uint32_t number =
		chrome_stream_is_unknown(stream->key.stream) ? UNKNOWN_STREAM : stream->key.stream;
	uint32_t lane = (uint32_t)stream->nr_rows;
	struct chrome_stream_row *row;

	stream->rows =
		array_grow(stream->rows, stream->nr_rows, &stream->capacity, sizeof(*stream->rows));
	streams->rows =
		array_grow(streams->rows, streams->nr, &streams->capacity, sizeof(*streams->rows));
	row = &streams->rows[streams->nr];
	*row = (struct chrome_stream_row){.device = stream->key.device,
		.stream = stream->key.stream,
		.lane = lane,
		.kind = (enum chrome_stream_kind)stream->key.kind,
		.tid = number + (first_lanes[stream->key.kind] + lane) * STREAM_LANE_TIDS};
	stream->rows[stream->nr_rows++] = streams->nr++;
	return row;
}

uint32_t chrome_streams_place(struct chrome_streams *streams, const struct model_place *place,
	enum chrome_stream_kind kind, uint64_t begin_ns, uint64_t end_ns)
{
	struct chrome_stream *stream = find_stream(streams, place, kind);
	struct chrome_stream_row *row = NULL;
	bool is_free = false;

	for (size_t i = 0; i < stream->nr_rows && !is_free; i++) {
		row = &streams->rows[stream->rows[i]];
		is_free = row->end_ns <= begin_ns;
	}
	if (!is_free && stream->nr_rows < CHROME_STREAM_LANES) {
		row = add_stream_row(streams, stream);
	}
	row->end_ns = end_ns;
	return row->tid;
}
