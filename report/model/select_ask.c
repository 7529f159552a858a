/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/select_ask.h"

#include <stdlib.h>

#define MOST_SPANS 20u

/* ---- is there anything of what was asked for ---- */

/* Numbers of all processes. */
struct known {
	uint64_t *numbers;
	size_t nr, capacity;
};

static void add_known(struct known *known, uint64_t number)
{
	known->numbers =
		array_grow(known->numbers, known->nr, &known->capacity, sizeof(*known->numbers));
	known->numbers[known->nr++] = number;
}

/* Each part of the list must find something; -N does if there is anything. */
static bool is_found(const struct numbers *asked, const struct known *known)
{
	for (size_t i = 0; i < asked->nr_spans; i++) {
		size_t k = 0;

		while (k < known->nr && (known->numbers[k] < asked->spans[i].first ||
						known->numbers[k] > asked->spans[i].last)) {
			k++;
		}
		if (k == known->nr) {
			return false;
		}
	}
	return known->nr || numbers_is_empty(asked);
}

static bool check(struct process *const *processes, size_t nr_processes,
	const struct select_ask *ask, struct buf *why)
{
	struct known steps = {0}, windows = {0};

	for (size_t i = 0; i < nr_processes; i++) {
		const struct process *process = processes[i];

		for (size_t k = 0; k + 1 < process->nr_steps; k++) {
			add_known(&steps, process->steps[k].step);
		}
		for (size_t k = 0; k < process->nr_windows; k++) {
			if (process->windows[k].state == GPROF_WINDOW_RECORD) {
				add_known(&windows, process->windows[k].window);
			}
		}
	}
	if (!is_found(&ask->steps, &steps)) {
		buf_text(why, steps.nr ? "--steps: there are steps "
				       : "--steps: no step is known to have begun and ended");
		numbers_print(steps.numbers, steps.nr, MOST_SPANS, why);
	} else if (!is_found(&ask->windows, &windows)) {
		buf_text(why, windows.nr ? "--window: there are windows "
					 : "--window: the schedule has no windows");
		numbers_print(windows.numbers, windows.nr, MOST_SPANS, why);
	}
	free(steps.numbers);
	free(windows.numbers);
	return !why->nr_bytes;
}

bool select_all(struct process *const *processes, size_t nr_processes, const struct select_ask *ask,
	struct buf *why)
{
	bool has_any = false;

	if (!select_is_asked(ask)) {
		return true;
	}
	if (!check(processes, nr_processes, ask, why)) {
		return false;
	}
	for (size_t i = 0; i < nr_processes; i++) {
		select_make(processes[i], ask);
		has_any |= processes[i]->select->spans.nr > 0;
	}
	if (!has_any) {
		buf_text(why, numbers_is_empty(&ask->windows)
				      ? "--steps: these steps have no length"
				      : "--steps and --window: they have nothing in common");
		select_drop_all(processes, nr_processes);
	}
	return has_any;
}

void select_drop_all(struct process *const *processes, size_t nr_processes)
{
	for (size_t i = 0; i < nr_processes; i++) {
		select_drop(processes[i]);
	}
}

/* ---- what was chosen ---- */

enum column {
	PID,
	RANK,
	STEPS,
	LIST,
	DURATION,
	WORKS,
	LONE,
	NR_COLUMNS,
};

/* A window that is still open lasts to the last event. */
static uint64_t duration_ns(struct process *process)
{
	const struct intervals *spans = &process->select->spans;
	const struct busy_interval *last = spans->nr ? &spans->items[spans->nr - 1] : NULL;
	uint64_t length = intervals_length(spans), begin_ns;

	if (!last || last->end != UINT64_MAX) {
		return clock_map_duration(&process->host_clock, length);
	}
	length -= last->end - last->begin;
	begin_ns = clock_map_time(&process->host_clock, last->begin);
	return clock_map_duration(&process->host_clock, length) +
	       (process->last_ns > begin_ns ? process->last_ns - begin_ns : 0);
}

static void fill(struct process *process, struct table_cell *cells)
{
	const struct select *select = process->select;
	uint64_t *numbers = mem_zeroed(process->nr_steps + 1, sizeof(*numbers));
	struct buf list = {0};
	size_t nr = 0;

	for (size_t i = 0; i < process->nr_steps; i++) {
		if (select->has_step[i]) {
			numbers[nr++] = process->steps[i].step;
		}
	}
	numbers_print(numbers, nr, MOST_SPANS, &list);
	table_set_integer(&cells[PID], process->pid);
	if (process->rank >= 0) {
		table_set_integer(&cells[RANK], (uint64_t)process->rank);
	}
	if (process->nr_steps) {
		table_set_integer(&cells[STEPS], nr);
	}
	table_set_text(&cells[LIST], list.bytes, list.nr_bytes);
	table_set_integer(&cells[DURATION], duration_ns(process));
	table_set_integer(&cells[WORKS], select->nr_works);
	table_set_integer(&cells[LONE], select->nr_lone);
	buf_fini(&list);
	free(numbers);
}

struct table *select_table(struct process *const *processes, size_t nr_processes)
{
	static const struct table_column columns[NR_COLUMNS] = {
		{"pid", "PID", TABLE_ID, false},
		{"rank", "Rank", TABLE_ID, false},
		{"steps", "Steps", TABLE_COUNT, false},
		{"list", "Which", TABLE_TEXT, false},
		{"duration_ns", "Duration", TABLE_TIME, false},
		{"works", "Works in all", TABLE_COUNT, false},
		{"works_without_call", "Works without a call", TABLE_COUNT, false},
	};
	bool is_scattered = false, is_empty = false;
	struct table *table;

	if (!nr_processes || !processes[0]->select) {
		return NULL;
	}
	table = table_create("selection", "Selection", columns, NR_COLUMNS);
	for (size_t i = 0; i < nr_processes; i++) {
		fill(processes[i], table_add_row(table));
		is_scattered |= processes[i]->select->spans.nr > 1;
		is_empty |= processes[i]->select->nr_empty > 0;
	}
	table_note(table,
		"all below is of what began in these steps, and of the work that was launched in "
		"them, whenever it ran; work without a call is in no step%s%s",
		is_scattered ? "; spans and idle times of devices include what lies between them"
			     : "",
		is_empty
			? "; steps of no length (the clock went back, or several loops count) have "
			  "no events"
			: "");
	return table;
}
