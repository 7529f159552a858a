/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the training loop by its marks: the names of operators. common_options.c moves the first
 * step to the loop's start before any view runs; op_walk.c and step_events.c ask for the thread.
 * Only the first blocks are scored, as a loop shows itself early. The answers are kept in the
 * process, since many ask.
 *
 *   recording      |..............|-- step 1 --|-- step 2 --|
 *   rows of steps  ^ row 0                     ^ row 1      ^ row 2
 *   program        builds a model ^ first batch: the first step begins here
 */
#include "report/ops/loop.h"

#include <stdlib.h>

#include "report/ops/op.h"

/* ---- its thread ---- */

/* The number of blocks that are examined, and of those that are announced together. */
#define MAX_BLOCKS     256u
#define BLOCKS_AT_ONCE 16u

/* Further blocks are not read once a thread has so many marks, and twice those of any other. */
#define MANY_MARKS 64u

struct score {
	uint32_t thread;
	uint64_t nr_marks, nr_outer_ops, nr_inner_ops, nr_calls;
};

/* A cache of the classes of recent names, as few recur often. */
struct recent_class {
	uint64_t op_name_id, string;
	uint64_t kind; /* framework and scope, plus 1 */
	enum op_class class;
};

#define NR_RECENT 256u

static enum op_class class_of(struct recent_class *recent, const struct process *process,
	const struct batch *b, uint32_t i)
{
	uint64_t op_name_id = b->col[COL_op_op_name][i], string = b->col[COL_op_name][i];
	uint8_t framework = (uint8_t)b->col[COL_op_framework][i];
	uint8_t scope = (uint8_t)b->col[COL_op_scope][i];
	uint64_t kind = ((uint64_t)framework << 8 | scope) + 1;

	recent += (op_name_id + string) % NR_RECENT;
	if (recent->op_name_id != op_name_id || recent->string != string || recent->kind != kind) {
		*recent = (struct recent_class){op_name_id, string, kind,
			op_class(op_name(process, op_name_id, string), framework, scope)};
	}
	return recent->class;
}

/*
 * Marks are ranges of loaders, optimizers, clearing, and Paddle's Forward; Backward is none, since
 * autograd has threads of its own.
 */
static void add_ops(struct idmap *scores, struct recent_class *recent, struct process *process,
	const struct batch *b)
{
	struct score *score = NULL; /* of the current thread, as its rows are adjacent */

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t thread = (uint32_t)b->col[COL_op_thread][i];
		enum op_class class = class_of(recent, process, b, i);

		if (!score || score->thread != thread) {
			score = idmap_put(scores, thread);
			score->thread = thread;
		}
		if (class == OP_OTHER) {
			score->nr_outer_ops += !b->col[COL_op_depth][i];
			score->nr_inner_ops++;
		} else {
			score->nr_marks += class == OP_DATALOADER || class == OP_OPTIMIZATION ||
					   class == OP_CLEARING || class == OP_FORWARD;
		}
	}
}

/* If a user's range encloses all, no operator is outermost. */
static bool is_more(const struct score *score, const struct score *best)
{
	if (score->nr_marks != best->nr_marks) {
		return score->nr_marks > best->nr_marks;
	}
	if (score->nr_outer_ops != best->nr_outer_ops) {
		return score->nr_outer_ops > best->nr_outer_ops;
	}
	if (score->nr_inner_ops != best->nr_inner_ops) {
		return score->nr_inner_ops > best->nr_inner_ops;
	}
	return score->nr_calls > best->nr_calls;
}

static void add_calls(struct idmap *scores, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t thread = (uint32_t)b->col[COL_api_thread][i];
		struct score *score = idmap_put(scores, thread);

		score->thread = thread;
		score->nr_calls++;
	}
}

/* Does one thread have so many marks that further blocks will not name another one? */
static bool is_clear(const struct idmap *scores)
{
	uint64_t most = 0, second = 0;

	for (size_t i = 0; i < scores->nr; i++) {
		uint64_t nr_marks = ((const struct score *)idmap_at(scores, i))->nr_marks;

		if (nr_marks > most) {
			second = most;
			most = nr_marks;
		} else if (nr_marks > second) {
			second = nr_marks;
		}
	}
	return most >= MANY_MARKS && most >= 2 * second;
}

/* Announces the next blocks of the table from `from` on. */
static void expect(const struct stream *stream, unsigned int table, uint32_t mask, size_t from)
{
	struct stream_request requests[BLOCKS_AT_ONCE];
	size_t nr = 0;

	for (size_t i = from; i < stream->nr_blocks && nr < BLOCKS_AT_ONCE; i++) {
		if (stream_block_table(stream, i) == table) {
			requests[nr++] =
				(struct stream_request){.stream = stream, .block = i, .mask = mask};
		}
	}
	stream_expect(requests, nr);
}

/* The first blocks of a table that has threads; for damaged ones further blocks. */
static void add_blocks(
	struct idmap *scores, struct process *process, unsigned int table, uint32_t mask)
{
	struct stream *stream = process->stream;
	struct recent_class recent[NR_RECENT] = {0};
	size_t nr_blocks = 0, nr_loaded = 0;

	for (size_t i = 0; i < stream->nr_blocks && nr_blocks < MAX_BLOCKS; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) != table) {
			continue;
		}
		if (nr_loaded++ % BLOCKS_AT_ONCE == 0) {
			expect(stream, table, mask, i);
		}
		if (stream_load(stream, i, mask, 0, &batch)) {
			continue;
		}
		nr_blocks++;
		if (table != GPROF_TABLE_op) {
			add_calls(scores, &batch);
			continue;
		}
		add_ops(scores, recent, process, &batch);
		if (is_clear(scores)) {
			return;
		}
	}
}

/*
 * Launches count only in processes without operators, and other calls only without launches: those
 * that CUPTI alone sees, as of a static runtime, are all in one table.
 */
static uint32_t find_thread(struct process *process)
{
	static const uint32_t op_mask = COLS(op, thread, op_name, name, framework, scope, depth);
	struct score best = {0};
	struct idmap scores;

	idmap_init(&scores, sizeof(struct score));
	add_blocks(&scores, process, GPROF_TABLE_op, op_mask);
	if (!scores.nr) {
		add_blocks(&scores, process, GPROF_TABLE_api_launch, COLS(api, thread));
		add_blocks(&scores, process, GPROF_TABLE_api_copy, COLS(api, thread));
	}
	if (!scores.nr) {
		add_blocks(&scores, process, GPROF_TABLE_api, COLS(api, thread));
	}
	for (size_t i = 0; i < scores.nr; i++) {
		const struct score *score = idmap_at(&scores, i);

		if (is_more(score, &best)) {
			best = *score;
		}
	}
	idmap_fini(&scores);
	return best.thread;
}

uint32_t loop_thread(struct process *process)
{
	if (!process->has_loop_thread) {
		process->loop_thread = find_thread(process);
		process->has_loop_thread = true;
	}
	return process->loop_thread;
}

uint32_t loop_step_thread(struct process *process, size_t place)
{
	uint8_t ended_by = place + 1 < process->nr_steps ? process->steps[place + 1].how : 0;
	uint32_t thread = process->steps[place].thread;

	if (ended_by == GPROF_STEP_PERIOD || ended_by == GPROF_STEP_KERNEL ||
		ended_by == GPROF_STEP_INTERVAL) {
		uint32_t loop = loop_thread(process);

		return loop ? loop : thread;
	}
	return thread;
}

/* ---- its begin ---- */

/* The earliest begins in the first step, UINT64_MAX without any. */
struct first {
	uint64_t batch_or_step; /* of a loader, an optimizer, or Paddle's Forward */
	uint64_t clearing, backward, other;
};

/*
 * An operator that ended on another thread shows no order, and a user's range has no class: both
 * are passed over. Backward counts on any thread.
 */
static void add_begins(struct first *first, struct recent_class *recent, struct process *process,
	const struct batch *b, uint32_t thread)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_op_begin][i], *to = &first->other;
		uint64_t thread_of = b->col[COL_op_thread][i],
			 end_thread = b->col[COL_op_end_thread][i];
		enum op_class class = class_of(recent, process, b, i);

		if (end_thread && end_thread != thread_of) {
			continue;
		}
		if (op_class_is_backward(class)) {
			to = &first->backward;
		} else if (thread_of != thread || class == OP_RANGE) {
			continue;
		} else if (class != OP_OTHER) {
			to = class == OP_CLEARING ? &first->clearing : &first->batch_or_step;
		}
		*to = begin < *to ? begin : *to;
	}
}

static struct first find_first(struct process *process)
{
	static const uint32_t mask =
		COLS(op, begin, thread, end_thread, op_name, name, framework, scope);
	struct first first = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	struct recent_class recent[NR_RECENT] = {0};
	struct stream *stream = process->stream;
	uint32_t thread = loop_thread(process);

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_op &&
			stream->blocks[i].time_min < process->steps[1].tick &&
			!stream_load(stream, i, mask, 0, &batch)) {
			add_begins(&first, recent, process, &batch, thread);
		}
	}
	return first;
}

/*
 * Operators before the first batch set up; those before a Backward may be its Forward, or set up as
 * well.
 */
static uint64_t find_begin(struct process *process)
{
	struct first first = find_first(process);

	if (first.clearing < first.batch_or_step && first.clearing < first.backward &&
		(first.clearing < first.other || first.batch_or_step < first.backward)) {
		return first.clearing;
	}
	return first.batch_or_step < first.backward ? first.batch_or_step : UINT64_MAX;
}

uint64_t loop_begin(struct process *process)
{
	const struct model_step *steps = process->steps;

	if (!process->has_loop_begin) {
		process->has_loop_begin = true;
		process->loop_begin = UINT64_MAX;
		if (process->nr_steps > 1 && steps[0].how != MODEL_STEP_TRACE &&
			op_has_any(process)) {
			uint64_t begin = find_begin(process);

			process->loop_begin = begin < steps[1].tick ? begin : UINT64_MAX;
		}
	}
	return process->loop_begin;
}

void loop_begin_steps(struct process *process)
{
	uint64_t begin = loop_begin(process);

	if (begin != UINT64_MAX && begin > process->steps[0].tick) {
		process->first_row_tick = process->steps[0].tick;
		process->steps[0].tick = begin;
	}
}
