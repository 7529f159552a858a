/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/base/modules.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/util/loaded_objects.h"

#define MAX_MODULES 4096u

struct modules_queue {
	uint16_t places[MAX_MODULES];
	bool is_queued[MAX_MODULES];
};

struct list {
	void (*look)(const struct modules *modules, void *context);
	void *context;
	struct modules *modules;
};

static void take_segments(struct module *module, const struct dl_phdr_info *info)
{
	module->low = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;
		uintptr_t end = start + segment->p_memsz;

		if (segment->p_type == PT_LOAD) {
			module->low = start < module->low ? start : module->low;
			module->high = end > module->high ? end : module->high;
		}
	}
}

static bool is_in(const struct module *module, uintptr_t address)
{
	return address >= module->low && address < module->high;
}

static int take_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct modules *modules = data;
	struct module *module = &modules->all[modules->nr];

	(void)size;
	if (modules->nr == MAX_MODULES) {
		return 1;
	}
	modules->nr++;
	modules->count = (struct modules_count){info->dlpi_adds, info->dlpi_subs};
	module->path = info->dlpi_name ? info->dlpi_name : "";
	take_segments(module, info);
	module->has_symbols = elf_open(&module->elf, info);
	if (is_in(module, (uintptr_t)&modules_look)) {
		modules->ours = module;
	}
	return 0;
}

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer does not see the lock that dl_iterate_phdr holds. */
void __tsan_acquire(void *lock);
void __tsan_release(void *lock);
static char list_lock;
#define SEE_LOCKED()   __tsan_acquire(&list_lock)
#define SEE_UNLOCKED() __tsan_release(&list_lock)
#else
#define SEE_LOCKED()   ((void)0)
#define SEE_UNLOCKED() ((void)0)
#endif

/* Called for the first object; the lock, which one thread may take twice, is held until it returns.
 */
static int with_lock(struct dl_phdr_info *info, size_t size, void *data)
{
	struct list *list = data;

	(void)info;
	(void)size;
	SEE_LOCKED();
	dl_iterate_phdr(take_module, list->modules);
	list->look(list->modules, list->context);
	SEE_UNLOCKED();
	return 1;
}

bool modules_look(void (*look)(const struct modules *modules, void *context), void *context)
{
	const size_t list_bytes = sizeof(struct modules) + MAX_MODULES * sizeof(struct module);
	const size_t nr_bytes = list_bytes + sizeof(struct modules_queue);
	struct list list = {look, context, NULL};
	int error = errno;

	/* Pages are touched as they are used; a list like this has no place on a small stack. */
	list.modules = mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (list.modules != MAP_FAILED) {
		list.modules->queue = (void *)((char *)list.modules + list_bytes);
		loaded_objects_visit(with_lock, &list);
		munmap(list.modules, nr_bytes);
	}
	errno = error;
	return list.modules != MAP_FAILED;
}

struct hold {
	void (*function)(const struct modules_count *count, void *context);
	void *context;
};

static int with_count(struct dl_phdr_info *info, size_t size, void *data)
{
	struct modules_count count = {info->dlpi_adds, info->dlpi_subs};
	struct hold *hold = data;

	(void)size;
	SEE_LOCKED();
	hold->function(&count, hold->context);
	SEE_UNLOCKED();
	return 1;
}

void modules_hold(void (*function)(const struct modules_count *count, void *context), void *context)
{
	struct hold hold = {function, context};

	loaded_objects_visit(with_count, &hold);
}

const struct module *modules_of(const struct modules *modules, uintptr_t address)
{
	for (uint32_t i = 0; i < modules->nr; i++) {
		if (is_in(&modules->all[i], address)) {
			return &modules->all[i];
		}
	}
	return NULL;
}

struct wanted {
	const void *function;
	const char *name;
	void *found;
};

static void look_for_function(const struct modules *modules, void *context)
{
	struct wanted *wanted = context;
	const struct module *module = modules_of(modules, (uintptr_t)wanted->function);

	if (module) {
		wanted->found = module_find(module, wanted->name, NULL);
		return;
	}
	for (uint32_t i = 0; i < modules->nr && !wanted->function && !wanted->found; i++) {
		if (&modules->all[i] != modules->ours) {
			wanted->found = module_find(&modules->all[i], wanted->name, NULL);
		}
	}
}

void *modules_find(const void *function, const char *name)
{
	struct wanted wanted = {function, name, NULL};

	modules_look(look_for_function, &wanted);
	return wanted.found;
}

/* ---- what needs what ---- */

/* May that be the library which a needed name means? */
static bool has_name(const struct module *module, const char *name)
{
	const char *base = strrchr(module->path, '/');

	if (strchr(name, '/')) {
		return !strcmp(module->path, name);
	}
	return !strcmp(module->elf.soname, name) || (base && !strcmp(base + 1, name));
}

/* Do they lie in one folder? */
static bool is_beside(const struct module *a, const struct module *b)
{
	const char *base_a = strrchr(a->path, '/'), *base_b = strrchr(b->path, '/');

	return base_a && base_b && base_a - a->path == base_b - b->path &&
	       !memcmp(a->path, b->path, (size_t)(base_a - a->path));
}

/*
 * The library with that name that `module` needs. The loader takes the first one with that soname;
 * a file with that name alone need not be the one that the loader finds on its path, which usually
 * is beside the module that needs it.
 */
static const struct module *find_needed(
	const struct modules *modules, const struct module *module, const char *name)
{
	const struct module *found = NULL;

	for (uint32_t i = 0; i < modules->nr; i++) {
		const struct module *library = &modules->all[i];

		if (!has_name(library, name)) {
			continue;
		}
		if (!strcmp(library->elf.soname, name)) {
			return library;
		}
		if (!found || (!is_beside(found, module) && is_beside(library, module))) {
			found = library;
		}
	}
	return found;
}

bool modules_needs(
	const struct modules *modules, const struct module *module, const struct module *library)
{
	const ElfW(Dyn) *at = NULL;
	const char *name;

	while (module->has_symbols && (name = elf_next_needed(&module->elf, &at))) {
		if (has_name(library, name) && find_needed(modules, module, name) == library) {
			return true;
		}
	}
	return false;
}

const struct module *modules_visit(const struct modules *modules, const struct module *root,
	bool (*visit)(const struct module *module, void *context), void *context)
{
	struct modules_queue *queue = modules->queue;
	uint32_t nr = 0;

	memset(queue->is_queued, 0, modules->nr);
	queue->places[nr++] = (uint16_t)(root - modules->all);
	queue->is_queued[queue->places[0]] = true;
	for (uint32_t i = 0; i < nr; i++) {
		const struct module *module = &modules->all[queue->places[i]];
		const ElfW(Dyn) *at = NULL;
		const char *name;

		if (visit(module, context)) {
			return module;
		}
		while (module->has_symbols && (name = elf_next_needed(&module->elf, &at))) {
			const struct module *next = find_needed(modules, module, name);
			uint32_t place = next ? (uint32_t)(next - modules->all) : 0;

			if (next && !queue->is_queued[place]) {
				queue->is_queued[place] = true;
				queue->places[nr++] = (uint16_t)place;
			}
		}
	}
	return NULL;
}

uint32_t modules_count_first(const struct modules *modules, uint32_t most)
{
	bool *is_needed = modules->queue->is_queued, has_needed = false;
	uint32_t i;

	memset(is_needed, 0, modules->nr);
	/* A needed library follows the module that needs it, and preloaded libraries come first. */
	for (i = 0; i < modules->nr && i < most && (is_needed[i] || !has_needed); i++) {
		const struct module *module = &modules->all[i];
		const ElfW(Dyn) *at = NULL;
		const char *name;

		has_needed = has_needed || is_needed[i];
		while (module->has_symbols && (name = elf_next_needed(&module->elf, &at))) {
			const struct module *next = find_needed(modules, module, name);

			if (next) {
				is_needed[next - modules->all] = true;
			}
		}
	}
	return i;
}
