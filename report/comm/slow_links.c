/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds slow links for the view stragglers, which hands it the transfers of matched operations.
 * Equal transfers of a path in a step become a cell with their mean. A cell is compared twice: with
 * the other paths of the same step, and with its own path in other steps. Each comparison needs its
 * own order, so the cells are sorted anew between them:
 *
 *   by path, kind, step   make_cells(), compare_own(): the steps of a path lie together
 *   by kind, step         compare_others(): the paths of a step lie together
 *   by path, step         add_path(): a path's steps are summed up
 */
#include "report/comm/slow_links.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

#define MIN_OWN	 4u /* steps: of fewer, none is slower than the others */
#define MIN_LATE 2u /* steps: a single one is no pattern */

/* All equal transfers of a path in a step. */
struct cell {
	struct transfer transfer; /* the first one; its times are the mean */
	uint64_t nr;
	__int128 total_ns;		    /* of all */
	int64_t delay_ns[NR_NETWORK_BASES]; /* of one, the mean */
	bool is_compared[NR_NETWORK_BASES];
};

static int compare_paths(const struct transfer_path *x, const struct transfer_path *y)
{
	int order = COMPARE(x->key, y->key);

	order = order ? order : COMPARE((uint32_t)x->a, (uint32_t)y->a);
	return order ? order : COMPARE((uint32_t)x->b, (uint32_t)y->b);
}

/* Are they equal? */
static int compare_kinds(const struct transfer *x, const struct transfer *y)
{
	int order = COMPARE(x->kind, y->kind);

	order = order ? order : COMPARE(x->bytes, y->bytes);
	order = order ? order : COMPARE(x->nr_calls, y->nr_calls);
	order = order ? order : COMPARE(x->nr_ranks, y->nr_ranks);
	return order ? order : COMPARE(x->spans_hosts, y->spans_hosts);
}

static int by_path_kind_step(const void *a, const void *b)
{
	const struct transfer *x = a, *y = b;
	int order = compare_paths(&x->path, &y->path);

	order = order ? order : compare_kinds(x, y);
	return order ? order : COMPARE(x->step, y->step);
}

/* Cells begin with their transfer. */
static int by_kind_step(const void *a, const void *b)
{
	const struct transfer *x = a, *y = b;

	return ORDER(compare_kinds(x, y), COMPARE(x->step, y->step));
}

static int by_path_kind(const void *a, const void *b)
{
	const struct transfer *x = a, *y = b;

	return ORDER(compare_paths(&x->path, &y->path), compare_kinds(x, y));
}

static int by_path_step(const void *a, const void *b)
{
	const struct transfer *x = a, *y = b;

	return ORDER(compare_paths(&x->path, &y->path), COMPARE(x->step, y->step));
}

static int by_path(const void *a, const void *b)
{
	return compare_paths(
		&((const struct transfer *)a)->path, &((const struct transfer *)b)->path);
}

/* Counts the cells from the first on that are equal to it in that order. */
static size_t run_of(
	const struct cell *cells, size_t nr, int (*order)(const void *a, const void *b))
{
	size_t end = 1;

	while (end < nr && !order(&cells->transfer, &cells[end].transfer)) {
		end++;
	}
	return end;
}

/* Groups transfers into cells; returns how many. */
static size_t make_cells(struct transfer *transfers, size_t nr, struct cell *cells)
{
	size_t nr_cells = 0;

	qsort(transfers, nr, sizeof(*transfers), by_path_kind_step);
	for (size_t i = 0; i < nr; i++) {
		struct cell *cell = nr_cells ? &cells[nr_cells - 1] : NULL;

		if (!cell || by_path_kind_step(&cell->transfer, &transfers[i])) {
			cell = &cells[nr_cells++];
			*cell = (struct cell){.transfer = transfers[i]};
		}
		cell->total_ns += transfers[i].transfer_ns;
		cell->nr++;
	}
	for (size_t i = 0; i < nr_cells; i++) {
		cells[i].transfer.transfer_ns = (int64_t)(cells[i].total_ns / cells[i].nr);
	}
	return nr_cells;
}

/* ---- comparison ---- */

static void set_delay(struct cell *cell, enum slow_links_basis basis, int64_t usual_ns)
{
	cell->is_compared[basis] = true;
	cell->delay_ns[basis] = cell->transfer.transfer_ns - usual_ns;
}

static int64_t *sort_times(const struct cell *cells, size_t nr)
{
	int64_t *times = mem_zeroed(nr, sizeof(*times));

	for (size_t i = 0; i < nr; i++) {
		times[i] = cells[i].transfer.transfer_ns;
	}
	qsort(times, nr, sizeof(*times), by_i64);
	return times;
}

/* Compares equal cells of a path over all steps. */
static void compare_own(struct cell *cells, size_t nr)
{
	int64_t *times;

	if (nr < MIN_OWN) {
		return;
	}
	times = sort_times(cells, nr);
	for (size_t i = 0; i < nr; i++) {
		set_delay(&cells[i], SLOW_LINKS_OWN, times[(nr - 1) / 4]);
	}
	free(times);
}

/* Compares equal cells of a step over all paths. */
static void compare_others(struct cell *cells, size_t nr)
{
	int64_t *times;

	if (nr < 2) {
		return;
	}
	times = sort_times(cells, nr);
	for (size_t i = 0; i < nr; i++) {
		set_delay(&cells[i], SLOW_LINKS_OTHERS,
			straggler_median_of_others(times, nr, cells[i].transfer.transfer_ns));
	}
	free(times);
}

static void compare_all(struct cell *cells, size_t nr)
{
	for (size_t at = 0, end; at < nr; at += end) {
		end = run_of(&cells[at], nr - at, by_path_kind);
		compare_own(&cells[at], end);
	}
	qsort(cells, nr, sizeof(*cells), by_kind_step);
	for (size_t at = 0, end; at < nr; at += end) {
		end = run_of(&cells[at], nr - at, by_kind_step);
		compare_others(&cells[at], end);
	}
	qsort(cells, nr, sizeof(*cells), by_path_step);
}

/* ---- sums ---- */

/*
 * Sums up a step of a path. No path delays a step by more than what was not hidden behind
 * computation.
 */
static struct straggler_step sum_step(
	const struct cell *cells, size_t nr, enum slow_links_basis basis)
{
	struct straggler_step step = {
		.step = cells->transfer.step, .length_ns = cells->transfer.step_ns};
	__int128 delay_ns = 0; /* 128 bits, as damaged streams may claim anything */
	int64_t most_ns = 0;

	for (size_t i = 0; i < nr; i++) {
		step.is_compared |= cells[i].is_compared[basis];
		delay_ns += (__int128)cells[i].delay_ns[basis] * cells[i].nr;
		most_ns = cells[i].transfer.most_ns > most_ns ? cells[i].transfer.most_ns : most_ns;
	}
	delay_ns = delay_ns > 0 ? delay_ns : 0;
	step.ns[STRAGGLER_WAITING] = -(int64_t)(delay_ns < most_ns ? delay_ns : most_ns);
	return step;
}

/* Sums up a path by steps. */
static struct straggler sum_path(const struct cell *cells, size_t nr, enum slow_links_basis basis)
{
	struct straggler sum = {.cause = STRAGGLER_NETWORK, .phase = -1};

	for (size_t at = 0, end; at < nr; at += end) {
		end = run_of(&cells[at], nr - at, by_path_step);
		sum.steps = array_grow(sum.steps, sum.nr_steps, &sum.capacity, sizeof(*sum.steps));
		sum.steps[sum.nr_steps++] = sum_step(&cells[at], end, basis);
	}
	straggler_sum(&sum);
	return sum;
}

/* The basis with the longer delay counts; a single late step among several is no pattern. */
static void add_path(struct slow_links *network, const struct cell *cells, size_t nr)
{
	struct straggler sums[NR_NETWORK_BASES];
	enum slow_links_basis basis;

	for (unsigned int i = 0; i < NR_NETWORK_BASES; i++) {
		sums[i] = sum_path(cells, nr, i);
	}
	basis = sums[SLOW_LINKS_OWN].delay_ns > sums[SLOW_LINKS_OTHERS].delay_ns
			? SLOW_LINKS_OWN
			: SLOW_LINKS_OTHERS;
	free(sums[!basis].steps);
	if (!sums[basis].nr_delayed ||
		(sums[basis].nr_delayed < MIN_LATE && sums[basis].nr_compared > 1)) {
		free(sums[basis].steps);
		return;
	}
	network->slow =
		array_grow(network->slow, network->nr, &network->capacity, sizeof(*network->slow));
	network->slow[network->nr++] = (struct slow_link){
		cells->transfer.path, cells->transfer.nr_ranks, basis, sums[basis]};
}

void slow_links_find(struct slow_links *network, struct transfer *transfers, size_t nr)
{
	struct cell *cells;

	if (!nr) {
		return;
	}
	cells = mem_zeroed(nr, sizeof(*cells));
	nr = make_cells(transfers, nr, cells);
	compare_all(cells, nr);
	for (size_t at = 0, end; at < nr; at += end) {
		end = run_of(&cells[at], nr - at, by_path);
		add_path(network, &cells[at], end);
	}
	free(cells);
}

void slow_links_fini(struct slow_links *network)
{
	for (size_t i = 0; i < network->nr; i++) {
		free(network->slow[i].straggler.steps);
	}
	free(network->slow);
	*network = (struct slow_links){0};
}
