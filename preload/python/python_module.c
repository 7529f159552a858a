/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of PyTorch's modules as its own profiler has them: "nn.Module: Linear_0", the class and the
 * number of the instance, in the order of their first calls.
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/util/log.h"
#include "preload/hook/hook.h"
#include "preload/python/op_name.h"
#include "preload/python/python.h"
#include "preload/python/python_frame.h"

#define NR_SLOTS    4096u /* a power of two; half of them are used */
#define CLASS_BYTES 128u

/* With the GIL: one thread at a time. */
struct instance {
	uintptr_t module; /* 0: free */
	uint64_t class;	  /* hash of its name: an address may be that of another module later */
	uint32_t name;	  /* op_name */
};

struct class
{
	uint64_t hash; /* 0: free */
	uint32_t nr_instances;
};

struct modules {
	uint32_t nr_instances, nr_classes;
	struct instance instances[NR_SLOTS];
	struct class classes[NR_SLOTS];
};

static struct modules *modules;

void python_module_forget(void)
{
	modules = NULL;
}

static struct modules *get_modules(void)
{
	void *fresh;

	if (!modules) {
		fresh = mmap(NULL, sizeof(*modules), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		modules = fresh == MAP_FAILED ? NULL : fresh;
	}
	return modules;
}

static bool is_text(uintptr_t str, const char *end_of_it, bool is_whole)
{
	struct python_text text;
	uint32_t nr_bytes = (uint32_t)strlen(end_of_it);

	return python_text_read(&text, str) && text.unit_bytes == 1 &&
	       (is_whole ? text.nr_bytes == nr_bytes : text.nr_bytes >= nr_bytes) &&
	       !memcmp(text.bytes + text.nr_bytes - nr_bytes, end_of_it, nr_bytes);
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++) {
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	}
	return (hash ^ hash >> 29) | 1;
}

/* The place of a module, free or its own; NULL if there are too many. */
static struct instance *find_instance(struct modules *m, uintptr_t module, uint64_t class)
{
	for (uint64_t i = (module >> 4) + class;; i++) {
		struct instance *instance = &m->instances[i % NR_SLOTS];

		if (instance->module == module && instance->class == class) {
			return instance;
		}
		if (!instance->module) {
			return m->nr_instances < NR_SLOTS / 2 ? instance : NULL;
		}
	}
}

static struct class *find_class(struct modules *m, uint64_t hash)
{
	for (uint64_t i = hash >> 20;; i++) {
		struct class *class = &m->classes[i % NR_SLOTS];

		if (class->hash == hash) {
			return class;
		}
		if (!class->hash) {
			class->hash = hash; /* not more of them than instances */
			return class;
		}
	}
}

static uint32_t make_name(struct modules *m, const char *class_name, uint64_t class)
{
	char text[CLASS_BYTES + 32];

	log_format(text, sizeof(text), "nn.Module: %s_%u", class_name,
		find_class(m, class)->nr_instances++);
	return op_name_intern(OP_NAME_NAMES, text);
}

bool python_module_is_call(const struct python_frame *frame)
{
	return is_text(frame->name, "_call_impl", true) &&
	       is_text(frame->file, "/torch/nn/modules/module.py", false);
}

uint32_t python_module_name(const struct python_frame *frame)
{
	struct modules *m = get_modules();
	char class_name[CLASS_BYTES];
	struct instance *instance;
	uintptr_t module;
	uint64_t class;

	if (!m || !python_module_is_call(frame)) {
		return 0;
	}
	module = python_frame_first_local(frame);
	if (!python_type_name(module, class_name, sizeof(class_name))) {
		return 0;
	}
	class = hash_of(class_name);
	instance = find_instance(m, module, class);
	if (!instance) {
		return op_name_intern(OP_NAME_NAMES, "nn.Module: (one of too many)");
	}
	if (!instance->module) {
		*instance = (struct instance){module, class, make_name(m, class_name, class)};
		m->nr_instances++;
	}
	return instance->name;
}
