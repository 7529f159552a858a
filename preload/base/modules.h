/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loader has mapped into this namespace: the program, the libraries that it needs, and
 * those that were opened later, in the order in which they came.
 *
 * The list is looked at inside dl_iterate_phdr. The lock that this takes is the one that guards the
 * list and nothing else: the loader holds it while it adds or removes objects, never while it runs
 * a constructor or a destructor. dlsym, dlopen and dladdr wait for the loader's other lock, which
 * is held while they run, so a thread that a constructor waits for must not call them.
 */
#ifndef PRELOAD_BASE_MODULES_H
#define PRELOAD_BASE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/elf.h"

struct module {
	uintptr_t low, high; /* of its segments */
	const char *path;    /* "" for the program */
	struct elf elf;
	bool has_symbols;
};

/* How many the loader has ever added, and removed. */
struct modules_count {
	uint64_t nr_added, nr_removed;
};

struct modules {
	struct modules_count count;
	uint32_t nr;
	const struct module *ours;
	struct modules_queue *queue; /* of modules_visit, which no small stack has room for */
	struct module all[];
};

/*
 * Calls `look` with the list, which neither grows nor shrinks meanwhile. `look` must not call the
 * loader. Any thread, also within a dlopen or a dlclose of its own. False if there is no memory for
 * it. Keeps errno.
 */
bool modules_look(void (*look)(const struct modules *modules, void *context), void *context);

/* The same without the list, which costs much less. */
void modules_hold(void (*hold)(const struct modules_count *count, void *context), void *context);

/*
 * Of the first `most`, those that came with the program, and stay as long as the process: it, what
 * is preloaded, and what these need. A constructor of theirs may have opened others.
 */
uint32_t modules_count_first(const struct modules *modules, uint32_t most);

/* The object that an address lies in, NULL if none. */
const struct module *modules_of(const struct modules *modules, uintptr_t address);

/* The loader's choice for an undefined symbol, in this one object; NULL if it has none. */
static inline void *module_find(const struct module *module, const char *name, const char *version)
{
	return module->has_symbols ? elf_find_version(&module->elf, name, version) : NULL;
}

/* Does `module` name `library` among those that it needs itself? */
bool modules_needs(
	const struct modules *modules, const struct module *module, const struct module *library);

/*
 * A function of the module that `function` lies in, or, where that is NULL, of the first that has
 * it. NULL if there is none. Takes no lock of the loader's but that of the list.
 */
void *modules_find(const void *function, const char *name);

/*
 * What `root` needs, directly or by others, itself included, breadth first, as the loader goes
 * through them when it looks for a symbol: calls `visit` for each until it returns true. Returns
 * the one for which it did, or NULL.
 */
const struct module *modules_visit(const struct modules *modules, const struct module *root,
	bool (*visit)(const struct module *module, void *context), void *context);

#endif
