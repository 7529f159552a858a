/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by the operators that allocate it, with peak, what is never freed, and a curve: from a
 * framework's allocator, or from cudaMalloc and its kin by call where there is none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/memory/allocations.h"
#include "report/memory/memory_scan.h"
#include "report/analysis/view.h"
#include "report/model/select.h"
#include "report/model/time_axis.h"

/* Places that the note speaks of. */
#define MAX_IN_NOTE 8u

struct memory_view {
	struct memory_scan scan; /* comes first: the scan's context */
	struct view_input input;
};

/* ---- who asked ---- */

static void begin_ops(void *context, struct process *process)
{
	struct memory_view *view = context;

	(void)process;
	memory_forget(&view->scan.memory);
}

static void on_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	struct memory_view *view = context;
	uint32_t pool = memory_place(&view->scan.memory, view->input.process,
		alloc->device_type % MEMORY_DRIVER, alloc->device);
	uint64_t freed = memory_freed(&view->scan.memory, pool, alloc);
	uint64_t peak = view->scan.memory.places[pool].pool.peak_tick;
	struct memory_row *row;

	if (alloc->bytes <= 0) {
		return;
	}
	row = memory_row(&view->scan.memory, pool, op ? op_row_name(op->name) : 0);
	min_max_sum_add(&row->allocs, (uint64_t)alloc->bytes);
	row->nr_live += freed == MEMORY_LEFT;
	row->live_bytes += freed == MEMORY_LEFT ? (uint64_t)alloc->bytes : 0;
	row->at_peak_bytes += alloc->tick <= peak && freed > peak ? (uint64_t)alloc->bytes : 0;
}

/* ---- the table ---- */

struct shown_row {
	struct memory_row row;
	const struct process *process;
	uint64_t at_peak_bytes, nr_live, live_bytes;
	uint32_t name;
	const char *place;
};

static void add_row(
	const struct memory_place *place, const struct memory_row *row, struct table *table)
{
	bool has_peak = memory_timeline_has_totals(&place->pool) && !place->has_nameless_free;
	bool has_live = !memory_live_unknown(place);
	char text[MEMORY_NAME_BYTES];

	memory_place_name(place, text);
	table_add(table, &(struct shown_row){.row = *row,
				 .process = place->process,
				 .at_peak_bytes = has_peak ? row->at_peak_bytes : UINT64_MAX,
				 .nr_live = has_live ? row->nr_live : UINT64_MAX,
				 .live_bytes = has_live ? row->live_bytes : UINT64_MAX,
				 .name = row->key.name ? row->key.name
						       : string_pool_intern("(no operator)", 13),
				 .place = text});
}

static void add_rows(const struct memory_view *view, struct table *table)
{
	const struct memory_row *row;

	for (row = view->scan.memory.rows; row; row = row->hh.next) {
		add_row(&view->scan.memory.places[row->key.place], row, table);
	}
}

/* Adds the place's name and figures, apart from its curve. */
static void add_title(struct buf *out, const struct memory_place *place)
{
	const struct memory_timeline *pool = &place->pool;
	uint64_t ns = clock_map_time(&place->process->host_clock, pool->peak_tick);
	uint64_t reserved = pool->reserved_at_peak_bytes;
	char name[MEMORY_NAME_BYTES];

	ns = time_axis_time(place->process, ns);
	memory_place_name(place, name);
	if (!memory_timeline_has_totals(pool)) {
		buf_printf(out, "%s of %u: the allocator does not report totals", name,
			place->process->pid);
		return;
	}
	buf_printf(out, "%s of %u: peak ", name, place->process->pid);
	memory_timeline_add_bytes(out, pool->peak_bytes);
	buf_printf(out, " at %.3f s", (double)ns / 1e9);
	if (pool->peak_reserved_bytes) {
		buf_text(out, " (");
		memory_timeline_add_bytes(out, reserved);
		buf_printf(out, " reserved, %.1f %% of it free; at most ",
			reserved > pool->peak_bytes
				? 100.0 - 100.0 * (double)pool->peak_bytes / (double)reserved
				: 0.0);
		memory_timeline_add_bytes(out, pool->peak_reserved_bytes);
		buf_text(out, " reserved)");
	}
	buf_text(out, ", ");
	memory_timeline_add_bytes(out, pool->last_bytes);
	buf_text(out, " at the end");
}

static void add_live_note(struct table *table, const struct memory_place *place)
{
	const char *why = memory_live_unknown(place);
	char name[MEMORY_NAME_BYTES];

	if (why) {
		memory_place_name(place, name);
		table_note(table, "Live at exit is n/a for %s of %u: %s.", name,
			place->process->pid, why);
	}
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

static void add_notes(
	const struct memory_view *view, struct table *table, uint64_t nr_allocs, uint64_t nr_frees)
{
	table_note(table, "The recording has %" PRIu64 " allocations and %" PRIu64 " frees.",
		nr_allocs, nr_frees);
	for (size_t i = 0; i < view->scan.memory.nr_places && i < MAX_IN_NOTE; i++) {
		struct buf note = {0};

		add_title(&note, &view->scan.memory.places[i]);
		table_note(table, "%.*s.", (int)note.nr_bytes, note.bytes);
		buf_fini(&note);
		add_live_note(table, &view->scan.memory.places[i]);
	}
}

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(shown_row, process)),
	TABLE_COLUMN("place", "Memory", TABLE_TEXT, .help = "GPU, CPU or other kind of memory",
		TABLE_MEMBER(shown_row, place)),
	TABLE_COLUMN(
		"allocations", "Allocations", TABLE_COUNT, TABLE_MEMBER(shown_row, row.allocs.nr)),
	TABLE_COLUMN("total_bytes", "Total", TABLE_SIZE, TABLE_MEMBER(shown_row, row.allocs.sum)),
	TABLE_COLUMN("avg_bytes", "Avg", TABLE_MEAN_SIZE,
		TABLE_MEAN(shown_row, row.allocs.sum, row.allocs.nr)),
	TABLE_COLUMN("max_bytes", "Max", TABLE_SIZE, TABLE_MEMBER(shown_row, row.allocs.max)),
	TABLE_COLUMN("at_peak_bytes", "In use at peak", TABLE_SIZE,
		.help = "bytes that were in use when most memory was in use",
		TABLE_MEMBER(shown_row, at_peak_bytes)),
	TABLE_COLUMN("live", "Live at exit", TABLE_COUNT,
		.help = "allocations still in use at the end of the recording",
		TABLE_MEMBER(shown_row, nr_live)),
	TABLE_COLUMN("live_bytes", "Live at exit", TABLE_SIZE,
		.help = "bytes still in use at the end of the recording",
		TABLE_MEMBER(shown_row, live_bytes)),
	TABLE_COLUMN("name", "Allocated by", TABLE_NAME, .help = "operator or call that allocated",
		TABLE_MEMBER(shown_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct memory_view *view = state;
	uint64_t nr_allocs = 0, nr_frees = 0;

	memory_add_live(&view->scan.memory);
	add_rows(view, table);
	for (size_t i = 0; i < view->scan.memory.nr_places; i++) {
		nr_allocs += view->scan.memory.places[i].pool.nr_allocs;
		nr_frees += view->scan.memory.places[i].pool.nr_frees;
	}
	if (view->scan.memory.nr_places) {
		add_notes(view, table, nr_allocs, nr_frees);
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
	.subject = VIEW_ABOUT_MEMORY,
	.help = "allocations by operator, peak use, and what is still allocated at exit",
	.about = "The notes have the peak of each memory. What is in use at the peak counts by the "
		 "operator that allocated it.",
	.title = "Memory allocations",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct memory_view),
	.scan = {memory_scan_wants, MEMORY_SCAN_NR_WANTS, memory_scan_needs, memory_scan_begin,
		memory_scan_take, memory_scan_end},
	.ops = {.begin = begin_ops, .alloc = on_alloc},
	.fill = fill_table,
	.fini = fini,
};

/* ---- single allocations ---- */

/*
 * Who made them and how long they lived, from a framework's allocator, or from cudaMalloc and its
 * kin where there is none.
 */
struct events_view {
	struct memory_scan scan; /* comes first: the scan's context */
	struct allocations blocks;
	struct view_input input;
};

static void events_begin(void *context, struct process *process)
{
	struct events_view *view = context;

	allocations_begin(&view->blocks, process);
}

static void events_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	struct events_view *view = context;
	uint32_t type = alloc->device_type % MEMORY_DRIVER;

	allocations_take(&view->blocks, alloc, type << 8 | alloc->device, op ? op->name : 0);
}

static void events_end(void *context, struct process *process, const struct phases *phases)
{
	struct events_view *view = context;

	(void)process;
	(void)phases;
	allocations_end(&view->blocks);
}

/* ---- cudaMalloc and its kin ---- */

static void events_block(void *context, const struct memory_block *used, uint64_t freed)
{
	struct events_view *view = context;
	const struct memory_place *place = &view->scan.memory.places[used->row->key.place];
	struct process *process = place->process;
	const struct allocation block = {.bytes = used->bytes,
		.alloc_ns = allocations_time_ns(process, used->tick),
		.free_ns =
			freed == MEMORY_LEFT ? BLOCK_UNSEEN : allocations_time_ns(process, freed),
		.process = process,
		.name = used->row->key.name,
		.device = (uint32_t)place->device_type << 8};

	if (select_has_tick(process, used->tick)) {
		allocations_add(&view->blocks, &block);
	}
}

static void events_init(void *state)
{
	struct events_view *view = state;

	view->scan.memory.block = events_block;
	view->scan.memory.context = view;
}

struct event_row {
	const struct process *process;
	uint64_t bytes, alloc_ns, free_ns, duration_ns;
	uint32_t name;
	const char *place;
};

static void add_event(const struct allocation *block, uint32_t nobody, struct table *table)
{
	const struct memory_place place = {
		.device_type = (uint8_t)(block->device >> 8), .device = (uint8_t)block->device};
	bool is_asked = block->alloc_ns != BLOCK_UNSEEN, is_freed = block->free_ns != BLOCK_UNSEEN;
	char text[MEMORY_NAME_BYTES];
	struct event_row row = {.process = block->process,
		.bytes = block->bytes,
		.alloc_ns = is_asked ? block->alloc_ns : UINT64_MAX,
		.free_ns = is_freed ? block->free_ns : UINT64_MAX,
		.duration_ns = UINT64_MAX,
		.name = !is_asked     ? UINT32_MAX
			: block->name ? block->name
				      : nobody,
		.place = text};

	memory_place_name(&place, text);
	if (is_asked && is_freed && block->free_ns >= block->alloc_ns) {
		row.duration_ns = block->free_ns - block->alloc_ns;
	}
	table_add(table, &row);
}

static const struct table_column event_columns[] = {
	VIEW_PROCESS_COLUMNS(event_row, process, .is_wide_only = true),
	TABLE_COLUMN("place", "Memory", TABLE_TEXT, .help = "GPU, CPU or other kind of memory",
		TABLE_MEMBER(event_row, place)),
	TABLE_COLUMN("bytes", "Size", TABLE_SIZE, TABLE_MEMBER(event_row, bytes)),
	TABLE_COLUMN("allocation_ns", "Allocated", TABLE_TIME,
		.help = "since the start of the recording", TABLE_MEMBER(event_row, alloc_ns)),
	TABLE_COLUMN("release_ns", "Freed", TABLE_TIME,
		.help = "since the start of the recording; n/a: not recorded",
		TABLE_MEMBER(event_row, free_ns)),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME, TABLE_MEMBER(event_row, duration_ns)),
	TABLE_COLUMN("name", "Allocated by", TABLE_NAME, .help = "operator or call that allocated",
		TABLE_MEMBER(event_row, name)),
};

static void fill_events(void *state, struct table *table)
{
	struct events_view *view = state;
	uint32_t nobody = string_pool_intern("(no operator)", 13);
	size_t nr;
	const struct allocation *blocks = allocations_sorted(&view->blocks, &nr);

	for (size_t i = 0; i < nr; i++) {
		add_event(&blocks[i], nobody, table);
	}
	if (!nr) {
		table_note(table, MEMORY_SCAN_NONE);
		return;
	}
	allocations_note(&view->blocks, table);
	if (view->blocks.nr_all > nr) {
		table_note(table, "The table has the %zu largest of %" PRIu64 " allocations.", nr,
			view->blocks.nr_all);
	}
	table_sort(table, "bytes");
}

static void events_fini(void *state)
{
	struct events_view *view = state;

	memory_scan_fini(&view->scan);
	allocations_fini(&view->blocks);
}

VIEW(memory_events, 390) = {
	.name = "memory-events",
	.subject = VIEW_ABOUT_MEMORY,
	.help = "the largest allocations: by which operator, when, and for how long",
	.about = "Times count from the start of the recording. A time is n/a if it lies "
		 "outside the recording or the selected steps, or if frees have no address.",
	.is_empty_hidden = true,
	.title = "Largest allocations",
	VIEW_COLUMNS(event_columns),
	VIEW_STATE(struct events_view),
	.scan = {memory_scan_wants, MEMORY_SCAN_NR_WANTS, memory_scan_needs, memory_scan_begin,
		memory_scan_take, memory_scan_end, .ignores_selection = true},
	.ops = {.begin = events_begin, .alloc = events_alloc, .end = events_end},
	.init = events_init,
	.fill = fill_events,
	.fini = events_fini,
};
