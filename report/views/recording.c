/* SPDX-License-Identifier: Apache-2.0 */
/* The recording itself: what it lost, what it noticed, and what profiling cost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/model/process_exit.h"
#include "report/analysis/view.h"
#include "report/util/text.h"

struct losses_view {
	struct view_input input;
};

struct loss_row {
	const struct process *process;
	uint64_t count;
	const char *cause, *detail;
};

static void add_row(struct table *table, const struct process *process, uint64_t count,
	const char *cause, const char *detail)
{
	table_add(table, &(struct loss_row){process, count, cause, detail});
}

static void add_damages(
	struct table *table, const struct process *process, const struct view_input *input)
{
	const struct stream *stream = process->stream;

	for (size_t i = 0; i < stream->nr_tables; i++) {
		const struct stream_table *t = &stream->tables[i];

		if (t->rows_missing) {
			add_row(table, process, t->rows_missing, "blocks are missing", t->name);
		}
		if (t->rows_damaged) {
			add_row(table, process, t->rows_damaged, "columns are damaged", t->name);
		}
	}
	if (stream->blocks_missing) {
		char count[48];

		snprintf(count, sizeof(count), "%" PRIu64 " %s", stream->blocks_missing,
			text_many(stream->blocks_missing, "block", "blocks"));
		add_row(table, process, 0, "blocks are missing", count);
	}
	for (size_t i = 0; i < stream->nr_damages; i++) {
		char where[96];

		snprintf(where, sizeof(where), "%" PRIu64 " bytes at %" PRIu64,
			stream->damages[i].nr_bytes, stream->damages[i].offset);
		add_row(table, process, 0, stream->damages[i].what, where);
	}
	if (stream->ring_rows_damaged) {
		add_row(table, process, stream->ring_rows_damaged, "rings are damaged", "");
	}
	if (stream->ring_rows_lost) {
		add_row(table, process, stream->ring_rows_lost, "rings were full", "");
	}
	if (!process->is_ended) {
		struct buf text = {0};

		process_exit_add_text(&text, process, input->processes, input->nr_processes);
		buf_char(&text, '\0');
		add_row(table, process, 0, "unfinished", text.bytes);
		buf_fini(&text);
	}
}

static const struct table_column losses_columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(loss_row, process)),
	TABLE_COLUMN("count", "Events", TABLE_COUNT, .help = "events that are missing",
		TABLE_SATURATED(loss_row, count)),
	TABLE_COLUMN(
		"cause", "Cause", TABLE_TEXT, .is_sentence = true, TABLE_MEMBER(loss_row, cause)),
	TABLE_COLUMN("detail", "Detail", TABLE_TEXT, .is_sentence = true,
		TABLE_MEMBER(loss_row, detail)),
};

static void fill_losses(void *state, struct table *table)
{
	struct losses_view *view = state;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		const struct process *process = view->input.processes[i];

		for (size_t k = 0; k < process->nr_losses; k++) {
			add_row(table, process, process->losses[k].count,
				string_pool_text(process->losses[k].cause, NULL), "");
		}
		add_damages(table, process, &view->input);
	}
}

struct notice_row {
	const struct process *process;
	const char *code;
	uint32_t cause, text;
};

static const struct table_column notices_columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(notice_row, process)),
	TABLE_COLUMN("code", "Code", TABLE_TEXT,
		.help = "of the API, where one of its calls failed",
		TABLE_MEMBER(notice_row, code)),
	TABLE_COLUMN("cause", "Cause", TABLE_NAME, TABLE_MEMBER(notice_row, cause)),
	TABLE_COLUMN("text", "What to do", TABLE_NAME, .is_sentence = true,
		.help = "what follows, and what to do", TABLE_MEMBER(notice_row, text)),
};

static void fill_notices(void *state, struct table *table)
{
	struct losses_view *view = state;

	for (size_t i = 0; i < view->input.nr_processes; i++) {
		const struct process *process = view->input.processes[i];

		for (size_t k = 0; k < process->nr_notices; k++) {
			const struct model_notice *notice = &process->notices[k];
			char code[32];

			snprintf(code, sizeof(code), "%" PRId64, notice->code);
			table_add(table, &(struct notice_row){process, notice->code ? code : NULL,
						 notice->cause, notice->text});
		}
	}
}

VIEW(losses, 490) = {
	.name = "losses",
	.subject = VIEW_ABOUT_RECORDING,
	.help = "missing and damaged data, by cause",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Missing data",
	VIEW_COLUMNS(losses_columns),
	VIEW_STATE(struct losses_view),
	.fill = fill_losses,
};

VIEW(notices, 500) = {
	.name = "notices",
	.subject = VIEW_ABOUT_RECORDING,
	.help = "what was switched off or refused while recording",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Notices",
	VIEW_COLUMNS(notices_columns),
	VIEW_STATE(struct losses_view),
	.fill = fill_notices,
};

/* ---- overhead: CUPTI's own records, and the CPU time of gprof's threads ---- */

struct overhead_view {
	struct keyed_stats tally;
	struct view_input input;
};

/* The facts `overhead.*_ns` of the recorder, CPU time of its own. */
#define FACT_PREFIX "overhead."
#define FACT_SUFFIX "_ns"
#define FROM_FACTS  (1ull << 40)

static const struct scan_want overhead_wants[] = {
	{GPROF_TABLE_overhead, COLS(overhead, dur, overhead_kind), 0},
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

static void on_overhead(void *context, struct process *process, const struct batch *b)
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

static const struct table_column overhead_columns[] = {
	KEYED_STATS_COLUMNS("% of overhead"),
	TABLE_COLUMN("name", "Overhead", TABLE_NAME, TABLE_MEMBER(keyed_stats_row, name)),
};

static void fill_overhead(void *state, struct table *table)
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
		keyed_stats_add(&view->tally, i, total_ns, NULL, table);
	}
	keyed_stats_note(&view->tally, table);
	table_sort(table, "total");
}

VIEW(overhead, 480) = {
	.name = "overhead",
	.subject = VIEW_ABOUT_RECORDING,
	.help = "what profiling cost: CUPTI, the driver and gprof",
	.about = "Rows of gprof are CPU time of its own threads, which run beside those of the "
		 "program.",
	.is_empty_hidden = true,
	.title = "Profiling overhead",
	VIEW_COLUMNS(overhead_columns),
	VIEW_KEYED_STATE(struct overhead_view, tally),
	.scan = {overhead_wants, 1, NULL, NULL, on_overhead, NULL},
	.fill = fill_overhead,
};
