/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up gaps, copies and communication by the places that they come from. facts.c hands on each
 * gap as budget_sweep.c finds it, and gives the sums to its rules; verdict.c reads them for its
 * causes.
 *
 * A gap counts more than once: all of it for the launch that ended it, and by state for the call or
 * operator that the host was in. Each kind of cost sums to parts of the budget; the sum over kinds
 * means nothing.
 */
#include "report/budget/gap_places.h"

#include "report/model/native_stack.h"
#include "report/util/buf.h"
#include "report/util/string_pool.h"

uint32_t gap_places_caller(struct process *process, const struct op_call *call)
{
	return call && call->native_stack &&
			       (call->table != GPROF_TABLE_api_launch || process->has_launch_stacks)
		       ? native_stack_site(process, call->native_stack)
		       : 0;
}

static void add_name(struct gap_places *places, const char *name)
{
	const struct gap_place_key key = {.what = string_pool_intern(name, strlen(name))};

	gap_places_find(places, &key);
}

/* The first two have the numbers of enum budget_unknown_site. */
void gap_places_init(struct gap_places *places)
{
	*places = (struct gap_places){
		.recent = mem_zeroed(1u << GAP_PLACES_RECENT_BITS, sizeof(struct gap_place *))};
	add_name(places, "(no recorded call)");
	add_name(places, "(nothing launched later)");
}

static void free_table(struct gap_places *places)
{
	hash_free(places->table);
	free(places->places);
	free(places->recent);
	places->places = places->recent = NULL;
}

void gap_places_end(struct gap_places *places)
{
	places->keys = mem_zeroed(places->nr, sizeof(*places->keys));
	for (size_t i = 0; i < places->nr; i++) {
		places->keys[i] = places->places[i]->key;
	}
	free_table(places);
}

void gap_places_fini(struct gap_places *places)
{
	free_table(places);
	free(places->keys);
	free(places->sums);
	*places = (struct gap_places){0};
}

static struct gap_place **recent_of(struct gap_places *places, const struct gap_place_key *key)
{
	uint32_t hash = (key->what * 31 + key->op) * 31 + key->py_stack;

	return &places->recent[hash * 0x9e3779b1u >> (32 - GAP_PLACES_RECENT_BITS)];
}

uint32_t gap_places_find(struct gap_places *places, const struct gap_place_key *key)
{
	struct gap_place **recent = recent_of(places, key), *place = *recent;

	if (place && !memcmp(&place->key, key, sizeof(*key))) {
		return place->number;
	}
	hash_put(places->table, key, key, place);
	if (places->nr < HASH_COUNT(places->table)) {
		places->places = array_grow(
			places->places, places->nr, &places->capacity, sizeof(struct gap_place *));
		place->number = (uint32_t)places->nr;
		places->places[places->nr++] = place;
	}
	*recent = place;
	return place->number;
}

/* Finds the sum of a place in a group. There are few groups, and most gaps are of the same one. */
static struct gap_place_sum *sum_of(struct gap_places *places, struct gap_place *place,
	enum gap_cost cost, struct gap_group group)
{
	for (uint32_t at = place->sums[cost]; at; at = places->sums[at - 1].before) {
		struct gap_place_sum *sum = &places->sums[at - 1];

		if (sum->group.when == group.when && sum->group.counts == group.counts) {
			return sum;
		}
	}
	places->sums = array_grow(
		places->sums, places->nr_sums, &places->sums_capacity, sizeof(*places->sums));
	places->sums[places->nr_sums] = (struct gap_place_sum){.place = place->number,
		.before = place->sums[cost],
		.group = group,
		.cost = (uint8_t)cost};
	place->sums[cost] = (uint32_t)++places->nr_sums;
	return &places->sums[places->nr_sums - 1];
}

/* A gap, and the group of its step. */
struct taken {
	const struct budget_gap *gap;
	struct gap_group group;
};

/* counts: does the call of the site belong to this gap, and not to a later piece of it? */
static void add_time(struct gap_places *places, enum gap_cost cost, struct gap_group group,
	const struct budget_site *site, bool counts, uint64_t ns)
{
	struct gap_place *place = places->places[site->site];
	struct gap_place_sum *sum = sum_of(places, place, cost, group);

	sum->ns += ns;
	if (counts && (!site->end || site->end != place->ends[cost])) {
		place->ends[cost] = site->end;
		sum->nr++;
	}
}

/* A gap has time of few kinds. */
static inline void add(struct gap_places *places, enum gap_cost cost, struct gap_group group,
	const struct budget_site *site, bool counts, uint64_t ns)
{
	if (ns) {
		add_time(places, cost, group, site, counts, ns);
	}
}

static void add_launch(
	struct gap_places *places, enum gap_cost cost, const struct taken *taken, uint64_t ns)
{
	add(places, cost, taken->group, &taken->gap->launch, !taken->gap->is_cut, ns);
}

/* Returns the time that the wait cost which opened the gap. */
static uint64_t drained(const struct budget_gap *gap)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; gap->is_drained && i <= NR_HOST_STATES; i++) {
		ns += host_state_is_of_wait(i) ? gap->ns[i] : 0;
	}
	return ns;
}

/*
 * In a gap that a wait opened, the time that the host took afterwards is a cost of the wait, not of
 * the launch that ended the gap.
 */
void gap_places_take(
	struct gap_places *places, const struct budget_gap *gap, struct gap_group group)
{
	const struct taken taken = {gap, group};
	const uint64_t *ns = gap->ns;
	uint64_t user;

	add_launch(places, GAP_COST_ALL, &taken, gap->end - gap->begin);
	add_launch(places, GAP_COST_LATENCY, &taken, ns[BUDGET_LATENCY - BUDGET_HOST]);
	if (!gap->is_of_host) {
		return;
	}
	user = ns[HOST_RANGE] + ns[HOST_USER];
	if (!gap->is_drained) {
		add_launch(places, GAP_COST_HOST, &taken,
			ns[HOST_LAUNCH] + ns[HOST_CALL] + ns[HOST_OPERATOR] + user);
		add_launch(places, GAP_COST_USER, &taken, user);
	}
	add(places, GAP_COST_WAIT, group, &gap->owners[HOST_WAIT], gap->owners[HOST_WAIT].end != 0,
		drained(gap));
}

void gap_places_take_owned(struct gap_places *places, enum gap_cost cost,
	const struct budget_site *site, uint64_t ns, struct gap_group group)
{
	add(places, cost, group, site, site->end != 0, ns);
}
