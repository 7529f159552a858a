/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that are named more than once count once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/model.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_traces.h"
#include "test/unit/unit.h"

#define MOST 16u

/* As long as TRACES_OP and at its time. */
#define OTHER_OP                                                                             \
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::bm\", \"pid\": 7, \"tid\": " \
	"9, \"ts\": 10, \"dur\": 5}"

static struct process *processes[MOST];
static size_t nr_processes;
static char told[32768];

static void take(const char *sentence)
{
	ck_assert_ptr_null(strchr(sentence, '\n'));
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s\n", sentence);
}

static void add(const char *name)
{
	processes[nr_processes++] = streams_process(streams_path(name));
}

/* How many are left; their rows of a table are added to *nr_rows. All go. */
static size_t drop(unsigned int table, uint64_t *nr_rows)
{
	size_t nr = nr_processes;
	bool is_dropped;

	*told = 0;
	is_dropped = dedup_drop(processes, &nr_processes, take);
	ck_assert_int_eq(is_dropped, nr != nr_processes);
	ck_assert_int_eq(is_dropped, *told != 0);
	nr = nr_processes;
	*nr_rows = 0;
	while (nr_processes) {
		*nr_rows += traces_rows(processes[nr_processes - 1], table);
		process_destroy(processes[--nr_processes]);
	}
	return nr;
}

START_TEST(a_trace_that_is_named_twice_counts_once)
{
	uint64_t nr_rows;

	traces_write("a.json", "[" TRACES_OP "," TRACES_KERNEL "]");
	traces_write("b.json", "[" TRACES_OP "," TRACES_KERNEL "]");
	add("a.json");
	add("b.json");
	ck_assert_uint_eq(drop(GPROF_TABLE_op, &nr_rows), 1);
	ck_assert_uint_eq(nr_rows, 1);
	ck_assert_ptr_nonnull(strstr(told, "b.json' is the same recording as '"));
	ck_assert_ptr_nonnull(strstr(told, "a.json' and is ignored: name it once\n"));
}
END_TEST

/* Another run may begin at the same time of a clock that counts from its begin. */
START_TEST(traces_that_differ_all_count)
{
	uint64_t nr_rows;

	traces_write("a.json", "[" TRACES_OP "," TRACES_KERNEL "]");
	traces_write("b.json", "[" TRACES_OP "," TRACES_OP "," TRACES_KERNEL "]");
	traces_write("d.json", "[" OTHER_OP "," TRACES_KERNEL "]");
	traces_write("c.json", "{\"distributedInfo\": {\"rank\": 1}, \"traceEvents\": [" TRACES_OP
			       "," TRACES_KERNEL "]}");
	add("a.json");
	add("b.json");
	add("d.json");
	add("c.json");
	ck_assert_uint_eq(drop(GPROF_TABLE_op, &nr_rows), 4);
	ck_assert_uint_eq(nr_rows, 5);
}
END_TEST

static void write_stream(const char *name, const char *start, unsigned int nr_kernels)
{
	struct gen *gen = gen_open(streams_path(name));

	gen_info(gen, "process.start_ticks", start);
	gen_info(gen, "host.boot_id", "one boot");
	for (unsigned int i = 0; i < nr_kernels; i++) {
		gen_row(gen, GPROF_TABLE_kernel);
	}
	gen_close(gen, "exit");
}

START_TEST(of_a_stream_the_copy_with_more_events_counts)
{
	uint64_t nr_rows;

	write_stream("cut.gprof", "17", 3);
	write_stream("whole.gprof", "17", 5);
	write_stream("other.gprof", "18", 7); /* the pid was given again */
	add("cut.gprof");
	add("other.gprof");
	add("whole.gprof");
	ck_assert_uint_eq(drop(GPROF_TABLE_kernel, &nr_rows), 2);
	ck_assert_uint_eq(nr_rows, 12);
	ck_assert_ptr_nonnull(strstr(told, "cut.gprof' is the same recording as '"));
}
END_TEST

START_TEST(many_are_not_told_one_by_one)
{
	uint64_t nr_rows;
	size_t nr_lines = 0;

	traces_write("a.json", "[" TRACES_OP "]");
	for (int i = 0; i < 9; i++) {
		add("a.json");
	}
	ck_assert_uint_eq(drop(GPROF_TABLE_op, &nr_rows), 1);
	for (const char *line = told; (line = strchr(line, '\n')); line++) {
		nr_lines++;
	}
	ck_assert_uint_eq(nr_lines, 6);
	ck_assert_ptr_nonnull(strstr(told, "3 more recordings are named twice and are ignored\n"));
}
END_TEST

UNIT_SUITE("twin", a_trace_that_is_named_twice_counts_once, traces_that_differ_all_count,
	of_a_stream_the_copy_with_more_events_counts, many_are_not_told_one_by_one)
