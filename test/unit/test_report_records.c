/* SPDX-License-Identifier: Apache-2.0 */
/* Records of work on devices and the calls that launched them, as op_walk.h hands them out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/copy_kind.h"
#include "report/ops/op_walk.h"
#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

#define MOST 4096u

/* CLOCK_MONOTONIC is 1,000 ahead of ticks and 4,000 behind CUPTI's clock. */
#define TICK_NS(tick)  ((tick) + 1000u)
#define CUPTI_NS(tick) ((tick) + 5000u)

/* A record is known by its graph_node, a call by its begin. */
struct seen {
	struct op_record record;
	struct op_call call;
	bool has_call;
	uint32_t op; /* name, 0 none */
	unsigned int times;
};

static struct {
	struct seen records[MOST], calls[MOST];
	uint64_t last_end, last_begin;
	unsigned int nr_calls, nr_begins, nr_ends;
} all;

static void see_begin(void *context, struct process *process)
{
	(void)context;
	(void)process;
	all.nr_begins++;
	all.last_end = UINT64_MAX;
}

static void see_end(void *context, struct process *process, const struct phases *phases)
{
	(void)context;
	(void)process;
	(void)phases;
	all.nr_ends++;
}

static void see_call(void *context, const struct op_call *call, const struct op *op)
{
	struct seen *seen = &all.calls[call->begin % MOST];

	(void)context;
	ck_assert_uint_le(call->end, all.last_end);
	all.last_end = call->end;
	all.last_begin = call->begin;
	all.nr_calls++;
	seen->call = *call;
	seen->op = op ? op->name : 0;
	seen->times++;
}

static void see_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct seen *seen = &all.records[record->graph_node % MOST];

	(void)context;
	seen->record = *record;
	seen->has_call = call != NULL;
	if (call) {
		seen->call = *call;
		ck_assert_uint_le(call->end, all.last_end);
	}
	seen->op = op ? op->name : 0;
	seen->times++;
}

static void walk(const char *path, const struct op_view *view)
{
	struct process *process = streams_process(path);
	struct op_walk walks = {view, NULL};

	memset(&all, 0, sizeof(all));
	op_walk_run(&process, 1, &walks, 1);
	process_destroy(process);
}

static const struct op_view both = {
	.begin = see_begin, .call = see_call, .record = see_record, .end = see_end};
static const struct op_view records_alone = {.begin = see_begin, .record = see_record};
static const struct op_view calls_alone = {.begin = see_begin, .call = see_call};

static void end_group(struct gen *gen)
{
	gen_flush(gen);
	gen_row(gen, GPROF_TABLE_checkpoint);
	gen_flush(gen);
}

static void add_call(struct gen *gen, unsigned int table, uint32_t thread, uint64_t begin,
	uint64_t end, uint32_t correlation)
{
	struct gprof_row_api *call = gen_row(gen, table); /* all begin alike */

	call->begin = begin;
	call->dur = end;
	call->thread = thread;
	call->correlation = correlation;
	call->call = (uint16_t)(begin % 5);
	call->result = (int32_t)(begin % 3) - 1;
}

static void add_kernel(
	struct gen *gen, uint64_t begin, uint64_t end, uint32_t correlation, uint64_t node)
{
	struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

	kernel->begin = CUPTI_NS(begin);
	kernel->dur = CUPTI_NS(end);
	kernel->correlation = correlation;
	kernel->graph_node = node;
	kernel->place = 3;
	kernel->shape = 9;
}

static void add_copy(struct gen *gen)
{
	struct gprof_row_memcpy *copy = gen_row(gen, GPROF_TABLE_memcpy);

	copy->begin = CUPTI_NS(300);
	copy->dur = CUPTI_NS(340);
	copy->correlation = 12;
	copy->graph_node = 3;
	copy->bytes = 4096;
	copy->copy_kind = 1;
	copy->src_kind = 2;
	copy->dst_kind = 3;
	copy->flags = 1;
}

static void add_set(struct gen *gen)
{
	struct gprof_row_memset *set = gen_row(gen, GPROF_TABLE_memset);

	set->begin = set->dur = CUPTI_NS(350);
	set->correlation = 12;
	set->graph_node = 4;
	set->bytes = 64;
	set->memory_kind = 3;
}

static void add_untimed(struct gen *gen)
{
	struct gprof_row_untimed *untimed = gen_row(gen, GPROF_TABLE_untimed);

	untimed->correlation = 11;
	untimed->graph_node = 5;
	untimed->shape = 8;
	untimed->table = GPROF_TABLE_kernel;
}

/* No operator, no step: two calls with work, one without, and a kernel that nobody launched. */
static const char *plain(const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);

	gen_anchor(gen, 0, TICK_NS(0), CUPTI_NS(0));
	gen_anchor(gen, 10000, TICK_NS(10000), CUPTI_NS(10000));
	add_call(gen, GPROF_TABLE_api_launch, 1, 100, 110, 11);
	add_call(gen, GPROF_TABLE_api, 2, 115, 120, 12);
	add_call(gen, GPROF_TABLE_api_sync, 1, 130, 140, 13);
	add_kernel(gen, 150, 250, 11, 1);
	add_kernel(gen, 200, 260, 77, 2);
	add_kernel(gen, 260, 280, 0, 6);
	add_copy(gen);
	add_set(gen);
	add_untimed(gen);
	gen_close(gen, "exit");
	return path;
}

START_TEST(work_and_its_calls_without_operators)
{
	const struct op_record *copy;

	walk(plain("plain.gprof"), &both);
	ck_assert_uint_eq(all.nr_begins, 1);
	ck_assert_uint_eq(all.nr_ends, 1);
	ck_assert_uint_eq(all.nr_calls, 3);
	for (uint32_t i = 1; i <= 6; i++) {
		ck_assert_uint_eq(all.records[i].times, 1);
		ck_assert_uint_eq(all.records[i].op, 0);
		ck_assert_int_eq(all.records[i].has_call, i != 2 && i != 6);
	}
	ck_assert_uint_eq(all.records[1].call.begin, 100);
	ck_assert_uint_eq(all.records[1].call.table, GPROF_TABLE_api_launch);
	ck_assert_uint_eq(all.records[1].record.begin_ns, TICK_NS(150));
	ck_assert_uint_eq(all.records[1].record.end_ns, TICK_NS(250));
	ck_assert_uint_eq(all.records[1].record.shape, 9);
	ck_assert_uint_eq(all.records[1].record.place, 3);
	ck_assert_uint_eq(all.records[2].record.correlation, 77);
	copy = &all.records[3].record;
	ck_assert_uint_eq(copy->bytes, 4096);
	ck_assert_uint_eq(copy->copy, copy_pack(1, 2, 3) | COPY_IS_ASYNC);
	ck_assert_uint_eq(copy->table, GPROF_TABLE_memcpy);
	ck_assert_uint_eq(all.records[4].record.copy, COPY_IS_SET | copy_pack(0, 0, 3));
	ck_assert_uint_eq(all.records[4].call.begin, 115);
	ck_assert(all.records[4].record.is_timed);
	ck_assert(!all.records[5].record.is_timed);
	ck_assert_uint_eq(all.records[5].record.table, GPROF_TABLE_kernel);
	ck_assert_uint_eq(all.records[5].record.begin_ns, 0);
	ck_assert_uint_eq(all.records[5].call.begin, 100);
	ck_assert_int_eq(all.calls[130].call.result, 130 % 3 - 1);
	ck_assert_uint_eq(all.calls[130].call.table, GPROF_TABLE_api_sync);
	ck_assert_uint_eq(all.calls[115].call.correlation, 12);
}
END_TEST

START_TEST(either_is_had_without_the_other)
{
	const char *path = plain("either.gprof");

	walk(path, &records_alone);
	ck_assert_uint_eq(all.records[1].call.begin, 100);
	ck_assert_uint_eq(all.records[3].call.call, 115 % 5);
	ck_assert_uint_eq(all.records[6].times, 1);
	walk(path, &calls_alone);
	ck_assert_uint_eq(all.nr_calls, 3);
	ck_assert_uint_eq(all.records[1].times, 0);
}
END_TEST

/* Each of them is asked for. For the sanitizers: no room may be short by one. */
START_TEST(a_stream_of_nothing_but_calls_and_work)
{
	const char *path = plain("bare.gprof");
	size_t nr_bytes, nr_kept = sizeof(struct gprof_file_header);
	unsigned char *bytes = streams_read(path, &nr_bytes), *kept = malloc(nr_bytes);
	static const unsigned int tables[] = {GPROF_TABLE_api_launch, GPROF_TABLE_kernel};

	memcpy(kept, bytes, nr_kept);
	for (size_t i = 0; i < 2; i++) {
		size_t end, at = streams_block(bytes, nr_bytes, tables[i], &end);

		memcpy(kept + nr_kept, bytes + at, end - at);
		nr_kept += end - at;
	}
	streams_write(path, kept, nr_kept);
	walk(path, &both);
	ck_assert_uint_eq(all.nr_calls, 1);
	ck_assert_uint_eq(all.records[1].call.begin, 100);
	ck_assert_uint_eq(all.records[2].times, 1);
	free(bytes);
	free(kept);
}
END_TEST

/* Which the recorder does not do; they are counted all the same. */
START_TEST(work_that_was_written_long_before_its_call_has_none)
{
	const char *path = streams_path("early.gprof");
	struct gen *gen = gen_open(path);

	add_kernel(gen, 100, 110, 11, 1);
	add_kernel(gen, 110, 120, 11, 2);
	for (uint32_t i = 0; i < 4; i++) {
		add_call(gen, GPROF_TABLE_api, 1, 200 + i, 210 + i, 21 + i);
		end_group(gen);
	}
	add_call(gen, GPROF_TABLE_api, 1, 90, 300, 11);
	gen_close(gen, "exit");
	walk(path, &both);
	for (uint32_t i = 1; i <= 2; i++) {
		ck_assert_uint_eq(all.records[i].times, 1);
		ck_assert(!all.records[i].has_call);
	}
}
END_TEST

/* ---- at random, against a slow join ---- */

#define NR_GROUPS  12u
#define NR_THREADS 3u
#define GROUP_NS   300u
#define STEP_NS	   451u

struct made_op {
	uint64_t begin, end;
	uint32_t thread, name;
};

struct made_call {
	uint64_t begin, end;
	uint32_t thread, correlation;
	unsigned int table;
};

struct made_work {
	uint64_t begin;
	uint32_t correlation;
};

struct made {
	struct made_op ops[MOST];
	struct made_call calls[MOST];
	struct made_work works[MOST];
	uint32_t nr_ops, nr_calls, nr_activities;
	uint64_t seed;
};

static void make_op(struct made *made, struct gen *gen, uint32_t thread, uint64_t begin,
	uint64_t end, bool is_inner)
{
	struct gprof_row_op *op = gen_row(gen, GPROF_TABLE_op);
	char name[32];

	snprintf(name, sizeof(name), "op %u", made->nr_ops);
	op->begin = begin;
	op->dur = end;
	op->thread = op->end_thread = thread;
	op->op_name = gen_op_name(gen, name);
	op->depth = is_inner;
	made->ops[made->nr_ops++] =
		(struct made_op){begin, end, thread, string_pool_intern(name, strlen(name))};
}

static void make_call(struct made *made, struct gen *gen, uint32_t thread, uint64_t begin)
{
	struct made_call *call = &made->calls[made->nr_calls++];

	*call = (struct made_call){begin, begin + 3, thread,
		unit_random(&made->seed) % 8 ? made->nr_calls + 100 : 0,
		GPROF_TABLE_api + (unsigned int)(unit_random(&made->seed) % 6)};
	add_call(gen, call->table, thread, call->begin, call->end, call->correlation);
}

static void make_work(struct made *made, struct gen *gen, uint64_t begin, uint32_t correlation)
{
	made->works[made->nr_activities] = (struct made_work){begin, correlation};
	add_kernel(gen, begin, begin + 50, correlation, made->nr_activities++);
}

/* A thread of a group: pairs of operators, one in the other, with calls before, in and between. */
static void make_thread(struct made *made, struct gen *gen, uint32_t thread, uint64_t from)
{
	for (uint64_t at = from; at < from + GROUP_NS; at += 100) {
		make_call(made, gen, thread, at + thread);
		if (unit_random(&made->seed) % 3) {
			make_call(made, gen, thread, at + 10 + thread);
			make_call(made, gen, thread, at + 30 + thread);
			make_op(made, gen, thread, at + 25, at + 50, true);
			make_op(made, gen, thread, at + 6, at + 90, false);
		}
	}
}

/* Work of calls up to those of the group to come; some has no call, some many of one. */
static void make_works(struct made *made, struct gen *gen, uint32_t from, uint64_t tick)
{
	for (uint32_t i = from; i < made->nr_calls; i++) {
		uint32_t nr = (uint32_t)(unit_random(&made->seed) % 4);

		for (uint32_t k = 0; k < nr; k++) {
			make_work(made, gen, tick + i % 50, made->calls[i].correlation);
		}
	}
	make_work(made, gen, tick, 50000 + made->nr_activities);
}

static const char *make_all(struct made *made, const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);
	uint32_t late = 0; /* calls from here on have had no work written */

	for (uint32_t group = 0; group < NR_GROUPS; group++) {
		for (uint32_t thread = 1; thread <= NR_THREADS; thread++) {
			make_thread(made, gen, thread, group * GROUP_NS);
		}
		if (unit_random(&made->seed) % 2) { /* with the calls, else a group or more later */
			make_works(made, gen, late, group * GROUP_NS + 40);
			late = made->nr_calls;
		}
		end_group(gen);
	}
	for (uint64_t tick = 0; tick < NR_GROUPS * GROUP_NS; tick += STEP_NS) {
		struct gprof_row_step *step = gen_row(gen, GPROF_TABLE_step);

		step->time = tick;
		step->step = tick / STEP_NS;
	}
	gen_anchor(gen, 0, TICK_NS(0), CUPTI_NS(0));
	gen_anchor(gen, 10000, TICK_NS(10000), CUPTI_NS(10000));
	gen_close(gen, "exit");
	return path;
}

static uint32_t slow_op(const struct made *made, const struct made_call *call)
{
	const struct made_op *best = NULL;

	for (uint32_t i = 0; i < made->nr_ops; i++) {
		const struct made_op *op = &made->ops[i];

		if (op->thread == call->thread && op->begin <= call->begin &&
			op->end >= call->end && (!best || op->begin > best->begin)) {
			best = op;
		}
	}
	return best ? best->name : 0;
}

static const struct made_call *slow_call(const struct made *made, uint32_t correlation)
{
	for (uint32_t i = 0; correlation && i < made->nr_calls; i++) {
		if (made->calls[i].correlation == correlation) {
			return &made->calls[i];
		}
	}
	return NULL;
}

static void check_work(const struct made *made, uint32_t number)
{
	const struct made_work *work = &made->works[number];
	const struct made_call *call = slow_call(made, work->correlation);
	const struct seen *seen = &all.records[number];

	ck_assert_uint_eq(seen->times, 1);
	ck_assert_uint_eq(seen->record.begin_ns, TICK_NS(work->begin));
	ck_assert_int_eq(seen->has_call, call != NULL);
	if (call) {
		ck_assert_uint_eq(seen->call.begin, call->begin);
		ck_assert_uint_eq(seen->call.end, call->end);
		ck_assert_uint_eq(seen->call.thread, call->thread);
		ck_assert_uint_eq(seen->call.step, call->begin / STEP_NS + 1);
		ck_assert_uint_eq(seen->op, slow_op(made, call));
	}
}

START_TEST(any_records_are_joined_as_a_slow_join_does)
{
	static struct made made;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		made = (struct made){.seed = seed * 7919};
		walk(make_all(&made, "random.gprof"), &both);
		ck_assert_uint_gt(made.nr_activities, 20);
		ck_assert_uint_eq(all.nr_calls, made.nr_calls);
		for (uint32_t i = 0; i < made.nr_activities; i++) {
			check_work(&made, i);
		}
		for (uint32_t i = 0; i < made.nr_calls; i++) {
			const struct made_call *call = &made.calls[i];
			const struct seen *seen = &all.calls[call->begin % MOST];

			ck_assert_uint_eq(seen->times, 1);
			ck_assert_uint_eq(seen->op, slow_op(&made, call));
			ck_assert_uint_eq(seen->call.table, call->table);
		}
	}
}
END_TEST

UNIT_SUITE("records", work_and_its_calls_without_operators, either_is_had_without_the_other,
	a_stream_of_nothing_but_calls_and_work, work_that_was_written_long_before_its_call_has_none,
	any_records_are_joined_as_a_slow_join_does)
