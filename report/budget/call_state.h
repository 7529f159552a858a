/* SPDX-License-Identifier: Apache-2.0 */
/* Says what a thread does while it is in a call of CUDA or HIP, by the name of the call. */
#ifndef REPORT_BUDGET_CALL_STATE_H
#define REPORT_BUDGET_CALL_STATE_H

#include <stdint.h>

enum call_kind {
	CALL_OTHER = 1, /* launches, copies and sets, too */
	CALL_WAIT,	/* for a stream, an event, a device */
	CALL_LOAD,	/* code: modules, libraries, linking, compiling */
	CALL_ALLOC,	/* memory, not from a pool of streams, which costs little */
};

/* name: a number of string_pool.h. */
enum call_kind call_kind_of(uint32_t name);

#endif
