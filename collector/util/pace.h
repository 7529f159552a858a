/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits how long the drain thread works without a pause. On a core that it shares with a thread of
 * the target, it would otherwise keep the core for a time slice of milliseconds and delay that
 * thread's call as long. So it rests after each portion, unless rows would be lost.
 */
#ifndef COLLECTOR_UTIL_PACE_H
#define COLLECTOR_UTIL_PACE_H

/*
 * From now on the calling thread, the drain, rests in pace_look. `fill` returns how full its input
 * is, in 1/256.
 */
void pace_begin(unsigned int (*fill)(void));

/* It has slept: a portion begins. */
void pace_next(void);

/* No rests any more, also if they have not begun yet: the program waits for the drain. Any thread.
 */
void pace_hurry(void);

/* Rests if the portion is over. The drain calls it wherever it may wait, some 50 us of work apart.
 */
void pace_look(void);

/* In a forked child, which has no drain yet. */
void pace_forget(void);

#endif
