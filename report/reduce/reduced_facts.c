/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what is kept of each process besides its steps: what these were made of, peaks of
 * memory. */
#include <inttypes.h>
#include <stdio.h>

#include "report/reduce/reduced_view.h"

enum {
	STEPS = REDUCED_WHO_COLUMNS,
	TOTAL,
	PARTS,
	NR_BREAKDOWN = PARTS + NR_BREAKDOWN_PARTS,
};

static void fill_breakdown(const uint64_t *facts, struct table_cell *cells)
{
	double nr_steps = facts[REDUCED_STEPS] ? (double)facts[REDUCED_STEPS] : 1;

	if (facts[REDUCED_STEPS]) {
		table_set_integer(&cells[STEPS], facts[REDUCED_STEPS]);
	}
	table_set_number(&cells[TOTAL], (double)facts[REDUCED_STEPS_NS] / nr_steps);
	for (unsigned int i = 0; i < NR_BREAKDOWN_PARTS; i++) {
		table_set_number(&cells[PARTS + i], (double)facts[REDUCED_PARTS + i] / nr_steps);
	}
}

/* A row for each process; without values for those that have none. */
static struct table *make_breakdown(struct reduced *reduced, uint64_t least_steps)
{
	static const struct table_column columns[NR_BREAKDOWN] = {
		REDUCED_WHO,
		[STEPS] = TABLE_COLUMN("steps", "Steps", TABLE_COUNT),
		[TOTAL] = TABLE_COLUMN("total_ns", "Total", TABLE_MEAN_TIME),
		BREAKDOWN_COLUMNS,
	};
	char cut[64] = "";
	uint64_t nr_cut = 0, nr_known = 0;
	struct table *table;

	table = table_create("breakdown", "Step breakdown", columns, NR_BREAKDOWN);
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;
		struct table_cell *cells = table_add_row(table);

		reduced_who_fill(process, cells);
		if (process->facts[REDUCED_STEPS] != UINT64_MAX &&
			process->facts[REDUCED_STEPS] >= least_steps) {
			fill_breakdown(process->facts, cells);
			nr_cut += process->facts[REDUCED_CUT];
			nr_known++;
		}
	}
	if (nr_cut) {
		snprintf(cut, sizeof(cut), "; parts of %" PRIu64 " events are cut off", nr_cut);
	}
	table_note(table,
		"means of the whole steps; each moment counts for the first of these that covers "
		"it%s%s",
		least_steps ? "" : "; without steps: all that was recorded", cut);
	table->is_aside = !nr_known;
	return table;
}

struct table *reduced_breakdown_table(struct reduced *reduced, unsigned int argument)
{
	(void)argument;
	return make_breakdown(reduced, 0);
}

struct table *reduced_breakdown_each(struct reduced *reduced)
{
	return make_breakdown(reduced, 1);
}

struct table *reduced_memory_each(struct reduced *reduced)
{
	static const struct table_column columns[] = {
		REDUCED_WHO,
		TABLE_COLUMN("allocated_bytes", "Allocated", TABLE_SIZE),
		TABLE_COLUMN("reserved_bytes", "Reserved", TABLE_SIZE),
		TABLE_COLUMN("cuda_malloc_bytes", "cudaMalloc", TABLE_SIZE),
	};
	static const enum reduced_fact facts[] = {
		REDUCED_ALLOCATED_BYTES, REDUCED_RESERVED_BYTES, REDUCED_CUDA_MALLOC_BYTES};
	struct table *table = table_create(
		"memory", "Peaks of GPU memory", columns, sizeof(columns) / sizeof(columns[0]));
	size_t nr_known = 0;

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;
		struct table_cell *cells = table_add_row(table);

		reduced_who_fill(process, cells);
		for (size_t k = 0; k < sizeof(facts) / sizeof(facts[0]); k++) {
			if (process->facts[facts[k]] != UINT64_MAX) {
				table_set_integer(
					&cells[REDUCED_WHO_COLUMNS + k], process->facts[facts[k]]);
				nr_known++;
			}
		}
	}
	table_note(table,
		"of the GPU with the most, by the framework's allocator; without one, of the "
		"calls of cudaMalloc on all GPUs");
	table->is_aside = !nr_known;
	return table;
}

struct table *reduced_memory_table(struct reduced *reduced, unsigned int argument)
{
	(void)argument;
	return reduced_memory_each(reduced);
}
