/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of cudaMalloc and its kin; those of each thread come one after the other. */
#include "report/memory/memory_scan.h"

#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

enum { NR_FLUSHES = 50, CALLS_A_FLUSH = 100, NR_CALLS = NR_FLUSHES * CALLS_A_FLUSH };

struct looked {
	struct memory_scan scan; /* comes first: the scan's context */
	size_t most_calls;
};

static void take_and_look(void *context, struct process *process, const struct batch *batch)
{
	struct looked *looked = context;

	memory_scan_take(context, process, batch);
	if (looked->scan.nr_calls > looked->most_calls) {
		looked->most_calls = looked->scan.nr_calls;
	}
}

static void add_call(struct gen *gen, uint64_t tick, uint64_t address, bool is_free)
{
	struct gprof_row_api_alloc *row = gen_row(gen, GPROF_TABLE_api_alloc);

	row->begin = row->dur = tick;
	row->address = address;
	row->bytes = 8;
	row->op = is_free;
}

/* The n-th allocation comes at 10 n, and its end 605 later. */
static void allocate(struct gen *gen, uint64_t n)
{
	add_call(gen, 1000 + 10 * n, n + 1, false);
}

static void release(struct gen *gen, uint64_t n)
{
	add_call(gen, 1000 + 10 * n + 605, n + 1, true);
}

/* Every other end arrives a flush later, behind what came after it. */
static const char *write_calls(void)
{
	const char *path = streams_path("flushes.gprof");
	struct gen *gen = gen_open(path);

	for (uint64_t n = 0; n < NR_CALLS + CALLS_A_FLUSH; n++) {
		if (n < NR_CALLS) {
			allocate(gen, n);
		}
		if (n < NR_CALLS && n % 2 == 0) {
			release(gen, n);
		} else if (n >= CALLS_A_FLUSH && n % 2) {
			release(gen, n - CALLS_A_FLUSH);
		}
		if (n % CALLS_A_FLUSH == CALLS_A_FLUSH - 1) {
			gen_flush(gen);
		}
	}
	gen_close(gen, "exit");
	return path;
}

START_TEST(calls_out_of_order_are_put_in_order_and_few_wait)
{
	static const struct scan_view view = {.wants = memory_scan_wants,
		.nr_wants = MEMORY_SCAN_NR_WANTS,
		.needs = memory_scan_needs,
		.begin = memory_scan_begin,
		.on_batch = take_and_look,
		.end = memory_scan_end};
	struct looked looked = {.most_calls = 0};
	const struct scan scan = {&view, &looked};
	struct process *process = streams_process(write_calls());
	const struct memory_timeline *pool;

	scan_run(&process, 1, &scan, 1);
	ck_assert_uint_eq(looked.scan.memory.nr_places, 1);
	pool = &looked.scan.memory.places[0].pool;
	ck_assert_uint_eq(pool->nr_allocs, NR_CALLS);
	ck_assert_uint_eq(pool->nr_frees, NR_CALLS);
	ck_assert_uint_eq(pool->last_bytes, 0);
	ck_assert_uint_eq(pool->peak_bytes, 61 * 8);
	ck_assert_uint_le(looked.most_calls, 2 * CALLS_A_FLUSH);
	memory_scan_fini(&looked.scan);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/memory_scan", calls_out_of_order_are_put_in_order_and_few_wait)
