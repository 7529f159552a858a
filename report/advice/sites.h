/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What costs time, by its cause, and where it comes from: sums, and for each cause the call sites
 * (operator, Python stack, and what was called or ran). Bounded by how many different sites there
 * are, not by how often they come.
 */
#ifndef REPORT_ADVICE_SITES_H
#define REPORT_ADVICE_SITES_H

#include <uthash.h>

#include "report/util/buf.h"
#include "report/model/model.h"

enum advice_cause {
	ADVICE_LOADER,	       /* time in a loader's __next__ */
	ADVICE_STARVED,	       /* GPUs did nothing meanwhile */
	ADVICE_GAP,	       /* GPUs did nothing, by what ended it */
	ADVICE_LONG_GAP,       /* the long ones of these */
	ADVICE_HOST_BOUND,     /* GPUs did nothing until the host came to launch something */
	ADVICE_COMMUNICATION,  /* kernels */
	ADVICE_MULTIPLY,       /* kernels that multiply matrices without tensor cores */
	ADVICE_OCCUPANCY,      /* kernels that fill little of a multiprocessor */
	ADVICE_SMALL_KERNEL,   /* launches that take longer than their kernels: by how much */
	ADVICE_PAGEABLE,       /* copies from or to pageable memory */
	ADVICE_PAGEABLE_ASYNC, /* the asynchronous ones of them */
	ADVICE_COPY_SYNC,      /* synchronous copies, but no small ones to a device */
	ADVICE_SET_SYNC,       /* synchronous sets */
	ADVICE_SMALL_COPY,     /* copies between host and devices of little */
	ADVICE_HOST_COPY,      /* large copies between host and devices */
	ADVICE_WAIT,	       /* calls that wait */
	ADVICE_DRAINED,	       /* GPUs did nothing when such a call returned */
	ADVICE_LOADING,	       /* code that is loaded or compiled */
	ADVICE_ALLOCATION,     /* cudaMalloc, cudaFree and their kin */
	NR_ADVICE_CAUSES,
};

/* When: bits for masks. */
enum advice_when {
	ADVICE_OUTSIDE, /* of whole steps */
	ADVICE_FIRST,	/* in the first step, which warms up */
	ADVICE_LATER,	/* in others; everything where there are no steps */
	NR_ADVICE_WHENS,
};

struct advice_sum {
	uint64_t nr, ns;
};

struct advice_site {
	struct {
		uint32_t cause;
		uint32_t what, op; /* of names.h, 0 none */
		uint32_t py_stack; /* of the stream, 0 none */
	} key;
	struct advice_sum sums[NR_ADVICE_WHENS];
	UT_hash_handle hh;
};

struct advice_sites {
	struct advice_site *sites;
	struct advice_sum sums[NR_ADVICE_CAUSES][NR_ADVICE_WHENS];
};

/* Starts with all zeros. */
void advice_sites_fini(struct advice_sites *sites);

void advice_sites_add(struct advice_sites *sites, enum advice_cause cause, enum advice_when when,
	uint64_t ns, uint32_t what, uint32_t op, uint32_t py_stack);

/* Of the times in the mask (1 << enum advice_when). */
struct advice_sum advice_sites_sum(
	const struct advice_sites *sites, enum advice_cause cause, unsigned int mask);

/*
 * Appends the three sites with most time, as "12.3 ms, 40 x cudaMemcpy in aten::item, train.py(12):
 * step;
 * ...". Nothing if there are none. Names are made fit to be shown.
 */
void advice_sites_add_text(const struct advice_sites *sites, enum advice_cause cause,
	unsigned int mask, struct process *process, struct buf *out);

#endif
