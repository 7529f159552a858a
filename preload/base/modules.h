/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that the loader has mapped into this namespace: the program, the libraries that it
 * needs, and those opened later, in the order of loading.
 *
 * The list is read inside dl_iterate_phdr, whose lock guards only the list: the loader holds it
 * while it adds or removes objects, never while it runs a constructor or a destructor. dlsym,
 * dlopen and dladdr wait for the loader's other lock, which is held meanwhile, so a thread that a
 * constructor waits for must not call them.
 */
#ifndef PRELOAD_BASE_MODULES_H
#define PRELOAD_BASE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/elf.h"

struct module {
	uintptr_t low, high; /* of its segments' pages */
	const char *path;    /* "" for the program */
	struct elf elf;
	bool has_symbols;
};

/* The numbers of objects that the loader has ever added and removed. */
struct modules_count {
	uint64_t nr_added, nr_removed;
};

struct modules {
	struct modules_count count;
	uint32_t nr;
	const struct module *ours;
	const struct module *all;
	/* For modules_visit and modules_count_first; too large for a small stack. */
	uint32_t *queue;
	bool *is_queued;
};

/*
 * Calls `look` with the list, which is complete and does not change until it returns. `look` must
 * not call the loader. Any thread, also inside a dlopen or dlclose of its own. Returns false,
 * without a call, if there is no memory for so many objects. Keeps errno.
 */
bool modules_look(void (*look)(const struct modules *modules, void *context), void *context);

/* The same without the list, which is much cheaper. */
void modules_hold(void (*hold)(const struct modules_count *count, void *context), void *context);

/*
 * Calls `visit` with one object after the other, until it returns true: all that can be said
 * without memory for a list.
 */
bool modules_each(bool (*visit)(const struct module *module, void *context), void *context);

/*
 * Counts, among the first `most` objects, those that came with the program and stay for the whole
 * process: the program, preloaded libraries, and what these need. Their constructors may have
 * opened others.
 */
uint32_t modules_count_first(const struct modules *modules, uint32_t most);

static inline bool module_contains(const struct module *module, uintptr_t address)
{
	return address >= module->low && address < module->high;
}

/* The object that contains an address, NULL if there is none. */
const struct module *modules_of(const struct modules *modules, uintptr_t address);

/* Is an object mapped at exactly these bounds? */
bool modules_has(const struct modules *modules, uintptr_t low, uintptr_t span);

/* The loader's choice for an undefined symbol, in this one object; NULL if it has none. */
static inline void *module_find(const struct module *module, const char *name, const char *version)
{
	return module->has_symbols ? elf_find_version(&module->elf, name, version) : NULL;
}

/* Is it this library? */
bool module_is_ours(const struct module *module);

/* Is it this library, or another copy of it? */
static inline bool module_is_gprof(const struct module *module)
{
	return module_find(module, "gprof_step", NULL) &&
	       module_find(module, "InitializeInjection", NULL);
}

/* Does `module` name `library` among those that it needs itself? */
bool modules_needs(
	const struct modules *modules, const struct module *module, const struct module *library);

/* Does `module` need `library`, directly or through others? */
bool modules_reaches(
	const struct modules *modules, const struct module *module, const struct module *library);

/*
 * Finds a function in the module that contains `function`, or, if that is NULL, in the first module
 * that defines it and is no copy of gprof. Returns NULL if there is none. version: NULL for the
 * default. Takes only the lock of the loader's list.
 */
void *modules_find_version(const void *function, const char *name, const char *version);

static inline void *modules_find(const void *function, const char *name)
{
	return modules_find_version(function, name, NULL);
}

/* Returns the version of a function that the caller's module requests; NULL for none. */
const char *modules_version(uintptr_t caller, const char *name);

/*
 * Visits what `root` needs, directly or indirectly, itself included, breadth first, in the order in
 * which the loader searches for a symbol, until `visit` returns true. Returns that module, or NULL.
 */
const struct module *modules_visit(const struct modules *modules, const struct module *root,
	bool (*visit)(const struct module *module, void *context), void *context);

#endif
