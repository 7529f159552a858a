/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single allocations: who made them and how long they lived, from a framework's allocator, or from
 * cudaMalloc and its kin where there is none.
 */
#include <inttypes.h>

#include "report/analysis/allocations.h"
#include "report/analysis/memory_scan.h"
#include "report/model/select.h"

struct events_view {
	struct memory_scan scan; /* comes first: the scan's context */
	struct allocations blocks;
	struct view_input input;
};

/* ---- a framework's allocator ---- */

static void begin_ops(void *context, struct process *process)
{
	struct events_view *view = context;

	allocations_begin(&view->blocks, process);
}

static void on_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	struct events_view *view = context;
	uint32_t type = alloc->device_type % MEMORY_DRIVER;

	allocations_take(&view->blocks, alloc, type << 8 | alloc->device, op ? op->name : 0);
}

static void end_ops(void *context, struct process *process, const struct phases *phases)
{
	struct events_view *view = context;

	(void)process;
	(void)phases;
	allocations_end(&view->blocks);
}

/* ---- cudaMalloc and its kin ---- */

static void on_block(void *context, const struct memory_block *used, uint64_t freed)
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

static void init(void *state)
{
	struct events_view *view = state;

	view->scan.memory.block = on_block;
	view->scan.memory.context = view;
}

/* ---- the table ---- */

enum column { PID, RANK, PLACE, BYTES, ALLOCATION, RELEASE, DURATION, NAME };

static void fill(const struct allocation *block, uint32_t nobody, struct table_cell *cells)
{
	const struct memory_place place = {
		.device_type = (uint8_t)(block->device >> 8), .device = (uint8_t)block->device};
	bool is_asked = block->alloc_ns != BLOCK_UNSEEN;
	char text[MEMORY_NAME_BYTES];

	memory_place_name(&place, text);
	view_fill_process(block->process, &cells[PID]);
	table_set_string(&cells[PLACE], text);
	table_set_integer(&cells[BYTES], block->bytes);
	if (is_asked) {
		table_set_integer(&cells[ALLOCATION], block->alloc_ns);
		table_set_integer(&cells[NAME], block->name ? block->name : nobody);
	}
	if (block->free_ns != BLOCK_UNSEEN) {
		table_set_integer(&cells[RELEASE], block->free_ns);
		if (is_asked && block->free_ns >= block->alloc_ns) {
			table_set_integer(&cells[DURATION], block->free_ns - block->alloc_ns);
		}
	}
}

static const struct table_column columns[] = {
	[PID] = TABLE_COLUMN("pid", "PID", TABLE_ID),
	[RANK] = TABLE_COLUMN("rank", "Rank", TABLE_ID, .is_wide_only = true),
	[PLACE] = TABLE_COLUMN(
		"place", "Memory", TABLE_TEXT, .help = "GPU, CPU or other kind of memory"),
	[BYTES] = TABLE_COLUMN("bytes", "Size", TABLE_SIZE),
	[ALLOCATION] = TABLE_COLUMN("allocation_ns", "Allocated", TABLE_TIME,
		.help = "since the start of the recording"),
	[RELEASE] = TABLE_COLUMN("release_ns", "Freed", TABLE_TIME,
		.help = "since the start of the recording; n/a: not recorded"),
	[DURATION] = TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME),
	[NAME] = TABLE_COLUMN(
		"name", "Allocated by", TABLE_NAME, .help = "operator or call that allocated"),
};

static void fill_table(void *state, struct table *table)
{
	struct events_view *view = state;
	uint32_t nobody = string_pool_intern("(no operator)", 13);
	size_t nr;
	const struct allocation *blocks = allocations_sorted(&view->blocks, &nr);

	for (size_t i = 0; i < nr; i++) {
		fill(&blocks[i], nobody, table_add_row(table));
	}
	if (!nr) {
		table_note(table, MEMORY_SCAN_NONE);
		return;
	}
	if (view->blocks.nr_all > nr) {
		table_note(table, "The table has the %zu largest of %" PRIu64 " allocations.", nr,
			view->blocks.nr_all);
	}
	table_sort(table, "bytes");
}

static void fini(void *state)
{
	struct events_view *view = state;

	memory_scan_fini(&view->scan);
	allocations_fini(&view->blocks);
}

VIEW(memory_events, 390) = {
	.name = "memory-events",
	.help = "the largest allocations: by which operator, when, and for how long",
	.about = "Times count from the start of the recording. A time is n/a if it lies "
		 "outside the recording or the selected steps.",
	.is_empty_hidden = true,
	.title = "Largest allocations",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct events_view),
	.scan = {memory_scan_wants, MEMORY_SCAN_NR_WANTS, memory_scan_needs, memory_scan_begin,
		memory_scan_take, memory_scan_end, .ignores_selection = true},
	.ops = {.begin = begin_ops, .alloc = on_alloc, .end = end_ops},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
