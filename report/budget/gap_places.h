/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where gaps of the time budget, exposed copies and exposed communication come from, and what
 * they cost in the steps of each group. A place is a call with the operator and the Python stack
 * around it, or such an operator: what the host was in, or what launched the work that ends the
 * gap. Costs are parts of the budget, so over all places they sum to what the budget has.
 *
 * Memory: 240 bytes for each place, 12 after the end, and 32 for each cost of a place in a group of
 * steps, however many steps there are.
 */
#ifndef REPORT_BUDGET_GAP_PLACES_H
#define REPORT_BUDGET_GAP_PLACES_H

#include "report/budget/budget.h"
#include "report/util/hash.h"

enum gap_cost {
	/* by what launched the work that ends the gap */
	GAP_COST_ALL,	  /* the whole gap */
	GAP_COST_HOST,	  /* in gaps that no wait opened: calls, operators, and the next */
	GAP_COST_USER,	  /* in these, too: ranges of the user, and code that nothing explains */
	GAP_COST_LATENCY, /* the part of that name */
	/* by what the host was in */
	/* waits, and all else in gaps that a wait opened (host_state_is_of_wait); and copies from
	 * the GPU */
	GAP_COST_WAIT,
	GAP_COST_OS,	 /* calls of the operating system, in gaps that no wait opened */
	GAP_COST_UPLOAD, /* calls that wait for copies to the GPU, and these */
	GAP_COST_GC,
	GAP_COST_COMPILATION,
	GAP_COST_LOADER,
	GAP_COST_ALLOCATION,
	GAP_COST_STARTUP,
	/* by what communicates */
	GAP_COST_COMMUNICATION, /* but waiting for a rank */
	NR_GAP_COSTS,
};

/*
 * The function of C or C++ that made a call, which is shown where neither an operator nor Python
 * says where it was made; 0: unknown. A launch has none either where only long ones have stacks: it
 * would be another place than the short ones.
 */
uint32_t gap_places_caller(struct process *process, const struct op_call *call);

struct gap_place_key {
	uint32_t what, op; /* names, of string_pool.h; 0: none */
	uint32_t py_stack; /* of the stream; 0: none */
};

struct gap_place {
	struct gap_place_key key;
	uint32_t number;	     /* as in struct budget_site */
	uint32_t sums[NR_GAP_COSTS]; /* 1 + the last one that came, by enum gap_cost; 0: none */
	uint64_t ends[NR_GAP_COSTS]; /* of the call that it counted last */
	UT_hash_handle hh;
};

/* Steps whose costs are added up. */
struct gap_group {
	uint8_t when; /* enum advice_when */
	bool counts;  /* as counted_steps.h has it */
};

struct gap_place_sum {
	uint32_t place;
	uint32_t before; /* 1 + the sum of another group that came before it; 0: none */
	struct gap_group group;
	uint8_t cost; /* enum gap_cost */
	uint64_t nr;  /* of calls; one counts once, however many gaps in a row are its */
	uint64_t ns;
};

/* Most calls are of few places: their numbers are found without the table. */
#define GAP_PLACES_RECENT_BITS 8u

/* All places of a process, with the sums of their costs. */
struct gap_places {
	struct gap_place *table;
	struct gap_place **places;  /* by number; NULL after gap_places_end */
	struct gap_place_key *keys; /* by number, from then on */
	size_t nr, capacity;
	struct gap_place_sum *sums; /* as they came */
	size_t nr_sums, sums_capacity;
	struct gap_place **recent; /* by a hash of the key */
};

void gap_places_init(struct gap_places *places);
void gap_places_fini(struct gap_places *places);

/* Gives back what finds places and adds to them: keys and sums remain. */
void gap_places_end(struct gap_places *places);

/* Returns the names of a place. */
static inline const struct gap_place_key *gap_places_key(
	const struct gap_places *places, uint32_t number)
{
	return places->places ? &places->places[number]->key : &places->keys[number];
}

/* Returns the number of a place, as budget.site_of returns it. */
uint32_t gap_places_find(struct gap_places *places, const struct gap_place_key *key);

/* From the last gap to the first, as budget.on_gap gets them. The group is that of its step. */
void gap_places_take(
	struct gap_places *places, const struct budget_gap *gap, struct gap_group group);
/* Takes times as budget.on_owned gets them, those of a gap before the gap. */
void gap_places_take_owned(struct gap_places *places, enum gap_cost cost,
	const struct budget_site *site, uint64_t ns, struct gap_group group);

#endif
