/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware counters of kernels: a sample belongs to a kernel if it lies wholly in the time in which
 * the kernel ran. It is of the whole GPU, so kernels that run at once share it. A kernel that no
 * sample lies in is not sampled.
 *
 *	samples   |--a--|--b--|--c--|--d--|--e--|
 *	kernels      [ k1        ]   [k2]           k1 has b; k2 has none
 *
 * Kernels come by their begin and samples by their end, but not at the same time: each waits for
 * the other, at most WAITING_MAX of a device. Kernels beyond that are not sampled.
 *
 * The pass over the activities does this. It adds up kernels by name; a view that wants them by
 * operator, phase or step sets keeps_kernels, and finds the samples of each kernel again in its
 * walk over operators. Only kernels with samples are kept, at most KEPT_MAX of a process; the
 * others of them are counted.
 */
#ifndef REPORT_GPU_KERNEL_COUNTERS_H
#define REPORT_GPU_KERNEL_COUNTERS_H

#include "report/gpu/gpu_activities.h"
#include "report/ops/op_launch.h"
#include "report/stats/keyed_stats.h"

enum kernel_counter {
	COUNTER_SM_ACTIVE,
	COUNTER_OCCUPANCY,
	COUNTER_TENSOR,
	COUNTER_DRAM,
	COUNTER_DRAM_READ,
	COUNTER_DRAM_WRITE,
	NR_COUNTERS
};

/* Samples of kernels. Means are weighted by the length of samples. */
struct counter_samples {
	uint64_t nr, ns;
	double sums[NR_COUNTERS], weights[NR_COUNTERS];
};

/* Kernels that share a row. */
struct counted_kernels {
	uint64_t nr, ns;
	uint64_t nr_sampled; /* so many of these kernels have samples */
	struct counter_samples samples;
};

struct kernel_counters_row {
	uint32_t name; /* of string_pool.h */
	struct counted_kernels kernels;
};

/* The kernels with samples of a process. */
struct kept_kernels {
	const struct process *process;
	struct kept_kernel *items; /* by begin, then correlation ID and place, after the pass */
	size_t nr, capacity;
	uint64_t nr_dropped;
};

struct kernel_counters {
	bool keeps_kernels;
	bool has_counters;	  /* set by kernel_counters_look */
	bool has_sampled;	  /* some kernel has samples */
	struct keyed_stats names; /* row k is that of rows[k] */
	struct kernel_counters_row *rows;
	size_t capacity;
	struct counter_device *devices; /* of the process, by number */
	size_t nr_devices;
	struct kept_kernels *kept; /* one for each process; the current one comes last */
	size_t nr_kept, kept_capacity;
	size_t last_found;   /* in kept */
	uint64_t nr_samples; /* of all GPUs and processes */
};

/*
 * For views that have counters beside other columns: looks for samples of counters in the streams,
 * up to the first one. Without any, kernel_counters_needs_scan keeps the pass from them.
 */
void kernel_counters_look(
	struct kernel_counters *counters, struct process *const *processes, size_t nr_processes);
bool kernel_counters_needs_scan(const void *counters);

/* Adds a kernel that ran for `ns`; samples: NULL if it has none. */
void counted_kernels_add(
	struct counted_kernels *kernels, uint64_t ns, const struct counter_samples *samples);

/* Starts with all zeros. kernel_counters_scan gathers. */
void kernel_counters_init(struct kernel_counters *counters);
void kernel_counters_fini(struct kernel_counters *counters);

/* The kernels of that name; zeros if there are none. */
const struct counted_kernels *kernel_counters_of_name(
	struct kernel_counters *counters, uint32_t name);

/* The samples of a kernel of that process, NULL if there are none. Needs keeps_kernels. */
const struct counter_samples *kernel_counters_of_record(struct kernel_counters *counters,
	const struct process *process, const struct op_record *record);

/* The pass over samples and activities, for a view with a struct kernel_counters as a part. */
extern const struct scan_view kernel_counters_scan;

/* ---- columns of views; `kernels` is a member of the row ---- */

/* The mean of a counter in the samples, in percent. */
#define COUNTER_MEAN(row, kernels, counter) \
	TABLE_MEAN(row, kernels.samples.sums[counter], kernels.samples.weights[counter])

#define COUNTER_COLUMN(row, kernels, key, title, counter, text) \
	TABLE_COLUMN(key, title, TABLE_PERCENT, .help = text, COUNTER_MEAN(row, kernels, counter))

/*
 * Measurements beside estimates. They are wide where no kernel of the view has samples; `counters`
 * is the view's struct kernel_counters.
 */
#define COUNTER_MEASURED(row, kernels, view, counters, key, title, counter, text)                 \
	TABLE_COLUMN(key, title, TABLE_PERCENT, .help = "measured: " text "; n/a if not sampled", \
		COUNTER_MEAN(row, kernels, counter),                                              \
		TABLE_WIDE_UNLESS(view, counters.has_sampled))
#define COUNTER_MEASURED_TENSOR(row, kernels, view, counters)                 \
	COUNTER_MEASURED(row, kernels, view, counters, "measured_tensor_pct", \
		"Measured tensor cores %", COUNTER_TENSOR, "time in which tensor cores worked")
#define COUNTER_MEASURED_OCCUPANCY(row, kernels, view, counters)                 \
	COUNTER_MEASURED(row, kernels, view, counters, "measured_occupancy_pct", \
		"Measured occupancy %", COUNTER_OCCUPANCY,                       \
		"resident warps, of the maximum of all SMs")
#define COUNTER_MEASURED_BANDWIDTH(row, kernels, view, counters)                 \
	COUNTER_MEASURED(row, kernels, view, counters, "measured_bandwidth_pct", \
		"Measured bandwidth %", COUNTER_DRAM, "GPU memory bandwidth in use, of the peak")
#define COUNTER_MEASURED_SHARE(row, kernels, view, counters)                                 \
	TABLE_COLUMN("sampled_pct", "Time sampled %", TABLE_PERCENT,                         \
		.help = "time of the samples that lie wholly in kernels, as a share of the " \
			"time of these kernels: what the measured columns rest on",          \
		TABLE_SHARE(row, kernels.samples.ns, kernels.ns),                            \
		TABLE_WIDE_UNLESS(view, counters.has_sampled))

/* All tables of counters begin with these columns. */
#define COUNTER_COLUMNS(row, kernels)                                                            \
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME, TABLE_MEMBER(row, kernels.ns)),            \
		TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(row, kernels.nr)),      \
		TABLE_COLUMN("sampled_calls_pct", "Calls sampled %", TABLE_PERCENT,              \
			.help = "calls in which at least one sample lies wholly",                \
			TABLE_SHARE(row, kernels.nr_sampled, kernels.nr)),                       \
		TABLE_COLUMN("sampled_pct", "Time sampled %", TABLE_PERCENT,                     \
			.help = "time of such samples, as a share of Total",                     \
			TABLE_SHARE(row, kernels.samples.ns, kernels.ns)),                       \
		TABLE_COLUMN("samples", "Samples", TABLE_COUNT, .is_minor = true,                \
			TABLE_MEMBER(row, kernels.samples.nr)),                                  \
		COUNTER_COLUMN(row, kernels, "sm_active_pct", "SM active %", COUNTER_SM_ACTIVE,  \
			"SMs with work"),                                                        \
		COUNTER_COLUMN(row, kernels, "tensor_active_pct", "Tensor cores %",              \
			COUNTER_TENSOR, "time in which tensor cores worked"),                    \
		COUNTER_COLUMN(row, kernels, "bandwidth_pct", "Bandwidth %", COUNTER_DRAM,       \
			"GPU memory bandwidth in use, of the peak"),                             \
		COUNTER_COLUMN(row, kernels, "bandwidth_read_pct", "Reads %", COUNTER_DRAM_READ, \
			"the part of reads"),                                                    \
		COUNTER_COLUMN(row, kernels, "bandwidth_write_pct", "Writes %",                  \
			COUNTER_DRAM_WRITE, "the part of writes"),                               \
		COUNTER_COLUMN(row, kernels, "achieved_occupancy_pct", "Achieved occupancy %",   \
			COUNTER_OCCUPANCY, "resident warps, of the maximum of all SMs")

/* Notes below a table what `kernels`, all of the table, lacks. */
void kernel_counters_note(const struct kernel_counters *counters,
	const struct counted_kernels *kernels, struct table *table);

#endif
