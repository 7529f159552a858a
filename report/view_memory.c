/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by the operators that asked for it, with peak, what was never given back, and a curve:
 * from a framework's allocator; without one, from cudaMalloc and its kin, by call.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/memory.h"
#include "report/pointers.h"
#include "report/view.h"

/* Places that the note speaks of. */
#define MOST_IN_NOTE 8u

struct memory_view {
	struct memory memory;
	struct process *process;   /* at hand */
	struct memory_call *calls; /* of it */
	size_t nr_calls, call_capacity;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_alloc,
		COL_BIT(COL_alloc_time) | COL_BIT(COL_alloc_bytes) |
			COL_BIT(COL_alloc_allocated_bytes) | COL_BIT(COL_alloc_reserved_bytes) |
			COL_BIT(COL_alloc_device_type) | COL_BIT(COL_alloc_device),
		0},
	{GPROF_TABLE_api_alloc, COL_ALL(NR_COL_api_alloc), 0},
};

static void *create(const struct view_input *input)
{
	(void)input;
	return mem_zeroed(1, sizeof(struct memory_view));
}

static bool has_allocator(const struct process *process)
{
	const struct stream_table *table = stream_in_table(process->stream, GPROF_TABLE_alloc);

	return table && table->nr_rows;
}

static bool needs(void *context, struct process *process, unsigned int table)
{
	(void)context;
	return (table == GPROF_TABLE_alloc) == has_allocator(process);
}

/* ---- a framework's allocator ---- */

static void take_allocs(struct memory_view *view, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t place = memory_place(&view->memory, process,
			(uint8_t)b->col[COL_alloc_device_type][i] % MEMORY_DRIVER,
			(uint8_t)b->col[COL_alloc_device][i]);

		pool_take(&view->memory.places[place].pool, b->col[COL_alloc_time][i],
			(int64_t)b->col[COL_alloc_bytes][i], b->col[COL_alloc_allocated_bytes][i],
			b->col[COL_alloc_reserved_bytes][i]);
	}
}

static void begin_ops(void *context, struct process *process)
{
	struct memory_view *view = context;

	memory_forget(&view->memory);
	view->process = process;
}

static void take_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	struct memory_view *view = context;
	bool is_free = alloc->bytes <= 0;
	uint32_t pool = memory_place(
		&view->memory, view->process, alloc->device_type % MEMORY_DRIVER, alloc->device);
	bool is_live = memory_is_left(&view->memory, pool, alloc->address, is_free);
	struct memory_row *row;

	if (is_free) {
		return;
	}
	row = memory_row(&view->memory, pool, op ? op->name : 0);
	spread_add(&row->allocs, (uint64_t)alloc->bytes);
	row->nr_live += is_live;
	row->live_bytes += is_live ? (uint64_t)alloc->bytes : 0;
}

/* ---- cudaMalloc and its kin ---- */

static void take_calls(struct memory_view *view, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (b->col[COL_api_alloc_result][i] || !b->col[COL_api_alloc_address][i]) {
			continue;
		}
		view->calls = array_grow(
			view->calls, view->nr_calls, &view->call_capacity, sizeof(*view->calls));
		view->calls[view->nr_calls++] = (struct memory_call){.tick = pointers_tick(b, i),
			.address = b->col[COL_api_alloc_address][i],
			.bytes = b->col[COL_api_alloc_bytes][i],
			.call = (uint32_t)b->col[COL_api_alloc_call][i],
			.space = (uint8_t)b->col[COL_api_alloc_space][i] % MEMORY_DRIVER,
			.is_free = b->col[COL_api_alloc_op][i] != 0};
	}
}

static int by_tick(const void *a, const void *b)
{
	const struct memory_call *x = a, *y = b;

	if (x->tick != y->tick) {
		return x->tick < y->tick ? -1 : 1;
	}
	return x->is_free - y->is_free;
}

/* ---- the scan ---- */

static void begin(void *context, struct process *process)
{
	struct memory_view *view = context;

	view->process = process;
	view->nr_calls = 0;
}

static void take(void *context, struct process *process, const struct batch *batch)
{
	if (batch->table == GPROF_TABLE_alloc) {
		take_allocs(context, process, batch);
	} else {
		take_calls(context, batch);
	}
}

static void end(void *context, struct process *process)
{
	struct memory_view *view = context;

	(void)process;
	if (view->nr_calls) {
		qsort(view->calls, view->nr_calls, sizeof(*view->calls), by_tick);
	}
	for (size_t i = 0; i < view->nr_calls; i++) {
		memory_replay(&view->memory, view->process, &view->calls[i]);
	}
	memory_forget(&view->memory);
}

/* ---- the table ---- */

static void name_place(const struct memory_place *place, char *text, size_t nr_bytes)
{
	static const char *const spaces[] = {[GPROF_SPACE_DEVICE] = "device memory",
		[GPROF_SPACE_HOST] = "pinned host memory",
		[GPROF_SPACE_MANAGED] = "managed memory",
		[GPROF_SPACE_ARRAY] = "arrays",
		[GPROF_SPACE_POOL] = "pools",
		[GPROF_SPACE_VIRTUAL] = "virtual memory"};
	unsigned int space = place->device_type - MEMORY_DRIVER;

	if (!place->device_type) {
		snprintf(text, nr_bytes, "CPU");
	} else if (place->device_type < MEMORY_DRIVER) {
		snprintf(text, nr_bytes, "GPU %u", place->device);
	} else {
		snprintf(text, nr_bytes, "%s",
			space < sizeof(spaces) / sizeof(spaces[0]) ? spaces[space]
								   : "other memory");
	}
}

static void add_rows(const struct memory_view *view, struct table *table)
{
	uint32_t nobody = names_intern("(no operator)", 13);
	const struct memory_row *row;

	for (row = view->memory.rows; row; row = row->hh.next) {
		const struct memory_place *place = &view->memory.places[row->key.place];
		struct table_cell *cells = table_add_row(table);
		char text[64];

		name_place(place, text, sizeof(text));
		table_set_integer(&cells[0], place->process->pid);
		table_set_string(&cells[1], text);
		table_set_integer(&cells[2], row->allocs.nr);
		table_set_integer(&cells[3], row->allocs.sum);
		table_set_number(&cells[4], spread_mean(&row->allocs));
		table_set_integer(&cells[5], row->allocs.max);
		table_set_integer(&cells[6], row->nr_live);
		table_set_integer(&cells[7], row->live_bytes);
		table_set_integer(&cells[8], row->key.name ? row->key.name : nobody);
	}
}

/* What is known of a place apart from its curve. */
static void add_title(struct buf *out, const struct memory_place *place)
{
	const struct pool *pool = &place->pool;
	uint64_t ns = clock_map_time(&place->process->host_clock, pool->peak_tick);
	uint64_t reserved = pool->reserved_at_peak_bytes;
	char name[64];

	ns = ns > place->process->first_ns ? ns - place->process->first_ns : 0;
	name_place(place, name, sizeof(name));
	if (!pool_has_totals(pool)) {
		buf_printf(
			out, "%s of %u: its allocator tells no totals", name, place->process->pid);
		return;
	}
	buf_printf(out, "%s of %u: peak ", name, place->process->pid);
	pool_add_bytes(out, pool->peak_bytes);
	buf_printf(out, ", %.3f s after the first event", (double)ns / 1e9);
	if (pool->peak_reserved_bytes) {
		buf_text(out, ", ");
		pool_add_bytes(out, reserved);
		buf_text(out, " reserved then (at most ");
		pool_add_bytes(out, pool->peak_reserved_bytes);
		buf_printf(out, "), %.1f %% of that free",
			reserved > pool->peak_bytes
				? 100.0 - 100.0 * (double)pool->peak_bytes / (double)reserved
				: 0.0);
	}
	buf_text(out, ", ");
	pool_add_bytes(out, pool->last_bytes);
	buf_text(out, " at the end");
}

static char *draw(const struct memory_view *view)
{
	struct buf out = {0};

	for (size_t i = 0; i < view->memory.nr_places; i++) {
		struct buf title = {0};
		char name[64];

		if (!pool_has_totals(&view->memory.places[i].pool)) {
			continue;
		}
		name_place(&view->memory.places[i], name, sizeof(name));
		buf_printf(&title, "%s of %u", name, view->memory.places[i].process->pid);
		buf_char(&title, '\0');
		pool_draw(&view->memory.places[i].pool, title.bytes, &out);
		buf_fini(&title);
	}
	buf_char(&out, '\0');
	return out.bytes;
}

static void add_note(
	const struct memory_view *view, struct table *table, uint64_t nr_allocs, uint64_t nr_frees)
{
	struct buf note = {0};

	buf_printf(&note,
		"%" PRIu64 " allocations, %" PRIu64
		" frees; not freed: until the end of the recording",
		nr_allocs, nr_frees);
	for (size_t i = 0; i < view->memory.nr_places && i < MOST_IN_NOTE; i++) {
		buf_text(&note, "; ");
		add_title(&note, &view->memory.places[i]);
	}
	buf_char(&note, '\0');
	table_note(table, "%s", note.bytes);
	buf_fini(&note);
}

static struct table *make_table(void *context)
{
	static const struct table_column columns[] = {
		{"pid", "PID", TABLE_ID, false},
		{"place", "Memory", TABLE_TEXT, false},
		{"allocations", "Allocations", TABLE_COUNT, false},
		{"total_bytes", "Total", TABLE_SIZE, false},
		{"avg_bytes", "Avg", TABLE_MEAN_SIZE, false},
		{"max_bytes", "Max", TABLE_SIZE, false},
		{"live", "Not freed", TABLE_COUNT, false},
		{"live_bytes", "Not freed", TABLE_SIZE, false},
		{"name", "By", TABLE_NAME, false},
	};
	struct memory_view *view = context;
	struct table *table = table_create("memory", "Memory", columns, 9);
	uint64_t nr_allocs = 0, nr_frees = 0;

	add_rows(view, table);
	for (size_t i = 0; i < view->memory.nr_places; i++) {
		nr_allocs += view->memory.places[i].pool.nr_allocs;
		nr_frees += view->memory.places[i].pool.nr_frees;
	}
	if (view->memory.nr_places) {
		add_note(view, table, nr_allocs, nr_frees);
		table->figure = draw(view);
	}
	table_sort(table, "total");
	return table;
}

static void destroy(void *context)
{
	struct memory_view *view = context;
	memory_fini(&view->memory);
	free(view->calls);
	free(view);
}

const struct view_class view_memory = {
	.name = "memory",
	.help = "allocations by operator, peak, what was not freed, a curve",
	.is_default = false,
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), needs, begin, take, end},
	.ops = {.begin = begin_ops, .alloc = take_alloc},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
