/* SPDX-License-Identifier: Apache-2.0 */
/* What s_second_client is asked for, and what it has seen in a session. */
#ifndef TEST_INTEG_SECOND_SEEN_H
#define TEST_INTEG_SECOND_SEEN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "test/sim/cupti_abi.h"

enum { CLOCK_MUL = 3 };

extern struct options {
	int subscribe, domain, first, again, own, clock, each, context, unsubscribe, finalize;
	int teardown, lazy, idle, flying, flush, kill, nr_threads, nr_sessions, nr_launches,
		sleep_ms;
	char log[256];
} options;

extern struct session {
	_Atomic long kinds[64];
	_Atomic uint64_t sum;
	_Atomic long bad_time, bad_thread, unknown;
	_Atomic long enters, exits, bad_data;
	_Atomic long nr_requested, nr_completed;
	_Atomic uint64_t begin, end;
} session;

extern pthread_t main_thread;

/* The clock that the client gives CUPTI: three times as fast, from another year on. */
uint64_t seen_read_clock(void);

/* The clock of the records' times. */
uint64_t seen_now(void);

/* Buffers for CUPTI, and what comes back in them: into `session`. */
void seen_requested(uint8_t **buffer, size_t *bytes, size_t *max_records);
void seen_completed(
	void *context, uint32_t stream_id, uint8_t *buffer, size_t bytes, size_t valid_bytes);

/* With threads that launch all the time only what is this thread's own is the same each time. */
void seen_print(int number, size_t dropped);

#endif
