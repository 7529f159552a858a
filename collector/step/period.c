/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Votes (as Boyer and Moore count a majority) give each symbol the distance at which most of its
 * occurrences follow each other. These distances are the candidates, shortest first; fit() tests
 * each in one pass. Searches run at doubling lengths. The last part follows one thread of this
 * process, until other threads have launched twice as much.
 */
#include "collector/step/period.h"

#include <string.h>
#include <sys/mman.h>

#include "collector/step/step.h"
#include "collector/util/memory.h"

#define FIRST_LOOK  256u
#define MIN_REPEATS 3u
#define MAX_ODD	    4u
#define MAX_LENGTH  (PERIOD_SYMBOLS / MIN_REPEATS)

/* Statistics of a symbol in the searched part. */
struct class
{
	uint32_t symbol;
	uint32_t count;
	uint32_t distance; /* the one that most of them have, if one has */
	uint32_t votes;
	uint64_t last;
	uint64_t gap; /* sum of the times since the symbol before */
};

/* Only one search runs at a time. Its classes are a hash table, mapped while it runs. */
static struct search {
	struct class *classes;
	uint32_t nr; /* a power of two, above the number of symbols */
	bool is_length[MAX_LENGTH + 1];
} search;

static uint32_t at(const struct period *p, uint64_t n)
{
	return p->symbols[n % PERIOD_SYMBOLS];
}

static struct class *class_of(uint32_t symbol)
{
	uint32_t place = symbol * 0x9e3779b1u;
	struct class *c;

	do {
		c = &search.classes[place++ & (search.nr - 1)];
	} while (c->count && c->symbol != symbol);
	return c;
}

static void start_search(struct period *p)
{
	p->length = 0;
	p->nr_odd = 0;
	p->guess = 0;
	p->since = p->nr;
	p->look_at = p->nr + FIRST_LOOK;
}

void period_init(struct period *p)
{
	p->nr = 0;
	p->nr_ends = p->nr_taken = 0;
	p->confidence = 0;
	start_search(p);
}

static bool add_end(struct period *p, uint64_t time)
{
	if (p->nr_ends == PERIOD_MAX_ENDS) {
		return false;
	}
	p->ends[p->nr_ends++] = time;
	return true;
}

bool period_take(struct period *p, uint64_t *time)
{
	if (p->nr_taken == p->nr_ends) {
		p->nr_taken = p->nr_ends = 0;
		return false;
	}
	*time = p->ends[p->nr_taken++];
	return true;
}

static bool is_near(uint64_t distance, uint32_t length)
{
	return distance * 20 >= length * 19u && distance * 20 <= length * 21u;
}

static void follow(struct period *p, uint32_t symbol, uint64_t n, uint64_t time)
{
	if (symbol == p->anchor) {
		p->nr_odd = is_near(n - p->anchor_at, p->length) ? 0 : p->nr_odd + 1;
		p->anchor_at = n;
		p->nr_odd = add_end(p, time) ? p->nr_odd : MAX_ODD;
	}
	if (p->nr_odd == MAX_ODD || n - p->anchor_at > (uint64_t)MAX_ODD * p->length) {
		start_search(p);
	}
}

void period_add(struct period *p, uint32_t symbol, uint64_t time)
{
	uint64_t n = p->nr++;

	/* Too early for the next search to look back at: not worth its memory. */
	if (!p->length && n + PERIOD_SYMBOLS < p->look_at) {
		return;
	}
	p->symbols[n % PERIOD_SYMBOLS] = symbol;
	p->times[n % PERIOD_SYMBOLS] = time;
	if (p->length) {
		follow(p, symbol, n, time);
	}
}

/* ---- the search, from number `first` up to `end` ---- */

static void classify(const struct period *p, uint64_t first, uint64_t end)
{
	for (uint64_t n = first; n < end; n++) {
		struct class *c = class_of(at(p, n));
		uint32_t distance = (uint32_t)(n - c->last);

		if (c->count && (!c->votes || c->distance == distance)) {
			c->distance = distance;
			c->votes++;
		} else if (c->count) {
			c->votes--;
		}
		c->symbol = at(p, n);
		c->last = n;
		c->count++;
		if (n > first) {
			c->gap += p->times[n % PERIOD_SYMBOLS] - p->times[(n - 1) % PERIOD_SYMBOLS];
		}
	}
}

/* Marks each distance at which most occurrences of a symbol follow the one before. */
static void find_lengths(uint64_t nr)
{
	memset(search.is_length, 0, sizeof(search.is_length));
	for (uint32_t i = 0; i < search.nr; i++) {
		const struct class *c = &search.classes[i];

		if (c->count >= MIN_REPEATS && c->votes && c->distance >= 2 &&
			(uint64_t)c->distance * MIN_REPEATS <= nr) {
			search.is_length[c->distance] = true;
		}
	}
}

/* Returns the percentage of symbols that equal the one a period before; 0 if it is too low. */
static uint32_t fit(const struct period *p, uint64_t first, uint64_t end, uint32_t length)
{
	uint64_t nr = end - first - length, nr_odd = 0;

	for (uint64_t n = first + length; n < end; n++) {
		nr_odd += at(p, n) != at(p, n - length);
		if (nr_odd * 100 > nr * (100 - PERIOD_MIN_PCT)) {
			return 0;
		}
	}
	return (uint32_t)((nr - nr_odd) * 100 / nr);
}

static bool has_copy(const struct period *p, uint64_t end, uint32_t length)
{
	for (uint64_t n = end - length; n < end; n++) {
		if (at(p, n) & PERIOD_COPY) {
			return true;
		}
	}
	return false;
}

/* Returns the length to use, 0 for none; its fit in *best. */
static uint32_t choose(const struct period *p, uint64_t first, uint64_t end, uint32_t *best)
{
	find_lengths(end - first);
	for (uint32_t length = 2; length <= MAX_LENGTH; length++) {
		*best = search.is_length[length] ? fit(p, first, end, length) : 0;
		if (*best && has_copy(p, end, length)) {
			return length;
		}
	}
	return 0;
}

/* Does it come once in each period, except the last one and a few outliers? */
static bool comes_once(const struct class *c, uint32_t length, uint64_t nr)
{
	uint64_t wanted = (uint64_t)c->count * length;
	uint64_t slack = length + nr / 20;

	return c->votes && c->distance == length && wanted <= nr + slack && nr <= wanted + slack;
}

/*
 * Chooses, among the symbols that come once in each period, the one with the longest mean time
 * before it: there the program waits, for data or for the device.
 */
static bool find_anchor(struct period *p, uint32_t length, uint64_t nr)
{
	const struct class *best = NULL;

	for (uint32_t i = 0; i < search.nr; i++) {
		const struct class *c = &search.classes[i];

		if (comes_once(c, length, nr) &&
			(!best || c->gap / c->count > best->gap / best->count)) {
			best = c;
		}
	}
	if (best) {
		p->anchor = best->symbol;
	}
	return best != NULL;
}

/* Adds the ends up to now, from the last one on that came at another distance. */
static void add_past(struct period *p, uint64_t first)
{
	uint64_t last = 0;

	p->anchor_at = p->nr;
	for (uint64_t n = first; n < p->nr; n++) {
		if (at(p, n) == p->anchor) {
			if (last && !is_near(n - last, p->length)) {
				p->nr_ends = 0;
			}
			last = p->anchor_at = n;
			add_end(p, p->times[n % PERIOD_SYMBOLS]);
		}
	}
}

/* Searches the symbols before `end`. */
static void look(struct period *p, uint64_t end)
{
	uint64_t oldest = p->nr < PERIOD_SYMBOLS ? 0 : p->nr - PERIOD_SYMBOLS;
	uint64_t begin = p->since > oldest ? p->since : oldest;
	/* Skips the first quarter, which often prepares the rest. */
	uint64_t first = begin + (end - begin) / 4;
	uint32_t before = p->guess, best = 0;

	p->look_at = end + (end - begin);
	p->guess = 0;
	search.nr = FIRST_LOOK;
	while (search.nr < end - begin) {
		search.nr *= 2;
	}
	search.classes = memory_map(search.nr * sizeof(*search.classes));
	if (!search.classes) {
		return; /* the next search tries again */
	}
	classify(p, first, end);
	p->guess = choose(p, first, end, &best);
	if (p->guess && p->guess == before && find_anchor(p, p->guess, end - first)) {
		p->length = p->guess;
		p->confidence = best;
		add_past(p, begin);
	}
	munmap(search.classes, search.nr * sizeof(*search.classes));
}

/*
 * Searches at twice as many symbols each time, so that all searches cost no more than two of the
 * last one.
 */
void period_look(struct period *p)
{
	while (!p->length && p->nr >= p->look_at) {
		/* The symbols before look_at may be gone, if nobody has looked for long. */
		look(p, p->nr - p->look_at < PERIOD_SYMBOLS / 2 ? p->look_at : p->nr);
	}
}

/* ---- of this process ---- */

static struct period_state {
	struct period period;
	uint32_t thread; /* 0: none yet */
	uint64_t nr_others;
} state;

bool period_is_wanted;

static void follow_thread(uint32_t thread)
{
	period_init(&state.period);
	state.thread = thread;
	state.nr_others = 0;
}

void period_begin(void)
{
	follow_thread(0);
	period_is_wanted = step_needs_period();
}

void period_launched(uint32_t thread, uint32_t symbol, uint64_t time)
{
	if (thread != state.thread) {
		if (++state.nr_others <= 2 * state.period.nr) {
			return;
		}
		follow_thread(thread);
	}
	period_add(&state.period, symbol, time);
}

void period_end_steps(void)
{
	uint64_t time;

	period_is_wanted = step_needs_period();
	if (period_is_wanted) {
		period_look(&state.period);
		while (period_take(&state.period, &time)) {
			step_found(time, state.period.confidence);
		}
	}
}
