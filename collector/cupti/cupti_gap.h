/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time in which another client used CUPTI: notices state its begin, its end and the client; the
 * records that went to the client count as lost, unless nothing was recorded then. The thread that
 * has or switches the turn (cupti_share.h) calls these functions, one at a time.
 */
#ifndef COLLECTOR_CUPTI_CUPTI_GAP_H
#define COLLECTOR_CUPTI_CUPTI_GAP_H

#include <stdbool.h>
#include <stdint.h>

/* CUPTI is attached now: time 0 of the notices. */
void cupti_gap_init(void);

/* name: what the client calls itself, or NULL; caller: an address in its code, or NULL. */
void cupti_gap_begin(const char *name, const void *caller);

/* Checks whether anything is recorded during the gap. */
void cupti_gap_look(void);

/*
 * nr_records: that we would have taken; is_complete: there can have been no others. is_last: the
 * recording ends with it.
 */
void cupti_gap_end(uint64_t nr_records, bool is_complete, bool is_last);

#endif
