/* SPDX-License-Identifier: Apache-2.0 */
/* What the view overview has found, and the table of it. */
#ifndef REPORT_ANALYSIS_OVERVIEW_H
#define REPORT_ANALYSIS_OVERVIEW_H

#include "report/ops/op.h"
#include "report/analysis/view.h"

enum overview_work {
	OVERVIEW_KERNEL,
	OVERVIEW_COPY,
	OVERVIEW_SET,
	OVERVIEW_COMMUNICATION, /* these two are among the kernels */
	OVERVIEW_COMPUTATION,
	NR_OVERVIEW_WORKS,
};

/* Rows of the host: phases, calls of CUDA, and the kinds of event_type.h. */
enum {
	OVERVIEW_CALLS = PHASE_OTHERS,
	OVERVIEW_EVENTS,
	NR_OVERVIEW_HOST = OVERVIEW_EVENTS + NR_EVENT_TYPES,
};

struct overview_sum {
	uint64_t nr, ns;
};

/* Of processes with a training loop; where there is none, of the others. */
struct overview {
	struct overview_sum steps, host[NR_OVERVIEW_HOST], work[NR_OVERVIEW_WORKS];
	bool has_work, has_steps;
	size_t nr_processes;
};

/* The kernels of a device of a process. */
struct overview_device {
	const struct overview *of;
	const struct process *process;
	uint32_t device;
	struct overview_sum kernels;
	uint64_t steps_ns; /* of its process */
};

/* Of all processes. */
struct overview_result {
	struct overview loops, others;
	struct overview_device *devices;
	size_t nr_devices, capacity;
	uint64_t nr_untimed;
	bool is_selected;	     /* steps were chosen */
	struct view_without without; /* device records */
};

struct table *overview_table(const struct overview_result *result);

#endif
