/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the summary of one stream: runs views of `summary` and reads their states. */
#include <stdlib.h>
#include <string.h>

#include "report/reduce/reduced_view.h"
#include "report/util/string_pool.h"

/* ---- rows ---- */

/* Adds the keyed rows of a view, with the sums that it declares. */
static void add_rows(struct reduced *reduced, enum reduced_view view, void *state)
{
	const struct view_class *class = reduced_classes[view];
	const struct keyed_stats *stats = view_keyed(class, state);
	uint32_t mask = class->merge.kind_mask ? class->merge.kind_mask : UINT32_MAX;
	uint64_t(*sums)[VIEW_MERGE_SUMS] = mem_zeroed(stats->nr_rows, sizeof(*sums));
	struct sketch **sketches = mem_zeroed(stats->nr_rows, sizeof(struct sketch *));

	if (class->merge.get_sums) {
		class->merge.get_sums(state, sums);
	}
	for (size_t i = 0; i < stats->nr_rows; i++) {
		const struct keyed_stats_row *from = &stats->rows[i];
		struct reduced_row *row = reduced_row(reduced, view, from->kind & mask, from->name);

		row->failed += from->failed;
		row->untimed += from->untimed;
		for (unsigned int k = 0; k < VIEW_MERGE_SUMS; k++) {
			row->sums[k] += sums[i][k];
		}
		sketches[i] = &row->times;
	}
	sketch_add_stat(sketches, &stats->times);
	free(sketches);
	free(sums);
}

/* ---- steps ---- */

static void add_steps(struct reduced_process *process, const struct table *table, int number)
{
	process->nr_steps = table->nr_rows;
	process->steps = mem_zeroed(table->nr_rows, sizeof(*process->steps));
	for (size_t i = 0; i < table->nr_rows; i++) {
		process->steps[i].step = table_row(table, i)[number].integer;
		memset(process->steps[i].ns, 0xff, sizeof(process->steps[i].ns)); /* unknown */
	}
}

/*
 * Finds a step by its number; NULL if there is none. Rows come in the order of steps, so that the
 * search begins at *place, behind the last step that was found, and mostly ends at once.
 */
static struct reduced_step *find_step(
	const struct reduced_process *process, uint64_t number, size_t *place)
{
	for (size_t i = 0; i < process->nr_steps; i++) {
		struct reduced_step *step = &process->steps[*place];

		*place = (*place + 1) % process->nr_steps;
		if (step->step == number) {
			return step;
		}
	}
	return NULL;
}

/*
 * Adds the times of steps from the table of a view. Its rows are in the order of steps, device by
 * device; times of several devices add up.
 */
static void add_times(struct reduced_process *process, const struct view_class *class, void *state)
{
	struct table *table = view_table(class, state);
	int number = table_find_column(table, "step"), columns[NR_REDUCED_TIMES];
	size_t place = 0;

	for (unsigned int k = 0; k < NR_REDUCED_TIMES; k++) {
		const struct reduced_time_column *time = &reduced_times[k];

		columns[k] = time->view == class ? table_find_column(table, time->key) : -1;
	}
	if (class == &view_steps) {
		add_steps(process, table, number);
	}
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct table_cell *cells = table_row(table, i);
		struct reduced_step *step = find_step(process, cells[number].integer, &place);

		for (unsigned int k = 0; step && k < NR_REDUCED_TIMES; k++) {
			if (columns[k] >= 0 && cells[columns[k]].is_known) {
				step->ns[k] = cells[columns[k]].integer +
					      (step->ns[k] == UINT64_MAX ? 0 : step->ns[k]);
			}
		}
	}
	table_destroy(table);
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
		.has_no_devices = !process_has_device_records(process, NULL)};
}

/*
 * All views read the stream in one pass. What belongs to the process alone goes into `described`.
 * Rows go into the summary at once: reduced_add_process then takes all rows so far as rows of this
 * process.
 */
void reduce_process(struct reduced *reduced, struct process *process)
{
	const struct view_input input = {.processes = &process,
		.nr_processes = 1,
		.is_detailed = true, /* by steps */
		.is_merged = true};
	struct reduced_process described;
	void *states[NR_REDUCED_CLASSES];
	uint64_t *facts = described.facts;

	view_run(&input, reduced_classes, NR_REDUCED_CLASSES, states);
	described = describe(process); /* after the pass: damage is found by reading */
	memset(facts, 0xff, sizeof(described.facts)); /* unknown */
	for (size_t i = 0; i < NR_REDUCED_CLASSES; i++) {
		const struct view_class *class = reduced_classes[i];

		if (i < NR_REDUCED_VIEWS) {
			add_rows(reduced, (enum reduced_view)i, states[i]);
		} else if (class->merge.get_facts) {
			class->merge.get_facts(states[i], facts);
			facts += class->merge.nr_facts;
		} else {
			add_times(&described, class, states[i]);
		}
	}
	for (size_t i = 0; i < NR_REDUCED_CLASSES; i++) {
		view_destroy(reduced_classes[i], states[i]); /* one may use that of another */
	}
	reduced_add_process(reduced, &described);
	reduced_process_fini(&described);
}
