/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers that CUPTI fills with records: gprof's, from a bounded pool, and another client's
 * of CUPTI while it records (cupti_share.h). CUPTI always knows only our pair of functions; each
 * buffer returns to its provider.
 */
#ifndef COLLECTOR_CUPTI_BUFFER_H
#define COLLECTOR_CUPTI_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/cupti/cupti_abi.h"

/* A buffer of gprof's that CUPTI has filled. */
struct buffer {
	uint8_t *bytes;
	size_t valid_bytes;
	uint32_t index;
};

/* Makes the pool, once; returns false if there is no memory. On the attaching thread. */
bool buffer_init(uint64_t pool_bytes);
bool buffer_is_ready(void);

/* Gives CUPTI our functions. Returns its code. */
uint32_t buffer_register(void);

/*
 * Takes the oldest full buffer, which buffer_give_back returns; false if there is none. For the
 * drain thread.
 */
bool buffer_take(struct buffer *buffer);
/* Zeroes it: see CUPTI_ATTR_ZEROED_OUT_BUFFER in activity.c. */
void buffer_give_back(const struct buffer *buffer);

/*
 * Takes the page faults of buffers that CUPTI will ask for soon, so that no thread of the target
 * has them. For the drain thread.
 */
void buffer_touch(void);

/* Share of our buffers that are full, in 1/256. */
unsigned int buffer_fill(void);

/* Returns how many of gprof's buffers CUPTI holds. */
uint32_t buffer_nr_ours(void);

/* ---- with another client ---- */

/* Its functions, kept for when it records. Any thread. */
void buffer_client_register(
	cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed);

/*
 * From now on CUPTI gets the client's buffers, or ours. is_wanted selects the records that we would
 * take.
 */
void buffer_lend(bool is_lent, bool (*is_wanted)(const struct cupti_record *record));

/*
 * Return how many of the client's buffers CUPTI holds, and how many records that gprof would have
 * taken were in them.
 */
uint32_t buffer_nr_theirs(void);
uint64_t buffer_take_nr_records(void);

/* CUPTI was finalised: it has no buffers and no registered functions. */
void buffer_lost(void);

/* In a forked child: leaves the parent's buffers alone; the client's functions stay. */
void buffer_forget(void);

#endif
