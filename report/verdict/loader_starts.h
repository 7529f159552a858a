/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds loaders whose workers start anew, as those of PyTorch do in each epoch unless they are
 * persistent, and what the loop waits for meanwhile.
 */
#ifndef REPORT_VERDICT_LOADER_STARTS_H
#define REPORT_VERDICT_LOADER_STARTS_H

#include "report/analysis/headline.h"

struct loader_starts {
	uint64_t nr; /* times that a loop starts workers, of the loop that does so most often */
	uint64_t nr_anew; /* in all loops, those after workers of the same number had ended */
	/*
	 * What the loop waits for in these, from the first worker to its first batch; and that
	 * less the longest time that making a batch may have taken. At most idle time, of a GPU
	 * if there is one. Means over all steps, outliers among them, and so is step_ns.
	 */
	double ns, least_ns, step_ns;
	double counted_ns; /* of `ns` the part in steps that count, as a mean over these */
	double usual_ns;   /* of a step */
};

/* median_step_ns: of headline_figures. */
struct loader_starts loader_starts_of(const struct headline *headline, double median_step_ns);

#endif
