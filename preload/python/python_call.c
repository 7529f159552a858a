/* SPDX-License-Identifier: Apache-2.0 */
/*
 * on_frame() stands in for the interpreter's evaluator and calls it. Three problems shape the file:
 * calls that are left without a return (drop_left), C stacks that have no room for one more C
 * function in each call (step_aside), and calls that are missed meanwhile (python_call_look).
 */
#include "preload/python/python_call.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "collector/util/target.h"
#include "preload/hook/hook.h"
#include "preload/python/op_stack.h"
#include "preload/python/python.h"
#include "preload/python/python_frame.h"
#include "preload/python/python_room.h"

/* Rows of functions that a thread may write per second; the others are counted. */
#define MAX_CALLS 200000u

/*
 * C stack for nested recorded Python functions: each needs 500 to 700 bytes, from 3.14 on 1,050, so
 * 240 to 500 fit in the main thread. Nested imports need 120,000 bytes. Other threads may have
 * small stacks.
 */
#define STACK_BYTES 262144u
#define STACK_SHARE 8u /* and no more than such a part of what was left of it */
/* No stack is so large: what is further away lies on another one. */
#define FAR_BYTES (64u << 20)

/* The module is always sought in so many frames around an operator; further out as time allows. */
#define MODULE_FRAMES 32u
#define LOOK_SHARE    32u /* at most this part of the thread's time */

/* Bytes of 3.8's interpreter that are searched for its evaluator, which no function sets. */
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
	/* While the interpreter's own evaluator is installed, with the GIL: since which call. */
	const void *aside_thread;
	uintptr_t aside_at;
	_Atomic uint32_t nr_asides; /* odd while it does */
} state;

/* State of the calling thread. */
static __thread struct {
	uint64_t second_begin;
	uint32_t nr_written;	 /* since then */
	uint32_t reported_aside; /* of state.nr_asides: what is missing was counted */
	uint32_t looked_aside;	 /* state.nr_asides at the last search */
	uint64_t next_look;	 /* when to search next for a module far from its operator */
	uintptr_t outermost;	 /* its outermost call, on the stack, 0: none */
	uint32_t max_bytes;	 /* of the stack below that one which may be used */
} thread __attribute__((tls_model("initial-exec")));

struct call {
	struct op_stack *stack; /* where it is noted, at `place`; NULL: nowhere */
	uint32_t place;
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

static void emit_function(struct ring_tls *self, const struct call *call, uint64_t end)
{
	struct gprof_row_py_call *row;

	if (!is_within_rate(end)) {
		loss_add(LOSS_PYTHON_CALL, 1);
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

static void emit_module(
	struct ring_tls *self, const struct call *call, uint64_t end, uint32_t nr_outer)
{
	struct gprof_row_op row = {.begin = call->begin,
		.dur = end,
		.thread = self->id,
		.op_name = call->module,
		.end_thread = self->id,
		.depth = (uint16_t)nr_outer,
		.framework = GPROF_FRAMEWORK_PYTHON,
		.scope = GPROF_PYTHON_MODULE};

	ring_emit(&row, GPROF_TABLE_op, NULL, 0);
}

/* ---- calls that have not returned ---- */

/*
 * A jump out of C frames leaves calls without an end, and none of our code runs then. Their stack
 * addresses reveal them: a call at or below a new call, or inside one that returns, was left.
 */
static uint32_t modules_in(const struct op_stack *stack, uint32_t nr_calls)
{
	return nr_calls ? stack->calls[nr_calls - 1].nr_modules : 0;
}

static void drop_left(struct op_stack *stack, uintptr_t here)
{
	while (stack->nr_calls && stack->calls[stack->nr_calls - 1].at <= here &&
		ring_is_left(stack->calls[stack->nr_calls - 1].at, here + 1)) {
		stack->nr_calls--;
		ring_was_left();
	}
}

static void note_call(struct ring_tls *self, struct call *call, uintptr_t frame)
{
	struct op_stack *stack = op_stack_of(self);

	if (!stack) {
		return;
	}
	drop_left(stack, (uintptr_t)call);
	if (stack->nr_calls == OP_STACK_CALLS) {
		call->code = call->module = 0;
		loss_add(LOSS_PYTHON_DEPTH, 1);
		return;
	}
	call->stack = stack;
	call->place = stack->nr_calls++;
	stack->calls[call->place] = (struct op_python_call){.at = (uintptr_t)call,
		.frame = frame,
		.nr_modules = modules_in(stack, call->place) + (call->module != 0),
		.is_module = call->module != 0};
}

/* Removes a call that returns. Returns the number of modules around it. */
static uint32_t forget_call(const struct ring_tls *self, const struct call *call)
{
	struct op_stack *stack = op_stack_have(self);
	uint32_t nr_modules = 0;

	if (!stack || call->stack != stack) { /* no memory, or a call of the parent process */
		return stack ? modules_in(stack, stack->nr_calls) : 0;
	}
	if (call->place >= stack->nr_calls || stack->calls[call->place].at != (uintptr_t)call) {
		ring_came_back(); /* coroutines do */
		return modules_in(stack, stack->nr_calls);
	}
	nr_modules = modules_in(stack, call->place);
	while (--stack->nr_calls > call->place) {
		ring_was_left();
	}
	return nr_modules;
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

static void begin_call(struct call *call, void *frame)
{
	struct ring_tls *self = &ring_tls;
	struct ring_mark mark;
	TARGET_KEEP_ERRNO;

	if (!(hook_mode() & COLLECTOR_RECORD) || ring_in_profiler(self) || !ring_enter(self)) {
		return;
	}
	call->generation = atomic_load(&state.generation);
	ring_enter_profiler(self, &mark);
	look_at(call, frame);
	ring_leave_profiler(self, &mark);
	if (call->code || call->module) {
		note_call(self, call, (uintptr_t)frame);
	}
	call->begin = clock_raw();
}

static void end_call(const struct call *call)
{
	struct ring_tls *self = &ring_tls;
	uint64_t end = clock_raw();
	uint32_t nr_outer;
	TARGET_KEEP_ERRNO;

	/* Ids of a parent's stream mean nothing in that of its forked child. */
	if (call->generation != atomic_load(&state.generation)) {
		return;
	}
	nr_outer = forget_call(self, call);
	if (!(hook_mode() & COLLECTOR_RECORD) || ring_in_profiler(self)) {
		return;
	}
	if (call->code) {
		emit_function(self, call, end);
	}
	if (call->module) {
		emit_module(self, call, end, nr_outer);
	}
}

/* ---- the interpreter's evaluator ---- */

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

/* Does the call at `here` lie too deep? */
static bool is_too_deep(uintptr_t here)
{
	/* The first, or of one that was left, or on another stack. */
	if (thread.outermost - here > FAR_BYTES) {
		uint32_t share = python_room(here) / STACK_SHARE;

		thread.outermost = here;
		thread.max_bytes = share < STACK_BYTES ? share : STACK_BYTES;
	}
	return thread.outermost - here > thread.max_bytes || python_room(here) < PYTHON_ROOM_BYTES;
}

/*
 * Calls from here on are not recorded. A function that the filter selects is lost; for modules, an
 * operator inside one shows it (python_call_look).
 */
static void count_aside(void)
{
	static atomic_uint reported_in;

	if (!(hook_mode() & COLLECTOR_RECORD) || !python_has(PYTHON_FUNCTIONS)) {
		return;
	}
	if (!*config_text(CONFIG_PYTHON_FILTER)) {
		loss_add(LOSS_PYTHON_DEPTH, 1);
	} else if (notice_is_first(&reported_in)) {
		notice_add("deep Python calls", 0,
			"Python calls nested too deep to record; functions that "
			"GPROF_PYTHON_FILTER names may be missing there");
	}
}

/*
 * A function around the evaluator makes each call of a Python function one of C, of which a program
 * may have fewer: C's stack, and 3.12's count of C calls. So it steps aside while calls are deep,
 * and comes back when the one returns that saw it. The GIL is held both times.
 */
static bool step_aside(uintptr_t here)
{
	if (!is_evaluator(state.ours)) {
		return false;
	}
	set_evaluator(state.theirs);
	state.aside_thread = &thread;
	state.aside_at = here;
	atomic_fetch_add(&state.nr_asides, 1);
	count_aside();
	return true;
}

static void come_back(void)
{
	if (state.aside_thread && is_evaluator(state.theirs)) {
		set_evaluator(state.ours);
		atomic_fetch_add(&state.nr_asides, 1);
	}
	state.aside_thread = NULL;
}

void python_call_stop(void)
{
	state.aside_thread = NULL; /* nobody comes back */
	if (is_evaluator(state.ours)) {
		set_evaluator(state.theirs);
	}
}

void python_call_mend(void)
{
	uintptr_t here = RING_STACK;

	if (state.aside_thread == &thread && here > state.aside_at &&
		ring_is_left(state.aside_at, here)) {
		come_back();
	}
}

/* ---- calls that were not seen ---- */

/* The innermost call of a module around an operator, 0: none. Without the GIL. */
static uintptr_t find_module_frame(void)
{
	const void *thread_state = python_thread_state();
	uintptr_t at = thread_state ? python_frame_top(thread_state) : 0;
	uint64_t begin = clock_raw();
	uint32_t nr_most = begin < thread.next_look ? MODULE_FRAMES : UINT32_MAX, i;
	struct python_frame frame;

	for (i = 0; at && i < nr_most && python_frame_read(&frame, at); i++) {
		if (frame.code && python_module_is_call(&frame)) {
			return at;
		}
		at = frame.next;
	}
	if (i > MODULE_FRAMES) {
		thread.next_look = begin + (clock_raw() - begin) * LOOK_SHARE;
	}
	return 0;
}

static uintptr_t last_module_of(const struct op_stack *stack)
{
	uint32_t i = stack->nr_calls;

	while (i && !stack->calls[i - 1].is_module) {
		i--;
	}
	return i ? stack->calls[i - 1].frame : 0;
}

void python_call_look(const struct op_stack *stack)
{
	uint32_t nr_asides = atomic_load_explicit(&state.nr_asides, memory_order_relaxed);
	uintptr_t frame;

	if (!(nr_asides & 1) || thread.reported_aside == nr_asides ||
		!(hook_mode() & COLLECTOR_RECORD)) {
		return;
	}
	if (thread.looked_aside != nr_asides) {
		thread.looked_aside = nr_asides;
		thread.next_look = 0;
	}
	frame = find_module_frame();
	if (frame && frame != last_module_of(stack)) {
		thread.reported_aside = nr_asides;
		loss_add(LOSS_PYTHON_DEPTH, 1);
	}
}

/* ---- taking part ---- */

static void enter(struct call *call, void *frame, bool *is_aside)
{
	if (python_room((uintptr_t)call) >= PYTHON_ROOM_BYTES) {
		begin_call(call, frame);
	}
	*is_aside = is_too_deep((uintptr_t)call) && step_aside((uintptr_t)call);
}

static void leave(const struct call *call, bool is_aside)
{
	if (is_aside) {
		come_back();
	}
	if (thread.outermost == (uintptr_t)call) {
		thread.outermost = 0;
	}
	if (call->code || call->module) {
		end_call(call);
	}
}

static void *on_frame(void *thread_state, void *frame, int throws)
{
	struct call call = {0};
	bool is_aside;
	void *result;

	enter(&call, frame, &is_aside);
	result = state.evaluate(thread_state, frame, throws);
	leave(&call, is_aside);
	return result;
}

static void *on_frame_8(void *frame, int throws)
{
	struct call call = {0};
	bool is_aside;
	void *result;

	enter(&call, frame, &is_aside);
	result = state.evaluate_8(frame, throws);
	leave(&call, is_aside);
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
	return is_evaluator(state.theirs) ? NULL : "another tool evaluates its frames";
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
	if (state.aside_thread != &thread) { /* in the parent, and will not come back here */
		come_back();
	}
	atomic_fetch_add(&state.generation, 1);
}
