/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by name, grid and block, and by the innermost NVTX range that their launch lies in. */
#include <stdlib.h>
#include <string.h>

#include "report/util/hash.h"
#include "report/styles/nsys_reports.h"
#include "report/styles/nsys_walk.h"

struct key {
	struct nsys_kernel_row row;
	uint32_t place; /* in the tally */
	UT_hash_handle hh;
};

struct kernels_view {
	struct nsys_walk *walk; /* first; NULL: ranges do not matter */
	struct view_input input;
	struct keyed_stats tally; /* name: of string_pool.h */
	struct nsys_kernel_row *rows;
	size_t nr_rows, capacity;
	struct key *keys;
	struct idmap groups; /* row + 1 by the id of a shape, of the current process */
	bool is_finished;
};

static uint32_t find_row(struct kernels_view *view, const struct nsys_kernel_row *row)
{
	struct key *key;

	HASH_FIND(hh, view->keys, row, sizeof(*row), key);
	if (key) {
		return key->place;
	}
	key = mem_zeroed(1, sizeof(*key));
	key->row = *row;
	/* Rows are found by their keys here, so a number distinguishes them there. */
	key->place = keyed_stats_find(&view->tally, view->tally.nr_rows, row->name, 0);
	HASH_ADD(hh, view->keys, row, sizeof(key->row), key);
	view->rows = array_grow(view->rows, view->nr_rows, &view->capacity, sizeof(*view->rows));
	view->rows[view->nr_rows++] = *row;
	return key->place;
}

static uint32_t find_shape(
	struct kernels_view *view, const struct process *process, uint64_t id, uint32_t range)
{
	const struct model_shape *shape =
		id <= UINT32_MAX ? idmap_get(&process->shapes, (uint32_t)id) : NULL;
	struct nsys_kernel_row row;

	memset(&row, 0, sizeof(row));
	row.range = range;
	row.name = process_shape_name(process, id);
	if (shape) {
		memcpy(row.grid, shape->grid, sizeof(row.grid));
		memcpy(row.block, shape->block, sizeof(row.block));
	}
	return find_row(view, &row);
}

static void init(void *state)
{
	idmap_init(&((struct kernels_view *)state)->groups, sizeof(uint32_t));
}

static void init_with_ranges(void *state)
{
	struct kernels_view *view = state;

	init(view);
	view->walk = nsys_walk_create(&view->input);
}

/* ---- without ranges ---- */

static const struct scan_want wants[] = {
	{GPROF_TABLE_kernel, COLS(kernel, dur, shape), 0},
	{GPROF_TABLE_untimed, COLS(untimed, table, shape), 0},
};

static void begin(void *context, struct process *process)
{
	struct kernels_view *view = context;

	(void)process;
	idmap_fini(&view->groups);
	idmap_init(&view->groups, sizeof(uint32_t));
}

static uint32_t group_of(struct kernels_view *view, const struct process *process, uint64_t shape)
{
	uint32_t *group;

	if (shape > UINT32_MAX) {
		return find_shape(view, process, shape, 0);
	}
	group = idmap_put(&view->groups, (uint32_t)shape);
	if (!*group) {
		*group = 1 + find_shape(view, process, shape, 0);
	}
	return *group - 1;
}

static void take(void *context, struct process *process, const struct batch *b)
{
	struct kernels_view *view = context;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (b->table == GPROF_TABLE_kernel) {
			histogram_add(&view->tally.times,
				group_of(view, process, b->col[COL_kernel_shape][i]),
				b->col[COL_kernel_dur][i]);
		} else if (stream_known(process->stream, b->col[COL_untimed_table][i]) ==
			   GPROF_TABLE_kernel) {
			uint32_t row = group_of(view, process, b->col[COL_untimed_shape][i]);

			view->tally.rows[row].untimed++;
		}
	}
}

/* ---- with ranges ---- */

static void take_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	if (record->table == GPROF_TABLE_kernel) {
		nsys_walk_take_record(context, record, call, op);
	}
}

static void take_launch(
	void *context, const struct trace_event *event, const struct nsys_range *ranges, size_t nr)
{
	struct kernels_view *view = context;
	const struct process *process = view->walk->records->processes[event->process];
	uint32_t range = nr ? ranges[nr - 1].name : 0;
	uint32_t row = find_shape(view, process, event->shape, range);

	if (event->is_timed) {
		histogram_add(&view->tally.times, row, event->dur_ns);
	} else {
		view->tally.rows[row].untimed++;
	}
}

static void finish(struct kernels_view *view)
{
	if (view->is_finished) {
		return;
	}
	if (view->walk) {
		nsys_walk_run(view->walk, take_launch, NULL, view);
	}
	keyed_stats_finish(&view->tally);
	view->is_finished = true;
}

const struct keyed_stats *nsys_kernels_tally(void *context)
{
	finish(context);
	return &((struct kernels_view *)context)->tally;
}

const struct nsys_kernel_row *nsys_kernels_row(void *context, size_t row)
{
	return &((struct kernels_view *)context)->rows[row];
}

static void fini(void *state)
{
	struct kernels_view *view = state;

	nsys_walk_destroy(view->walk);
	idmap_fini(&view->groups);
	hash_free(view->keys);
	free(view->rows);
}

const struct view_class view_nsys_kernels = {
	.name = "nsys kernels",
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, take, NULL},
	VIEW_KEYED_STATE(struct kernels_view, tally),
	.init = init,
	.fini = fini,
};

const struct view_class view_nsys_range_kernels = {
	.name = "nsys kernels in ranges",
	.is_asked_only = true,
	.scan = NSYS_WALK_SCAN,
	.ops = {.begin = nsys_walk_begin_ops, .record = take_record},
	VIEW_KEYED_STATE(struct kernels_view, tally),
	.init = init_with_ranges,
	.fini = fini,
};
