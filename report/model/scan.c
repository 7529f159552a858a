/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one pass over the events of a process. analysis/view.c gives it all views of a command at
 * once; export and the SQL tables use it for one. It adds up the columns that the views want,
 * announces the blocks to the reader's threads, then loads each block once and hands it to every
 * view that wants its table.
 *
 *   block --stream_load--> whole --select_cut--> chosen
 *                            |                     |
 *              ignores_selection views       all other views
 */
#include "report/model/scan.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/progress.h"
#include "report/model/select.h"

/* The columns that all views together want of a table. */
struct need {
	uint32_t mask;
	uint32_t wide_mask; /* columns that some view wants as 64-bit values */
};

_Static_assert(GPROF_NR_TABLES <= 256, "SCAN_WITH");

static bool is_wanted(const struct scan_want *want, unsigned int table)
{
	return want->table == table || gprof_table_is(table, want->table >> 8);
}

/* Returns the columns that a view wants of a table; the mask is 0 if it wants none. */
static struct need need_of(const struct scan_view *view, unsigned int table)
{
	struct need need = {0};

	for (size_t i = 0; i < view->nr_wants; i++) {
		const struct scan_want *want = &view->wants[i];

		if (is_wanted(want, table)) {
			need.mask |= want->mask;
			need.wide_mask |= want->mask & ~want->small_mask;
		}
	}
	return need;
}

/*
 * Returns the tables that a view needs of the process. A column is read as 32-bit values only if no
 * view wants it wide.
 */
static table_set add_needs(struct need *needs, const struct scan *scan, struct process *process)
{
	table_set tables = 0;

	for (unsigned int table = 0; table < GPROF_NR_TABLES; table++) {
		struct need need = need_of(scan->view, table);

		if (need.mask &&
			(!scan->view->needs || scan->view->needs(scan->context, process, table))) {
			needs[table].mask |= need.mask | select_mask(process, table);
			needs[table].wide_mask |= need.wide_mask;
			tables |= table_bit(table);
		}
	}
	return tables;
}

static struct stream_request request_of(
	const struct process *process, size_t block, const struct need *needs)
{
	const struct need *need = &needs[stream_block_table(process->stream, block)];

	return (struct stream_request){.stream = process->stream,
		.block = block,
		.mask = need->mask,
		.small_mask = need->mask & ~need->wide_mask};
}

static void expect_blocks(const struct process *process, const struct need *needs)
{
	size_t nr_blocks = process->stream->nr_blocks, nr = 0;
	struct stream_request *requests = mem_zeroed(nr_blocks, sizeof(*requests));

	for (size_t block = 0; block < nr_blocks; block++) {
		requests[nr] = request_of(process, block, needs);
		nr += requests[nr].mask != 0;
	}
	stream_expect(requests, nr);
	free(requests);
}

/* A damaged column takes the block only from the views that want that column. */
static void scan_block(struct process *process, size_t block, const struct need *needs,
	const struct scan *scans, const table_set *tables, size_t nr_scans)
{
	struct stream_request request = request_of(process, block, needs);
	unsigned int table = stream_block_table(process->stream, block);
	struct batch whole, chosen;
	uint32_t bad;

	if (!request.mask) {
		return;
	}
	bad = stream_load(process->stream, block, request.mask, request.small_mask, &whole);
	if (bad & select_mask(process, table)) {
		return; /* without the column, selected rows are unknown */
	}
	chosen = whole;
	select_cut(process, &chosen);
	for (size_t i = 0; i < nr_scans; i++) {
		const struct batch *batch = scans[i].view->ignores_selection ? &whole : &chosen;

		if (tables[i] >> table & 1 && !(bad && need_of(scans[i].view, table).mask & bad) &&
			(batch->nr_rows || batch == &whole)) {
			scans[i].view->on_batch(scans[i].context, process, batch);
		}
	}
}

/* All views share one reading of each block: `needs` has the columns that any of them wants. */
static void scan_process(struct process *process, const struct scan *scans, size_t nr_scans)
{
	struct need needs[GPROF_NR_TABLES] = {0};
	table_set *tables = mem_zeroed(nr_scans, sizeof(*tables));

	for (size_t i = 0; i < nr_scans; i++) {
		tables[i] = add_needs(needs, &scans[i], process);
		if (scans[i].view->begin) {
			scans[i].view->begin(scans[i].context, process);
		}
	}
	expect_blocks(process, needs);
	for (size_t block = 0; block < process->stream->nr_blocks; block++) {
		scan_block(process, block, needs, scans, tables, nr_scans);
		progress_add(process->stream->blocks[block].nr_rows);
	}
	for (size_t i = 0; i < nr_scans; i++) {
		if (scans[i].view->end) {
			scans[i].view->end(scans[i].context, process);
		}
	}
	free(tables);
}

void scan_run(struct process *const *processes, size_t nr_processes, const struct scan *scans,
	size_t nr_scans)
{
	uint64_t nr_rows = 0;

	for (size_t i = 0; i < nr_processes; i++) {
		for (size_t k = 0; k < processes[i]->stream->nr_blocks; k++) {
			nr_rows += processes[i]->stream->blocks[k].nr_rows;
		}
	}
	progress_start("reading", nr_rows);
	for (size_t i = 0; i < nr_processes; i++) {
		scan_process(processes[i], scans, nr_scans);
	}
	progress_stop();
}
