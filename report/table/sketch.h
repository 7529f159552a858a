/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many values as their number, sum, extremes and a histogram with the steps of stat.h. Sketches add
 * up: of the same values they are the same, in whatever parts and order they came. Sums are exact,
 * quantiles at most 1.6 % off. Memory: 16 bytes for each step that has values.
 */
#ifndef REPORT_TABLE_SKETCH_H
#define REPORT_TABLE_SKETCH_H

#include "report/util/pack.h"
#include "report/table/histogram.h"

struct sketch_bin {
	uint32_t step;
	uint64_t count;
};

/* Starts as all zeros, but for group.min: see sketch_init. */
struct sketch {
	struct histogram_group group; /* without its median */
	struct sketch_bin *bins;      /* by rising steps */
	size_t nr_bins;
};

void sketch_init(struct sketch *sketch);
void sketch_fini(struct sketch *sketch);

/* Adds a value: for few of them. */
void sketch_add(struct sketch *sketch, uint64_t value);

/* Adds all values of each group of a stat to the sketch at its place. */
void sketch_add_stat(struct sketch *const *sketches, const struct histogram *stat);

/* Adds all values of another one. */
void sketch_merge(struct sketch *into, const struct sketch *from);

/* Sets the median of the group, and returns the p99; 0 of nothing. */
uint64_t sketch_finish(struct sketch *sketch);

void sketch_pack(const struct sketch *sketch, struct buf *out);

/* Into one that was made. What makes no sense makes `from` bad. */
void sketch_unpack(struct sketch *sketch, struct unpack *from);

#endif
