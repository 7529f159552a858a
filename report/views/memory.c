/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by the operators that allocate it, with peak, what is never freed, and a curve: from a
 * framework's allocator, or from cudaMalloc and its kin by call where there is none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/memory_scan.h"
#include "report/analysis/view.h"

/* Places that the note speaks of. */
#define MOST_IN_NOTE 8u

struct memory_view {
	struct memory_scan scan; /* comes first: the scan's context */
	struct process *process; /* at hand */
	struct view_input input;
};

/* ---- who asked ---- */

static void begin_ops(void *context, struct process *process)
{
	struct memory_view *view = context;

	memory_forget(&view->scan.memory);
	view->process = process;
}

static void on_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	struct memory_view *view = context;
	bool is_free = alloc->bytes <= 0;
	uint32_t pool = memory_place(&view->scan.memory, view->process,
		alloc->device_type % MEMORY_DRIVER, alloc->device);
	uint64_t freed =
		memory_freed(&view->scan.memory, pool, alloc->address, alloc->tick, is_free);
	uint64_t peak = view->scan.memory.places[pool].pool.peak_tick;
	struct memory_row *row;

	if (is_free) {
		return;
	}
	row = memory_row(&view->scan.memory, pool, op ? op->name : 0);
	min_max_sum_add(&row->allocs, (uint64_t)alloc->bytes);
	row->nr_live += freed == MEMORY_LEFT;
	row->live_bytes += freed == MEMORY_LEFT ? (uint64_t)alloc->bytes : 0;
	row->at_peak_bytes += alloc->tick <= peak && freed > peak ? (uint64_t)alloc->bytes : 0;
}

/* ---- the table ---- */

static void add_rows(const struct memory_view *view, struct table *table)
{
	uint32_t nobody = string_pool_intern("(no operator)", 13);
	const struct memory_row *row;

	for (row = view->scan.memory.rows; row; row = row->hh.next) {
		const struct memory_place *place = &view->scan.memory.places[row->key.place];
		struct table_cell *cells = table_add(table, row);
		char text[MEMORY_NAME_BYTES];

		memory_place_name(place, text);
		table_set_integer(&cells[0], place->process->pid);
		table_set_string(&cells[1], text);
		table_set_number(&cells[4], min_max_sum_mean(&row->allocs));
		if (memory_timeline_has_totals(&place->pool)) {
			table_set_integer(&cells[6], row->at_peak_bytes);
		}
		table_set_integer(&cells[9], row->key.name ? row->key.name : nobody);
	}
}

/* What is known of a place apart from its curve. */
static void add_title(struct buf *out, const struct memory_place *place)
{
	const struct memory_timeline *pool = &place->pool;
	uint64_t ns = clock_map_time(&place->process->host_clock, pool->peak_tick);
	uint64_t reserved = pool->reserved_at_peak_bytes;
	char name[MEMORY_NAME_BYTES];

	ns = ns > place->process->first_ns ? ns - place->process->first_ns : 0;
	memory_place_name(place, name);
	if (!memory_timeline_has_totals(pool)) {
		buf_printf(
			out, "%s of %u: its allocator tells no totals", name, place->process->pid);
		return;
	}
	buf_printf(out, "%s of %u: peak ", name, place->process->pid);
	memory_timeline_add_bytes(out, pool->peak_bytes);
	buf_printf(out, ", %.3f s after the first event", (double)ns / 1e9);
	if (pool->peak_reserved_bytes) {
		buf_text(out, ", ");
		memory_timeline_add_bytes(out, reserved);
		buf_text(out, " reserved then (at most ");
		memory_timeline_add_bytes(out, pool->peak_reserved_bytes);
		buf_printf(out, "), %.1f %% of that free",
			reserved > pool->peak_bytes
				? 100.0 - 100.0 * (double)pool->peak_bytes / (double)reserved
				: 0.0);
	}
	buf_text(out, ", ");
	memory_timeline_add_bytes(out, pool->last_bytes);
	buf_text(out, " at the end");
}

static char *draw(const struct memory_view *view)
{
	struct buf out = {0};

	for (size_t i = 0; i < view->scan.memory.nr_places; i++) {
		struct buf title = {0};
		char name[MEMORY_NAME_BYTES];

		if (!memory_timeline_has_totals(&view->scan.memory.places[i].pool)) {
			continue;
		}
		memory_place_name(&view->scan.memory.places[i], name);
		buf_printf(&title, "%s of %u", name, view->scan.memory.places[i].process->pid);
		buf_char(&title, '\0');
		memory_timeline_draw(&view->scan.memory.places[i].pool, title.bytes, &out);
		buf_fini(&title);
	}
	buf_char(&out, '\0');
	return out.bytes;
}

static void add_note(
	const struct memory_view *view, struct table *table, uint64_t nr_allocs, uint64_t nr_frees)
{
	struct buf note = {0};
	bool has_peak = false;

	for (size_t i = 0; i < view->scan.memory.nr_places; i++) {
		has_peak |= memory_timeline_has_totals(&view->scan.memory.places[i].pool);
	}
	buf_printf(&note,
		"%" PRIu64 " allocations, %" PRIu64
		" frees; not freed: until the end of the recording%s",
		nr_allocs, nr_frees,
		has_peak ? "; in use at peak: of what was allocated in it" : "");
	for (size_t i = 0; i < view->scan.memory.nr_places && i < MOST_IN_NOTE; i++) {
		buf_text(&note, "; ");
		add_title(&note, &view->scan.memory.places[i]);
	}
	buf_char(&note, '\0');
	table_note(table, "%s", note.bytes);
	buf_fini(&note);
}

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID),
	TABLE_COLUMN("place", "Memory", TABLE_TEXT),
	TABLE_COLUMN(
		"allocations", "Allocations", TABLE_COUNT, TABLE_MEMBER(memory_row, allocs.nr)),
	TABLE_COLUMN("total_bytes", "Total", TABLE_SIZE, TABLE_MEMBER(memory_row, allocs.sum)),
	TABLE_COLUMN("avg_bytes", "Avg", TABLE_MEAN_SIZE),
	TABLE_COLUMN("max_bytes", "Max", TABLE_SIZE, TABLE_MEMBER(memory_row, allocs.max)),
	TABLE_COLUMN("at_peak_bytes", "In use at peak", TABLE_SIZE,
		.help = "in use when most memory was in use"),
	TABLE_COLUMN("live", "Not freed", TABLE_COUNT, .help = "allocations that were never freed",
		TABLE_MEMBER(memory_row, nr_live)),
	TABLE_COLUMN("live_bytes", "Not freed", TABLE_SIZE, TABLE_MEMBER(memory_row, live_bytes)),
	TABLE_COLUMN("name", "By", TABLE_NAME, .help = "operator, or call, that allocated"),
};

static void fill_table(void *state, struct table *table)
{
	struct memory_view *view = state;
	uint64_t nr_allocs = 0, nr_frees = 0;

	add_rows(view, table);
	for (size_t i = 0; i < view->scan.memory.nr_places; i++) {
		nr_allocs += view->scan.memory.places[i].pool.nr_allocs;
		nr_frees += view->scan.memory.places[i].pool.nr_frees;
	}
	if (view->scan.memory.nr_places) {
		add_note(view, table, nr_allocs, nr_frees);
		table->figure = draw(view);
	} else {
		table_note(table, MEMORY_SCAN_NONE);
	}
	table_sort(table, "total");
}

static void fini(void *state)
{
	memory_scan_fini(state);
}

VIEW(memory, 370) = {
	.name = "memory",
	.help = "allocations by operator, peak, what was not freed, a curve",
	.title = "Memory",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct memory_view),
	.scan = {memory_scan_wants, MEMORY_SCAN_NR_WANTS, memory_scan_needs, memory_scan_begin,
		memory_scan_take, memory_scan_end},
	.ops = {.begin = begin_ops, .alloc = on_alloc},
	.fill = fill_table,
	.fini = fini,
};
