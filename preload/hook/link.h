/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the module that a route leads to stays. The loader keeps a module for as long as another
 * one is bound to it; those that are bound to us in its place must not lose it either. If only the
 * caller's use keeps it, the next dlclose first takes a handle of it: nothing is unloaded before
 * that, and calls must not wait for the loader's lock.
 */
#ifndef PRELOAD_HOOK_LINK_H
#define PRELOAD_HOOK_LINK_H

#include "preload/base/modules.h"

/*
 * May the caller's route to the target be remembered? Without memory for what that takes, not. The
 * first `nr_first` modules came with the program. Under the lock of the loader's list, as the next.
 */
bool link_keeps(const struct modules *modules, uint32_t nr_first, const char *name,
	const struct module *caller, const struct module *target);

/* Something was removed: links from and to that are over. */
void link_drop(const struct modules *modules);

/* A handle that nobody needs any more, for dlclose; NULL: there is none. */
void *link_take_handle(void);

/* Is there a link whose target wants a handle? */
bool link_wants_handle(void);

/* Takes those handles: in the caller's dlclose, which waits for the loader as well. */
void link_take_handles(void);

#endif
