/* SPDX-License-Identifier: Apache-2.0 */
#include "report/comm/nccl_match.h"

#include <stdlib.h>

#include "report/util/buf.h"

struct found {
	uint32_t *lengths; /* of collectives of all ranks with times, where they begin; else 0 */
	uint32_t *ends;	   /* of those of some ranks, too, as nccl_clock.h wants them */
	struct nccl_pairs pairs;
	struct nccl_clocks clocks;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_sequence(const void *a, const void *b)
{
	const struct nccl_op *x = a, *y = b;
	int order = compare(!nccl_op_is_numbered(x), !nccl_op_is_numbered(y));

	order = order ? order : compare(x->key, y->key);
	order = order ? order : compare(x->sequence, y->sequence);
	order = order ? order : compare((uint32_t)x->rank, (uint32_t)y->rank);
	return order ? order : compare(x->process, y->process);
}

/* Ranks may put calls together as they like; then their sizes say nothing. */
static bool is_same(const struct nccl_op *a, const struct nccl_op *b)
{
	if (a->nr_calls != b->nr_calls) {
		return true;
	}
	return a->kind == b->kind && a->peer == b->peer && a->bytes == b->bytes;
}

static bool do_same(const struct nccl_op *ops, size_t nr, struct nccl_match *match)
{
	for (size_t i = 1; i < nr; i++) {
		if (!is_same(&ops[0], &ops[i])) {
			if (!match->nr_differing++) {
				match->differing[0] = &ops[0];
				match->differing[1] = &ops[i];
			}
			return false;
		}
	}
	return true;
}

/* Each rank once, and all of the same calls. */
static bool is_whole(const struct nccl_op *ops, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (ops[i].rank != (int32_t)i || ops[i].nr_ranks != nr ||
			ops[i].nr_calls != ops[0].nr_calls) {
			return false;
		}
	}
	return true;
}

static bool has_times(const struct nccl_op *ops, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!nccl_op_has_time(&ops[i])) {
			return false;
		}
	}
	return true;
}

static bool has_one_clock(const struct nccl_clocks *clocks, const struct nccl_op *ops, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (!nccl_clocks_share(clocks, &ops[0], &ops[i])) {
			return false;
		}
	}
	return true;
}

static void set_times(struct nccl_op *ops, size_t nr)
{
	struct nccl_op *last = &ops[0];
	uint64_t end_ns = 0;

	for (size_t i = 0; i < nr; i++) {
		last = ops[i].begin_ns > last->begin_ns ? &ops[i] : last;
		end_ns = ops[i].end_ns > end_ns ? ops[i].end_ns : end_ns;
	}
	for (size_t i = 0; i < nr; i++) {
		uint64_t until = ops[i].end_ns < last->begin_ns ? ops[i].end_ns : last->begin_ns;

		ops[i].is_matched = true;
		ops[i].wait_ns = until - ops[i].begin_ns;
		last->caused_ns += ops[i].wait_ns;
	}
	last->is_last = true;
	last->transfer_ns = end_ns - last->begin_ns;
}

/* How many operations from `at` on have the number of the first. */
static size_t length_at(const struct nccl_ops *ops, size_t at)
{
	const struct nccl_op *first = &ops->ops[at];
	size_t nr = 1;

	while (at + nr < ops->nr_ops && nccl_op_is_numbered(&first[nr]) &&
		first[nr].key == first->key && first[nr].sequence == first->sequence) {
		nr++;
	}
	return nr;
}

/* Some of the ranks, each once: what they did together tells of their clocks nevertheless. */
static bool is_part(const struct nccl_op *ops, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		if (ops[i].rank <= ops[i - 1].rank || ops[i].nr_ranks != ops[0].nr_ranks ||
			ops[i].nr_calls != ops[0].nr_calls) {
			return false;
		}
	}
	return ops[0].rank >= 0;
}

/* Sorts out what cannot be compared. */
static void find_whole(struct nccl_ops *ops, struct nccl_match *match, struct found *found)
{
	for (size_t at = 0, nr; at < ops->nr_ops && nccl_op_is_numbered(&ops->ops[at]); at += nr) {
		struct nccl_op *first = &ops->ops[at];

		nr = length_at(ops, at);
		match->nr_collectives++;
		if (!do_same(first, nr, match)) {
			continue; /* counted */
		}
		if (is_part(first, nr) && has_times(first, nr)) {
			found->ends[at] = (uint32_t)nr;
		}
		if (!is_whole(first, nr)) {
			match->nr_missing++;
		} else if (!has_times(first, nr)) {
			match->nr_untimed++;
		} else {
			found->lengths[at] = (uint32_t)nr;
		}
	}
}

/* Times of clocks that are not known stay as they are. Durations stay as measured. */
static void convert(
	struct nccl_ops *ops, const struct nccl_clocks *clocks, struct nccl_match *match)
{
	for (size_t i = 0; i < ops->nr_ops; i++) {
		struct nccl_op *op = &ops->ops[i];
		const struct nccl_clock *clock = &clocks->clocks[op->clock];
		uint64_t ns = op->end_ns - op->begin_ns;

		if (clock->is_known && nccl_op_has_time(op)) {
			op->begin_ns = nccl_clock_time(clock, op->begin_ns);
			op->end_ns = op->begin_ns + ns;
		}
	}
	for (size_t i = 0; i < clocks->nr; i++) {
		const struct nccl_clock *clock = &clocks->clocks[i];

		match->nr_fitted += clock->is_known;
		match->error_ns =
			clock->error_ns > match->error_ns ? clock->error_ns : match->error_ns;
	}
	match->nr_fitted -= match->nr_fitted != 0; /* one of them is the one clock */
}

static void match_collectives(struct nccl_ops *ops, const struct nccl_clocks *clocks,
	const uint32_t *lengths, struct nccl_match *match)
{
	for (size_t at = 0; at < ops->nr_ops; at++) {
		if (!lengths[at]) {
			continue;
		}
		if (!has_one_clock(clocks, &ops->ops[at], lengths[at]) ||
			!has_times(&ops->ops[at], lengths[at])) {
			match->nr_clocks++;
		} else {
			match->nr_matched++;
			set_times(&ops->ops[at], lengths[at]);
		}
	}
}

/* Sorts the operations, and finds what of them belongs together, and the clocks. */
static void find(struct nccl_ops *ops, struct nccl_match *match, struct found *found)
{
	*match = (struct nccl_match){0};
	found->lengths = mem_zeroed(ops->nr_ops + 1, sizeof(*found->lengths));
	found->ends = mem_zeroed(ops->nr_ops + 1, sizeof(*found->ends));
	if (ops->nr_ops) {
		qsort(ops->ops, ops->nr_ops, sizeof(*ops->ops), by_sequence);
	}
	find_whole(ops, match, found);
	nccl_pairs_find(&found->pairs, ops);
	nccl_clocks_fit(&found->clocks, ops, found->ends, found->pairs.pairs, found->pairs.nr);
}

static void drop(struct found *found)
{
	nccl_pairs_fini(&found->pairs);
	free(found->lengths);
	free(found->ends);
}

void nccl_match(struct nccl_ops *ops, struct nccl_match *match)
{
	struct found found;

	find(ops, match, &found);
	for (size_t i = 0; i < ops->nr_ops; i++) {
		match->nr_alone +=
			nccl_op_is_collective(&ops->ops[i]) && !nccl_op_is_numbered(&ops->ops[i]);
		match->nr_p2p += nccl_op_is_p2p(&ops->ops[i]);
	}
	convert(ops, &found.clocks, match);
	match_collectives(ops, &found.clocks, found.lengths, match);
	match->nr_p2p_matched = nccl_pairs_set_times(&found.pairs, &found.clocks, ops);
	match->nr_p2p_differing = found.pairs.nr_differing;
	match->p2p_differing[0] = found.pairs.differing[0];
	match->p2p_differing[1] = found.pairs.differing[1];
	nccl_clocks_fini(&found.clocks);
	drop(&found);
}

void nccl_match_clocks(struct nccl_ops *ops, struct nccl_clocks *clocks)
{
	struct nccl_match match;
	struct found found;

	find(ops, &match, &found);
	*clocks = found.clocks;
	drop(&found);
}
