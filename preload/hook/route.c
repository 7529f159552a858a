/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each hook has a chain of routes, which calls read while another thread changes it. So a route
 * that is dropped is never freed, only used again where no reader can mistake it.
 */
#include "preload/hook/route.h"

#include <stdatomic.h>

#include "collector/util/pieces.h"

#define NR_KNOWN 4096u /* a power of two */

static struct route_state {
	/*
	 * All routes of each hook, also while hook_routes hides them. The last ones in a chain are
	 * between modules that came with the program and never leave.
	 */
	struct hook_route *_Atomic chains[HOOK_NR];
	struct hook_route *lasting[HOOK_NR];
	struct hook_route *dropped[HOOK_NR]; /* a call may still be reading them */
	/* A cache by hook and return address, since chains are long if many modules call. */
	const struct hook_route *_Atomic known[NR_KNOWN];
	atomic_bool is_hidden; /* all but the lasting ones */
	atomic_bool is_any;
	struct pieces memory;
} state;

struct hook_range *_Atomic hook_targets;

void *route_memory(size_t nr_bytes)
{
	return pieces_take(&state.memory, (uint32_t)nr_bytes, UINT32_MAX);
}

static const struct hook_route *find(struct hook_route *_Atomic *first, uintptr_t caller)
{
	const struct hook_route *route = atomic_load(first);

	while (route && !hook_leads(route, caller)) {
		route = atomic_load(&route->next);
	}
	return route;
}

const struct hook_route *route_known(enum hook_id id, uintptr_t caller)
{
	return find(&state.chains[id], caller);
}

const struct hook_route *route_shown(enum hook_id id, uintptr_t caller)
{
	uint64_t hash = (caller ^ (uint64_t)id << 48) * 0x9e3779b97f4a7c15u;
	const struct hook_route *_Atomic *known = &state.known[hash >> 32 & (NR_KNOWN - 1)];
	const struct hook_route *route = atomic_load(known);

	if (route && route->id == id && !atomic_load(&state.is_hidden) &&
		atomic_load(&route->is_shown) && hook_leads(route, caller)) {
		return route;
	}
	route = find(&hook_routes[id], caller);
	if (route) {
		atomic_store(known, route);
	}
	return route;
}

bool route_is_any(void)
{
	return atomic_load(&state.is_any);
}

void route_hide(void)
{
	atomic_store(&state.is_hidden, true);
	for (unsigned int id = 1; id < HOOK_NR; id++) {
		atomic_store(&hook_routes[id], state.lasting[id]);
	}
}

void route_show(void)
{
	for (unsigned int id = 1; id < HOOK_NR; id++) {
		atomic_store(&hook_routes[id], atomic_load(&state.chains[id]));
	}
	atomic_store(&state.is_hidden, false);
}

bool route_is_hidden(void)
{
	return atomic_load(&state.is_hidden);
}

/*
 * Hooks walk over the ranges without a lock, so none is freed: one whose module is gone (low is 0)
 * is used again, and `low` is written last.
 */
static void add_target(const struct module *target, bool is_nccl)
{
	struct hook_range *free_one = NULL, *range = atomic_load(&hook_targets);

	for (; range && atomic_load(&range->low) != target->low;
		range = atomic_load(&range->next)) {
		free_one = atomic_load(&range->low) ? free_one : range;
	}
	if (range) {
		return;
	}
	range = free_one ? free_one : route_memory(sizeof(*range));
	if (!range) {
		return; /* the target's own calls will count as the program's */
	}
	atomic_store(&range->is_nccl, is_nccl);
	atomic_store(&range->span, target->high - target->low);
	atomic_store(&range->low, target->low);
	if (!free_one) {
		atomic_store(&range->next, atomic_load(&hook_targets));
		atomic_store(&hook_targets, range);
	}
}

static bool is_covered(const struct modules *modules, uintptr_t low, uintptr_t span)
{
	for (uint32_t i = 0; i < modules->nr; i++) {
		if (modules->all[i].low < low + span && modules->all[i].high > low) {
			return true;
		}
	}
	return false;
}

static bool is_same(
	const struct hook_route *route, const struct module *caller, const void *function)
{
	return atomic_load(&route->low) == caller->low &&
	       route->span == caller->high - caller->low &&
	       atomic_load(&route->function) == function;
}

/*
 * Takes a dropped route, which a call may still be reading. The best one says the same as the new
 * one. Otherwise it takes one of equal span whose old range has no module now: callers are in
 * mapped modules, so none of them matches it until its start changes. The start is written after
 * the function and read before it.
 */
static struct hook_route *take_dropped(const struct modules *modules, enum hook_id id,
	const struct module *caller, const void *function)
{
	struct hook_route **best = NULL, *taken;

	for (struct hook_route **from = &state.dropped[id]; *from; from = &(*from)->next_dropped) {
		if (is_same(*from, caller, function)) {
			best = from;
			break;
		}
		if (!best && (*from)->span == caller->high - caller->low &&
			!is_covered(modules, atomic_load(&(*from)->low), (*from)->span)) {
			best = from;
		}
	}
	taken = best ? *best : NULL;
	if (taken) {
		*best = taken->next_dropped;
	}
	return taken;
}

static struct hook_route *make_route(
	const struct modules *modules, enum hook_id id, const struct module *caller, void *function)
{
	struct hook_route *route = take_dropped(modules, id, caller, function);

	if (!route) {
		route = route_memory(sizeof(*route));
		if (!route) {
			return NULL;
		}
		route->span = caller->high - caller->low;
		route->id = (uint16_t)id;
	}
	atomic_store(&route->function, function);
	atomic_store(&route->low, caller->low);
	atomic_store(&route->is_shown, true);
	return route;
}

/*
 * Lasting routes are the end of a chain: while routes are hidden, hooks begin at the first of them.
 */
bool route_add(const struct modules *modules, enum hook_id id, const struct module *caller,
	const struct module *target, void *function, bool is_lasting)
{
	struct hook_route *_Atomic *from = &state.chains[id];
	struct hook_route *route = make_route(modules, id, caller, function);

	if (!route) {
		return false;
	}
	while (is_lasting && atomic_load(from) != state.lasting[id]) {
		from = &atomic_load(from)->next;
	}
	atomic_store(&route->next, atomic_load(from));
	atomic_store(from, route);
	if (is_lasting) {
		state.lasting[id] = route;
	}
	atomic_store(&hook_routes[id],
		atomic_load(&state.is_hidden) ? state.lasting[id] : atomic_load(&state.chains[id]));
	atomic_store(&state.is_any, true);
	if (hook_calls[id - 1].api != HOOK_API_CXX) {
		add_target(target, hook_calls[id - 1].api == GPROF_API_NCCL);
	}
	return true;
}

/* ---- modules that are gone ---- */

static void drop_route(enum hook_id id, struct hook_route *_Atomic *from)
{
	struct hook_route *route = atomic_load(from);

	atomic_store(&route->is_shown, false);
	atomic_store(from, atomic_load(&route->next));
	route->next_dropped = state.dropped[id];
	state.dropped[id] = route;
}

static void drop_routes(const struct modules *modules, bool is_sure, unsigned int id)
{
	struct hook_route *_Atomic *from = &state.chains[id];
	struct hook_route *route;

	while ((route = atomic_load(from)) != state.lasting[id]) {
		if (is_sure && modules_has(modules, atomic_load(&route->low), route->span) &&
			modules_of(modules, (uintptr_t)atomic_load(&route->function))) {
			from = &route->next;
		} else {
			drop_route(id, from);
		}
	}
}

void route_drop(const struct modules *modules, bool is_sure)
{
	for (unsigned int id = 1; id < HOOK_NR; id++) {
		drop_routes(modules, is_sure, id);
	}
	for (struct hook_range *range = atomic_load(&hook_targets); range;
		range = atomic_load(&range->next)) {
		if (!modules_has(modules, atomic_load(&range->low), atomic_load(&range->span))) {
			atomic_store(&range->low, 0);
		}
	}
}
