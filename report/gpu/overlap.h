/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how long which kinds of work ran on a device at the same time, by step: one walk along
 * the time, which keeps no record. Every ns of a device counts once, so unions, what they have in
 * common and what is left add up to the whole, however much overlaps.
 */
#ifndef REPORT_GPU_OVERLAP_H
#define REPORT_GPU_OVERLAP_H

#include "report/gpu/gpu_activities.h"

/* Bits: what ran. */
enum {
	OVERLAP_COMPUTATION = 1,
	OVERLAP_COMMUNICATION = 2,
	OVERLAP_MEMORY = 4, /* copies and sets */
	OVERLAP_SETS = 8,   /* so many sets of bits */
};

/* Times in ns by what ran: [0] nothing, [3] computation and communication but no copy ... */
struct overlap_times {
	uint64_t ns[OVERLAP_SETS];
};

/* That any of `bits` ran; that each of them did. */
uint64_t overlap_any(const struct overlap_times *times, unsigned int bits);
uint64_t overlap_all(const struct overlap_times *times, unsigned int bits);

/*
 * A device of a process. What the host communicates (host_collectives.h) is of all devices of it;
 * of a process without work of devices its host is one, with what operators compute.
 */
struct overlap_device {
	struct process *process;
	uint32_t device; /* UINT32_MAX: unknown, or the host */
	bool is_host;
	uint64_t first, last; /* begin of the first record, end of the last; CLOCK_MONOTONIC ns */
	uint64_t nr_activities;
	struct overlap_times all;
	struct overlap_times *steps; /* as phases_step counts: [0] before the first */
	size_t nr_steps;	/* so many were begun before the last record ended, 1 at least */
	uint64_t now, until[3]; /* while it goes on: each kind runs until then */
};

struct overlap {
	struct overlap_device *devices;
	size_t nr_devices, capacity;
	size_t first;		 /* of the current process */
	struct process *process; /* the current one */
	bool has_operators;	 /* of a process without work of devices: they are its work */
	uint64_t host_until;	 /* so long goes on what the host communicates */
	uint64_t *bounds;	 /* of its steps, CLOCK_MONOTONIC ns, rising */
	size_t nr_bounds;
	bool is_chosen_alone; /* of a choice of steps (select.h): what these launched */
};

/*
 * Starts with all zeros but for is_chosen_alone. For each process, as in scan_view; it takes
 * activities as on_activity gets them, with begin_host also those of the host.
 */
void overlap_begin(struct overlap *overlap, struct process *process);
void overlap_begin_host(struct overlap *overlap, struct process *process);
/* After overlap_begin: its bounds are these times, rising, instead of those of steps. */
void overlap_set_bounds(struct overlap *overlap, const uint64_t *bounds, size_t nr);
void overlap_take(struct overlap *overlap, const struct gpu_activity *work);
void overlap_end(struct overlap *overlap);
void overlap_fini(struct overlap *overlap);

#endif
