/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load() opens the other tool, and fill() notes which slots of NVTX's tables it has changed: those
 * are the functions that ours call. `maps` turns its handles into our ids by open addressing; no
 * entry is ever removed, so a search needs no lock.
 */
#include "preload/nvtx/nvtx_next.h"

#include <dlfcn.h>
#include <string.h>

#include "collector/util/memory.h"
#include "preload/hook/hook.h"

#define NR_SLOTS 16u
#define NR_KEYS	 65536u /* handles of a kind; further ones are counted and have no name */
#define NR_TRIES 64u	/* in the target's call */

HOOK_EXPORT int InitializeInjectionNvtx2(nvtx_get_export get_export);

/* Handles to ids. Nothing is ever taken out; a handle that is given out again gets a new id. */
struct map {
	void *_Atomic keys[NR_KEYS];
	_Atomic uint32_t ids[NR_KEYS];
};

char nvtx_next_path[PATH_MAX + 1];

static struct next_state {
	atomic_uint reported_in; /* that it does not work */
	void (*_Atomic functions[3][NR_SLOTS])(void);
	void *_Atomic
		maps; /* struct map, one per kind of handle; NULL until there is another tool */
} state;

static __thread bool is_loading __attribute__((tls_model("initial-exec")));

static bool has_maps(void)
{
	return memory_map_once(&state.maps, NVTX_NR_HANDLES * sizeof(struct map)) != NULL;
}

static void *load(void)
{
	const char *path = nvtx_next_path;
	void *handle = *path && has_maps() ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;

	if (*path && !handle && notice_is_first(&state.reported_in)) {
		notice_add("another tool", 0,
			"NVTX_INJECTION64_PATH named %.200s, which cannot be loaded; that tool "
			"does not run",
			path);
	}
	return handle;
}

nvtx_slot nvtx_next_slot(
	const struct nvtx_callbacks *callbacks, const struct nvtx_slot_function *slot)
{
	nvtx_slot *table = NULL;
	uint32_t nr_slots = 0;

	return callbacks->get_table(slot->module, &table, &nr_slots) && table && slot->id < nr_slots
		       ? table[slot->id]
		       : NULL;
}

bool nvtx_next_is_loading(void)
{
	return is_loading;
}

/* Returns the entry in state.functions. */
static void (*_Atomic *place(uint32_t module, uint32_t id))(void)
{
	return &state.functions[module == NVTX_MODULE_CORE2	 ? 1
				: module == NVTX_MODULE_EXTENDED ? 2
								 : 0][id % NR_SLOTS];
}

void (*nvtx_next_function(uint32_t module, uint32_t id))(void)
{
	return atomic_load_explicit(place(module, id), memory_order_acquire);
}

/*
 * Lets another tool put its functions into NVTX's slots, and keeps them as the next ones after
 * ours.
 */
static bool fill(int (*inject)(nvtx_get_export), nvtx_get_export get_export,
	const struct nvtx_callbacks *callbacks, const struct nvtx_slot_function *slots,
	size_t nr_slots)
{
	void (*before[2 * NR_SLOTS])(void);
	bool is_filled;

	for (size_t i = 0; i < nr_slots; i++) {
		nvtx_slot slot = nvtx_next_slot(callbacks, &slots[i]);

		before[i] = slot ? *slot : NULL;
	}
	is_loading = true;
	is_filled = inject(get_export) != 0;
	is_loading = false;
	for (size_t i = 0; is_filled && i < nr_slots; i++) {
		nvtx_slot slot = nvtx_next_slot(callbacks, &slots[i]);

		/* A slot that it left alone still leads into the loader. */
		if (slot && *slot != before[i]) {
			atomic_store(place(slots[i].module, slots[i].id), *slot);
		}
	}
	return is_filled;
}

bool nvtx_next_load(nvtx_get_export get_export, const struct nvtx_callbacks *callbacks,
	const struct nvtx_slot_function *slots, size_t nr_slots)
{
	int (*inject)(nvtx_get_export) = NULL;
	void *handle = nr_slots > 2 * NR_SLOTS ? NULL : load();

	if (handle) {
		*(void **)&inject = dlsym(handle, "InitializeInjectionNvtx2");
	}
	if (handle && !inject && notice_is_first(&state.reported_in)) {
		notice_add("another tool", 0,
			"NVTX_INJECTION64_PATH named %.200s, which has no "
			"InitializeInjectionNvtx2; that tool does not run",
			nvtx_next_path);
	}
	return inject && inject != InitializeInjectionNvtx2 &&
	       fill(inject, get_export, callbacks, slots, nr_slots);
}

intptr_t *nvtx_next_extended_slot(
	const struct nvtx_extension *extension, const struct nvtx_slot_function *slot)
{
	return extension->id == NVTX_EXTENSION_PAYLOAD && extension->nr_segments &&
			       slot->id < extension->segments[0].nr_slots
		       ? &extension->segments[0].slots[slot->id]
		       : NULL;
}

/* Empties the slots of a tool that has refused, since gprof may still want the extension. */
static void clear_extension(const struct nvtx_extension *extension)
{
	for (size_t i = 0; i < extension->nr_segments; i++) {
		memset(extension->segments[i].slots, 0,
			extension->segments[i].nr_slots * sizeof(*extension->segments[i].slots));
	}
}

int nvtx_next_load_extension(
	struct nvtx_extension *extension, const struct nvtx_slot_function *slots, size_t nr_slots)
{
	int (*inject)(struct nvtx_extension *) = NULL;
	void *handle = is_loading ? NULL : load();
	int rc;

	if (handle) {
		*(void **)&inject = dlsym(handle, "InitializeInjectionNvtxExtension");
	}
	if (!inject) {
		return 0;
	}
	is_loading = true;
	rc = inject(extension);
	is_loading = false;
	if (!rc) {
		clear_extension(extension);
	}
	for (size_t i = 0; i < nr_slots; i++) {
		intptr_t *slot = nvtx_next_extended_slot(extension, &slots[i]);

		if (slot && *slot) {
			atomic_store(place(slots[i].module, slots[i].id), (void (*)(void)) * slot);
		}
	}
	return rc;
}

/* ---- handles ---- */

static uint32_t hash(const void *handle)
{
	return (uint32_t)((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u >> 48) % NR_KEYS;
}

/* Finds where a handle is, or could be; NULL if there is no room. */
static void *_Atomic *find(struct map *map, const void *handle)
{
	for (uint32_t i = 0, at = hash(handle); i < NR_TRIES; i++, at = (at + 1) % NR_KEYS) {
		const void *key = atomic_load(&map->keys[at]);

		if (!key || key == handle) {
			return &map->keys[at];
		}
	}
	return NULL;
}

static bool is_theirs(enum nvtx_handle what, const void *handle)
{
	struct map *maps = handle ? atomic_load(&state.maps) : NULL;
	void *_Atomic *key = maps ? find(&maps[what], handle) : NULL;

	return key && atomic_load(key) == handle;
}

/* Two threads may get the same handle at once: both find the entry that one of them has made. */
void *nvtx_next_keep(enum nvtx_handle what, void *theirs, uint32_t id)
{
	struct map *map = atomic_load(&state.maps);
	void *_Atomic *key;
	void *none;

	if (!theirs || !map) {
		return (void *)(uintptr_t)id;
	}
	map += what;
	do {
		key = find(map, theirs);
		none = NULL;
	} while (key && atomic_load(key) != theirs &&
		 !atomic_compare_exchange_strong(key, &none, theirs));
	if (key) {
		atomic_store(&map->ids[key - map->keys], id);
	} else {
		loss_add(LOSS_NVTX_HANDLE, 1);
	}
	return theirs;
}

uint32_t nvtx_next_id(enum nvtx_handle what, const void *handle)
{
	struct map *map = atomic_load_explicit(&state.maps, memory_order_acquire);
	void *_Atomic *key;

	if (!map) {
		return (uint32_t)(uintptr_t)handle;
	}
	map += what;
	key = handle ? find(map, handle) : NULL;
	if (key && atomic_load(key) == handle) {
		return atomic_load(&map->ids[key - map->keys]);
	}
	/* A handle of gprof: older than the other tool, or one for which it gave none. */
	return (uintptr_t)handle < UINT32_MAX ? (uint32_t)(uintptr_t)handle : 0;
}

void *nvtx_next_handle(enum nvtx_handle what, void *handle)
{
	return is_theirs(what, handle) ? handle : NULL;
}

const struct nvtx_attributes *nvtx_next_attributes(
	const struct nvtx_attributes *attributes, struct nvtx_attributes *copy)
{
	if (!attributes || attributes->size < sizeof(*attributes) ||
		attributes->message_type != NVTX_MESSAGE_REGISTERED ||
		is_theirs(NVTX_STRING, attributes->message)) {
		return attributes;
	}
	*copy = *attributes;
	copy->size = sizeof(*copy);
	copy->message_type = NVTX_MESSAGE_NONE;
	copy->message = NULL;
	return copy;
}
