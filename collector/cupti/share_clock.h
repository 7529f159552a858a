/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another CUPTI client may put a clock of its own in the place of CUPTI's, for the whole process
 * and for good (cuptiActivityRegisterTimestampCallback; Kineto gives the CPU's counter). The times
 * of all records, ours too, are in that clock from then on. Here they are put back into
 * CLOCK_REALTIME, CUPTI's own, by pairs of both clocks, in integers. A pair is good to the time
 * between two reads of CLOCK_REALTIME (about 50 ns), a time between two pairs to about that too.
 */
#ifndef COLLECTOR_CUPTI_SHARE_CLOCK_H
#define COLLECTOR_CUPTI_SHARE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t (*share_clock_fn)(void);

/* The client's clock was accepted by CUPTI; or, by cuptiFinalize, CUPTI's own is back (NULL). */
void share_clock_set(share_clock_fn read);

/* Takes a pair, if there is such a clock. The drain thread, before it converts. */
void share_clock_look(void);

extern bool share_clock_is_theirs __attribute__((visibility("hidden")));

/*
 * A time that CUPTI gave, in CLOCK_REALTIME ns. One that is nearer to that clock than to theirs
 * stays: a record may be older than the change, and CUPTI errs after a second one. The drain
 * thread.
 */
uint64_t share_clock_convert(uint64_t time);

static inline uint64_t share_clock_time(uint64_t time)
{
	return __builtin_expect(share_clock_is_theirs, 0) ? share_clock_convert(time) : time;
}

#endif
