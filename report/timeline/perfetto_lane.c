/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/perfetto_lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <uthash.h>

/* Lanes that are looked at for room. What does not fit gets a new one, so time stays bounded. */
#define LANES_TRIED 256u

struct perfetto_row_key {
	struct {
		uint32_t kind, a, b;
	} key;
	size_t row;
	UT_hash_handle hh;
};

void perfetto_rows_fini(struct perfetto_rows *rows)
{
	struct perfetto_row_key *key, *next;

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
}

int64_t perfetto_rows_find(
	const struct perfetto_rows *rows, enum perfetto_row_kind kind, uint32_t a, uint32_t b)
{
	struct perfetto_row_key *found, wanted;

	memset(&wanted, 0, sizeof(wanted));
	wanted.key.kind = kind;
	wanted.key.a = a;
	wanted.key.b = b;
	HASH_FIND(hh, rows->keys, &wanted.key, sizeof(wanted.key), found);
	return found ? (int64_t)found->row : -1;
}

size_t perfetto_rows_add(struct perfetto_rows *rows, enum perfetto_row_kind kind, uint32_t a,
	uint32_t b, uint64_t parent, char *name)
{
	struct perfetto_row_key *key = mem_zeroed(1, sizeof(*key));

	rows->rows = array_grow(rows->rows, rows->nr, &rows->capacity, sizeof(*rows->rows));
	rows->rows[rows->nr] = (struct perfetto_row){.kind = (uint8_t)kind,
		.is_apart = kind == PERFETTO_ROW_STREAM,
		.a = a,
		.b = b,
		.track = (*rows->next_track)++,
		.parent = parent,
		.name = name,
		.rank = (int32_t)(a & 0xffffffu)};
	key->key.kind = kind;
	key->key.a = a;
	key->key.b = b;
	key->row = rows->nr;
	HASH_ADD(hh, rows->keys, key, sizeof(key->key), key);
	return rows->nr++;
}

uint64_t perfetto_rows_track(struct perfetto_rows *rows, size_t place, struct perfetto_out *out)
{
	struct perfetto_row *row = &rows->rows[place];

	if (!row->is_named) {
		row->is_named = true;
		perfetto_out_track(out, row->track, row->parent, row->name, row->rank);
	}
	return row->track;
}

static struct perfetto_lane *add_lane(
	struct perfetto_rows *rows, size_t place, struct perfetto_out *out)
{
	struct perfetto_row *row = &rows->rows[place];
	struct perfetto_lane *lane;
	char name[256];

	row->lanes = array_grow(row->lanes, row->nr_lanes, &row->capacity, sizeof(*row->lanes));
	lane = &row->lanes[row->nr_lanes];
	memset(lane, 0, sizeof(*lane));
	if (!row->nr_lanes++) {
		lane->track = perfetto_rows_track(rows, place, out);
		return lane;
	}
	lane->track = (*rows->next_track)++;
	snprintf(name, sizeof(name), "%s (%zu)", row->name, row->nr_lanes);
	/* A thread's stand in it; those of other rows beside them. */
	perfetto_out_track(out, lane->track,
		row->kind == PERFETTO_ROW_THREAD ? row->track : row->parent, name, row->rank);
	return lane;
}

/* Writes the ends of what is over, and looks whether there is room. */
static bool has_room(const struct perfetto_row *row, struct perfetto_lane *lane,
	struct perfetto_out *out, uint64_t begin_ns, uint64_t end_ns)
{
	while (lane->nr && lane->ends[lane->nr - 1] <= begin_ns) {
		perfetto_out_slice_end(out, lane->track, lane->ends[--lane->nr]);
	}
	return !lane->nr || (!row->is_apart && end_ns <= lane->ends[lane->nr - 1]);
}

uint64_t perfetto_rows_place(struct perfetto_rows *rows, size_t place, struct perfetto_out *out,
	uint64_t begin_ns, uint64_t end_ns)
{
	struct perfetto_row *row = &rows->rows[place];
	size_t first = row->nr_lanes > LANES_TRIED ? row->nr_lanes - LANES_TRIED : 0;
	struct perfetto_lane *lane = NULL;

	for (size_t i = first; i < row->nr_lanes && !lane; i++) {
		if (has_room(row, &row->lanes[i], out, begin_ns, end_ns)) {
			lane = &row->lanes[i];
		}
	}
	lane = lane ? lane : add_lane(rows, place, out);
	lane->ends = array_grow(lane->ends, lane->nr, &lane->capacity, sizeof(*lane->ends));
	lane->ends[lane->nr++] = end_ns;
	return lane->track;
}

void perfetto_rows_close(struct perfetto_rows *rows, struct perfetto_out *out)
{
	for (size_t i = 0; i < rows->nr; i++) {
		for (size_t k = 0; k < rows->rows[i].nr_lanes; k++) {
			struct perfetto_lane *lane = &rows->rows[i].lanes[k];

			while (lane->nr) {
				perfetto_out_slice_end(out, lane->track, lane->ends[--lane->nr]);
			}
		}
	}
}
