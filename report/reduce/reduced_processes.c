/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with a row for each process: identity, breakdown of steps, peaks of memory. */
#include <inttypes.h>
#include <stdio.h>

#include "report/util/string_pool.h"
#include "report/reduce/reduced_view.h"

void reduced_who_cell(struct table_cell *cell, const struct reduced_who *who)
{
	char text[24];

	if (who->rank >= 0) {
		snprintf(text, sizeof(text), "%lld", (long long)who->rank);
		table_set_string(cell, text);
	} else {
		table_set_string(cell, string_pool_text(who->name, NULL));
	}
}

void reduced_who_fill(const struct reduced_process *process, struct table_cell *cells)
{
	if (process->rank >= 0) {
		table_set_integer(&cells[0], (uint64_t)process->rank);
	}
	table_set_integer(&cells[1], process->pid);
	table_set_string(&cells[2], string_pool_text(process->host, NULL));
}

struct table *reduced_processes_table(const struct reduced *reduced)
{
	static const struct table_column columns[] = {
		REDUCED_WHO,
		TABLE_COLUMN("world_size", "World", TABLE_ID),
		TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME),
		TABLE_COLUMN("events", "Events", TABLE_COUNT),
		TABLE_COLUMN("missing", "Missing", TABLE_COUNT),
		TABLE_COLUMN("state", "State", TABLE_TEXT),
		TABLE_COLUMN("command", "Command", TABLE_TEXT),
	};
	static const char *const states[NR_REDUCED_STATES] = {
		"complete", "incomplete", "unfinished"};
	struct table *table =
		table_create("processes", "Processes", columns, REDUCED_WHO_COLUMNS + 6);

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;
		struct table_cell *cells = table_add_row(table);

		reduced_who_fill(process, cells);
		cells += REDUCED_WHO_COLUMNS;
		if (process->world >= 0) {
			table_set_integer(&cells[0], (uint64_t)process->world);
		}
		if (process->duration_ns != UINT64_MAX) {
			table_set_integer(&cells[1], process->duration_ns);
		}
		table_set_integer(&cells[2], process->nr_events);
		table_set_integer(&cells[3], process->missing);
		table_set_string(&cells[4], states[process->state]);
		table_set_string(&cells[5], string_pool_text(process->command, NULL));
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
		REDUCED_WHO, /* and by enum memory_peak: */
		TABLE_COLUMN("allocated_bytes", "Allocated", TABLE_SIZE),
		TABLE_COLUMN("reserved_bytes", "Reserved", TABLE_SIZE),
		TABLE_COLUMN("cuda_malloc_bytes", "cudaMalloc", TABLE_SIZE),
	};
	struct table *table = table_create(
		view_memory.name, "Peak GPU memory", columns, sizeof(columns) / sizeof(columns[0]));
	size_t nr_known = 0;

	(void)argument;
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;
		struct table_cell *cells = table_add_row(table);

		reduced_who_fill(process, cells);
		for (unsigned int k = 0; k < NR_MEMORY_PEAKS; k++) {
			uint64_t bytes = process->facts[REDUCED_MEMORY + k];

			if (bytes != UINT64_MAX) {
				table_set_integer(&cells[REDUCED_WHO_COLUMNS + k], bytes);
				nr_known++;
			}
		}
	}
	table_note(table,
		"Peaks are of the GPU with the highest one, by the framework's allocator; "
		"without it, of cudaMalloc on all GPUs.");
	table->is_aside = !nr_known;
	return table;
}
