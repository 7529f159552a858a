/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time in which another client had CUPTI: notices say from when to when, and who it was; the
 * records that went to it are counted as lost. Where nothing was being recorded nothing is missing.
 * Called by whoever has or switches the turn (share.h), one at a time.
 */
#ifndef COLLECTOR_CUPTI_CUPTI_GAP_H
#define COLLECTOR_CUPTI_CUPTI_GAP_H

#include <stdbool.h>
#include <stdint.h>

/* CUPTI is attached now: the zero of the times that are told. */
void cupti_gap_init(void);

/* name: what the client calls itself, or NULL; caller: an address in its code, or NULL. */
void cupti_gap_begin(const char *name, const void *caller);

/* Looks whether something is being recorded meanwhile. */
void cupti_gap_look(void);

/*
 * nr_records: that we would have taken; is_complete: there can have been no others. is_last: the
 * recording ends with it.
 */
void cupti_gap_end(uint64_t nr_records, bool is_complete, bool is_last);

#endif
