/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admits one thread at a time without waiting: a thread that is refused leaves the work to the one
 * inside. A signal handler may jump out of the work, so a claim older than any such work is void.
 *
 * In one order with other atomic accesses of the program: what a refused thread wrote before is
 * there for the one inside to find after claim_drop().
 */
#ifndef COLLECTOR_UTIL_CLAIM_H
#define COLLECTOR_UTIL_CLAIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/util/clock.h"

/* Work of microseconds: a claim that is older was left by a signal handler. */
#define CLAIM_MAX_NS 1000000000u

struct claim {
	_Atomic uint64_t since_ns; /* CLOCK_MONOTONIC; 0: free */
	atomic_bool is_asked;	   /* see claim_ask */
};

static inline bool claim_try(struct claim *claim, uint64_t most_ns)
{
	uint64_t since = atomic_load(&claim->since_ns);
	uint64_t now = clock_monotonic_ns();

	/* Signed: the claim may be younger than this reading of the clock. */
	return (!since || (int64_t)(now - since) > (int64_t)most_ns) &&
	       atomic_compare_exchange_strong(&claim->since_ns, &since, now);
}

static inline void claim_drop(struct claim *claim)
{
	atomic_store(&claim->since_ns, 0);
}

static inline bool claim_is_held(const struct claim *claim, uint64_t most_ns)
{
	uint64_t since = atomic_load(&claim->since_ns);

	return since && (int64_t)(clock_monotonic_ns() - since) <= (int64_t)most_ns;
}

/*
 * For work that must be done after the newest request of any thread:
 *
 *	while (claim_ask(&claim, most_ns)) {
 *		... work ...
 *		if (!claim_leave(&claim)) {
 *			break;
 *		}
 *	}
 */
static inline bool claim_ask(struct claim *claim, uint64_t most_ns)
{
	atomic_store(&claim->is_asked, true);
	if (!claim_try(claim, most_ns)) {
		return false;
	}
	atomic_store(&claim->is_asked, false);
	return true;
}

/* Returns true if another thread was refused meanwhile. */
static inline bool claim_leave(struct claim *claim)
{
	claim_drop(claim);
	return atomic_load(&claim->is_asked);
}

#endif
