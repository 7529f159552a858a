/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/keep.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

/*
 * A slice's weight: its length as a number of 10 bits with 4 significant ones, and below it 8 bits
 * of chance, which thin out those of one length evenly over time.
 */
#define LENGTH_BITS 4u
#define CHANCE_BITS 8u
#define NR_WEIGHTS  (1u << (6 + LENGTH_BITS + CHANCE_BITS))

#define MOMENT_NS 1000000u

void html_keep_init(struct html_keep *keep, size_t capacity, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t span = last_ns > first_ns ? last_ns - first_ns : 1;

	*keep = (struct html_keep){
		.capacity = capacity, .first_ns = first_ns, .nr_buckets = HTML_KEEP_BUCKETS};
	while (span >> keep->shift >= HTML_KEEP_BUCKETS) {
		keep->shift++;
	}
	keep->slices = mem_resize(NULL, capacity, sizeof(*keep->slices));
	keep->histogram = mem_zeroed(NR_WEIGHTS, sizeof(*keep->histogram));
}

void html_keep_fini(struct html_keep *keep)
{
	for (size_t i = 0; i < keep->nr_rows; i++) {
		free(keep->grids[i]);
	}
	free(keep->grids);
	free(keep->slices);
	free(keep->histogram);
}

static uint32_t weight_of(const struct html_slice *slice)
{
	uint64_t ns = slice->is_moment ? MOMENT_NS : slice->dur_ns;
	uint64_t chance = (slice->begin_ns * 31 + slice->row) * 0x9e3779b97f4a7c15ull;
	uint32_t length = (uint32_t)ns;

	if (ns >= 1u << LENGTH_BITS) {
		unsigned int bits = 63u - (unsigned int)__builtin_clzll(ns);

		length = (bits - LENGTH_BITS + 1) << LENGTH_BITS |
			 ((uint32_t)(ns >> (bits - LENGTH_BITS)) & ((1u << LENGTH_BITS) - 1));
	}
	return length << CHANCE_BITS | (uint32_t)(chance >> (64 - CHANCE_BITS));
}

bool html_keep_wants(const struct html_keep *keep, const struct html_slice *slice)
{
	return weight_of(slice) >= keep->least;
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

void html_keep_widen(struct html_keep *keep)
{
	size_t nr = keep->nr_buckets / 2;

	for (size_t i = 0; i < keep->nr_rows; i++) {
		struct html_bucket *grid = keep->grids[i];

		if (!grid) {
			continue;
		}
		for (size_t k = 0; k < nr; k++) {
			struct html_bucket both = grid[2 * k];

			join(&both, &grid[2 * k + 1]);
			grid[k] = both;
		}
		keep->grids[i] = mem_resize(grid, nr, sizeof(*grid));
	}
	keep->nr_buckets = nr;
	keep->shift++;
}

static struct html_bucket *grid_of(struct html_keep *keep, uint32_t row)
{
	if (row >= keep->nr_rows) {
		size_t nr = (size_t)row * 2 + 16;

		keep->grids = mem_resize(keep->grids, nr, sizeof(*keep->grids));
		memset(keep->grids + keep->nr_rows, 0, (nr - keep->nr_rows) * sizeof(*keep->grids));
		keep->nr_rows = nr;
	}
	if (!keep->grids[row]) {
		keep->nr_grids++;
		while (keep->nr_buckets > HTML_KEEP_LEAST_BUCKETS &&
			keep->nr_grids * keep->nr_buckets * sizeof(struct html_bucket) >
				HTML_KEEP_GRID_BYTES) {
			html_keep_widen(keep);
		}
		keep->grids[row] = mem_zeroed(keep->nr_buckets, sizeof(struct html_bucket));
	}
	return keep->grids[row];
}

static size_t bucket_at(const struct html_keep *keep, uint64_t ns)
{
	uint64_t at = ns > keep->first_ns ? (ns - keep->first_ns) >> keep->shift : 0;

	return at < keep->nr_buckets ? (size_t)at : keep->nr_buckets - 1;
}

static void drop(struct html_keep *keep, const struct html_slice *slice)
{
	struct html_bucket *grid = grid_of(keep, slice->row);
	uint64_t begin = slice->begin_ns, end = begin + slice->dur_ns;
	size_t first = bucket_at(keep, begin), last = bucket_at(keep, end);

	keep->nr_dropped++;
	if (slice->dur_ns > keep->longest_dropped_ns) {
		keep->longest_dropped_ns = slice->dur_ns;
	}
	for (size_t i = first; i <= last; i++) {
		uint64_t until = keep->first_ns + ((uint64_t)(i + 1) << keep->shift);
		uint64_t part = i < last && until < end ? until - begin : end - begin;

		join(&grid[i], &(struct html_bucket){.busy_ns = part,
				       .longest_ns = slice->dur_ns,
				       .name = slice->name,
				       .nr = i == first});
		begin += part;
	}
}

/* ---- slices ---- */

/* The least weight with which no more than nr are left. */
static uint32_t find_least(const struct html_keep *keep, size_t nr)
{
	uint32_t least = NR_WEIGHTS;
	size_t nr_kept = 0;

	memset(keep->histogram, 0, NR_WEIGHTS * sizeof(*keep->histogram));
	for (size_t i = 0; i < keep->nr; i++) {
		keep->histogram[weight_of(&keep->slices[i])]++;
	}
	while (least > 0 && nr_kept + keep->histogram[least - 1] <= nr) {
		nr_kept += keep->histogram[--least];
	}
	return least;
}

void html_keep_cut(struct html_keep *keep, size_t nr)
{
	size_t nr_kept = 0;

	if (keep->nr <= nr) {
		return;
	}
	keep->least = find_least(keep, nr);
	for (size_t i = 0; i < keep->nr; i++) {
		if (weight_of(&keep->slices[i]) < keep->least) {
			drop(keep, &keep->slices[i]);
		} else {
			keep->slices[nr_kept++] = keep->slices[i];
		}
	}
	keep->nr = nr_kept;
}

void html_keep_add(struct html_keep *keep, const struct html_slice *slice)
{
	if (keep->nr == keep->capacity) {
		html_keep_cut(keep, keep->capacity / 2);
	}
	if (html_keep_wants(keep, slice) && keep->nr < keep->capacity) {
		keep->slices[keep->nr++] = *slice;
	} else {
		drop(keep, slice);
	}
}

static int compare(const void *a, const void *b)
{
	const struct html_slice *x = a, *y = b;

	if (x->row != y->row) {
		return x->row < y->row ? -1 : 1;
	}
	if (x->begin_ns != y->begin_ns) {
		return x->begin_ns < y->begin_ns ? -1 : 1;
	}
	return (x->dur_ns > y->dur_ns) - (x->dur_ns < y->dur_ns);
}

void html_keep_sort(struct html_keep *keep)
{
	qsort(keep->slices, keep->nr, sizeof(*keep->slices), compare);
}
