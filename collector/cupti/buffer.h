/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers that CUPTI writes records to: ours, out of a bounded pool, and those of another
 * client of CUPTI while it records (share.h). CUPTI knows one pair of functions for them, which is
 * ours, always; a buffer goes back to whoever gave it.
 */
#ifndef COLLECTOR_CUPTI_BUFFER_H
#define COLLECTOR_CUPTI_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/cupti/cupti_abi.h"

/* One of ours that CUPTI has filled. */
struct buffer {
	uint8_t *bytes;
	size_t valid_bytes;
	uint32_t index;
};

/* Makes the pool, once; false if there is no memory. On the attaching thread. */
bool buffer_init(uint64_t pool_bytes);
bool buffer_is_ready(void);

/* Gives CUPTI our functions. Returns its code. */
uint32_t buffer_register(void);

/* The next full one, to be given back; false if there is none. The drain thread. */
bool buffer_take(struct buffer *buffer);
void buffer_give_back(const struct buffer *buffer);

/* Full buffers of gprof's own, in 256ths of all of them. */
unsigned int buffer_fill(void);

/* How many of ours CUPTI has. */
uint32_t buffer_nr_ours(void);

/* ---- with another client ---- */

/* Its functions, kept for when it records. Any thread. */
void buffer_client_register(
	cupti_buffer_requested_fn requested, cupti_buffer_completed_fn completed);

/* From now on CUPTI gets the client's buffers, or ours. is_wanted: records that we would take. */
void buffer_lend(bool is_lent, bool (*is_wanted)(const struct cupti_record *record));

/* How many of the client's CUPTI has; and how many records that we would have taken were in them.
 */
uint32_t buffer_nr_theirs(void);
uint64_t buffer_take_nr_records(void);

/* CUPTI was finalised: it has no buffers and knows no functions. */
void buffer_lost(void);

/* In a forked child: what the parent made is not touched; the client's functions stay. */
void buffer_forget(void);

#endif
