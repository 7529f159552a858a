/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of all devices of a job, for the comparison of straggler.h: a step is that of the
 * rank's marks on the host, with what its device did in that time.
 */
#ifndef REPORT_GPU_STRAGGLER_STEPS_H
#define REPORT_GPU_STRAGGLER_STEPS_H

#include "report/gpu/overlap.h"
#include "report/gpu/utilization.h"
#include "report/comm/straggler.h"

/* Zero-initialized. */
struct straggler_steps {
	struct straggler *stragglers; /* as overlap.devices */
	size_t nr, capacity;
};

/* Times of a damaged stream may be anything; their sums and differences must fit. */
static inline int64_t straggler_clip(uint64_t ns)
{
	return ns < 1ull << 56 ? (int64_t)ns : (int64_t)1 << 56;
}

/* Adds the devices that the overlap has more, those of the process that both have just been over.
 */
void straggler_steps_add(struct straggler_steps *steps, const struct overlap *overlap,
	const struct utilization *usage);

/* The phases of the same steps, on the host. */
void straggler_steps_add_phases(struct straggler_steps *steps, const struct overlap *overlap,
	const struct process *process, const struct phases *phases);

/* Compares all of them, once; the processes are those of the devices. */
void straggler_steps_compare(
	struct straggler_steps *steps, struct process *const *processes, size_t nr_processes);
void straggler_steps_fini(struct straggler_steps *steps);

#endif
