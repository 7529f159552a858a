/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the activities of GPUs: kernels, copies, sets, graphs, synchronizations, and the profiler's
 * overhead.
 */
#include "report/import/nsys/trace.h"

#include <string.h>

#include "report/import/call.h"
#include "report/model/api.h"

#define UNKNOWN UINT32_MAX
#define UNNAMED "(unknown kernel)"

/* The columns that the tables of activities have in common. */
enum {
	BEGIN,
	END,
	DEVICE,
	CONTEXT,
	STREAM,
	CORRELATION,
	GRAPH_NODE,
	GRAPH,
	NR_COMMON,
};

#define COMMON                                                                               \
	"start", "end", "deviceId", "contextId", "streamId", "correlationId", "graphNodeId", \
		"graphId"

struct activity {
	uint64_t begin, end;
	uint32_t place, correlation, graph;
	uint64_t graph_node;
};

/* False if it has no time: then it counts, but has no row among those with times. */
static bool read_activity(struct nsys_trace *trace, const struct nsys_query *query, uint64_t begin,
	struct activity *activity)
{
	*activity = (struct activity){.begin = begin,
		.place = import_out_place(trace->out, nsys_query_u32(query, DEVICE, UNKNOWN),
			nsys_query_u32(query, CONTEXT, 0), nsys_query_u32(query, STREAM, 0)),
		.correlation = nsys_query_u32(query, CORRELATION, 0),
		.graph = nsys_query_u32(query, GRAPH, 0),
		.graph_node = nsys_query_u64(query, GRAPH_NODE, 0)};
	nsys_tick(query, END, &activity->end);
	return activity->end >= begin && activity->end != NSYS_TICKS_BEFORE /* 0: no time */;
}

static void write_untimed(struct nsys_trace *trace, const struct activity *activity, uint8_t table,
	uint32_t shape, uint64_t bytes, uint8_t copy_kind)
{
	struct gprof_row_untimed *row = import_out_row(trace->out, GPROF_TABLE_untimed);

	row->place = activity->place;
	row->correlation = activity->correlation;
	row->graph = activity->graph;
	row->graph_node = activity->graph_node;
	row->shape = shape;
	row->bytes = bytes;
	row->table = table;
	row->copy_kind = copy_kind;
}

#define WRITE_COMMON(row, from)                           \
	do {                                              \
		(row)->begin = (from)->begin;             \
		(row)->dur = (from)->end;                 \
		(row)->place = (from)->place;             \
		(row)->correlation = (from)->correlation; \
		(row)->graph = (from)->graph;             \
		(row)->graph_node = (from)->graph_node;   \
	} while (0)

/* ---- kernels ---- */

enum {
	MANGLED = NR_COMMON,
	DEMANGLED,
	SHORT,
	LAUNCH_TYPE,
	REGISTERS,
	STATIC_SHARED,
	DYNAMIC_SHARED,
	LOCAL,
	GRID,
	BLOCK = GRID + 3,
	CLUSTER = BLOCK + 3,
};

static const char *const kernel_columns[] = {COMMON, "mangledName", "demangledName", "shortName",
	"launchType", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
	"localMemoryPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "clusterX",
	"clusterY", "clusterZ"};

/* The mangled name is best, since the report demangles names itself; the others stand in for it. */
static void take_kernel(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	struct gprof_row_shape shape;
	struct gprof_row_kernel *row;
	struct activity activity;
	uint32_t id;

	memset(&shape, 0, sizeof(shape)); /* its padding is part of the key */
	for (unsigned int column = MANGLED; !shape.name && column <= SHORT; column++) {
		shape.name = nsys_string(trace, query, column);
	}
	if (!shape.name) {
		shape.name = import_out_string(trace->out, UNNAMED, strlen(UNNAMED));
	}
	shape.grid_x = nsys_query_u32(query, GRID, 0);
	shape.grid_y = nsys_query_u32(query, GRID + 1, 0);
	shape.grid_z = nsys_query_u32(query, GRID + 2, 0);
	shape.block_x = nsys_query_u32(query, BLOCK, 0);
	shape.block_y = nsys_query_u32(query, BLOCK + 1, 0);
	shape.block_z = nsys_query_u32(query, BLOCK + 2, 0);
	shape.cluster_x = nsys_query_u32(query, CLUSTER, 0);
	shape.cluster_y = nsys_query_u32(query, CLUSTER + 1, 0);
	shape.cluster_z = nsys_query_u32(query, CLUSTER + 2, 0);
	shape.registers = nsys_query_u32(query, REGISTERS, 0);
	shape.static_shared_bytes = nsys_query_u32(query, STATIC_SHARED, 0);
	shape.dynamic_shared_bytes = nsys_query_u32(query, DYNAMIC_SHARED, 0);
	shape.local_bytes = nsys_query_u32(query, LOCAL, 0);
	shape.launch_type = nsys_query_u32(query, LAUNCH_TYPE, 0);
	id = import_out_shape(trace->out, &shape);
	if (!read_activity(trace, query, tick, &activity)) {
		write_untimed(trace, &activity, GPROF_TABLE_kernel, id, 0, 0);
		return;
	}
	row = import_out_row(trace->out, GPROF_TABLE_kernel);
	WRITE_COMMON(row, &activity);
	row->shape = id;
}

/* ---- copies and sets ---- */

/* A number of one of the export's enumerations as CUPTI has it. */
static uint8_t convert_kind(const uint8_t kinds[NSYS_KINDS], uint32_t kind)
{
	return kind < NSYS_KINDS ? kinds[kind] : 0;
}

enum {
	BYTES = NR_COMMON,
	COPY_KIND,
	SRC_KIND,
	DST_KIND,
	SRC_DEVICE,
	SRC_CONTEXT,
	DST_DEVICE,
	DST_CONTEXT,
};

static const char *const copy_columns[] = {COMMON, "bytes", "copyKind", "srcKind", "dstKind",
	"srcDeviceId", "srcContextId", "dstDeviceId", "dstContextId"};

/* Migrations of unified memory have numbers that CUPTI's copies have not. */
static uint8_t copy_kind(uint32_t kind)
{
	static const char *const names[] = {
		"Unified Memory HtoD", "Unified Memory DtoH", "Unified Memory DtoD"};

	if (kind <= API_COPY_PTOP) {
		return (uint8_t)kind;
	}
	kind -= API_COPY_PTOP + 1;
	return kind < 3 ? (uint8_t)api_add_name(names[kind], strlen(names[kind]), true) : 0;
}

static void take_copy(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	uint64_t bytes = nsys_query_u64(query, BYTES, 0);
	uint8_t kind = copy_kind(nsys_query_u32(query, COPY_KIND, 0));
	struct gprof_row_memcpy *row;
	struct activity activity;

	if (!read_activity(trace, query, tick, &activity)) {
		write_untimed(trace, &activity, GPROF_TABLE_memcpy, 0, bytes, kind);
		return;
	}
	row = import_out_row(trace->out, GPROF_TABLE_memcpy);
	WRITE_COMMON(row, &activity);
	row->bytes = bytes;
	row->copy_kind = kind;
	row->src_kind = convert_kind(trace->memory_kinds, nsys_query_u32(query, SRC_KIND, 15));
	row->dst_kind = convert_kind(trace->memory_kinds, nsys_query_u32(query, DST_KIND, 15));
	row->src_device = nsys_query_u32(query, SRC_DEVICE, 0);
	row->src_context = nsys_query_u32(query, SRC_CONTEXT, 0);
	row->dst_device = nsys_query_u32(query, DST_DEVICE, 0);
	row->dst_context = nsys_query_u32(query, DST_CONTEXT, 0);
	row->flags = (uint8_t)import_copy_flags(trace->called, trace->async, activity.correlation);
}

enum {
	SET_BYTES = NR_COMMON,
	SET_VALUE,
	SET_KIND,
};

static const char *const set_columns[] = {COMMON, "bytes", "value", "memKind"};

static void take_set(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	uint64_t bytes = nsys_query_u64(query, SET_BYTES, 0);
	struct gprof_row_memset *row;
	struct activity activity;

	if (!read_activity(trace, query, tick, &activity)) {
		write_untimed(trace, &activity, GPROF_TABLE_memset, 0, bytes, 0);
		return;
	}
	row = import_out_row(trace->out, GPROF_TABLE_memset);
	WRITE_COMMON(row, &activity);
	row->bytes = bytes;
	row->value = nsys_query_u32(query, SET_VALUE, 0);
	row->memory_kind = convert_kind(trace->memory_kinds, nsys_query_u32(query, SET_KIND, 15));
	row->flags = (uint8_t)import_copy_flags(trace->called, trace->async, activity.correlation);
}

/* ---- graphs ---- */

static const char *const graph_columns[] = {COMMON};

static void take_graph(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	struct gprof_row_graph *row;
	struct activity activity;

	if (!read_activity(trace, query, tick, &activity)) {
		write_untimed(trace, &activity, GPROF_TABLE_graph, 0, 0, 0);
		return;
	}
	row = import_out_row(trace->out, GPROF_TABLE_graph);
	WRITE_COMMON(row, &activity);
}

/* ---- synchronizations and events ---- */

enum {
	SYNC_TYPE = NR_COMMON,
	SYNC_OLD_TYPE,
	SYNC_EVENT,
	SYNC_EVENT_SYNC,
};

static const char *const sync_columns[] = {
	COMMON, "syncType", "deprecatedSyncType", "eventId", "eventSyncId"};

static void take_sync(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	unsigned int type = nsys_query_has(query, SYNC_TYPE) ? SYNC_TYPE : SYNC_OLD_TYPE;
	struct gprof_row_sync *row;
	struct activity activity;

	if (!read_activity(trace, query, tick, &activity)) {
		trace->nr_incomplete++;
		return;
	}
	row = import_out_row(trace->out, GPROF_TABLE_sync);
	row->begin = activity.begin;
	row->dur = activity.end;
	row->place = activity.place;
	row->correlation = activity.correlation;
	row->event = nsys_query_u32(query, SYNC_EVENT, 0);
	row->event_sync = nsys_query_u64(query, SYNC_EVENT_SYNC, 0);
	row->type = convert_kind(trace->sync_types, nsys_query_u32(query, type, 15));
}

/* ---- allocations ---- */

enum {
	MEMORY_TIME,
	MEMORY_DEVICE,
	MEMORY_CONTEXT,
	MEMORY_STREAM,
	MEMORY_CORRELATION,
	MEMORY_ADDRESS,
	MEMORY_BYTES,
	MEMORY_KIND,
	MEMORY_OPERATION,
	MEMORY_NAME,
};

static const char *const memory_columns[] = {"start", "deviceId", "contextId", "streamId",
	"correlationId", "address", "bytes", "memKind", "memoryOperationType", "name"};

static void take_memory(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	struct gprof_row_memory *row;
	size_t nr_bytes;
	const char *name = nsys_query_text(query, MEMORY_NAME, &nr_bytes);
	uint32_t string = name ? import_out_string(trace->out, name, nr_bytes) : 0;
	uint32_t place = import_out_place(trace->out, nsys_query_u32(query, MEMORY_DEVICE, UNKNOWN),
		nsys_query_u32(query, MEMORY_CONTEXT, 0), nsys_query_u32(query, MEMORY_STREAM, 0));

	row = import_out_row(trace->out, GPROF_TABLE_memory);
	row->time = tick;
	row->place = place;
	row->correlation = nsys_query_u32(query, MEMORY_CORRELATION, 0);
	row->address = nsys_query_u64(query, MEMORY_ADDRESS, 0);
	row->bytes = nsys_query_u64(query, MEMORY_BYTES, 0);
	row->source = string;
	/* CUPTI's: 1 allocates, 2 releases; the export's begin with 0. */
	row->op = (uint8_t)(nsys_query_u32(query, MEMORY_OPERATION, 1) + 1);
	row->memory_kind =
		convert_kind(trace->memory_kinds, nsys_query_u32(query, MEMORY_KIND, 15));
	row->is_async = idset_has(trace->async, row->correlation) ? 1 : 0;
}

/* ---- overhead ---- */

enum {
	OVERHEAD_THREAD = 2,
	OVERHEAD_CORRELATION,
	OVERHEAD_TYPE,
	OVERHEAD_KIND,
};

/* overheadType is CUPTI's; kind is what gprof writes. */
static const char *const overhead_columns[] = {
	"start", "end", "globalTid", "correlationId", "overheadType", "kind"};

static void take_overhead(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	struct gprof_row_overhead *row;
	uint64_t end = 0;

	if (!nsys_tick(query, END, &end) || end < tick) {
		trace->nr_incomplete++;
		return;
	}
	row = import_out_row(trace->out, GPROF_TABLE_overhead);
	row->begin = tick;
	row->dur = end;
	row->tid = (uint32_t)(nsys_query_u64(query, OVERHEAD_THREAD, 0) & NSYS_ID_MASK);
	row->correlation = nsys_query_u32(query, OVERHEAD_CORRELATION, 0);
	row->overhead_kind = nsys_query_u32(
		query, nsys_query_has(query, OVERHEAD_TYPE) ? OVERHEAD_TYPE : OVERHEAD_KIND, 0);
}

const struct nsys_source nsys_gpu_sources[] = {
	{.table = "CUPTI_ACTIVITY_KIND_KERNEL",
		NSYS_COLUMNS(kernel_columns),
		.nr_needed = 2,
		.key = "globalPid",
		.take = take_kernel},
	{.table = "CUPTI_ACTIVITY_KIND_MEMCPY",
		NSYS_COLUMNS(copy_columns),
		.nr_needed = 2,
		.key = "globalPid",
		.take = take_copy},
	{.table = "CUPTI_ACTIVITY_KIND_MEMSET",
		NSYS_COLUMNS(set_columns),
		.nr_needed = 2,
		.key = "globalPid",
		.take = take_set},
	{.table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
		NSYS_COLUMNS(graph_columns),
		.nr_needed = 2,
		.key = "globalPid",
		.take = take_graph},
	{.table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
		NSYS_COLUMNS(sync_columns),
		.nr_needed = 2,
		.key = "globalPid",
		.take = take_sync},
	{.table = "CUDA_GPU_MEMORY_USAGE_EVENTS",
		NSYS_COLUMNS(memory_columns),
		.nr_needed = 1,
		.key = "globalPid",
		.is_by_begin = true,
		.take = take_memory},
	{.table = "CUPTI_ACTIVITY_KIND_OVERHEAD",
		NSYS_COLUMNS(overhead_columns),
		.nr_needed = 2,
		.key = "globalTid",
		.take = take_overhead},
	{.table = "PROFILER_OVERHEAD",
		NSYS_COLUMNS(overhead_columns),
		.nr_needed = 2,
		.is_of_system = true,
		.key = "globalTid",
		.take = take_overhead},
	{0},
};

/* ---- events of streams, which have no order ---- */

enum {
	EVENT_TIME,
	EVENT_DEVICE,
	EVENT_CONTEXT,
	EVENT_STREAM,
	EVENT_CORRELATION,
	EVENT_ID,
};

static void take_event(struct nsys_trace *trace, const struct nsys_query *query, void *context)
{
	uint32_t place = import_out_place(trace->out, nsys_query_u32(query, EVENT_DEVICE, UNKNOWN),
		nsys_query_u32(query, EVENT_CONTEXT, 0), nsys_query_u32(query, EVENT_STREAM, 0));
	struct gprof_row_event *row = import_out_row(trace->out, GPROF_TABLE_event);

	(void)context;
	/* Most have no time. Then it is none that would move the begin of the trace. */
	if (!nsys_tick(query, EVENT_TIME, &row->time) || row->time == NSYS_TICKS_BEFORE) {
		row->time = trace->first_tick;
	}
	row->place = place;
	row->correlation = nsys_query_u32(query, EVENT_CORRELATION, 0);
	row->event = nsys_query_u32(query, EVENT_ID, 0);
}

void nsys_gpu_read_events(struct nsys_trace *trace)
{
	static const char *const columns[] = {
		"timestamp", "deviceId", "contextId", "streamId", "correlationId", "eventId"};
	const struct nsys_query_want want = {.table = "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
		NSYS_COLUMNS(columns),
		.key = "globalPid"};

	nsys_table_read(trace, &want, take_event, NULL);
}
