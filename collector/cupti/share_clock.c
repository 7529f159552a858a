/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/cupti/share_clock.h"

#include <stdatomic.h>
#include <stddef.h>

#include "collector/util/clock.h"

#define NR_PAIRS  64u
#define NR_CLOCKS 8u
/* Some microseconds of error in a pair are then a rate that is right to a ten thousandth. */
#define MIN_SPAN_NS 100000000u

struct pair {
	uint64_t theirs;
	uint64_t realtime_ns;
	uint64_t error_ns; /* between the reads around it */
};

/* A clock once registered; host threads write it before it is published. Only the last one counts.
 */
struct client_clock {
	share_clock_fn read;
	struct pair first;
};

static struct client_clock clocks[NR_CLOCKS];
static _Atomic uint32_t nr_clocks;
static _Atomic uint32_t current; /* the number of the last one, 0: none */

/* The drain's own. The last pair moves until it is far enough from the one before it. */
static struct share_clock_state {
	uint32_t current;
	struct pair pairs[NR_PAIRS];
	uint32_t nr_pairs;
} state;

bool share_clock_is_theirs;

/* The best of a few tries: the client's clock between two reads of CLOCK_REALTIME. */
static struct pair look(share_clock_fn read)
{
	struct pair best = {0, 0, 0};
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t before = clock_realtime_ns();
		uint64_t theirs = read();
		uint64_t after = clock_realtime_ns();

		if (after - before < best_ns) {
			best_ns = after - before;
			best = (struct pair){theirs, before + (after - before) / 2, best_ns};
		}
	}
	return best;
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
	clock->first = look(read);
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
	if (state.nr_pairs < 2 || state.pairs[state.nr_pairs - 1].realtime_ns -
						  state.pairs[state.nr_pairs - 2].realtime_ns >
					  MIN_SPAN_NS) {
		state.nr_pairs++;
	}
	state.pairs[state.nr_pairs - 1] = look(clock->read);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Two clocks that count ns: as far as the errors of both pairs let one see, neither is faster. */
static bool is_same_rate(const struct pair *a, const struct pair *b)
{
	return distance(b->realtime_ns - a->realtime_ns, b->theirs - a->theirs) <=
	       a->error_ns + b->error_ns;
}

uint64_t share_clock_convert(uint64_t time)
{
	const struct pair *last = &state.pairs[state.nr_pairs - 1];
	const struct pair *a, *b;
	uint32_t i = state.nr_pairs - 1;

	if (!time || state.nr_pairs < 2 ||
		distance(time, last->realtime_ns) < distance(time, last->theirs)) {
		return time;
	}
	while (i > 1 && time < state.pairs[i - 1].theirs) {
		i--;
	}
	a = &state.pairs[i - 1];
	b = &state.pairs[i];
	if (b->theirs == a->theirs) {
		return time; /* no clock at all */
	}
	if (is_same_rate(a, b)) {
		return a->realtime_ns + (time - a->theirs);
	}
	return a->realtime_ns + (uint64_t)(int64_t)((__int128)(int64_t)(time - a->theirs) *
						    (int64_t)(b->realtime_ns - a->realtime_ns) /
						    (int64_t)(b->theirs - a->theirs));
}
