/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gets into the interpreter. An audit hook, installed by the constructor, is called with the GIL
 * held right before the program's code. It runs a few lines of Python of our own, in a separate
 * dictionary, which call back. If the frames, names and lines of these match, the assumptions about
 * this interpreter hold; else we stay off, with the reason.
 */
#include "preload/python/python_start.h"

#include <dlfcn.h>
#include <string.h>

#include "collector/ring/os_counts.h"
#include "collector/util/config.h"
#include "collector/util/target.h"
#include "preload/hook/hook.h"
#include "preload/python/python.h"
#include "preload/python/python_call.h"
#include "preload/python/python_frame.h"
#include "preload/python/python_gc.h"
#include "preload/python/python_room.h"
#include "preload/python/python_thread.h"

/*
 * The functions of the interpreter that we need; the types are our own declarations of those in
 * Python.h.
 */
struct object;
struct method {
	const char *name;
	struct object *(*function)(struct object *self, struct object *unused);
	int flags; /* METH_NOARGS */
	const char *doc;
};
#define PYTHON_SYMBOLS(S)                                                                \
	S(PySys_AddAuditHook, int,                                                       \
		(int (*hook)(const char *event, struct object *args, void *), void *))   \
	S(Py_GetVersion, const char *, (void))                                           \
	S(PyGILState_GetThisThreadState, void *, (void))                                 \
	S(Py_CompileString, struct object *, (const char *code, const char *file, int))  \
	S(PyEval_EvalCode, struct object *,                                              \
		(struct object * code, struct object * globals, struct object * locals)) \
	S(PyCFunction_NewEx, struct object *,                                            \
		(struct method *, struct object * self, struct object * module))         \
	S(PyDict_New, struct object *, (void))                                           \
	S(PyDict_SetItemString, int,                                                     \
		(struct object * dict, const char *key, struct object *value))           \
	S(PyErr_Fetch, void, (struct object **, struct object **, struct object **))     \
	S(PyErr_Restore, void, (struct object *, struct object *, struct object *))      \
	S(PyUnicode_FromString, struct object *, (const char *utf8))                     \
	S(Py_IncRef, void, (struct object *))                                            \
	S(Py_DecRef, void, (struct object *))

/* From Python.h: Py_file_input, METH_NOARGS. */
enum { FILE_INPUT = 257, NO_ARGUMENTS = 4 };

static struct python_state {
#define S(name, ret, params) ret(*name) params;
	PYTHON_SYMBOLS(S)
#undef S
	struct object *none;
	struct object *function; /* that the try calls */
	uint32_t wanted;
	atomic_bool is_done, is_reported;
	atomic_bool is_replaced;
	atomic_bool is_traced; /* by itself: its calls are not recorded any more */
	atomic_bool is_traced_reported;
	bool is_hooked;		     /* on_event is called */
	bool has_hangs, has_samples; /* which want the stacks of all threads */
	bool has_os_calls;	     /* which want a recorder, and nothing of Python */
	atomic_bool is_waited_for; /* a forked child is to be recorded, and its recorder is cold */
	const char *why_no_calls, *why_no_threads, *why_no_gc;
	const char *why;   /* it does not work; NULL if it does, or there is no Python */
	const char *tried; /* what the try found wrong */
	char version[64];
} state;

/* ---- the try ---- */

/* In Python's code a name like this would make it import a module. */
static const char try_text[] = "h\xc3\xb6her \xe2\x82\xac";

static const char try_code[] = "def gprof_inner(f):\n"
			       "\tx = lambda: f\n"
			       "\tif x:\n"
			       "\t\tf()\n"
			       "def gprof_outer(f):\n"
			       "\n"
			       "\tgprof_inner(f)\n"
			       "gprof_outer(gprof_try)\n";
static const char try_file[] = "<gprof>";

static const struct expected {
	const char *name;
	uint32_t first_line, line;
	bool has_function; /* in its first variable, of gprof_inner in a cell */
} expected[] = {
	{"gprof_inner", 1, 4, true},
	{"gprof_outer", 5, 7, true},
	{"<module>", 1, 8, false},
};

static bool is_text(uintptr_t str, const char *wanted)
{
	struct python_text text;
	char utf8[PYTHON_UTF8_BYTES];

	return python_text_read(&text, str) && python_text_utf8(&text, utf8) == strlen(wanted) &&
	       !strcmp(utf8, wanted);
}

static const char *try_frames(void)
{
	uintptr_t at = python_frame_top(python_thread_state());

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]);) {
		struct python_frame frame;

		if (!at || !python_frame_read(&frame, at)) {
			return "its frames cannot be read";
		}
		at = frame.next;
		if (!frame.code) {
			continue;
		}
		if (!is_text(frame.name, expected[i].name) || !is_text(frame.file, try_file)) {
			return "names were not found in its frames";
		}
		if (frame.point.first_line != expected[i].first_line ||
			python_point_line(&frame.point) != expected[i].line) {
			return "lines were not found in its frames";
		}
		if (expected[i].has_function &&
			python_frame_first_local(&frame) != (uintptr_t)state.function) {
			return "local variables were not found in its frames";
		}
		i++;
	}
	return NULL;
}

static const char *try_wide(void)
{
	struct object *str = state.PyUnicode_FromString(try_text);
	bool is_right = str && is_text((uintptr_t)str, try_text);

	state.Py_DecRef(str);
	return is_right ? NULL : "a name beyond ASCII was not found";
}

static struct object *called(struct object *self, struct object *unused)
{
	(void)self;
	(void)unused;
	state.tried = try_frames();
	state.tried = state.tried ? state.tried : try_wide();
	state.Py_IncRef(state.none);
	return state.none;
}

static void run_code(struct object *globals)
{
	static struct method method = {"gprof_try", called, NO_ARGUMENTS, NULL};
	struct object *code = state.Py_CompileString(try_code, try_file, FILE_INPUT);
	struct object *result = NULL;

	state.function = state.PyCFunction_NewEx(&method, NULL, NULL);
	if (state.function && code &&
		!state.PyDict_SetItemString(globals, method.name, state.function)) {
		result = state.PyEval_EvalCode(code, globals, globals);
	}
	state.Py_DecRef(result); /* all of them may be NULL */
	state.Py_DecRef(code);
	state.Py_DecRef(state.function);
}

static const char *try_out(void)
{
	struct object *type, *value, *trace, *globals;

	if (!python_frame_init(state.version)) {
		return PYTHON_UNKNOWN_VERSION;
	}
	python_frame_know_cells((uintptr_t)dlsym(RTLD_DEFAULT, "PyCell_Type"));
	state.tried = "its code could not be run";
	state.PyErr_Fetch(&type, &value, &trace);
	globals = state.PyDict_New();
	if (globals) {
		run_code(globals);
		state.Py_DecRef(globals);
	}
	state.PyErr_Restore(type, value, trace); /* drops an error that gprof caused */
	return state.tried;
}

/* ---- in ---- */

#define CALLS (1u << PYTHON_FUNCTIONS | 1u << PYTHON_MODULES)

/*
 * From 3.12 on what the program's own tools see would be other than without us, but for
 * sys.setprofile.
 */
static bool is_traced(void)
{
	return python_frame_minor() >= 12 && atomic_load(&state.is_traced);
}

static void report_traced(void)
{
	if ((state.wanted & CALLS) && is_traced() && collector_is_running() &&
		!atomic_exchange(&state.is_traced_reported, true)) {
		notice_add("Python is traced", 0,
			"the program traces or monitors its Python; functions and modules are not "
			"recorded from there on");
	}
}

/* Before a tool of the program begins. */
static void note_tracer(const char *event)
{
	if (strcmp(event, "sys.settrace") != 0 &&
		strcmp(event, "sys.monitoring.register_callback") != 0) {
		return;
	}
	atomic_store(&state.is_traced, true);
	if (is_traced() && (atomic_load(&python_parts) & CALLS)) {
		atomic_fetch_and(&python_parts, ~CALLS);
		python_call_stop();
	}
	report_traced();
}

static uint32_t python_stack(void)
{
	return python_stack_take(NULL).stack;
}

static void start(void)
{
	uint32_t parts = state.wanted;

	python_room_start();
	if (parts & CALLS && is_traced()) {
		parts &= ~CALLS;
	}
	if (parts & CALLS) {
		state.why_no_calls = python_call_start(python_frame_minor());
		parts &= state.why_no_calls ? ~CALLS : UINT32_MAX;
	}
	if (state.has_hangs || state.has_samples) {
		state.why_no_threads = python_thread_start(python_thread_state(), state.has_hangs);
	}
	if (parts & 1u << PYTHON_GC) { /* it asks for no frames */
		state.why_no_gc = python_gc_start(python_frame_minor());
		parts &= ~(1u << PYTHON_GC);
	}
	python_frame_trust(parts != 0);
	atomic_store(&python_parts, parts);
	if (parts & 1u << PYTHON_STACKS) {
		atomic_store(&hook_python_stack, python_stack);
	}
}

/* torch.compile may replace our evaluator, and does not restore it in every version. */
static void report_replaced(void)
{
	if ((atomic_load_explicit(&python_parts, memory_order_relaxed) & CALLS) &&
		collector_is_running() && python_call_is_replaced() &&
		!atomic_exchange(&state.is_replaced, true)) {
		notice_add("Python's frames", 0,
			"another tool in the process (torch.compile) evaluates Python frames now; "
			"functions and modules may be missing from here on");
	}
}

/* Is anything wanted for which its frames, or other parts of it, are read? */
static bool reads_python(void)
{
	return state.wanted || state.has_hangs || state.has_samples;
}

/* With the GIL: is this interpreter as we know it? If so, parts begin. */
static void get_in(void)
{
	struct ring_mark mark;

	if (atomic_exchange(&state.is_done, true)) {
		return;
	}
	ring_enter_profiler(&ring_tls, &mark);
	strncpy(state.version, state.Py_GetVersion(), sizeof(state.version) - 1);
	state.why = reads_python() ? try_out() : NULL;
	ring_leave_profiler(&ring_tls, &mark);
	if (state.why) {
		python_thread_refuse();
	} else if (reads_python()) {
		start();
	}
	/* A program that uses no GPU is sampled, and has calls of the C library, too. */
	if (state.has_samples || state.has_os_calls) {
		recorder_ensure_started();
	}
}

/*
 * A forked child, such as a worker of a data loader: not in the fork's handlers, where other
 * libraries are not ready for a new thread.
 */
static void start_child(void)
{
	if (atomic_load_explicit(&state.is_waited_for, memory_order_relaxed) &&
		atomic_exchange(&state.is_waited_for, false)) {
		recorder_ensure_started();
	}
}

/* The program is about to run: this thread has the GIL, and will end the interpreter. */
static int on_event(const char *event, struct object *args, void *unused)
{
	TARGET_KEEP_ERRNO;

	(void)unused;
	note_tracer(event);
	if (!strcmp(event, "import")) {
		python_gc_before_import(args);
	}
	if (atomic_load_explicit(&state.is_done, memory_order_relaxed)) {
		start_child();
		python_call_mend();
		report_replaced();
		return 0;
	}
	if (!strncmp(event, "cpython.run_", 12)) {
		get_in();
	}
	return 0;
}

static bool find_symbols(void)
{
#define S(name, ret, params)                                \
	*(void **)&state.name = dlsym(RTLD_DEFAULT, #name); \
	if (!state.name) {                                  \
		return false;                               \
	}
	PYTHON_SYMBOLS(S)
#undef S
	state.none = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
	python_thread_state = state.PyGILState_GetThisThreadState;
	python_module_find_symbols();
	return state.none != NULL;
}

static bool has_python(void)
{
	return dlsym && dlsym(RTLD_DEFAULT, "Py_GetVersion");
}

/* Takes what the settings want of Python; false: nothing, or this is no Python. */
COMPAT_START_CODE static bool is_wanted(void)
{
	if (!config_is_asked(CONFIG_PYTHON) && !config_is_asked(CONFIG_HANG_TIMEOUT_S) &&
		!config_is_asked(CONFIG_CPU_HZ) && !config_is_asked(CONFIG_SCHED) &&
		!os_counts_are_wanted()) {
		return false;
	}
	state.wanted = (uint32_t)config_early(CONFIG_PYTHON) & ~(1u << PYTHON_OFF);
	state.has_hangs = config_early(CONFIG_HANG_TIMEOUT_S) != 0;
	state.has_samples = ((config_is_asked(CONFIG_CPU_HZ) && config_early(CONFIG_CPU_HZ)) ||
				    (config_is_asked(CONFIG_SCHED) &&
					    config_early(CONFIG_SCHED) == SCHED_ON)) &&
			    !config_early(CONFIG_TIMER_ONLY);
	state.has_os_calls = os_counts_are_wanted() && !config_early(CONFIG_TIMER_ONLY);
	return (reads_python() || state.has_os_calls) && has_python();
}

static void install_hook(void)
{
	strcpy(state.version, "3");
	state.why = "its program has not begun, or it is embedded in another one";
	if (!find_symbols()) {
		state.why = "it lacks functions that 3.8 and later have";
	} else if (state.PySys_AddAuditHook(on_event, NULL)) {
		state.why = "it accepts no audit hook";
	} else {
		state.is_hooked = true;
	}
}

COMPAT_START_CODE void python_start_init(void)
{
	if (is_wanted()) { /* most processes are not Python's */
		install_hook();
	}
}

void python_start_inside(void)
{
	int (*has_gil)(void) = NULL;

	if (!is_wanted() || atomic_load(&state.is_done)) {
		return;
	}
	*(void **)&has_gil = dlsym(RTLD_DEFAULT, "PyGILState_Check");
	if (!has_gil || !has_gil()) {
		state.why = "gprof_start() was called without the GIL";
		return;
	}
	if (!state.is_hooked) {
		install_hook();
	}
	if (state.is_hooked) {
		get_in();
	}
}

static void report_parts(void)
{
	report_replaced();
	report_traced();
	if (!state.wanted) {
		notice_add("no Python", 0,
			"GPROF_PYTHON works only as an environment variable: Python starts before "
			"the GPROF_CONFIG file is read");
	} else if (state.why) {
		notice_add("no Python", 0, "Python %s: %s; GPROF_PYTHON has no effect",
			state.version, state.why);
	} else if (state.why_no_calls) {
		notice_add("no Python calls", 0,
			"Python %s: %s; functions and modules are not recorded", state.version,
			state.why_no_calls);
	}
	if (state.why_no_gc) {
		notice_add("no Python collections", 0,
			"Python %s: %s; collections of garbage are not recorded", state.version,
			state.why_no_gc);
	}
}

static void report_hangs(void)
{
	const char *why = state.why ? state.why : state.why_no_threads;

	if (!state.has_hangs && has_python()) {
		notice_add("no Python stacks of hangs", 0,
			"for them GPROF_HANG_TIMEOUT_S works only as an environment variable: "
			"Python starts before the GPROF_CONFIG file is read");
	} else if (why) {
		notice_add("no Python stacks of hangs", 0,
			"Python %s: %s; hangs are reported without them", state.version, why);
	}
}

/* Where nothing was tried, the drain reads it from outside (python_thread_init). */
static void report_samples(void)
{
	const char *why = state.why ? state.why : state.why_no_threads;

	if (why && atomic_load(&state.is_done)) {
		notice_add("no Python stacks of CPU samples", 0,
			"Python %s: %s; CPU samples have native stacks alone", state.version, why);
	}
}

void python_start_report(void)
{
	bool has_parts = config_number(CONFIG_PYTHON) > 1u << PYTHON_OFF;
	bool has_hangs = config_number(CONFIG_HANG_TIMEOUT_S) != 0;

	if ((!has_parts && !has_hangs && !state.has_samples) ||
		atomic_exchange(&state.is_reported, true)) {
		return;
	}
	if (has_parts) {
		report_parts();
	}
	if (has_hangs) {
		report_hangs();
	}
	if (state.has_samples) {
		report_samples();
	}
}

void python_start_forget(void)
{
	atomic_store(&state.is_reported, false);
	atomic_store(&state.is_waited_for,
		(state.has_samples || state.has_os_calls) && atomic_load(&state.is_done));
	python_stack_forget();
	python_module_forget();
	python_call_forget();
	python_gc_forget();
	python_thread_forget(python_thread_state ? python_thread_state() : NULL);
	atomic_store(&state.is_replaced, false);
	atomic_store(&state.is_traced_reported, false);
}
