/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and the windows of the schedule: known without reading events. */
#include <stdlib.h>
#include <string.h>

#include "report/view.h"

struct steps_view {
	struct view_input input;
};

static void *create(const struct view_input *input)
{
	struct steps_view *view = mem_zeroed(1, sizeof(*view));

	view->input = *input;
	return view;
}

static void set_name(
	struct table_cell *cell, const char *const *names, size_t nr_names, unsigned int i)
{
	const char *name = i < nr_names && names[i] ? names[i] : "?";

	table_set_text(cell, name, strlen(name));
}

/* After the first event of the process, in ns. */
static uint64_t moment(struct process *process, uint64_t tick)
{
	uint64_t ns = clock_map_time(&process->host_clock, tick);

	return ns > process->first_ns ? ns - process->first_ns : 0;
}

static struct table *make_steps(void *context)
{
	static const struct table_column columns[] = {
		{"pid", "PID", TABLE_ID, false},
		{"step", "Step", TABLE_ID, false},
		{"start_ns", "Start", TABLE_TIME, false},
		{"duration_ns", "Duration", TABLE_TIME, false},
		{"rule", "Found by", TABLE_TEXT, false},
	};
	static const char *const rules[] = {[GPROF_STEP_CALL] = "gprof_step()",
		[GPROF_STEP_NVTX] = "nvtx",
		[GPROF_STEP_API] = "api",
		[GPROF_STEP_KERNEL] = "kernel",
		[GPROF_STEP_INTERVAL] = "interval"};
	struct steps_view *view = context;
	struct table *table = table_create("steps", "Steps", columns, 5);

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		struct process *process = view->input.processes[i];

		for (size_t k = 0; k < process->nr_steps; k++) {
			const struct model_step *step = &process->steps[k];
			struct table_cell *cells = table_add_row(table);

			table_set_integer(&cells[0], process->pid);
			table_set_integer(&cells[1], step->step);
			table_set_integer(&cells[2], moment(process, step->tick));
			if (k + 1 < process->nr_steps && step[1].tick >= step->tick) {
				table_set_integer(
					&cells[3], clock_map_duration(&process->host_clock,
							   step[1].tick - step->tick));
			}
			set_name(&cells[4], rules, sizeof(rules) / sizeof(rules[0]), step->how);
		}
	}
	table_note(table, "the last step has no end");
	return table;
}

static struct table *make_windows(void *context)
{
	static const struct table_column columns[] = {
		{"pid", "PID", TABLE_ID, false},
		{"window", "Window", TABLE_ID, false},
		{"step", "From step", TABLE_ID, false},
		{"start_ns", "Start", TABLE_TIME, false},
		{"state", "State", TABLE_TEXT, false},
	};
	static const char *const states[] = {[GPROF_WINDOW_CLOSED] = "closed",
		[GPROF_WINDOW_READY] = "ready",
		[GPROF_WINDOW_RECORD] = "record"};
	struct steps_view *view = context;
	struct table *table = table_create("windows", "Schedule", columns, 5);

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		struct process *process = view->input.processes[i];

		for (size_t k = 0; k < process->nr_windows; k++) {
			const struct model_window *window = &process->windows[k];
			struct table_cell *cells = table_add_row(table);

			table_set_integer(&cells[0], process->pid);
			table_set_integer(&cells[1], window->window);
			table_set_integer(&cells[2], window->step);
			table_set_integer(&cells[3], moment(process, window->tick));
			set_name(&cells[4], states, 3, window->state);
		}
	}
	return table;
}

const struct view_class view_steps = {
	.name = "steps",
	.help = "steps and how long they took",
	.is_default = false,
	.create = create,
	.table = make_steps,
	.destroy = free,
};

const struct view_class view_windows = {
	.name = "windows",
	.help = "when the schedule recorded and when not",
	.is_default = false,
	.create = create,
	.table = make_windows,
	.destroy = free,
};
