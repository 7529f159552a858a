/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A route says where the calls of one module to one function go, while both modules are mapped. All
 * changes need the lock of the loader's list (modules.h); reading takes no lock.
 */
#ifndef PRELOAD_HOOK_ROUTE_H
#define PRELOAD_HOOK_ROUTE_H

#include "preload/base/modules.h"
#include "preload/hook/hook.h"

/* Memory that is never freed; NULL if there is none. Callers use it again, so it is bounded. */
void *route_memory(size_t nr_bytes);

/* Finds a route that is not hidden; NULL if there is none. */
const struct hook_route *route_shown(enum hook_id id, uintptr_t caller);

/* Finds a route even if it is hidden. It holds until a module is removed. */
const struct hook_route *route_known(enum hook_id id, uintptr_t caller);

/* Has a route ever been added? */
bool route_is_any(void);

/*
 * Adds a route. is_lasting: neither of the modules ever leaves. Returns false if there is no
 * memory; the calls then still go the right way, only slower.
 */
bool route_add(const struct modules *modules, enum hook_id id, const struct module *caller,
	const struct module *target, void *function, bool is_lasting);

/* Drops the routes of removed modules; if those are not known for sure, all but lasting routes. */
void route_drop(const struct modules *modules, bool is_sure);

/*
 * While a module may be leaving, hides all but the lasting routes. Calls then search for their
 * function anew.
 */
void route_hide(void);
void route_show(void);

/* May a module be leaving now? Any thread; takes no lock. */
bool route_is_hidden(void);

#endif
