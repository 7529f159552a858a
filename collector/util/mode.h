/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether events are recorded now. Every hook reads collector_mode first; while it is 0, a hook
 * costs one load and one branch.
 */
#ifndef COLLECTOR_UTIL_MODE_H
#define COLLECTOR_UTIL_MODE_H

#include <stdatomic.h>
#include <stdint.h>

/* Bits of collector_mode. */
enum {
	COLLECTOR_RECORD = 1,	 /* events are kept */
	COLLECTOR_COLD = 2,	 /* nothing has started: the next hook starts the recorder */
	COLLECTOR_STEP_API = 4,	 /* GPROF_STEP=api:... is set: hooks compare their id */
	COLLECTOR_ALL_CALLS = 8, /* GPROF_CALLS=all: none is only counted */
};

#if defined(__aarch64__)
#define COLLECTOR_PAGE 65536u
#else
#define COLLECTOR_PAGE 4096u
#endif

/* Alone on its page, which the kernel wipes in a child; see target_wipe_page_in_children. */
struct collector_page {
	_Atomic uint32_t mode;
	_Atomic uint32_t is_ours; /* this process started the rings */
} __attribute__((aligned(COLLECTOR_PAGE)));

extern struct collector_page collector_page __attribute__((visibility("hidden")));
#define collector_mode collector_page.mode

/* The hook whose return ends a step, 0 if none; valid with COLLECTOR_STEP_API. */
extern uint32_t collector_step_call __attribute__((visibility("hidden")));

#endif
