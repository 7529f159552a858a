/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and peers of calls that move bytes, or make them durable: how much, how fast, and which
 * thread waits. A dataset is read from many files, so those of a folder with the same extension
 * have one row together, one for reading and one for writing; --detail has each file.
 */
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/budget/placement.h"
#include "report/host/os_threads.h"
#include "report/model/os_files.h"
#include "report/model/os_kind.h"
#include "report/util/buf.h"
#include "report/util/string_pool.h"

/* The files of a row. */
struct row_files {
	uint32_t nr;
	uint32_t first; /* its name */
};

struct io_view {
	struct view_input input;
	struct keyed_stats files; /* the kind is enum gprof_os_kind; sizes are bytes */
	struct os_files names;	  /* of the current process */
	struct os_threads threads, callers;
	struct row_files *files_of; /* by row of `files` */
	size_t nr_files_of, files_capacity;
	struct idmap groups; /* uint32_t of string_pool.h, by the name of a file */
	struct idset *seen;  /* rows with the names of their files */
	bool has_calls;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_os_call,
		COLS(api, dur, thread, call) |
			COLS(os_call, bytes, file, name, native_stack, py_stack),
		0},
};

static void init(void *state)
{
	struct io_view *view = state;

	idmap_init(&view->groups, sizeof(uint32_t));
	view->seen = idset_create();
}

static void begin(void *context, struct process *process)
{
	os_files_begin(&((struct io_view *)context)->names, process);
}

static bool moves(unsigned int kind)
{
	return kind == GPROF_OS_READ || kind == GPROF_OS_WRITE || kind == GPROF_OS_SYNC ||
	       kind == GPROF_OS_SEND || kind == GPROF_OS_RECEIVE;
}

static uint32_t find_group(struct io_view *view, uint32_t name)
{
	uint32_t *group = idmap_put(&view->groups, name);

	if (!*group) {
		*group = os_files_group(name);
	}
	return *group;
}

static uint32_t find_row(struct io_view *view, unsigned int kind, uint32_t name)
{
	uint32_t group = view->input.is_detailed || !name ? name : find_group(view, name);
	uint32_t row = keyed_stats_find(&view->files, (uint64_t)kind << 32 | group, group, kind);

	if (row == view->nr_files_of) {
		view->files_of = array_grow(view->files_of, view->nr_files_of++,
			&view->files_capacity, sizeof(*view->files_of));
		view->files_of[row] = (struct row_files){.first = name};
	}
	if (!idset_has(view->seen, (uint64_t)row << 32 | name)) {
		idset_add(view->seen, (uint64_t)row << 32 | name);
		view->files_of[row].nr++;
	}
	return row;
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct io_view *view = context;

	view->has_calls = true;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		unsigned int kind =
			os_kind_of(process_call_name(process, b->col[COL_api_call][i], NULL));
		uint64_t ns = clock_map_duration(&process->host_clock, b->col[COL_api_dur][i]);
		uint32_t name, row;

		if (!moves(kind)) {
			continue;
		}
		name = os_files_name(
			&view->names, b->col[COL_os_call_file][i], b->col[COL_os_call_name][i]);
		row = find_row(view, kind, name);
		histogram_add(&view->files.times, row, ns);
		histogram_grow(&view->files.sizes, row);
		histogram_add(&view->files.sizes, row, b->col[COL_os_call_bytes][i]);
		os_threads_add(
			&view->threads, row, process, (uint32_t)b->col[COL_api_thread][i], ns);
		os_callers_add(&view->callers, row, process, b->col[COL_os_call_native_stack][i],
			b->col[COL_os_call_py_stack][i], ns);
	}
}

/* ---- the table ---- */

struct io_row {
	struct keyed_stats_row row;
	uint64_t bytes, avg_bytes, ns; /* ns: 0 where there is no rate */
	struct os_row_threads threads, callers;
	uint64_t nr_files;
	uint32_t name;
	const char *kind;
};

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of I/O time"),
	TABLE_COLUMN("kind", "Kind", TABLE_TEXT, TABLE_MEMBER(io_row, kind)),
	TABLE_COLUMN("bytes", "Bytes", TABLE_SIZE, TABLE_MEMBER(io_row, bytes)),
	TABLE_COLUMN("avg_bytes", "Avg bytes", TABLE_SIZE, .is_minor = true, .help = "of a call",
		TABLE_MEMBER(io_row, avg_bytes)),
	TABLE_COLUMN("rate", "Rate", TABLE_RATE,
		.help = "bytes by the time in these calls; several threads may be in them at once",
		TABLE_PER_SECOND(io_row, bytes, ns)),
	TABLE_COLUMN("threads", "Threads", TABLE_COUNT, .is_minor = true,
		TABLE_MEMBER(io_row, threads.nr)),
	TABLE_COLUMN("thread", "Mostly in", TABLE_NAME, .is_minor = true,
		.help = "the thread with the most time in these calls",
		TABLE_MEMBER(io_row, threads.most)),
	TABLE_COLUMN("caller", "Mostly by", TABLE_NAME, .is_minor = true,
		.help = "the line of Python, or the function, with the most time in these calls; "
			"functions need CPU samples",
		TABLE_IF(io_row, callers.most, callers.nr)),
	TABLE_COLUMN("files", "Files", TABLE_COUNT, .is_minor = true,
		TABLE_IF(io_row, nr_files, row.name)),
	TABLE_COLUMN("name", "File or peer", TABLE_NAME, TABLE_IF(io_row, name, row.name)),
};

static struct io_row io_row(const struct io_view *view, size_t i)
{
	const struct keyed_stats_row *row = &view->files.rows[i];
	const struct histogram_group *times = &view->files.times.groups[i];
	const struct row_files *files = &view->files_of[i];
	uint64_t bytes = histogram_sum(&view->files.sizes.groups[i]);

	return (struct io_row){.row = *row,
		.bytes = bytes,
		.avg_bytes = bytes / times->count,
		.ns = row->kind != GPROF_OS_SYNC ? histogram_sum(times) : 0,
		.threads = view->threads.rows[i],
		.callers = view->callers.rows[i],
		.nr_files = files->nr,
		.name = files->nr > 1 ? row->name : files->first,
		.kind = os_kind_name(row->kind)};
}

/* The kernel counts that for a process, and not for a file. */
static void note_storage(const struct view_input *input, struct table *table)
{
	uint64_t bytes = 0, storage_bytes = 0;

	for (size_t i = 0; i < input->nr_processes; i++) {
		const struct placement placement = placement_of(input->processes[i]);

		if (placement.has_reads) {
			bytes += placement.read_bytes;
			storage_bytes += placement.storage_bytes;
		}
	}
	if (storage_bytes) {
		table_note(table,
			"Storage delivered %.1f MB, by page cache misses of all files; all calls "
			"read %.1f MB. View data-loading has both by process.",
			(double)storage_bytes / 1e6, (double)bytes / 1e6);
	}
}

static void fill_table(void *state, struct table *table)
{
	struct io_view *view = state;
	double total_ns;

	keyed_stats_finish(&view->files);
	total_ns = keyed_stats_total_ns(&view->files);
	os_threads_finish(&view->threads, view->files.nr_rows, os_thread_name);
	os_callers_finish(&view->callers, view->files.nr_rows);
	for (size_t i = 0; i < view->files.nr_rows; i++) {
		struct io_row row = io_row(view, i);

		keyed_stats_add(&view->files, i, total_ns, &row, table);
	}
	table_sort(table, "total");
	keyed_stats_note(&view->files, table);
	if (!view->has_calls) {
		table_note(table, "No I/O was recorded; gprof-record --os records it.");
	} else if (table->nr_rows) {
		table_note(table,
			"Calls below GPROF_OS_MIN_NS are in view os-runtime alone. Memory "
			"maps, io_uring and page faults are not recorded.");
		note_storage(&view->input, table);
	}
}

static void fini(void *state)
{
	struct io_view *view = state;

	os_files_fini(&view->names);
	os_threads_fini(&view->threads);
	os_threads_fini(&view->callers);
	idmap_fini(&view->groups);
	idset_destroy(view->seen);
	free(view->files_of);
}

VIEW(io, 317) = {
	.name = "io",
	.subject = VIEW_ABOUT_HOST,
	.help = "files and sockets by the time that threads read and write them",
	.about =
		"Shares are of the time of all calls in the table. Files of a folder with the same "
		"extension are one row; --detail lists each file.",
	.is_empty_hidden = true,
	.title = "File and socket I/O",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct io_view, files),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, begin, on_batch, NULL},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
