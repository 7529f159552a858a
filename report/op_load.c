/* SPDX-License-Identifier: Apache-2.0 */
#include "report/op_load.h"

#include <stdlib.h>

#include "report/buf.h"
#include "report/op.h"
#include "report/progress.h"
#include "report/ranges.h"
#include "report/worked.h"

/* Blocks that are looked at for the thread of the loop. */
#define MOST_BLOCKS 256u

/* Work may be written one group before the call that started it, hardly more. */
#define GROUPS_AHEAD 2u

struct group {
	size_t first, end;  /* blocks */
	uint64_t last_tick; /* of all events of it and of the groups before it */
};

struct load {
	struct process *process;
	struct group *groups;
	size_t nr_groups, group_capacity;
	struct op_event *events; /* rising by their ends, once sorted */
	size_t nr_events, capacity;
	struct worked worked;
	uint64_t order;	       /* of the last row */
	struct ranges *ranges; /* what they are called; NULL where none are wanted */
};

static bool is_host_table(const struct load *load, unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_nvtx:
		return load->ranges != NULL;
	case GPROF_TABLE_op:
	case GPROF_TABLE_alloc:
	case GPROF_TABLE_api:
	case GPROF_TABLE_api_launch:
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
		return true;
	default:
		return false;
	}
}

/* ---- groups ---- */

static struct group *add_group(struct load *load, size_t first, uint64_t last_tick)
{
	struct group *group;

	load->groups = array_grow(
		load->groups, load->nr_groups, &load->group_capacity, sizeof(*load->groups));
	group = &load->groups[load->nr_groups++];
	*group = (struct group){.first = first, .end = first, .last_tick = last_tick};
	return group;
}

static void find_groups(struct load *load)
{
	const struct stream_in *stream = load->process->stream;
	struct group *group = add_group(load, 0, 0);

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_in_block_table(stream, i);

		group->end = i + 1;
		if (is_host_table(load, table) && stream->blocks[i].time_max > group->last_tick) {
			group->last_tick = stream->blocks[i].time_max;
		}
		if (table == GPROF_TABLE_checkpoint) {
			group = add_group(load, i + 1, group->last_tick);
		}
	}
}

/* ---- rows ---- */

static struct op_event *add_event(struct load *load)
{
	load->events =
		array_grow(load->events, load->nr_events, &load->capacity, sizeof(*load->events));
	return &load->events[load->nr_events++];
}

/* The end of a span that may be anything in a damaged stream. */
static uint64_t end_of(uint64_t begin, uint64_t dur)
{
	return begin + dur < begin ? UINT64_MAX : begin + dur;
}

static void take_ops(struct load *load, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t shape_id = b->col[COL_op_op_shape][i];
		const uint32_t *shape = NULL;

		if (shape_id && shape_id <= UINT32_MAX) {
			shape = idmap_get(&load->process->op_shapes, (uint32_t)shape_id);
		}
		*add_event(load) = (struct op_event){.order = ++load->order,
			.kind = OP_EVENT_OP,
			.begin = b->col[COL_op_begin][i],
			.end = end_of(b->col[COL_op_begin][i], b->col[COL_op_dur][i]),
			.value = b->col[COL_op_sequence][i],
			.thread = (uint32_t)b->col[COL_op_thread][i],
			.name = op_name(
				load->process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]),
			.shape = shape ? *shape : 0,
			.py_stack = (uint32_t)b->col[COL_op_py_stack][i],
			.depth = (uint16_t)b->col[COL_op_depth][i],
			.framework = (uint8_t)b->col[COL_op_framework][i],
			.scope = (uint8_t)b->col[COL_op_scope][i],
			.is_async = b->col[COL_op_end_thread][i] &&
				    b->col[COL_op_end_thread][i] != b->col[COL_op_thread][i]};
	}
}

static void take_allocs(struct load *load, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		*add_event(load) = (struct op_event){.order = ++load->order,
			.kind = OP_EVENT_ALLOC,
			.begin = b->col[COL_alloc_time][i],
			.end = b->col[COL_alloc_time][i],
			.value = b->col[COL_alloc_bytes][i],
			.address = b->col[COL_alloc_address][i],
			.thread = (uint32_t)b->col[COL_alloc_thread][i],
			.scope = (uint8_t)b->col[COL_alloc_device_type][i],
			.device = (uint8_t)b->col[COL_alloc_device][i]};
	}
}

/* py_stacks: NULL for calls that have none. */
static void take_calls(struct load *load, const struct batch *b, const uint64_t *py_stacks)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t py_stack = py_stacks ? (uint32_t)py_stacks[i] : 0;
		struct worked_entry work = {0};

		if (!worked_take(&load->worked, (uint32_t)b->col[COL_api_correlation][i], &work) &&
			!py_stack) {
			continue;
		}
		*add_event(load) = (struct op_event){.order = ++load->order,
			.kind = OP_EVENT_WORK,
			.begin = b->col[COL_api_begin][i],
			.end = end_of(b->col[COL_api_begin][i], b->col[COL_api_dur][i]),
			.value = work.ns,
			.nr_works = work.nr_works,
			.py_stack = py_stack,
			.thread = (uint32_t)b->col[COL_api_thread][i]};
	}
}

static void take_ranges(struct load *load, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		bool is_push = b->col[COL_nvtx_op][i] == GPROF_NVTX_PUSH;

		if (!is_push && b->col[COL_nvtx_op][i] != GPROF_NVTX_POP) {
			continue;
		}
		*add_event(load) = (struct op_event){.order = ++load->order,
			.kind = is_push ? OP_EVENT_PUSH : OP_EVENT_POP,
			.begin = b->col[COL_nvtx_time][i],
			.end = b->col[COL_nvtx_time][i],
			.value = b->col[COL_nvtx_domain][i],
			.thread = (uint32_t)b->col[COL_nvtx_thread][i],
			.name = is_push ? ranges_name(load->ranges, load->process, b, i) : 0};
	}
}

static uint32_t mask_of(unsigned int table)
{
	static const uint32_t alloc_mask = COL_BIT(COL_alloc_time) | COL_BIT(COL_alloc_address) |
					   COL_BIT(COL_alloc_bytes) | COL_BIT(COL_alloc_thread) |
					   COL_BIT(COL_alloc_device_type) |
					   COL_BIT(COL_alloc_device);
	static const uint32_t call_mask = COL_BIT(COL_api_begin) | COL_BIT(COL_api_dur) |
					  COL_BIT(COL_api_thread) | COL_BIT(COL_api_correlation);

	switch (table) {
	case GPROF_TABLE_op:
		return COL_ALL(NR_COL_op);
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

static void load_rows(struct load *load, const struct group *group)
{
	struct stream_in *stream = load->process->stream;

	for (size_t i = group->first; i < group->end; i++) {
		unsigned int table = stream_in_block_table(stream, i);
		struct batch batch;

		if (!is_host_table(load, table) ||
			stream_in_load(stream, i, mask_of(table), 0, &batch)) {
			continue;
		}
		if (table == GPROF_TABLE_op) {
			take_ops(load, &batch);
		} else if (table == GPROF_TABLE_alloc) {
			take_allocs(load, &batch);
		} else if (table == GPROF_TABLE_nvtx) {
			take_ranges(load, &batch);
		} else {
			take_calls(load, &batch,
				table == GPROF_TABLE_api_launch ? batch.col[COL_api_launch_py_stack]
								: NULL);
		}
		progress_add(batch.nr_rows);
	}
}

static void load_work(struct load *load, const struct group *group)
{
	struct stream_in *stream = load->process->stream;

	for (size_t i = group->first; i < group->end; i++) {
		struct batch batch;

		switch (stream_in_block_table(stream, i)) {
		case GPROF_TABLE_kernel:
		case GPROF_TABLE_memcpy:
		case GPROF_TABLE_memset:
		case GPROF_TABLE_graph:
			break;
		default:
			continue;
		}
		if (stream_in_load(stream, i,
			    COL_BIT(COL_kernel_dur) | COL_BIT(COL_kernel_correlation), 0, &batch)) {
			continue;
		}
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			worked_add(&load->worked, (uint32_t)batch.col[COL_kernel_correlation][row],
				batch.col[COL_kernel_dur][row]);
		}
		progress_add(batch.nr_rows);
	}
}

/* ---- in order ---- */

/*
 * Where ends are the same, operators come last, since the last is taken first, in the order in
 * which they were written: what encloses is written after what lies in it.
 */
static int by_end(const void *a, const void *b)
{
	const struct op_event *x = a, *y = b;

	if (x->end != y->end) {
		return x->end < y->end ? -1 : 1;
	}
	if (x->kind != y->kind) {
		return x->kind > y->kind ? -1 : 1;
	}
	return x->order < y->order ? -1 : 1;
}

static void hand_out(struct load *load, uint64_t after,
	void (*take)(void *context, const struct op_event *event), void *context)
{
	if (load->nr_events) {
		qsort(load->events, load->nr_events, sizeof(*load->events), by_end);
	}
	while (load->nr_events && load->events[load->nr_events - 1].end > after) {
		take(context, &load->events[--load->nr_events]);
	}
}

static bool has_rows(const struct process *process, unsigned int table)
{
	const struct stream_table *found = stream_in_table(process->stream, table);

	return found && found->nr_rows;
}

static bool has_any(const struct process *process, bool has_ranges)
{
	return op_has_any(process) || has_rows(process, GPROF_TABLE_alloc) ||
	       process->py_stacks.nr || (has_ranges && has_rows(process, GPROF_TABLE_nvtx));
}

/* Reads what domains and registered strings are called, which stands before their first use. */
static void name_ranges(struct load *load)
{
	struct stream_in *stream = load->process->stream;

	load->ranges = ranges_create();
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_in_block_table(stream, i) == GPROF_TABLE_nvtx &&
			!stream_in_load(stream, i, RANGES_MASK, 0, &batch)) {
			ranges_take_names(load->ranges, load->process, &batch);
		}
	}
}

void op_load_run(struct process *process, bool has_ranges,
	void (*take)(void *context, const struct op_event *event), void *context)
{
	struct load load = {.process = process};
	size_t worked; /* groups from here on have had their work loaded */

	if (!has_any(process, has_ranges)) {
		return;
	}
	if (has_ranges) {
		name_ranges(&load);
	}
	find_groups(&load);
	worked = load.nr_groups;
	for (size_t i = load.nr_groups; i-- > 0;) {
		while (worked > 0 && worked + GROUPS_AHEAD > i) {
			load_work(&load, &load.groups[--worked]);
		}
		load.order = (uint64_t)i << 32;
		load_rows(&load, &load.groups[i]);
		hand_out(&load, i ? load.groups[i - 1].last_tick : 0, take, context);
	}
	hand_out(&load, 0, take, context);
	while (load.nr_events) { /* at tick 0 */
		take(context, &load.events[--load.nr_events]);
	}
	ranges_destroy(load.ranges);
	free(load.groups);
	free(load.events);
	worked_fini(&load.worked);
}

/* ---- the thread of the loop ---- */

struct score {
	uint32_t thread;
	uint64_t nr_marks, nr_works;
};

static void add_score(struct idmap *scores, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t thread = (uint32_t)b->col[COL_op_thread][i];
		struct score *score = idmap_put(scores, thread);
		uint32_t name = op_name(process, b->col[COL_op_op_name][i], b->col[COL_op_name][i]);
		enum op_class class = op_class(name, (uint8_t)b->col[COL_op_framework][i],
			(uint8_t)b->col[COL_op_scope][i]);

		score->thread = thread;
		score->nr_marks +=
			class == OP_DATALOADER || class == OP_OPTIMIZATION || class == OP_FORWARD;
		score->nr_works += class == OP_OTHER && !b->col[COL_op_depth][i];
	}
}

uint32_t op_load_loop_thread(struct process *process)
{
	static const uint32_t mask = COL_BIT(COL_op_thread) | COL_BIT(COL_op_op_name) |
				     COL_BIT(COL_op_name) | COL_BIT(COL_op_framework) |
				     COL_BIT(COL_op_scope) | COL_BIT(COL_op_depth);
	struct stream_in *stream = process->stream;
	struct score best = {0};
	struct idmap scores;
	uint32_t nr_blocks = 0;

	idmap_init(&scores, sizeof(struct score));
	for (size_t i = 0; i < stream->nr_blocks && nr_blocks < MOST_BLOCKS; i++) {
		struct batch batch;

		if (stream_in_block_table(stream, i) == GPROF_TABLE_op &&
			!stream_in_load(stream, i, mask, 0, &batch)) {
			add_score(&scores, process, &batch);
			nr_blocks++;
		}
	}
	for (size_t i = 0; i < scores.nr; i++) {
		const struct score *score = idmap_at(&scores, i);

		if (score->nr_marks > best.nr_marks ||
			(score->nr_marks == best.nr_marks && score->nr_works > best.nr_works)) {
			best = *score;
		}
	}
	idmap_fini(&scores);
	return best.thread;
}

uint64_t op_load_nr_rows(const struct process *process, bool has_ranges)
{
	uint64_t nr_rows = 0;

	for (size_t i = 0; has_any(process, has_ranges) && i < process->stream->nr_blocks; i++) {
		nr_rows += process->stream->blocks[i].nr_rows;
	}
	return nr_rows;
}
