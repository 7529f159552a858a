/* SPDX-License-Identifier: Apache-2.0 */
/* Collections of Python's garbage, by generation. */
#include <stdlib.h>

#include "report/analysis/view.h"
#include "report/ops/gc_sums.h"
#include "report/util/buf.h"

struct gc_view {
	struct view_input input;
	struct gc_sums *sums; /* of each process */
	size_t nr, capacity;
};

static void gc_begin(void *context, struct process *process)
{
	struct gc_view *view = context;

	view->sums = array_grow(view->sums, view->nr, &view->capacity, sizeof(*view->sums));
	gc_sums_begin(&view->sums[view->nr++], process);
}

static void gc_collection(void *context, const struct op_collection *collection)
{
	struct gc_view *view = context;

	gc_sums_add(&view->sums[view->nr - 1], collection);
}

static void gc_end(void *context, struct process *process, const struct phases *phases)
{
	struct gc_view *view = context;

	(void)process;
	gc_sums_end(&view->sums[view->nr - 1], phases);
}

struct gc_row {
	struct gc_sum sum;
	const struct process *process;
	uint64_t generation, nr_steps, steps_ns; /* of the process */
};

static const struct table_column gc_columns[] = {
	VIEW_PROCESS_COLUMNS(gc_row, process),
	TABLE_COLUMN("generation", "Generation", TABLE_COUNT,
		.help = "that was collected, with all younger ones; 0 is the youngest",
		TABLE_MEMBER(gc_row, generation)),
	TABLE_COLUMN("collections", "Collections", TABLE_COUNT, TABLE_MEMBER(gc_row, sum.nr)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME, TABLE_MEMBER(gc_row, sum.ns)),
	TABLE_COLUMN("mean_ns", "Mean", TABLE_MEAN_TIME, TABLE_MEAN(gc_row, sum.ns, sum.nr)),
	TABLE_COLUMN("longest_ns", "Longest", TABLE_TIME, TABLE_MEMBER(gc_row, sum.longest_ns)),
	TABLE_COLUMN("step_ns", "Per step", TABLE_MEAN_TIME,
		TABLE_MEAN(gc_row, sum.ns_in_steps, nr_steps)),
	TABLE_COLUMN("share_pct", "% of steps", TABLE_PERCENT,
		TABLE_SHARE(gc_row, sum.ns_in_steps, steps_ns)),
	TABLE_COLUMN("steps", "Steps hit", TABLE_COUNT, .help = "steps that have one",
		TABLE_IF(gc_row, sum.nr_steps, nr_steps)),
	TABLE_COLUMN("collected", "Collected", TABLE_COUNT, .help = "objects that were freed",
		TABLE_MEMBER(gc_row, sum.collected)),
	TABLE_COLUMN("uncollectable", "Uncollectable", TABLE_COUNT,
		.help = "objects that could not be freed", .is_wide_only = true,
		TABLE_MEMBER(gc_row, sum.uncollectable)),
};

static void gc_fill_table(void *state, struct table *table)
{
	struct gc_view *view = state;
	uint64_t nr_steps = 0;
	bool has_rank = false;

	for (size_t i = 0; i < view->nr; i++) {
		const struct gc_sums *sums = &view->sums[i];

		for (unsigned int k = 0; k < GC_GENERATIONS; k++) {
			if (sums->generations[k].nr) {
				table_add(table, &(struct gc_row){sums->generations[k],
							 sums->process, k, sums->nr_steps,
							 sums->nr_steps ? sums->steps_ns : 0});
				has_rank |= sums->process->rank >= 0;
			}
		}
		nr_steps += sums->nr_steps;
	}
	table_set_wide(table, "rank", !has_rank);
	if (!table->nr_rows) {
		table_note(table, "None was recorded; GPROF_PYTHON=gc records them.");
	} else if (nr_steps) {
		table_note(table, "Steps that warm up and those without an end are left out.");
	}
}

static void gc_fini(void *state)
{
	free(((struct gc_view *)state)->sums);
}

VIEW(gc, 315) = {
	.name = "gc",
	.subject = VIEW_ABOUT_HOST,
	.help = "collections of Python's garbage",
	.about = "A collection stops all Python code of its process. Its time is that of the "
		 "collector alone, without functions of gc.callbacks.",
	.is_empty_hidden = true,
	.title = "Garbage collections",
	VIEW_COLUMNS(gc_columns),
	VIEW_STATE(struct gc_view),
	.ops = {.begin = gc_begin, .collection = gc_collection, .end = gc_end},
	.fill = gc_fill_table,
	.fini = gc_fini,
};
