/* SPDX-License-Identifier: Apache-2.0 */
#include "report/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "report/session/summary.h"

enum {
	KERNEL,
	MEMCPY,
	MEMSET,
	API,
	NVTX,
	COLLECTIVE,
	OPERATOR,
	COMMUNICATION,
	STEPS,
	DISTRIBUTED,
	BREAKDOWN,
	MEMORY,
	NR_VIEWS,
};

static const struct view_class *const classes[NR_VIEWS] = {
	[KERNEL] = &view_kernel,
	[MEMCPY] = &view_memcpy,
	[MEMSET] = &view_memset,
	[API] = &view_api,
	[NVTX] = &view_nvtx,
	[COLLECTIVE] = &view_collective,
	[OPERATOR] = &reduce_operators,
	[COMMUNICATION] = &reduce_communication,
	[STEPS] = &view_steps,
	[DISTRIBUTED] = &view_distributed,
	[BREAKDOWN] = &view_breakdown,
	[MEMORY] = &reduce_memory,
};

/* ---- rows ---- */

/* The rows of a tally, in its order; to be freed. */
static struct reduced_row **take_tally(struct reduced *reduced, enum reduced_view view,
	uint32_t kind_mask, const struct keyed_stats *tally)
{
	struct reduced_row **rows = mem_zeroed(tally->nr_rows, sizeof(struct reduced_row *));
	struct sketch **sketches = mem_zeroed(tally->nr_rows, sizeof(struct sketch *));

	for (size_t i = 0; i < tally->nr_rows; i++) {
		const struct keyed_stats_row *row = &tally->rows[i];

		rows[i] = reduced_row(
			reduced, view, kind_mask ? row->kind & kind_mask : row->kind, row->name);
		rows[i]->failed += row->failed;
		rows[i]->untimed += row->untimed;
		sketches[i] = &rows[i]->times;
	}
	sketch_add_stat(sketches, &tally->times);
	free(sketches);
	return rows;
}

/* The keyed rows of a view, with the sum that it declares. */
static void take_view(struct reduced *reduced, enum reduced_view view,
	const struct view_class *class, void *state)
{
	const struct keyed_stats *tally = view_keyed(class, state);
	struct reduced_row **rows = take_tally(reduced, view, class->merge.kind_mask, tally);

	for (size_t i = 0; class->merge.sum && i < tally->nr_rows; i++) {
		rows[i]->sums[0] += class->merge.sum(state, i);
	}
	free(rows);
}

/* Rows that are made for `reduce` alone, with all their sums. */
static void take_own(
	struct reduced *reduced, enum reduced_view view, const struct reduce_rows *from)
{
	struct reduced_row **rows = take_tally(reduced, view, 0, &from->tally);

	for (size_t i = 0; i < from->tally.nr_rows; i++) {
		for (unsigned int k = 0; k < NR_REDUCED_SUMS; k++) {
			rows[i]->sums[k] += from->sums[i].sums[k];
		}
	}
	free(rows);
}

static void take_rows(struct reduced *reduced, void *const *views)
{
	static const uint8_t keyed[][2] = {{KERNEL, REDUCED_KERNEL},
		{COLLECTIVE, REDUCED_COLLECTIVE}, {MEMCPY, REDUCED_MEMCPY},
		{MEMSET, REDUCED_MEMSET}, {API, REDUCED_API}, {NVTX, REDUCED_NVTX}};

	take_own(reduced, REDUCED_OPERATOR, reduce_operators_rows(views[OPERATOR]));
	take_own(reduced, REDUCED_NCCL, reduce_communication_rows(views[COMMUNICATION]));
	for (size_t i = 0; i < sizeof(keyed) / sizeof(keyed[0]); i++) {
		take_view(reduced, (enum reduced_view)keyed[i][1], classes[keyed[i][0]],
			views[keyed[i][0]]);
	}
}

/* ---- steps ---- */

/* A column of a view's table, and which time of a step it is. */
struct time_column {
	const char *key;
	enum reduced_time time;
};

static const struct table_cell *cell_of(const struct table *table, size_t row, const char *key)
{
	const struct table_cell *cell = table_find_cell(table, row, key);

	return cell->is_known ? cell : NULL;
}

static void take_steps(struct reduced_process *process, const struct table *table)
{
	static const struct time_column columns[] = {
		{"duration_ns", REDUCED_DURATION},
		{"dataloader_ns", REDUCED_DATALOADER},
		{"forward_ns", REDUCED_FORWARD},
		{"backward_ns", REDUCED_BACKWARD},
		{"optimization_ns", REDUCED_OPTIMIZATION},
		{"others_ns", REDUCED_OTHERS},
		{"gpu_ns", REDUCED_GPU},
	};

	process->nr_steps = table->nr_rows;
	process->steps = mem_zeroed(table->nr_rows, sizeof(*process->steps));
	for (size_t i = 0; i < table->nr_rows; i++) {
		struct reduced_step *step = &process->steps[i];

		step->step = table_find_cell(table, i, "step")->integer;
		memset(step->ns, 0xff, sizeof(step->ns)); /* unknown */
		for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
			const struct table_cell *cell = cell_of(table, i, columns[k].key);

			step->ns[columns[k].time] = cell ? cell->integer : UINT64_MAX;
		}
	}
}

/* Rows are those of a device after those of another, each in the order of the steps. */
static void take_devices(struct reduced_process *process, const struct table *table)
{
	static const struct time_column columns[] = {
		{"computation_ns", REDUCED_COMPUTATION},
		{"communication_ns", REDUCED_COMMUNICATION},
		{"overlap_ns", REDUCED_OVERLAP},
		{"other_ns", REDUCED_IDLE},
	};
	size_t place = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		uint64_t number = table_find_cell(table, i, "step")->integer;
		size_t nr_tried = 0;

		for (; nr_tried < process->nr_steps && process->steps[place].step != number;
			nr_tried++) {
			place = (place + 1) % process->nr_steps;
		}
		for (size_t k = 0;
			nr_tried < process->nr_steps && k < sizeof(columns) / sizeof(columns[0]);
			k++) {
			const struct table_cell *cell = cell_of(table, i, columns[k].key);
			uint64_t *ns = &process->steps[place].ns[columns[k].time];

			*ns = (*ns == UINT64_MAX ? 0 : *ns) + (cell ? cell->integer : 0);
		}
		place = process->nr_steps ? (place + 1) % process->nr_steps : 0;
	}
}

/* ---- facts ---- */

static void take_facts(struct reduced_process *process, void *const *views)
{
	const struct breakdown_sums sums = view_breakdown_sums(views[BREAKDOWN]);

	memset(process->facts, 0xff, sizeof(process->facts)); /* unknown */
	if (sums.nr_steps) {
		process->facts[REDUCED_STEPS] = sums.has_steps ? sums.nr_steps : 0;
		process->facts[REDUCED_STEPS_NS] = sums.steps_ns;
		process->facts[REDUCED_CUT] = sums.nr_cut;
		memcpy(&process->facts[REDUCED_PARTS], sums.ns, sizeof(sums.ns));
	}
	reduce_memory_facts(views[MEMORY], process->facts);
}

/* ---- the process ---- */

static struct reduced_process describe(const struct process *process)
{
	const char *host = process_host(process), *command = process_command(process);
	const struct gprof_file_header *header = &process->stream->header;

	return (struct reduced_process){.rank = process->rank,
		.world = process->world,
		.host = string_pool_intern(host, strlen(host)),
		.command = string_pool_intern(command, strlen(command)),
		.pid = process->pid,
		.start_ns = header->start_realtime_ns,
		.stream_id = header->stream_id,
		.duration_ns = process->first_ns <= process->last_ns
				       ? process->last_ns - process->first_ns
				       : UINT64_MAX,
		.nr_events = process->nr_events,
		.missing = process_missing(process),
		.state = process_is_complete(process) ? REDUCED_COMPLETE
			 : process->is_ended	      ? REDUCED_INCOMPLETE
						      : REDUCED_UNFINISHED,
		.is_without_works = !view_has_device_records(process, NULL)};
}

void reduce_process(struct reduced *reduced, struct process *process)
{
	const struct view_input input = {
		.processes = &process, .nr_processes = 1, .is_detailed = true};
	struct reduced_process described;
	void *views[NR_VIEWS];
	struct table *table;

	view_run(&input, classes, NR_VIEWS, views);
	take_rows(reduced, views);
	described = describe(process); /* after the pass: damage is found by reading */
	table = view_table(&view_steps, views[STEPS]);
	take_steps(&described, table);
	table_destroy(table);
	table = view_table(&view_distributed, views[DISTRIBUTED]);
	take_devices(&described, table);
	table_destroy(table);
	take_facts(&described, views);
	reduced_add_process(reduced, &described);
	reduced_process_fini(&described);
	for (size_t i = 0; i < NR_VIEWS; i++) {
		view_destroy(classes[i], views[i]);
	}
}
