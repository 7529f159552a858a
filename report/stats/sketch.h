/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count, sum, extremes and a histogram (bins of histogram.h) of many values, in a form that merges.
 *
 * Sketches of the same values are equal, however the values were divided and ordered. Sums are
 * exact, quantiles at most 1.6 % off. Memory: 16 bytes for each bin that has values.
 */
#ifndef REPORT_STATS_SKETCH_H
#define REPORT_STATS_SKETCH_H

#include "report/util/pack.h"
#include "report/stats/histogram.h"

struct sketch_bin {
	uint32_t step;
	uint64_t count;
};

/* Call sketch_init, as group.min does not start at 0. */
struct sketch {
	struct histogram_group group; /* without its median */
	struct sketch_bin *bins;      /* by rising steps */
	size_t nr_bins;
};

void sketch_init(struct sketch *sketch);
void sketch_fini(struct sketch *sketch);

/* Adds one value. It is slow: for few values. */
void sketch_add(struct sketch *sketch, uint64_t value);

/* Adds all values of each group of a histogram to the sketch with the same index. */
void sketch_add_stat(struct sketch *const *sketches, const struct histogram *stat);

/* Adds all values of another sketch. */
void sketch_merge(struct sketch *into, const struct sketch *from);

/* Sets the median of the group and returns the p99; 0 without values. */
uint64_t sketch_finish(struct sketch *sketch);

void sketch_pack(const struct sketch *sketch, struct buf *out);

/* Reads into an initialized sketch. Invalid data mark `from` bad. */
void sketch_unpack(struct sketch *sketch, struct unpack *from);

#endif
