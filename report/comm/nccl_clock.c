/* SPDX-License-Identifier: Apache-2.0 */
#include "report/comm/nccl_clock.h"

#include <math.h>
#include <stdlib.h>

#include "report/util/buf.h"

/* Fewer points tell nothing of how well they agree. Quartz is off by some 100 ppm at most. */
#define LEAST_POINTS 8u
#define LEAST_A_WAY  4u /* of pairs */
#define MOST_DRIFT   1e-3
#define ROUNDS	     3
#define MOST_OFF     6.0 /* times the median distance */
#define LEAST_OFF_NS 1000.0
#define ERROR_SHARE  0.95

/* ---- a line ---- */

static double distance(const struct nccl_clock *clock, const struct nccl_clock_point *point)
{
	double ahead = (double)(int64_t)((uint64_t)point->ahead_ns - (uint64_t)clock->base_ns);
	double since = (double)(int64_t)(point->from_ns - clock->first_ns);

	return ahead - (clock->offset_ns + clock->drift * since);
}

/* Least squares of the distances to the line so far, of points that are not further off. */
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
	if (fabs(clock->drift + slope) > MOST_DRIFT) {
		slope = 0;
	}
	clock->drift += slope;
	clock->offset_ns += y_sum / n - slope * (x_sum / n);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The distance that this share of the points is not beyond. */
static double quantile(const struct nccl_clock *clock, double share)
{
	double *all = mem_zeroed(clock->nr_points, sizeof(*all));
	double found;

	for (size_t i = 0; i < clock->nr_points; i++) {
		all[i] = fabs(distance(clock, &clock->points[i]));
	}
	qsort(all, clock->nr_points, sizeof(*all), by_value);
	found = all[(size_t)(share * (double)(clock->nr_points - 1))];
	free(all);
	return found;
}

void nccl_clock_fit(struct nccl_clock *clock)
{
	clock->first_ns = clock->points[0].from_ns;
	clock->base_ns = clock->points[0].ahead_ns;
	clock->offset_ns = clock->drift = 0;
	improve(clock, INFINITY);
	for (int i = 0; i < ROUNDS; i++) {
		improve(clock, fmax(MOST_OFF * quantile(clock, 0.5), LEAST_OFF_NS));
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

/* That of a host; of a process where its host is not known. */
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

/* Nobody is done before everybody has come. */
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

/* The last end of each clock that is not known, against that of one that is. */
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

/* A pair of which one clock is known. */
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

	return is_of_pairs ? nr_sent >= LEAST_A_WAY && clock->nr_received >= LEAST_A_WAY
			   : clock->nr_points >= LEAST_POINTS;
}

/* Fits those that have points enough. False if there are none. */
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

/* Those that share collectives with clocks that are known by now. False if there are none. */
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

bool nccl_clocks_share(
	const struct nccl_clocks *clocks, const struct nccl_op *a, const struct nccl_op *b)
{
	return a->clock == b->clock ||
	       (clocks->clocks[a->clock].is_known && clocks->clocks[b->clock].is_known);
}

/* That which can be compared with most operations of others; the first of these. */
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

void nccl_clocks_fit(struct nccl_clocks *clocks, struct nccl_ops *ops, const uint32_t *lengths,
	const struct nccl_pair *pairs, size_t nr_pairs)
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
