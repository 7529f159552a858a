/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/select_nvtx.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/hash.h"
#include "report/model/range_walk.h"
#include "report/model/select.h"

#define MASK                                                                           \
	(COL_BIT(COL_nvtx_time) | COL_BIT(COL_nvtx_thread) | COL_BIT(COL_nvtx_range) | \
		COL_BIT(COL_nvtx_domain) | COL_BIT(COL_nvtx_op))

/* The end of a started range, by its id. */
struct end_row {
	uint64_t range, row;
	UT_hash_handle hh;
};

struct read {
	const struct process *process;
	uint64_t **kept;
	struct range_walk pushed; /* the mark's tick is the row of the pop */
	struct end_row *ends;
};

/* A row of the stream in one number. */
static uint64_t row_number(const struct batch *b, uint32_t i)
{
	return (uint64_t)b->block << 16 | i;
}

_Static_assert(GPROF_BLOCK_ROWS <= 1u << 16, "row_number");

static void keep(struct read *read, uint64_t row)
{
	uint64_t **bits = &read->kept[row >> 16];
	uint32_t i = row & 0xffffu;

	if (!*bits) {
		*bits = mem_zeroed(GPROF_BLOCK_ROWS / 64, sizeof(**bits));
	}
	(*bits)[i / 64] |= 1ull << (i % 64);
}

static void take_end(struct read *read, uint64_t range, uint64_t row)
{
	struct end_row *end;

	HASH_FIND(hh, read->ends, &range, sizeof(range), end);
	if (!end) {
		end = mem_zeroed(1, sizeof(*end));
		end->range = range;
		HASH_ADD(hh, read->ends, range, sizeof(end->range), end);
	}
	end->row = row;
}

static void take_start(struct read *read, uint64_t range, bool is_chosen)
{
	struct end_row *end;

	HASH_FIND(hh, read->ends, &range, sizeof(range), end);
	if (end && is_chosen) {
		keep(read, end->row);
	}
	if (end) {
		HASH_DEL(read->ends, end);
		free(end);
	}
}

static void take_row(struct read *read, const struct batch *b, uint32_t i)
{
	uint32_t thread = (uint32_t)b->col[COL_nvtx_thread][i];
	uint32_t domain = (uint32_t)b->col[COL_nvtx_domain][i];
	bool is_chosen = select_has_tick(read->process, b->col[COL_nvtx_time][i]);
	struct range_mark pop = {.tick = row_number(b, i)};

	switch (b->col[COL_nvtx_op][i]) {
	case GPROF_NVTX_POP:
		range_walk_pop(&read->pushed, thread, domain, &pop);
		return;
	case GPROF_NVTX_END:
		take_end(read, b->col[COL_nvtx_range][i], row_number(b, i));
		return;
	case GPROF_NVTX_PUSH:
		if (range_walk_push(&read->pushed, thread, domain, &pop) && is_chosen) {
			keep(read, pop.tick);
		}
		break;
	case GPROF_NVTX_START:
		take_start(read, b->col[COL_nvtx_range][i], is_chosen);
		break;
	case GPROF_NVTX_MARK:
		break;
	default: /* a name */
		is_chosen = true;
		break;
	}
	if (is_chosen) {
		keep(read, row_number(b, i));
	}
}

/* Backwards: an end comes before its begin, which says whether both are chosen. */
uint64_t **select_nvtx_read(struct process *process)
{
	struct stream *stream = process->stream;
	struct read read = {
		.process = process, .kept = mem_zeroed(stream->nr_blocks + 1, sizeof(*read.kept))};

	for (size_t block = stream->nr_blocks; block-- > 0;) {
		struct batch batch;

		if (stream_block_table(stream, block) != GPROF_TABLE_nvtx ||
			stream_load(stream, block, MASK, 0, &batch)) {
			continue;
		}
		for (uint32_t i = batch.nr_rows; i-- > 0;) {
			take_row(&read, &batch, i);
		}
	}
	range_walk_fini(&read.pushed);
	hash_free(read.ends);
	return read.kept;
}

void select_nvtx_destroy(uint64_t **kept, size_t nr_blocks)
{
	for (size_t i = 0; kept && i < nr_blocks; i++) {
		free(kept[i]);
	}
	free(kept);
}
