/* SPDX-License-Identifier: Apache-2.0 */
/* The order of slices in streams that are too large for the sort in memory. */
#include <stdlib.h>
#include <string.h>

#include "report/timeline/tracks.h"
#include "report/util/buf.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

enum {
	OPS = 500000, /* short ones, 1,000 ns apart */
	LATE = 30000, /* so many operators later a kernel comes */
	BACK = 40000, /* so many later comes the autograd node of an operator */
	NODES = 100,  /* one in so many operators has a node */
	LONG = 20000, /* as often ends one that began 200,000 operators before */
	LONG_OPS = 200000,
	BASE = 1000000,
};

static uint64_t begin_of(uint64_t i)
{
	return BASE + 1000 * i;
}

static void add_kernel(struct gen *gen, uint64_t i, uint32_t place)
{
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	kernel->begin = begin_of(i);
	kernel->dur = kernel->begin + 500;
	kernel->place = place;
}

static struct process *make_large(const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	uint32_t place;

	gen_anchor(gen, BASE, BASE, BASE);
	gen_anchor(gen, begin_of(2 * OPS), begin_of(2 * OPS), begin_of(2 * OPS));
	place = gen_place(gen, 0, 1, 7);
	for (uint64_t i = 0; i < OPS; i++) {
		struct gprof_row_op *op =
			gen_op(gen, "aten::add", begin_of(i) + 100, begin_of(i) + 300);

		op->thread = 1;
		op->framework = GPROF_FRAMEWORK_TORCH;
		if (i % NODES == 0) {
			op->sequence = 1 + i / NODES;
			op->framework_thread = 1;
		}
		if (i >= BACK && (i - BACK) % NODES == 0) {
			op = gen_op(gen, "AddBackward0", begin_of(i) + 150, begin_of(i) + 250);
			op->thread = 1;
			op->framework = GPROF_FRAMEWORK_TORCH;
			op->scope = 1;
			op->sequence = 1 + (i - BACK) / NODES;
			op->forward_thread = 1;
		}
		if (i >= LONG_OPS && i % LONG == 0) {
			op = gen_op(
				gen, "train", begin_of(i - LONG_OPS) + i / LONG, begin_of(i) + 400);
			op->thread = 2 + (uint32_t)(i / LONG);
			op->framework = GPROF_FRAMEWORK_TORCH;
		}
		if (i >= LATE) {
			add_kernel(gen, i - LATE, place);
		}
	}
	gen_close(gen, "exit");
	return streams_process(path);
}

struct seen {
	uint64_t last_ns;
	size_t nr, nr_long, nr_deep, nr_flows, nr_bare;
};

static void begin(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns)
{
	(void)context;
	(void)base_ns;
	(void)first_ns;
	(void)last_ns;
}

static void ignore(void *context, const struct track *track)
{
	(void)context;
	(void)track;
}

static void on_slice(void *context, const struct track_slice *slice, bool is_instant)
{
	struct seen *seen = context;

	ck_assert(!is_instant);
	ck_assert_uint_ge(slice->ns, seen->last_ns);
	seen->last_ns = slice->ns;
	seen->nr++;
	seen->nr_long += slice->dur_ns > 100000000;
	seen->nr_deep += slice->depth > 0;
	for (unsigned int i = 0; i < slice->nr_flows; i++) {
		seen->nr_flows += (slice->flows[i] & AUTOGRAD_FLOW) != 0;
	}
}

static bool take_bare(void *context, const struct track_slice *slice)
{
	struct seen *seen = context;

	ck_assert_uint_eq(slice->args.nr, 0);
	ck_assert_uint_eq(slice->nr_flows, 0);
	ck_assert_uint_ge(slice->ns, seen->last_ns);
	seen->last_ns = slice->ns;
	seen->nr_bare++;
	return true;
}

START_TEST(slices_of_a_large_stream_come_in_the_order_of_their_begins)
{
	const size_t nr_nodes = (OPS - BACK) / NODES;
	struct process *process = make_large("large.gprof");
	struct seen seen = {0};
	const struct track_sink sink = {
		.begin = begin, .track = ignore, .slice = on_slice, .context = &seen};

	tracks_walk(&process, 1, NULL, &sink);
	ck_assert_uint_eq(seen.nr_long, (OPS - LONG_OPS) / LONG);
	ck_assert_uint_eq(seen.nr, OPS + (OPS - LATE) + nr_nodes + seen.nr_long);
	ck_assert_uint_eq(seen.nr_deep, nr_nodes);
	ck_assert_uint_eq(seen.nr_flows, 2 * nr_nodes);
	process_destroy(process);
}
END_TEST

START_TEST(all_but_the_ends_of_flows_are_taken_bare)
{
	const size_t nr_nodes = (OPS - BACK) / NODES;
	struct process *process = make_large("bare.gprof");
	struct seen seen = {0};
	const struct track_sink sink = {.begin = begin,
		.track = ignore,
		.slice = on_slice,
		.take_bare = take_bare,
		.context = &seen};

	tracks_walk(&process, 1, NULL, &sink);
	ck_assert_uint_eq(seen.nr_flows, 2 * nr_nodes);
	ck_assert_uint_ge(seen.nr, 2 * nr_nodes);
	ck_assert_uint_le(seen.nr, 4 * nr_nodes);
	ck_assert_uint_eq(
		seen.nr + seen.nr_bare, OPS + (OPS - LATE) + nr_nodes + (OPS - LONG_OPS) / LONG);
	process_destroy(process);
}
END_TEST

enum {
	COPIES = 5000, /* that run at one time */
	COPY_BYTES = 1000,
};

static void add_copy(struct gen *gen, uint32_t place, uint64_t begin, uint64_t dur)
{
	struct gprof_row_memcpy *copy = gen_row(gen, GPROF_TABLE_memcpy);

	copy->begin = begin;
	copy->dur = begin + dur;
	copy->place = place;
	copy->bytes = COPY_BYTES;
}

struct counts {
	uint64_t track;
	size_t nr;
	double most, last;
};

static void on_counter_track(void *context, const struct track *track, const char *unit)
{
	struct counts *counts = context;

	(void)unit;
	counts->track = strcmp(track->name, "copy bandwidth") ? counts->track : track->id;
}

static void on_count(void *context, uint64_t track, uint64_t ns, double value)
{
	struct counts *counts = context;

	(void)ns;
	if (track == counts->track) {
		counts->nr++;
		counts->most = value > counts->most ? value : counts->most;
		counts->last = value;
	}
}

static void drop_slice(void *context, const struct track_slice *slice, bool is_instant)
{
	(void)context;
	(void)slice;
	(void)is_instant;
}

/* Copies of another length for each, all running at once, and a quick one long after them. */
START_TEST(every_copy_counts_however_many_run)
{
	const char *path = streams_path("copies.gprof");
	struct gen *gen = gen_open(path);
	struct counts counts = {0};
	const struct track_sink sink = {.begin = begin,
		.track = ignore,
		.slice = drop_slice,
		.counter_track = on_counter_track,
		.count = on_count,
		.context = &counts};
	struct process *process;
	uint32_t place;

	gen_anchor(gen, BASE, BASE, BASE);
	gen_anchor(gen, begin_of(2 * OPS), begin_of(2 * OPS), begin_of(2 * OPS));
	place = gen_place(gen, 0, 1, 7);
	for (uint64_t i = 0; i < COPIES; i++) {
		add_copy(gen, place, begin_of(i), 10000000 + 7919 * i % 5000 * 1000 + 500);
	}
	add_copy(gen, place, begin_of(OPS), 10);
	gen_close(gen, "exit");
	process = streams_process(path);
	tracks_walk(&process, 1, NULL, &sink);
	ck_assert_uint_eq(counts.nr, 2 * (COPIES + 1));
	ck_assert_double_eq_tol(counts.most, COPY_BYTES / 10., 0.001);
	ck_assert_double_eq(counts.last, 0);
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/tracks", slices_of_a_large_stream_come_in_the_order_of_their_begins,
	all_but_the_ends_of_flows_are_taken_bare, every_copy_counts_however_many_run);
