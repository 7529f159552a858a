/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and sets with their calls: random loops, each row added up again. */
#include <stdlib.h>
#include <string.h>

#include "report/stats/min_max_sum.h"
#include "test/unit/report_played.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_tables.h"
#include "test/unit/unit.h"

START_TEST(calls_and_copies_are_side_by_side)
{
	struct table *table = tables_of(&view_memops, streams_small("small.gprof"), false);
	size_t copy = tables_find(table, "name", "GpuMemcpyAsync:CUDAPinned->GPU", 0);

	ck_assert_uint_eq(table->nr_rows, 2);
	ck_assert_uint_eq(tables_number(table, copy, "total_ns"), 8000);
	ck_assert_uint_eq(tables_number(table, copy, "gpu_total_ns"), 50000);
	ck_assert_uint_eq(tables_number(table, copy, "total_bytes"), 1000000);
	table_destroy(table);
}
END_TEST

static const char *name_of(const struct played_call *call)
{
	bool has_call = call->begin != UINT64_MAX;

	if (call->work == PLAYED_COPY) {
		return call->is_async ? "GpuMemcpyAsync:CPU->GPU"
		       : has_call     ? "GpuMemcpySync:CPU->GPU"
				      : "GpuMemcpy:CPU->GPU";
	}
	return call->is_async ? "GpuMemsetAsync:?" : has_call ? "GpuMemsetSync:?" : "GpuMemset:?";
}

static void check_row(const struct table *table, size_t row, const struct played *played)
{
	struct min_max_sum cpu = {0}, gpu = {0};

	for (unsigned int i = 0; i < played->nr_calls; i++) {
		const struct played_call *call = &played->calls[i];

		if ((call->work != PLAYED_COPY && call->work != PLAYED_SET) ||
			strcmp(name_of(call), tables_name(table, row)) != 0) {
			continue;
		}
		min_max_sum_add(&gpu, call->work_end - call->work_begin);
		if (call->begin != UINT64_MAX) {
			min_max_sum_add(&cpu, call->end - call->begin);
		}
	}
	ck_assert_uint_eq(tables_number(table, row, "calls"), gpu.nr);
	ck_assert_uint_eq(tables_number(table, row, "gpu_total_ns"), gpu.sum);
	ck_assert_uint_eq(tables_number(table, row, "gpu_min_ns"), gpu.min);
	ck_assert_uint_eq(tables_number(table, row, "gpu_max_ns"), gpu.max);
	ck_assert_int_eq(tables_cell(table, row, "total_ns")->is_known, cpu.nr != 0);
	ck_assert_uint_eq(tables_cell(table, row, "total_ns")->integer, cpu.sum);
}

START_TEST(random_copies_added_up_again)
{
	struct played *played = calloc(1, sizeof(*played));

	for (uint64_t seed = 1; seed < 30; seed++) {
		const char *path = streams_path("played.gprof");
		struct table *table;
		uint64_t nr = 0;

		played_make(played, seed, path);
		table = tables_of(&view_memops, path, false);
		for (size_t row = 0; row < table->nr_rows; row++) {
			check_row(table, row, played);
			nr += tables_number(table, row, "calls");
		}
		for (unsigned int i = 0; i < played->nr_calls; i++) {
			nr -= played->calls[i].work == PLAYED_COPY ||
			      played->calls[i].work == PLAYED_SET;
		}
		ck_assert_uint_eq(nr, 0);
		table_destroy(table);
	}
	free(played);
}
END_TEST

UNIT_SUITE("report/manipulation", calls_and_copies_are_side_by_side, random_copies_added_up_again)
