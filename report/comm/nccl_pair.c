/* SPDX-License-Identifier: Apache-2.0 */
#include "report/comm/nccl_pair.h"

#include <stdlib.h>

#include "report/util/buf.h"

/* Of an operation: what is known of its other sides. */
struct others {
	uint64_t begin_ns; /* of the last one */
	uint32_t rank;	   /* 1 + its rank; 0 none began later */
	uint32_t nr;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static bool is_same(const struct nccl_side *a, const struct nccl_side *b)
{
	return a->key == b->key && a->from == b->from && a->to == b->to &&
	       a->sequence == b->sequence;
}

/* The send before its receive. */
static int by_sequence(const void *a, const void *b)
{
	const struct nccl_side *x = a, *y = b;
	int order = compare(x->key, y->key);

	order = order ? order : compare((uint32_t)x->from, (uint32_t)y->from);
	order = order ? order : compare((uint32_t)x->to, (uint32_t)y->to);
	order = order ? order : compare(x->sequence, y->sequence);
	order = order ? order : compare(x->is_receive, y->is_receive);
	return order ? order : compare(x->op, y->op);
}

static void add(struct nccl_pairs *pairs, const struct nccl_side *send, const uint32_t *places)
{
	const struct nccl_side *receive = send + 1;

	if (send->bytes != receive->bytes) {
		if (!pairs->nr_differing++) {
			pairs->differing[0] = send;
			pairs->differing[1] = receive;
		}
		return;
	}
	pairs->pairs = array_grow(pairs->pairs, pairs->nr, &pairs->capacity, sizeof(*pairs->pairs));
	pairs->pairs[pairs->nr++] =
		(struct nccl_pair){places[send->op], places[receive->op], send->bytes};
}

void nccl_pairs_find(struct nccl_pairs *pairs, struct nccl_ops *ops)
{
	uint32_t *places = mem_zeroed(ops->nr_ops + 1, sizeof(*places));

	*pairs = (struct nccl_pairs){0};
	for (size_t i = 0; i < ops->nr_ops; i++) {
		places[ops->ops[i].id] = (uint32_t)i;
	}
	if (ops->nr_sides) {
		qsort(ops->sides, ops->nr_sides, sizeof(*ops->sides), by_sequence);
	}
	for (size_t at = 0, nr; at < ops->nr_sides; at += nr) {
		const struct nccl_side *first = &ops->sides[at];

		nr = 1;
		while (at + nr < ops->nr_sides && is_same(first, &first[nr])) {
			nr++;
		}
		/* More are of a rank that is here twice. */
		if (nr == 2 && !first[0].is_receive && first[1].is_receive) {
			add(pairs, first, places);
		}
	}
	free(places);
}

void nccl_pairs_fini(struct nccl_pairs *pairs)
{
	free(pairs->pairs);
	*pairs = (struct nccl_pairs){0};
}

static void take_other(struct others *others, const struct nccl_op *op, const struct nccl_op *other)
{
	others->nr++;
	if (other->begin_ns > op->begin_ns && other->begin_ns > others->begin_ns) {
		others->begin_ns = other->begin_ns;
		others->rank = (uint32_t)other->rank + 1;
	}
}

static void set_time(struct nccl_op *op, const struct others *others)
{
	op->is_matched = true;
	op->late_rank = others->rank;
	if (others->rank) {
		uint64_t until = op->end_ns < others->begin_ns ? op->end_ns : others->begin_ns;

		op->wait_ns = until - op->begin_ns;
	}
}

uint64_t nccl_pairs_set_times(
	const struct nccl_pairs *pairs, const struct nccl_clocks *clocks, struct nccl_ops *ops)
{
	struct others *others = mem_zeroed(ops->nr_ops + 1, sizeof(*others));
	uint64_t nr_matched = 0;

	for (size_t i = 0; i < pairs->nr; i++) {
		const struct nccl_pair *pair = &pairs->pairs[i];
		const struct nccl_op *send = &ops->ops[pair->send];
		const struct nccl_op *receive = &ops->ops[pair->receive];

		if (nccl_op_has_time(send) && nccl_op_has_time(receive) &&
			nccl_clocks_share(clocks, send, receive)) {
			take_other(&others[pair->send], send, receive);
			take_other(&others[pair->receive], receive, send);
		}
	}
	for (size_t i = 0; i < ops->nr_ops; i++) {
		struct nccl_op *op = &ops->ops[i];

		if (nccl_op_is_p2p(op) && others[i].nr == op->nr_calls) {
			set_time(op, &others[i]);
			nr_matched++;
		}
	}
	free(others);
	return nr_matched;
}
