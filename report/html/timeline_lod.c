/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slice is kept while its weight reaches `least`. Whenever the room is full, `least` rises so far
 * that half of the slices go into the grids. A row has a grid once something of it was dropped; all
 * grids become coarser together.
 */
#include "report/html/timeline_lod.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

/*
 * The weight of a slice: its length as a number of 10 bits, 4 of them significant, and below it 8
 * random bits, which thin out slices of one length evenly over time.
 */
#define LENGTH_BITS 4u
#define CHANCE_BITS 8u
#define NR_WEIGHTS  (1u << (6 + LENGTH_BITS + CHANCE_BITS))

#define INSTANT_NS 1000000u

void html_lod_init(struct html_lod *lod, size_t capacity, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t span = last_ns > first_ns ? last_ns - first_ns : 1;

	*lod = (struct html_lod){
		.capacity = capacity, .first_ns = first_ns, .nr_buckets = HTML_LOD_BUCKETS};
	while (span >> lod->shift >= HTML_LOD_BUCKETS) {
		lod->shift++;
	}
	lod->slices = mem_resize(NULL, capacity, sizeof(*lod->slices));
	lod->histogram = mem_zeroed(NR_WEIGHTS, sizeof(*lod->histogram));
}

void html_lod_fini(struct html_lod *lod)
{
	for (size_t i = 0; i < lod->nr_rows; i++) {
		free(lod->grids[i]);
	}
	free(lod->grids);
	free(lod->slices);
	free(lod->histogram);
}

static uint32_t weight_of(const struct html_slice *slice)
{
	uint64_t ns = slice->is_instant ? INSTANT_NS : slice->dur_ns;
	uint64_t chance = (slice->begin_ns * 31 + slice->row) * 0x9e3779b97f4a7c15ull;
	uint32_t length = (uint32_t)ns;

	if (ns >= 1u << LENGTH_BITS) {
		unsigned int bits = 63u - (unsigned int)__builtin_clzll(ns);

		length = (bits - LENGTH_BITS + 1) << LENGTH_BITS |
			 ((uint32_t)(ns >> (bits - LENGTH_BITS)) & ((1u << LENGTH_BITS) - 1));
	}
	return length << CHANCE_BITS | (uint32_t)(chance >> (64 - CHANCE_BITS));
}

/* ---- grids ---- */

static void join(struct html_bucket *bucket, const struct html_bucket *other)
{
	bucket->busy_ns += other->busy_ns;
	bucket->nr += other->nr;
	if (other->longest_ns > bucket->longest_ns || !bucket->name) {
		bucket->longest_ns = other->longest_ns;
		bucket->name = other->name;
	}
}

void html_lod_widen(struct html_lod *lod)
{
	size_t nr = lod->nr_buckets / 2;

	for (size_t i = 0; i < lod->nr_rows; i++) {
		struct html_bucket *grid = lod->grids[i];

		if (!grid) {
			continue;
		}
		for (size_t k = 0; k < nr; k++) {
			struct html_bucket both = grid[2 * k];

			join(&both, &grid[2 * k + 1]);
			grid[k] = both;
		}
		lod->grids[i] = mem_resize(grid, nr, sizeof(*grid));
	}
	lod->nr_buckets = nr;
	lod->shift++;
}

static struct html_bucket *grid_of(struct html_lod *lod, uint32_t row)
{
	if (row >= lod->nr_rows) {
		size_t nr = (size_t)row * 2 + 16;

		lod->grids = mem_resize(lod->grids, nr, sizeof(*lod->grids));
		memset(lod->grids + lod->nr_rows, 0, (nr - lod->nr_rows) * sizeof(*lod->grids));
		lod->nr_rows = nr;
	}
	if (!lod->grids[row]) {
		lod->nr_grids++;
		while (lod->nr_buckets > HTML_LOD_MIN_BUCKETS &&
			lod->nr_grids * lod->nr_buckets * sizeof(struct html_bucket) >
				HTML_LOD_GRID_BYTES) {
			html_lod_widen(lod);
		}
		lod->grids[row] = mem_zeroed(lod->nr_buckets, sizeof(struct html_bucket));
	}
	return lod->grids[row];
}

static size_t bucket_at(const struct html_lod *lod, uint64_t ns)
{
	uint64_t at = ns > lod->first_ns ? (ns - lod->first_ns) >> lod->shift : 0;

	return at < lod->nr_buckets ? (size_t)at : lod->nr_buckets - 1;
}

static void drop(struct html_lod *lod, const struct html_slice *slice)
{
	struct html_bucket *grid = grid_of(lod, slice->row);
	uint64_t begin = slice->begin_ns, end = begin + slice->dur_ns;
	size_t first = bucket_at(lod, begin), last = bucket_at(lod, end);

	lod->nr_dropped++;
	if (slice->dur_ns > lod->longest_dropped_ns) {
		lod->longest_dropped_ns = slice->dur_ns;
	}
	for (size_t i = first; i <= last; i++) {
		uint64_t until = lod->first_ns + ((uint64_t)(i + 1) << lod->shift);
		uint64_t part = i < last && until < end ? until - begin : end - begin;

		join(&grid[i], &(struct html_bucket){.busy_ns = part,
				       .longest_ns = slice->dur_ns,
				       .name = slice->name,
				       .nr = i == first});
		begin += part;
	}
}

/* ---- slices ---- */

/* Returns the least weight with which no more than nr are left. */
static uint32_t find_least(const struct html_lod *lod, size_t nr)
{
	uint32_t least = NR_WEIGHTS;
	size_t nr_kept = 0;

	memset(lod->histogram, 0, NR_WEIGHTS * sizeof(*lod->histogram));
	for (size_t i = 0; i < lod->nr; i++) {
		lod->histogram[weight_of(&lod->slices[i])]++;
	}
	while (least > 0 && nr_kept + lod->histogram[least - 1] <= nr) {
		nr_kept += lod->histogram[--least];
	}
	return least;
}

void html_lod_cut(struct html_lod *lod, size_t nr)
{
	size_t nr_kept = 0;

	if (lod->nr <= nr) {
		return;
	}
	lod->least = find_least(lod, nr);
	for (size_t i = 0; i < lod->nr; i++) {
		if (weight_of(&lod->slices[i]) < lod->least) {
			drop(lod, &lod->slices[i]);
		} else {
			lod->slices[nr_kept++] = lod->slices[i];
		}
	}
	lod->nr = nr_kept;
}

bool html_lod_drop(struct html_lod *lod, const struct html_slice *slice)
{
	if (lod->nr == lod->capacity) {
		html_lod_cut(lod, lod->capacity / 2);
	}
	if (weight_of(slice) >= lod->least && lod->nr < lod->capacity) {
		return false;
	}
	drop(lod, slice);
	return true;
}

void html_lod_keep(struct html_lod *lod, const struct html_slice *slice)
{
	lod->slices[lod->nr++] = *slice;
}

static int compare(const void *a, const void *b)
{
	const struct html_slice *x = a, *y = b;

	return ORDER(COMPARE(x->row, y->row), COMPARE(x->begin_ns, y->begin_ns),
		COMPARE(x->dur_ns, y->dur_ns));
}

void html_lod_sort(struct html_lod *lod)
{
	qsort(lod->slices, lod->nr, sizeof(*lod->slices), compare);
}
