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

enum gc_column {
	GC_PID,
	GC_RANK,
	GC_GENERATION,
	GC_COLLECTIONS,
	GC_TOTAL,
	GC_MEAN,
	GC_LONGEST,
	GC_PER_STEP,
	GC_SHARE,
	GC_STEPS,
	GC_COLLECTED,
	GC_UNCOLLECTABLE,
};

static const struct table_column gc_columns[] = {
	[GC_PID] = TABLE_COLUMN("pid", "PID", TABLE_ID),
	[GC_RANK] = TABLE_COLUMN("rank", "Rank", TABLE_ID),
	[GC_GENERATION] = TABLE_COLUMN("generation", "Generation", TABLE_COUNT,
		.help = "that was collected, with all younger ones; 0 is the youngest"),
	[GC_COLLECTIONS] =
		TABLE_COLUMN("collections", "Collections", TABLE_COUNT, TABLE_MEMBER(gc_sum, nr)),
	[GC_TOTAL] = TABLE_COLUMN("total_ns", "Total", TABLE_TIME, TABLE_MEMBER(gc_sum, ns)),
	[GC_MEAN] = TABLE_COLUMN("mean_ns", "Mean", TABLE_MEAN_TIME),
	[GC_LONGEST] =
		TABLE_COLUMN("longest_ns", "Longest", TABLE_TIME, TABLE_MEMBER(gc_sum, longest_ns)),
	[GC_PER_STEP] = TABLE_COLUMN("step_ns", "Per step", TABLE_MEAN_TIME),
	[GC_SHARE] = TABLE_COLUMN("share_pct", "% of steps", TABLE_PERCENT),
	[GC_STEPS] = TABLE_COLUMN("steps", "Steps hit", TABLE_COUNT, .help = "steps that have one"),
	[GC_COLLECTED] = TABLE_COLUMN("collected", "Collected", TABLE_COUNT,
		.help = "objects that were freed", TABLE_MEMBER(gc_sum, collected)),
	[GC_UNCOLLECTABLE] = TABLE_COLUMN("uncollectable", "Uncollectable", TABLE_COUNT,
		.help = "objects that could not be freed", .is_wide_only = true,
		TABLE_MEMBER(gc_sum, uncollectable)),
};

static void gc_fill(const struct gc_sums *sums, unsigned int generation, struct table *table)
{
	const struct gc_sum *sum = &sums->generations[generation];
	struct table_cell *cells = table_add(table, sum);

	view_fill_process(sums->process, cells);
	table_set_integer(&cells[GC_GENERATION], generation);
	table_set_number(&cells[GC_MEAN], (double)sum->ns / (double)sum->nr);
	if (sums->nr_steps) {
		table_set_number(
			&cells[GC_PER_STEP], (double)sum->ns_in_steps / (double)sums->nr_steps);
		table_set_share(&cells[GC_SHARE], (double)sum->ns_in_steps, (double)sums->steps_ns);
		table_set_integer(&cells[GC_STEPS], sum->nr_steps);
	}
}

static void gc_fill_table(void *state, struct table *table)
{
	struct gc_view *view = state;
	uint64_t nr_steps = 0;
	bool has_rank = false;

	for (size_t i = 0; i < view->nr; i++) {
		for (unsigned int k = 0; k < GC_GENERATIONS; k++) {
			if (view->sums[i].generations[k].nr) {
				gc_fill(&view->sums[i], k, table);
				has_rank |= view->sums[i].process->rank >= 0;
			}
		}
		nr_steps += view->sums[i].nr_steps;
	}
	table->columns[GC_RANK].is_wide_only = !has_rank;
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
