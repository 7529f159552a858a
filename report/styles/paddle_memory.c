/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paddle's Memory Summary: what was allocated and freed, by place and innermost event. Allocations
 * in an event that lies directly in an operator also count in that operator; those of OperatorInner
 * count nowhere else. The memory that frameworks reserve has a peak here, and no rows.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "report/ops/op.h"
#include "report/styles/paddle.h"
#include "report/util/hash.h"

enum { DEVICE_CPU = 0, DEVICE_CUDA = 1 };

struct sums {
	uint64_t nr, bytes;
};

struct memory_event {
	struct {
		uint32_t place; /* device type << 8 | device */
		uint32_t name;	/* of string_pool.h, 0 outside of events */
	} key;
	struct sums allocated, freed;
	UT_hash_handle hh;
};

struct memory_peak_of {
	uint32_t place;
	uint64_t allocated_bytes, reserved_bytes;
	UT_hash_handle hh;
};

struct paddle_memory_view {
	struct view_input input;
	struct memory_event *events;
	struct memory_peak_of *peaks;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_alloc, COLS(alloc, allocated_bytes, reserved_bytes, device_type, device), 0},
};

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct paddle_memory_view *view = context;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t place = (uint32_t)(b->col[COL_alloc_device_type][i] << 8 |
					    b->col[COL_alloc_device][i]);
		uint64_t allocated = b->col[COL_alloc_allocated_bytes][i];
		uint64_t reserved = b->col[COL_alloc_reserved_bytes][i];
		struct memory_peak_of *peak;

		hash_put(view->peaks, place, &place, peak);
		peak->allocated_bytes =
			allocated > peak->allocated_bytes ? allocated : peak->allocated_bytes;
		peak->reserved_bytes =
			reserved > peak->reserved_bytes ? reserved : peak->reserved_bytes;
	}
}

static void add(struct paddle_memory_view *view, const struct op_alloc *alloc, uint32_t name)
{
	struct memory_event *event, key = {0};
	struct sums *sums;

	key.key.place = (uint32_t)alloc->device_type << 8 | alloc->device;
	key.key.name = name;
	HASH_FIND(hh, view->events, &key.key, sizeof(key.key), event);
	if (!event) {
		event = mem_zeroed(1, sizeof(*event));
		event->key = key.key;
		HASH_ADD(hh, view->events, key, sizeof(key.key), event);
	}
	sums = alloc->bytes > 0 ? &event->allocated : &event->freed;
	sums->nr++;
	sums->bytes += alloc->bytes > 0 ? (uint64_t)alloc->bytes : -(uint64_t)alloc->bytes;
}

static void on_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	const struct op *outer = op ? op->parent : NULL;

	if (!op || event_type_of(op) != EVENT_OPERATOR_INNER ||
		op->framework != GPROF_FRAMEWORK_PADDLE) {
		add(context, alloc, op ? op->name : 0);
	}
	if (outer && event_is_operator(outer) && !event_is_stage(outer)) {
		add(context, alloc, outer->name);
	}
}

enum column { PLACE, NAME, ALLOCATIONS, FREES, ALLOCATED, FREED, INCREASE, PEAK, RESERVED };

static const struct table_column columns[] = {
	[PLACE] = TABLE_COLUMN("place", "Place", TABLE_ID),
	[NAME] = TABLE_COLUMN("name", "Name", TABLE_NAME, TABLE_MEMBER(memory_event, key.name)),
	[ALLOCATIONS] = TABLE_COLUMN("allocations", "Allocation Count", TABLE_COUNT,
		TABLE_MEMBER(memory_event, allocated.nr)),
	[FREES] = TABLE_COLUMN(
		"frees", "Free Count", TABLE_COUNT, TABLE_MEMBER(memory_event, freed.nr)),
	[ALLOCATED] = TABLE_COLUMN("allocated_bytes", "Allocation Size", TABLE_SIZE,
		TABLE_MEMBER(memory_event, allocated.bytes)),
	[FREED] = TABLE_COLUMN(
		"freed_bytes", "Free Size", TABLE_SIZE, TABLE_MEMBER(memory_event, freed.bytes)),
	[INCREASE] = TABLE_COLUMN("increase", "Increased Size", TABLE_NUMBER),
	[PEAK] = TABLE_COLUMN("peak_bytes", "Peak Allocated Memory", TABLE_SIZE),
	[RESERVED] = TABLE_COLUMN("reserved_bytes", "Peak Reserved Memory", TABLE_SIZE),
};

/*
 * The second sort keeps the order of equal rows: within a place, the largest increase comes first.
 */
static void fill_table(void *state, struct table *table)
{
	struct paddle_memory_view *view = state;
	uint32_t nobody = string_pool_intern("(no event)", 10);

	for (const struct memory_event *event = view->events; event; event = event->hh.next) {
		struct table_cell *cells = table_add(table, event);
		struct memory_peak_of *peak;

		HASH_FIND(hh, view->peaks, &event->key.place, sizeof(event->key.place), peak);
		table_set_integer(&cells[PLACE], event->key.place);
		table_set_integer(&cells[NAME], event->key.name ? event->key.name : nobody);
		table_set_number(&cells[INCREASE],
			(double)event->allocated.bytes - (double)event->freed.bytes);
		if (peak) {
			table_set_integer(&cells[PEAK], peak->allocated_bytes);
		}
		if (peak && peak->reserved_bytes) { /* else the allocator does not say */
			table_set_integer(&cells[RESERVED], peak->reserved_bytes);
		}
	}
	table_sort(table, "increase");
	table_sort_rising(table, "place");
}

static void fini(void *state)
{
	struct paddle_memory_view *view = state;

	hash_free(view->events);
	hash_free(view->peaks);
}

const struct view_class view_paddle_memory = {
	.name = "memory",
	.help = "for the style paddle",
	.title = "Memory Summary",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct paddle_memory_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, NULL},
	.ops = {.alloc = on_alloc},
	.fill = fill_table,
	.fini = fini,
};

/* ---- the style ---- */

static char *title_of(uint64_t place)
{
	uint32_t device = (uint32_t)place & 0xff;

	if (place >> 8 == DEVICE_CPU) {
		return mem_text("Memory Summary - Place(cpu)");
	}
	return paddle_text("Memory Summary - Place(%s:%" PRIu32 ")",
		place >> 8 == DEVICE_CUDA ? "gpu" : "other", device);
}

static void add_row(const struct paddle_report *report, struct paddle_grid *grid,
	const struct table *table, size_t i)
{
	*paddle_grid_add(grid) = (struct paddle_row){
		.cells = {paddle_name(report, table, i, *grid->widths), mem_text("Allocated"),
			paddle_count(paddle_cell(table, i, "allocations")),
			paddle_count(paddle_cell(table, i, "frees")),
			paddle_count(paddle_cell(table, i, "allocated_bytes")),
			paddle_count(paddle_cell(table, i, "freed_bytes")),
			paddle_text("%.0f", paddle_cell(table, i, "increase")->number)}};
}

/* Prints a table for each place, as Paddle does. */
void paddle_print_memory(struct paddle_report *report)
{
	const struct table *table = report->tables[PADDLE_MEMORY];
	size_t i = 0;

	while (i < table->nr_rows) {
		uint64_t place = paddle_cell(table, i, "place")->integer;
		char *title = title_of(place);
		char *peak = paddle_count(paddle_cell(table, i, "peak_bytes"));
		char *reserved = paddle_count(paddle_cell(table, i, "reserved_bytes"));
		char *lines = paddle_text(
			"Peak Allocated Memory: %s\nPeak Reserved Memory: %s\n", peak, reserved);
		struct paddle_grid grid = {.title = title,
			.lines = lines,
			.titles = {"Name", "Type", "Allocation Count", "Free Count",
				"Allocation Size", "Free Size", "Increased Size"},
			.widths = {50, 12, 15, 15, 15, 15, 15},
			.nr_columns = 7};

		for (; i < table->nr_rows && paddle_cell(table, i, "place")->integer == place;
			i++) {
			add_row(report, &grid, table, i);
		}
		paddle_grid_print(&grid, report->out);
		free(title);
		free(peak);
		free(reserved);
		free(lines);
	}
}
