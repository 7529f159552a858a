/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules_look() fills the one list inside dl_iterate_phdr, whose lock protects it until the
 * caller's function returns. Where the list has no room, it maps more without the lock, and tries
 * again. The rest follows needed libraries by their names, as the loader does.
 */
#include "preload/base/modules.h"

#include <string.h>
#include <sys/mman.h>

#include "collector/util/loaded_objects.h"
#include "collector/util/memory.h"
#include "collector/util/target.h"

#define NR_FIRST   1024u
#define PAGE_BYTES 4096u /* at least */

/* Memory for a list. */
struct room {
	uint32_t nr;
	struct module *all;
	uint32_t *queue;
	bool *is_queued;
	size_t nr_bytes; /* of its own mapping; 0: none */
};

/*
 * One list serves all looks: they fill it anew under the lock of the loader's list. So a look needs
 * memory only where the process has more objects than ever before, and maps it early.
 */
static struct modules_state {
	struct modules list;
	struct room room;
	struct module first[NR_FIRST];
	uint32_t first_queue[NR_FIRST];
	bool first_is_queued[NR_FIRST];
} state;

struct look {
	void (*function)(const struct modules *modules, void *context);
	void *context;
	struct room room;   /* larger, to be taken over; then the former one */
	uint32_t nr_wanted; /* 0: there is room enough */
	bool is_done;
};

static void take_segments(struct module *module, const struct dl_phdr_info *info)
{
	const uintptr_t rest = PAGE_BYTES - 1;

	module->low = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;
		uintptr_t end = (start + segment->p_memsz + rest) & ~rest;

		if (segment->p_type == PT_LOAD) {
			module->low = (start < module->low ? start : module->low) & ~rest;
			module->high = end > module->high ? end : module->high;
		}
	}
}

static void fill_module(struct module *module, const struct dl_phdr_info *info)
{
	*module = (struct module){.path = info->dlpi_name ? info->dlpi_name : ""};
	take_segments(module, info);
	module->has_symbols = elf_open(&module->elf, info);
}

bool module_is_ours(const struct module *module)
{
	return module_contains(module, (uintptr_t)&modules_look);
}

/* Adds one object to the list; without room it is only counted. */
static int take_module(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct modules *list = &state.list;
	uint32_t place = list->nr++;
	struct module *module;

	(void)size;
	(void)unused;
	list->count = (struct modules_count){info->dlpi_adds, info->dlpi_subs};
	if (place < state.room.nr) {
		module = &state.room.all[place];
		fill_module(module, info);
		list->ours = module_is_ours(module) ? module : list->ours;
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

static void take_room(struct room *room)
{
	struct room former = state.room;

	if (!former.nr) {
		state.room = (struct room){
			NR_FIRST, state.first, state.first_queue, state.first_is_queued, 0};
	}
	if (room->nr > state.room.nr) {
		state.room = *room;
		*room = former;
	}
}

/* Returns false if the list has not room for all: a part of it says nothing. */
static bool make_list(void)
{
	state.list = (struct modules){.all = state.room.all,
		.queue = state.room.queue,
		.is_queued = state.room.is_queued};
	dl_iterate_phdr(take_module, NULL);
	return state.list.nr <= state.room.nr;
}

/* Called for the first object; the lock, which one thread may take twice, is held until it returns.
 */
static int with_lock(struct dl_phdr_info *info, size_t size, void *data)
{
	struct look *look = data;

	(void)info;
	(void)size;
	SEE_LOCKED();
	take_room(&look->room);
	look->nr_wanted = 0;
	if (!look->is_done) {
		look->is_done = make_list();
		if (look->is_done) {
			look->function(&state.list, look->context);
		}
		if (state.list.nr > state.room.nr / 2) {
			look->nr_wanted = 4 * state.list.nr;
		}
	}
	SEE_UNLOCKED();
	return 1;
}

/* Pages are touched as they are used. */
static bool map_room(struct room *room, uint32_t nr)
{
	const size_t all_bytes = nr * sizeof(struct module), queue_bytes = nr * sizeof(uint32_t);
	size_t nr_bytes = all_bytes + queue_bytes + nr * sizeof(bool);
	char *memory = memory_map(nr_bytes);

	if (memory) {
		*room = (struct room){nr, (void *)memory, (void *)(memory + all_bytes),
			(void *)(memory + all_bytes + queue_bytes), nr_bytes};
	}
	return memory != NULL;
}

bool modules_look(void (*function)(const struct modules *modules, void *context), void *context)
{
	struct look look = {.function = function, .context = context};
	TARGET_KEEP_ERRNO;

	do {
		loaded_objects_visit(with_lock, &look);
		if (look.room.nr_bytes) {
			munmap(look.room.all, look.room.nr_bytes);
		}
		look.room = (struct room){0};
	} while (look.nr_wanted && map_room(&look.room, look.nr_wanted));
	return look.is_done;
}

struct each {
	bool (*visit)(const struct module *module, void *context);
	void *context;
};

static int visit_one(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct each *each = data;
	struct module module;

	(void)size;
	fill_module(&module, info);
	return each->visit(&module, each->context);
}

bool modules_each(bool (*visit)(const struct module *module, void *context), void *context)
{
	struct each each = {visit, context};

	return loaded_objects_visit(visit_one, &each) != 0;
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
		if (module_contains(&modules->all[i], address)) {
			return &modules->all[i];
		}
	}
	return NULL;
}

bool modules_has(const struct modules *modules, uintptr_t low, uintptr_t span)
{
	const struct module *module = modules_of(modules, low);

	return module && module->low == low && module->high - low == span;
}

struct wanted {
	const void *function;
	const char *name, *version;
	void *found;
};

static bool look_for_function(const struct module *module, void *context)
{
	struct wanted *wanted = context;

	if (!wanted->function || module_contains(module, (uintptr_t)wanted->function)) {
		wanted->found = module_find(module, wanted->name, wanted->version);
	}
	if (wanted->found && !wanted->function && module_is_gprof(module)) {
		wanted->found = NULL;
	}
	return wanted->found != NULL;
}

void *modules_find_version(const void *function, const char *name, const char *version)
{
	struct wanted wanted = {function, name, version, NULL};

	modules_each(look_for_function, &wanted);
	return wanted.found;
}

static bool look_for_version(const struct module *module, void *context)
{
	struct wanted *wanted = context;
	bool is_caller = module_contains(module, (uintptr_t)wanted->function);

	if (is_caller && module->has_symbols) {
		elf_refers(&module->elf, wanted->name, &wanted->version);
	}
	return is_caller;
}

const char *modules_version(uintptr_t caller, const char *name)
{
	struct wanted wanted = {(void *)caller, name, NULL, NULL};

	modules_each(look_for_version, &wanted);
	return wanted.version;
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
 * Returns the library with that name that `module` needs. The loader takes the first one with that
 * soname; a file with that name alone need not be the one that the loader finds on its path, which
 * usually is beside the module that needs it.
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

/*
 * Visits the root and what it needs breadth first, as the loader searches them. Needs no memory:
 * the queue is part of the list.
 */
const struct module *modules_visit(const struct modules *modules, const struct module *root,
	bool (*visit)(const struct module *module, void *context), void *context)
{
	uint32_t nr = 0;

	memset(modules->is_queued, 0, modules->nr);
	modules->queue[nr++] = (uint32_t)(root - modules->all);
	modules->is_queued[modules->queue[0]] = true;
	for (uint32_t i = 0; i < nr; i++) {
		const struct module *module = &modules->all[modules->queue[i]];
		const ElfW(Dyn) *at = NULL;
		const char *name;

		if (visit(module, context)) {
			return module;
		}
		while (module->has_symbols && (name = elf_next_needed(&module->elf, &at))) {
			const struct module *next = find_needed(modules, module, name);
			uint32_t place = next ? (uint32_t)(next - modules->all) : 0;

			if (next && !modules->is_queued[place]) {
				modules->is_queued[place] = true;
				modules->queue[nr++] = place;
			}
		}
	}
	return NULL;
}

static bool is_module(const struct module *module, void *wanted)
{
	return module == wanted;
}

bool modules_reaches(
	const struct modules *modules, const struct module *module, const struct module *library)
{
	return modules_visit(modules, module, is_module, (void *)(uintptr_t)library) != NULL;
}

uint32_t modules_count_first(const struct modules *modules, uint32_t most)
{
	bool *is_needed = modules->is_queued, has_needed = false;
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
