/* SPDX-License-Identifier: Apache-2.0 */
/* What being profiled cost, as CUPTI tells it. */
#include <stdlib.h>
#include <string.h>

#include "report/api.h"
#include "report/view.h"

struct overhead_view {
	struct tally tally;
};

static const struct scan_want wants[] = {
	{GPROF_TABLE_overhead, COL_BIT(COL_overhead_dur) | COL_BIT(COL_overhead_overhead_kind), 0},
};

static void *create(const struct view_input *input)
{
	struct overhead_view *view = mem_zeroed(1, sizeof(*view));

	(void)input;
	tally_init(&view->tally);
	return view;
}

static void take(void *context, struct process *process, const struct batch *b)
{
	struct overhead_view *view = context;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t kind = (uint32_t)b->col[COL_overhead_overhead_kind][i];
		const char *text = api_overhead_name(kind);
		uint32_t row =
			tally_find(&view->tally, kind, names_intern(text, strlen(text)), kind);

		stat_add(&view->tally.times, row, b->col[COL_overhead_dur][i]);
	}
}

static struct table *make_table(void *context)
{
	static const struct table_column columns[] = {
		TALLY_COLUMNS("% of overhead"),
		{"name", "Overhead", TABLE_NAME, false},
	};
	struct overhead_view *view = context;
	struct table *table = table_create(
		"overhead", "Overhead of being profiled", columns, TALLY_NR_COLUMNS + 1);
	double total_ns;

	tally_finish(&view->tally);
	total_ns = tally_total_ns(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		struct table_cell *cells = table_add_row(table);

		tally_fill(&view->tally, i, total_ns, cells);
		table_set_integer(&cells[TALLY_NR_COLUMNS], view->tally.rows[i].name);
	}
	tally_note(&view->tally, table);
	table_sort(table, "total");
	return table;
}

static void destroy(void *context)
{
	struct overhead_view *view = context;

	tally_fini(&view->tally);
	free(view);
}

const struct view_class view_overhead = {
	.name = "overhead",
	.help = "what CUPTI and the driver spent for being profiled",
	.is_default = false,
	.is_empty_hidden = true,
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, take, NULL},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
