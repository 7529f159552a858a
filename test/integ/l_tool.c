/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another profiler, as the driver and NVTX open it by CUDA_INJECTION64_PATH and
 * NVTX_INJECTION64_PATH: it counts what it is called for, and writes that at exit to the file
 * TOOL_OUT. It does not forgive handles that are not its own. TOOL_NVTX=refuse: it does not want
 * NVTX; TOOL_NEXT=PATH: it calls the next tool itself.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/abi/nvtx_abi.h"

enum { MAGIC = 0x746f6f6c, MODULE_SYNC = 6, SYNC_USER_CREATE = 1 };

struct object {
	int magic;
	char name[64];
};

static struct counts {
	_Atomic int cuda, nvtx, pushes, pops, marks, starts, ends, domains, destroyed, strings;
	_Atomic int resources, syncs, extensions, wrong;
} counts;
static _Atomic uint64_t last_range = 1000;
static __thread int depth;

int InitializeInjection(void);
int InitializeInjectionNvtx2(nvtx_get_export get_export);
int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

static void *make(const char *name)
{
	struct object *object = calloc(1, sizeof(*object));

	object->magic = MAGIC;
	snprintf(object->name, sizeof(object->name), "%s", name);
	return object;
}

static void check(const void *handle)
{
	counts.wrong += !handle || ((const struct object *)handle)->magic != MAGIC;
}

static void check_attributes(const struct nvtx_attributes *a)
{
	if (a->message_type == NVTX_MESSAGE_REGISTERED) {
		check(a->message);
	}
}

static int push_a(const char *text)
{
	counts.wrong += !text;
	counts.pushes++;
	return 100 + depth++;
}

static int push_ex(const struct nvtx_attributes *a)
{
	check_attributes(a);
	counts.pushes++;
	return 100 + depth++;
}

static int domain_push_ex(void *domain, const struct nvtx_attributes *a)
{
	check(domain);
	return push_ex(a);
}

static int pop(void)
{
	counts.pops++;
	return 100 + --depth;
}

static int domain_pop(void *domain)
{
	check(domain);
	return pop();
}

static void mark_a(const char *text)
{
	counts.wrong += !text;
	counts.marks++;
}

static uint64_t start_a(const char *text)
{
	counts.wrong += !text;
	counts.starts++;
	return ++last_range;
}

static uint64_t domain_start_ex(void *domain, const struct nvtx_attributes *a)
{
	check(domain);
	check_attributes(a);
	counts.starts++;
	return ++last_range;
}

static void end(uint64_t range)
{
	counts.wrong += range <= 1000 || range > last_range;
	counts.ends++;
}

static void domain_end(void *domain, uint64_t range)
{
	check(domain);
	end(range);
}

static void *create_domain(const char *name)
{
	counts.domains++;
	return make(name);
}

static void destroy_domain(void *domain)
{
	check(domain);
	counts.destroyed++;
}

static void *register_string(void *domain, const char *text)
{
	check(domain);
	counts.strings++;
	return make(text);
}

static void *create_resource(void *domain, void *attributes)
{
	(void)attributes;
	check(domain);
	counts.resources++;
	return make("resource");
}

static void *create_sync(void *domain, void *attributes)
{
	(void)attributes;
	check(domain);
	counts.syncs++;
	return make("sync");
}

static void finish(void)
{
	const char *path = getenv("TOOL_OUT");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (file) {
		fprintf(file,
			"cuda %d nvtx %d: %d pushes %d pops %d marks %d starts %d ends %d domains "
			"%d destroyed %d strings %d resources %d syncs %d extensions %d wrong\n",
			counts.cuda, counts.nvtx, counts.pushes, counts.pops, counts.marks,
			counts.starts, counts.ends, counts.domains, counts.destroyed,
			counts.strings, counts.resources, counts.syncs, counts.extensions,
			counts.wrong);
		fclose(file);
	}
}

static void finish_later(void)
{
	static _Atomic int is_asked;

	if (!is_asked++) {
		atexit(finish);
	}
}

int InitializeInjection(void)
{
	finish_later();
	counts.cuda++;
	return 1;
}

static void set(
	const struct nvtx_callbacks *callbacks, uint32_t module, uint32_t id, void *function)
{
	nvtx_slot *table = NULL;
	uint32_t nr_slots = 0;

	if (callbacks->get_table(module, &table, &nr_slots) && id < nr_slots && table[id]) {
		*(void **)table[id] = function;
	}
}

int InitializeInjectionNvtx2(nvtx_get_export get_export)
{
	const struct nvtx_callbacks *callbacks = get_export(NVTX_EXPORT_CALLBACKS);
	const char *mode = getenv("TOOL_NVTX"), *path = getenv("TOOL_NEXT");
	void *next = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*inject)(nvtx_get_export) = NULL;

	finish_later();
	counts.nvtx++;
	if (mode && !strcmp(mode, "refuse")) {
		return 0;
	}
	if (next) {
		*(void **)&inject = dlsym(next, "InitializeInjectionNvtx2");
		inject(get_export);
	}
#define SET(module, id, function) \
	set(callbacks, NVTX_MODULE_##module, NVTX_##module##_##id, function)
	SET(CORE, RANGE_PUSH_A, push_a);
	SET(CORE, RANGE_PUSH_EX, push_ex);
	SET(CORE, RANGE_POP, pop);
	SET(CORE, MARK_A, mark_a);
	SET(CORE, RANGE_START_A, start_a);
	SET(CORE, RANGE_END, end);
	SET(CORE2, RANGE_PUSH_EX, domain_push_ex);
	SET(CORE2, RANGE_POP, domain_pop);
	SET(CORE2, RANGE_START_EX, domain_start_ex);
	SET(CORE2, RANGE_END, domain_end);
	SET(CORE2, DOMAIN_CREATE_A, create_domain);
	SET(CORE2, DOMAIN_DESTROY, destroy_domain);
	SET(CORE2, REGISTER_STRING_A, register_string);
	SET(CORE2, RESOURCE_CREATE, create_resource);
	set(callbacks, MODULE_SYNC, SYNC_USER_CREATE, create_sync);
	return 1;
}

static uint64_t extended_schema(void *domain, const struct nvtx_schema *schema)
{
	check(domain);
	counts.wrong += !schema;
	return 77;
}

static int extended_push(void *domain, const void *payload, size_t nr)
{
	check(domain);
	counts.wrong += !payload || nr != 1;
	return push_a("");
}

static int extended_pop(void *domain, const void *payload, size_t nr)
{
	counts.wrong += !payload || nr != 1;
	return domain_pop(domain);
}

int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
	const char *mode = getenv("TOOL_NVTX");
	intptr_t *slots = extension->segments[0].slots;

	counts.extensions++;
	slots[NVTX_EXTENDED_SCHEMA_REGISTER] = (intptr_t)extended_schema;
	slots[1] = (intptr_t)check; /* of enumerations */
	slots[NVTX_EXTENDED_RANGE_PUSH] = (intptr_t)extended_push;
	slots[NVTX_EXTENDED_RANGE_POP] = (intptr_t)extended_pop;
	return !mode || strcmp(mode, "refuse");
}
