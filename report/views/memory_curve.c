/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory in use over time, for charts. Each place (memory.h) has at most NR_PARTS equal parts of
 * its process's time, each with its highest and its last value. So the curve has the true peak, and
 * each part goes on where the one before it ended.
 */
#include <stdlib.h>

#include "report/analysis/memory_scan.h"
#include "report/model/select.h"
#include "report/analysis/view.h"
#include "report/model/time_axis.h"

#define NR_PARTS 256u

struct part {
	unsigned int number;
	struct memory_total most, last;
};

struct curve {
	struct part *parts; /* by number, those in which something happened */
	size_t nr, capacity;
};

struct curve_view {
	struct memory_scan scan; /* comes first: the scan's context */
	struct curve *curves;	 /* by the place's number */
	size_t nr_curves, capacity;
	struct view_input input;
};

/* ---- the scan ---- */

/* Events come nearly in order. */
static struct part *find_part(struct curve *curve, unsigned int number)
{
	size_t at = curve->nr;

	while (at && curve->parts[at - 1].number > number) {
		at--;
	}
	if (at && curve->parts[at - 1].number == number) {
		return &curve->parts[at - 1];
	}
	curve->parts = array_grow(curve->parts, curve->nr, &curve->capacity, sizeof(*curve->parts));
	for (size_t i = curve->nr++; i > at; i--) {
		curve->parts[i] = curve->parts[i - 1];
	}
	curve->parts[at] = (struct part){.number = number};
	return &curve->parts[at];
}

static void on_change(void *context, uint32_t place, const struct memory_total *total)
{
	struct curve_view *view = context;
	const struct memory_place *of = &view->scan.memory.places[place];
	struct part *part;

	while (view->nr_curves <= place) {
		view->curves = array_grow(
			view->curves, view->nr_curves, &view->capacity, sizeof(*view->curves));
		view->curves[view->nr_curves++] = (struct curve){0};
	}
	if (!select_has_tick(of->process, total->tick)) {
		return;
	}
	part = find_part(
		&view->curves[place], memory_timeline_part(&of->pool, total->tick, NR_PARTS));
	if (total->in_use >= part->most.in_use) {
		part->most = *total;
	}
	if (total->tick >= part->last.tick) {
		part->last = *total;
	}
}

static void init(void *state)
{
	struct curve_view *view = state;

	view->scan.memory.on_change = view->input.is_merged ? NULL : on_change; /* peaks alone */
	view->scan.memory.context = view;
}

static void take_peak(uint64_t *peak, uint64_t bytes)
{
	if (*peak == UINT64_MAX || bytes > *peak) {
		*peak = bytes;
	}
}

static void get_peaks(const void *state, uint64_t *peaks)
{
	const struct memory *memory = &((const struct curve_view *)state)->scan.memory;

	for (size_t i = 0; i < memory->nr_places; i++) {
		const struct memory_timeline *pool = &memory->places[i].pool;
		uint8_t type = memory->places[i].device_type;

		if (!type || !memory_timeline_has_totals(pool)) {
			continue; /* the CPU, or without totals */
		}
		if (type < MEMORY_DRIVER) {
			take_peak(&peaks[MEMORY_PEAK_ALLOCATED], pool->peak_bytes);
		} else if (type == MEMORY_DRIVER + GPROF_SPACE_DEVICE) {
			take_peak(&peaks[MEMORY_PEAK_CUDA_MALLOC], pool->peak_bytes);
		}
		if (pool->peak_reserved_bytes) {
			take_peak(&peaks[MEMORY_PEAK_RESERVED], pool->peak_reserved_bytes);
		}
	}
}

/* ---- the table ---- */

enum column { PID, RANK, DEVICE, TIME, ALLOCATED, RESERVED };

static void add_row(
	struct table *table, const struct memory_place *place, const struct memory_total *total)
{
	struct table_cell *cells = table_add_row(table);
	uint64_t ns = clock_map_time(&place->process->host_clock, total->tick);
	char name[MEMORY_NAME_BYTES];

	memory_place_name(place, name);
	view_fill_process(place->process, &cells[PID]);
	table_set_string(&cells[DEVICE], name);
	table_set_integer(&cells[TIME], time_axis_time(place->process, ns));
	table_set_integer(&cells[ALLOCATED], total->in_use);
	if (total->reserved) {
		table_set_integer(&cells[RESERVED], total->reserved);
	}
}

static void add_curve(
	struct table *table, const struct memory_place *place, const struct curve *curve)
{
	for (size_t i = 0; i < curve->nr; i++) {
		const struct part *part = &curve->parts[i];

		if (part->most.tick < part->last.tick) {
			add_row(table, place, &part->most);
		}
		add_row(table, place, &part->last);
	}
}

static const struct table_column columns[] = {
	[PID] = TABLE_COLUMN("pid", "PID", TABLE_ID),
	[RANK] = TABLE_COLUMN("rank", "Rank", TABLE_ID, .is_wide_only = true),
	[DEVICE] = TABLE_COLUMN(
		"device", "Memory", TABLE_TEXT, .help = "GPU, CPU or other kind of memory"),
	[TIME] = TABLE_COLUMN(
		"time_ns", "Time", TABLE_TIME, .help = "since the start of the recording"),
	[ALLOCATED] = TABLE_COLUMN("allocated_bytes", "In use", TABLE_SIZE),
	[RESERVED] = TABLE_COLUMN("reserved_bytes", "Reserved", TABLE_SIZE,
		.help = "what the allocator holds from the driver, where it reports that"),
};

static void fill_table(void *state, struct table *table)
{
	const struct curve_view *view = state;
	size_t nr_without_total = 0;

	for (size_t i = 0; i < view->scan.memory.nr_places; i++) {
		const struct memory_place *place = &view->scan.memory.places[i];

		if (!memory_timeline_has_totals(&place->pool)) {
			nr_without_total++;
		} else if (i < view->nr_curves) {
			add_curve(table, place, &view->curves[i]);
		}
	}
	if (!table->nr_rows && !nr_without_total) {
		table_note(table, MEMORY_SCAN_NONE);
	}
	if (nr_without_total) {
		table_note(table, "%zu kind%s of memory without reported totals %s excluded.",
			nr_without_total, nr_without_total == 1 ? "" : "s",
			nr_without_total == 1 ? "is" : "are");
	}
}

static void fini(void *state)
{
	struct curve_view *view = state;

	memory_scan_fini(&view->scan);
	for (size_t i = 0; i < view->nr_curves; i++) {
		free(view->curves[i].parts);
	}
	free(view->curves);
}

VIEW(memory_curve, 380) = {
	.name = "memory-curve",
	.help = "memory in use and reserved over time",
	.about =
		"The time of each process is divided into up to 256 equal parts. Each part has two "
		"rows: when most memory was in use, and its last event.",
	.is_empty_hidden = true,
	.title = "Memory over time",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct curve_view),
	.merge = {.get_facts = get_peaks, .nr_facts = NR_MEMORY_PEAKS},
	.scan = {memory_scan_wants, MEMORY_SCAN_NR_WANTS, memory_scan_needs, memory_scan_begin,
		memory_scan_take, memory_scan_end, .ignores_selection = true},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
