/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/op_rows.h"

#include "report/util/buf.h"
#include "report/ops/op.h"
#include "report/util/progress.h"

static bool is_wanted(const struct op_rows *rows, unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_nvtx:
		return rows->ranges != NULL;
	case GPROF_TABLE_alloc:
		return rows->want->has_allocs;
	case GPROF_TABLE_op:
	case GPROF_TABLE_api:
	case GPROF_TABLE_api_launch:
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
		return true;
	case GPROF_TABLE_api_alloc:
	case GPROF_TABLE_api_sync:
		return rows->want->has_calls || rows->want->records;
	default:
		return false;
	}
}

uint64_t op_rows_tables(const struct op_rows *rows)
{
	uint64_t tables = 0;

	for (unsigned int table = 0; table < GPROF_NR_TABLES; table++) {
		tables |= (uint64_t)is_wanted(rows, table) << table;
	}
	return tables;
}

/* Reads what domains and registered strings are called, which stands before their first use. */
static struct ranges *name_ranges(struct process *process)
{
	struct stream *stream = process->stream;
	struct ranges *ranges = ranges_create();

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_nvtx &&
			!stream_load(stream, i, RANGES_MASK, 0, &batch)) {
			ranges_take_names(ranges, process, &batch);
		}
	}
	return ranges;
}

void op_rows_init(struct op_rows *rows, struct process *process, const struct op_load_want *want,
	struct op_launch *launch)
{
	*rows = (struct op_rows){.process = process,
		.want = want,
		.launch = launch,
		.ranges = want->has_ranges ? name_ranges(process) : NULL};
}

void op_rows_fini(struct op_rows *rows)
{
	ranges_destroy(rows->ranges);
}

/* ---- rows ---- */

/* Room for so many more; they are there once `nr` says so. */
static struct op_event *make_room(struct op_events *events, size_t nr_more)
{
	if (events->capacity < events->nr + nr_more) {
		events->capacity = events->nr + events->nr / 4 + nr_more;
		events->items = mem_resize(events->items, events->capacity, sizeof(*events->items));
	}
	return nr_more ? events->items + events->nr : events->items;
}

void op_rows_append(struct op_events *events, const struct op_event *more, size_t nr_more)
{
	struct op_event *event = make_room(events, nr_more);

	for (size_t i = 0; i < nr_more; i++) {
		event[i] = more[i];
	}
	events->nr += nr_more;
}

/* The end of a span that may be anything in a damaged stream. */
static uint64_t end_of(uint64_t begin, uint64_t dur)
{
	return begin + dur < begin ? UINT64_MAX : begin + dur;
}

/* The name of an op row: by its id, or its own text. New names are made by op_rows_name alone. */
static inline void set_name(
	struct op_event *event, const struct process *process, uint64_t op_name_id, uint64_t string)
{
	const struct idmap *map = op_name_id ? &process->op_names : &process->strings;
	uint64_t id = op_name_id ? op_name_id : string;
	const uint32_t *name = id <= UINT32_MAX ? idmap_get(map, (uint32_t)id) : NULL;

	event->name = name && id ? *name : 0;
	event->is_unnamed = !name && id;
	event->address = op_name_id ? UINT32_MAX : string;
}

void op_rows_name(const struct op_rows *rows, struct op_event *event)
{
	event->name = process_string(rows->process, event->address);
	event->is_unnamed = false;
}

static void take_ops(struct op_rows *rows, const struct batch *b, struct op_events *events)
{
	const struct process *process = rows->process;
	struct op_event *event = make_room(events, b->nr_rows);
	uint32_t order = rows->order;

	for (uint32_t i = 0; i < b->nr_rows; i++, event++) {
		uint64_t shape_id = b->col[COL_op_op_shape][i];
		const uint32_t *shape = NULL;

		/* More than a cache holds: what is written soon is fetched meanwhile. */
		__builtin_prefetch(event + 16, 1);
		if (shape_id && shape_id <= UINT32_MAX) {
			shape = idmap_get(&process->op_shapes, (uint32_t)shape_id);
		}
		event->order = ++order;
		event->kind = OP_EVENT_OP;
		event->begin = b->col[COL_op_begin][i];
		event->end = end_of(b->col[COL_op_begin][i], b->col[COL_op_dur][i]);
		event->thread = (uint32_t)b->col[COL_op_thread][i];
		event->value = 0;
		set_name(event, process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]);
		event->shape = shape ? *shape : 0;
		event->py_stack = (uint32_t)b->col[COL_op_py_stack][i];
		event->nr_works = 0;
		event->depth = (uint16_t)b->col[COL_op_depth][i];
		event->framework = (uint8_t)b->col[COL_op_framework][i];
		event->scope = (uint8_t)b->col[COL_op_scope][i];
		event->device = 0;
		event->is_async = b->col[COL_op_end_thread][i] &&
				  b->col[COL_op_end_thread][i] != b->col[COL_op_thread][i];
	}
	rows->order = order;
	events->nr += b->nr_rows;
}

static void take_allocs(struct op_rows *rows, const struct batch *b, struct op_events *events)
{
	struct op_event *event = make_room(events, b->nr_rows);

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		*event++ = (struct op_event){.order = ++rows->order,
			.kind = OP_EVENT_ALLOC,
			.begin = b->col[COL_alloc_time][i],
			.end = b->col[COL_alloc_time][i],
			.value = b->col[COL_alloc_bytes][i],
			.address = b->col[COL_alloc_address][i],
			.thread = (uint32_t)b->col[COL_alloc_thread][i],
			.scope = (uint8_t)b->col[COL_alloc_device_type][i],
			.device = (uint8_t)b->col[COL_alloc_device][i]};
	}
	events->nr += b->nr_rows;
}

static void take_calls(struct op_rows *rows, const struct batch *b, struct op_events *events)
{
	const uint64_t *stacks =
		b->table == GPROF_TABLE_api_launch ? b->col[COL_api_launch_py_stack] : NULL;
	bool is_whole = b->col[COL_api_result] != NULL;
	struct op_event *event = make_room(events, b->nr_rows), *first = event;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t correlation = (uint32_t)b->col[COL_api_correlation][i];
		uint32_t py_stack = stacks ? (uint32_t)stacks[i] : 0;
		struct gpu_times_entry work = {0};

		if (!op_launch_take(rows->launch, correlation, &work) && !py_stack &&
			!rows->want->has_calls) {
			continue;
		}
		*event++ = (struct op_event){.order = ++rows->order,
			.kind = OP_EVENT_WORK,
			.begin = b->col[COL_api_begin][i],
			.end = end_of(b->col[COL_api_begin][i], b->col[COL_api_dur][i]),
			.value = work.ns,
			.nr_works = work.nr_works,
			.is_communication =
				work.nr_works && work.nr_works == work.nr_communications,
			.correlation = correlation,
			.records = work.records,
			.py_stack = py_stack,
			.call = is_whole ? (uint32_t)b->col[COL_api_call][i] : 0,
			.result = is_whole ? (int32_t)b->col[COL_api_result][i] : 0,
			.table = (uint8_t)b->table,
			.thread = (uint32_t)b->col[COL_api_thread][i]};
	}
	events->nr += (size_t)(event - first);
}

static void take_ranges(struct op_rows *rows, const struct batch *b, struct op_events *events)
{
	struct op_event *event = make_room(events, b->nr_rows), *first = event;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		bool is_push = b->col[COL_nvtx_op][i] == GPROF_NVTX_PUSH;

		if (!is_push && b->col[COL_nvtx_op][i] != GPROF_NVTX_POP) {
			continue;
		}
		*event++ = (struct op_event){.order = ++rows->order,
			.kind = is_push ? OP_EVENT_PUSH : OP_EVENT_POP,
			.begin = b->col[COL_nvtx_time][i],
			.end = b->col[COL_nvtx_time][i],
			.value = b->col[COL_nvtx_domain][i],
			.thread = (uint32_t)b->col[COL_nvtx_thread][i],
			.name = is_push ? ranges_name(rows->ranges, rows->process, b, i) : 0};
	}
	events->nr += (size_t)(event - first);
}

/* ---- blocks ---- */

static uint32_t mask_of(const struct op_rows *rows, unsigned int table)
{
	static const uint32_t alloc_mask = COL_BIT(COL_alloc_time) | COL_BIT(COL_alloc_address) |
					   COL_BIT(COL_alloc_bytes) | COL_BIT(COL_alloc_thread) |
					   COL_BIT(COL_alloc_device_type) |
					   COL_BIT(COL_alloc_device);
	uint32_t call_mask = COL_BIT(COL_api_begin) | COL_BIT(COL_api_dur) |
			     COL_BIT(COL_api_thread) | COL_BIT(COL_api_correlation);

	if (rows->want->has_calls || rows->want->records) {
		call_mask |= COL_BIT(COL_api_result) | COL_BIT(COL_api_call);
	}
	switch (table) {
	case GPROF_TABLE_op:
		return COL_ALL(NR_COL_op) & ~COL_BIT(COL_op_sequence);
	case GPROF_TABLE_alloc:
		return alloc_mask;
	case GPROF_TABLE_nvtx:
		return RANGES_MASK;
	case GPROF_TABLE_api_launch:
		return call_mask | COL_BIT(COL_api_launch_py_stack);
	default:
		return call_mask;
	}
}

struct stream_request op_rows_request(const struct op_rows *rows, size_t block)
{
	const struct stream *stream = rows->process->stream;
	unsigned int table = stream_block_table(stream, block);

	return (struct stream_request){.stream = stream,
		.block = block,
		.mask = is_wanted(rows, table) ? mask_of(rows, table) : 0};
}

void op_rows_load(struct op_rows *rows, size_t block, struct op_events *events)
{
	uint32_t mask = op_rows_request(rows, block).mask;
	struct batch batch;

	if (!mask || stream_load(rows->process->stream, block, mask, 0, &batch)) {
		return;
	}
	switch (batch.table) {
	case GPROF_TABLE_op:
		take_ops(rows, &batch, events);
		break;
	case GPROF_TABLE_alloc:
		take_allocs(rows, &batch, events);
		break;
	case GPROF_TABLE_nvtx:
		take_ranges(rows, &batch, events);
		break;
	default:
		take_calls(rows, &batch, events);
		break;
	}
	progress_add(batch.nr_rows);
}
