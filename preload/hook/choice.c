/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches the modules' symbol tables itself, since the loader's search takes the loader's lock. It
 * asks the loader only where these tables do not decide.
 */
#include "preload/hook/choice.h"

#include <dlfcn.h>
#include <link.h>

#include "preload/hook/hook.h"

/* Skips copies of gprof: their hook would look for the function as well, and find ours. */
static void *find_apart(const struct module *module, const struct choice *choice)
{
	void *function = module_find(module, choice->name, choice->version);

	return function && !module_is_gprof(module) ? function : NULL;
}

static bool has_function(const struct module *module, void *context)
{
	struct choice *choice = context;
	void *function = find_apart(module, choice);

	choice->function = function ? function : choice->function;
	return function != NULL;
}

/*
 * Finds the module whose dlopen has loaded this one: the first earlier module that needs it. An
 * earlier module that needs it must come from the same dlopen.
 */
static const struct module *root_of(const struct modules *modules, const struct module *module)
{
	const struct module *root = module;

	for (const struct module *m = module; m-- > modules->all;) {
		if (modules_needs(modules, m, root) || modules_needs(modules, m, module)) {
			root = m;
		}
	}
	return root;
}

/* Searches what the caller was loaded with, then what was loaded later and needs the caller. */
static const struct module *find_local(
	const struct modules *modules, struct choice *choice, const struct module *caller)
{
	const struct module *root = root_of(modules, caller);
	const struct module *found = modules_visit(modules, root, has_function, choice);

	for (root = caller + 1; !found && root < modules->all + modules->nr; root++) {
		if (modules_reaches(modules, root, caller)) {
			found = modules_visit(modules, root, has_function, choice);
		}
	}
	return found;
}

/*
 * Finds the first definition in the global scope that the caller may be bound to. For the loader a
 * symbol without a version matches any version. dlvsym ignores such symbols; dlsym finds them, but
 * only the default version of the others.
 */
static const struct module *find_in_global(
	const struct modules *modules, struct choice *choice, void **function)
{
	const struct module *any = modules_of(modules, (uintptr_t)choice->global);
	const struct module *exact = modules_of(modules, (uintptr_t)choice->global_exact);
	bool fits = any && module_find(any, choice->name, choice->version);

	/* dlsym cannot look past another copy of gprof: search what the program needs. */
	if (any && module_is_gprof(any)) {
		any = modules_visit(modules, modules->all, has_function, choice);
		*function = choice->function;
		return any;
	}
	if (fits && (!exact || any < exact)) {
		*function = choice->global;
		return any;
	}
	*function = choice->global_exact;
	return exact;
}

/* Finds the first module that defines the function, and counts all that do. */
static const struct module *find_first(
	const struct modules *modules, struct choice *choice, uint32_t *nr)
{
	const struct module *first = NULL;

	*nr = 0;
	for (uint32_t i = 0; i < modules->nr; i++) {
		const struct module *module = &modules->all[i];
		void *function = find_apart(module, choice);

		if (function && !(*nr)++) {
			first = module;
			choice->function = function;
		}
	}
	return first;
}

/*
 * Chooses among several modules. The global scope comes first, but a module that was loaded after
 * the caller counts only if the caller is bound to nothing else. Code outside of all modules has
 * looked the function up itself.
 */
static const struct module *choose(const struct modules *modules, struct choice *choice,
	const struct module *caller, const struct module *first)
{
	void *function;
	const struct module *global = find_in_global(modules, choice, &function);
	/* Before our constructor has counted them, all came with the program. */
	bool is_later =
		hook_nr_at_start && global > caller && global >= modules->all + hook_nr_at_start;
	const struct module *local =
		caller && (!global || is_later) ? find_local(modules, choice, caller) : NULL;

	if (local || !global) {
		return local ? local : first;
	}
	choice->function = function;
	return global;
}

const struct module *choice_find(
	const struct modules *modules, struct choice *choice, const struct module *caller)
{
	const struct module *first;
	uint32_t nr;

	choice->needs_global = false;
	choice->function = NULL;
	choice->version = NULL;
	first = find_first(modules, choice, &nr);
	/* Finding the version is slow, so it is done only where it matters. */
	if (nr != 1 && caller && caller->has_symbols) {
		elf_refers(&caller->elf, choice->name, &choice->version);
		first = choice->version ? find_first(modules, choice, &nr) : first;
	}
	if (!nr && choice->indirect) {
		choice->function = choice->indirect;
		return modules_of(modules, (uintptr_t)choice->indirect);
	}
	if (nr <= 1) {
		return first;
	}
	choice->needs_global = !choice->has_global;
	return choice->has_global ? choose(modules, choice, caller, first) : NULL;
}

bool choice_is_ambiguous(const struct modules *modules, const char *name)
{
	struct choice choice = {.name = name};
	uint32_t nr;

	find_first(modules, &choice, &nr);
	return nr > 1;
}

/* ---- asking the loader ---- */

static void *find_exact(void *handle, const struct choice *choice)
{
	return choice->version && dlvsym ? dlvsym(handle, choice->name, choice->version) : NULL;
}

static bool look_for_copy(const struct module *module, void *function)
{
	return module_contains(module, (uintptr_t)function) && module_is_gprof(module);
}

static void *find_in(void *handle, const struct choice *choice)
{
	void *function = find_exact(handle, choice);

	function = function || !dlsym ? function : dlsym(handle, choice->name);
	return function && !modules_each(look_for_copy, function) ? function : NULL;
}

void choice_ask_global(struct choice *choice)
{
	choice->global = dlsym ? dlsym(RTLD_NEXT, choice->name) : NULL;
	choice->global_exact =
		choice->version && dlvsym ? find_exact(RTLD_NEXT, choice) : choice->global;
	choice->has_global = true;
}

/*
 * Asks for the global scope behind us, then for what the caller's module was loaded with. For the
 * program that is the global scope again, so it is left out.
 */
void choice_ask_loader(struct choice *choice)
{
	struct link_map *map = NULL;
	Dl_info info;

	choice->version = modules_version(choice->caller, choice->name);
	choice->function = find_in(RTLD_NEXT, choice);
	if (!choice->function && dladdr1 &&
		dladdr1((void *)choice->caller, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
		*map->l_name) {
		choice->function = find_in(map, choice);
	}
	if (!choice->function) {
		choice->function = modules_find(NULL, choice->name);
	}
}

static bool look_for_indirect(const struct module *module, void *context)
{
	const struct choice *choice = context;

	return !module_is_ours(module) && module->has_symbols &&
	       elf_has_indirect(&module->elf, choice->name);
}

bool choice_ask_indirect(struct choice *choice)
{
	if (modules_each(look_for_indirect, choice)) {
		choice_ask_loader(choice);
		choice->indirect = choice->function;
	}
	return choice->indirect != NULL;
}
