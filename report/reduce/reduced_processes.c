/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with a row for each process: identity, breakdown of steps, peaks of memory. */
#include <inttypes.h>
#include <stdio.h>

#include "report/util/string_pool.h"
#include "report/reduce/reduced_view.h"

void reduced_set_who(const void *who, struct table_cell *cell)
{
	const struct reduced_who *of = who;
	char text[24];

	if (of->rank >= 0) {
		snprintf(text, sizeof(text), "%lld", (long long)of->rank);
		table_set_string(cell, text);
	} else {
		table_set_string(cell, string_pool_text(of->name, NULL));
	}
}

void reduced_who_fill(const struct reduced_process *process, struct table_cell *cells)
{
	static const struct table_column columns[] = {REDUCED_WHO};

	TABLE_FILL(columns, process, cells);
}

static const char *const states[NR_REDUCED_STATES] = {"complete", "incomplete", "unfinished"};

struct table *reduced_processes_table(const struct reduced *reduced)
{
	static const struct table_column columns[] = {
		REDUCED_WHO,
		TABLE_COLUMN("world_size", "World", TABLE_ID, TABLE_MEMBER(reduced_process, world)),
		TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME,
			TABLE_MEMBER(reduced_process, duration_ns)),
		TABLE_COLUMN(
			"events", "Events", TABLE_COUNT, TABLE_MEMBER(reduced_process, nr_events)),
		TABLE_COLUMN("missing", "Missing", TABLE_COUNT,
			TABLE_SATURATED(reduced_process, missing)),
		TABLE_COLUMN(
			"state", "State", TABLE_TEXT, TABLE_NAMED(reduced_process, state, states)),
		TABLE_COLUMN(
			"command", "Command", TABLE_TEXT, TABLE_MEMBER(reduced_process, command)),
	};
	struct table *table =
		table_create("processes", "Processes", columns, REDUCED_WHO_COLUMNS + 6);

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		table_add(table, &reduced->processes[i].who);
	}
	return table;
}

/* ---- breakdown ---- */

enum {
	STEPS = REDUCED_WHO_COLUMNS,
	TOTAL,
	PARTS,
	NR_BREAKDOWN = PARTS + NR_BUDGET_PLUGIN_PARTS,
};

static void fill_breakdown(const uint64_t *sums, struct table_cell *cells)
{
	double nr_steps = sums[BUDGET_SUM_STEPS] ? (double)sums[BUDGET_SUM_STEPS] : 1;

	if (sums[BUDGET_SUM_STEPS]) {
		table_set_integer(&cells[STEPS], sums[BUDGET_SUM_STEPS]);
	}
	table_set_number(&cells[TOTAL], (double)sums[BUDGET_SUM_NS] / nr_steps);
	for (unsigned int i = 0; i < NR_BUDGET_PLUGIN_PARTS; i++) {
		table_set_number(&cells[PARTS + i], (double)sums[BUDGET_SUM_PLUGIN + i] / nr_steps);
	}
}

struct table *reduced_breakdown_table(struct reduced *reduced, unsigned int least_steps)
{
	static const struct table_column columns[NR_BREAKDOWN] = {
		REDUCED_WHO,
		[STEPS] = TABLE_COLUMN("steps", "Steps", TABLE_COUNT),
		[TOTAL] = TABLE_COLUMN("total_ns", "Total", TABLE_MEAN_TIME),
		BUDGET_PLUGIN_COLUMNS,
	};
	struct table *table =
		table_create(view_breakdown.name, view_breakdown.title, columns, NR_BREAKDOWN);
	uint64_t nr_cut = 0, nr_known = 0;

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;
		const uint64_t *sums = &process->facts[REDUCED_BUDGET];
		struct table_cell *cells = table_add_row(table);

		reduced_who_fill(process, cells);
		if (sums[BUDGET_SUM_STEPS] != UINT64_MAX && sums[BUDGET_SUM_STEPS] >= least_steps) {
			fill_breakdown(sums, cells);
			nr_cut += sums[BUDGET_SUM_CUT];
			nr_known++;
		}
	}
	table_note(table, least_steps
				  ? "Times are means over the steps that count on the first screen."
				  : "Times are means over the steps that count on the first "
				    "screen; without steps, of the whole recording.");
	if (nr_cut) {
		table_note(table, "Parts of %" PRIu64 " events are cut off.", nr_cut);
	}
	table->is_aside = !nr_known;
	return table;
}

/* ---- memory ---- */

/*
 * The view `memory` has a row for each operator, and no view has one for each process with its
 * peaks. So these columns are declared here.
 */
struct table *reduced_memory_table(struct reduced *reduced, unsigned int argument)
{
	static const struct table_column columns[] = {
		REDUCED_WHO,
		TABLE_COLUMN("allocated_bytes", "Allocated", TABLE_SIZE,
			TABLE_MEMBER(
				reduced_process, facts[REDUCED_MEMORY + MEMORY_PEAK_ALLOCATED])),
		TABLE_COLUMN("reserved_bytes", "Reserved", TABLE_SIZE,
			TABLE_MEMBER(
				reduced_process, facts[REDUCED_MEMORY + MEMORY_PEAK_RESERVED])),
		TABLE_COLUMN("cuda_malloc_bytes", "cudaMalloc", TABLE_SIZE,
			TABLE_MEMBER(
				reduced_process, facts[REDUCED_MEMORY + MEMORY_PEAK_CUDA_MALLOC])),
	};
	struct table *table = table_create(
		view_memory.name, "Peak GPU memory", columns, sizeof(columns) / sizeof(columns[0]));
	size_t nr_known = 0;

	(void)argument;
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;

		table_add(table, process);
		for (unsigned int k = 0; k < NR_MEMORY_PEAKS; k++) {
			nr_known += process->facts[REDUCED_MEMORY + k] != UINT64_MAX;
		}
	}
	table_note(table,
		"Peaks are of the GPU with the highest one, by the framework's allocator; "
		"without it, of cudaMalloc on all GPUs.");
	table->is_aside = !nr_known;
	return table;
}
