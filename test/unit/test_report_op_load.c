/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the host from the last to the first, with one thread and with more. */
#include "report/ops/op_load.h"

#include <stdlib.h>
#include <string.h>

#include "report/stream/prefetch.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define NR_GROUPS    12u
#define GROUP_OPS    400u /* of a thread */
#define NR_THREADS   3u
#define NR_OPS	     (NR_GROUPS * GROUP_OPS * NR_THREADS)
#define NR_WORKS     (NR_OPS / 4u)
#define UNKNOWN_NAME 999u
#define UNKNOWN_TEXT 888u

struct loaded {
	struct op_event *events;
	size_t nr;
};

static void take(void *context, const struct op_event *event)
{
	struct loaded *loaded = context;

	ck_assert_uint_lt(loaded->nr, NR_OPS + NR_WORKS);
	loaded->events[loaded->nr++] = *event;
}

static uint64_t tick(uint32_t group, uint32_t nr)
{
	return 1000000ull * (group + 1) + 1000ull * nr;
}

/* Every fourth launches; of some the stream does not have the name. Stacks tell them apart. */
static void add_op(
	struct gen *gen, const uint32_t *names, uint32_t group, uint32_t nr, uint32_t thread)
{
	struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);

	op->begin = tick(group, nr) - (nr % 7) * 3000;
	op->dur = tick(group, nr) + thread % 2; /* two threads end at the same time */
	op->thread = op->end_thread = thread;
	op->op_name = nr % 50 == 3 ? UNKNOWN_NAME : nr % 50 == 4 ? 0 : names[nr % 3];
	op->name = nr % 50 == 4 ? UNKNOWN_TEXT : 0;
	op->py_stack = (group * GROUP_OPS + nr) * NR_THREADS + thread;
}

static void add_launch(
	struct gen *gen, uint32_t group, uint32_t nr, uint32_t thread, uint32_t correlation)
{
	struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);

	call->begin = tick(group, nr) - 500;
	call->dur = tick(group, nr) - 100;
	call->thread = thread;
	call->correlation = correlation;
}

static void add_kernel(struct gen *gen, uint32_t group, uint32_t nr, uint32_t correlation)
{
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	kernel->begin = tick(group, nr) + 5000;
	kernel->dur = kernel->begin + correlation;
	kernel->correlation = correlation;
}

/* The last thread's rows are written a group late, and so is all work. */
static void add_group(struct gen *gen, const uint32_t *names, uint32_t group, bool has_checkpoint)
{
	for (uint32_t thread = 1; thread <= NR_THREADS; thread++) {
		uint32_t of = group - (thread == NR_THREADS);

		for (uint32_t nr = 0; of < NR_GROUPS && nr < GROUP_OPS; nr++) {
			uint32_t correlation = 1 + (of * GROUP_OPS + nr) * NR_THREADS + thread;

			if (nr % 4 == 1) {
				add_launch(gen, of, nr, thread, correlation);
			}
			add_op(gen, names, of, nr, thread);
		}
		for (uint32_t nr = 1; group && nr < GROUP_OPS; nr += 4) {
			add_kernel(gen, group - 1, nr,
				1 + ((group - 1) * GROUP_OPS + nr) * NR_THREADS + thread);
		}
	}
	gen_flush(gen);
	if (has_checkpoint) {
		(void)gen_row(gen, GPROF_TABLE_checkpoint);
		gen_flush(gen);
	}
}

static const char *make_stream(bool has_checkpoints)
{
	const char *path = streams_path("groups.gprof");
	struct gen *gen = gen_open(path);
	uint32_t names[3];

	gen_anchor(gen, 0, 0, 0);
	names[0] = gen_op_name(gen, "aten::mm");
	names[1] = gen_op_name(gen, "aten::relu");
	names[2] = gen_op_name(gen, "aten::add");
	for (uint32_t group = 0; group <= NR_GROUPS; group++) {
		add_group(gen, names, group, has_checkpoints);
	}
	gen_close(gen, "exit");
	return path;
}

static void load(struct loaded *loaded, unsigned int nr_threads)
{
	const struct op_load_want want = {0};
	struct process *process;

	prefetch_set_threads(nr_threads);
	process = streams_process(make_stream(true));
	*loaded = (struct loaded){calloc(NR_OPS + NR_WORKS, sizeof(struct op_event)), 0};
	op_load_run(process, &want, take, loaded);
	process_destroy(process);
}

static uint32_t name(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

/* All rows once, by falling ends, named and with their work. */
static void check(const struct loaded *loaded)
{
	uint64_t nr_activities = 0, nr_wrong = 0;
	bool *seen = calloc(NR_OPS + NR_THREADS + 1, sizeof(*seen));

	ck_assert_uint_eq(loaded->nr, NR_OPS + NR_WORKS);
	for (size_t i = 0; i < loaded->nr; i++) {
		const struct op_event *event = &loaded->events[i];
		uint32_t nr;

		nr_wrong += i && event->end > event[-1].end;
		if (event->kind == OP_EVENT_CALL) {
			nr_activities +=
				event->nr_activities == 1 && event->value == event->correlation;
			continue;
		}
		nr = (event->py_stack - event->thread) / NR_THREADS % GROUP_OPS;
		nr_wrong += seen[event->py_stack] || event->is_unnamed;
		seen[event->py_stack] = true;
		nr_wrong += nr % 50 == 3 && event->name != name("(unknown text 4294967295)");
		nr_wrong += nr % 50 == 4 && event->name != name("(unknown text 888)");
		nr_wrong += nr % 50 == 6 && event->name != name("aten::mm") &&
			    event->name != name("aten::relu") && event->name != name("aten::add");
	}
	ck_assert_uint_eq(nr_wrong, 0);
	ck_assert_uint_eq(nr_activities, NR_WORKS);
	free(seen);
}

START_TEST(rows_come_from_the_last_to_the_first)
{
	struct loaded loaded;

	load(&loaded, 1);
	check(&loaded);
	free(loaded.events);
}
END_TEST

START_TEST(with_a_thread_that_loads_they_are_the_same)
{
	struct loaded alone, beside;

	load(&alone, 1);
	for (unsigned int nr_threads = 2; nr_threads < 5; nr_threads++) {
		load(&beside, nr_threads);
		check(&beside);
		for (size_t i = 0; i < alone.nr; i++) {
			const struct op_event *a = &alone.events[i], *b = &beside.events[i];

			ck_assert(a->begin == b->begin && a->thread == b->thread &&
				  a->kind == b->kind && a->value == b->value &&
				  a->py_stack == b->py_stack && a->name == b->name);
		}
		free(beside.events);
	}
	free(alone.events);
}
END_TEST

/* A stream that has no checkpoints comes in pieces all the same, and none waits for all work. */
START_TEST(without_checkpoints_rows_are_cut)
{
	struct process *process = streams_process(make_stream(false));
	struct op_load_want want = {.group_rows = 2000};
	struct op_groups groups = {0};

	op_groups_find(&groups, process, 1ull << GPROF_TABLE_op | 1ull << GPROF_TABLE_api_launch,
		want.group_rows);
	ck_assert_uint_ge(groups.nr, NR_GROUPS);
	for (size_t i = 0; i < groups.nr; i++) {
		ck_assert_uint_le(groups.items[i].activities_from, i);
		ck_assert_uint_ge(groups.items[i].activities_from + 4, i);
	}
	op_groups_fini(&groups);
	for (unsigned int nr_threads = 1; nr_threads < 3; nr_threads++) {
		struct loaded loaded = {calloc(NR_OPS + NR_WORKS, sizeof(struct op_event)), 0};

		prefetch_set_threads(nr_threads);
		op_load_run(process, &want, take, &loaded);
		check(&loaded);
		free(loaded.events);
	}
	process_destroy(process);
}
END_TEST

UNIT_SUITE("report/op_load", rows_come_from_the_last_to_the_first,
	with_a_thread_that_loads_they_are_the_same, without_checkpoints_rows_are_cut)
