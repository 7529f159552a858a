/* SPDX-License-Identifier: Apache-2.0 */
/* What profiling cost: CUPTI's own records, and the CPU time of gprof's threads. */
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/analysis/view.h"

struct overhead_view {
	struct keyed_stats tally;
	struct view_input input;
};

/* The facts `overhead.*_ns` of the recorder, CPU time of its own. */
#define FACT_PREFIX "overhead."
#define FACT_SUFFIX "_ns"
#define FROM_FACTS  (1ull << 40)

static const struct scan_want wants[] = {
	{GPROF_TABLE_overhead, COL_BIT(COL_overhead_dur) | COL_BIT(COL_overhead_overhead_kind), 0},
};

static void take_fact(struct overhead_view *view, const struct model_fact *fact)
{
	const char *key = string_pool_text(fact->key, NULL);
	const char *value = string_pool_text(fact->value, NULL);
	size_t length = strlen(key), nr_suffix = strlen(FACT_SUFFIX);
	struct buf name = {0};
	uint32_t row, interned;
	char *end;
	uint64_t ns = strtoull(value, &end, 10);

	if (strncmp(key, FACT_PREFIX, strlen(FACT_PREFIX)) != 0 || length < nr_suffix ||
		strcmp(key + length - nr_suffix, FACT_SUFFIX) != 0 || end == value || *end) {
		return;
	}
	buf_text(&name, "gprof: ");
	for (const char *c = key + strlen(FACT_PREFIX); c < key + length - nr_suffix; c++) {
		buf_char(&name, *c == '_' ? ' ' : *c);
	}
	interned = string_pool_intern(name.bytes, name.nr_bytes);
	row = keyed_stats_find(&view->tally, FROM_FACTS | interned, interned, 0);
	histogram_add(&view->tally.times, row, ns);
	buf_fini(&name);
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct overhead_view *view = context;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t kind = (uint32_t)b->col[COL_overhead_overhead_kind][i];
		const char *text = api_overhead_name(kind);
		uint32_t row = keyed_stats_find(
			&view->tally, kind, string_pool_intern(text, strlen(text)), kind);

		histogram_add(&view->tally.times, row, b->col[COL_overhead_dur][i]);
	}
}

static const struct table_column columns[] = {
	KEYED_STATS_COLUMNS("% of overhead"),
	TABLE_COLUMN("name", "Overhead", TABLE_NAME, TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_table(void *state, struct table *table)
{
	struct overhead_view *view = state;
	double total_ns;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		for (size_t k = 0; k < view->input.processes[i]->nr_facts; k++) {
			take_fact(view, &view->input.processes[i]->facts[k]);
		}
	}
	keyed_stats_finish(&view->tally);
	total_ns = keyed_stats_total_ns(&view->tally);
	for (size_t i = 0; i < view->tally.nr_rows; i++) {
		keyed_stats_add(&view->tally, i, total_ns, table);
	}
	keyed_stats_note(&view->tally, table);
	table_sort(table, "total");
}

VIEW(overhead, 480) = {
	.name = "overhead",
	.help = "what profiling cost: CUPTI, the driver and gprof",
	.about = "Rows of gprof are CPU time of its own threads, which run beside those of the "
		 "program.",
	.is_empty_hidden = true,
	.title = "Profiling overhead",
	VIEW_COLUMNS(columns),
	VIEW_KEYED_STATE(struct overhead_view, tally),
	.scan = {wants, sizeof(wants) / sizeof(wants[0]), NULL, NULL, on_batch, NULL},
	.fill = fill_table,
};
