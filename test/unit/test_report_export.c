/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cli/export.h"

#include <string.h>

#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

/* Whatever the format gets: no table has two columns of a name. */
START_TEST(tables_and_columns_have_names_of_their_own)
{
	for (unsigned int i = 0; event_table_at(i); i++) {
		const struct event_table *table = event_table_at(i);

		ck_assert_uint_le(table->nr_columns + table->nr_hidden, EVENT_COLUMNS);
		for (unsigned int c = 0; c < table->nr_columns + table->nr_hidden; c++) {
			for (unsigned int k = 0; k < c; k++) {
				ck_assert_str_ne(table->columns[c].name, table->columns[k].name);
			}
		}
		for (unsigned int k = 0; k < i; k++) {
			ck_assert_str_ne(table->name, event_table_at(k)->name);
		}
	}
}
END_TEST

struct seen {
	unsigned int kernels[4]; /* by step, those in none last */
	unsigned int operators, named;
	int64_t kernel_ns;
};

static int column(const struct event_table *table, const char *name)
{
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		if (strcmp(table->columns[c].name, name) == 0) {
			return (int)c;
		}
	}
	ck_abort_msg("%s has no %s", table->name, name);
}

static bool take_row(void *context, const struct event_table *table, const struct process *process,
	const struct export_cell *cells)
{
	struct seen *seen = context;
	const struct export_cell *step = &cells[EVENT_STEP];

	ck_assert(cells[EVENT_PID].is_known);
	ck_assert_int_eq(cells[EVENT_PID].value, process->pid);
	if (strcmp(table->name, "kernel") == 0) {
		seen->kernels[step->is_known && step->value < 3 ? step->value : 3]++;
		seen->kernel_ns += cells[column(table, "dur_ns")].value;
	}
	if (strcmp(table->name, "op") == 0) {
		seen->operators++;
		seen->named += cells[column(table, "name")].is_known;
	}
	return true;
}

START_TEST(work_is_in_the_step_that_launched_it)
{
	struct seen seen = {.operators = 0};
	struct export_sink sink = {take_row, &seen};
	struct process *process = streams_process(streams_ops("ops.gprof"));

	ck_assert(export_run(&process, 1, &sink));
	for (unsigned int step = 0; step < 3; step++) {
		ck_assert_uint_eq(seen.kernels[step], 4);
	}
	ck_assert_uint_eq(seen.kernels[3], 0);
	ck_assert_int_eq(seen.kernel_ns, 540000);
	ck_assert_uint_eq(seen.operators, 39);
	ck_assert_uint_eq(seen.named, 39);
	process_destroy(process);
}
END_TEST

static bool refuse_row(void *context, const struct event_table *table,
	const struct process *process, const struct export_cell *cells)
{
	(void)table;
	(void)process;
	(void)cells;
	return ++*(unsigned int *)context < 3;
}

START_TEST(a_sink_that_is_full_gets_no_more)
{
	unsigned int nr = 0;
	struct export_sink sink = {refuse_row, &nr};
	struct process *process = streams_process(streams_ops("ops.gprof"));

	ck_assert(!export_run(&process, 1, &sink));
	ck_assert_uint_eq(nr, 3);
	process_destroy(process);
}
END_TEST

/* The time of the session is their sum, in a damaged stream beyond what a number can hold. */
START_TEST(hostile_anchors_do_not_overflow)
{
	struct process *process = streams_process(streams_ops("ops.gprof"));

	process->has_anchors = true;
	process->realtime_offset_ns = INT64_MAX;
	ck_assert_uint_gt(process->first_ns, 0);
	if (export_has_sqlite()) {
		ck_assert_ptr_null(export_sqlite(streams_path("ops.db"), &process, 1));
	}
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/export", tables_and_columns_have_names_of_their_own,
	work_is_in_the_step_that_launched_it, a_sink_that_is_full_gets_no_more,
	hostile_anchors_do_not_overflow)
