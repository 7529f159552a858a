/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter calls the functions in a list of its own before and after each collection, in the
 * thread that collects, with the generation and what was found. The program knows that list as
 * gc.callbacks. A callback of gprof in that list would get exact data, but the program would see
 * it. So the interpreter gets another list in place of its own. Its only entry is gprof's function,
 * which calls those in the program's list as the interpreter would. The program's list is as the
 * program made it, and gc.get_objects() finds neither gprof's list nor its function.
 *
 * No other source is as exact: the interpreter exports no function that all collections pass
 * through; its probes (USDT) need a kernel's help, and most builds lack them; its state in memory
 * would have to be sampled, and most collections are shorter than a sampler's period.
 *
 * The place of the pointer depends on the version. The addresses of gc.garbage and gc.callbacks
 * stand beside each other in the interpreter's state, in 3.8 in that of the process: where both
 * are, it is.
 */
#include "preload/python/python_gc.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "collector/collector.h"
#include "collector/util/target.h"
#include "preload/hook/hook.h"
#include "preload/python/python_frame.h"

/* The types are our own declarations of those in Python.h. */
typedef struct object *(*method_function)(
	struct object *self, struct object *const *args, ptrdiff_t nr_args);
struct method {
	const char *name;
	method_function function;
	int flags;
	const char *doc;
};
enum { METHOD_FASTCALL = 0x80 }; /* METH_FASTCALL */

#define GC_SYMBOLS(S)                                                                          \
	S(PyInterpreterState_Main, void *, (void))                                             \
	S(PyImport_ImportModule, struct object *, (const char *name))                          \
	S(PyImport_GetModuleDict, struct object *, (void))                                     \
	S(PyObject_GetAttrString, struct object *, (struct object *, const char *name))        \
	S(PyDict_GetItemString, struct object *, (struct object *, const char *key))           \
	S(PyDict_SetItemString, int, (struct object *, const char *key, struct object *value)) \
	S(PyDict_DelItemString, int, (struct object *, const char *key))                       \
	S(PyTuple_GetItem, struct object *, (struct object *, ptrdiff_t i))                    \
	S(PyList_New, struct object *, (ptrdiff_t size))                                       \
	S(PyList_Append, int, (struct object *, struct object * item))                         \
	S(PyList_Size, ptrdiff_t, (struct object *))                                           \
	S(PyList_GetItem, struct object *, (struct object *, ptrdiff_t i))                     \
	S(PyCFunction_NewEx, struct object *,                                                  \
		(struct method *, struct object * self, struct object * module))               \
	S(PyObject_GC_UnTrack, void, (void *))                                                 \
	S(PyObject_CallFunctionObjArgs, struct object *, (struct object *, ...))               \
	S(PyUnicode_CompareWithASCIIString, int, (struct object *, const char *))              \
	S(PyLong_AsLongLong, long long, (struct object *))                                     \
	S(PyErr_WriteUnraisable, void, (struct object *))                                      \
	S(PyErr_Fetch, void, (struct object **, struct object **, struct object **))           \
	S(PyErr_Restore, void, (struct object *, struct object *, struct object *))            \
	S(Py_IncRef, void, (struct object *))                                                  \
	S(Py_DecRef, void, (struct object *))

/* The interpreter's state is searched so far, in such pieces. */
#define STATE_BYTES 65536u
#define PIECE_WORDS 512u

static struct {
#define S(name, ret, params) ret(*name) params;
	GC_SYMBOLS(S)
#undef S
	/* From 3.14 on the interpreter says with it which callback failed. */
	void (*PyErr_FormatUnraisable)(const char *format, ...);
	struct object *none;
	struct object *module;	/* gc */
	struct object *modules; /* sys.modules of the main interpreter */
	uint64_t begin; /* start of the current collection; 0: none, or it is not recorded */
} state;

/* ---- a collection ---- */

static bool is_text(struct object *str, const char *text)
{
	return !state.PyUnicode_CompareWithASCIIString(str, text);
}

static void begin_collection(void)
{
	state.begin = hook_mode() & COLLECTOR_RECORD ? clock_raw() : 0;
}

static uint64_t number(struct object *info, const char *key)
{
	struct object *value = state.PyDict_GetItemString(info, key);
	long long n = value ? state.PyLong_AsLongLong(value) : 0;

	return n > 0 ? (uint64_t)n : 0;
}

static void end_collection(struct object *info)
{
	struct ring_tls *self = &ring_tls;
	struct gprof_row_py_gc row = {.begin = state.begin, .dur = clock_raw()};
	TARGET_KEEP_ERRNO;

	state.begin = 0;
	if (!row.begin || !(hook_mode() & COLLECTOR_RECORD) || ring_in_profiler(self) ||
		!ring_enter(self)) {
		return;
	}
	row.thread = self->id;
	row.generation = (uint8_t)number(info, "generation");
	row.collected = number(info, "collected");
	row.uncollectable = number(info, "uncollectable");
	ring_emit(&row, GPROF_TABLE_py_gc, NULL, 0);
}

static void report_failed(struct object *callback)
{
	if (state.PyErr_FormatUnraisable) {
		state.PyErr_FormatUnraisable(
			"Exception ignored while calling GC callback %R", callback);
	} else {
		state.PyErr_WriteUnraisable(callback);
	}
}

/* As the interpreter does: a callback may change the list. */
static void call_theirs(struct object *theirs, struct object *phase, struct object *info)
{
	for (ptrdiff_t i = 0; i < state.PyList_Size(theirs); i++) {
		struct object *callback = state.PyList_GetItem(theirs, i);
		struct object *result;

		state.Py_IncRef(callback);
		result = state.PyObject_CallFunctionObjArgs(callback, phase, info, NULL);
		if (!result) {
			report_failed(callback);
		}
		state.Py_DecRef(result); /* it may be NULL */
		state.Py_DecRef(callback);
	}
}

/* The time of the program's callbacks is not that of the collection. */
static struct object *on_collection(
	struct object *theirs, struct object *const *args, ptrdiff_t nr_args)
{
	if (nr_args == 2) {
		if (is_text(args[0], "stop")) {
			end_collection(args[1]);
		}
		call_theirs(theirs, args[0], args[1]);
		if (is_text(args[0], "start")) {
			begin_collection();
		}
	}
	state.Py_IncRef(state.none);
	return state.none;
}

/* ---- in ---- */

/*
 * The module, which names both lists. Most programs have not imported it by then; it disappears
 * until they do, since a program may list its modules.
 */
static struct object *find_module(void)
{
	struct object *module;
	bool is_new;

	state.modules = state.PyImport_GetModuleDict();
	is_new = !state.PyDict_GetItemString(state.modules, "gc");
	module = state.PyImport_ImportModule("gc");
	if (is_new && module) {
		state.PyDict_DelItemString(state.modules, "gc");
	}
	return module;
}

/*
 * Imported anew, the module would show the interpreter's list, which is ours, or functions of
 * another module than itself. So there is only ever the one that was found. Other interpreters of
 * the process have modules of their own.
 */
void python_gc_before_import(struct object *args)
{
	struct object *name = state.module ? state.PyTuple_GetItem(args, 0) : NULL;

	if (name && is_text(name, "gc") && state.PyImport_GetModuleDict() == state.modules) {
		state.PyDict_SetItemString(state.modules, "gc", state.module);
	}
}

/* Where the interpreter has both addresses, the second one's; NULL: nowhere. */
static struct object **find_place(
	uintptr_t at, const struct object *garbage, const struct object *callbacks)
{
	uintptr_t words[PIECE_WORDS];

	/* Pieces overlap by a word, as a pair may. */
	for (uintptr_t end = at + STATE_BYTES; at < end; at += sizeof(words) - sizeof(*words)) {
		if (!python_peek(words, at, sizeof(words))) {
			return NULL;
		}
		for (size_t i = 0; i < PIECE_WORDS - 1; i++) {
			if (words[i] == (uintptr_t)garbage &&
				words[i + 1] == (uintptr_t)callbacks) {
				return (struct object **)(at + (i + 1) * sizeof(*words));
			}
		}
	}
	return NULL;
}

/* A list with our function, of which `theirs` is the first argument. */
static struct object *make_list(struct object *theirs)
{
	static struct method method = {"gprof_gc", on_collection, METHOD_FASTCALL, NULL};
	struct object *ours = state.PyList_New(0);
	struct object *function = state.PyCFunction_NewEx(&method, theirs, NULL);

	if (!ours || !function || state.PyList_Append(ours, function)) {
		state.Py_DecRef(function); /* all of them may be NULL */
		state.Py_DecRef(ours);
		return NULL;
	}
	state.PyObject_GC_UnTrack(function);
	state.PyObject_GC_UnTrack(ours);
	state.Py_DecRef(function);
	return ours;
}

/* Our function has its own reference to their list; the interpreter's goes to ours. */
static const char *replace(struct object **place, struct object *theirs)
{
	struct object *ours = make_list(theirs);

	if (!ours) {
		return "there is no memory for a list";
	}
	*place = ours;
	state.Py_DecRef(theirs);
	return NULL;
}

static const char *find_and_replace(unsigned int minor_version)
{
	uintptr_t interpreter = minor_version == 8 ? (uintptr_t)dlsym(RTLD_DEFAULT, "_PyRuntime")
						   : (uintptr_t)state.PyInterpreterState_Main();
	struct object *garbage = NULL, *callbacks = NULL, **place = NULL;
	const char *why = "its list of functions that it calls at a collection was not found";

	state.module = find_module();
	if (state.module) {
		garbage = state.PyObject_GetAttrString(state.module, "garbage");
		callbacks = state.PyObject_GetAttrString(state.module, "callbacks");
	}
	if (interpreter && garbage && callbacks) {
		place = find_place(interpreter, garbage, callbacks);
	}
	if (place) {
		why = replace(place, callbacks);
	}
	state.Py_DecRef(garbage);
	state.Py_DecRef(callbacks);
	return why;
}

static bool find_symbols(unsigned int minor_version)
{
#define S(name, ret, params)                                \
	*(void **)&state.name = dlsym(RTLD_DEFAULT, #name); \
	if (!state.name) {                                  \
		return false;                               \
	}
	GC_SYMBOLS(S)
#undef S
	if (minor_version >= 14) {
		*(void **)&state.PyErr_FormatUnraisable =
			dlsym(RTLD_DEFAULT, "PyErr_FormatUnraisable");
	}
	state.none = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
	return state.none != NULL;
}

const char *python_gc_start(unsigned int minor_version)
{
	struct object *type, *value, *trace;
	const char *why;

	if (!find_symbols(minor_version)) {
		return "it lacks functions that 3.8 and later have";
	}
	state.PyErr_Fetch(&type, &value, &trace);
	why = find_and_replace(minor_version);
	state.PyErr_Restore(type, value, trace); /* drops an error that gprof caused */
	return why;
}

void python_gc_forget(void)
{
	state.begin = 0;
}
