/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the time of steps went to, and what devices did in them, in the manner of the overview of
 * PyTorch's TensorBoard plugin: at any time the first of kernel, copy, set, communication, call
 * of CUDA, data loader, operator on the CPU that covers it, else other. So the parts always sum to
 * the step (the plugin's do not where a step is covered wholly).
 *
 * A step ends with the last work that was launched in it, if that is later than its mark, and the
 * next one begins there; work of one step that outlasts the next is cut where that one begins.
 * Kernels are those that compute; communication is what no computation, copy or set covers.
 *
 * Fed by op_walk.c from the last event to the first. A step is closed, that is, summed, as soon as
 * all launches of the one before it are known. A step with more kernels than BREAKDOWN_MOST (or a
 * program without steps, which counts as one) is closed in stretches, the later half of the kernels
 * at a time: exact where devices run work in the order of its launches. Events that come later for
 * a closed stretch are cut off and counted.
 *
 * Memory: the intervals of two steps, and of the host as far as it is ahead of devices, up to 8 MB
 * of each part (interval_queue.h); BREAKDOWN_MOST kernels, 150 MB; a hundred bytes for each step.
 */
#ifndef REPORT_ANALYSIS_BREAKDOWN_H
#define REPORT_ANALYSIS_BREAKDOWN_H

#include "report/model/kernel_class.h"
#include "report/model/occupancy.h"
#include "report/ops/op_launch.h"
#include "report/ops/op_walk.h"
#include "report/table/table.h"
#include "report/util/interval_queue.h"
#include "report/util/intervals.h"

/*
 * What kernels made of a device in a stretch of time: how long any ran, how much of the
 * multiprocessors had blocks (the sum of blocks per multiprocessor of what ran at one time, at most
 * 1: an upper bound), how many of their warps by the estimated occupancy, and how long kernels
 * ran that use tensor cores. What reaches beyond the stretch is cut.
 */

struct device_utilization {
	uint32_t device;
	uint64_t busy_ns;		/* union of kernels */
	double sm_ns;			/* integral of the share of multiprocessors with blocks */
	bool is_sm_known;		/* of all kernels */
	double occupancy, occupancy_ns; /* sum of percent * ns, of those ns */
	uint64_t tensor_ns[NR_TENSOR_USES]; /* sums of times, not unions */
};

struct device_kernel {
	uint64_t begin, end; /* ns */
	uint32_t device;
	float blocks;	 /* per multiprocessor, below 0: unknown */
	int16_t percent; /* occupancy, below 0: unknown */
	uint8_t tensor;	 /* enum tensor_use */
};

/* Kernels that no stretch has covered yet. */
struct device_work {
	struct device_kernel *kernels;
	size_t nr_kernels, capacity;
	/* what the shapes of the process say, by their ids */
	struct process *process;
	struct idmap known;   /* struct device_kernel with all but the times */
	struct idmap devices; /* struct occupancy_device */
};

void device_work_init(struct device_work *work, struct process *process);
void device_work_fini(struct device_work *work);

/* A timed record of a kernel, or of a graph as a whole. */
void device_work_add(struct device_work *work, const struct op_record *record, uint64_t end_ns);

/* The same where device_work_take is not called: of such a kernel no more is known. */
struct device_kernel *device_work_add_times(
	struct device_work *work, uint64_t begin_ns, uint64_t end_ns);

/*
 * Sums up the stretch [begin, end) by device, in *nr rows to be freed, and forgets what is not
 * before it.
 */
struct device_utilization *device_work_take(
	struct device_work *work, uint64_t begin, uint64_t end, size_t *nr);

/* Forgets what begins at or after a time, as device_work_take does. */
void device_work_drop(struct device_work *work, uint64_t begin);

/* Adds another stretch of the same device. */
void device_utilization_add(struct device_utilization *sum, const struct device_utilization *more);

enum breakdown_part {
	BREAKDOWN_KERNEL,
	BREAKDOWN_MEMCPY,
	BREAKDOWN_MEMSET,
	BREAKDOWN_COMMUNICATION,
	BREAKDOWN_RUNTIME,
	BREAKDOWN_DATALOADER,
	BREAKDOWN_CPU,
	BREAKDOWN_OTHER,
	NR_BREAKDOWN_PARTS,
};

/* A column for each of them, titled as in TensorBoard. */
#define BREAKDOWN_COLUMNS                                                                        \
	TABLE_COLUMN("kernel_ns", "Kernel", TABLE_MEAN_TIME, .help = "a computing kernel runs"), \
		TABLE_COLUMN("memcpy_ns", "Memcpy", TABLE_MEAN_TIME, .help = "a copy runs"),     \
		TABLE_COLUMN("memset_ns", "Memset", TABLE_MEAN_TIME, .help = "a memset runs"),   \
		TABLE_COLUMN("communication_ns", "Communication", TABLE_MEAN_TIME,               \
			.help = "a communication kernel runs"),                                  \
		TABLE_COLUMN("runtime_ns", "Runtime", TABLE_MEAN_TIME,                           \
			.help = "the host is in a CUDA API call"),                               \
		TABLE_COLUMN("dataloader_ns", "DataLoader", TABLE_MEAN_TIME,                     \
			.help = "the host is in the data loader"),                               \
		TABLE_COLUMN("cpu_exec_ns", "CPU Exec", TABLE_MEAN_TIME,                         \
			.help = "the host is in an operator"),                                   \
		TABLE_COLUMN("other_ns", "Other", TABLE_MEAN_TIME, .help = "none of these")

/* Kernels that are held at once, and intervals of a part out of order. */
#define BREAKDOWN_MOST (1u << 20)

struct breakdown_step {
	uint64_t number;
	uint32_t place;		   /* as in phase_segment; 0: there are no steps */
	uint64_t begin_ns, end_ns; /* of the marks; then of the step as above */
	uint64_t device_end_ns;	   /* of what was launched in it */
	uint64_t next_ns;	   /* where the next one begins */
	uint64_t ns[NR_BREAKDOWN_PARTS];
	struct device_utilization *devices; /* nr_devices of the breakdown at that time */
	size_t nr_devices;
	bool is_begun; /* its last stretch is closed, so its end is known */
	bool is_whole; /* all of it was recorded */
};

struct breakdown {
	struct process *process;
	struct breakdown_step *steps; /* by time */
	size_t nr_steps;
	uint32_t *step_of;     /* 1 + index in steps, by place; 0: none */
	size_t nr_open;	       /* steps still to be summed: the first ones */
	uint64_t closed_ns;    /* what is later belongs to steps that are */
	uint64_t closing_tick; /* the last open step can be closed from here on; if several are */
	uint64_t before_ns;    /* end of the work that was launched before the first step */
	struct interval_queue parts[BREAKDOWN_OTHER];
	struct device_work work;
	size_t most; /* BREAKDOWN_MOST; tests have it small */
	bool has_steps, has_devices;
	bool is_done;	  /* what is still to come is before the first step */
	bool is_too_much; /* more than that at once: nothing more is kept, nothing known */
	uint64_t nr_late; /* events that belong to steps already closed, cut off there */
	uint64_t nr_cut;  /* events cut off, since that stretch of their own step was closed */
	uint64_t nr_untimed;
};

/* In the order of struct op_view's callbacks. has_devices: the devices of steps are wanted, too. */
void breakdown_begin(struct breakdown *breakdown, struct process *process, bool has_devices);
void breakdown_enter(struct breakdown *breakdown, const struct op *op);
/* For op_view.enter_wants. */
bool breakdown_wants_covered(uint32_t name, uint8_t framework, uint8_t scope);
void breakdown_call(struct breakdown *breakdown, const struct op_call *call);
void breakdown_record(
	struct breakdown *breakdown, const struct op_record *record, const struct op_call *call);
void breakdown_end(struct breakdown *breakdown, const struct phases *phases);
void breakdown_fini(struct breakdown *breakdown);

/* What the whole steps of a process add up to. */
enum breakdown_sum {
	BREAKDOWN_SUM_STEPS, /* 0: all that was recorded is one */
	BREAKDOWN_SUM_NS,
	BREAKDOWN_SUM_PARTS, /* ns, by enum breakdown_part */
	BREAKDOWN_SUM_CUT = BREAKDOWN_SUM_PARTS + NR_BREAKDOWN_PARTS, /* events that lack a part */
	NR_BREAKDOWN_SUMS,
};

#endif
