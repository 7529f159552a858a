/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting: the calls of the host that wait or ask, and what CUPTI saw of them. */
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/analysis/view.h"

struct sync_view {
	struct keyed_stats tally;
};

#define SEEN_BY_CUPTI (1ull << 40)

static const struct scan_want wants[] = {
	{GPROF_TABLE_sync, COL_BIT(COL_sync_dur) | COL_BIT(COL_sync_type), 0},
	{GPROF_TABLE_api_sync, COL_BIT(COL_api_sync_dur) | COL_BIT(COL_api_sync_call), 0},
};

static void *create(const struct view_input *input)
{
	struct sync_view *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	keyed_stats_init(&view->tally);
	return view;
}

static void take(void *context, struct process *process, const struct batch *b)
{
	struct sync_view *view = context;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t row;

		if (b->table == GPROF_TABLE_sync) {
			uint32_t type = (uint32_t)b->col[COL_sync_type][i];
			const char *text = api_sync_name(type);
			uint32_t name = string_pool_intern(text, strlen(text));

			row = keyed_stats_find(&view->tally, SEEN_BY_CUPTI | type, name, 1);
			histogram_add(&view->tally.times, row, b->col[COL_sync_dur][i]);
		} else {
			uint64_t ticks = b->col[COL_api_sync_dur][i];
			uint32_t name =
				process_call_name(process, b->col[COL_api_sync_call][i], NULL);

			row = keyed_stats_find(&view->tally, name, name, 0);
			histogram_add(&view->tally.times, row,
				clock_map_duration(&process->host_clock, ticks));
		}
	}
}

static struct table *make_table(void *context)
{
	static const struct table_column columns[] = {
		KEYED_STATS_COLUMNS("% of its kind"),
		{"seen_by", "Seen by", TABLE_TEXT, false},
		{"name", "Name", TABLE_NAME, false},
	};
	struct sync_view *view = context;
	struct table *table =
		table_create("sync", "Synchronisation", columns, KEYED_STATS_NR_COLUMNS + 2);
	double total_ns[2] = {0, 0};

	keyed_stats_finish(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		total_ns[view->tally.rows[i].kind] += (double)view->tally.times.groups[i].sum;
	}
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		const struct keyed_stats_row *row = &view->tally.rows[i];
		struct table_cell *cells = table_add_row(table);
		const char *seen_by = row->kind ? "CUPTI" : "host call";

		keyed_stats_fill(&view->tally, i, total_ns[row->kind], cells);
		table_set_string(&cells[KEYED_STATS_NR_COLUMNS], seen_by);
		table_set_integer(&cells[KEYED_STATS_NR_COLUMNS + 1], row->name);
	}
	table_note(table, "host calls and CUPTI's records tell of the same waits");
	keyed_stats_note(&view->tally, table);
	table_sort(table, "total");
	return table;
}

static void destroy(void *context)
{
	struct sync_view *view = context;

	keyed_stats_fini(&view->tally);
	free(view);
}

const struct view_class view_sync = {
	.name = "sync",
	.help = "calls that wait or ask, and CUPTI's records of waits",
	.is_default = false,
	.is_empty_hidden = true,
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, take, NULL},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
