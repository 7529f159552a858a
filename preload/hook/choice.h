/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader's choice among the modules that define a function: the global scope first, then the
 * scope that the caller was loaded with, for the version that the caller requests.
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
	/* The first in the global scope behind us, if the loader had to be called: */
	bool needs_global, has_global;
	void *global, *global_exact; /* whatever its version; of the caller's version */
	const char *version;	     /* that the caller requests */
	void *indirect;		     /* the loader's, where all that define it are indirect */
};

/*
 * Returns the module that defines the function, NULL if there is none, or if `needs_global` is set:
 * then the answer of choice_ask_global decides. caller: NULL for code of no module. Under the lock
 * of the loader's list (modules.h).
 */
const struct module *choice_find(
	const struct modules *modules, struct choice *choice, const struct module *caller);

/* Do several modules define it? */
bool choice_is_ambiguous(const struct modules *modules, const char *name);

/* These take the loader's lock. */
void choice_ask_global(struct choice *choice);

/* The loader's own answer, for want of a list of modules. */
void choice_ask_loader(struct choice *choice);

/* If only indirect functions have the name, the loader must say what they lead to. */
bool choice_ask_indirect(struct choice *choice);

#endif
