/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a trace whose profiler marks none: ranges of the user whose name says that they are
 * steps. Of the names that steps have, the first one in the order of step_names.c counts: that of
 * PyTorch's profiler always, others if two ranges have it.
 */
#ifndef REPORT_IMPORT_STEP_NAMES_H
#define REPORT_IMPORT_STEP_NAMES_H

#include "report/import/steps.h"

#define IMPORT_NR_STEP_NAMES 12u

/* Zero-initialized. */
struct import_step_names {
	/* With a number behind the name; and without, which are counted from 0. */
	struct import_steps numbered[IMPORT_NR_STEP_NAMES], counted[IMPORT_NR_STEP_NAMES];
};

void import_step_names_fini(struct import_step_names *names);

/* A range from begin to end, in ticks. Any name that no step has is left alone: false. */
bool import_step_names_add(struct import_step_names *names, uint32_t thread, const char *name,
	size_t nr_bytes, uint64_t begin, uint64_t end);

/* Writes the steps, if there are any. */
void import_step_names_write(struct import_step_names *names, struct import_out *out);

/* Reports what is wrong with the steps that were written. */
void import_step_names_add_damages(const struct import_step_names *names, struct stream *stream);

#endif
