/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_heat() serves both forms, the text and the page's JSON: it sorts the steps by rank, divides
 * them into cells, and keeps the ranks with the longest total times. The page also gets quantiles
 * of all ranks, since it does not show them all either.
 */
#include "report/table/step_heatmap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

#define NR_LEVELS (sizeof(levels) / sizeof(levels[0]))

/* Limits of the text, and of the page. */
#define MAX_SIGNS      64u
#define MAX_RANKS      32u
#define MAX_PAGE_CELLS 128u
#define MAX_PAGE_RANKS 1024u
#define MAX_CELLS      MAX_PAGE_CELLS

/* Upper bounds in percent of the median; the last sign is for all above. */
static const struct {
	uint64_t percent;
	char sign;
} levels[] = {{80, '.'}, {120, '-'}, {150, '+'}, {200, '*'}, {400, '#'}, {0, '@'}};

struct heat_rank {
	const struct step_heatmap *steps;
	size_t nr_steps;
	uint64_t total_ns;
};

struct heat {
	struct heat_rank *ranks; /* those shown come first, by number */
	size_t nr_ranks, nr_shown, capacity;
	uint64_t first, last; /* steps */
	uint64_t per_cell;    /* steps per cell */
	uint64_t median_ns;
};

static int by_rank(const void *a, const void *b)
{
	const struct step_heatmap *x = a, *y = b;

	return ORDER(COMPARE(x->rank, y->rank), COMPARE(x->step, y->step));
}

/* Sorts the longest first. */
static int by_total(const void *a, const void *b)
{
	const struct heat_rank *x = a, *y = b;

	return ORDER((x->total_ns < y->total_ns) - (x->total_ns > y->total_ns),
		by_rank(x->steps, y->steps));
}

static int by_number(const void *a, const void *b)
{
	return by_rank(((const struct heat_rank *)a)->steps, ((const struct heat_rank *)b)->steps);
}

static uint64_t median_of(const struct step_heatmap *steps, size_t nr)
{
	uint64_t *durations = mem_zeroed(nr, sizeof(*durations));
	uint64_t median;

	for (size_t i = 0; i < nr; i++) {
		durations[i] = steps[i].duration_ns;
	}
	qsort(durations, nr, sizeof(*durations), by_u64);
	median = durations[nr / 2];
	free(durations);
	return median;
}

static void find_ranks(struct heat *heat, const struct step_heatmap *steps, size_t nr)
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

/* False if there are no two ranks to compare. */
static bool find_heat(struct heat *heat, struct step_heatmap *steps, size_t nr_steps,
	size_t most_ranks, size_t most_cells)
{
	if (!nr_steps) {
		return false;
	}
	qsort(steps, nr_steps, sizeof(*steps), by_rank);
	find_ranks(heat, steps, nr_steps);
	if (heat->nr_ranks < 2) {
		return false;
	}
	heat->median_ns = median_of(steps, nr_steps);
	heat->per_cell = (heat->last - heat->first) / most_cells + 1;
	heat->nr_shown = heat->nr_ranks < most_ranks ? heat->nr_ranks : most_ranks;
	qsort(heat->ranks, heat->nr_ranks, sizeof(*heat->ranks), by_total);
	qsort(heat->ranks, heat->nr_shown, sizeof(*heat->ranks), by_number);
	return true;
}

/*
 * Finds the longest step of each cell of a rank, NULL if none is known. Returns the number of
 * cells.
 */
static size_t find_longest(const struct heat *heat, const struct heat_rank *rank,
	const struct step_heatmap *longest[MAX_CELLS])
{
	size_t nr_cells = (size_t)((heat->last - heat->first) / heat->per_cell) + 1;

	for (size_t i = 0; i < nr_cells; i++) {
		longest[i] = NULL;
	}
	for (size_t i = 0; i < rank->nr_steps; i++) {
		const struct step_heatmap *step = &rank->steps[i];
		size_t at = (size_t)((step->step - heat->first) / heat->per_cell);

		if (!longest[at] || step->duration_ns > longest[at]->duration_ns) {
			longest[at] = step;
		}
	}
	return nr_cells;
}

/* ---- characters ---- */

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

static void draw_rank(const struct heat *heat, const struct heat_rank *rank, struct buf *out)
{
	const struct step_heatmap *longest[MAX_CELLS];
	size_t nr_cells = find_longest(heat, rank, longest);

	buf_printf(out, "  rank %5" PRIu64 "  |", rank->steps->rank);
	for (size_t i = 0; i < nr_cells; i++) {
		buf_char(out,
			longest[i] ? levels[level_of(heat, longest[i]->duration_ns)].sign : ' ');
	}
	buf_text(out, "|\n");
}

static void draw_head(const struct heat *heat, struct buf *out)
{
	buf_printf(out,
		"  Step time / median of all: steps %" PRIu64 " to %" PRIu64 " of %zu ranks",
		heat->first, heat->last, heat->nr_ranks);
	if (heat->per_cell > 1) {
		buf_printf(out, ", the longest of each %" PRIu64, heat->per_cell);
	}
	buf_text(out, "\n ");
	for (size_t i = 0; i + 1 < NR_LEVELS; i++) {
		buf_printf(out, " %c to %.1f,", levels[i].sign, (double)levels[i].percent / 100);
	}
	buf_printf(out, " %c above\n", levels[NR_LEVELS - 1].sign);
}

char *step_heatmap_draw(struct step_heatmap *steps, size_t nr_steps)
{
	struct heat heat = {0};
	struct buf out = {0};

	if (find_heat(&heat, steps, nr_steps, MAX_RANKS, MAX_SIGNS)) {
		draw_head(&heat, &out);
		for (size_t i = 0; i < heat.nr_shown; i++) {
			draw_rank(&heat, &heat.ranks[i], &out);
		}
		if (heat.nr_shown < heat.nr_ranks) {
			buf_printf(&out, "  %zu ranks with shorter times are not shown\n",
				heat.nr_ranks - heat.nr_shown);
		}
		buf_char(&out, '\0');
	}
	free(heat.ranks);
	return out.bytes;
}

/* ---- numbers ---- */

/*
 * Writes [step, duration] for each cell, [] if none is known. A restarted rank has several
 * processes; a step of any but the first names its process.
 */
static void add_rank(const struct heat *heat, const struct heat_rank *rank, struct buf *json)
{
	const struct step_heatmap *longest[MAX_CELLS];
	size_t nr_cells = find_longest(heat, rank, longest);

	buf_printf(json,
		"{\"rank\": %" PRIu64 ", \"pid\": %" PRIu32 ", \"total_ns\": %" PRIu64
		", \"cells\": [",
		rank->steps->rank, rank->steps->pid, rank->total_ns);
	for (size_t i = 0; i < nr_cells; i++) {
		buf_text(json, i ? ",[" : "[");
		if (longest[i]) {
			buf_printf(json, "%" PRIu64 ",%" PRIu64, longest[i]->step,
				longest[i]->duration_ns);
			if (longest[i]->pid != rank->steps->pid) {
				buf_printf(json, ",%" PRIu32, longest[i]->pid);
			}
		}
		buf_char(json, ']');
	}
	buf_text(json, "]}");
}

/* ---- quantiles of ranks ---- */

struct cell_time {
	size_t cell;
	uint64_t ns;
};

static const unsigned int quantiles_pct[] = {0, 10, 25, 50, 75, 90, 100};

static int by_cell(const void *a, const void *b)
{
	const struct cell_time *x = a, *y = b;

	return ORDER(COMPARE(x->cell, y->cell), COMPARE(x->ns, y->ns));
}

/* Returns the cells of all ranks, sorted; the caller frees them. */
static struct cell_time *list_cells(const struct heat *heat, size_t *nr)
{
	const struct step_heatmap *longest[MAX_CELLS];
	struct cell_time *times = NULL;
	size_t capacity = 0;

	*nr = 0;
	for (size_t i = 0; i < heat->nr_ranks; i++) {
		size_t nr_cells = find_longest(heat, &heat->ranks[i], longest);

		for (size_t k = 0; k < nr_cells; k++) {
			if (longest[k]) {
				times = array_grow(times, *nr, &capacity, sizeof(*times));
				times[(*nr)++] = (struct cell_time){k, longest[k]->duration_ns};
			}
		}
	}
	qsort(times, *nr, sizeof(*times), by_cell);
	return times;
}

/* Adds for each cell the quantiles of all ranks, by the nearest lower one; [] if none is known. */
static void add_quantiles(const struct heat *heat, struct buf *json)
{
	size_t nr_cells = (size_t)((heat->last - heat->first) / heat->per_cell) + 1, nr, first = 0;
	struct cell_time *times = list_cells(heat, &nr);

	buf_text(json, "\"quantiles_pct\": [");
	for (size_t i = 0; i < sizeof(quantiles_pct) / sizeof(quantiles_pct[0]); i++) {
		buf_printf(json, "%s%u", i ? "," : "", quantiles_pct[i]);
	}
	buf_text(json, "], \"quantiles\": [");
	for (size_t k = 0; k < nr_cells; k++) {
		size_t end = first;

		while (end < nr && times[end].cell == k) {
			end++;
		}
		buf_text(json, k ? ",[" : "[");
		for (size_t i = 0;
			end > first && i < sizeof(quantiles_pct) / sizeof(quantiles_pct[0]); i++) {
			buf_printf(json, "%s%" PRIu64, i ? "," : "",
				times[first + (end - first - 1) * quantiles_pct[i] / 100].ns);
		}
		buf_char(json, ']');
		first = end;
	}
	buf_text(json, "], ");
	free(times);
}

char *step_heatmap_json(struct step_heatmap *steps, size_t nr_steps)
{
	struct heat heat = {0};
	struct buf out = {0};

	if (find_heat(&heat, steps, nr_steps, MAX_PAGE_RANKS, MAX_PAGE_CELLS)) {
		buf_printf(&out,
			"{\"first\": %" PRIu64 ", \"last\": %" PRIu64 ", \"per_cell\": %" PRIu64
			", \"median_ns\": %" PRIu64 ", \"nr_ranks\": %zu, ",
			heat.first, heat.last, heat.per_cell, heat.median_ns, heat.nr_ranks);
		add_quantiles(&heat, &out);
		buf_text(&out, "\"ranks\": [");
		for (size_t i = 0; i < heat.nr_shown; i++) {
			buf_text(&out, i ? ",\n" : "\n");
			add_rank(&heat, &heat.ranks[i], &out);
		}
		buf_text(&out, "]}");
		buf_char(&out, '\0');
	}
	free(heat.ranks);
	return out.bytes;
}
