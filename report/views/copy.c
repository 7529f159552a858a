/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and sets, by direction and by what kind of memory they touch: times on the device with the
 * bandwidth they reached, or the host's calls where no device records are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/model/activity.h"
#include "report/analysis/view.h"
#include "report/util/rate.h"

struct copy_view {
	struct view_input input;
	struct keyed_stats tally;
	struct address_kinds *pointers; /* of the current process, if it has no device records */
	bool has_host_calls;		/* in rows */
	bool is_set;			/* the memset view */
};

static const struct scan_want memcpy_wants[] = {
	{GPROF_TABLE_memcpy, COLS(memcpy, dur, bytes, copy_kind, src_kind, dst_kind, flags), 0},
	{GPROF_TABLE_untimed, COLS(untimed, table, copy_kind, bytes), 0},
	{GPROF_TABLE_api_copy, COLS(api_copy, begin, dur, result, copy_kind, bytes, dst, src), 0},
};

static const struct scan_want memset_wants[] = {
	{GPROF_TABLE_memset, COLS(memset, dur, bytes, memory_kind, flags), 0},
	{GPROF_TABLE_untimed, COLS(untimed, table, bytes), 0},
	{GPROF_TABLE_api_set, COLS(api_set, begin, dur, result, bytes, dst), 0},
};

static void init_sets(void *state)
{
	struct copy_view *view = state;

	view->is_set = true;
}

static bool needs(void *context, struct process *process, unsigned int table)
{
	(void)context;
	return (table != GPROF_TABLE_api_copy && table != GPROF_TABLE_api_set) ||
	       !process_has_device_records(process, NULL);
}

static void begin(void *context, struct process *process)
{
	struct copy_view *view = context;

	if (!process_has_device_records(process, NULL)) {
		view->pointers = address_kinds_create(process);
	}
}

static void end(void *context, struct process *process)
{
	struct copy_view *view = context;

	(void)process;
	address_kinds_destroy(view->pointers);
	view->pointers = NULL;
}

static uint32_t find_row(struct copy_view *view, uint32_t kind)
{
	kind |= view->is_set ? COPY_IS_SET : 0;
	view->has_host_calls |= (kind & COPY_IS_HOST_CALL) != 0;
	return keyed_stats_find(&view->tally, kind, copy_name(kind), kind);
}

static void add(struct copy_view *view, uint32_t kind, uint64_t ns, uint64_t bytes)
{
	uint32_t row = find_row(view, kind);

	histogram_add(&view->tally.times, row, ns);
	histogram_add(&view->tally.sizes, row, bytes);
}

/* A trace may lack whether a copy is asynchronous. */
static uint32_t kind_of(const struct process *process, const struct batch *b, uint32_t i)
{
	uint64_t flags =
		b->col[b->table == GPROF_TABLE_memset ? COL_memset_flags : COL_memcpy_flags][i];
	uint32_t kind = activity_copy(b, i);

	return process->stream->is_bare || flags & GPROF_COPY_NO_CALL
		       ? (kind & ~(uint32_t)COPY_IS_ASYNC) | COPY_IS_OF_TRACE
		       : kind;
}

static void take_activities(
	struct copy_view *view, const struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		add(view, kind_of(process, b, i), b->col[COL_kernel_dur][i],
			b->col[COL_memcpy_bytes][i]);
	}
}

static void take_untimed(struct copy_view *view, struct process *process, const struct batch *b)
{
	const unsigned int mine = view->is_set ? GPROF_TABLE_memset : GPROF_TABLE_memcpy;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t kind = view->is_set ? 0 : (uint32_t)b->col[COL_untimed_copy_kind][i];

		if (stream_known(process->stream, b->col[COL_untimed_table][i]) == mine) {
			uint32_t row = find_row(view, copy_pack(kind, 0, 0));

			view->tally.rows[row].untimed++;
			histogram_add(&view->tally.sizes, row, b->col[COL_untimed_bytes][i]);
		}
	}
}

/* ---- calls of the host, where nothing else is known ---- */

static uint32_t memory_of(
	const struct copy_view *view, uint64_t address, uint64_t tick, bool is_host)
{
	uint32_t found = address_kinds_find(view->pointers, address, tick);

	if (found != API_MEMORY_UNKNOWN) {
		return found;
	}
	return is_host ? API_MEMORY_PAGEABLE : API_MEMORY_DEVICE;
}

static uint32_t host_copy_kind(const struct copy_view *view, const struct batch *b, uint32_t i)
{
	uint64_t tick = b->col[COL_api_copy_begin][i];
	uint64_t asked = b->col[COL_api_copy_copy_kind][i]; /* a cudaMemcpyKind */
	bool by_address = asked > 3;
	/* By address: memory that CUDA did not allocate is the host's. */
	uint32_t source = memory_of(
		view, b->col[COL_api_copy_src][i], tick, by_address || asked == 0 || asked == 1);
	uint32_t target = memory_of(
		view, b->col[COL_api_copy_dst][i], tick, by_address || asked == 0 || asked == 2);
	bool from_host = by_address ? source <= API_MEMORY_PINNED : asked == 0 || asked == 1;
	bool to_host = by_address ? target <= API_MEMORY_PINNED : asked == 0 || asked == 2;
	uint32_t kind = from_host ? (to_host ? API_COPY_HTOH : API_COPY_HTOD)
				  : (to_host ? API_COPY_DTOH : API_COPY_DTOD);

	return copy_pack(kind, source, target) | COPY_IS_HOST_CALL;
}

static void take_host_calls(struct copy_view *view, struct process *process, const struct batch *b)
{
	const unsigned int bytes =
		view->is_set ? (unsigned int)COL_api_set_bytes : (unsigned int)COL_api_copy_bytes;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t ns = clock_map_duration(&process->host_clock, b->col[COL_api_dur][i]);
		uint32_t kind;

		if (api_is_failure(b->col[COL_api_result][i])) {
			continue; /* nothing was copied */
		}
		if (process->stream->is_trace) {
			kind = COPY_IS_HOST_CALL | COPY_IS_OF_TRACE;
		} else if (view->is_set) {
			kind = copy_pack(0, 0,
				       memory_of(view, b->col[COL_api_set_dst][i],
					       b->col[COL_api_set_begin][i], false)) |
			       COPY_IS_HOST_CALL;
		} else {
			kind = host_copy_kind(view, b, i);
		}
		add(view, kind, ns, b->col[bytes][i]);
	}
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct copy_view *view = context;

	switch (batch->table) {
	case GPROF_TABLE_memcpy:
	case GPROF_TABLE_memset:
		take_activities(view, process, batch);
		break;
	case GPROF_TABLE_untimed:
		take_untimed(view, process, batch);
		break;
	default:
		take_host_calls(view, process, batch);
		break;
	}
}

/* ---- the table ---- */

/* "yes", "no", or "?" if unknown. */
static const char *copy_async(uint32_t kind)
{
	return kind & (COPY_IS_HOST_CALL | COPY_IS_OF_TRACE) ? "n/a"
	       : kind & COPY_IS_ASYNC			     ? "yes"
							     : "no";
}

static void get_sums(const void *state, uint64_t (*sums)[VIEW_MERGE_SUMS])
{
	const struct copy_view *view = state;

	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		sums[i][0] = histogram_sum(&view->tally.sizes.groups[i]);
	}
}

static void set_recorder(const void *kind, struct table_cell *cell)
{
	table_set_string(cell,
		*(const uint32_t *)kind & COPY_IS_HOST_CALL ? "host calls" : "GPU activities");
}

static void set_async(const void *kind, struct table_cell *cell)
{
	table_set_string(cell, copy_async(*(const uint32_t *)kind));
}

#define MERGE                                                                      \
	{                                                                          \
		.sums = {"total_bytes"}, .keys = {"recorded_by", "async", "name"}, \
		.kind_mask = COPY_FLAGS, .get_sums = get_sums,                     \
	}

/* Sizes without an activity that copies any are unknown: the trace does not have them. */
struct copy_row {
	struct keyed_stats_row row;
	bool has_sizes;
	uint64_t bytes, rate_ns, min_bytes, max_bytes;
	double avg_bytes;
	const char *direction, *source, *target;
};

static struct copy_row copy_row(const struct copy_view *view, size_t i)
{
	const struct keyed_stats_row *row = &view->tally.rows[i];
	const struct histogram_group *sizes = &view->tally.sizes.groups[i];
	bool is_call = row->kind & COPY_IS_HOST_CALL, is_set = row->kind & COPY_IS_SET;
	struct copy_row shown = {.row = *row};

	if (copy_is_bare(row->kind)) {
		return shown;
	}
	shown.direction = is_set ? "" : api_copy_name(copy_kind_of(row->kind));
	shown.source = is_set ? "" : api_memory_name(copy_source_of(row->kind));
	shown.target = api_memory_name(copy_target_of(row->kind));
	shown.has_sizes = is_call || sizes->max;
	shown.bytes = histogram_sum(sizes);
	shown.rate_ns = shown.has_sizes && !is_call && !row->untimed
				? histogram_sum(&view->tally.times.groups[i])
				: 0;
	shown.avg_bytes = histogram_mean(sizes);
	shown.min_bytes = sizes->count ? sizes->min : 0;
	shown.max_bytes = sizes->max;
	return shown;
}

#define COPY_COLUMNS                                                                            \
	TABLE_COLUMN("total_bytes", "Size", TABLE_SIZE, .help = "sum over the operations",      \
		TABLE_IF(copy_row, bytes, has_sizes)),                                          \
		TABLE_COLUMN("bytes_per_s", "Rate", TABLE_RATE, .help = "size divided by time", \
			TABLE_PER_SECOND(copy_row, bytes, rate_ns)),                            \
		TABLE_COLUMN("avg_bytes", "Avg size", TABLE_MEAN_SIZE,                          \
			TABLE_IF(copy_row, avg_bytes, has_sizes)),                              \
		TABLE_COLUMN("min_bytes", "Min size", TABLE_SIZE, .is_wide_only = true,         \
			TABLE_IF(copy_row, min_bytes, has_sizes)),                              \
		TABLE_COLUMN("max_bytes", "Max size", TABLE_SIZE, .is_wide_only = true,         \
			TABLE_IF(copy_row, max_bytes, has_sizes)),                              \
		TABLE_COLUMN("direction", "Direction", TABLE_TEXT, .is_wide_only = true,        \
			TABLE_MEMBER(copy_row, direction)),                                     \
		TABLE_COLUMN("source", "From", TABLE_TEXT, .is_wide_only = true,                \
			TABLE_MEMBER(copy_row, source)),                                        \
		TABLE_COLUMN("target", "To", TABLE_TEXT, .is_wide_only = true,                  \
			TABLE_MEMBER(copy_row, target)),                                        \
		TABLE_COLUMN("async", "Async", TABLE_TEXT,                                      \
			TABLE_SET(keyed_stats_row, kind, set_async),                            \
			.help = "whether the call was asynchronous"),                           \
		TABLE_COLUMN("recorded_by", "Recorded by", TABLE_TEXT, .is_wide_only = true,    \
			.help = "GPU activities, or host calls where none were recorded",       \
			TABLE_SET(keyed_stats_row, kind, set_recorder)),                        \
		TABLE_COLUMN("untimed", "Untimed", TABLE_COUNT, .is_wide_only = true,           \
			.help = "operations without a recorded time",                           \
			TABLE_MEMBER(keyed_stats_row, untimed)),                                \
		TABLE_COLUMN("name", "Operation", TABLE_NAME, TABLE_MEMBER(keyed_stats_row, name))
static const struct table_column copy_columns[] = {
	KEYED_STATS_COLUMNS("% of copy time"), COPY_COLUMNS};
static const struct table_column set_columns[] = {
	KEYED_STATS_COLUMNS("% of memset time"), COPY_COLUMNS};

static void fill_table(void *state, struct table *table)
{
	struct copy_view *view = state;
	double total_ns;

	keyed_stats_finish(&view->tally);
	total_ns = keyed_stats_total_ns(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		struct copy_row row = copy_row(view, i);

		keyed_stats_add(&view->tally, i, total_ns, &row, table);
	}
	view_note_devices(table, &view->input,
		view->has_host_calls ? "Rows marked 'host call' show the times of calls." : "");
	keyed_stats_note(&view->tally, table);
	table_sort(table, "total");
}

static void fini(void *state)
{
	struct copy_view *view = state;

	address_kinds_destroy(view->pointers);
}

VIEW(memcpy, 280) = {
	.name = "memcpy",
	.subject = VIEW_ABOUT_GPU,
	.help = "memory copies by direction and kind of memory, with sizes and bandwidths",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Memory copies",
	VIEW_COLUMNS(copy_columns),
	VIEW_KEYED_STATE(struct copy_view, tally),
	.merge = MERGE,
	.scan = {memcpy_wants, sizeof(memcpy_wants) / sizeof(memcpy_wants[0]), needs, begin,
		on_batch, end},
	.fill = fill_table,
	.fini = fini,
};

VIEW(memset, 290) = {
	.name = "memset",
	.subject = VIEW_ABOUT_GPU,
	.help = "memsets by kind of memory",
	.is_empty_hidden = true,
	.title = "Memsets",
	VIEW_COLUMNS(set_columns),
	VIEW_KEYED_STATE(struct copy_view, tally),
	.merge = MERGE,
	.scan = {memset_wants, sizeof(memset_wants) / sizeof(memset_wants[0]), needs, begin,
		on_batch, end},
	.init = init_sets,
	.fill = fill_table,
	.fini = fini,
};
