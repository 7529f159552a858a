/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the loader's choice among the modules that define a function: first the global scope, then
 * the scope that the caller was loaded with, in the version that the caller requests.
 */
#ifndef PRELOAD_HOOK_CHOICE_H
#define PRELOAD_HOOK_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/modules.h"

struct choice {
	const char *name;
	uintptr_t caller;
	void *function; /* the result; NULL: none */
	/* The first definition in the global scope behind us, if the loader had to be called. */
	bool needs_global, has_global;
	void *global, *global_exact; /* in any version; in the caller's version */
	const char *version;	     /* the version that the caller requests */
	void *indirect;		     /* the loader's answer, if all definitions are indirect */
};

/*
 * Returns the module that defines the function; NULL if there is none. Also returns NULL if it sets
 * `needs_global`: then the caller asks choice_ask_global and calls this again. caller: NULL for
 * code outside of all modules. Needs the lock of the loader's list (modules.h).
 */
const struct module *choice_find(
	const struct modules *modules, struct choice *choice, const struct module *caller);

/* Do several modules define it? */
bool choice_is_ambiguous(const struct modules *modules, const char *name);

/*
 * Asks the loader for the first definition in the global scope. Takes the loader's lock, as do the
 * functions below.
 */
void choice_ask_global(struct choice *choice);

/* Asks the loader for all of the choice, if there is no list of modules. */
void choice_ask_loader(struct choice *choice);

/* If all definitions are indirect functions, asks the loader for the function they select. */
bool choice_ask_indirect(struct choice *choice);

#endif
