/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of PyTorch's modules as its own profiler has them: "nn.Module: Linear_0", the class and the
 * number of the instance, in the order of their first calls. The attributes that lead to the module
 * from the outermost one follow, as in named_modules(): "nn.Module: Linear_0 layers.1.fc".
 *
 * They are looked up once for each module, when another module calls it. This only reads: it asks
 * for no dict that is not there, and PyDict_Next counts no references.
 */
#include <dlfcn.h>
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
#define PATH_BYTES  256u
#define NR_FRAMES   64u	  /* between a module and the one that calls it */
#define NR_LOOKED   4096u /* modules that are looked at for one */
#define NR_DEPTHS   8u	  /* of modules that are not called, as ModuleList */
#define PATHS_BYTES (1u << 19)

/* With the GIL: one thread at a time. */
struct instance {
	uintptr_t module; /* 0: free */
	uint64_t class;	  /* hash of its name: an address may be that of another module later */
	uint32_t name;	  /* op_name */
	uint32_t number;  /* among those of its class */
	uint32_t path_at; /* in `paths`; 0: none */
	bool is_placed;	  /* another module has called it */
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
	uint32_t nr_path_bytes;
	char paths[PATHS_BYTES]; /* texts with a final 0; the first one is empty */
};

static struct modules *modules;

/* The interpreter's; it returns borrowed references, and false if that is no dict. NULL: no paths.
 */
static int (*dict_next)(void *dict, ptrdiff_t *at, void **key, void **value);

void python_module_find_symbols(void)
{
	*(void **)&dict_next = dlsym(RTLD_DEFAULT, "PyDict_Next");
}

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
		if (modules) {
			modules->nr_path_bytes = 1;
		}
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

static uint32_t make_name(
	const struct modules *m, const char *class_name, const struct instance *instance)
{
	char text[CLASS_BYTES + PATH_BYTES + 32];
	const char *path = m->paths + instance->path_at;

	log_format(text, sizeof(text), "nn.Module: %s_%u%s%s", class_name, instance->number,
		*path ? " " : "", path);
	return op_name_intern(OP_NAME_NAMES, text);
}

/* ---- where a module is ---- */

struct search {
	uintptr_t module;
	uint32_t nr_looked;
	char path[PATH_BYTES];
	uint32_t nr_bytes;
};

/* The dict of the modules directly in one. NULL: none. */
static void *children_of(uintptr_t module)
{
	void *dict = (void *)python_dict(module), *key, *value;
	ptrdiff_t at = 0;

	while (dict && dict_next(dict, &at, &key, &value)) {
		if (is_text((uintptr_t)key, "_modules", true)) {
			return value;
		}
	}
	return NULL;
}

static bool add_key(struct search *search, uintptr_t key)
{
	struct python_text text;
	char name[PYTHON_UTF8_BYTES];
	uint32_t nr_bytes;

	if (!python_text_read(&text, key)) {
		return false;
	}
	nr_bytes = python_text_utf8(&text, name);
	if (search->nr_bytes + nr_bytes + 2 > PATH_BYTES) {
		return false;
	}
	if (search->nr_bytes) {
		search->path[search->nr_bytes++] = '.';
	}
	memcpy(search->path + search->nr_bytes, name, nr_bytes);
	search->nr_bytes += nr_bytes;
	return true;
}

/* Adds the attributes that lead from one module to the wanted one; the nearest first. */
static bool find_below(struct search *search, uintptr_t module, uint32_t depth)
{
	void *children = children_of(module), *key, *value;
	uint32_t nr_bytes = search->nr_bytes;

	for (ptrdiff_t at = 0; children && dict_next(children, &at, &key, &value);) {
		if ((uintptr_t)value == search->module) {
			return add_key(search, (uintptr_t)key);
		}
	}
	for (ptrdiff_t at = 0; children && depth && dict_next(children, &at, &key, &value);) {
		if (++search->nr_looked < NR_LOOKED && add_key(search, (uintptr_t)key) &&
			find_below(search, (uintptr_t)value, depth - 1)) {
			return true;
		}
		search->nr_bytes = nr_bytes;
	}
	return false;
}

/*
 * The module that calls the one of a frame; 0: none. The frame itself is not linked to its caller
 * yet.
 */
static uintptr_t find_caller(const struct python_frame *frame)
{
	const void *thread_state = python_thread_state();
	uintptr_t at = thread_state ? python_frame_top(thread_state) : 0;
	struct python_frame caller;

	for (uint32_t i = 0; at && i < NR_FRAMES && python_frame_read(&caller, at); i++) {
		if (at != frame->at && caller.code && python_module_is_call(&caller)) {
			return python_frame_first_local(&caller);
		}
		at = caller.next;
	}
	return 0;
}

static void add_path(struct modules *m, struct instance *instance, const struct search *search)
{
	if (m->nr_path_bytes + search->nr_bytes + 1 <= PATHS_BYTES) {
		instance->path_at = m->nr_path_bytes;
		memcpy(m->paths + m->nr_path_bytes, search->path, search->nr_bytes + 1);
		m->nr_path_bytes += search->nr_bytes + 1;
	}
}

/* Returns whether the module has a path now. */
static bool place(struct modules *m, struct instance *instance, const struct python_frame *frame)
{
	struct search search = {.module = instance->module};
	uintptr_t caller = dict_next ? find_caller(frame) : 0;
	char class_name[CLASS_BYTES];
	const struct instance *outer;

	if (!caller || !python_type_name(caller, class_name, sizeof(class_name))) {
		return false;
	}
	instance->is_placed = true;
	outer = find_instance(m, caller, hash_of(class_name));
	if (outer && outer->module) {
		const char *path = m->paths + outer->path_at;

		search.nr_bytes = (uint32_t)strlen(path);
		memcpy(search.path, path, search.nr_bytes);
	}
	if (!find_below(&search, caller, NR_DEPTHS)) {
		return false;
	}
	search.path[search.nr_bytes] = '\0';
	add_path(m, instance, &search);
	return true;
}

/* ---- calls ---- */

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
		*instance = (struct instance){.module = module,
			.class = class,
			.number = find_class(m, class)->nr_instances++};
		instance->name = make_name(m, class_name, instance);
		m->nr_instances++;
	}
	if (!instance->is_placed && place(m, instance, frame)) {
		instance->name = make_name(m, class_name, instance);
	}
	return instance->name;
}
