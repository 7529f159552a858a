/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the module that a route leads to. The loader keeps a module while another one is bound to
 * it; callers that are bound to us instead must not lose it either. If nothing else keeps it, the
 * next dlclose first takes a handle of it. That is early enough, since nothing is unloaded before,
 * and spares calls the wait for the loader's lock.
 */
#ifndef PRELOAD_HOOK_LINK_H
#define PRELOAD_HOOK_LINK_H

#include "preload/base/modules.h"

/*
 * May the caller's route to the target be remembered? Not if a link is needed and there is no
 * memory for it. The first `nr_first` modules came with the program. Needs the lock of the loader's
 * list.
 */
bool link_keeps(const struct modules *modules, uint32_t nr_first, const char *name,
	const struct module *caller, const struct module *target);

/* Ends the links from and to removed modules. Needs the lock of the loader's list. */
void link_drop(const struct modules *modules);

/* Takes out a handle that no link needs any more, for dlclose; NULL if there is none. */
void *link_take_handle(void);

/* Does a link still need a handle of its target? */
bool link_wants_handle(void);

/* Opens these handles. Only for a dlclose of the program, which waits for the loader anyway. */
void link_take_handles(void);

#endif
