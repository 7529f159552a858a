/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another CUPTI client may replace CUPTI's clock, for the whole process and for good
 * (cuptiActivityRegisterTimestampCallback; Kineto sets the CPU's counter). From then on the times
 * of all records, ours too, use that clock. This file converts them back to CLOCK_REALTIME, CUPTI's
 * own clock, through pairs of both clocks, in integers. A pair is as exact as the time between two
 * reads of CLOCK_REALTIME (about 50 ns), and so are times between two pairs.
 */
#ifndef COLLECTOR_CUPTI_SHARE_CLOCK_H
#define COLLECTOR_CUPTI_SHARE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/util/clock.h"

typedef uint64_t (*share_clock_fn)(void);

/*
 * Around the client's call that may change the clock, from any thread: in between, and until the
 * next look, nobody knows which clock a reading belongs to.
 */
void share_clock_change_begins(void);
void share_clock_change_ends(void);

/* CUPTI accepted the client's clock; or cuptiFinalize restored CUPTI's own (NULL). */
void share_clock_set(share_clock_fn read);

/* Takes a pair, if a client has set a clock. The drain thread calls it before it converts. */
void share_clock_look(void);

extern bool share_clock_is_theirs __attribute__((visibility("hidden")));

/*
 * A time that CUPTI gave, in CLOCK_REALTIME ns. One that is nearer to that clock than to theirs
 * stays: a record may be older than the change, and CUPTI errs after a second one. The drain
 * thread.
 */
uint64_t share_clock_convert(uint64_t time);

/*
 * CUPTI's time by `read`, in CLOCK_REALTIME ns, and `ours` halfway through its reading. False if a
 * client changes CUPTI's clock meanwhile. The drain thread.
 */
bool share_clock_read_pair(uint64_t (*ours)(void), share_clock_fn read, struct clock_pair *pair);

/* In a forked child: the thread that was changing the clock is not there. */
void share_clock_forget(void);

static inline uint64_t share_clock_time(uint64_t time)
{
	return __builtin_expect(share_clock_is_theirs, 0) ? share_clock_convert(time) : time;
}

#endif
