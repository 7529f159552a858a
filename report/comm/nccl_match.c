/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches operations across ranks, in three parts: the fit of clocks, pairs of sends and receives,
 * and collectives. find() goes through all of them in this order: sort by communicator and number,
 * find the groups that are one collective, pair sends with receives, then fit the clocks by the
 * ends of both. Only then are times on one clock, and waits can be computed.
 *
 *   rank 0   begin |=====wait=====|==transfer==| end
 *   rank 1            begin |=wait|==transfer==| end
 *   rank 2                 begin  |==transfer==| end      the last one: is_last, no wait
 */
#include "report/comm/nccl_match.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/comm/nccl_names.h"
#include "report/util/sort.h"

/* ---- clocks ---- */

/* Fewer points do not show their error. Quartz clocks differ by at most some 100 ppm. */
#define MIN_POINTS  8u
#define MIN_A_WAY   4u /* of pairs */
#define MAX_DRIFT   1e-3
#define ROUNDS	    3
#define MAX_OFF	    6.0 /* times the median distance */
#define MIN_OFF_NS  1000.0
#define ERROR_SHARE 0.95

/* ---- a line ---- */

static double distance(const struct nccl_clock *clock, const struct nccl_clock_point *point)
{
	double ahead = (double)(int64_t)((uint64_t)point->ahead_ns - (uint64_t)clock->base_ns);
	double since = (double)(int64_t)(point->from_ns - clock->first_ns);

	return ahead - (clock->offset_ns + clock->drift * since);
}

/*
 * Least squares over the points within `most_off` of the current line. Adds the correction to the
 * line, as differences are small and lose no digits. A drift that no quartz has is refused.
 */
static void improve(struct nccl_clock *clock, double most_off)
{
	double n = 0, x_sum = 0, y_sum = 0, xx = 0, xy = 0;
	double slope = 0;

	for (size_t i = 0; i < clock->nr_points; i++) {
		double y = distance(clock, &clock->points[i]);

		if (fabs(y) <= most_off) {
			n++;
			x_sum += (double)(int64_t)(clock->points[i].from_ns - clock->first_ns);
			y_sum += y;
		}
	}
	if (n < 1) {
		return;
	}
	for (size_t i = 0; i < clock->nr_points; i++) {
		double y = distance(clock, &clock->points[i]);
		double x =
			(double)(int64_t)(clock->points[i].from_ns - clock->first_ns) - x_sum / n;

		if (fabs(y) <= most_off) {
			xx += x * x;
			xy += x * (y - y_sum / n);
		}
	}
	slope = xx > 0 ? xy / xx : 0;
	if (fabs(clock->drift + slope) > MAX_DRIFT) {
		slope = 0;
	}
	clock->drift += slope;
	clock->offset_ns += y_sum / n - slope * (x_sum / n);
}

/* Returns the quantile of the distances. */
static double quantile(const struct nccl_clock *clock, double share)
{
	double *all = mem_zeroed(clock->nr_points, sizeof(*all));
	double found;

	for (size_t i = 0; i < clock->nr_points; i++) {
		all[i] = fabs(distance(clock, &clock->points[i]));
	}
	qsort(all, clock->nr_points, sizeof(*all), by_double);
	found = all[(size_t)(share * (double)(clock->nr_points - 1))];
	free(all);
	return found;
}

/*
 * Fits a clock to its points; it has at least one. The first line is through all points; each
 * further round leaves out those far from the line before, by the median distance. The error counts
 * all points again.
 */
static void nccl_clock_fit(struct nccl_clock *clock)
{
	clock->first_ns = clock->points[0].from_ns;
	clock->base_ns = clock->points[0].ahead_ns;
	clock->offset_ns = clock->drift = 0;
	improve(clock, INFINITY);
	for (int i = 0; i < ROUNDS; i++) {
		improve(clock, fmax(MAX_OFF * quantile(clock, 0.5), MIN_OFF_NS));
	}
	clock->error_ns = (uint64_t)fmin(ceil(quantile(clock, ERROR_SHARE)), 1e18);
	clock->is_known = true;
}

uint64_t nccl_clock_time(const struct nccl_clock *clock, uint64_t from_ns)
{
	double since = (double)(int64_t)(from_ns - clock->first_ns);
	double more = clock->offset_ns + clock->drift * since;

	return from_ns + (uint64_t)clock->base_ns + (uint64_t)llround(more);
}

/* ---- all clocks ---- */

/* One clock a host; one a process if the host is unknown. */
static void find_clocks(struct nccl_clocks *clocks, struct nccl_ops *ops)
{
	struct idmap boots, processes;

	idmap_init(&boots, sizeof(uint32_t));
	idmap_init(&processes, sizeof(uint32_t));
	for (size_t i = 0; i < ops->nr_ops; i++) {
		struct nccl_op *op = &ops->ops[i];
		uint32_t *number =
			op->boot ? idmap_put(&boots, op->boot) : idmap_put(&processes, op->process);

		if (!*number) {
			*number = (uint32_t)++clocks->nr;
		}
		op->clock = *number - 1;
	}
	idmap_fini(&boots);
	idmap_fini(&processes);
	clocks->clocks = mem_zeroed(clocks->nr + 1, sizeof(*clocks->clocks));
}

/* Can no rank finish before all ranks have started? */
static bool ends_together(uint8_t kind)
{
	return kind == GPROF_NCCL_ALL_REDUCE || kind == GPROF_NCCL_ALL_GATHER ||
	       kind == GPROF_NCCL_REDUCE_SCATTER || kind == GPROF_NCCL_ALL_TO_ALL;
}

static void add_point(struct nccl_clock *clock, uint64_t from_ns, uint64_t to_ns)
{
	clock->points = array_grow(
		clock->points, clock->nr_points, &clock->capacity, sizeof(*clock->points));
	clock->points[clock->nr_points++] =
		(struct nccl_clock_point){from_ns, (int64_t)(to_ns - from_ns)};
}

/* Adds the last end of each unknown clock against that of a known one. */
static void add_points(struct nccl_clocks *clocks, const struct nccl_op *ops, size_t nr)
{
	uint64_t known_ns = 0;
	bool has_known = false;

	for (size_t i = 0; i < nr; i++) {
		const struct nccl_clock *clock = &clocks->clocks[ops[i].clock];

		if (clock->is_known) {
			uint64_t end_ns = nccl_clock_time(clock, ops[i].end_ns);

			known_ns = !has_known || end_ns > known_ns ? end_ns : known_ns;
			has_known = true;
		}
	}
	for (size_t i = 0; has_known && i < nr; i++) {
		struct nccl_clock *clock = &clocks->clocks[ops[i].clock];

		if (!clock->is_known) {
			add_point(clock, ops[i].end_ns, known_ns);
		}
	}
}

/* Adds a pair of which one clock is known. */
static void add_pair(
	struct nccl_clocks *clocks, const struct nccl_op *send, const struct nccl_op *receive)
{
	struct nccl_clock *clock = &clocks->clocks[receive->clock];
	const struct nccl_clock *known = &clocks->clocks[send->clock];
	const struct nccl_op *op = receive, *other = send;

	if (clock->is_known == known->is_known || !nccl_op_has_time(send) ||
		!nccl_op_has_time(receive)) {
		return;
	}
	if (clock->is_known) {
		known = clock;
		clock = &clocks->clocks[send->clock];
		op = send;
		other = receive;
	}
	add_point(clock, op->end_ns, nccl_clock_time(known, other->end_ns));
	clock->nr_received += op == receive;
}

static bool has_enough(const struct nccl_clock *clock, bool is_of_pairs)
{
	size_t nr_sent = clock->nr_points - clock->nr_received;

	return is_of_pairs ? nr_sent >= MIN_A_WAY && clock->nr_received >= MIN_A_WAY
			   : clock->nr_points >= MIN_POINTS;
}

/* Fits clocks with enough points. False if there are none. */
static bool fit_all(struct nccl_clocks *clocks, bool is_of_pairs)
{
	bool has_more = false;

	for (size_t i = 0; i < clocks->nr; i++) {
		struct nccl_clock *clock = &clocks->clocks[i];

		if (!clock->is_known && has_enough(clock, is_of_pairs)) {
			nccl_clock_fit(clock);
			has_more = true;
		}
		free(clock->points);
		clock->points = NULL;
		clock->nr_points = clock->capacity = clock->nr_received = 0;
	}
	return has_more;
}

/* Fits clocks that share collectives with known ones. False if there are none. */
static bool fit_more(
	struct nccl_clocks *clocks, const struct nccl_ops *ops, const uint32_t *lengths)
{
	for (size_t i = 0; i < ops->nr_ops; i++) {
		if (lengths[i] > 1 && ends_together(ops->ops[i].kind)) {
			add_points(clocks, &ops->ops[i], lengths[i]);
		}
	}
	return fit_all(clocks, false);
}

static bool fit_by_pairs(struct nccl_clocks *clocks, const struct nccl_ops *ops,
	const struct nccl_pair *pairs, size_t nr_pairs)
{
	for (size_t i = 0; i < nr_pairs; i++) {
		add_pair(clocks, &ops->ops[pairs[i].send], &ops->ops[pairs[i].receive]);
	}
	return fit_all(clocks, true);
}

/* Can times of both operations be compared? */
static bool nccl_clocks_share(
	const struct nccl_clocks *clocks, const struct nccl_op *a, const struct nccl_op *b)
{
	return a->clock == b->clock ||
	       (clocks->clocks[a->clock].is_known && clocks->clocks[b->clock].is_known);
}

/* The first of the clocks that share most operations with others. */
static uint32_t find_first(const struct nccl_clocks *clocks, const struct nccl_ops *ops,
	const uint32_t *lengths, const struct nccl_pair *pairs, size_t nr_pairs)
{
	uint64_t *nr_shared = mem_zeroed(clocks->nr, sizeof(*nr_shared));
	uint32_t first = 0;

	for (size_t i = 0; i < ops->nr_ops; i++) {
		const struct nccl_op *all = &ops->ops[i];

		for (uint32_t k = 1; k < lengths[i] && ends_together(all->kind); k++) {
			bool is_other = all[k].clock != all->clock;

			nr_shared[all->clock] += is_other;
			nr_shared[all[k].clock] += is_other;
		}
	}
	for (size_t i = 0; i < nr_pairs; i++) {
		uint32_t send = ops->ops[pairs[i].send].clock;
		uint32_t receive = ops->ops[pairs[i].receive].clock;

		nr_shared[send] += send != receive;
		nr_shared[receive] += send != receive;
	}
	for (uint32_t i = 1; i < clocks->nr; i++) {
		first = nr_shared[i] > nr_shared[first] ? i : first;
	}
	free(nr_shared);
	return first;
}

/*
 * Sets nccl_op.clock and fits the clocks. The operations are sorted as by nccl_match. lengths[i]:
 * how many from i on are one collective, each of another rank, all with times; 0 if none begins at
 * i. Each round makes further clocks known, which then help others. Pairs come in only when
 * collectives give no more.
 */
static void nccl_clocks_fit(struct nccl_clocks *clocks, struct nccl_ops *ops,
	const uint32_t *lengths, const struct nccl_pair *pairs, size_t nr_pairs)
{
	*clocks = (struct nccl_clocks){0};
	find_clocks(clocks, ops);
	if (clocks->nr) {
		clocks->first = find_first(clocks, ops, lengths, pairs, nr_pairs);
		clocks->clocks[clocks->first].is_known = true;
	}
	while (clocks->nr > 1 &&
		(fit_more(clocks, ops, lengths) || fit_by_pairs(clocks, ops, pairs, nr_pairs))) {
	}
}

void nccl_clocks_fini(struct nccl_clocks *clocks)
{
	free(clocks->clocks);
	*clocks = (struct nccl_clocks){0};
}

/* ---- sends and receives ---- */

/* The sums over the other sides of an operation. */
struct others {
	uint64_t begin_ns; /* of the last one */
	uint32_t rank;	   /* 1 + its rank; 0: none began later */
	uint32_t nr;
};

static bool is_same_transfer(const struct nccl_side *a, const struct nccl_side *b)
{
	return a->key == b->key && a->from == b->from && a->to == b->to &&
	       a->sequence == b->sequence;
}

/* The send comes before its receive. */
static int compare_sides(const void *a, const void *b)
{
	const struct nccl_side *x = a, *y = b;
	int order = COMPARE(x->key, y->key);

	order = order ? order : COMPARE((uint32_t)x->from, (uint32_t)y->from);
	order = order ? order : COMPARE((uint32_t)x->to, (uint32_t)y->to);
	order = order ? order : COMPARE(x->sequence, y->sequence);
	order = order ? order : COMPARE(x->is_receive, y->is_receive);
	return order ? order : COMPARE(x->op, y->op);
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

/*
 * Sides name their operation by ID, as the operations have been sorted since: places[] leads from
 * the ID to the index.
 */
void nccl_pairs_find(struct nccl_pairs *pairs, struct nccl_ops *ops)
{
	uint32_t *places = mem_zeroed(ops->nr_ops + 1, sizeof(*places));

	*pairs = (struct nccl_pairs){0};
	for (size_t i = 0; i < ops->nr_ops; i++) {
		places[ops->ops[i].id] = (uint32_t)i;
	}
	if (ops->nr_sides) {
		qsort(ops->sides, ops->nr_sides, sizeof(*ops->sides), compare_sides);
	}
	for (size_t at = 0, nr; at < ops->nr_sides; at += nr) {
		const struct nccl_side *first = &ops->sides[at];

		nr = 1;
		while (at + nr < ops->nr_sides && is_same_transfer(first, &first[nr])) {
			nr++;
		}
		/* More sides come from a rank that is here twice. */
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

static void add_other(struct others *others, const struct nccl_op *op, const struct nccl_op *other)
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

/*
 * Sets the results of operations whose other sides are all here with times on one clock, and
 * returns how many there are. An operation counts only if all of its calls have found their other
 * side.
 */
static uint64_t nccl_pairs_set_times(
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
			add_other(&others[pair->send], send, receive);
			add_other(&others[pair->receive], receive, send);
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

/* ---- matching ---- */

struct found {
	uint32_t *lengths; /* of matched collectives with all times; else 0 */
	uint32_t *ends;	   /* also of those with only some ranks, as nccl_clocks_fit wants */
	struct nccl_pairs pairs;
	struct nccl_clocks clocks;
};

static int compare_ops(const void *a, const void *b)
{
	const struct nccl_op *x = a, *y = b;
	int order = COMPARE(!nccl_op_is_numbered(x), !nccl_op_is_numbered(y));

	order = order ? order : COMPARE(x->key, y->key);
	order = order ? order : COMPARE(x->sequence, y->sequence);
	order = order ? order : COMPARE((uint32_t)x->rank, (uint32_t)y->rank);
	return order ? order : COMPARE(x->process, y->process);
}

/* Ranks may group calls differently; then sizes do not compare. */
static bool is_same_collective(const struct nccl_op *a, const struct nccl_op *b)
{
	if (a->nr_calls != b->nr_calls) {
		return true;
	}
	return a->kind == b->kind && a->peer == b->peer && a->bytes == b->bytes;
}

static bool do_same(const struct nccl_op *ops, size_t nr, struct nccl_match *match)
{
	for (size_t i = 1; i < nr; i++) {
		if (!is_same_collective(&ops[0], &ops[i])) {
			if (!match->nr_differing++) {
				match->differing[0] = &ops[0];
				match->differing[1] = &ops[i];
			}
			return false;
		}
	}
	return true;
}

/* Is each rank there once, with the same calls? */
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

/*
 * A rank waits from its begin to the begin of the last one; if it ends before, its whole time is
 * waiting.
 */
void nccl_match_set_times(struct nccl_op *ops, size_t nr)
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

/* Counts the operations from `at` on that have the number of the first. */
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

/* Are some of the ranks there, each once? They still help to align clocks. */
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

/* Counts and skips what cannot be compared. */
static void find_whole(struct nccl_ops *ops, struct nccl_match *match, struct found *found)
{
	for (size_t at = 0, nr; at < ops->nr_ops && nccl_op_is_numbered(&ops->ops[at]); at += nr) {
		struct nccl_op *first = &ops->ops[at];

		nr = length_at(ops, at);
		match->nr_collectives += !first->is_captured;
		if (!do_same(first, nr, match)) {
			continue; /* counted already */
		}
		if (is_part(first, nr) && has_times(first, nr)) {
			found->ends[at] = (uint32_t)nr;
		}
		if (!is_whole(first, nr)) {
			match->nr_missing += !first->is_captured;
		} else if (!has_times(first, nr)) {
			match->nr_untimed += !first->is_captured;
		} else {
			found->lengths[at] = (uint32_t)nr;
		}
	}
}

/* Times of unknown clocks stay as they are. Durations stay as measured. */
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
	match->nr_fitted -= match->nr_fitted != 0; /* one of them is the reference */
}

/* A conversion may have left a kernel without a valid time, so times are checked once more. */
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
			nccl_match_set_times(&ops->ops[at], lengths[at]);
		}
	}
}

/* Sorts the operations, matches them, and aligns the clocks. */
static void find(struct nccl_ops *ops, struct nccl_match *match, struct found *found)
{
	*match = (struct nccl_match){0};
	found->lengths = mem_zeroed(ops->nr_ops + 1, sizeof(*found->lengths));
	found->ends = mem_zeroed(ops->nr_ops + 1, sizeof(*found->ends));
	if (ops->nr_ops) {
		qsort(ops->ops, ops->nr_ops, sizeof(*ops->ops), compare_ops);
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
		const struct nccl_op *op = &ops->ops[i];

		if (op->is_in_graph) {
			match->nr_in_graphs++;
			continue;
		}
		match->nr_alone += nccl_op_is_collective(op) && !nccl_op_is_numbered(op);
		match->nr_p2p += nccl_op_is_p2p(op) && !op->is_captured;
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
