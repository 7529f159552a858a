/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/op_loop.h"

#include "report/ops/op.h"

/* Blocks that are looked at. */
#define MOST_BLOCKS 256u

struct score {
	uint32_t thread;
	uint64_t nr_marks, nr_works, nr_deep_works;
};

/* The class that rows of a name had last: few come again and again. */
struct recent_calls {
	uint64_t op_name_id, string;
	uint64_t kind; /* framework and scope, plus 1 */
	enum op_class class;
};

#define NR_RECENT 256u

static enum op_class class_of(struct recent_calls *recent, const struct process *process,
	const struct batch *b, uint32_t i)
{
	uint64_t op_name_id = b->col[COL_op_op_name][i], string = b->col[COL_op_name][i];
	uint8_t framework = (uint8_t)b->col[COL_op_framework][i];
	uint8_t scope = (uint8_t)b->col[COL_op_scope][i];
	uint64_t kind = ((uint64_t)framework << 8 | scope) + 1;

	recent += (op_name_id + string) % NR_RECENT;
	if (recent->op_name_id != op_name_id || recent->string != string || recent->kind != kind) {
		*recent = (struct recent_calls){op_name_id, string, kind,
			op_class(op_name(process, op_name_id, string), framework, scope)};
	}
	return recent->class;
}

static void add_score(struct idmap *scores, struct recent_calls *recent, struct process *process,
	const struct batch *b)
{
	struct score *score = NULL; /* of the thread at hand: its rows stand together */

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t thread = (uint32_t)b->col[COL_op_thread][i];
		enum op_class class = class_of(recent, process, b, i);

		if (!score || score->thread != thread) {
			score = idmap_put(scores, thread);
			score->thread = thread;
		}
		if (class == OP_OTHER) {
			score->nr_works += !b->col[COL_op_depth][i];
			score->nr_deep_works++;
		} else {
			score->nr_marks += class == OP_DATALOADER || class == OP_OPTIMIZATION ||
					   class == OP_CLEARING || class == OP_FORWARD;
		}
	}
}

/* Where a range of the user is around all, no operator is outside of all others. */
static bool is_more(const struct score *score, const struct score *best)
{
	if (score->nr_marks != best->nr_marks) {
		return score->nr_marks > best->nr_marks;
	}
	if (score->nr_works != best->nr_works) {
		return score->nr_works > best->nr_works;
	}
	return score->nr_deep_works > best->nr_deep_works;
}

/* The first blocks of operators; of those that are damaged, as many more. */
static void add_blocks(struct idmap *scores, struct process *process)
{
	static const uint32_t mask = COL_BIT(COL_op_thread) | COL_BIT(COL_op_op_name) |
				     COL_BIT(COL_op_name) | COL_BIT(COL_op_framework) |
				     COL_BIT(COL_op_scope) | COL_BIT(COL_op_depth);
	struct stream *stream = process->stream;
	struct stream_request requests[MOST_BLOCKS];
	struct recent_calls recent[NR_RECENT] = {0};
	size_t nr_blocks = 0, nr_requests = 0;

	for (size_t i = 0; i < stream->nr_blocks && nr_requests < MOST_BLOCKS; i++) {
		if (stream_block_table(stream, i) == GPROF_TABLE_op) {
			requests[nr_requests++] =
				(struct stream_request){.stream = stream, .block = i, .mask = mask};
		}
	}
	stream_expect(requests, nr_requests);
	for (size_t i = 0; i < stream->nr_blocks && nr_blocks < MOST_BLOCKS; i++) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_op &&
			!stream_load(stream, i, mask, 0, &batch)) {
			add_score(scores, recent, process, &batch);
			nr_blocks++;
		}
	}
}

uint32_t op_loop_thread(struct process *process)
{
	struct score best = {0};
	struct idmap scores;

	idmap_init(&scores, sizeof(struct score));
	add_blocks(&scores, process);
	for (size_t i = 0; i < scores.nr; i++) {
		const struct score *score = idmap_at(&scores, i);

		if (is_more(score, &best)) {
			best = *score;
		}
	}
	idmap_fini(&scores);
	return best.thread;
}
