/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/json_lane.h"

#include <stdlib.h>

#include "report/util/idmap.h"
#include "report/util/external_sort.h"
#include "report/util/text.h"

/* The tid of lane k of a row is its own and k times this: ids of threads of the system are below.
 */
#define LANE_TIDS 0x00800000u
/* What overlaps more often shares the last one. */
#define LANES 64u
/* Records are small; what is more goes to a file. */
#define SORTED_BYTES (8u << 20)

struct lane_slice {
	struct external_sort_head head; /* by begin, then the longest first */
	uint32_t tid;
	uint32_t nr; /* of the slices in the walk, from 1 on */
	uint8_t kind;
};

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

struct timeline_lanes {
	struct external_sort *slices; /* NULL in the second walk */
	struct external_sort *moving;
	struct lane_slice *steps;
	size_t nr_steps, capacity;
	struct idmap rows;  /* struct lane_row, by tid */
	struct idmap moved; /* uint32_t, the lane, by number in the walk */
	uint32_t nr;	    /* slices so far in this walk */
};

struct timeline_lanes *timeline_lanes_create(void)
{
	struct timeline_lanes *lanes = mem_zeroed(1, sizeof(*lanes));

	lanes->slices = external_sort_create(sizeof(struct lane_slice), 0, SORTED_BYTES);
	idmap_init(&lanes->rows, sizeof(struct lane_row));
	idmap_init(&lanes->moved, sizeof(uint32_t));
	return lanes;
}

void timeline_lanes_destroy(struct timeline_lanes *lanes)
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

/* ---- finding ---- */

static uint64_t end_of(const struct lane_slice *slice)
{
	return slice->head.key + (UINT64_MAX - slice->head.order);
}

static struct lane_row *row_of(struct timeline_lanes *lanes, uint32_t tid)
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

/* After what is over has been closed: does it lie within what is open? */
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

/* Steps move once all are known. */
static void move(struct timeline_lanes *lanes, const struct lane_slice *slice)
{
	if (slice->kind == TIMELINE_LANE_STEP) {
		row_of(lanes, slice->tid)->has_steps = true;
	} else {
		*(struct lane_slice *)external_sort_add(lanes->moving) = *slice;
	}
}

/* In the thread's row, from which ranges move that end within a call. */
static void place_in_thread(struct timeline_lanes *lanes, const struct lane_slice *slice)
{
	struct lane *lane = lane_of(row_of(lanes, slice->tid), 0);

	if (slice->kind == TIMELINE_LANE_STEP) {
		lanes->steps = array_grow(
			lanes->steps, lanes->nr_steps, &lanes->capacity, sizeof(*lanes->steps));
		lanes->steps[lanes->nr_steps++] = *slice;
	}
	while (!has_room(lane, slice)) {
		const struct lane_slice *last = &lane->open[lane->nr - 1].slice;

		if (slice->kind != TIMELINE_LANE_CALL || last->kind == TIMELINE_LANE_CALL) {
			move(lanes, slice);
			return;
		}
		move(lanes, last);
		lane->nr--;
	}
	open_in(lane, slice);
}

static void place_beside(struct timeline_lanes *lanes, const struct lane_slice *slice)
{
	struct lane_row *row = row_of(lanes, slice->tid);
	uint32_t k = row->has_steps ? 2 : 1;

	while (k + 1 < LANES && !has_room(lane_of(row, k), slice)) {
		k++;
	}
	open_in(lane_of(row, k), slice);
	*(uint32_t *)idmap_put(&lanes->moved, slice->nr) = k;
}

static void place_steps(struct timeline_lanes *lanes)
{
	for (size_t i = 0; i < lanes->nr_steps; i++) {
		struct lane_row *row = row_of(lanes, lanes->steps[i].tid);

		if (row->has_steps) {
			lane_of(row, 1);
			*(uint32_t *)idmap_put(&lanes->moved, lanes->steps[i].nr) = 1;
		}
	}
}

void timeline_lanes_find(struct timeline_lanes *lanes)
{
	lanes->moving = external_sort_create(sizeof(struct lane_slice), 0, SORTED_BYTES);
	external_sort_finish(lanes->slices);
	for (size_t i = 0; i < external_sort_nr(lanes->slices); i++) {
		place_in_thread(lanes, external_sort_at(lanes->slices, i));
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

/* ---- the two walks ---- */

bool timeline_lanes_is_first(const struct timeline_lanes *lanes)
{
	return lanes->slices != NULL;
}

bool timeline_lanes_place(struct timeline_lanes *lanes, enum timeline_lane_kind kind, uint32_t *tid,
	uint64_t begin_ns, uint64_t end_ns)
{
	const uint32_t *lane;
	struct lane_slice *slice;

	lanes->nr++;
	if (!lanes->slices) {
		lane = idmap_get(&lanes->moved, lanes->nr);
		*tid += lane ? *lane * LANE_TIDS : 0;
		return true;
	}
	slice = external_sort_add(lanes->slices);
	slice->head.key = begin_ns;
	slice->head.order = UINT64_MAX - (end_ns > begin_ns ? end_ns - begin_ns : 0);
	slice->tid = *tid;
	slice->nr = lanes->nr;
	slice->kind = (uint8_t)kind;
	return false;
}

/* ---- names ---- */

static void add_name(struct timeline *timeline, uint32_t tid, size_t lane, uint32_t thread,
	const struct buf *name)
{
	struct buf *out = timeline->out;
	struct buf text = {0};

	buf_add(&text, name->bytes, name->nr_bytes);
	if (lane) {
		buf_printf(&text, " (%zu)", lane + 1);
	}
	tid += (uint32_t)lane * LANE_TIDS;
	timeline_begin(timeline, 'M', NULL, "\"thread_name\"");
	timeline_place(timeline, timeline->pid, tid, timeline->first_ns, NULL);
	buf_text(out, ", \"args\": {\"name\": ");
	text_add_json(out, text.bytes, text.nr_bytes);
	buf_text(out, "}}");
	timeline_begin(timeline, 'M', NULL, "\"thread_sort_index\"");
	timeline_place(timeline, timeline->pid, tid, timeline->first_ns, NULL);
	buf_printf(out, ", \"args\": {\"sort_index\": %u}}", thread);
	buf_fini(&text);
}

static void name_row(const struct timeline_lanes *lanes, struct timeline *timeline, uint32_t tid,
	uint32_t thread, const char *of_thread)
{
	const struct lane_row *row = idmap_get(&lanes->rows, tid);
	uint32_t shown = tid >= TIMELINE_PYTHON_ROWS ? tid - TIMELINE_PYTHON_ROWS : tid;
	struct buf name = {0};

	buf_printf(&name, "thread %u", shown);
	buf_text(&name, of_thread);
	for (size_t k = 0; k < (row && row->nr_lanes ? row->nr_lanes : 1); k++) {
		add_name(timeline, tid, k, thread, &name);
	}
	buf_fini(&name);
}

/* Threads of the process, also where nothing is shown of them, then rows that are no thread's. */
void timeline_lanes_name(const struct timeline_lanes *lanes, struct timeline *timeline)
{
	struct process *process = timeline->process;
	struct idset *named = idset_create();

	for (size_t i = 0; i < process->threads.nr; i++) {
		const struct model_thread *thread = idmap_at(&process->threads, i);
		uint32_t tid = timeline_tid(timeline, thread->id);
		struct buf name = {0};

		if (idset_has(named, tid)) {
			continue;
		}
		buf_printf(&name, " (%s)", string_pool_text(thread->name, NULL));
		buf_char(&name, '\0');
		name_row(lanes, timeline, tid, thread->id, name.bytes);
		idset_add(named, tid);
		buf_fini(&name);
	}
	for (size_t i = 0; i < lanes->rows.nr; i++) {
		const struct lane_row *row = idmap_at(&lanes->rows, i);

		if (!idset_has(named, row->tid)) {
			name_row(lanes, timeline, row->tid, row->tid & ~TIMELINE_PYTHON_ROWS,
				row->tid >= TIMELINE_PYTHON_ROWS ? ", Python" : "");
		}
	}
	idset_destroy(named);
}
