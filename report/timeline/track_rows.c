/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row is found by its kind and two numbers, mostly in a small table of those found last. Its
 * first lane is the row's own track. A slice goes to the first lane with room, among the last
 * LANES_TRIED, or to a new one.
 */
#include "report/timeline/track_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/util/hash.h"
#include "report/util/text.h"

/*
 * Ranks in a process: what is of all of it, threads by their numbers, and further rows. Ranks in a
 * device: streams by their numbers, each with its lanes and its waits, and counters.
 */
#define NUMBERS	      0xffffffu
#define BEHIND_OTHERS (1 << 25)
#define STREAM_RANKS  2

/* The most lanes that are searched for room: the time for a slice stays bounded. */
#define LANES_TRIED 256u

struct track_row_key {
	struct {
		uint32_t kind, a, b;
	} key;
	size_t row;
	UT_hash_handle hh;
};

void track_rows_clear(struct track_rows *rows)
{
	struct track_row_key *key, *next;

	HASH_ITER(hh, rows->keys, key, next)
	{
		HASH_DEL(rows->keys, key);
		free(key);
	}
	for (size_t i = 0; i < rows->nr; i++) {
		for (size_t k = 0; k < rows->rows[i].nr_lanes; k++) {
			free(rows->rows[i].lanes[k].ends);
		}
		free(rows->rows[i].lanes);
		free(rows->rows[i].name);
	}
	free(rows->rows);
	rows->rows = NULL;
	rows->keys = NULL;
	memset(rows->found, 0, sizeof(rows->found));
	rows->nr = rows->capacity = 0;
}

/* -1: there is none yet. */
static int64_t find_row(struct track_rows *rows, enum track_row_kind kind, uint32_t a, uint32_t b)
{
	const struct track_row_key **last =
		&rows->found[(kind + 5 * a + 17 * b) % TRACK_ROWS_FOUND];
	struct track_row_key *found, wanted;

	if (*last && (*last)->key.kind == kind && (*last)->key.a == a && (*last)->key.b == b) {
		return (int64_t)(*last)->row;
	}
	memset(&wanted, 0, sizeof(wanted));
	wanted.key.kind = kind;
	wanted.key.a = a;
	wanted.key.b = b;
	HASH_FIND(hh, rows->keys, &wanted.key, sizeof(wanted.key), found);
	*last = found;
	return found ? (int64_t)found->row : -1;
}

static int32_t rank_of(enum track_row_kind kind, uint32_t a, uint32_t b)
{
	switch (kind) {
	case TRACK_ROW_STEPS:
	case TRACK_ROW_WINDOWS:
	case TRACK_ROW_MARKS:
		return (int32_t)kind - TRACK_ROW_OVERHEAD;
	case TRACK_ROW_STREAM:
		return (int32_t)(b & NUMBERS) * STREAM_RANKS;
	case TRACK_ROW_WAITS:
		return (int32_t)(b & NUMBERS) * STREAM_RANKS + 1;
	case TRACK_ROW_OVERHEAD:
	case TRACK_ROW_COMM:
		return (int32_t)NUMBERS + 1 + (int32_t)(a & NUMBERS);
	case TRACK_ROW_COUNTERS:
		return BEHIND_OTHERS;
	default:
		return (int32_t)(a & NUMBERS);
	}
}

size_t track_rows_add(struct track_rows *rows, enum track_row_kind kind, uint32_t a, uint32_t b,
	uint64_t parent, char *name)
{
	struct track_row_key *key = mem_zeroed(1, sizeof(*key));

	rows->rows = array_grow(rows->rows, rows->nr, &rows->capacity, sizeof(*rows->rows));
	rows->rows[rows->nr] = (struct track_row){.kind = (uint8_t)kind,
		.is_apart = kind == TRACK_ROW_STREAM,
		.a = a,
		.b = b,
		.track = rows->next_track++,
		.parent = parent,
		.name = name,
		.rank = rank_of(kind, a, b)};
	key->key.kind = kind;
	key->key.a = a;
	key->key.b = b;
	key->row = rows->nr;
	HASH_ADD(hh, rows->keys, key, sizeof(key->key), key);
	return rows->nr++;
}

/* ---- rows by what they show ---- */

static char *text_of(struct buf *text)
{
	buf_char(text, '\0');
	return text->bytes;
}

static void add_name(struct buf *text, uint32_t name)
{
	size_t nr_bytes;
	const char *bytes = string_pool_text(name, &nr_bytes);

	text_add_shown(text, bytes, nr_bytes, 0);
}

size_t track_rows_thread(struct track_rows *rows, uint64_t thread)
{
	const struct timeline *timeline = rows->timeline;
	int64_t found = find_row(rows, TRACK_ROW_THREAD, (uint32_t)thread, 0);
	const struct model_thread *known;
	struct buf name = {0}, own = {0};
	struct track_row *row;
	size_t place;

	if (found >= 0) {
		return (size_t)found;
	}
	known = idmap_get(&timeline->process->threads, (uint32_t)thread);
	buf_printf(&name, "thread %u", timeline_tid(timeline, thread));
	if (known && known->name) {
		add_name(&own, known->name);
	}
	if (own.nr_bytes) {
		buf_text(&name, " (");
		buf_add(&name, own.bytes, own.nr_bytes);
		buf_text(&name, ")");
		buf_char(&own, '\0');
	}
	place = track_rows_add(
		rows, TRACK_ROW_THREAD, (uint32_t)thread, 0, rows->process_track, text_of(&name));
	row = &rows->rows[place];
	row->is_named = true;
	rows->sink->track(rows->sink->context, &(struct track){.id = row->track,
						       .parent = rows->process_track,
						       .name = row->name,
						       .rank = row->rank,
						       .kind = TRACK_THREAD,
						       .pid = timeline->pid,
						       .tid = timeline_tid(timeline, thread),
						       .thread_name = own.bytes});
	buf_fini(&own);
	return place;
}

size_t track_rows_nvtx(struct track_rows *rows, uint64_t thread, uint32_t domain)
{
	int64_t found = find_row(rows, TRACK_ROW_NVTX, (uint32_t)thread, domain);
	struct buf name = {0};
	size_t parent;

	if (found >= 0) {
		return (size_t)found;
	}
	parent = track_rows_thread(rows, thread);
	buf_text(&name, "NVTX");
	if (domain) {
		buf_char(&name, ' ');
		add_name(&name, domain);
	}
	return track_rows_add(rows, TRACK_ROW_NVTX, (uint32_t)thread, domain,
		rows->rows[parent].track, text_of(&name));
}

size_t track_rows_python(struct track_rows *rows, uint64_t thread)
{
	int64_t found = find_row(rows, TRACK_ROW_PYTHON, (uint32_t)thread, 0);
	size_t parent;

	if (found >= 0) {
		return (size_t)found;
	}
	parent = track_rows_thread(rows, thread);
	return track_rows_add(rows, TRACK_ROW_PYTHON, (uint32_t)thread, 0, rows->rows[parent].track,
		mem_text("Python"));
}

size_t track_rows_states(struct track_rows *rows, uint32_t tid)
{
	int64_t found = find_row(rows, TRACK_ROW_STATES, tid, 0);
	struct buf name = {0};

	if (found >= 0) {
		return (size_t)found;
	}
	buf_printf(&name, "CPU of thread %u", tid);
	return track_rows_add(rows, TRACK_ROW_STATES, tid, 0, rows->process_track, text_of(&name));
}

static size_t track_rows_device(struct track_rows *rows, uint32_t device)
{
	const struct process *process = rows->timeline->process;
	int64_t found = find_row(rows, TRACK_ROW_DEVICE, device, 0);
	struct buf name = {0};
	size_t place;

	if (found >= 0) {
		return (size_t)found;
	}
	if (device == UINT32_MAX) {
		buf_text(&name, "GPU (unknown)");
	} else {
		buf_printf(&name, "GPU %u ", device);
		add_name(&name, process_device_name(process, device));
	}
	if (process->rank >= 0) {
		buf_printf(&name, ", rank %d", (int)process->rank);
	}
	buf_printf(&name, ", process %u", process->pid);
	place = track_rows_add(rows, TRACK_ROW_DEVICE, device, 0, 0, text_of(&name));
	track_rows_track(rows, place);
	return place;
}

size_t track_rows_stream(
	struct track_rows *rows, const struct model_place *place, bool is_for_waits)
{
	enum track_row_kind kind = is_for_waits ? TRACK_ROW_WAITS : TRACK_ROW_STREAM;
	int64_t found = find_row(rows, kind, place->device, place->stream);
	struct buf name = {0};
	size_t parent;

	if (found >= 0) {
		return (size_t)found;
	}
	parent = track_rows_device(rows, place->device);
	if (place->stream == UINT32_MAX) {
		buf_text(&name, is_for_waits ? "device synchronization" : "stream (unknown)");
	} else {
		buf_printf(&name, "stream %u%s", place->stream,
			is_for_waits ? " synchronization" : "");
	}
	return track_rows_add(
		rows, kind, place->device, place->stream, rows->rows[parent].track, text_of(&name));
}

static size_t counters_row(
	struct track_rows *rows, uint32_t device, bool is_process, uint64_t parent)
{
	int64_t found = find_row(rows, TRACK_ROW_COUNTERS, device, is_process);
	size_t place = found >= 0 ? (size_t)found
				  : track_rows_add(rows, TRACK_ROW_COUNTERS, device, is_process,
					    parent, mem_text("counters"));

	track_rows_track(rows, place);
	return place;
}

size_t track_rows_device_counters(struct track_rows *rows, uint32_t device)
{
	size_t parent = track_rows_device(rows, device);

	return counters_row(rows, device, false, rows->rows[parent].track);
}

size_t track_rows_process_counters(struct track_rows *rows)
{
	return counters_row(rows, 0, true, rows->process_track);
}

size_t track_rows_other(
	struct track_rows *rows, enum track_row_kind kind, uint32_t a, const char *name)
{
	int64_t found = find_row(rows, kind, a, 0);

	return found >= 0 ? (size_t)found
			  : track_rows_add(rows, kind, a, 0, rows->process_track, mem_text(name));
}

/* ---- lanes ---- */

static void add_track(const struct track_rows *rows, const struct track_row *row, uint64_t id,
	uint64_t parent, const char *name)
{
	rows->sink->track(rows->sink->context,
		&(struct track){.id = id,
			.parent = parent,
			.process = row->kind == TRACK_ROW_DEVICE ? rows->process_track : 0,
			.name = name,
			.rank = row->rank,
			.kind = TRACK_OTHER});
}

uint64_t track_rows_track(struct track_rows *rows, size_t place)
{
	struct track_row *row = &rows->rows[place];

	if (!row->is_named) {
		row->is_named = true;
		add_track(rows, row, row->track, row->parent, row->name);
	}
	return row->track;
}

static struct track_lane *add_lane(struct track_rows *rows, size_t place)
{
	struct track_row *row = &rows->rows[place];
	struct track_lane *lane;
	char name[256];

	row->lanes = array_grow(row->lanes, row->nr_lanes, &row->capacity, sizeof(*row->lanes));
	lane = &row->lanes[row->nr_lanes];
	memset(lane, 0, sizeof(*lane));
	if (!row->nr_lanes++) {
		lane->track = track_rows_track(rows, place);
		return lane;
	}
	lane->track = rows->next_track++;
	snprintf(name, sizeof(name), "%s (%zu)", row->name, row->nr_lanes);
	/* Further tracks of a thread stand in it, those of other rows beside it. */
	add_track(rows, row, lane->track, row->kind == TRACK_ROW_THREAD ? row->track : row->parent,
		name);
	return lane;
}

static void end_slice(const struct track_rows *rows, struct track_lane *lane)
{
	lane->nr--;
	if (rows->sink->slice_end) {
		rows->sink->slice_end(rows->sink->context, lane->track, lane->ends[lane->nr]);
	}
}

/* Ends the slices that are over. Is there room for this one now? */
static bool has_room(const struct track_rows *rows, const struct track_row *row,
	struct track_lane *lane, uint64_t begin_ns, uint64_t end_ns)
{
	while (lane->nr && lane->ends[lane->nr - 1] <= begin_ns) {
		end_slice(rows, lane);
	}
	return !lane->nr || (!row->is_apart && end_ns <= lane->ends[lane->nr - 1]);
}

void track_rows_place(struct track_rows *rows, size_t place, struct track_slice *slice)
{
	struct track_row *row = &rows->rows[place];
	size_t first = row->nr_lanes > LANES_TRIED ? row->nr_lanes - LANES_TRIED : 0;
	uint64_t end_ns = slice->ns + slice->dur_ns;
	struct track_lane *lane = NULL;

	for (size_t i = first; i < row->nr_lanes && !lane; i++) {
		if (has_room(rows, row, &row->lanes[i], slice->ns, end_ns)) {
			lane = &row->lanes[i];
		}
	}
	lane = lane ? lane : add_lane(rows, place);
	lane->ends = array_grow(lane->ends, lane->nr, &lane->capacity, sizeof(*lane->ends));
	slice->track = lane->track;
	slice->depth = (uint32_t)lane->nr;
	lane->ends[lane->nr++] = end_ns;
}

void track_rows_close(struct track_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++) {
		for (size_t k = 0; k < rows->rows[i].nr_lanes; k++) {
			struct track_lane *lane = &rows->rows[i].lanes[k];

			while (lane->nr) {
				end_slice(rows, lane);
			}
		}
	}
}
