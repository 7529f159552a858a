/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most calls of worker_look() return at once: no worker is expected, or this thread does not hold
 * the GIL. With the GIL it reads attributes in ways that run no code of the program: no
 * descriptors, no conversions. An error that the thread has at that time is put aside and back.
 */
#include "preload/torch/worker.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/collector.h"
#include "collector/util/target.h"
#include "preload/base/modules.h"

/*
 * The functions of the interpreter that we need; the type is our own declaration of that in
 * Python.h.
 */
struct object;
#define PYTHON_SYMBOLS(S)                                                                    \
	S(PyGILState_GetThisThreadState, void *, (void))                                     \
	S(PyErr_Fetch, void, (struct object **, struct object **, struct object **))         \
	S(PyErr_Restore, void, (struct object *, struct object *, struct object *))          \
	S(PySys_GetObject, struct object *, (const char *name))                              \
	S(PyModule_GetDict, struct object *, (struct object * module))                       \
	S(PyObject_GenericGetAttr, struct object *, (struct object *, struct object * name)) \
	S(PyUnicode_FromString, struct object *, (const char *utf8))                         \
	S(_PyType_Lookup, struct object *, (struct object * type, struct object * name))     \
	S(PyObject_Type, struct object *, (struct object *))                                 \
	S(PyDict_GetItemString, struct object *, (struct object * dict, const char *key))    \
	S(PyLong_AsLongLong, long long, (struct object *))                                   \
	S(Py_IncRef, void, (struct object *))                                                \
	S(Py_DecRef, void, (struct object *))

static const char *const modules[] = {"torch.utils.data._utils.worker",
	"paddle.io.dataloader.worker", "paddle.fluid.dataloader.worker"};

static struct worker_state {
#define S(name, ret, params) ret(*name) params;
	PYTHON_SYMBOLS(S)
#undef S
	void *(*current)(void); /* the state of the thread that holds the GIL, or of this one */
	/* From 3.13 on, where a borrowed reference may disappear. */
	int (*PyDict_GetItemStringRef)(struct object *, const char *key, struct object **);
	struct object *none, *int_type, *slot_type;
	atomic_bool is_expected, is_ready;
	/* Was reported. A forked child inherits this flag, but is not that worker. */
	_Atomic(struct object *) reported;
} state;

static bool find_symbols(void)
{
#define S(name, ret, params)                               \
	*(void **)&state.name = modules_find(NULL, #name); \
	if (!state.name) {                                 \
		return false;                              \
	}
	PYTHON_SYMBOLS(S)
#undef S
	*(void **)&state.current = modules_find(NULL, "PyThreadState_GetUnchecked");
	if (!state.current) { /* up to 3.12 */
		*(void **)&state.current = modules_find(NULL, "_PyThreadState_UncheckedGet");
	}
	*(void **)&state.PyDict_GetItemStringRef = modules_find(NULL, "PyDict_GetItemStringRef");
	state.none = modules_find(NULL, "_Py_NoneStruct");
	state.int_type = modules_find(NULL, "PyLong_Type");
	state.slot_type = modules_find(NULL, "PyMemberDescr_Type");
	return state.current && state.none && state.int_type && state.slot_type;
}

void worker_expect(void)
{
	TARGET_KEEP_ERRNO;

	if (!atomic_exchange(&state.is_expected, true)) {
		atomic_store(&state.is_ready, find_symbols());
	}
}

/* ---- with the GIL ---- */

/* Not PyGILState_Check, which says yes to every thread once there was a second interpreter. */
static bool has_gil(void)
{
	void *thread = state.PyGILState_GetThisThreadState();

	return thread && thread == state.current();
}

/* A reference of our own, NULL if there is none. */
static struct object *get_item(struct object *dict, const char *key)
{
	struct object *value = NULL;

	if (!dict) {
		return NULL;
	}
	if (state.PyDict_GetItemStringRef) {
		state.PyDict_GetItemStringRef(dict, key, &value);
		return value;
	}
	value = state.PyDict_GetItemString(dict, key);
	state.Py_IncRef(value); /* NULL too */
	return value;
}

/* Returns the `_worker_info` of a module; NULL if there is no such module, or it has none. */
static struct object *get_info(const char *name)
{
	struct object *module = get_item(state.PySys_GetObject("modules"), name);
	struct object *info = NULL;

	if (module) {
		info = get_item(state.PyModule_GetDict(module), "_worker_info");
		state.Py_DecRef(module);
	}
	return info;
}

static bool is_of_type(struct object *object, const struct object *wanted)
{
	struct object *type = state.PyObject_Type(object);

	state.Py_DecRef(type); /* the object keeps it */
	return type == wanted;
}

/* A value that the object keeps itself, by a slot or not: what its type computes would be code. */
static struct object *get_kept(struct object *object, const char *key)
{
	struct object *name = state.PyUnicode_FromString(key);
	struct object *type = state.PyObject_Type(object);
	struct object *shared = name && type ? state._PyType_Lookup(type, name) : NULL;
	struct object *value = NULL;

	if (name && (!shared || is_of_type(shared, state.slot_type))) {
		value = state.PyObject_GenericGetAttr(object, name);
	}
	state.Py_DecRef(type);
	state.Py_DecRef(name);
	return value;
}

/*
 * Returns -1 if it is no int, or none of a loader's: converting ints of other types would run their
 * code.
 */
static long long get_number(struct object *info, const char *key)
{
	struct object *value = get_kept(info, key);
	long long number = -1;

	if (value && is_of_type(value, state.int_type)) {
		number = state.PyLong_AsLongLong(value);
	}
	state.Py_DecRef(value);
	return number < UINT32_MAX ? number : -1;
}

static void take(struct object *info)
{
	long long number = get_number(info, "id");
	long long nr = get_number(info, "num_workers");

	if (number >= 0 && number < nr) {
		atomic_store(&state.reported, info);
		collector_loader_worker((uint32_t)number, (uint32_t)nr);
	}
}

static void look(void)
{
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		struct object *info = get_info(modules[i]);

		if (info && info != state.none && info != atomic_load(&state.reported)) {
			take(info);
		}
		state.Py_DecRef(info);
	}
}

void worker_look(void)
{
	struct object *type, *value, *trace;
	struct ring_mark mark;
	TARGET_KEEP_ERRNO;

	if (!atomic_load_explicit(&state.is_ready, memory_order_acquire) || !has_gil() ||
		ring_in_profiler(&ring_tls)) {
		return;
	}
	ring_enter_profiler(&ring_tls, &mark);
	state.PyErr_Fetch(&type, &value, &trace);
	look();
	state.PyErr_Restore(type, value, trace); /* drops an error that gprof caused */
	ring_leave_profiler(&ring_tls, &mark);
}

void worker_forget(void)
{
	if (atomic_load(&state.is_ready)) {
		collector_loader_worker(0, 0);
	}
}
