/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX ranges for the demo and tests without NVTX's headers: does what the loader inside every
 * library that embeds NVTX version 3 does (opens NVTX_INJECTION64_PATH at the first call and hands
 * it the tables), for the few functions that are used.
 */
#ifndef GPROF_TEST_RANGES_H
#define GPROF_TEST_RANGES_H

#include <dlfcn.h>
#include <stdlib.h>

#include "preload/abi/nvtx_abi.h"

#define RANGES_NR_SLOTS 16

typedef int (*ranges_push_fn)(const char *name);
typedef int (*ranges_pop_fn)(void);
typedef void (*ranges_mark_fn)(const char *name);

static void (*ranges_core[RANGES_NR_SLOTS])(void);
static void (*ranges_core2[RANGES_NR_SLOTS])(void);

static inline int ranges_get_table(uint32_t module, nvtx_slot **table, uint32_t *nr_slots)
{
	static nvtx_slot core[RANGES_NR_SLOTS], core2[RANGES_NR_SLOTS];

	for (int i = 1; i < RANGES_NR_SLOTS; i++) {
		core[i] = &ranges_core[i];
		core2[i] = &ranges_core2[i];
	}
	*table = module == NVTX_MODULE_CORE ? core : core2;
	*nr_slots = RANGES_NR_SLOTS;
	return module == NVTX_MODULE_CORE || module == NVTX_MODULE_CORE2;
}

static inline const void *ranges_get_export(uint32_t id)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), ranges_get_table};

	return id == NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

static inline void ranges_init(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*inject)(nvtx_get_export) = NULL;

	if (tool) {
		*(void **)&inject = dlsym(tool, "InitializeInjectionNvtx2");
	}
	if (inject) {
		inject(ranges_get_export);
	}
}

static inline void range_push(const char *name)
{
	if (ranges_core[NVTX_CORE_RANGE_PUSH_A]) {
		((ranges_push_fn)ranges_core[NVTX_CORE_RANGE_PUSH_A])(name);
	}
}

static inline void range_pop(void)
{
	if (ranges_core[NVTX_CORE_RANGE_POP]) {
		((ranges_pop_fn)ranges_core[NVTX_CORE_RANGE_POP])();
	}
}

static inline void range_mark(const char *name)
{
	if (ranges_core[NVTX_CORE_MARK_A]) {
		((ranges_mark_fn)ranges_core[NVTX_CORE_MARK_A])(name);
	}
}

#endif
