/* SPDX-License-Identifier: Apache-2.0 */
/* Threads by how long they hold Python's lock (GIL), by samples, and the line where they do. */
#include <inttypes.h>
#include <math.h>

#include "report/analysis/view.h"
#include "report/model/mixed_stack.h"
#include "report/util/hash.h"

/* tid 0: nobody, or a thread that is not known. */
struct key {
	struct process *process;
	uint32_t tid, is_held;
};

/* The sums of samples, by a stack or a place. */
struct held {
	uint64_t of, ns;
};

struct row {
	struct key key;
	uint32_t name; /* the last one that is known */
	uint64_t nr, ns;
	struct idmap stacks; /* struct held by py_stack; of those that could be read */
	UT_hash_handle hh;
};

/* All samples of a process. */
struct all {
	struct process *process;
	uint64_t nr, ns;
	double squares; /* of their times */
	UT_hash_handle hh;
};

struct gil_holders_view {
	struct view_input input;
	struct row *rows;
	struct all *all;
	uint64_t nr;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_gil_sample, COL_ALL(NR_COL_gil_sample) & ~COLS(gil_sample, time), 0},
};

static void add_sample(struct gil_holders_view *view, const struct key *key, uint32_t name,
	uint64_t ns, uint64_t py_stack)
{
	struct process *process = key->process;
	struct held *held;
	struct all *all;
	struct row *row;

	hash_put(view->rows, key, key, row);
	if (!row->nr++) {
		idmap_init(&row->stacks, sizeof(struct held));
	}
	row->name = name ? name : row->name;
	row->ns += ns;
	if (py_stack && py_stack != GPROF_PY_STACK_NOT_READ) {
		held = idmap_put(&row->stacks, py_stack);
		held->of = py_stack;
		held->ns += ns;
	}
	hash_put(view->all, process, &process, all);
	all->nr++;
	all->ns += ns;
	all->squares += (double)ns * (double)ns;
	view->nr++;
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t name = b->col[COL_gil_sample_name][i];
		struct key key = {process, (uint32_t)b->col[COL_gil_sample_task][i],
			(uint32_t)b->col[COL_gil_sample_is_held][i]};

		add_sample(context, &key, name ? process_string(process, name) : 0,
			b->col[COL_gil_sample_ns][i], b->col[COL_gil_sample_py_stack][i]);
	}
}

/* ---- the table ---- */

struct shown_row {
	struct row row;
	uint64_t ns_all, ns_read;
	double share, margin;
	struct held most; /* the place where it has the lock longest */
};

/* If several places are equal, the one that was met first counts. */
static void find_place(struct shown_row *shown)
{
	struct idmap places;

	idmap_init(&places, sizeof(struct held));
	for (size_t i = 0; i < shown->row.stacks.nr; i++) {
		const struct held *stack = idmap_at(&shown->row.stacks, i);
		uint32_t place =
			mixed_stack_place(shown->row.key.process, mixed_stack_id(0, stack->of));
		struct held *held = place ? idmap_put(&places, place) : NULL;

		shown->ns_read += stack->ns;
		if (held) {
			held->of = place;
			held->ns += stack->ns;
			shown->most = held->ns > shown->most.ns ? *held : shown->most;
		}
	}
	idmap_fini(&places);
}

/*
 * The margin of 95 % of a share, by Wilson's interval, which is not 0 where all samples agree. Each
 * sample counts by its time: unequal ones are fewer.
 */
static void find_share(struct shown_row *shown, const struct all *all)
{
	double nr = (double)all->ns * (double)all->ns / all->squares, z = 1.96;

	shown->ns_all = all->ns;
	shown->share = (double)shown->row.ns / (double)all->ns;
	shown->margin = 100 * z / (1 + z * z / nr) *
			sqrt(shown->share * (1 - shown->share) / nr + z * z / (4 * nr * nr));
}

static uint32_t word(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

static uint32_t holder_name(const struct row *row)
{
	if (!row->key.is_held) {
		return word("(nobody)");
	}
	return row->key.tid ? row->name : word("(unknown thread)");
}

static const struct table_column columns[] = {
	TABLE_COLUMN(
		"pid", "PID", TABLE_ID, .help = "process ID", VIEW_PID(shown_row, row.key.process)),
	TABLE_COLUMN("rank", "Rank", TABLE_COUNT, .help = "rank in the job",
		VIEW_RANK(shown_row, row.key.process)),
	TABLE_COLUMN("tid", "TID", TABLE_ID, TABLE_NONZERO(shown_row, row.key.tid)),
	TABLE_COLUMN("share_pct", "% of time", TABLE_PERCENT,
		.help = "of the time of all samples of the process",
		TABLE_SHARE(shown_row, row.ns, ns_all)),
	TABLE_COLUMN("margin_pct", "Margin", TABLE_PERCENT,
		.help = "margin of that share: 95 of 100 such estimates are as near",
		TABLE_MEMBER(shown_row, margin)),
	TABLE_COLUMN("held_ns", "Held", TABLE_TIME,
		.help = "estimated time for which the thread held the lock",
		TABLE_MEMBER(shown_row, row.ns)),
	TABLE_COLUMN("samples", "Samples", TABLE_COUNT, .help = "how often it was found with it",
		TABLE_MEMBER(shown_row, row.nr)),
	TABLE_COLUMN("name", "Thread", TABLE_NAME, TABLE_NONZERO(shown_row, row.name)),
	TABLE_COLUMN("place_pct", "% there", TABLE_PERCENT, .is_wide_only = true,
		.help = "of the time of the thread's samples whose lines are known",
		TABLE_SHARE(shown_row, most.ns, ns_read)),
	TABLE_COLUMN("place", "Mostly at", TABLE_NAME,
		.help = "line of Python where it holds the lock longest",
		TABLE_NONZERO(shown_row, most.of)),
};

static void fill_table(void *state, struct table *table)
{
	struct gil_holders_view *view = state;

	for (const struct row *row = view->rows; row; row = row->hh.next) {
		struct shown_row shown = {.row = *row};
		struct all *all;

		HASH_FIND(hh, view->all, &row->key.process, sizeof(row->key.process), all);
		shown.row.name = holder_name(row);
		find_share(&shown, all);
		find_place(&shown);
		table_add(table, &shown);
	}
	table_sort(table, "held");
	if (view->nr) {
		table_note(table,
			"Times are estimates: %" PRIu64 " sample%s, each of which stands for the "
			"time since gprof looked before.",
			view->nr, view->nr == 1 ? "" : "s");
	} else {
		table_note(table, "No samples of Python's lock were recorded (GPROF_CPU_HZ).");
	}
}

static void fini(void *state)
{
	struct gil_holders_view *view = state;

	for (struct row *row = view->rows; row; row = row->hh.next) {
		idmap_fini(&row->stacks);
	}
	hash_free(view->rows);
	hash_free(view->all);
}

VIEW(gil_holders, 314) = {
	.name = "gil-holders",
	.subject = VIEW_ABOUT_HOST,
	.help = "which threads hold Python's lock (GIL), for how long and at which line, by "
		"samples",
	.about =
		"gprof looks up to 25 times a second at who holds the lock, whether or not others "
		"wait for it. A thread in C code that has not released the lock holds it, too. The "
		"view gil has the waits.",
	.is_empty_hidden = true,
	.title = "Holders of Python's lock",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct gil_holders_view),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, NULL},
	.fill = fill_table,
	.fini = fini,
};
