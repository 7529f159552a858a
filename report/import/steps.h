/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a trace, from ranges that name them. */
#ifndef REPORT_IMPORT_STEPS_H
#define REPORT_IMPORT_STEPS_H

#include "report/import/out.h"

struct stream;

struct import_step {
	uint64_t begin, end, number;
	uint32_t thread;
	size_t order;
};

/* Zero-initialized. */
struct import_steps {
	struct import_step *items;
	size_t nr, capacity;
	uint64_t nr_other, nr_overlapping; /* counted while steps are written */
};

void import_steps_fini(struct import_steps *steps);
void import_steps_add(
	struct import_steps *steps, uint64_t begin, uint64_t end, uint64_t number, uint32_t thread);

/*
 * Writes the steps of the thread that has the first one. Time between two of them may belong to
 * none. If the next one begins before the end, the step ends there.
 */
void import_steps_write(struct import_steps *steps, struct import_out *out);

/* Reports steps that overlap, and those of other threads. */
void import_steps_add_damages(const struct import_steps *steps, struct stream *stream);

#endif
