/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the target set the clock, and bracket each change by nr_begun and nr_ended; the drain
 * keeps pairs of both clocks and converts. It throws a pair away during which a change began.
 */
#include "collector/cupti/share_clock.h"

#include <stdatomic.h>
#include <stddef.h>

#define NR_PAIRS  64u
#define NR_CLOCKS 8u
/* Some microseconds of error in a pair are then a rate that is right to a ten thousandth. */
#define MIN_SPAN_NS 100000000u

/* A registered clock. A host thread fills it in, then publishes it; only the last one counts. */
struct client_clock {
	share_clock_fn read;
	struct clock_pair first;
};

static struct client_clock clocks[NR_CLOCKS];
static _Atomic uint32_t nr_clocks;
static _Atomic uint32_t current;	    /* number of the last clock; 0: none */
static _Atomic uint32_t nr_begun, nr_ended; /* changes */

/*
 * The drain's own; our clock is CLOCK_REALTIME. The last pair moves until it is far enough from the
 * one before it.
 */
static struct share_clock_state {
	uint32_t current;
	struct clock_pair pairs[NR_PAIRS];
	uint32_t nr_pairs;
} state;

bool share_clock_is_theirs;

void share_clock_change_begins(void)
{
	atomic_fetch_add(&nr_begun, 1);
}

void share_clock_change_ends(void)
{
	atomic_fetch_add(&nr_ended, 1);
}

void share_clock_forget(void)
{
	atomic_store(&nr_ended, atomic_load(&nr_begun));
}

void share_clock_set(share_clock_fn read)
{
	uint32_t number = atomic_load(&current);
	struct client_clock *clock;

	if (!read) {
		atomic_store(&current, 0);
		return;
	}
	if (number && clocks[number % NR_CLOCKS].read == read) {
		return; /* the same again: its pairs stay right */
	}
	number = atomic_fetch_add(&nr_clocks, 1) + 1;
	clock = &clocks[number % NR_CLOCKS];
	clock->read = read;
	clock->first = clock_read_pair(clock_realtime_ns, read);
	atomic_store(&current, number);
}

/* Half of them, evenly spread, are enough for the past. */
static void thin_out(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < state.nr_pairs; i += 2) {
		state.pairs[n++] = state.pairs[i];
	}
	state.nr_pairs = n;
}

/*
 * The last pair moves until it is MIN_SPAN_NS away from the one before it; then another one begins.
 * If there is no room for it, every second pair goes.
 */
void share_clock_look(void)
{
	uint32_t number = atomic_load(&current);
	const struct client_clock *clock = &clocks[number % NR_CLOCKS];

	if (number != state.current) {
		state.current = number;
		state.nr_pairs = 0;
		if (number) {
			state.pairs[state.nr_pairs++] = clock->first;
		}
		share_clock_is_theirs = number != 0;
	}
	if (!number) {
		return;
	}
	if (state.nr_pairs == NR_PAIRS) {
		thin_out();
	}
	if (state.nr_pairs < 2 ||
		state.pairs[state.nr_pairs - 1].ours - state.pairs[state.nr_pairs - 2].ours >
			MIN_SPAN_NS) {
		state.nr_pairs++;
	}
	state.pairs[state.nr_pairs - 1] = clock_read_pair(clock_realtime_ns, clock->read);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Two clocks that count ns: as far as the errors of both pairs let one see, neither is faster. */
static bool is_same_rate(const struct clock_pair *a, const struct clock_pair *b)
{
	return distance(b->ours - a->ours, b->theirs - a->theirs) <= a->apart + b->apart;
}

/*
 * A time that is nearer to the last pair's reading of our clock is ours already: CUPTI took it
 * before the change.
 */
uint64_t share_clock_convert(uint64_t time)
{
	const struct clock_pair *last = &state.pairs[state.nr_pairs - 1];
	const struct clock_pair *a, *b;
	uint32_t i = state.nr_pairs - 1;

	if (!time || state.nr_pairs < 2 ||
		distance(time, last->ours) < distance(time, last->theirs)) {
		return time;
	}
	while (i > 1 && time < state.pairs[i - 1].theirs) {
		i--;
	}
	a = &state.pairs[i - 1];
	b = &state.pairs[i];
	/* A coarse clock may not have moved yet. */
	if (b->theirs == a->theirs || is_same_rate(a, b)) {
		return a->ours + (time - a->theirs);
	}
	return a->ours +
	       (uint64_t)(int64_t)((__int128)(int64_t)(time - a->theirs) *
				   (int64_t)(b->ours - a->ours) / (int64_t)(b->theirs - a->theirs));
}

bool share_clock_read_pair(uint64_t (*ours)(void), share_clock_fn read, struct clock_pair *pair)
{
	uint32_t nr = atomic_load(&nr_ended);

	if (atomic_load(&nr_begun) != nr) {
		return false;
	}
	share_clock_look();
	*pair = clock_read_pair(ours, read);
	pair->theirs = share_clock_time(pair->theirs);
	return atomic_load(&nr_begun) == nr;
}
