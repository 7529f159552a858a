/* SPDX-License-Identifier: Apache-2.0 */
/* Who was profiled, as cells and as a table. */
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
