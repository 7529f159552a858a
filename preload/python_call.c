/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/python_call.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "preload/hook.h"
#include "preload/python.h"
#include "preload/python_frame.h"

/* Rows of functions that a thread may write in a second; what is beyond is counted. */
#define MAX_CALLS 200000u

/* Python functions in each other, as they are seen. */
#define MAX_DEPTH 128u

/* Of 3.8's interpreter, which has no function to set its evaluator. */
#define INTERPRETER_BYTES 4096u

/* 3.8 has no first argument. */
typedef void *(*evaluator)(void *thread, void *frame, int throws);
typedef void *(*evaluator_8)(void *frame, int throws);

static struct {
	evaluator evaluate;
	evaluator_8 evaluate_8;
	void *ours, *theirs; /* the functions' addresses */
	void *interpreter;
	void *(*now)(void *interpreter);
	void (*set)(void *interpreter, evaluator evaluate);
	void **word;		     /* 3.8: in the interpreter */
	_Atomic uint32_t generation; /* of processes, by fork */
} state;

/* Of the calling thread. */
static __thread struct {
	uint64_t second_begin;
	uint32_t nr_written; /* since then */
	uint32_t nr_modules; /* that are being called */
	uint32_t depth;	     /* of Python's functions */
} thread __attribute__((tls_model("initial-exec")));

struct call {
	uint64_t begin;
	uint32_t code;	 /* of py_code; 0: not wanted as a function */
	uint32_t module; /* op_name; 0: not a module's */
	uint32_t generation;
};

static bool is_within_rate(uint64_t now)
{
	if (now - thread.second_begin >= python_raw_of(1000000000u)) {
		thread.second_begin = now;
		thread.nr_written = 0;
	}
	return thread.nr_written++ < MAX_CALLS;
}

static void emit_function(struct ring_self *self, const struct call *call, uint64_t end)
{
	struct gprof_row_py_call *row;

	if (!is_within_rate(end)) {
		collector_lose(COLLECTOR_LOST_PYTHON_CALL, 1);
		return;
	}
	row = (struct gprof_row_py_call *)ring_reserve(self, sizeof(*row));
	if (row) {
		*row = (struct gprof_row_py_call){
			.head = {.bytes = sizeof(*row), .table = GPROF_TABLE_py_call},
			.begin = call->begin,
			.dur = end,
			.thread = self->id,
			.py_code = call->code};
		ring_commit(self, row, sizeof(*row));
	}
}

static void emit_module(struct ring_self *self, const struct call *call, uint64_t end)
{
	struct gprof_row_op *row = (struct gprof_row_op *)ring_reserve(self, sizeof(*row));

	if (row) {
		*row = (struct gprof_row_op){
			.head = {.bytes = sizeof(*row), .table = GPROF_TABLE_op},
			.begin = call->begin,
			.dur = end,
			.thread = self->id,
			.op_name = call->module,
			.end_thread = self->id,
			.depth = (uint16_t)thread.nr_modules,
			.framework = GPROF_FRAMEWORK_PYTHON,
			.scope = GPROF_PYTHON_MODULE};
		ring_commit(self, row, sizeof(*row));
	}
}

/* With the GIL, which keeps the interpreter from ending: memory can be read directly. */
static void look_at(struct call *call, void *at)
{
	bool was_trusted = python_frame_trust(true);
	struct python_frame frame;

	if (python_frame_read(&frame, (uintptr_t)at) && frame.code) {
		call->code = python_has(PYTHON_FUNCTIONS) ? python_code_wanted(&frame) : 0;
		call->module = python_has(PYTHON_MODULES) ? python_module_name(&frame) : 0;
	}
	python_frame_trust(was_trusted);
}

static struct call begin_call(void *frame)
{
	struct ring_self *self = &ring_self;
	struct call call = {.generation = atomic_load(&state.generation)};
	struct ring_mark mark;
	int error = errno;

	if (!(hook_mode() & COLLECTOR_RECORD) || ring_is_inside(self) || !ring_enter(self)) {
		errno = error;
		return call;
	}
	ring_begin_inside(self, &mark);
	look_at(&call, frame);
	ring_end_inside(self, &mark);
	thread.nr_modules += call.module != 0;
	call.begin = clock_raw();
	errno = error;
	return call;
}

static void end_call(const struct call *call)
{
	struct ring_self *self = &ring_self;
	uint64_t end = clock_raw();
	int error = errno;

	thread.nr_modules -= call->module != 0;
	/* Ids of a parent's stream mean nothing in that of its forked child. */
	if (!(hook_mode() & COLLECTOR_RECORD) || ring_is_inside(self) ||
		call->generation != atomic_load(&state.generation)) {
		return;
	}
	if (call->code) {
		emit_function(self, call, end);
	}
	if (call->module) {
		emit_module(self, call, end);
	}
	errno = error;
}

/* ---- taking the place ---- */

static bool is_evaluator(const void *function)
{
	return state.word ? *state.word == function : state.now(state.interpreter) == function;
}

static void set_evaluator(void *function)
{
	evaluator evaluate;

	if (state.word) {
		*state.word = function;
	} else {
		*(void **)&evaluate = function;
		state.set(state.interpreter, evaluate);
	}
}

/*
 * A function around the evaluator makes each call of a Python function one of C, of which a program
 * may have fewer: C's stack, and 3.12's count of C calls. So it steps aside while calls are deep,
 * and comes back when the one returns that saw it. The GIL is held both times.
 */
static bool step_aside(void)
{
	if (++thread.depth < MAX_DEPTH || !is_evaluator(state.ours)) {
		return false;
	}
	set_evaluator(state.theirs);
	if (hook_mode() & COLLECTOR_RECORD) {
		collector_lose(COLLECTOR_LOST_PYTHON_CALL, 1);
	}
	return true;
}

static void come_back(bool has_stepped_aside)
{
	thread.depth--;
	if (has_stepped_aside && is_evaluator(state.theirs)) {
		set_evaluator(state.ours);
	}
}

static void *on_frame(void *thread_state, void *frame, int throws)
{
	struct call call = begin_call(frame);
	bool is_aside = step_aside();
	void *result = state.evaluate(thread_state, frame, throws);

	come_back(is_aside);
	if (call.code || call.module) {
		end_call(&call);
	}
	return result;
}

static void *on_frame_8(void *frame, int throws)
{
	struct call call = begin_call(frame);
	bool is_aside = step_aside();
	void *result = state.evaluate_8(frame, throws);

	come_back(is_aside);
	if (call.code || call.module) {
		end_call(&call);
	}
	return result;
}

/* The one word in the interpreter that is the default evaluator's address. */
static const char *find_word(void)
{
	static const void *words[INTERPRETER_BYTES / sizeof(void *)];

	if (!python_peek(words, (uintptr_t)state.interpreter, sizeof(words))) {
		return "the interpreter cannot be read";
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (words[i] == state.theirs) {
			if (state.word) {
				return "the place of its evaluator was found twice";
			}
			state.word = (void **)state.interpreter + i;
		}
	}
	return state.word ? NULL : "the place of its evaluator was not found";
}

static const char *start_8(void)
{
	evaluator_8 ours = on_frame_8;
	const char *why = find_word();

	state.ours = *(void **)&ours;
	*(void **)&state.evaluate_8 = state.theirs;
	return why;
}

static const char *start_later(void)
{
	evaluator ours = on_frame;

	state.ours = *(void **)&ours;
	*(void **)&state.evaluate = state.theirs;
	*(void **)&state.set = dlsym(RTLD_DEFAULT, "_PyInterpreterState_SetEvalFrameFunc");
	*(void **)&state.now = dlsym(RTLD_DEFAULT, "_PyInterpreterState_GetEvalFrameFunc");
	if (!state.set || !state.now) {
		return "it lacks functions of PEP 523";
	}
	return is_evaluator(state.theirs) ? NULL : "somebody else evaluates its frames";
}

const char *python_call_start(unsigned int minor_version)
{
	void *(*main_interpreter)(void);
	const char *why;

	*(void **)&main_interpreter = dlsym(RTLD_DEFAULT, "PyInterpreterState_Main");
	state.theirs = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
	state.interpreter = main_interpreter ? main_interpreter() : NULL;
	if (!state.interpreter || !state.theirs) {
		return "it lacks functions of PEP 523";
	}
	why = minor_version == 8 ? start_8() : start_later();
	if (!why) {
		set_evaluator(state.ours);
	}
	return why;
}

bool python_call_is_replaced(void)
{
	return !is_evaluator(state.ours) && !is_evaluator(state.theirs);
}

void python_call_forget(void)
{
	atomic_fetch_add(&state.generation, 1);
}
