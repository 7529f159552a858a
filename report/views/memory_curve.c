/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory was in use over time, for charts: of each place (memory.h) at most NR_PARTS equal
 * parts of its process's time, each with the moment when most was in use, and with its last one. So
 * the peak of the curve is the true one, and each part goes on where the one before it ended.
 */
#include <stdlib.h>

#include "report/analysis/memory_scan.h"
#include "report/model/select.h"
#include "report/analysis/view.h"

#define NR_PARTS 256u

struct part {
	unsigned int number;
	struct memory_moment most, last;
};

struct curve {
	struct part *parts; /* by number, those in which something happened */
	size_t nr, capacity;
};

struct curve_view {
	struct memory_scan scan; /* comes first: the scan's context */
	struct curve *curves;	 /* by the place's number */
	size_t nr_curves, capacity;
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

static void take_moment(void *context, uint32_t place, const struct memory_moment *moment)
{
	struct curve_view *view = context;
	const struct memory_place *of = &view->scan.memory.places[place];
	struct part *part;

	while (view->nr_curves <= place) {
		view->curves = array_grow(
			view->curves, view->nr_curves, &view->capacity, sizeof(*view->curves));
		view->curves[view->nr_curves++] = (struct curve){0};
	}
	if (!select_has_tick(of->process, moment->tick)) {
		return;
	}
	part = find_part(
		&view->curves[place], memory_timeline_part(&of->pool, moment->tick, NR_PARTS));
	if (moment->in_use >= part->most.in_use) {
		part->most = *moment;
	}
	if (moment->tick >= part->last.tick) {
		part->last = *moment;
	}
}

static void *create(const struct view_input *input)
{
	struct curve_view *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	view->scan.memory.told = take_moment;
	view->scan.memory.context = view;
	return view;
}

/* ---- the table ---- */

enum column { PID, RANK, DEVICE, TIME, ALLOCATED, RESERVED, NR_COLUMNS };

static void add_row(
	struct table *table, const struct memory_place *place, const struct memory_moment *moment)
{
	struct table_cell *cells = table_add_row(table);
	uint64_t ns = clock_map_time(&place->process->host_clock, moment->tick);
	char name[MEMORY_NAME_BYTES];

	memory_place_name(place, name);
	table_set_integer(&cells[PID], place->process->pid);
	if (place->process->rank >= 0) {
		table_set_integer(&cells[RANK], (uint64_t)place->process->rank);
	}
	table_set_string(&cells[DEVICE], name);
	table_set_integer(
		&cells[TIME], ns > place->process->first_ns ? ns - place->process->first_ns : 0);
	table_set_integer(&cells[ALLOCATED], moment->in_use);
	if (moment->reserved) {
		table_set_integer(&cells[RESERVED], moment->reserved);
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

static struct table *make_table(void *context)
{
	static const struct table_column columns[NR_COLUMNS] = {
		[PID] = {"pid", "PID", TABLE_ID, false},
		[RANK] = {"rank", "Rank", TABLE_ID, true},
		[DEVICE] = {"device", "Memory", TABLE_TEXT, false},
		[TIME] = {"time_ns", "Time", TABLE_TIME, false},
		[ALLOCATED] = {"allocated_bytes", "In use", TABLE_SIZE, false},
		[RESERVED] = {"reserved_bytes", "Reserved", TABLE_SIZE, false},
	};
	const struct curve_view *view = context;
	struct table *table = table_create("memory_curve", "Memory over time", columns, NR_COLUMNS);
	size_t nr_untold = 0;

	for (size_t i = 0; i < view->scan.memory.nr_places; i++) {
		const struct memory_place *place = &view->scan.memory.places[i];

		if (!memory_timeline_has_totals(&place->pool)) {
			nr_untold++;
		} else if (i < view->nr_curves) {
			add_curve(table, place, &view->curves[i]);
		}
	}
	if (table->nr_rows) {
		table_note(table,
			"time: after the first event of the process; of each of %u parts of its "
			"time the moment with most in use, and the last; reserved: what the "
			"allocator took from the driver, where it tells",
			NR_PARTS);
	} else if (!nr_untold) {
		table_note(table, MEMORY_SCAN_NONE);
	}
	if (nr_untold) {
		view_note_more(table, "not of %zu kind%s of memory, of which no totals are told",
			nr_untold, nr_untold == 1 ? "" : "s");
	}
	return table;
}

static void destroy(void *context)
{
	struct curve_view *view = context;

	memory_scan_fini(&view->scan);
	for (size_t i = 0; i < view->nr_curves; i++) {
		free(view->curves[i].parts);
	}
	free(view->curves);
	free(view);
}

const struct view_class view_memory_curve = {
	.name = "memory-curve",
	.help = "memory in use and reserved over time",
	.is_default = false,
	.is_empty_hidden = true,
	.scan = {memory_scan_wants, MEMORY_SCAN_NR_WANTS, memory_scan_needs, memory_scan_begin,
		memory_scan_take, memory_scan_end, .ignores_selection = true},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
