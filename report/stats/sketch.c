/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The histogram of a summary file, for `reduce`: sums and a sorted list of bins that have values.
 * reduce makes one for each row of a view from its histogram, writes it, reads those of all
 * processes and merges them. Two lists merge like sorted runs, so the result does not depend on the
 * order.
 */
#include "report/stats/sketch.h"

#include <stdlib.h>

#include "report/stats/histogram.h"

void sketch_init(struct sketch *sketch)
{
	*sketch = (struct sketch){.group.min = UINT64_MAX};
}

void sketch_fini(struct sketch *sketch)
{
	free(sketch->bins);
	sketch_init(sketch);
}

/* ---- adding ---- */

static void add_group(struct histogram_group *into, const struct histogram_group *from)
{
	into->count += from->count;
	into->sum += from->sum;
	into->sum_squares += from->sum_squares;
	into->min = from->min < into->min ? from->min : into->min;
	into->max = from->max > into->max ? from->max : into->max;
}

/* Merges two rising lists; bins with the same number become one. */
static void add_bins(struct sketch *into, const struct sketch_bin *bins, size_t nr_bins)
{
	struct sketch_bin *sum = mem_zeroed(into->nr_bins + nr_bins, sizeof(*sum));
	size_t nr = 0, i = 0, k = 0;

	while (i < into->nr_bins || k < nr_bins) {
		bool is_left =
			i < into->nr_bins && (k == nr_bins || into->bins[i].step <= bins[k].step);
		struct sketch_bin next = is_left ? into->bins[i++] : bins[k++];

		if (nr && sum[nr - 1].step == next.step) {
			sum[nr - 1].count += next.count;
		} else {
			sum[nr++] = next;
		}
	}
	free(into->bins);
	into->bins = sum;
	into->nr_bins = nr;
}

void sketch_merge(struct sketch *into, const struct sketch *from)
{
	add_group(&into->group, &from->group);
	add_bins(into, from->bins, from->nr_bins);
}

void sketch_add(struct sketch *sketch, uint64_t value)
{
	const struct sketch_bin bin = {histogram_bin(value), 1};
	const struct histogram_group group = {.count = 1,
		.min = value,
		.max = value,
		.sum = value,
		.sum_squares = (unsigned __int128)value * value};

	add_group(&sketch->group, &group);
	add_bins(sketch, &bin, 1);
}

/* Adds the bins from that of the smallest value to that of the largest which have any. */
static void add_counts(
	struct sketch *sketch, const struct histogram_group *group, const uint32_t *counts)
{
	struct sketch_bin bins[HISTOGRAM_STEPS];
	size_t nr_bins = 0;

	for (unsigned int step = histogram_bin(group->min); step <= histogram_bin(group->max);
		step++) {
		if (counts[step]) {
			bins[nr_bins++] = (struct sketch_bin){step, counts[step]};
		}
	}
	add_group(&sketch->group, group);
	add_bins(sketch, bins, nr_bins);
}

/* An exact histogram has no bins yet: its values, which lie by group, are counted first. */
void sketch_add_stat(struct sketch *const *sketches, const struct histogram *stat)
{
	uint64_t *all = stat->is_exact ? histogram_values(stat) : NULL;
	const uint64_t *values = all;

	for (size_t i = 0; i < stat->nr_groups; i++) {
		const struct histogram_group *group = &stat->groups[i];
		uint32_t counts[HISTOGRAM_STEPS] = {0};

		if (!group->count) {
			continue;
		}
		for (uint64_t k = 0; all && k < group->count; k++) {
			counts[histogram_bin(*values++)]++;
		}
		add_counts(
			sketches[i], group, all ? counts : stat->histograms + i * HISTOGRAM_STEPS);
	}
	free(all);
}

/* ---- quantiles ---- */

/* The value that `rank` values do not exceed. */
static uint64_t value_at(const struct sketch *sketch, uint64_t rank)
{
	const struct histogram_group *group = &sketch->group;
	uint64_t before = 0, value;
	size_t i = 0;

	while (i + 1 < sketch->nr_bins && before + sketch->bins[i].count < rank) {
		before += sketch->bins[i++].count;
	}
	value = histogram_bin_value(sketch->bins[i].step);
	value = value < group->min ? group->min : value;
	return value > group->max ? group->max : value;
}

uint64_t sketch_finish(struct sketch *sketch)
{
	struct histogram_group *group = &sketch->group;
	uint64_t below, above;

	if (!group->count || !sketch->nr_bins) {
		return 0;
	}
	/* An even number has two values in the middle. */
	below = value_at(sketch, group->count - group->count / 2);
	above = value_at(sketch, group->count / 2 + 1);
	group->median = histogram_mean_of_two(below, above);
	return value_at(sketch, histogram_p99_rank(group->count));
}

/* ---- bytes ---- */

void sketch_pack(const struct sketch *sketch, struct buf *out)
{
	const struct histogram_group *group = &sketch->group;
	uint32_t step = 0;

	pack_uint(out, group->count);
	if (!group->count) {
		return;
	}
	pack_uint(out, group->min);
	pack_uint(out, group->max - group->min);
	pack_wide(out, group->sum);
	pack_wide(out, group->sum_squares);
	pack_uint(out, sketch->nr_bins);
	for (size_t i = 0; i < sketch->nr_bins; i++) {
		pack_uint(out, sketch->bins[i].step - step);
		pack_uint(out, sketch->bins[i].count);
		step = sketch->bins[i].step;
	}
}

/* A file may be damaged or hostile: bins must rise and lie in the range, or the sketch is empty. */
void sketch_unpack(struct sketch *sketch, struct unpack *from)
{
	struct histogram_group *group = &sketch->group;
	uint64_t step = 0;
	size_t nr_bins;

	sketch_init(sketch);
	group->count = unpack_uint(from);
	if (!group->count) {
		return;
	}
	group->min = unpack_uint(from);
	group->max = group->min + unpack_uint(from);
	group->sum = unpack_wide(from);
	group->sum_squares = unpack_wide(from);
	nr_bins = unpack_count(from);
	from->is_bad |= group->max < group->min || !nr_bins || nr_bins > HISTOGRAM_STEPS;
	if (from->is_bad) {
		return;
	}
	sketch->bins = mem_zeroed(nr_bins, sizeof(*sketch->bins));
	for (size_t i = 0; i < nr_bins; i++) {
		uint64_t more = unpack_uint(from);

		step += more;
		from->is_bad |= more >= HISTOGRAM_STEPS || step >= HISTOGRAM_STEPS || (i && !more);
		sketch->bins[i] = (struct sketch_bin){(uint32_t)step, unpack_uint(from)};
	}
	sketch->nr_bins = nr_bins;
	if (from->is_bad) {
		sketch_fini(sketch);
	}
}
