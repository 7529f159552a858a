/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The period of a thread's launches, for programs that mark no steps. The launches are a sequence
 * of symbols; a step spans two occurrences of a symbol that comes once in each period. Bounded:
 * keeps the last PERIOD_SYMBOLS. No clock; memory is mapped only while a search runs.
 *
 * A period is the shortest length for which at least 95 of 100 symbols equal the one a period
 * before, over three periods or more. Two searches must find it, the second among twice as many
 * symbols, at least 512, since programs begin with loops that fill memory. It must contain a copy
 * between host and device: loops within a step (the layers of a model) repeat too, but make no such
 * copy. If steps make none either, there is no period: a wrong one is worse.
 */
#ifndef COLLECTOR_STEP_PERIOD_H
#define COLLECTOR_STEP_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#define PERIOD_SYMBOLS	65536u
#define PERIOD_MIN_PCT	95u
#define PERIOD_COPY	0x80000000u /* in a symbol: a copy between host and device */
#define PERIOD_MAX_ENDS (PERIOD_SYMBOLS / 2)

struct period {
	uint32_t symbols[PERIOD_SYMBOLS]; /* number n is at n % PERIOD_SYMBOLS */
	uint64_t times[PERIOD_SYMBOLS];
	uint64_t nr;	     /* symbols so far */
	uint32_t guess;	     /* the length that the search before this one found */
	uint64_t since;	     /* the search goes back no further */
	uint64_t look_at;    /* the next search starts at this number of symbols */
	uint32_t length;     /* in symbols; 0: none found */
	uint32_t anchor;     /* the symbol that begins a step */
	uint32_t confidence; /* percent */
	uint64_t anchor_at;  /* number of the last one */
	uint32_t nr_odd;     /* steps in a row of another length */
	/* begins of steps that nobody has taken yet */
	uint64_t ends[PERIOD_MAX_ENDS];
	uint32_t nr_ends, nr_taken;
};

void period_init(struct period *p);

/* One more was launched at `time`. */
void period_add(struct period *p, uint32_t symbol, uint64_t time);

/* Searches, if it is time to; costs some milliseconds at most. */
void period_look(struct period *p);

/* Takes the next begin of a step, the oldest first; false if there is none. */
bool period_take(struct period *p, uint64_t *time);

/*
 * ---- of this process, for the drain thread ----
 *
 * Launches and copies on their way to the stream: of the thread that makes most of them, and only
 * while neither the program nor its framework marks steps.
 */

/* Are steps to be found here, as of the last period_end_steps? */
extern bool period_is_wanted __attribute__((visibility("hidden")));

void period_begin(void);

/* In the thread's order; `time` by clock_raw. */
void period_launched(uint32_t thread, uint32_t symbol, uint64_t time);

/* Ends the steps that were found by now. Not while rings are being read: it writes rows. */
void period_end_steps(void);

#endif
