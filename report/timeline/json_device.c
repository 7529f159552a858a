/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/model/copy_kind.h"
#include "report/util/progress.h"
#include "report/timeline/timeline.h"
#include "report/timeline/json_row.h"

/* ---- slices ---- */

static char *make_shape_args(struct timeline *timeline, const struct model_shape *shape)
{
	struct occupancy occupancy;
	struct buf args = {0};

	buf_printf(&args, ", \"registers per thread\": %u, \"shared memory\": %" PRIu64,
		shape->registers,
		(uint64_t)shape->static_shared_bytes + shape->dynamic_shared_bytes);
	if (occupancy_compute(&timeline->device, shape, &occupancy)) {
		buf_printf(&args, ", \"blocks per SM\": %.6f, \"warps per SM\": %.6f",
			occupancy.blocks_per_multiprocessor, occupancy.warps_per_multiprocessor);
	}
	buf_printf(&args, ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]", shape->grid[0],
		shape->grid[1], shape->grid[2], shape->block[0], shape->block[1], shape->block[2]);
	if (shape->cluster[0]) {
		buf_printf(&args, ", \"cluster\": [%u, %u, %u]", shape->cluster[0],
			shape->cluster[1], shape->cluster[2]);
	}
	if (occupancy.has_estimate) {
		buf_printf(&args, ", \"est. achieved occupancy %%\": %u", occupancy.percent);
	}
	buf_char(&args, '\0');
	return args.bytes;
}

static void add_shape_args(struct timeline *timeline, uint32_t id, uint32_t device)
{
	const struct model_shape *shape = idmap_get(&timeline->process->shapes, id);
	char **args;

	if (!shape) {
		return;
	}
	if (timeline->device_id != device) {
		timeline->device_id = device;
		timeline->device = occupancy_device(timeline->process, device);
	}
	args = idmap_put(&timeline->shape_args, id);
	if (!*args) {
		*args = make_shape_args(timeline, shape);
	}
	buf_text(timeline->out, *args);
}

static uint32_t slice_name(const struct timeline *timeline, const struct timeline_slice *slice)
{
	char text[64];

	switch (slice->table) {
	case GPROF_TABLE_kernel:
		return process_shape_name(timeline->process, slice->shape);
	case GPROF_TABLE_memcpy:
		return copy_name(copy_pack(slice->copy_kind, slice->src_kind, slice->dst_kind));
	case GPROF_TABLE_memset:
		return copy_name(copy_pack(0, 0, slice->dst_kind) | COPY_IS_SET);
	case GPROF_TABLE_graph:
		return string_pool_intern(
			text, (size_t)snprintf(text, sizeof(text), "CUDA graph %u", slice->graph));
	default:
		return string_pool_intern(
			api_sync_name(slice->copy_kind), strlen(api_sync_name(slice->copy_kind)));
	}
}

static const char *slice_category(const struct timeline_slice *slice)
{
	switch (slice->table) {
	case GPROF_TABLE_memcpy:
		return "gpu_memcpy";
	case GPROF_TABLE_memset:
		return "gpu_memset";
	case GPROF_TABLE_sync:
		return "cuda_sync";
	default:
		return "kernel";
	}
}

static void add_bytes(struct buf *out, const struct timeline_slice *slice)
{
	uint64_t ns = slice->end > slice->begin ? slice->end - slice->begin : 0;

	buf_printf(out, ", \"bytes\": %" PRIu64, slice->bytes);
	if (ns) {
		buf_printf(out, ", \"memory bandwidth (GB/s)\": %.6f",
			(double)slice->bytes / (double)ns);
	}
	if (slice->table == GPROF_TABLE_memcpy && slice->copy_kind == API_COPY_PTOP) {
		buf_printf(out,
			", \"fromDevice\": %u, \"toDevice\": %u, \"fromContext\": %u, "
			"\"toContext\": %u",
			slice->peer[0], slice->peer[1], slice->peer[2], slice->peer[3]);
	}
}

static void add_member(struct buf *out, const char *key, uint64_t value)
{
	buf_text(out, key);
	buf_uint(out, value);
}

static void write_slice(struct timeline *timeline, const struct timeline_slice *slice)
{
	struct model_place place = process_place(timeline->process, slice->place);
	uint64_t begin_ns = timeline_device_ns(timeline, slice->begin);
	uint64_t end_ns = timeline_device_ns(timeline, slice->end);
	bool is_sync = slice->table == GPROF_TABLE_sync;
	struct buf *out = timeline->out;
	uint32_t pid, tid;

	if (is_sync && place.device == UINT32_MAX) {
		place.device = process_context_device(timeline->process, place.context);
	}
	tid = timeline_rows_place(timeline->rows, &place, is_sync, begin_ns, end_ns);
	pid = timeline_device_pid(timeline, place.device);
	timeline_begin(
		timeline, 'X', slice_category(slice), timeline_name(slice_name(timeline, slice)));
	timeline_place(timeline, pid, tid, begin_ns, &end_ns);
	if (is_sync) {
		/* Stream -1: tools take an event with a stream for work, and waiting is none. */
		buf_printf(out,
			", \"args\": {\"stream\": -1, \"waited stream\": %d, \"correlation\": %u"
			", \"device\": %u, \"context\": %u}}",
			(int)place.stream, slice->correlation, place.device, place.context);
		return;
	}
	add_member(out, ", \"args\": {\"device\": ", place.device);
	add_member(out, ", \"context\": ", place.context);
	/* What overlaps in a stream would be less than no idle time to HTA: it is of another one.
	 */
	add_member(out, ", \"stream\": ", timeline_is_for_hta(timeline) ? tid : place.stream);
	add_member(out, ", \"correlation\": ", slice->correlation);
	if (slice->table == GPROF_TABLE_kernel) {
		buf_text(out, ", \"queued\": 0");
		add_shape_args(timeline, slice->shape, place.device);
	} else if (slice->table != GPROF_TABLE_graph) {
		add_bytes(out, slice);
	}
	if (slice->graph) {
		buf_printf(out, ", \"graph id\": %u, \"graph node id\": %" PRIu64, slice->graph,
			slice->graph_node);
	}
	if (slice->channel) {
		buf_printf(out, ", \"channel\": %u", slice->channel);
	}
	buf_text(out, "}}");
	if (slice->correlation && idset_has(timeline->called, slice->correlation)) {
		timeline_flow(timeline, 'f', slice->correlation, pid, tid, begin_ns);
	}
}

/* ---- reading ---- */

static struct timeline_slice *new_slice(
	struct timeline *timeline, const struct batch *b, uint32_t i)
{
	uint64_t begin = b->col[COL_kernel_begin][i];
	uint64_t end = begin + b->col[COL_kernel_dur][i];
	uint32_t slot;

	if (timeline->nr_free) {
		slot = timeline->free_slots[--timeline->nr_free];
	} else {
		timeline->slices = array_grow(timeline->slices, timeline->nr_slices,
			&timeline->slice_capacity, sizeof(*timeline->slices));
		slot = (uint32_t)timeline->nr_slices++;
	}
	timeline->keys = array_grow(timeline->keys, timeline->nr_keys, &timeline->key_capacity,
		sizeof(*timeline->keys));
	timeline->keys[timeline->nr_keys++] = (struct timeline_key){begin, end, slot};
	timeline->slices[slot] = (struct timeline_slice){.begin = begin,
		.end = end,
		.place = (uint32_t)b->col[COL_kernel_place][i],
		.correlation = (uint32_t)b->col[COL_kernel_correlation][i],
		.table = (uint8_t)b->table};
	return &timeline->slices[slot];
}

static void take_row(struct timeline *timeline, const struct batch *b, uint32_t i)
{
	struct timeline_slice *slice = new_slice(timeline, b, i);

	if (b->table == GPROF_TABLE_sync) {
		slice->copy_kind = (uint8_t)b->col[COL_sync_type][i];
		return;
	}
	slice->graph = (uint32_t)b->col[COL_kernel_graph][i];
	slice->graph_node = b->col[COL_kernel_graph_node][i];
	switch (b->table) {
	case GPROF_TABLE_kernel:
		slice->shape = (uint32_t)b->col[COL_kernel_shape][i];
		slice->channel = (uint32_t)b->col[COL_kernel_channel][i];
		break;
	case GPROF_TABLE_memcpy:
		slice->bytes = b->col[COL_memcpy_bytes][i];
		slice->channel = (uint32_t)b->col[COL_memcpy_channel][i];
		slice->copy_kind = (uint8_t)b->col[COL_memcpy_copy_kind][i];
		slice->src_kind = (uint8_t)b->col[COL_memcpy_src_kind][i];
		slice->dst_kind = (uint8_t)b->col[COL_memcpy_dst_kind][i];
		for (unsigned int k = 0; k < 4; k++) {
			slice->peer[k] = (uint32_t)b->col[COL_memcpy_src_device + k][i];
		}
		break;
	case GPROF_TABLE_memset:
		slice->bytes = b->col[COL_memset_bytes][i];
		slice->channel = (uint32_t)b->col[COL_memset_channel][i];
		slice->dst_kind = (uint8_t)b->col[COL_memset_memory_kind][i];
		break;
	default:
		break;
	}
}

static bool is_before(const struct timeline_key *a, const struct timeline_key *b)
{
	/* Of two that begin together the longer one comes first: it may hold the other. */
	return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
}

static int compare(const void *a, const void *b)
{
	return is_before(b, a) - is_before(a, b);
}

/* Sorts the new keys and merges them with the old ones, which are in order. */
static void sort(struct timeline *timeline)
{
	struct timeline_key *keys = timeline->keys;
	size_t nr_old = timeline->nr_sorted, nr = timeline->nr_keys;
	size_t i = 0, j = nr_old, k = 0;

	for (size_t at = nr_old + 1; at < nr; at++) {
		if (is_before(&keys[at], &keys[at - 1])) {
			qsort(keys + nr_old, nr - nr_old, sizeof(*keys), compare);
			break;
		}
	}
	timeline->nr_sorted = nr;
	if (!nr_old || nr_old == nr || !is_before(&keys[nr_old], &keys[nr_old - 1])) {
		return;
	}
	if (timeline->scratch_capacity < nr_old) {
		timeline->scratch_capacity = timeline->key_capacity;
		timeline->scratch =
			mem_resize(timeline->scratch, timeline->key_capacity, sizeof(*keys));
	}
	memcpy(timeline->scratch, keys, nr_old * sizeof(*keys));
	while (i < nr_old && j < nr) {
		keys[k++] = is_before(&keys[j], &timeline->scratch[i]) ? keys[j++]
								       : timeline->scratch[i++];
	}
	memcpy(keys + k, timeline->scratch + i, (nr_old - i) * sizeof(*keys));
}

/* Writes the slices that begin before `time`; no earlier ones will come. */
static void release(struct timeline *timeline, uint64_t time)
{
	size_t i = 0;

	if (!timeline->nr_keys) {
		return;
	}
	sort(timeline);
	while (i < timeline->nr_keys && timeline->keys[i].begin < time) {
		uint32_t slot = timeline->keys[i++].slot;

		write_slice(timeline, &timeline->slices[slot]);
		timeline->free_slots = array_grow(timeline->free_slots, timeline->nr_free,
			&timeline->free_capacity, sizeof(*timeline->free_slots));
		timeline->free_slots[timeline->nr_free++] = slot;
	}
	timeline->nr_keys -= i;
	timeline->nr_sorted = timeline->nr_keys;
	memmove(timeline->keys, timeline->keys + i, timeline->nr_keys * sizeof(*timeline->keys));
}

/* CUPTI's own rows stand beside those of processes: pid -1. */
static void name_overhead(struct timeline *timeline, uint32_t tid)
{
	timeline_begin(timeline, 'M', NULL, "\"thread_name\"");
	buf_printf(timeline->out, ", \"pid\": -1, \"tid\": %u, \"ts\": ", tid);
	timeline_add_us(timeline->out, timeline->first_ns);
	buf_printf(timeline->out, ", \"args\": {\"name\": \"CUPTI's overhead, thread %u\"}}", tid);
}

/* named: the threads whose rows have got their names. */
static void take_overhead(struct timeline *timeline, const struct batch *b, struct idset *named)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const char *kind =
			api_overhead_name((uint32_t)b->col[COL_overhead_overhead_kind][i]);
		uint64_t begin = b->col[COL_overhead_begin][i];
		uint64_t begin_ns = timeline_device_ns(timeline, begin);
		uint64_t end_ns = timeline_device_ns(timeline, begin + b->col[COL_overhead_dur][i]);
		uint32_t tid = (uint32_t)b->col[COL_overhead_tid][i];

		if (!idset_has(named, tid)) {
			idset_add(named, tid);
			name_overhead(timeline, tid);
		}
		timeline_begin(timeline, 'X', "overhead",
			timeline_name(string_pool_intern(kind, strlen(kind))));
		buf_text(timeline->out, ", \"pid\": -1, \"tid\": ");
		buf_uint(timeline->out, tid);
		buf_text(timeline->out, ", \"ts\": ");
		timeline_add_us(timeline->out, begin_ns);
		buf_text(timeline->out, ", \"dur\": ");
		timeline_add_us(timeline->out, end_ns > begin_ns ? end_ns - begin_ns : 0);
		buf_text(timeline->out, ", \"args\": {}}");
	}
}

static uint32_t wanted(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_kernel:
		return COL_ALL(NR_COL_kernel);
	case GPROF_TABLE_memcpy:
		return COL_ALL(NR_COL_memcpy);
	case GPROF_TABLE_memset:
		return COL_ALL(NR_COL_memset);
	case GPROF_TABLE_graph:
		return COL_ALL(NR_COL_graph);
	case GPROF_TABLE_sync:
		return COL_ALL(NR_COL_sync);
	default:
		return 0;
	}
}

void timeline_devices(struct timeline *timeline)
{
	struct stream *stream = timeline->process->stream;
	uint64_t *later_min = mem_zeroed(stream->nr_blocks, sizeof(*later_min));
	struct idset *named = idset_create();
	uint64_t min = UINT64_MAX;

	timeline->rows = timeline_rows_create();
	for (size_t i = stream->nr_blocks; i-- > 0;) {
		later_min[i] = min;
		if (wanted(stream_block_table(stream, i)) && stream->blocks[i].time_min < min) {
			min = stream->blocks[i].time_min;
		}
	}
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i);
		struct batch batch;

		if (table == GPROF_TABLE_overhead &&
			timeline_load(timeline, i, COL_ALL(NR_COL_overhead), &batch)) {
			take_overhead(timeline, &batch, named);
		}
		if (!wanted(table) || !timeline_load(timeline, i, wanted(table), &batch)) {
			continue;
		}
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			take_row(timeline, &batch, row);
		}
		release(timeline, later_min[i]);
		progress_add(batch.nr_rows);
	}
	release(timeline, UINT64_MAX);
	timeline_rows_name(timeline->rows, timeline);
	timeline_rows_destroy(timeline->rows);
	timeline->rows = NULL;
	idset_destroy(named);
	free(later_min);
}
