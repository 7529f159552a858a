/* SPDX-License-Identifier: Apache-2.0 */
/* What the finding says of workers that start anew in each epoch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/report_made.h"

#define MS     1000000ull
#define EPOCHS 4u
#define STEPS  20u /* of an epoch, of 10 ms each, but for the first one */
#define LOADER "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

/* The first step of an epoch: code for 20 ms, then the loader for 300. */
enum { FORK_MS = 20, WAIT_MS = 300, EPOCH_MS = FORK_MS + WAIT_MS + 10 + (STEPS - 1) * 10 };

static uint64_t epoch_ns(uint32_t epoch)
{
	return (1000 + epoch * (uint64_t)EPOCH_MS) * MS;
}

static struct process *loop(void)
{
	struct made made = made_open("loop.gprof");
	uint64_t at = epoch_ns(0);

	gen_thread(made.gen, 1, GEN_PID, NULL);
	for (uint32_t i = 0; i < EPOCHS * STEPS; i++) {
		made_step(&made, at, i + 1);
		if (i % STEPS == 0) {
			at += FORK_MS * MS;
			made_op(&made, LOADER, at, at + WAIT_MS * MS, 0);
			at += WAIT_MS * MS;
		}
		made_op(&made, LOADER, at, at + 1 * MS, 0);
		made_op(&made, "aten::mm", at + 1 * MS, at + 10 * MS, 0);
		at += 10 * MS;
	}
	made_step(&made, at, EPOCHS * STEPS + 1);
	gen_close(made.gen, "exit");
	return streams_process(made.path);
}

/* The only worker of its loader, from the end of its epoch's first wait for so long. */
static struct process *worker(uint32_t epoch, uint64_t ns, bool has_start)
{
	uint64_t begin = epoch_ns(epoch) + (FORK_MS + WAIT_MS - 1) * MS;
	char name[32], text[32];
	struct gen *gen;

	snprintf(name, sizeof(name), "worker%u.gprof", epoch);
	gen = gen_open(streams_path(name));
	snprintf(text, sizeof(text), "%u", 5000 + epoch);
	gen_info(gen, "process.pid", text);
	gen_info(gen, "process.parent_stream", "loop.gprof");
	gen_info(gen, "loader.worker", "0");
	gen_info(gen, "loader.workers", "1");
	if (has_start) {
		snprintf(text, sizeof(text), "%u", (unsigned int)(epoch_ns(epoch) / MS / 10));
		gen_info(gen, "process.start_ticks", text);
	}
	gen_anchor(gen, 0, 0, 0);
	gen_anchor(gen, 1000000000, 1000000000, 1000000000);
	gen_thread(gen, 1, 5000 + epoch, NULL);
	gen_op(gen, "aten::stack", begin, begin + ns);
	gen_close(gen, "exit");
	return streams_process(streams_path(name));
}

/* Checks the finding of a cause with a worker in each of so many epochs; NULL: there is none. */
static void says(
	const char *cause, uint32_t nr_workers, uint64_t ns, bool has_start, const char *sentence)
{
	struct process *all[1 + EPOCHS] = {loop()};
	struct table *table;
	size_t row = 0;

	for (uint32_t i = 0; i < nr_workers; i++) {
		all[1 + i] = worker(i, ns, has_start);
	}
	table = tables_make(&view_findings, all, 1 + nr_workers, false);
	while (row < table->nr_rows && strcmp(tables_cell(table, row, "cause")->text, cause) != 0) {
		row++;
	}
	ck_assert_msg((row < table->nr_rows) == (sentence != NULL), "%s of %u workers", cause,
		nr_workers);
	if (sentence) {
		ck_assert_str_eq(tables_cell(table, row, "sentence")->text, sentence);
	}
	table_destroy(table);
	for (uint32_t i = 0; i <= nr_workers; i++) {
		process_destroy(all[i]);
	}
}

/* Three of four in 80 steps of 26 ms, of which each costs 300 ms, and 20 more to make the process.
 */
START_TEST(workers_that_start_anew_cost_what_the_loop_waits)
{
	says("loader_start", EPOCHS, 100 * MS, false,
		"Loader workers start 4 times, for which the loop waits; keeping them "
		"(persistent_workers=True) can save at most 11.39 ms per step (51.4 %)");
	says("loader_start", EPOCHS, 100 * MS, true,
		"Loader workers start 4 times, for which the loop waits; keeping them "
		"(persistent_workers=True) can save at most 12.15 ms per step (54.9 %)");
}
END_TEST

START_TEST(workers_that_stay_do_not_start_anew)
{
	says("loader_start", 1, 100 * MS, false, NULL);
	says("loader_start", EPOCHS, 10000 * MS, false, NULL);
}
END_TEST

/* The first of two starts is needed. */
START_TEST(a_second_start_says_nothing)
{
	says("loader_start", 2, 100 * MS, false, NULL);
	says("loader_start", 3, 100 * MS, false,
		"Loader workers start 3 times, for which the loop waits; keeping them "
		"(persistent_workers=True) can save at most 7.595 ms per step (34.3 %)");
}
END_TEST

UNIT_SUITE("report/loader_starts", workers_that_start_anew_cost_what_the_loop_waits,
	workers_that_stay_do_not_start_anew, a_second_start_says_nothing)
