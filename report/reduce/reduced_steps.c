/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of the steps of a summary: each step over all processes, each step of each process, and
 * the sums and means of each process. They unpack one process at a time; the others stay as small
 * as they are in a file.
 */
#include <stdlib.h>
#include <string.h>

#include "report/stats/samples.h"
#include "report/util/hash.h"
#include "report/util/string_pool.h"
#include "report/reduce/reduced_view.h"
#include "report/table/step_heatmap.h"
#include "report/util/sort.h"

/* Adds a column for each time of a step, from `first` on. */
static void add_times(struct table_column *columns, enum reduced_time first, enum table_type type)
{
	for (unsigned int i = first; i < NR_REDUCED_TIMES; i++, columns++) {
		const struct reduced_time_column *time = &reduced_times[i];

		*columns = *view_column(time->view, time->key);
		columns->key = time->shown_key ? time->shown_key : columns->key;
		columns->title = time->shown_title ? time->shown_title : columns->title;
		columns->type = type;
		columns->is_wide_only = time->is_wide_only;
	}
}

/* ---- steps over processes ---- */

struct step {
	uint64_t number;
	size_t nr_processes;
	struct samples durations;
	struct reduced_who slowest;
	uint64_t longest_ns;
	uint64_t nr[NR_REDUCED_TIMES];
	uint64_t ns[NR_REDUCED_TIMES];
	UT_hash_handle hh;
};

static struct step *find_step(struct step **steps, uint64_t number)
{
	struct step *step;

	hash_put(*steps, number, &number, step);
	return step;
}

static void add_step(
	struct step *step, const struct reduced_process *process, const struct reduced_step *times)
{
	uint64_t duration_ns = times->ns[REDUCED_DURATION];

	step->nr_processes++;
	for (unsigned int i = 0; i < NR_REDUCED_TIMES; i++) {
		if (times->ns[i] != UINT64_MAX) {
			step->nr[i]++;
			step->ns[i] += times->ns[i];
		}
	}
	if (duration_ns == UINT64_MAX) {
		return;
	}
	if (!step->durations.nr || duration_ns > step->longest_ns) {
		step->longest_ns = duration_ns;
		step->slowest = reduced_who_of(process);
	}
	samples_add(&step->durations, duration_ns);
}

static int by_number(const struct step *a, const struct step *b)
{
	return COMPARE(a->number, b->number);
}

struct step_row {
	uint64_t number;
	size_t nr_processes;
	struct samples_figures figures;
	struct reduced_who slowest;
	size_t nr; /* durations */
};

/* Behind them are the means of the other times. */
static const struct table_column step_columns[] = {
	TABLE_COLUMN("step", "Step", TABLE_ID, TABLE_MEMBER(step_row, number)),
	TABLE_COLUMN("processes", "Processes", TABLE_COUNT, TABLE_MEMBER(step_row, nr_processes)),
	TABLE_COLUMN("slowest_rank", "Slowest rank", TABLE_TEXT, TABLE_IF(step_row, slowest, nr),
		.set = reduced_set_who),
	SAMPLES_COLUMNS(step_row, figures),
};

enum {
	MEANS = sizeof(step_columns) / sizeof(step_columns[0]),
	NR_STEP_COLUMNS = MEANS + NR_REDUCED_TIMES - 1,
};

/* The statistics of durations include their mean. */
static void fill_step(struct step *step, struct table_cell *cells)
{
	const struct step_row row = {step->number, step->nr_processes,
		samples_figures(&step->durations), step->slowest, step->durations.nr};

	TABLE_FILL(step_columns, &row, cells);
	for (unsigned int i = 1; i < NR_REDUCED_TIMES; i++) {
		if (step->nr[i]) {
			table_set_number(
				&cells[MEANS + i - 1], (double)step->ns[i] / (double)step->nr[i]);
		}
	}
}

/* The steps with a duration, for a picture of ranks. */
struct field {
	struct step_heatmap *steps;
	size_t nr, capacity;
};

static void add_to_field(struct field *field, const struct reduced_process *process)
{
	for (size_t i = 0; i < process->nr_steps && process->rank >= 0; i++) {
		uint64_t duration_ns = process->steps[i].ns[REDUCED_DURATION];

		if (duration_ns != UINT64_MAX) {
			field->steps = array_grow(
				field->steps, field->nr, &field->capacity, sizeof(*field->steps));
			field->steps[field->nr++] = (struct step_heatmap){(uint64_t)process->rank,
				process->steps[i].step, duration_ns, process->pid};
		}
	}
}

static void draw(struct field *field, struct table *table)
{
	table->figure = step_heatmap_draw(field->steps, field->nr);
	table->figure_json = step_heatmap_json(field->steps, field->nr);
	free(field->steps);
}

struct table *reduced_steps_table(struct reduced *reduced, unsigned int argument)
{
	struct table_column columns[NR_STEP_COLUMNS];
	struct step *steps = NULL, *next;
	struct field field = {0};
	struct table *table;

	(void)argument;
	memcpy(columns, step_columns, sizeof(step_columns));
	add_times(&columns[MEANS], REDUCED_DURATION + 1, TABLE_MEAN_TIME);
	table = table_create(view_steps.name, "Steps over processes", columns, NR_STEP_COLUMNS);
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		struct reduced_process process = reduced_process(reduced, i);

		for (size_t k = 0; k < process.nr_steps; k++) {
			add_step(find_step(&steps, process.steps[k].step), &process,
				&process.steps[k]);
		}
		add_to_field(&field, &process);
		reduced_process_fini(&process);
	}
	HASH_SORT(steps, by_number);
	for (struct step *step = steps; step; step = next) {
		next = step->hh.next;
		fill_step(step, table_add_row(table));
		samples_fini(&step->durations);
	}
	hash_free(steps);
	draw(&field, table);
	table_note(table, "Durations are exact; other times are means over the processes that have "
			  "them.");
	table_note(table, "--detail shows each step of each process.");
	return table;
}

/* ---- each step of each process ---- */

enum { OF_STEPS = REDUCED_WHO_COLUMNS, TIMES, NR_TIME_COLUMNS = TIMES + NR_REDUCED_TIMES };

static void fill_times(const uint64_t *ns, struct table_cell *cells)
{
	for (unsigned int i = 0; i < NR_REDUCED_TIMES; i++) {
		if (ns[i] != UINT64_MAX) {
			table_set_integer(&cells[i], ns[i]);
		}
	}
}

struct table *reduced_every_step_table(struct reduced *reduced, unsigned int argument)
{
	struct table_column columns[NR_TIME_COLUMNS] = {
		REDUCED_WHO, TABLE_COLUMN("step", "Step", TABLE_ID)};
	struct table *table;

	(void)argument;
	add_times(&columns[TIMES], REDUCED_DURATION, TABLE_TIME);
	table = table_create(view_steps.name, "Steps of processes", columns, NR_TIME_COLUMNS);
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		struct reduced_process process = reduced_process(reduced, i);

		for (size_t k = 0; k < process.nr_steps; k++) {
			struct table_cell *cells = table_add_row(table);

			reduced_who_fill(&process, cells);
			table_set_integer(&cells[OF_STEPS], process.steps[k].step);
			fill_times(process.steps[k].ns, &cells[TIMES]);
		}
		reduced_process_fini(&process);
	}
	return table;
}

/* ---- sums of steps ---- */

/* A time of the steps of a process: the number of steps that have it, and its sum. */
struct sum {
	uint64_t ns;
	size_t nr;
};

static struct sum sum_of(
	const struct reduced_process *process, const bool *counts, unsigned int time)
{
	struct sum sum = {0};

	for (size_t i = 0; i < process->nr_steps; i++) {
		if (counts[i] && process->steps[i].ns[time] != UINT64_MAX) {
			sum.ns += process->steps[i].ns[time];
			sum.nr++;
		}
	}
	return sum;
}

struct table *reduced_distributed_table(struct reduced *reduced, unsigned int argument)
{
	struct table_column columns[NR_TIME_COLUMNS] = {
		REDUCED_WHO, TABLE_COLUMN("steps", "Steps", TABLE_COUNT)};
	struct table *table;

	(void)argument;
	add_times(&columns[TIMES], REDUCED_DURATION, TABLE_TIME);
	table = table_create(
		view_distributed.name, "Sums of steps by process", columns, NR_TIME_COLUMNS);
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		struct reduced_process process = reduced_process(reduced, i);
		bool *counts = reduced_counted_steps(&process, false);
		struct table_cell *cells = table_add_row(table);

		reduced_who_fill(&process, cells);
		table_set_integer(&cells[OF_STEPS], sum_of(&process, counts, REDUCED_DURATION).nr);
		for (unsigned int k = 0; k < NR_REDUCED_TIMES; k++) {
			struct sum sum = sum_of(&process, counts, k);

			if (sum.nr) {
				table_set_integer(&cells[TIMES + k], sum.ns);
			}
		}
		free(counts);
		reduced_process_fini(&process);
	}
	table_note(table,
		"Covers the steps that count on the first screen; times add up over the GPUs of a "
		"process.");
	return table;
}

struct table *reduced_distributed_each(struct reduced *reduced, unsigned int argument)
{
	struct table_column columns[REDUCED_WHO_COLUMNS + NR_REDUCED_TIMES] = {REDUCED_WHO};
	struct table *table;

	(void)argument;
	add_times(&columns[REDUCED_WHO_COLUMNS], REDUCED_DURATION, TABLE_MEAN_TIME);
	table = table_create(view_distributed.name, "Mean of steps", columns,
		REDUCED_WHO_COLUMNS + NR_REDUCED_TIMES);
	for (size_t i = 0; i < reduced->nr_processes; i++) {
		struct reduced_process process = reduced_process(reduced, i);
		bool *counts = reduced_counted_steps(&process, false);
		struct table_cell *cells = table_add_row(table);

		reduced_who_fill(&process, cells);
		for (unsigned int k = 0; k < NR_REDUCED_TIMES; k++) {
			struct sum sum = sum_of(&process, counts, k);

			if (sum.nr) {
				table_set_number(&cells[REDUCED_WHO_COLUMNS + k],
					(double)sum.ns / (double)sum.nr);
			}
		}
		free(counts);
		reduced_process_fini(&process);
	}
	table_note(table,
		"Means of the steps that count on the first screen; times add up over the GPUs "
		"of a process.");
	return table;
}
