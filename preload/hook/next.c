/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the C library that we replace: the next ones in the loader's order, which may be
 * another interposer's. They are the same for every caller. The constructor finds them: later, a
 * child of vfork, or a thread that a lock holder waits for, may call them.
 */
#include <string.h>

#include "collector/util/loaded_objects.h"
#include "preload/base/modules.h"
#include "preload/hook/hook.h"

void *_Atomic hook_nexts[HOOK_NEXT_NR] COMPAT_AT_START;
uint32_t hook_nr_at_start COMPAT_AT_START;

/* In the order of enum hook_next_id, one behind the other: pointers would be relocated. */
#define NAME_RT(name)
#define NAME_DRV(name)
#define NAME_THR(name)					#name "\0"
#define HOOK_MANUAL(api, need, ret, name, params, args) NAME_##api(name)
#define END(ret, name, params)				#name "\0"
#define LOADER(ret, name, params)			#name "\0"
#define READS(ret, name, params)			#name "\0"
static const char names[] =
#include "preload/hook/hooks.def"
	"";

struct search {
	uint32_t nr_modules;
	bool is_behind_us;
	uint32_t nr_missing;
};

static const char *name_of(unsigned int id)
{
	const char *name = names;

	while (id--) {
		name += strlen(name) + 1;
	}
	return name;
}

COMPAT_START_CODE static void look_in(struct search *search, const struct elf *elf)
{
	const char *name = names;

	search->nr_missing = 0;
	for (unsigned int id = 0; id < HOOK_NEXT_NR; id++, name += strlen(name) + 1) {
		if (!atomic_load_explicit(&hook_nexts[id], memory_order_relaxed)) {
			void *function = elf_find(elf, name);

			search->nr_missing += !function;
			atomic_store_explicit(&hook_nexts[id], function, memory_order_relaxed);
		}
	}
}

COMPAT_START_CODE static int look_at_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	struct elf elf;

	(void)size;
	search->nr_modules++;
	if (!search->is_behind_us) {
		search->is_behind_us = loaded_objects_contains(info, (uintptr_t)&hook_nexts);
	} else if (search->nr_missing && elf_open(&elf, info)) {
		look_in(search, &elf);
	}
	return 0;
}

COMPAT_START_CODE void hook_find_nexts(void)
{
	struct search search = {.nr_missing = HOOK_NEXT_NR};

	dl_iterate_phdr(look_at_module, &search);
	hook_nr_at_start = search.nr_modules;
}

/* ---- called before the constructor, or of a library that came later ---- */

/* If we were opened rather than preloaded, the C library stands before us. */
struct late_search {
	const char *name;
	void *before, *behind; /* the first function before us and behind us */
	bool is_behind_us;
};

static bool look_late(const struct module *module, void *context)
{
	struct late_search *search = context;
	void **function = search->is_behind_us ? &search->behind : &search->before;

	if (module_is_ours(module)) {
		search->is_behind_us = true;
	} else if (!*function) {
		*function = module_find(module, search->name, NULL);
	}
	return search->behind != NULL;
}

void *hook_find_next(enum hook_next_id id)
{
	struct late_search search = {.name = name_of(id)};
	void *function;

	modules_each(look_late, &search);
	function = search.behind ? search.behind : search.before;
	if (function) {
		atomic_store_explicit(&hook_nexts[id], function, memory_order_relaxed);
	}
	return function;
}

void *hook_next_for(enum hook_next_id id, uintptr_t caller)
{
	void *function = hook_next(id), *exact = NULL;
	const char *name = name_of(id), *version = function ? modules_version(caller, name) : NULL;

	if (version) {
		exact = modules_find_version(function, name, version);
	}
	return exact ? exact : function;
}
