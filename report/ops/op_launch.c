/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads GPU activities for the operator walk and keeps them until their calls come. op_load.c loads
 * the activities of a group of blocks first, then the calls of the group, each of which removes
 * what it launched. Without records wanted, an entry is only a sum. With records, each activity is
 * kept as a row of its own in a list that starts in the entry of its call.
 *
 *   kernel rows --> gpu_times[correlation] = {ns, nr, list} --> op_launch_remove() by the call
 *                                    list -> record -> record
 *   no such call -> no_call -> record -> record
 */
#include "report/ops/op_launch.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/model/activity.h"
#include "report/model/kernel_class.h"
#include "report/util/progress.h"

/* ---- records ---- */

uint32_t op_record_name(const struct process *process, const struct op_record *record)
{
	return activity_name(process, record->table, record->shape, record->copy, record->graph);
}

const char *op_record_lacks_op(const struct op_record *record, bool has_call)
{
	if (record->is_capture_unknown) {
		return OP_LACKS_CAPTURE;
	}
	return has_call ? OP_LACKS_OPERATOR : "(no launch recorded)";
}

void op_records_fini(struct op_records *records)
{
	free(records->items);
	*records = (struct op_records){0};
}

struct op_record *op_records_add(struct op_records *records, uint32_t *list)
{
	uint32_t number = records->free;
	struct op_record *item;

	if (number) {
		item = &records->items[number - 1];
		records->free = item->next;
	} else {
		records->items = array_grow(records->items, records->nr_items, &records->capacity,
			sizeof(*records->items));
		item = &records->items[records->nr_items++];
		number = (uint32_t)records->nr_items;
	}
	item->next = *list;
	*list = number;
	return item;
}

#define WORK_MASK   (COLS(kernel, dur, correlation))
#define RECORD_MASK (WORK_MASK | COLS(kernel, begin, place, graph, graph_node))

/* Copies and sets have their common columns at the same numbers (format.h). */
_Static_assert((int)COL_memcpy_bytes == (int)COL_memset_bytes, "bytes");

static bool is_call(unsigned int table)
{
	return table >= GPROF_TABLE_api && table <= GPROF_TABLE_api_sync;
}

static struct idset *find_called(struct process *process)
{
	struct idset *called = idset_create();
	struct stream *stream = process->stream;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (!is_call(stream_block_table(stream, i)) ||
			stream_load(stream, i, COLS(api, correlation), 0, &batch)) {
			continue;
		}
		idset_add_all(called, batch.col[COL_api_correlation], batch.nr_rows);
	}
	return called;
}

/* Computed in advance, because the thread that reads blocks must not look into names. */
static bool *find_communication(const struct process *process)
{
	const struct idmap *shapes = &process->shapes;
	bool *is_communication = mem_zeroed(shapes->nr + 1, sizeof(*is_communication));
	bool is_any = false;

	for (size_t i = 0; i < shapes->nr; i++) {
		const struct model_shape *shape = idmap_at(shapes, i);

		is_communication[i] = kernel_class_of(shape->name) == KERNEL_COMMUNICATION;
		is_any |= is_communication[i];
	}
	if (!is_any) {
		free(is_communication);
		is_communication = NULL;
	}
	return is_communication;
}

void op_launch_init(struct op_launch *launch, struct process *process, struct op_records *records)
{
	*launch = (struct op_launch){
		.process = process,
		.records = records,
		.called = records ? find_called(process) : NULL,
		.is_communication = find_communication(process),
	};
}

void op_launch_fini(struct op_launch *launch)
{
	idset_destroy(launch->called);
	gpu_times_fini(&launch->times);
	free(launch->is_communication);
}

/* ---- records ---- */

/* The columns to read of a table, 0 for none. */
static uint32_t mask_of(const struct op_launch *launch, unsigned int table)
{
	bool needs_kind =
		launch->records || (table == GPROF_TABLE_kernel && launch->is_communication);

	if (gprof_table_is(table, GPROF_IS_ACTIVITY)) {
		return (launch->records ? RECORD_MASK : WORK_MASK) |
		       (needs_kind ? activity_kind_mask(table) : 0);
	}
	return launch->records && gprof_table_is(table, GPROF_IS_UNTIMED) ? COL_ALL(NR_COL_untimed)
									  : 0;
}

static void set_record(
	struct op_record *record, struct process *process, const struct batch *b, uint32_t row)
{
	uint64_t begin = b->col[COL_kernel_begin][row], dur = b->col[COL_kernel_dur][row];
	bool is_copy = gprof_table_is(b->table, GPROF_IS_COPYING);

	record->begin_ns = clock_map_time(&process->device_clock, begin);
	/* Durations stay as measured, so that all views have the same sums. */
	record->end_ns = record->begin_ns + dur < dur ? UINT64_MAX : record->begin_ns + dur;
	record->bytes = is_copy ? b->col[COL_memcpy_bytes][row] : 0;
	record->graph_node = b->col[COL_kernel_graph_node][row];
	record->graph = (uint32_t)b->col[COL_kernel_graph][row];
	record->shape =
		b->table == GPROF_TABLE_kernel ? (uint32_t)b->col[COL_kernel_shape][row] : 0;
	record->place = (uint32_t)b->col[COL_kernel_place][row];
	record->correlation = b->col[COL_kernel_correlation][row];
	record->copy = is_copy ? activity_copy(b, row) : 0;
	record->table = (uint8_t)b->table;
	record->is_timed = true;
	record->is_capture_unknown = false;
}

static void set_untimed(struct op_record *record, const struct batch *b, uint32_t row)
{
	*record = (struct op_record){
		.next = record->next,
		.place = (uint32_t)b->col[COL_untimed_place][row],
		.correlation = b->col[COL_untimed_correlation][row],
		.graph = (uint32_t)b->col[COL_untimed_graph][row],
		.graph_node = b->col[COL_untimed_graph_node][row],
		.shape = (uint32_t)b->col[COL_untimed_shape][row],
		.bytes = b->col[COL_untimed_bytes][row],
		.table = (uint8_t)b->col[COL_untimed_table][row],
	};

	if (record->table == GPROF_TABLE_memcpy) {
		record->copy = copy_pack((uint32_t)b->col[COL_untimed_copy_kind][row], 0, 0);
	} else if (record->table == GPROF_TABLE_memset) {
		record->copy = COPY_IS_SET;
	}
}

/* The entry of a record's call, NULL if there is no such call. */
static struct gpu_times_entry *entry_of(struct op_launch *launch, uint64_t correlation)
{
	return idset_has(launch->called, correlation) ? gpu_times_put(&launch->times, correlation)
						      : NULL;
}

/* Room for a record of a call. */
static struct op_record *add_record(struct op_launch *launch, struct gpu_times_entry *entry)
{
	return op_records_add(launch->records, entry ? &entry->records : &launch->no_call);
}

/* ---- blocks ---- */

static bool is_communication(const struct op_launch *launch, const struct batch *b, uint32_t row)
{
	uint64_t shape;
	int64_t place;

	if (!launch->is_communication || b->table != GPROF_TABLE_kernel) {
		return false;
	}
	shape = b->col[COL_kernel_shape][row];
	place = shape > UINT32_MAX ? -1 : idmap_find(&launch->process->shapes, (uint32_t)shape);
	return place >= 0 && launch->is_communication[place];
}

/* An activity without a call would wait for ever, so it goes to the list no_call at once. */
static void add_batch(struct op_launch *launch, const struct batch *b)
{
	for (uint32_t row = 0; row < b->nr_rows; row++) {
		uint64_t correlation = b->col[COL_kernel_correlation][row];
		bool is_comm = is_communication(launch, b, row);
		struct gpu_times_entry *entry;

		if (launch->records) {
			struct op_record *record;

			entry = entry_of(launch, correlation);
			record = add_record(launch, entry);
			set_record(record, launch->process, b, row);
			record->is_communication = is_comm;
		} else {
			entry = gpu_times_put(&launch->times, correlation);
		}
		if (entry) {
			gpu_times_count(entry, b->col[COL_kernel_dur][row]);
			entry->nr_communications += is_comm;
		}
	}
}

static void add_untimed(struct op_launch *launch, const struct batch *b)
{
	for (uint32_t row = 0; row < b->nr_rows; row++) {
		uint64_t correlation = b->col[COL_untimed_correlation][row];

		set_untimed(add_record(launch, entry_of(launch, correlation)), b, row);
	}
}

struct stream_request op_launch_request(const struct op_launch *launch, size_t block)
{
	const struct stream *stream = launch->process->stream;
	unsigned int table = stream_block_table(stream, block);

	return (struct stream_request){
		.stream = stream, .block = block, .mask = mask_of(launch, table)};
}

void op_launch_load(struct op_launch *launch, size_t block)
{
	uint32_t mask = op_launch_request(launch, block).mask;
	struct batch batch;

	if (!mask || stream_load(launch->process->stream, block, mask, 0, &batch)) {
		return;
	}
	if (batch.table == GPROF_TABLE_untimed) {
		add_untimed(launch, &batch);
	} else {
		add_batch(launch, &batch);
	}
	progress_add(batch.nr_rows);
}

/* ---- calls ---- */

bool op_launch_remove(struct op_launch *launch, uint64_t correlation, struct gpu_times_entry *work)
{
	return gpu_times_remove(&launch->times, correlation, work);
}

/* Calls that were announced but could not be read (a damaged block) leave their records behind. */
void op_launch_end(struct op_launch *launch)
{
	struct gpu_times *times = &launch->times;

	for (size_t i = 0; launch->records && i < times->nr_pages * GPU_TIMES_PAGE_IDS; i++) {
		struct gpu_times_page *page = &times->pages[i / GPU_TIMES_PAGE_IDS];
		uint32_t *list = &page->entries[i % GPU_TIMES_PAGE_IDS].records;
		const struct op_record *record;

		while ((record = op_records_pop(launch->records, list))) {
			struct op_record moved = *record, *added;

			added = op_records_add(launch->records, &launch->no_call);
			moved.next = added->next;
			*added = moved;
		}
	}
}
