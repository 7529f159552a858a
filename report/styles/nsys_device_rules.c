/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of `nsys analyze` about devices over time: gaps, and parts that are little used. In-Use
 * is the union of what ran, where nsys sums durations and may exceed 100 %.
 */
#include <stdlib.h>

#include "report/util/hash.h"
#include "report/styles/nsys_reports.h"

#define MOST_FINDINGS 50u
#define LEAST_GAP_NS  500000000u
#define NR_CHUNKS     30u
#define LEAST_IN_USE  50.0 /* percent */

static void *create_all(const struct view_input *input)
{
	struct view_input all = *input;

	all.nr_rows = 0;
	return trace_create(&all, TRACE_BY_RECORD);
}

static void take_work(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	if (record->is_timed) {
		trace_record(context, record, call, op);
	}
}

const struct view_class view_nsys_work = {
	.name = "nsys work",
	.is_asked_only = true,
	.ops = {.begin = nsys_begin_trace, .record = take_work},
	.create = create_all,
	.destroy = nsys_keep_trace,
};

/* Of a process, on a device, what follows each other without a gap is one span. */
struct device {
	uint64_t key; /* process << 32 | device */
	uint32_t context;
	uint64_t begin_ns, end_ns; /* of the span at hand; on the second pass from the first on */
	uint64_t first_ns, last_ns;
	uint64_t busy_ns[NR_CHUNKS];
	bool is_open;
	UT_hash_handle hh;
};

struct findings {
	struct table *table;
	struct trace *trace;
	struct device *devices;
};

static struct device *find_device(struct findings *found, const struct trace_event *event)
{
	const struct model_place place = trace_place(found->trace, event);
	uint64_t key = (uint64_t)event->process << 32 | place.device;
	struct device *device;

	HASH_FIND(hh, found->devices, &key, sizeof(key), device);
	if (!device) {
		device = mem_zeroed(1, sizeof(*device));
		device->key = key;
		device->first_ns = event->begin_ns;
		HASH_ADD(hh, found->devices, key, sizeof(device->key), device);
	}
	device->context = place.context;
	return device;
}

static void add_place(
	const struct findings *found, const struct device *device, struct table_cell *cells)
{
	table_set_integer(&cells[0], found->trace->processes[device->key >> 32]->pid);
	if ((uint32_t)device->key != UINT32_MAX) {
		table_set_integer(&cells[1], (uint32_t)device->key);
		table_set_integer(&cells[2], device->context);
	}
}

/* All work with times, by its begin; `span`: each that ended before the next began. */
static void find_spans(struct findings *found,
	void (*span)(struct findings *found, struct device *device, uint64_t next_ns))
{
	for (size_t i = 0; i < external_sort_nr(found->trace->spool); i++) {
		const struct trace_event *event = external_sort_at(found->trace->spool, i);
		uint64_t end_ns = event->begin_ns + event->dur_ns;
		struct device *device;

		device = find_device(found, event);
		if (device->is_open && event->begin_ns > device->end_ns) {
			span(found, device, event->begin_ns);
			device->is_open = false;
		}
		if (!device->is_open) {
			device->begin_ns = event->begin_ns;
			device->end_ns = end_ns;
			device->is_open = true;
		}
		device->end_ns = end_ns > device->end_ns ? end_ns : device->end_ns;
	}
	for (struct device *device = found->devices; device; device = device->hh.next) {
		span(found, device, device->end_ns);
		device->is_open = false;
		device->last_ns = device->end_ns;
	}
}

static void begin_findings(
	struct findings *found, void *view, const struct table_column *columns, unsigned int nr)
{
	*found = (struct findings){.table = table_create("rows", "", columns, nr), .trace = view};
	external_sort_finish(found->trace->spool);
}

/* The first 50 rows with their numbers. */
static struct table *end_findings(struct findings *found)
{
	struct table *table = found->table;

	table_cut(table, MOST_FINDINGS);
	for (size_t row = 0; row < table->nr_rows; row++) {
		table_set_integer(&table->cells[row * table->nr_columns], row + 1);
	}
	hash_free(found->devices);
	trace_destroy(found->trace);
	return table;
}

static void add_gap(struct findings *found, struct device *device, uint64_t next_ns)
{
	struct table_cell *cells;

	if (next_ns - device->end_ns <= LEAST_GAP_NS) {
		return;
	}
	cells = table_add_row(found->table);
	table_set_integer(&cells[1], next_ns - device->end_ns);
	table_set_integer(&cells[2], device->end_ns);
	add_place(found, device, &cells[3]);
}

struct table *nsys_gaps_rule(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {{"row", "Row#", TABLE_ID, false},
		NSYS_DURATION_START, {"pid", "PID", TABLE_ID, false},
		{"device", "Device ID", TABLE_ID, false},
		{"context", "Context ID", TABLE_ID, false}};
	struct findings found;

	(void)ask;
	begin_findings(&found, views[0], columns, 6);
	find_spans(&found, add_gap);
	table_sort(found.table, "duration");
	return end_findings(&found);
}

static void pass_over(struct findings *found, struct device *device, uint64_t next_ns)
{
	(void)found;
	(void)device;
	(void)next_ns;
}

static uint64_t chunk_begin(const struct device *device, unsigned int chunk)
{
	unsigned __int128 length = device->last_ns - device->first_ns;

	return device->first_ns + (uint64_t)(length * chunk / NR_CHUNKS);
}

static void add_to_chunks(struct findings *found, struct device *device, uint64_t next_ns)
{
	(void)found;
	(void)next_ns;
	for (unsigned int k = 0; k < NR_CHUNKS; k++) {
		uint64_t begin = chunk_begin(device, k), end = chunk_begin(device, k + 1);

		begin = begin > device->begin_ns ? begin : device->begin_ns;
		end = end < device->end_ns ? end : device->end_ns;
		device->busy_ns[k] += end > begin ? end - begin : 0;
	}
}

/* A part of a device's time, of which little was used. */
struct chunk {
	const struct device *device;
	uint64_t begin_ns, ns;
	double in_use; /* percent */
};

struct chunks {
	struct chunk *items;
	size_t nr, capacity;
};

static void add_chunks(struct chunks *chunks, const struct device *device)
{
	for (unsigned int k = 0; k < NR_CHUNKS; k++) {
		uint64_t begin = chunk_begin(device, k), ns = chunk_begin(device, k + 1) - begin;
		double in_use = ns ? 100 * (double)device->busy_ns[k] / (double)ns : 100;

		if (in_use < LEAST_IN_USE) {
			chunks->items = array_grow(chunks->items, chunks->nr, &chunks->capacity,
				sizeof(*chunks->items));
			chunks->items[chunks->nr++] = (struct chunk){device, begin, ns, in_use};
		}
	}
}

static int by_use(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	if (x->in_use != y->in_use) {
		return x->in_use < y->in_use ? -1 : 1;
	}
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static void add_chunk_rows(struct findings *found, struct chunks *chunks)
{
	if (chunks->nr) {
		qsort(chunks->items, chunks->nr, sizeof(*chunks->items), by_use);
	}
	for (size_t i = 0; i < chunks->nr; i++) {
		struct table_cell *cells = table_add_row(found->table);

		table_set_number(&cells[1], chunks->items[i].in_use);
		table_set_integer(&cells[2], chunks->items[i].ns);
		table_set_integer(&cells[3], chunks->items[i].begin_ns);
		add_place(found, chunks->items[i].device, &cells[4]);
	}
	free(chunks->items);
}

struct table *nsys_util_rule(const struct nsys_ask *ask, void *const *views)
{
	static const struct table_column columns[] = {{"row", "Row#", TABLE_ID, false},
		{"in_use", "In-Use (%)", TABLE_PERCENT, false}, NSYS_DURATION_START,
		{"pid", "PID", TABLE_ID, false}, {"device", "Device ID", TABLE_ID, false},
		{"context", "Context ID", TABLE_ID, false}};
	struct chunks chunks = {0};
	struct findings found;

	(void)ask;
	begin_findings(&found, views[0], columns, 7);
	find_spans(&found, pass_over); /* how long is it? */
	find_spans(&found, add_to_chunks);
	for (const struct device *device = found.devices; device; device = device->hh.next) {
		add_chunks(&chunks, device);
	}
	add_chunk_rows(&found, &chunks);
	return end_findings(&found);
}
