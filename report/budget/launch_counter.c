/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts launches that lack their activity, by one rule (launch_counter_close). The time budget
 * feeds it from its walk, since it needs that anyway; views that only say whether idle time is
 * known, from a scan of correlation IDs, which reads a fraction of that.
 */
#include "report/budget/launch_counter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm/sanity.h"
#include "report/model/device_records.h"
#include "report/model/select.h"
#include "report/util/sort.h"
#include "report/util/string_pool.h"

struct launch_name launch_name_of(uint32_t name)
{
	const char *text = string_pool_text(name, NULL);

	return (struct launch_name){.is_graph = strstr(text, "GraphLaunch") != NULL,
		.begins_capture = strstr(text, "BeginCapture") != NULL,
		.ends_capture = strstr(text, "EndCapture") != NULL};
}

/* ---- counting ---- */

/*
 * A launch in a capture launches nothing, unless something ran of it. Without a correlation ID
 * nobody knows what a call launched.
 */
void launch_counter_close(struct launch_counter *counter)
{
	if (counter->is_open &&
		(counter->is_launching || (counter->has_id && !counter->is_capturing))) {
		counter->sum.all++;
		counter->sum.graphs += counter->is_graph;
		counter->sum.lost += !counter->is_launching || counter->is_untimed;
		counter->sum.timeless += counter->is_untimed;
	}
	counter->is_open = false;
}

void launch_counter_end(struct launch_counter *counter, const struct process *process)
{
	launch_counter_close(counter);
	if (!process_has_device_records(process, NULL)) {
		counter->sum.lost = counter->sum.timeless = 0;
	}
}

/* ---- of each process ---- */

/* Where a capture begins or ends: until the next mark, what is launched runs nothing, or may. */
struct capture_mark {
	uint64_t end; /* tick of the call */
	bool is_end;
};

static bool has_captures(const struct process *process)
{
	for (size_t i = 0; i < process->calls.nr; i++) {
		const struct model_call *call = idmap_at(&process->calls, i);
		struct launch_name name = launch_name_of(call->name);

		if (call->name && (name.begins_capture || name.ends_capture)) {
			return true;
		}
	}
	return false;
}

static bool needs(void *context, struct process *process, unsigned int table)
{
	(void)context;
	return table != GPROF_TABLE_api || has_captures(process);
}

static void begin(void *context, struct process *process)
{
	struct launch_counts *counts = context;

	counts->process = process;
	counts->counter = (struct launch_counter){0};
	counts->worked = idset_create();
	counts->untimed = idset_create();
	counts->called = idset_create();
	idmap_init(&counts->names, sizeof(struct launch_name));
}

static const struct launch_name *name_of(struct launch_counts *counts, uint32_t call)
{
	struct launch_name *name = idmap_get(&counts->names, call);

	if (!name) {
		name = idmap_put(&counts->names, call);
		*name = launch_name_of(process_call_name(counts->process, call, NULL));
	}
	return name;
}

static uint64_t end_of(const struct batch *b, uint32_t i)
{
	uint64_t tick = b->col[COL_api_begin][i], dur = b->col[COL_api_dur][i];

	return tick + dur < tick ? UINT64_MAX : tick + dur;
}

static void add_marks(struct launch_counts *counts, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const struct launch_name *name = name_of(counts, (uint32_t)b->col[COL_api_call][i]);

		if (name->begins_capture || name->ends_capture) {
			counts->marks = array_grow(counts->marks, counts->nr_marks,
				&counts->mark_capacity, sizeof(*counts->marks));
			counts->marks[counts->nr_marks++] =
				(struct capture_mark){end_of(b, i), !name->begins_capture};
		}
	}
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct launch_counts *counts = context;

	(void)process;
	switch (batch->table) {
	case GPROF_TABLE_api:
		add_marks(counts, batch);
		break;
	case GPROF_TABLE_untimed:
		idset_add_all(counts->untimed, batch->col[COL_untimed_correlation], batch->nr_rows);
		break;
	default:
		idset_add_all(counts->worked, batch->col[COL_kernel_correlation], batch->nr_rows);
		break;
	}
}

/* Does the next mark after a call say that a capture is under way? */
static bool is_capturing(const struct launch_counts *counts, uint64_t end)
{
	size_t at;

	BISECT(at, 0, counts->nr_marks, counts->marks[at].end <= end);
	return at < counts->nr_marks && counts->marks[at].is_end;
}

/* Counts the launch of a call. Several calls may share a correlation ID; one of them launched the
 * work. */
static void count_launch(struct launch_counts *counts, const struct op_call *call)
{
	struct launch_counter *counter = &counts->counter;
	uint64_t id = call->correlation;

	launch_counter_call(counter, counts->process, call, name_of(counts, call->call));
	counter->is_capturing = counts->nr_marks && is_capturing(counts, call->end);
	if (id && !idset_has(counts->called, id)) {
		counter->is_untimed = idset_has(counts->untimed, id);
		counter->is_launching = counter->is_untimed || idset_has(counts->worked, id);
		idset_add(counts->called, id);
	}
}

static void count_launches(struct launch_counts *counts)
{
	struct stream *stream = counts->process->stream;
	const uint32_t mask = COLS(api, begin, dur, call, correlation);

	for (size_t block = 0; block < stream->nr_blocks; block++) {
		struct batch b;

		if (stream_block_table(stream, block) != GPROF_TABLE_api_launch ||
			stream_load(stream, block, mask, 0, &b)) {
			continue;
		}
		for (uint32_t i = 0; i < b.nr_rows; i++) {
			count_launch(counts, &(struct op_call){.begin = b.col[COL_api_begin][i],
						     .end = end_of(&b, i),
						     .correlation = b.col[COL_api_correlation][i],
						     .call = (uint16_t)b.col[COL_api_call][i],
						     .table = GPROF_TABLE_api_launch});
		}
	}
}

static int by_end(const void *a, const void *b)
{
	const struct capture_mark *x = a, *y = b;

	return COMPARE(x->end, y->end);
}

/* Only now all activities are known: what a call launched may lie in any later block. */
static void end(void *context, struct process *process)
{
	struct launch_counts *counts = context;

	if (counts->nr_marks) {
		qsort(counts->marks, counts->nr_marks, sizeof(*counts->marks), by_end);
	}
	count_launches(counts);
	launch_counter_end(&counts->counter, process);
	counts->of = mem_resize(counts->of, counts->nr + 1, sizeof(*counts->of));
	counts->of[counts->nr++] = counts->counter.sum;
	idset_destroy(counts->worked);
	idset_destroy(counts->untimed);
	idset_destroy(counts->called);
	idmap_fini(&counts->names);
	counts->nr_marks = 0;
}

static const struct scan_want wants[] = {
	/* Without times, nobody knows when a launch ran: damage of these columns loses it, too. */
	{SCAN_WITH(GPROF_IS_ACTIVITY), COLS(kernel, correlation, begin, dur), 0},
	{GPROF_TABLE_untimed, COLS(untimed, correlation), 0},
	{GPROF_TABLE_api, COLS(api, begin, dur, call), 0},
};

const struct scan_view launch_counts_scan = {
	.wants = wants,
	.nr_wants = sizeof(wants) / sizeof(wants[0]),
	.needs = needs,
	.begin = begin,
	.on_batch = on_batch,
	.end = end,
	.ignores_selection = true,
};

void launch_counts_fini(struct launch_counts *counts)
{
	free(counts->of);
	free(counts->marks);
}

/* ---- what they mean ---- */

void budget_add_launches(struct budget_launches *sum, const struct budget_launches *launches)
{
	sum->all += launches->all;
	sum->graphs += launches->graphs;
	sum->lost += launches->lost;
	sum->timeless += launches->timeless;
}

void budget_add_lost(const struct budget_launches *launches, struct buf *out)
{
	buf_printf(out, "%" PRIu64 " of %" PRIu64 " launches have no GPU %s", launches->lost,
		launches->all, launches->timeless ? "times" : "activity");
}

void budget_warn_lost(const struct process *process, const struct budget_launches *launches)
{
	struct buf text = {0};

	if (budget_has_lost(launches)) {
		budget_add_lost(launches, &text);
		sanity_add("%s: %.*s, so idle time is unknown", process->stream->label,
			(int)text.nr_bytes, text.bytes);
	}
	buf_fini(&text);
}

void budget_note_lost(
	struct table *table, const struct process *process, const struct budget_launches *launches)
{
	struct buf text = {0};

	if (budget_has_lost(launches)) {
		budget_add_lost(launches, &text);
		table_note(table, "Process %lld: %.*s, so idle time is unknown.",
			(long long)process->pid, (int)text.nr_bytes, text.bytes);
	}
	buf_fini(&text);
}
