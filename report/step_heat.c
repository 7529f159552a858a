/* SPDX-License-Identifier: Apache-2.0 */
#include "report/step_heat.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/buf.h"

#define MOST_SIGNS 64u
#define MOST_RANKS 32u
#define NR_LEVELS  (sizeof(levels) / sizeof(levels[0]))

/* Up to so much of the median, in percent; the last one is for all above. */
static const struct {
	uint64_t percent;
	char sign;
} levels[] = {{80, '.'}, {120, '-'}, {150, '+'}, {200, '*'}, {400, '#'}, {0, '@'}};

struct heat_rank {
	const struct step_heat *steps;
	size_t nr_steps;
	uint64_t total_ns;
};

struct heat {
	struct heat_rank *ranks;
	size_t nr_ranks, capacity;
	uint64_t first, last; /* steps */
	uint64_t median_ns;
};

static int by_rank(const void *a, const void *b)
{
	const struct step_heat *x = a, *y = b;
	int order = (x->rank > y->rank) - (x->rank < y->rank);

	return order ? order : (x->step > y->step) - (x->step < y->step);
}

static int by_duration(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The longest first. */
static int by_total(const void *a, const void *b)
{
	const struct heat_rank *x = a, *y = b;
	int order = (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);

	return order ? order : by_rank(x->steps, y->steps);
}

static int by_number(const void *a, const void *b)
{
	return by_rank(((const struct heat_rank *)a)->steps, ((const struct heat_rank *)b)->steps);
}

static uint64_t median_of(const struct step_heat *steps, size_t nr)
{
	uint64_t *durations = mem_zeroed(nr, sizeof(*durations));
	uint64_t median;

	for (size_t i = 0; i < nr; i++) {
		durations[i] = steps[i].duration_ns;
	}
	qsort(durations, nr, sizeof(*durations), by_duration);
	median = durations[nr / 2];
	free(durations);
	return median;
}

static void find_ranks(struct heat *heat, const struct step_heat *steps, size_t nr)
{
	heat->first = UINT64_MAX;
	for (size_t i = 0; i < nr; i++) {
		struct heat_rank *rank;

		if (!i || steps[i].rank != steps[i - 1].rank) {
			heat->ranks = array_grow(
				heat->ranks, heat->nr_ranks, &heat->capacity, sizeof(*heat->ranks));
			heat->ranks[heat->nr_ranks++] = (struct heat_rank){.steps = &steps[i]};
		}
		rank = &heat->ranks[heat->nr_ranks - 1];
		rank->nr_steps++;
		rank->total_ns += steps[i].duration_ns;
		heat->first = steps[i].step < heat->first ? steps[i].step : heat->first;
		heat->last = steps[i].step > heat->last ? steps[i].step : heat->last;
	}
}

static unsigned int level_of(const struct heat *heat, uint64_t duration_ns)
{
	unsigned int level = 0;

	while (level + 1 < NR_LEVELS &&
		(unsigned __int128)duration_ns * 100 >
			(unsigned __int128)heat->median_ns * levels[level].percent) {
		level++;
	}
	return level;
}

static void draw_rank(
	const struct heat *heat, const struct heat_rank *rank, uint64_t per_sign, struct buf *out)
{
	size_t nr_signs = (size_t)((heat->last - heat->first) / per_sign) + 1;
	char signs[MOST_SIGNS + 1];
	unsigned int most[MOST_SIGNS] = {0}; /* 1 + level */

	for (size_t i = 0; i < rank->nr_steps; i++) {
		size_t at = (size_t)((rank->steps[i].step - heat->first) / per_sign);
		unsigned int level = 1 + level_of(heat, rank->steps[i].duration_ns);

		most[at] = level > most[at] ? level : most[at];
	}
	for (size_t i = 0; i < nr_signs; i++) {
		signs[i] = ' ';
		if (most[i]) {
			signs[i] = levels[most[i] - 1].sign;
		}
	}
	signs[nr_signs] = 0;
	buf_printf(out, "  rank %5" PRIu64 "  |%s|\n", rank->steps->rank, signs);
}

static void draw_head(const struct heat *heat, uint64_t per_sign, struct buf *out)
{
	buf_printf(out, "  steps %" PRIu64 " to %" PRIu64 " of %zu ranks, ", heat->first,
		heat->last, heat->nr_ranks);
	if (per_sign > 1) {
		buf_printf(out, "the longest of each %" PRIu64, per_sign);
	} else {
		buf_text(out, "each");
	}
	buf_text(out, " by the median of all:");
	for (size_t i = 0; i + 1 < NR_LEVELS; i++) {
		buf_printf(out, " %c to %.1f,", levels[i].sign, (double)levels[i].percent / 100);
	}
	buf_printf(out, " %c above\n", levels[NR_LEVELS - 1].sign);
}

char *step_heat_draw(struct step_heat *steps, size_t nr_steps)
{
	struct heat heat = {0};
	struct buf out = {0};
	uint64_t per_sign;
	size_t nr;

	if (!nr_steps) {
		return NULL;
	}
	qsort(steps, nr_steps, sizeof(*steps), by_rank);
	find_ranks(&heat, steps, nr_steps);
	if (heat.nr_ranks > 1) {
		heat.median_ns = median_of(steps, nr_steps);
		per_sign = (heat.last - heat.first) / MOST_SIGNS + 1;
		draw_head(&heat, per_sign, &out);
		nr = heat.nr_ranks < MOST_RANKS ? heat.nr_ranks : MOST_RANKS;
		qsort(heat.ranks, heat.nr_ranks, sizeof(*heat.ranks), by_total);
		qsort(heat.ranks, nr, sizeof(*heat.ranks), by_number);
		for (size_t i = 0; i < nr; i++) {
			draw_rank(&heat, &heat.ranks[i], per_sign, &out);
		}
		if (nr < heat.nr_ranks) {
			buf_printf(&out, "  %zu ranks with shorter times are not shown\n",
				heat.nr_ranks - nr);
		}
	}
	free(heat.ranks);
	if (out.nr_bytes) {
		buf_char(&out, '\0');
	}
	return out.bytes;
}
