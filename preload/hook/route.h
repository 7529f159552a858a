/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routes: where the calls of one module to one function go, for as long as both are mapped. All
 * changes happen under the lock of the loader's list (modules.h); reading takes no lock.
 */
#ifndef PRELOAD_HOOK_ROUTE_H
#define PRELOAD_HOOK_ROUTE_H

#include "preload/base/modules.h"
#include "preload/hook/hook.h"

/* What is never freed: NULL if there is no memory. It is used again, so it has a bound. */
void *route_memory(size_t nr_bytes);

/* The route among those shown; NULL if there is none. */
const struct hook_route *route_shown(enum hook_id id, uintptr_t caller);

/* The same, also while routes are hidden; true until something is removed. */
const struct hook_route *route_known(enum hook_id id, uintptr_t caller);

/* Has there ever been one? */
bool route_is_any(void);

/*
 * Remembers one. is_lasting: neither of the modules ever goes. Returns false if there is no memory:
 * the call is still right, only slow.
 */
bool route_add(const struct modules *modules, enum hook_id id, const struct module *caller,
	const struct module *target, void *function, bool is_lasting);

/* Drops those that something was removed from; if that is not sure, all that do not last. */
void route_drop(const struct modules *modules, bool is_sure);

/*
 * While a module may be going, calls from or to it find no route, and look where their function is.
 * All but the lasting ones are hidden.
 */
void route_hide(void);
void route_show(void);

/* May a module be going now? Any thread; takes no lock. */
bool route_is_hidden(void);

#endif
