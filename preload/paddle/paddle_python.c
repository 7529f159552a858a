/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges that Paddle marks in Python (layers' Forward, Backward, fetches, the user's RecordEvent)
 * exist only while a variable in its module paddle.profiler.utils says that a profiler is used.
 * With GPROF_PADDLE=ranges we set that variable, as Paddle's own profiler does: the program then
 * takes the slower paths through Paddle's Python. No Python code runs.
 */
#include <errno.h>
#include <string.h>

#include "collector/util/config.h"
#include "preload/base/modules.h"
#include "preload/paddle/paddle.h"

#define MODULE "paddle.profiler.utils"
#define WORD   "_is_profiler_used"
/* Begins of functions that Python calls: the interpreter is in no state of its own then. */
#define CALLED " pybind_imperative_func"

#define PYTHON_FUNCTIONS(S)                                              \
	S(PyGILState_Check, int, (void))                                 \
	S(PyImport_GetModuleDict, void *, (void))                        \
	S(PyDict_GetItemString, void *, (void *dict, const char *key))   \
	S(PyObject_HasAttrString, int, (void *object, const char *name)) \
	S(PyObject_SetAttrString, int, (void *object, const char *name, void *value))

struct functions {
#define S(name, ret, params) ret(*name) params;
	PYTHON_FUNCTIONS(S)
#undef S
	void *yes; /* True */
};

/* NULL, or what is wrong. */
static const char *find_functions(struct functions *f)
{
#define S(name, ret, params)                            \
	*(void **)&f->name = modules_find(NULL, #name); \
	if (!f->name) {                                 \
		return "Python lacks " #name;           \
	}
	PYTHON_FUNCTIONS(S)
#undef S
	f->yes = modules_find(NULL, "_Py_TrueStruct");
	return f->yes ? NULL : "Python lacks True";
}

static const char *set_word(const struct functions *f)
{
	void *modules = f->PyImport_GetModuleDict();
	void *module = modules ? f->PyDict_GetItemString(modules, MODULE) : NULL;

	if (!module || !f->PyObject_HasAttrString(module, WORD)) {
		return "there is no " MODULE "." WORD;
	}
	return f->PyObject_SetAttrString(module, WORD, f->yes) ? MODULE "." WORD " cannot be set"
							       : NULL;
}

static bool is_called_by_python(const char *name)
{
	size_t nr_bytes = strlen(name);

	return nr_bytes > strlen(CALLED) && !strcmp(name + nr_bytes - strlen(CALLED), CALLED);
}

/* Runs once, at the first range that comes from Python while this thread holds the interpreter. */
void paddle_python_try(const char *name)
{
	static atomic_bool is_done;
	struct functions f;
	const char *why;

	if (atomic_load_explicit(&is_done, memory_order_relaxed) || !is_called_by_python(name)) {
		return;
	}
	why = find_functions(&f);
	if (!why && f.PyGILState_Check() != 1) {
		return;
	}
	if (atomic_exchange(&is_done, true)) {
		return;
	}
	why = why ? why : set_word(&f);
	if (why) {
		notice_add("no Paddle ranges", 0,
			"%s; ranges that Paddle marks in Python are not recorded", why);
	}
}
