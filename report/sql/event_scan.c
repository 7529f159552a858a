/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over the processes and blocks that may have wanted rows, and converts one block at a time
 * (event_table.c). A rowid has the process, the block and the row in its bits, so it is the same in
 * every scan.
 */
#include "report/sql/event.h"

#include <stdlib.h>

#include "report/model/select.h"
#include "report/util/progress.h"

uint64_t event_scan_nr_rows(const struct event_input *input, const struct event_table *table)
{
	uint64_t nr_rows = 0;

	for (size_t i = 0; i < input->nr_processes; i++) {
		const struct stream_table *source =
			stream_table(input->processes[i]->stream, table->source);

		nr_rows += source ? source->nr_rows : 0;
	}
	return nr_rows;
}

static bool is_wanted_process(const struct event_scan *scan, size_t place)
{
	const struct process *process = scan->input->processes[place];
	const struct event_bounds *bounds = &scan->bounds;

	return (!bounds->has_pid || bounds->pid == process->pid) &&
	       (!bounds->has_rank || bounds->rank == process->rank);
}

/* A block's header has its first and last time; in a damaged stream these may be wrong. */
static bool is_wanted_block(const struct event_scan *scan, size_t block)
{
	const struct event_input *input = scan->input;
	struct process *process = input->processes[scan->process];
	const struct stream_block *b = &process->stream->blocks[block];
	const struct schema_table *schema = schema_table(scan->table->source);
	struct clock_map *clock;

	if (stream_block_table(process->stream, block) != scan->table->source) {
		return false;
	}
	if (!scan->table->time_column || scan->cells.ranges || b->ring ||
		scan->table->source == GPROF_TABLE_step || stream_is_damaged(process->stream)) {
		return true;
	}
	clock = schema->columns[0].kind == GPROF_KIND_TICK ? &process->host_clock
							   : &process->device_clock;
	return event_reader_time(input->reader, scan->process,
		       clock_map_time(clock, b->time_max)) >= scan->bounds.first_ns &&
	       event_reader_time(input->reader, scan->process,
		       clock_map_time(clock, b->time_min)) <= scan->bounds.last_ns;
}

static struct stream_request request_of(const struct event_scan *scan, size_t block)
{
	const struct process *process = scan->input->processes[scan->process];

	return (struct stream_request){.stream = process->stream,
		.block = block,
		.mask = scan->mask | select_mask(process, scan->table->source)};
}

/* Lets other threads decode ahead, for the one scan that is open. */
static void expect_blocks(const struct event_scan *scan)
{
	size_t nr_blocks = scan->input->processes[scan->process]->stream->nr_blocks, nr = 0;
	struct stream_request *requests;

	if (scan->input->nr_scans > 1 || !scan->mask) { /* a count of rows wants no column */
		return;
	}
	requests = mem_zeroed(nr_blocks, sizeof(*requests));
	for (size_t block = 0; block < nr_blocks; block++) {
		if (is_wanted_block(scan, block)) {
			requests[nr++] = request_of(scan, block);
		}
	}
	stream_expect(requests, nr);
	free(requests);
}

static void begin_process(struct event_scan *scan)
{
	scan->block = 0;
	ranges_destroy(scan->cells.ranges);
	scan->cells.ranges = scan->table->number == GPROF_TABLE_NONE ? ranges_create() : NULL;
	event_reader_prepare(scan->input->reader, scan->process, scan->table, scan->columns);
	expect_blocks(scan);
}

void event_scan_begin(struct event_scan *scan, struct event_input *input,
	const struct event_table *table, uint64_t columns, const struct event_bounds *bounds)
{
	*scan = (struct event_scan){.input = input,
		.table = table,
		.columns = columns,
		.bounds = *bounds,
		.mask = event_table_mask(table, columns)};
	scan->has_progress = !input->nr_scans++;
	if (scan->has_progress) {
		progress_start("reading", event_scan_nr_rows(input, table));
	}
	while (scan->process < input->nr_processes && !is_wanted_process(scan, scan->process)) {
		scan->process++;
	}
	if (scan->process < input->nr_processes) {
		begin_process(scan);
	}
}

static void show_texts(struct event_scan *scan)
{
	struct event_cells *cells = &scan->cells;

	for (unsigned int c = 0; scan->columns >> c; c++) {
		bool is_text = scan->table->columns[c].type == EVENT_COLUMN_TEXT;

		for (size_t i = 0; is_text && (scan->columns >> c & 1) && i < cells->nr; i++) {
			if (cells->known[c][i]) {
				cells->values[c][i] = event_reader_shown(
					scan->input->reader, (uint32_t)cells->values[c][i]);
			}
		}
	}
}

/* False where the block is damaged, or nothing of it is wanted. */
static bool read_block(struct event_scan *scan, size_t block)
{
	struct process *process = scan->input->processes[scan->process];
	struct stream_request request = request_of(scan, block);
	struct batch batch;

	if (scan->has_progress) {
		progress_add(process->stream->blocks[block].nr_rows);
	}
	if (stream_load(process->stream, block, request.mask, 0, &batch)) {
		return false;
	}
	select_cut(process, &batch);
	if (!batch.nr_rows) {
		return false;
	}
	event_reader_convert(scan->input->reader, scan->process, scan->table, scan->columns, &batch,
		&scan->cells);
	show_texts(scan);
	scan->first_rowid = (int64_t)(scan->process << 44 | block << 17);
	return scan->cells.nr > 0;
}

bool event_scan_next(struct event_scan *scan)
{
	while (scan->process < scan->input->nr_processes) {
		const struct stream *stream = scan->input->processes[scan->process]->stream;

		while (scan->block < stream->nr_blocks) {
			size_t block = scan->block++;

			if (is_wanted_block(scan, block) && read_block(scan, block)) {
				return true;
			}
		}
		do {
			scan->process++;
		} while (scan->process < scan->input->nr_processes &&
			 !is_wanted_process(scan, scan->process));
		if (scan->process < scan->input->nr_processes) {
			begin_process(scan);
		}
	}
	return false;
}

void event_scan_end(struct event_scan *scan)
{
	if (!scan->input) {
		return;
	}
	if (scan->has_progress) {
		progress_stop();
	}
	scan->input->nr_scans--;
	ranges_destroy(scan->cells.ranges);
	event_cells_fini(&scan->cells);
	*scan = (struct event_scan){0};
}
