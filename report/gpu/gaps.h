/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the devices of a process did nothing: between two stretches of the union of a device's work,
 * whichever streams it ran on, so that none is negative. The longest GAPS_MAX are kept (32 bytes
 * each), of all the number and the sum.
 */
#ifndef REPORT_GPU_GAPS_H
#define REPORT_GPU_GAPS_H

#include "report/gpu/gpu_activities.h"

#define GAPS_MAX 16384u

struct gap {
	uint64_t begin, end; /* CLOCK_MONOTONIC ns */
	uint32_t device;
	uint32_t step, place; /* set for gaps of the budget: see gap_places.h */
};

struct gaps_device {
	uint32_t device;
	uint64_t first, until; /* begin of the first record; end of the union so far */
};

struct gaps {
	struct gap *items; /* by device and begin, after gaps_end */
	size_t nr, capacity;
	size_t found; /* where the last search ended; the next one mostly ends near it */
	struct gaps_device *devices;
	size_t nr_devices, device_capacity;
	uint64_t nr_all, all_ns, kept_ns;
};

/* Starts with all zeros, for one process; it takes activities as on_activity gets them. */
void gaps_take(struct gaps *gaps, const struct gpu_activity *work);
/* The same of a gap that is known. */
void gaps_keep(struct gaps *gaps, const struct gap *gap);
void gaps_end(struct gaps *gaps);
void gaps_fini(struct gaps *gaps);

/*
 * Returns how long the devices, each by itself, were idle between two times, as far as the gaps
 * that are kept show; a device is also idle before its first record and after its last.
 */
uint64_t gaps_idle_in(struct gaps *gaps, uint64_t begin_ns, uint64_t end_ns);

#endif
