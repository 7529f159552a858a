/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts equal samples of a process, so that a view walks each stack once. CPU samples are equal if
 * their Python stacks are; samples of waits, if they also wait in the same call for the same
 * object.
 */
#ifndef REPORT_HOST_ALIKE_SAMPLES_H
#define REPORT_HOST_ALIKE_SAMPLES_H

#include "report/budget/wait_samples.h"
#include "report/model/scan.h"
#include "report/util/hash.h"

struct alike {
	struct wait_key key; /* a CPU sample sets the Python stack alone */
	uint64_t nr, ns;
	UT_hash_handle hh;
};

/* Two hash tables. Zero-initialized. */
struct alike_samples {
	struct alike *running, *waiting;
};

/* The tables and columns that alike_samples_add reads: two elements of a view's list. */
#define ALIKE_SAMPLES_WANTS                                                          \
	{GPROF_TABLE_cpu_sample, COLS(cpu_sample, ns, py_stack), 0},                 \
	{                                                                            \
		GPROF_TABLE_wait_sample, COLS(wait_sample, ns) | WAIT_KEY_COLUMNS, 0 \
	}

/* Adds the rows of a batch of either table. */
void alike_samples_add(struct alike_samples *samples, const struct batch *b);

/* Frees all, and leaves it as at first. */
void alike_samples_fini(struct alike_samples *samples);

#endif
