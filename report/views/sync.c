/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait or query, and CUPTI's records of the same waits. */
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/analysis/view.h"

struct sync_view {
	struct view_input input;
	struct keyed_stats tally;
};

#define SEEN_BY_CUPTI (1ull << 40)

static const struct scan_want wants[] = {
	{GPROF_TABLE_sync, COL_BIT(COL_sync_dur) | COL_BIT(COL_sync_type), 0},
	{GPROF_TABLE_api_sync, COL_BIT(COL_api_sync_dur) | COL_BIT(COL_api_sync_call), 0},
};

static void on_batch(void *context, struct process *process, const struct batch *b)
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

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of its kind"),
	TABLE_COLUMN("recorded_by", "Recorded by", TABLE_TEXT, .help = "host call or CUPTI"),
	TABLE_COLUMN("name", "Name", TABLE_NAME, TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct sync_view *view = state;
	double total_ns[2] = {0, 0};

	keyed_stats_finish(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		total_ns[view->tally.rows[i].kind] += (double)view->tally.times.groups[i].sum;
	}
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		const struct keyed_stats_row *row = &view->tally.rows[i];
		struct table_cell *cells =
			keyed_stats_add(&view->tally, i, total_ns[row->kind], table);
		const char *seen_by = row->kind ? "CUPTI" : "host call";

		table_set_string(&cells[KEYED_STATS_NR_COLUMNS], seen_by);
	}
	keyed_stats_note(&view->tally, table);
	table_sort(table, "total");
}

VIEW(sync, 320) = {
	.name = "sync",
	.help = "synchronization calls and CUPTI synchronization records",
	.about = "Host calls and CUPTI records describe the same waits; do not add them up.",
	.is_empty_hidden = true,
	.title = "Synchronization",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct sync_view, tally),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, NULL},
	.fill = fill_table,
};
