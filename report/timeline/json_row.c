/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/json_row.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* The tid of lane k of stream n is n + k * this; of waits for it, so many lanes further on. */
#define LANE_TIDS  1000000u
#define SYNC_LANES 500u
/* Of a stream that is not known; CUPTI counts from below. */
#define UNKNOWN_STREAM 999999u

struct row {
	uint32_t device, stream, lane;
	bool is_sync;
	uint64_t end_ns; /* of the last slice in it */
};

/* The lanes of a stream. */
struct lanes {
	struct {
		uint32_t device, stream, is_sync;
	} key;
	size_t *rows; /* by lane: places in timeline_rows.rows */
	size_t nr_rows, capacity;
	UT_hash_handle hh;
};

struct timeline_rows {
	struct row *rows;
	size_t nr_rows, capacity;
	struct lanes *lanes;
};

struct timeline_rows *timeline_rows_create(void)
{
	return mem_zeroed(1, sizeof(struct timeline_rows));
}

void timeline_rows_destroy(struct timeline_rows *rows)
{
	struct lanes *lanes, *next;

	HASH_ITER(hh, rows->lanes, lanes, next)
	{
		HASH_DEL(rows->lanes, lanes);
		free(lanes->rows);
		free(lanes);
	}
	free(rows->rows);
	free(rows);
}

static struct lanes *find_lanes(
	struct timeline_rows *rows, const struct model_place *place, bool is_sync)
{
	struct lanes *lanes, key;

	memset(&key, 0, sizeof(key));
	key.key.device = place->device;
	key.key.stream = place->stream;
	key.key.is_sync = is_sync;
	HASH_FIND(hh, rows->lanes, &key.key, sizeof(key.key), lanes);
	if (!lanes) {
		lanes = mem_zeroed(1, sizeof(*lanes));
		lanes->key = key.key;
		HASH_ADD(hh, rows->lanes, key, sizeof(lanes->key), lanes);
	}
	return lanes;
}

static struct row *add_row(struct timeline_rows *rows, struct lanes *lanes)
{
	struct row *row;

	lanes->rows =
		array_grow(lanes->rows, lanes->nr_rows, &lanes->capacity, sizeof(*lanes->rows));
	rows->rows = array_grow(rows->rows, rows->nr_rows, &rows->capacity, sizeof(*rows->rows));
	row = &rows->rows[rows->nr_rows];
	*row = (struct row){.device = lanes->key.device,
		.stream = lanes->key.stream,
		.lane = (uint32_t)lanes->nr_rows,
		.is_sync = lanes->key.is_sync};
	lanes->rows[lanes->nr_rows++] = rows->nr_rows++;
	return row;
}

static uint32_t tid_of(const struct row *row)
{
	uint32_t stream = row->stream < UNKNOWN_STREAM ? row->stream : UNKNOWN_STREAM;

	return stream + (row->lane + (row->is_sync ? SYNC_LANES : 0)) * LANE_TIDS;
}

uint32_t timeline_rows_place(struct timeline_rows *rows, const struct model_place *place,
	bool is_sync, uint64_t begin_ns, uint64_t end_ns)
{
	struct lanes *lanes = find_lanes(rows, place, is_sync);
	struct row *row = NULL;
	bool is_free = false;

	for (size_t i = 0; i < lanes->nr_rows && !is_free; i++) {
		row = &rows->rows[lanes->rows[i]];
		is_free = row->end_ns <= begin_ns;
	}
	if (!is_free && lanes->nr_rows < TIMELINE_LANES) {
		row = add_row(rows, lanes);
	}
	row->end_ns = end_ns;
	return tid_of(row);
}

uint32_t timeline_device_pid(const struct timeline *timeline, uint32_t device)
{
	uint32_t most = TIMELINE_DEVICES - 1;

	return timeline->first_device_pid + (device < most ? device : most);
}

/* ---- names ---- */

static void add_meta(struct timeline *timeline, const char *what, uint32_t pid, uint32_t tid)
{
	timeline_begin(timeline, 'M', NULL, what);
	timeline_place(timeline, pid, tid, timeline->first_ns, NULL);
	buf_text(timeline->out, ", \"args\": {");
}

static void name_device(struct timeline *timeline, uint32_t device)
{
	uint32_t pid = timeline_device_pid(timeline, device);
	uint32_t name = process_device_name(timeline->process, device);
	struct buf *out = timeline->out;

	add_meta(timeline, "\"process_name\"", pid, 0);
	buf_printf(out, "\"name\": %s}}", timeline_name(name));
	add_meta(timeline, "\"process_labels\"", pid, 0);
	buf_printf(out,
		device == UINT32_MAX ? "\"labels\": \"GPU (unknown)\"}}"
				     : "\"labels\": \"GPU %u\"}}",
		device);
	add_meta(timeline, "\"process_sort_index\"", pid, 0);
	buf_printf(out, "\"sort_index\": %u}}", 5000000u + pid);
}

void timeline_rows_name(const struct timeline_rows *rows, struct timeline *timeline)
{
	struct buf *out = timeline->out;
	struct idmap named; /* bool, by device */

	idmap_init(&named, sizeof(bool));
	for (size_t i = 0; i < rows->nr_rows; i++) {
		const struct row *row = &rows->rows[i];
		uint32_t pid = timeline_device_pid(timeline, row->device);
		bool *is_named = idmap_put(&named, row->device);

		if (!*is_named) {
			name_device(timeline, row->device);
			*is_named = true;
		}
		add_meta(timeline, "\"thread_name\"", pid, tid_of(row));
		buf_printf(out,
			row->stream < UNKNOWN_STREAM ? "\"name\": \"stream %u"
						     : "\"name\": \"stream (unknown)",
			row->stream);
		if (row->lane) {
			buf_printf(out, " (%u)", row->lane);
		}
		buf_printf(out, "%s\"}}", row->is_sync ? " (sync)" : "");
		add_meta(timeline, "\"thread_sort_index\"", pid, tid_of(row));
		buf_printf(out, "\"sort_index\": %u}}", row->stream * 8u + (row->lane & 7u));
	}
	idmap_fini(&named);
}
