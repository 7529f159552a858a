/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function for each kind of record. The library's record may be shorter than our struct (READ).
 * Kernels are most of the records: a cache by their raw fields finds the shape of most of them
 * without the dictionary.
 */
#include "collector/cupti/record.h"

#include <stdbool.h>
#include <string.h>

#include "collector/cupti/cupti.h"
#include "collector/cupti/device.h"
#include "collector/cupti/share_clock.h"
#include "collector/format/format.h"
#include "collector/hang/hang.h"
#include "collector/step/step.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/util/clock.h"
#include "collector/util/loss.h"

#define NO_DEVICE	 UINT32_MAX
#define NR_KNOWN_KERNELS 4096u

/*
 * Returns a record as our struct: in place if the library's layout is at least as long, else a copy
 * whose missing tail fields are 0.
 */
#define READ(type, record)          \
	struct type copy_of_record; \
	const struct type *const r = read_record(&copy_of_record, sizeof(copy_of_record), record)

static inline const void *read_record(void *copy, size_t bytes, const struct cupti_record *record)
{
	size_t has_bytes = cupti_record_bytes(record->kind);

	if (has_bytes >= bytes) {
		return record;
	}
	memcpy(copy, record, has_bytes);
	memset((char *)copy + has_bytes, 0, bytes - has_bytes);
	return copy;
}

/* The fields that all GPU activities have. */
struct work {
	unsigned int table;
	uint64_t start_ns, end_ns;
	uint32_t place, correlation, graph, shape;
	uint64_t graph_node, bytes;
	uint8_t copy_kind;
};

/*
 * Adds the row of a GPU activity with its common columns (the caller fills in all others). Returns
 * NULL if it has no times or was not requested. A zero start means that CUPTI had no device buffer,
 * which GetNumDroppedRecords does not count.
 */
static inline __attribute__((always_inline)) void *add_work(const struct work *w)
{
	struct gprof_row_graph *row; /* the common columns and no other */

	if (!step_is_recorded(w->correlation)) {
		return NULL;
	}
	if (!w->start_ns || !w->end_ns || w->end_ns < w->start_ns) {
		struct gprof_row_untimed *untimed = batch_add(GPROF_TABLE_untimed);

		untimed->place = w->place;
		untimed->correlation = w->correlation;
		untimed->graph = w->graph;
		untimed->graph_node = w->graph_node;
		untimed->shape = w->shape;
		untimed->bytes = w->bytes;
		untimed->table = (uint8_t)w->table;
		untimed->copy_kind = w->copy_kind;
		return NULL;
	}
	row = batch_slot(w->table);
	row->begin = share_clock_time(w->start_ns);
	row->dur = share_clock_time(w->end_ns);
	row->place = w->place;
	row->correlation = w->correlation;
	row->graph = w->graph;
	row->graph_node = w->graph_node;
	if (hang_is_on) {
		hang_work_ended(w->table, w->place, w->correlation, w->shape, row->dur);
	}
	return row;
}

static uint32_t find_shape(const struct cupti_kernel *r, uint32_t name_id)
{
	struct gprof_row_shape shape;

	memset(&shape, 0, sizeof(shape)); /* it is hashed with its padding */
	shape.name = name_id;
	shape.grid_x = (uint32_t)r->grid[0];
	shape.grid_y = (uint32_t)r->grid[1];
	shape.grid_z = (uint32_t)r->grid[2];
	shape.block_x = (uint32_t)r->block[0];
	shape.block_y = (uint32_t)r->block[1];
	shape.block_z = (uint32_t)r->block[2];
	shape.cluster_x = r->cluster[0];
	shape.cluster_y = r->cluster[1];
	shape.cluster_z = r->cluster[2];
	shape.registers = r->registers_per_thread;
	shape.static_shared_bytes = (uint32_t)r->static_shared_bytes;
	shape.dynamic_shared_bytes = (uint32_t)r->dynamic_shared_bytes;
	shape.local_bytes = r->local_bytes_per_thread;
	shape.launch_type = r->launch_type;
	return dictionary_shape(&shape);
}

/*
 * Most kernels repeat an earlier launch: the raw fields of the record identify them. One cache line
 * each.
 */
struct known_kernel {
	int32_t launch[8]; /* grid, block, static and dynamic shared memory: neighbours in a record
			    */
	uint32_t cluster[3];
	uint32_t local_bytes;
	uint32_t name;
	uint32_t shape; /* 0: none yet */
	uint16_t registers;
	uint8_t launch_type;
} __attribute__((aligned(64)));

/* A kernel may be in either of two neighbouring entries; a new one replaces one of them in turn. */
static struct record_state {
	struct known_kernel kernels[NR_KNOWN_KERNELS];
	uint32_t turn;
} state;

void record_init(void)
{
	memset(&state, 0, sizeof(state));
}

void record_begin_buffer(void)
{
	dictionary_names_may_change();
}

static inline bool is_known(
	const struct known_kernel *k, const struct cupti_kernel *r, uint32_t name)
{
	return k->shape && k->name == name && !memcmp(k->launch, r->grid, sizeof(k->launch)) &&
	       !memcmp(k->cluster, r->cluster, sizeof(k->cluster)) &&
	       k->local_bytes == r->local_bytes_per_thread &&
	       k->registers == r->registers_per_thread && k->launch_type == r->launch_type;
}

static __attribute__((noinline)) uint32_t new_kernel(
	struct known_kernel *k, const struct cupti_kernel *r, uint32_t name)
{
	memcpy(k->launch, r->grid, sizeof(k->launch));
	memcpy(k->cluster, r->cluster, sizeof(k->cluster));
	k->local_bytes = r->local_bytes_per_thread;
	k->registers = r->registers_per_thread;
	k->launch_type = r->launch_type;
	k->name = name;
	k->shape = find_shape(r, name);
	return k->shape;
}

static uint32_t kernel_shape(const struct cupti_kernel *r)
{
	uint32_t name = dictionary_name(r->name);
	uint64_t hash = name * 0x9e3779b97f4a7c15u +
			((uint32_t)r->grid[0] | (uint64_t)(uint32_t)r->block[0] << 32) *
				0xc2b2ae3d27d4eb4fu;
	uint32_t slot = hash >> 52;

	if (is_known(&state.kernels[slot], r, name)) {
		return state.kernels[slot].shape;
	}
	if (is_known(&state.kernels[slot ^ 1], r, name)) {
		return state.kernels[slot ^ 1].shape;
	}
	return new_kernel(&state.kernels[slot ^ (state.turn++ & 1)], r, name);
}

_Static_assert(offsetof(struct cupti_kernel, dynamic_shared_bytes) + sizeof(int32_t) -
			       offsetof(struct cupti_kernel, grid) ==
		       sizeof(((struct known_kernel *)0)->launch),
	"compared as one piece");

/* Returns when a kernel ended, on the clock of steps: its record comes later. */
static uint64_t raw_of_end(uint64_t end_ns)
{
	struct clock_pair now;
	uint64_t then_ns;

	if (!end_ns || !cupti_is_live() ||
		!share_clock_read_pair(clock_monotonic_ns, cupti_timestamp, &now)) {
		return clock_raw();
	}
	then_ns = share_clock_time(end_ns);
	return clock_raw_at(now.ours - (now.theirs > then_ns ? now.theirs - then_ns : 0));
}

static void take_kernel(const struct cupti_record *record)
{
	READ(cupti_kernel, record);
	const struct work w = {.table = GPROF_TABLE_kernel,
		.start_ns = r->start_ns,
		.end_ns = r->end_ns,
		.place = dictionary_place(r->device_id, r->context_id, r->stream_id),
		.correlation = r->correlation_id,
		.graph = r->graph_id,
		.graph_node = r->graph_node_id,
		.shape = kernel_shape(r)};
	struct gprof_row_kernel *row = add_work(&w);

	if (row) {
		row->shape = w.shape;
		row->channel = r->channel_id;
	}
	if (step_is_kernel(r->name)) {
		/* Also after the end, of the last records. */
		step_mark_at(GPROF_STEP_KERNEL, raw_of_end(w.end_ns));
	}
}

/* The memory spaces of a copy, if the record has them. */
struct ends {
	uint32_t src_device, src_context;
	uint32_t dst_device, dst_context;
};

/* Both kinds of copy record have these fields, at different offsets. */
#define ADD_COPY(r, ends, more_flags)                                                              \
	do {                                                                                       \
		const struct work w = {.table = GPROF_TABLE_memcpy,                                \
			.start_ns = (r)->start_ns,                                                 \
			.end_ns = (r)->end_ns,                                                     \
			.place =                                                                   \
				dictionary_place((r)->device_id, (r)->context_id, (r)->stream_id), \
			.correlation = (r)->correlation_id,                                        \
			.graph = (r)->graph_id,                                                    \
			.graph_node = (r)->graph_node_id,                                          \
			.bytes = (r)->bytes,                                                       \
			.copy_kind = (r)->copy_kind};                                              \
		struct gprof_row_memcpy *row = add_work(&w);                                       \
                                                                                                   \
		if (row) {                                                                         \
			row->bytes = (r)->bytes;                                                   \
			row->src_device = (ends)->src_device;                                      \
			row->dst_device = (ends)->dst_device;                                      \
			row->src_context = (ends)->src_context;                                    \
			row->dst_context = (ends)->dst_context;                                    \
			row->channel = (r)->channel_id;                                            \
			row->copy_kind = (r)->copy_kind;                                           \
			row->src_kind = (r)->src_kind;                                             \
			row->dst_kind = (r)->dst_kind;                                             \
			row->flags = ((r)->flags & CUPTI_FLAG_ASYNC) | (more_flags);               \
		}                                                                                  \
	} while (0)

static void take_memcpy(const struct cupti_record *record)
{
	READ(cupti_memcpy, record);
	const struct ends ends = {r->device_id, r->context_id, r->device_id, r->context_id};

	ADD_COPY(r, &ends, 0);
}

static void take_memcpy_peer(const struct cupti_record *record)
{
	READ(cupti_memcpy_peer, record);
	const struct ends ends = {
		r->src_device_id, r->src_context_id, r->dst_device_id, r->dst_context_id};

	ADD_COPY(r, &ends, GPROF_COPY_PEER);
}

static void take_memset(const struct cupti_record *record)
{
	READ(cupti_memset, record);
	const struct work w = {.table = GPROF_TABLE_memset,
		.start_ns = r->start_ns,
		.end_ns = r->end_ns,
		.place = dictionary_place(r->device_id, r->context_id, r->stream_id),
		.correlation = r->correlation_id,
		.graph = r->graph_id,
		.graph_node = r->graph_node_id,
		.bytes = r->bytes};
	struct gprof_row_memset *row = add_work(&w);

	if (row) {
		row->bytes = r->bytes;
		row->value = r->value;
		row->channel = r->channel_id;
		row->memory_kind = (uint8_t)r->memory_kind;
		row->flags = (uint8_t)r->flags;
	}
}

static void take_graph(const struct cupti_record *record)
{
	READ(cupti_graph, record);
	const struct work w = {.table = GPROF_TABLE_graph,
		.start_ns = r->start_ns,
		.end_ns = r->end_ns,
		.place = dictionary_place(r->device_id, r->context_id, r->stream_id),
		.correlation = r->correlation_id,
		.graph = r->graph_id};

	add_work(&w);
}

static void take_sync(const struct cupti_record *record)
{
	READ(cupti_sync, record);
	struct gprof_row_sync *row;

	if (!step_is_recorded(r->correlation_id)) {
		return;
	}
	if (!r->start_ns || r->end_ns < r->start_ns) {
		loss_add(LOSS_CUPTI_TIMES, 1);
		return;
	}
	row = batch_add(GPROF_TABLE_sync);
	row->begin = share_clock_time(r->start_ns);
	row->dur = share_clock_time(r->end_ns);
	row->place = dictionary_place(NO_DEVICE, r->context_id, r->stream_id);
	row->correlation = r->correlation_id;
	row->event = r->event_id;
	row->event_sync = r->event_sync_id;
	row->result = (int32_t)r->return_value;
	row->type = (uint8_t)r->type;
}

static void take_memory(const struct cupti_record *record)
{
	READ(cupti_memory, record);
	struct gprof_row_memory *row;

	if (!step_is_recorded(r->correlation_id)) {
		return;
	}
	row = batch_add(GPROF_TABLE_memory);
	row->time = share_clock_time(r->time_ns);
	row->place = dictionary_place(r->device_id, r->context_id, r->stream_id);
	row->correlation = r->correlation_id;
	row->address = r->address;
	row->bytes = r->bytes;
	row->source = dictionary_name(r->source);
	row->op = (uint8_t)r->operation;
	row->memory_kind = (uint8_t)r->memory_kind;
	row->is_async = r->is_async != 0;
}

static void take_overhead(const struct cupti_record *record)
{
	READ(cupti_overhead, record);
	struct gprof_row_overhead *row;

	if (!step_has_recorded()) { /* CUPTI runs before that, to be warm */
		return;
	}
	if (!r->start_ns || r->end_ns < r->start_ns) {
		loss_add(LOSS_CUPTI_TIMES, 1);
		return;
	}
	row = batch_add(GPROF_TABLE_overhead);
	row->begin = share_clock_time(r->start_ns);
	row->dur = share_clock_time(r->end_ns);
	row->overhead_kind = r->overhead_kind;
	row->tid = r->object_kind == CUPTI_OBJECT_THREAD ? r->object_id.pt.thread_id : 0;
	row->correlation = r->correlation_id;
}

static void take_event(const struct cupti_record *record)
{
	READ(cupti_event, record);
	struct gprof_row_event *row;

	if (!step_is_recorded(r->correlation_id)) {
		return;
	}
	row = batch_add(GPROF_TABLE_event);
	row->time = share_clock_time(r->device_time_ns);
	row->place = dictionary_place(NO_DEVICE, r->context_id, r->stream_id);
	row->correlation = r->correlation_id;
	row->event = r->event_id;
}

/* ---- devices, contexts and streams ---- */

static void take_device(const struct cupti_record *record)
{
	READ(cupti_device, record);
	const struct {
		const char *name;
		uint64_t value;
	} attributes[] = {
		{"memory_bandwidth_kb_per_s", r->memory_bandwidth},
		{"memory_bytes", r->memory_bytes},
		{"constant_bytes", r->constant_bytes},
		{"l2_bytes", r->l2_bytes},
		{"warp_threads", r->threads_per_warp},
		{"core_clock_khz", r->core_clock_khz},
		{"copy_engines", r->nr_copy_engines},
		{"multiprocessors", r->nr_multiprocessors},
		{"max_warps_per_multiprocessor", r->max_warps_per_multiprocessor},
		{"max_blocks_per_multiprocessor", r->max_blocks_per_multiprocessor},
		{"shared_bytes_per_multiprocessor", r->max_shared_bytes_per_multiprocessor},
		{"registers_per_multiprocessor", r->max_registers_per_multiprocessor},
		{"registers_per_block", r->max_registers_per_block},
		{"shared_bytes_per_block", r->max_shared_bytes_per_block},
		{"max_threads_per_block", r->max_threads_per_block},
		{"capability_major", r->capability_major},
		{"capability_minor", r->capability_minor},
		{"mig_enabled", r->is_mig_enabled},
	};
	struct gprof_row_device *row;
	uint32_t name = dictionary_name(r->name);
	struct gprof_text uuid = batch_text((const char *)r->uuid, sizeof(r->uuid));

	/* Texts come first: making room for one may write the rows that wait. */
	row = batch_add(GPROF_TABLE_device);
	row->id = r->id;
	row->name = name;
	row->uuid = uuid;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		device_add_attribute((int)r->id, attributes[i].name, attributes[i].value);
	}
}

static void take_context(const struct cupti_record *record)
{
	READ(cupti_context, record);
	struct gprof_row_context *row = batch_add(GPROF_TABLE_context);

	row->id = r->context_id;
	row->device = r->device_id;
	row->parent = r->parent_context_id;
	row->null_stream = r->null_stream_id;
	row->is_green = r->is_green_context;
	device_saw(r->device_id);
}

static void take_stream(const struct cupti_record *record)
{
	READ(cupti_stream, record);
	struct gprof_row_stream *row = batch_add(GPROF_TABLE_stream);

	row->context = r->context_id;
	row->stream = r->stream_id;
	row->priority = r->priority;
	row->flags = r->flag;
}

/* ---- */

void record_take(const struct cupti_record *record)
{
	static void (*const take[CUPTI_KIND_END])(const struct cupti_record *record) = {
		[CUPTI_KIND_KERNEL] = take_kernel,
		[CUPTI_KIND_CONCURRENT_KERNEL] = take_kernel,
		[CUPTI_KIND_MEMCPY] = take_memcpy,
		[CUPTI_KIND_MEMCPY2] = take_memcpy_peer,
		[CUPTI_KIND_MEMSET] = take_memset,
		[CUPTI_KIND_GRAPH_TRACE] = take_graph,
		[CUPTI_KIND_SYNCHRONIZATION] = take_sync,
		[CUPTI_KIND_MEMORY2] = take_memory,
		[CUPTI_KIND_OVERHEAD] = take_overhead,
		[CUPTI_KIND_CUDA_EVENT] = take_event,
		[CUPTI_KIND_DEVICE] = take_device,
		[CUPTI_KIND_CONTEXT] = take_context,
		[CUPTI_KIND_STREAM] = take_stream,
	};

	if (record->kind < CUPTI_KIND_END && take[record->kind]) {
		take[record->kind](record);
	}
}

#define IS_RECORDED(type, record)                           \
	{                                                   \
		READ(type, record);                         \
		return step_is_recorded(r->correlation_id); \
	}

/* Says which records of another client gprof would have taken. Facts and overhead are no events. */
bool record_is_event(const struct cupti_record *record)
{
	switch (record->kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
		IS_RECORDED(cupti_kernel, record)
	case CUPTI_KIND_MEMCPY:
		IS_RECORDED(cupti_memcpy, record)
	case CUPTI_KIND_MEMCPY2:
		IS_RECORDED(cupti_memcpy_peer, record)
	case CUPTI_KIND_MEMSET:
		IS_RECORDED(cupti_memset, record)
	case CUPTI_KIND_GRAPH_TRACE:
		IS_RECORDED(cupti_graph, record)
	case CUPTI_KIND_SYNCHRONIZATION:
		IS_RECORDED(cupti_sync, record)
	case CUPTI_KIND_MEMORY2:
		IS_RECORDED(cupti_memory, record)
	case CUPTI_KIND_CUDA_EVENT:
		IS_RECORDED(cupti_event, record)
	default:
		return false;
	}
}
