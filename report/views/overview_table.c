/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/overview.h"

#include <string.h>

enum column { NAME, SIDE, PID, DEVICE, CALLS, TOTAL, RATIO, NR_COLUMNS };

static struct table_cell *add_row(struct table *table, uint64_t steps_ns, const char *name,
	const char *side, const struct overview_sum *sum)
{
	struct table_cell *cells = table_add_row(table);

	table_set_string(&cells[NAME], name);
	table_set_string(&cells[SIDE], side);
	table_set_integer(&cells[CALLS], sum->nr);
	table_set_integer(&cells[TOTAL], sum->ns);
	table_set_share(&cells[RATIO], sum->ns, steps_ns);
	return cells;
}

static const char *host_name(unsigned int row)
{
	return row < PHASE_OTHERS      ? phase_names[row]
	       : row == OVERVIEW_CALLS ? "CudaRuntime"
				       : event_type_names[row - OVERVIEW_EVENTS];
}

/* By time, falling; what there is none of is left out. */
static void add_host(struct table *table, const struct overview *all)
{
	bool is_told[NR_OVERVIEW_HOST] = {false};

	for (unsigned int k = 0; k < NR_OVERVIEW_HOST; k++) {
		unsigned int best = NR_OVERVIEW_HOST;

		for (unsigned int i = 0; i < NR_OVERVIEW_HOST; i++) {
			if (!is_told[i] && all->host[i].nr &&
				(best == NR_OVERVIEW_HOST ||
					all->host[i].ns > all->host[best].ns)) {
				best = i;
			}
		}
		if (best == NR_OVERVIEW_HOST) {
			return;
		}
		is_told[best] = true;
		add_row(table, all->steps.ns, host_name(best), "CPU", &all->host[best]);
		table_set_level(table, 1);
	}
}

static void add_work(struct table *table, const struct overview *all)
{
	static const char *const names[] = {
		"Kernel", "Memcpy", "Memset", "Communication", "Computation"};
	bool is_split = all->work[OVERVIEW_COMMUNICATION].nr != 0;

	for (unsigned int k = 0; k < NR_OVERVIEW_WORKS; k++) {
		if (k < OVERVIEW_COMMUNICATION ? all->work[k].nr || all->has_work : is_split) {
			add_row(table, all->steps.ns, names[k], "GPU", &all->work[k]);
			table_set_level(table, 1);
		}
	}
}

/* The utilization of each: its share is of the steps of its own process. */
static void add_device_rows(
	const struct overview_result *result, struct table *table, const struct overview *all)
{
	for (size_t i = 0; i < result->nr_devices; i++) {
		const struct overview_device *row = &result->devices[i];
		struct table_cell *cells;

		if (row->of != all || row->device == UINT32_MAX) {
			continue; /* the stream does not say which */
		}
		cells = add_row(table, row->steps_ns, "Kernel of one GPU", "GPU", &row->kernels);
		table_set_level(table, 1);
		table_set_integer(&cells[PID], row->process->pid);
		table_set_integer(&cells[DEVICE], row->device);
	}
}

static void add_note(
	const struct overview_result *result, struct table *table, const struct overview *all)
{
	view_without_note(&result->without, table, "");
	table_note(table, "%s; what overlaps in time counts once%s%s%s",
		all->has_steps ? "of what lies in steps whose begin and end are known"
			       : "no steps: of the whole recording",
		result->is_selected ? "; GPU: of what the chosen steps launched, whenever it ran"
				    : "",
		table->note ? "; " : "", table->note ? table->note : "");
	if (result->nr_untimed) {
		table_note(table, "%s; %llu works without times are left out", table->note,
			(unsigned long long)result->nr_untimed);
	}
	if (all->nr_processes > 1) {
		table_note(table, "%s; %zu processes, times are their sums", table->note,
			all->nr_processes);
	}
	if (all == &result->loops && result->others.nr_processes) {
		table_note(table, "%s; %zu processes without a loop are left out", table->note,
			result->others.nr_processes);
	}
}

struct table *overview_table(const struct overview_result *result)
{
	static const struct table_column columns[NR_COLUMNS] = {
		[NAME] = {"name", "Event type", TABLE_TEXT, false},
		[SIDE] = {"side", "On", TABLE_TEXT, false},
		[PID] = {"pid", "PID", TABLE_ID, true},
		[DEVICE] = {"device", "GPU", TABLE_ID, true},
		[CALLS] = {"calls", "Calls", TABLE_COUNT, false},
		[TOTAL] = {"total_ns", "Time", TABLE_TIME, false},
		[RATIO] = {"ratio_pct", "% of steps", TABLE_PERCENT, false},
	};
	const struct overview *all = result->loops.nr_processes ? &result->loops : &result->others;
	struct table *table = table_create("overview", "Overview", columns, NR_COLUMNS);
	struct table_cell *cells;

	if (!all->nr_processes) {
		return table;
	}
	cells = add_row(table, all->steps.ns, all->has_steps ? "ProfileStep" : "(whole recording)",
		"CPU", &all->steps);
	cells[CALLS].is_known = all->has_steps;
	add_host(table, all);
	add_work(table, all);
	add_device_rows(result, table, all);
	add_note(result, table, all);
	return table;
}
