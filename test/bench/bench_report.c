/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_report [EVENTS]: what the reporter takes for the reference stream of test/gen. Prints whole
 * events decoded a second, the kernel table (which reads only the columns it needs) a second, bytes
 * an event, and the peak of memory. One thread, by its CPU time, since other work on the machine is
 * not ours; medians of five.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "report/session/importers.h"
#include "report/stream/prefetch.h"
#include "report/util/err.h"
#include "report/analysis/view.h"
#include "test/gen/gen.h"

#define RUNS 5

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* All columns of all events, added up so that no work can be left out. */
static uint64_t decode_all(struct process *process)
{
	struct stream *stream = process->stream;
	uint64_t sum = 0;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i);
		struct batch batch;

		if (!gprof_table_is(table, GPROF_IS_EVENT)) {
			continue;
		}
		if (stream_load(stream, i, COL_ALL(schema_table(table)->nr_columns), 0, &batch)) {
			fprintf(stderr, "bench_report: damaged stream\n");
			exit(1);
		}
		for (unsigned int c = 0; c < schema_table(table)->nr_columns; c++) {
			sum += batch.col[c][batch.nr_rows - 1];
		}
	}
	return sum;
}

static uint64_t run_view(struct process *process, const struct view_class *class)
{
	struct view_input input = {.processes = &process, .nr_processes = 1};
	struct table *table;
	uint64_t nr_rows;
	void *view;

	view_run(&input, &class, 1, &view);
	table = view_table(class, view);
	nr_rows = table->nr_rows;
	table_destroy(table);
	view_destroy(class, view);
	return nr_rows;
}

static struct process *open_stream(const char *path)
{
	struct stream *stream;

	if (stream_open(&stream, path, stream_importers)) {
		fprintf(stderr, "bench_report: %s: %s\n", path, err_text());
		exit(1);
	}
	return process_create(stream);
}

static void report(const char *what, double *seconds, uint64_t nr_events)
{
	qsort(seconds, RUNS, sizeof(*seconds), compare);
	printf("%-44s %8.1f M events/s\n", what, (double)nr_events / seconds[RUNS / 2] / 1e6);
}

int main(int argc, char **argv)
{
	uint64_t nr_events = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000000;
	char path[] = "/tmp/gprof-bench-XXXXXX";
	double decode_s[RUNS], kernel_s[RUNS], api_s[RUNS];
	struct process *process;
	struct rusage usage;
	struct gen *gen;
	uint64_t nr_kernels = 0, check = 0;

	prefetch_set_threads(1);
	close(mkstemp(path));
	gen = gen_open(path);
	gen_training(gen, nr_events, 1);
	gen_close(gen, "exit");
	process = open_stream(path);
	for (size_t i = 0; i < process->stream->nr_tables; i++) {
		if (process->stream->tables[i].known == GPROF_TABLE_kernel) {
			nr_kernels = process->stream->tables[i].nr_rows;
		}
	}
	for (int run = 0; run < RUNS; run++) {
		double t[4];

		t[0] = now_s();
		check += decode_all(process);
		t[1] = now_s();
		check += run_view(process, &view_kernel);
		t[2] = now_s();
		check += run_view(process, &view_api);
		t[3] = now_s();
		decode_s[run] = t[1] - t[0];
		kernel_s[run] = t[2] - t[1];
		api_s[run] = t[3] - t[2];
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%" PRIu64 " events, %" PRIu64 " kernels, %.2f bytes an event (check %" PRIx64 ")\n",
		process->nr_events, nr_kernels,
		(double)process->stream->size / (double)process->nr_events, check);
	report("whole events decoded, one core (goal 25)", decode_s, process->nr_events);
	report("kernel table, kernels, one core (goal 100)", kernel_s, nr_kernels);
	report("kernel table, events passed, one core", kernel_s, process->nr_events);
	report("API table, one core", api_s, process->nr_events * 6 / 10);
	printf("%-44s %8.1f MB (with the generator)\n", "peak memory",
		(double)usage.ru_maxrss / 1024);
	process_destroy(process);
	unlink(path);
	return 0;
}
