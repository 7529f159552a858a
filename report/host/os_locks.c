/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks, condition variables, semaphores and barriers by their addresses, Python's lock among them:
 * how long threads wait for each. Only waits of at least GPROF_OS_MIN_NS are there, so a free lock
 * is not.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/host/os_threads.h"
#include "report/model/os_files.h"
#include "report/model/os_kind.h"
#include "report/util/hash.h"

/* Addresses mean something in one process only. */
struct lock_key {
	const struct process *process;
	uint64_t object;
	uint32_t name; /* of the function */
	uint32_t padding;
};

struct lock {
	struct lock_key key;
	uint32_t row;
	UT_hash_handle hh;
};

struct locks_view {
	struct view_input input;
	struct keyed_stats stats; /* by row */
	struct lock *locks;
	struct lock **lock_of; /* of each row */
	size_t capacity;
	struct os_threads threads;
	struct os_threads callers;
	struct os_threads holders; /* by the system's number of the thread */
	bool has_calls;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_os_call,
		COLS(api, dur, thread, call) |
			COLS(os_call, object, native_stack, holder, py_stack),
		0},
};

static uint32_t find_row(struct locks_view *view, const struct lock_key *wanted)
{
	size_t nr = view->stats.nr_rows;
	struct lock key, *lock;

	memset(&key, 0, sizeof(key));
	key.key = *wanted;
	HASH_FIND(hh, view->locks, &key.key, sizeof(key.key), lock);
	if (lock) {
		return lock->row;
	}
	hash_put(view->locks, key, &key.key, lock);
	lock->row = keyed_stats_find(&view->stats, nr, wanted->name, os_kind_of(wanted->name));
	view->lock_of = array_grow(view->lock_of, nr, &view->capacity, sizeof(*view->lock_of));
	view->lock_of[nr] = lock;
	return lock->row;
}

/* A joined thread has a number, and no address. */
static bool is_lock(uint32_t name)
{
	unsigned int kind = os_kind_of(name);

	return kind == GPROF_OS_LOCK || kind == GPROF_OS_WAIT || kind == GPROF_OS_GIL;
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct locks_view *view = context;

	view->has_calls = true;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct lock_key key = {process, b->col[COL_os_call_object][i], 0, 0};
		uint64_t ns;
		uint32_t row, holder = (uint32_t)b->col[COL_os_call_holder][i];

		if (!key.object) {
			continue;
		}
		key.name = process_call_name(process, b->col[COL_api_call][i], NULL);
		if (!is_lock(key.name)) {
			continue;
		}
		row = find_row(view, &key);
		ns = clock_map_duration(&process->host_clock, b->col[COL_api_dur][i]);
		histogram_add(&view->stats.times, row, ns);
		os_threads_add(
			&view->threads, row, process, (uint32_t)b->col[COL_api_thread][i], ns);
		os_callers_add(&view->callers, row, process, b->col[COL_os_call_native_stack][i],
			b->col[COL_os_call_py_stack][i], ns);
		if (holder) {
			os_threads_add(&view->holders, row, process, holder, ns);
		}
	}
}

/* ---- the table ---- */

struct lock_row {
	struct keyed_stats_row row;
	const struct process *process;
	struct os_row_threads threads, holders, callers;
	const char *kind;
	uint32_t address;
};

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of waits"),
	TABLE_COLUMN("pid", "PID", TABLE_ID, .is_minor = true, VIEW_PID(lock_row, process)),
	TABLE_COLUMN("rank", "Rank", TABLE_ID, .is_minor = true, VIEW_RANK(lock_row, process)),
	TABLE_COLUMN("threads", "Threads", TABLE_COUNT, .is_minor = true, .help = "that waited",
		TABLE_MEMBER(lock_row, threads.nr)),
	TABLE_COLUMN("thread", "Mostly", TABLE_NAME, .is_minor = true,
		.help = "the thread that waited longest", TABLE_MEMBER(lock_row, threads.most)),
	TABLE_COLUMN("kind", "Kind", TABLE_TEXT, .is_minor = true, TABLE_MEMBER(lock_row, kind)),
	TABLE_COLUMN("holders", "Holders", TABLE_COUNT, .is_wide_only = true,
		.help = "threads that had the lock as others began to wait; of other waits, that "
			"ended them",
		TABLE_NONZERO(lock_row, holders.nr)),
	TABLE_COLUMN("holder", "Held by", TABLE_NAME, .is_major = true,
		.help = "the thread that had the lock, or ended the waits, for most of that time",
		TABLE_IF(lock_row, holders.most, holders.nr)),
	TABLE_COLUMN("sites", "Callers", TABLE_COUNT, .is_wide_only = true,
		.help = "functions that wait for it", TABLE_NONZERO(lock_row, callers.nr)),
	TABLE_COLUMN("site", "Waits in", TABLE_NAME, .is_major = true,
		.help = "the line of Python, or the function, that waited longest; functions need "
			"CPU samples",
		TABLE_IF(lock_row, callers.most, callers.nr)),
	TABLE_COLUMN("name", "Function", TABLE_NAME, TABLE_MEMBER(keyed_stats_row, name)),
	TABLE_COLUMN("address", "Address", TABLE_NAME, TABLE_MEMBER(lock_row, address)),
};

static uint32_t address_text(uint64_t address)
{
	struct buf text = {0};
	uint32_t name;

	buf_printf(&text, "0x%" PRIx64, address);
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

static void fill_table(void *state, struct table *table)
{
	struct locks_view *view = state;
	double total_ns;

	keyed_stats_finish(&view->stats);
	total_ns = keyed_stats_total_ns(&view->stats);
	os_threads_finish(&view->threads, view->stats.nr_rows, os_thread_name);
	os_callers_finish(&view->callers, view->stats.nr_rows);
	os_threads_finish(&view->holders, view->stats.nr_rows, os_thread_text_of);
	for (size_t i = 0; i < view->stats.nr_rows; i++) {
		struct lock_row row = {.row = view->stats.rows[i],
			.process = view->lock_of[i]->key.process,
			.threads = view->threads.rows[i],
			.holders = view->holders.rows[i],
			.callers = view->callers.rows[i],
			.kind = os_kind_name(view->stats.rows[i].kind),
			.address = address_text(view->lock_of[i]->key.object)};

		keyed_stats_add(&view->stats, i, total_ns, &row, table);
	}
	table_sort(table, "total");
	keyed_stats_note(&view->stats, table);
	if (!view->has_calls) {
		table_note(table, "No locks were recorded; gprof-record --os records them.");
	} else if (table->nr_rows) {
		table_note(table,
			"Condition variables and semaphores also show threads that wait for work; "
			"for them, Held by names the thread that ended the waits. Addresses are "
			"those of the "
			"process.");
	}
}

static void fini(void *state)
{
	struct locks_view *view = state;

	hash_free(view->locks);
	os_threads_fini(&view->threads);
	os_threads_fini(&view->callers);
	os_threads_fini(&view->holders);
	free(view->lock_of);
}

VIEW(locks, 318) = {
	.name = "locks",
	.subject = VIEW_ABOUT_HOST,
	.help = "locks, condition variables and semaphores by the time that threads wait for them",
	.about = "Shares are of the time of all waits in the table. An object that several "
		 "functions "
		 "wait for has a row for each.",
	.is_empty_hidden = true,
	.title = "Locks and waits",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct locks_view, stats),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, NULL},
	.fill = fill_table,
	.fini = fini,
};
