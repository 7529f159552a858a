/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process after the other passes through a scan of all tables. sql/event_table.c converts each
 * batch into columns; this file passes them to a sink row by row, until the sink refuses one.
 */
#include "report/cli/export.h"

#include "report/model/scan.h"

struct exporter {
	const struct export_sink *sink;
	struct event_reader *reader;
	struct process **processes;
	size_t place; /* index of the current process */
	struct event_cells rows;
	bool is_full; /* the sink takes no more */
};

static const struct event_table *table_of(unsigned int source)
{
	const struct event_table *table = NULL;

	for (unsigned int i = 0; (table = event_table_at(i)) && table->source != source; i++) {
	}
	return table;
}

static void take(void *context, struct process *process, const struct batch *b)
{
	struct exporter *exporter = context;
	const struct event_table *table = table_of(b->table);
	uint64_t all = (1ull << table->nr_columns) - 1;
	const struct event_cells *rows = &exporter->rows;

	event_reader_convert(exporter->reader, exporter->place, table, all, b, &exporter->rows);
	for (size_t i = 0; i < rows->nr && !exporter->is_full; i++) {
		struct export_cell cells[EVENT_COLUMNS];

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			cells[c] = (struct export_cell){rows->values[c][i], rows->known[c][i]};
		}
		exporter->is_full =
			!exporter->sink->row(exporter->sink->context, table, process, cells);
	}
}

bool export_run(struct process **processes, size_t nr_processes, const struct export_sink *sink)
{
	struct exporter exporter = {.sink = sink, .processes = processes};
	struct scan_want wants[GPROF_NR_TABLES];
	struct scan_view view = {.wants = wants, .on_batch = take};
	struct scan scan = {&view, &exporter};
	const struct event_table *table;

	for (unsigned int i = 0; (table = event_table_at(i)); i++) {
		wants[view.nr_wants++] = (struct scan_want){
			table->source, event_table_mask(table, (1ull << table->nr_columns) - 1), 0};
	}
	exporter.reader = event_reader_create(processes, nr_processes);
	for (size_t i = 0; i < nr_processes && !exporter.is_full; i++) {
		exporter.place = i;
		exporter.rows.ranges = ranges_create();
		for (unsigned int k = 0; (table = event_table_at(k)); k++) {
			event_reader_prepare(exporter.reader, i, table, UINT64_MAX);
		}
		scan_run(&processes[i], 1, &scan, 1);
		ranges_destroy(exporter.rows.ranges);
		event_reader_forget(exporter.reader, i);
	}
	event_cells_fini(&exporter.rows);
	event_reader_destroy(exporter.reader);
	return !exporter.is_full;
}
