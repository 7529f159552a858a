/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of PyTorch's modules as its own profiler has them: "nn.Module: Linear_0", the class and the
 * number of the instance, in the order of their first calls. The attributes that lead to the module
 * from the outermost one follow, as in named_modules(): "nn.Module: Linear_0 layers.1.fc".
 *
 * They are looked up when another module calls it for the first time. Modules are freed, and others
 * take their addresses and places, so each later call follows the way that was found; only where
 * it leads elsewhere they are looked up again. This only reads: it asks for no dict that is not
 * there, and PyDict_Next counts no references.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "collector/util/hash.h"
#include "collector/util/log.h"
#include "collector/util/memory.h"
#include "preload/hook/hook.h"
#include "preload/python/op_name.h"
#include "preload/python/python.h"
#include "preload/python/python_frame.h"

#define NR_SLOTS	  32768u /* a power of two; half of them are used */
#define CLASS_BYTES	  128u
#define PATH_BYTES	  256u
#define NR_LOOKED	  4096u	     /* modules that are looked at for one */
#define NR_LOOKED_FOR_ALL (1u << 20) /* by searches that go deeper than the caller's attributes */
#define NR_DEPTHS	  8u	     /* of modules that are not called, as ModuleList */
#define PATHS_BYTES	  (1u << 21)

/* The entries of dicts that lead from a module to another one. */
struct way {
	uint32_t nr; /* 0: there is none */
	uint32_t entries[NR_DEPTHS + 1];
	uintptr_t last_key; /* a str */
};

/* With the GIL: one thread at a time. */
struct instance {
	uintptr_t module; /* 0: free */
	uintptr_t caller; /* the module that calls it; 0: for all of its calls */
	uint64_t class;	  /* hash of its name: an address may be that of another module later */
	uint32_t name;	  /* op_name; 0: not named yet */
	uint32_t number;  /* among those of its class */
	uint32_t path_at; /* in `paths`, 0: none; for all of its calls that of the last one */
	/* With a caller: */
	uint32_t outer_path_at; /* that of the module at which the way begins */
	uintptr_t outer;	/* that module, a caller of it; 0: not looked up yet */
	struct way way;
};

struct class
{
	uint64_t hash; /* 0: free */
	uint32_t nr_instances;
};

struct modules {
	uint32_t nr_instances, nr_looked;
	bool is_cut; /* a bound has ended the search early */
	struct instance instances[NR_SLOTS];
	struct class classes[NR_SLOTS];
	uint32_t path_of[NR_SLOTS]; /* by hash: in `paths`, 0: free */
	uint32_t nr_paths, nr_path_bytes;
	char paths[PATHS_BYTES];  /* texts with a final 0; the first one is empty */
	uintptr_t call_code;	  /* of the function that calls modules, as last seen */
	ptrdiff_t children_entry; /* of "_modules" in a module's dict, as last seen */
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
	static atomic_uint reported_in;

	if (!modules) {
		modules = memory_map(sizeof(*modules));
		if (!modules) {
			notice_no_memory(&reported_in, "modules");
			return NULL;
		}
		modules->nr_path_bytes = 1;
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
	uint64_t hash = hash_text(text);

	return (hash ^ hash >> 29) | 1;
}

/* Returns the slot of a module, free or its own; NULL if there are too many. */
static struct instance *find_instance(
	struct modules *m, uintptr_t module, uint64_t class, uintptr_t caller)
{
	for (uint64_t i = (module >> 4) + class + 31 * (caller >> 4);; i++) {
		struct instance *instance = &m->instances[i % NR_SLOTS];

		if (instance->module == module && instance->class == class &&
			instance->caller == caller) {
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

/* With the path of one of its callers; its calls by none have no path. */
static uint32_t make_name(
	const struct modules *m, const char *class_name, const struct instance *instance)
{
	char text[CLASS_BYTES + PATH_BYTES + 32];
	const char *path = m->paths + (instance->caller ? instance->path_at : 0);

	log_format(text, sizeof(text), "nn.Module: %s_%u%s%s", class_name, instance->number,
		*path ? " " : "", path);
	return op_name_intern(OP_NAME_NAMES, text);
}

/* Returns where a path is in `paths`; 0: there are too many, or it is empty. */
static uint32_t find_path(struct modules *m, const char *path, uint32_t nr_bytes)
{
	uint64_t i = hash_of(path) >> 20;
	uint32_t *at = &m->path_of[i % NR_SLOTS];

	for (; *at && strcmp(m->paths + *at, path) != 0; at = &m->path_of[++i % NR_SLOTS]) {
	}
	if (*at || !nr_bytes) {
		return *at;
	}
	if (m->nr_path_bytes + nr_bytes + 1 > PATHS_BYTES || m->nr_paths >= NR_SLOTS / 2) {
		m->is_cut = true;
		return 0;
	}
	*at = m->nr_path_bytes;
	memcpy(m->paths + m->nr_path_bytes, path, nr_bytes + 1);
	m->nr_path_bytes += nr_bytes + 1;
	m->nr_paths++;
	return *at;
}

/* ---- where a module is ---- */

struct search {
	uintptr_t module;
	uint32_t nr_looked; /* may still be looked at */
	char path[PATH_BYTES];
	uint32_t nr_bytes;
	struct way way;
};

/* The dict of the modules directly in one. NULL: none. */
static void *children_of(struct modules *m, uintptr_t module)
{
	void *dict = (void *)python_dict(module), *key, *value;
	ptrdiff_t at = m->children_entry, next = at;

	if (!dict) {
		return NULL;
	}
	if (dict_next(dict, &next, &key, &value) && is_text((uintptr_t)key, "_modules", true)) {
		return value;
	}
	for (at = next = 0; dict_next(dict, &next, &key, &value); at = next) {
		if (is_text((uintptr_t)key, "_modules", true)) {
			m->children_entry = at;
			return value;
		}
	}
	return NULL;
}

static bool has_children(struct modules *m, uintptr_t module)
{
	void *children = children_of(m, module), *key, *value;
	ptrdiff_t at = 0;

	return children && dict_next(children, &at, &key, &value);
}

static bool add_key(struct modules *m, struct search *search, uintptr_t key)
{
	struct python_text text;
	char name[PYTHON_UTF8_BYTES];
	uint32_t nr_bytes;

	if (!python_text_read(&text, key)) {
		return false;
	}
	nr_bytes = python_text_utf8(&text, name);
	if (search->nr_bytes + nr_bytes + 2 > PATH_BYTES) {
		m->is_cut = true;
		return false;
	}
	if (search->nr_bytes) {
		search->path[search->nr_bytes++] = '.';
	}
	memcpy(search->path + search->nr_bytes, name, nr_bytes);
	search->nr_bytes += nr_bytes;
	return true;
}

/* Adds the attributes that lead from one module to the wanted one, `depth` modules in between. */
static bool find_at_depth(
	struct modules *m, struct search *search, uintptr_t module, uint32_t depth)
{
	uint32_t nr_bytes = search->nr_bytes, place = search->way.nr;
	void *children, *key, *value;

	if (!search->nr_looked) {
		m->is_cut = true;
		return false;
	}
	search->nr_looked--;
	children = children_of(m, module);
	for (ptrdiff_t at = 0, next = 0; children && dict_next(children, &next, &key, &value);
		at = next) {
		if (!depth && (uintptr_t)value != search->module) {
			m->is_cut |= place == NR_DEPTHS && has_children(m, (uintptr_t)value);
			continue;
		}
		search->way.entries[place] = (uint32_t)at;
		search->way.nr = place + 1;
		search->way.last_key = depth ? 0 : (uintptr_t)key;
		if (add_key(m, search, (uintptr_t)key) &&
			(!depth || find_at_depth(m, search, (uintptr_t)value, depth - 1))) {
			return true;
		}
		search->nr_bytes = nr_bytes;
		search->way.nr = place;
	}
	return false;
}

/* The nearest first. */
static bool find_below(struct modules *m, struct search *search, uintptr_t module)
{
	for (uint32_t depth = 0; depth <= NR_DEPTHS; depth++) {
		if (find_at_depth(m, search, module, depth)) {
			return true;
		}
	}
	return false;
}

/* The module at the end of a way, and the key of its entry; 0: none. */
static uintptr_t follow(
	struct modules *m, uintptr_t module, const struct way *way, uintptr_t *last_key)
{
	for (uint32_t i = 0; i < way->nr; i++) {
		void *children = children_of(m, module), *key, *value;
		ptrdiff_t at = way->entries[i];

		if (!children || !dict_next(children, &at, &key, &value)) {
			return 0;
		}
		module = (uintptr_t)value;
		*last_key = (uintptr_t)key;
	}
	return module;
}

/* ---- what calls a module ---- */

/*
 * Returns where the search for the caller of a frame begins: it may not be linked to its caller
 * yet.
 */
static uintptr_t frame_before(const struct python_frame *frame)
{
	const void *thread_state = python_thread_state();
	uintptr_t at = thread_state ? python_frame_top(thread_state) : 0;
	struct python_frame top;

	return at == frame->at && python_frame_read(&top, at) ? top.next : at;
}

/* The next module on the way out from a frame; 0: none. *at becomes the caller of its frame. */
static uintptr_t find_caller(const struct modules *m, uintptr_t *at)
{
	struct python_frame caller;

	while (*at && python_frame_read(&caller, *at)) {
		*at = caller.next;
		if (caller.code && caller.code == m->call_code) {
			return python_frame_first_local(&caller);
		}
	}
	return 0;
}

/* The path of the last call of a module, which is still running. */
static uint32_t path_of_caller(struct modules *m, uintptr_t caller)
{
	char class_name[CLASS_BYTES];
	const struct instance *instance;
	bool is_cut;

	if (!python_type_name(caller, class_name, sizeof(class_name), &is_cut)) {
		return 0;
	}
	instance = find_instance(m, caller, hash_of(class_name), 0);
	return instance ? instance->path_at : 0;
}

/* ---- paths ---- */

/* Does the way of before still lead to the module? `at`: the caller of its caller's frame. */
static bool is_in_place(struct modules *m, const struct instance *use, uintptr_t at)
{
	uintptr_t outer = use->caller;
	uintptr_t key = 0;

	if (!use->way.nr) {
		struct search search = {.module = use->module, .nr_looked = 1};

		return use->outer && !find_at_depth(m, &search, use->caller, 0);
	}
	while (outer && outer != use->outer) {
		outer = find_caller(m, &at);
	}
	return outer == use->outer && path_of_caller(m, outer) == use->outer_path_at &&
	       follow(m, outer, &use->way, &key) == use->module && key == use->way.last_key;
}

/* Adds the path of the module `outer` and the way from it. */
static bool find_from(
	struct modules *m, struct instance *use, struct search *search, uintptr_t outer)
{
	const char *path;

	use->outer = outer;
	use->outer_path_at = path_of_caller(m, outer);
	path = m->paths + use->outer_path_at;
	search->nr_bytes = (uint32_t)strlen(path);
	memcpy(search->path, path, search->nr_bytes);
	return find_below(m, search, outer);
}

static bool find_from_outermost(
	struct modules *m, struct instance *use, struct search *search, uintptr_t at)
{
	uintptr_t outermost = 0, outer = use->caller;

	while (outer) {
		outer = find_caller(m, &at);
		outermost = outer ? outer : outermost;
	}
	return outermost && find_from(m, use, search, outermost);
}

/*
 * Looks a module up below the one that calls it. What is not there, such as an argument, may be
 * below the outermost one.
 */
static void look_up(struct modules *m, struct instance *use, uintptr_t at)
{
	uint32_t left = m->nr_looked < NR_LOOKED_FOR_ALL ? NR_LOOKED_FOR_ALL - m->nr_looked : 0;
	uint32_t most = 1 + (left < NR_LOOKED ? left : NR_LOOKED), path_at = 0;
	struct search search = {.module = use->module, .nr_looked = most};

	m->is_cut = false;
	if (find_from(m, use, &search, use->caller) || find_from_outermost(m, use, &search, at)) {
		search.path[search.nr_bytes] = '\0';
		path_at = find_path(m, search.path, search.nr_bytes);
	}
	loss_add(LOSS_PYTHON_MODULE, !path_at && m->is_cut);
	m->nr_looked += search.nr_looked ? most - search.nr_looked - 1 : most - 1;
	use->way = search.way;
	use->name = path_at == use->path_at ? use->name : 0;
	use->path_at = path_at;
}

/* ---- calls ---- */

bool python_module_is_call(const struct python_frame *frame)
{
	return is_text(frame->name, "_call_impl", true) &&
	       is_text(frame->file, "/torch/nn/modules/module.py", false);
}

static uint32_t name_of(
	const struct modules *m, struct instance *instance, const char *class_name, bool is_cut)
{
	if (!instance->name) {
		loss_add(LOSS_PYTHON_MODULE, is_cut);
		instance->name = make_name(m, class_name, instance);
	}
	return instance->name;
}

/* Returns what is known of the calls of a module by that caller; NULL: there are too many. */
static struct instance *get_instance(
	struct modules *m, uintptr_t module, uint64_t class, uintptr_t caller, uint32_t number)
{
	struct instance *instance = find_instance(m, module, class, caller);

	if (instance && !instance->module) {
		*instance = (struct instance){.module = module,
			.class = class,
			.caller = caller,
			.number = caller ? number : find_class(m, class)->nr_instances++};
		m->nr_instances++;
	}
	return instance;
}

uint32_t python_module_name(const struct python_frame *frame)
{
	struct modules *m = get_modules();
	char class_name[CLASS_BYTES];
	struct instance *instance, *use = NULL;
	uintptr_t module, caller, at;
	uint64_t class;
	bool is_cut;

	if (!m || !python_module_is_call(frame)) {
		return 0;
	}
	module = python_frame_first_local(frame);
	if (!python_type_name(module, class_name, sizeof(class_name), &is_cut)) {
		return 0;
	}
	class = hash_of(class_name);
	instance = get_instance(m, module, class, 0, 0);
	if (!instance) {
		loss_add(LOSS_PYTHON_MODULE, 1);
		return op_name_intern(OP_NAME_NAMES, "nn.Module: (one of too many)");
	}
	m->call_code = frame->code;
	at = frame_before(frame);
	caller = dict_next ? find_caller(m, &at) : 0;
	use = caller ? get_instance(m, module, class, caller, instance->number) : NULL;
	if (use && !is_in_place(m, use, at)) {
		look_up(m, use, at);
	}
	loss_add(LOSS_PYTHON_MODULE, caller && !use);
	instance->path_at = use ? use->path_at : 0;
	return name_of(m, use ? use : instance, class_name, is_cut);
}
