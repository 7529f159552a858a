/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime and a CUPTI whose launches cost what real ones do besides: code and data that are not
 * in the first cache, four callbacks, a record of a kernel, a change of buffers now and then. And
 * marks, by which a trace of memory accesses shows whose code runs.
 */
#ifndef TEST_BENCH_COLD_COLD_H
#define TEST_BENCH_COLD_COLD_H

#include <stdbool.h>
#include <stdint.h>

#include "test/sim/cupti_abi.h"

/* Stores to these lines are marks; the page is mapped by the runtime's constructor. */
#define COLD_MARKS 0x30000000u
#define COLD_LINE  64u

enum cold_mark {
	/* A call begins, or all of them have ended: */
	COLD_LAUNCH,
	COLD_DEVICE, /* cudaGetDevice */
	COLD_OPERATOR,
	COLD_TENSOR, /* PyTorch reports a block of CPU memory as new, and as freed */
	COLD_NR_CALLS,
	/* From here on runs: */
	COLD_TARGET = COLD_NR_CALLS, /* what is not gprof's: program, runtime, CUPTI, PyTorch */
	COLD_HOOK,		     /* the way to the runtime's function and back */
	COLD_CALLBACK,		     /* a callback of CUPTI or PyTorch */
	COLD_CHANGE, /* one buffer of CUPTI's is full, another is asked for, and cleared */
	COLD_NR_MARKS,
};

static inline void cold_mark(enum cold_mark mark)
{
	*(volatile uint64_t *)(uintptr_t)(COLD_MARKS + mark * COLD_LINE) = 1;
}

/* What the runtime has of a CUPTI; without one, callbacks that do nothing. */
struct cold_cupti {
	cupti_callback_fn callback;
	void *userdata;
	void (*record)(uint32_t correlation); /* or NULL */
	uint32_t is_on[2];		      /* callbacks of the driver's launch, the runtime's */
	/* Thread CPU time of changes of buffers is taken: */
	uint32_t has_times;
	uint32_t nr_changes;
	uint64_t changes_ns[1024];
};

extern struct cold_cupti cold_cupti __attribute__((visibility("default")));

/* CUPTI's callback ids */
#define COLD_RUNTIME_LAUNCH 211
#define COLD_DRIVER_LAUNCH  307

#endif
