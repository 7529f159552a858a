/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of many events: all of them become rows, in the order of our streams. */
#include "report/import/kineto/rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "test/unit/report_streams.h"
#include "test/unit/report_traces.h"
#include "test/unit/unit.h"

/* ---- in any shape of text, against what they were made from ---- */

struct made {
	uint64_t begin, dur;
	uint32_t number;
	bool is_kernel;
};

static void add_event(struct buf *text, const struct made *event, uint64_t *seed)
{
	bool is_pretty = unit_random(seed) % 2;
	const char *gap = is_pretty ? "\n    " : "";

	buf_printf(text, "%s{%s\"ph\": \"X\",%s \"cat\": \"%s\",%s\"name\": \"n%u\",",
		is_pretty ? "\n  " : "", gap, gap, event->is_kernel ? "kernel" : "cpu_op", gap,
		event->number % 50);
	buf_printf(text, "%s\"pid\": 1, \"tid\": %u,%s\"ts\": %llu.%03llu, \"dur\": %llu.%03llu",
		gap, event->number % 3, gap, (unsigned long long)event->begin / 1000,
		(unsigned long long)event->begin % 1000, (unsigned long long)event->dur / 1000,
		(unsigned long long)event->dur % 1000);
	/* Kernels that pass later ones of their stream would be cut: rows_overrun.h. */
	if (unit_random(seed) % 4 == 0) {
		buf_printf(text, ",%s\"args\": {%s  \"correlation\": %u, \"odd\": \"}, {\\\"\"}",
			gap, gap, event->is_kernel ? 0 : event->number);
	}
	if (unit_random(seed) % 500 == 0) { /* longer than a piece */
		buf_text(text, ", \"long\": \"");
		buf_pad(text, 'x', 400000);
		buf_char(text, '"');
	}
	buf_text(text, is_pretty ? "\n  }" : "}");
}

static int by_end(const void *a, const void *b)
{
	const struct made *x = a, *y = b;
	uint64_t end_x = x->begin + x->dur, end_y = y->begin + y->dur;

	if (end_x != end_y) {
		return end_x < end_y ? -1 : 1;
	}
	if (x->begin != y->begin) {
		return x->begin > y->begin ? -1 : 1;
	}
	return x->number > y->number ? -1 : 1;
}

/* All rows of one of both tables, in the order of the stream, are those that were made. */
static void compare_rows(
	const struct process *process, const struct made *made, size_t nr_made, bool is_kernel)
{
	unsigned int table = is_kernel ? GPROF_TABLE_kernel : GPROF_TABLE_op;
	size_t next = 0;

	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		struct batch b;

		if (stream_block_table(process->stream, i) != table) {
			continue;
		}
		ck_assert_uint_eq(stream_load(process->stream, i,
					  COL_ALL(schema_table(table)->nr_columns), 0, &b),
			0);
		for (uint32_t row = 0; row < b.nr_rows; row++, next++) {
			while (next < nr_made && made[next].is_kernel != is_kernel) {
				next++;
			}
			ck_assert_uint_lt(next, nr_made);
			ck_assert_uint_eq(b.col[COL_op_begin][row], made[next].begin);
			ck_assert_uint_eq(b.col[COL_op_dur][row], made[next].dur);
		}
	}
	while (next < nr_made && made[next].is_kernel != is_kernel) {
		next++;
	}
	ck_assert_uint_eq(next, nr_made);
}

START_TEST(random_traces_come_out_as_they_were_made)
{
	enum { NR = UNIT_IS_SLOW ? 20000 : 70000 };
	struct made *made = mem_zeroed(NR, sizeof(*made));

	for (uint64_t round = 1; round <= 2; round++) {
		uint64_t seed = round * 77;
		struct process *process;
		struct buf text;
		const char *path = streams_path("random.json.gz");

		buf_init(&text, NULL, NULL);
		buf_text(&text, TRACES_HEAD);
		for (uint32_t i = 0; i < NR; i++) {
			made[i] = (struct made){.begin = unit_random(&seed) % 3000000,
				.dur = unit_random(&seed) % 5000,
				.number = i,
				.is_kernel = unit_random(&seed) % 3 == 0};
			buf_text(&text, i ? "," : "");
			add_event(&text, &made[i], &seed);
		}
		buf_text(&text, TRACES_TAIL);
		if (round == 1) {
			path = streams_path("random.json");
			streams_write(path, text.bytes, text.nr_bytes);
		} else {
			traces_gzip(path, &text);
		}
		process = streams_process(path);
		ck_assert(process_is_complete(process));
		qsort(made, NR, sizeof(*made), by_end);
		compare_rows(process, made, NR, false);
		compare_rows(process, made, NR, true);
		process_destroy(process);
		buf_fini(&text);
	}
	free(made);
}
END_TEST

/* ---- rows in files ---- */

/* Ops, Python calls, launches and copies that nest or not, on some threads. */
static void add_rows(struct kineto_rows *rows, struct kineto_python *python, struct import_out *out)
{
	static const uint8_t tables[] = {GPROF_TABLE_op, GPROF_TABLE_op, GPROF_TABLE_py_call,
		GPROF_TABLE_api_launch, GPROF_TABLE_api_copy, GPROF_TABLE_memcpy};
	uint64_t seed = 99;

	for (unsigned int i = 0; i < 20000; i++) {
		uint8_t table = tables[unit_random(&seed) % sizeof(tables)];
		uint32_t name = import_out_string(out, "n", 1);
		uint32_t code = kineto_python_code(python, out, "f.py(1): a", 10);
		struct kineto_row *row = kineto_rows_add(rows);

		row->table = table;
		row->begin = unit_random(&seed) % 100000;
		row->end = row->begin + unit_random(&seed) % 300;
		row->thread = (uint32_t)(unit_random(&seed) % 3);
		if (table == GPROF_TABLE_op) {
			row->op.name = name;
			row->source = unit_random(&seed) % 4 ? GPROF_FRAMEWORK_TORCH
							     : GPROF_FRAMEWORK_PYTHON;
			row->kind = row->source == GPROF_FRAMEWORK_PYTHON;
		} else if (table == GPROF_TABLE_py_call) {
			row->py_call.code = code;
		} else if (table == GPROF_TABLE_memcpy) {
			row->activity.correlation = (uint32_t)(unit_random(&seed) % 1000);
		} else {
			row->call.correlation = (uint32_t)(unit_random(&seed) % 1000);
			row->call.is_async = unit_random(&seed) % 2;
		}
	}
}

/* The stream that they become, to be freed. */
static char *write_rows(size_t most, off_t *nr_bytes)
{
	struct kineto_rows rows = {.most = most};
	struct kineto_python python = {0};
	struct import_out *out = import_out_create();
	char *bytes;
	int fd;

	add_rows(&rows, &python, out);
	ck_assert_int_eq(unit_file_bytes() > 1u << 20, most != 0);
	ck_assert(kineto_rows_write(&rows, &python, out));
	fd = import_out_finish(out, &(struct import_out_end){.format = "test", .pid = 1});
	ck_assert_int_ge(fd, 0);
	*nr_bytes = lseek(fd, 0, SEEK_END);
	bytes = mem_zeroed((size_t)*nr_bytes, 1);
	ck_assert_int_eq(pread(fd, bytes, (size_t)*nr_bytes, 0), *nr_bytes);
	close(fd);
	kineto_rows_fini(&rows);
	kineto_python_fini(&python);
	return bytes;
}

START_TEST(rows_that_lie_in_files_make_the_same_stream)
{
	off_t nr_all, nr;
	char *all = write_rows(0, &nr_all);

	for (size_t most = 777; most < 20000; most *= 5) {
		char *bytes = write_rows(most, &nr);

		ck_assert_int_eq(nr, nr_all);
		ck_assert_mem_eq(bytes, all, (size_t)nr);
		free(bytes);
	}
	free(all);
}
END_TEST

START_TEST(without_room_for_files_rows_stay_in_memory)
{
	struct kineto_rows rows = {.most = 100};
	struct kineto_python python = {0};
	struct import_out *out = import_out_create();

	ck_assert_int_eq(setenv("TMPDIR", "/nowhere", 1), 0);
	add_rows(&rows, &python, out);
	ck_assert_uint_le(unit_file_bytes(), 1u << 20);
	ck_assert_uint_eq(rows.nr_all, 20000);
	ck_assert(kineto_rows_write(&rows, &python, out));
	close(import_out_finish(out, &(struct import_out_end){.format = "test", .pid = 1}));
	kineto_rows_fini(&rows);
	kineto_python_fini(&python);
}
END_TEST

UNIT_SUITE("report_kineto_rows", random_traces_come_out_as_they_were_made,
	rows_that_lie_in_files_make_the_same_stream, without_room_for_files_rows_stay_in_memory)
