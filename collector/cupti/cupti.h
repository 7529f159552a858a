/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUPTI library of this process: finds it, opens it, never closes it (13.0 crashes then), and
 * asks for the sizes of its records. After any refusal nobody calls it again (cupti_refuse):
 * without a driver each call costs 15 to 50 us, and after other errors CUPTI may be inconsistent.
 */
#ifndef COLLECTOR_CUPTI_CUPTI_H
#define COLLECTOR_CUPTI_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/cupti/cupti_abi.h"
#include "collector/cupti/pm_abi.h"

/*
 * Notices contain this where CUPTI is not ours. A runtime that is linked statically has no hooks:
 * CUPTI's callbacks record its calls.
 */
#define WITHOUT_CUPTI \
	"device times, and calls of a statically linked CUDA runtime, are not recorded"

struct cupti {
#define CUPTI(need, name, params) uint32_t(*name) params;
#include "collector/cupti/cupti.def"
#undef CUPTI
	uint32_t version; /* CUPTI_API_VERSION of the library */
	const char *path; /* the library's; it stays mapped */
};

extern struct cupti cupti;

/*
 * Opens the library that fits the mapped CUDA runtime (GPROF_CUPTI_PATH, else one already mapped,
 * else beside the runtime, pip's and conda's folders, CUDA_HOME, the loader's path) and probes its
 * record sizes. Returns 0, or -errno with a notice. One thread, once.
 */
int cupti_load(void);

/*
 * Asks for the sizes again if the library needs a subscription first. Returns false, with CUPTI
 * refused, if it still fails: records of unknown size are unreadable. On the attaching thread.
 */
bool cupti_probe_again(void);

/* Record size of a kind in the loaded library, 0 if it does not support the kind. */
uint32_t cupti_record_bytes(uint32_t kind);

/* Is that an address of the library's code? Any thread, no lock. */
bool cupti_has_code(uintptr_t address);

/* May CUPTI be called? */
bool cupti_is_live(void);

/* Reads CUPTI's clock, in ns; a client may have replaced it (share_clock.h). Call only while live.
 */
uint64_t cupti_timestamp(void);

/* Stops all use of CUPTI; the failed call and its code become a notice with the remedy. */
void cupti_refuse(const char *what, uint32_t result);

/* The same without a failed call, for a reason. */
void cupti_end(const char *why);

/* The same in a forked child, without a notice: the parent's CUPTI is unusable here. */
void cupti_forget(void);

#endif
