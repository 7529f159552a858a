/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of other threads out of an interpreter's memory: here what 3.10 and 3.12 have of it, built
 * by hand. test/python compares those of real ones with what Python says.
 */
#include "preload/python/python_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/ring/python_frames.h"
#include "collector/ring/safe_read.h"
#include "collector/ring/ring.h"
#include "preload/python/python_frame.h"
#include "test/unit/unit.h"

/* As the interpreter exports them. */
__attribute__((visibility("default"))) char PyCode_Type[8], PyUnicode_Type[8];
__attribute__((visibility("default"))) uintptr_t _PyRuntime[1024];

enum { NR_STATES = 3, NR_FRAMES = 40, INTERPRETER = 0x1234, OTHER_TID = 77, OWNER_C = 3 };

/* Of each kind one is enough for all places that need it. */
static struct {
	uintptr_t states[NR_STATES][40]; /* the newest first; the known one is in the middle */
	uintptr_t cframe;
	uintptr_t frames[NR_FRAMES][64];
	uintptr_t code[32], file[16], function[16], lines[8];
} memory;

/* Of the interpreter that nothing has got into. */
static const char *version;
static void *interpreter;

__attribute__((visibility("default"))) const char *Py_GetVersion(void)
{
	return version;
}

__attribute__((visibility("default"))) void *PyInterpreterState_Main(void)
{
	return interpreter;
}

__attribute__((visibility("default"))) void *PyInterpreterState_ThreadHead(void *unused)
{
	(void)unused;
	return memory.states[0];
}

__attribute__((visibility("default"))) void *PyGILState_GetThisThreadState(void)
{
	return memory.states[1];
}

static void put(void *object, size_t at, const void *value, size_t nr_bytes)
{
	memcpy((char *)object + at, value, nr_bytes);
}

static void put_word(void *object, size_t at, uintptr_t value)
{
	put(object, at, &value, sizeof(value));
}

/* An ASCII str; its head is longer up to 3.11. */
static void make_text(uintptr_t *str, const char *text, size_t head_bytes)
{
	const uint32_t state = 1u << 2 | 1u << 5 | 1u << 6;

	put_word(str, 8, (uintptr_t)PyUnicode_Type);
	put_word(str, 16, strlen(text));
	put(str, 32, &state, sizeof(state));
	put(str, head_bytes, text, strlen(text));
}

static void make_states(size_t id_at)
{
	for (size_t i = 0; i < NR_STATES; i++) {
		uintptr_t *words = memory.states[i];

		words[0] = i ? (uintptr_t)memory.states[i - 1] : 0;
		words[1] = i + 1 < NR_STATES ? (uintptr_t)memory.states[i + 1] : 0;
		words[2] = INTERPRETER;
		words[id_at] = 0x1000 * (i + 1); /* no thread's */
		words[id_at + 1] = OTHER_TID + i;
	}
	memory.states[1][id_at] = (uintptr_t)pthread_self();
	memory.states[1][id_at + 1] = (uintptr_t)syscall(SYS_gettid);
}

/* So many frames; line 7 of step, in train.py. The first state runs them. */
static void make_12(uint32_t nr_frames)
{
	const uint32_t line = 7;

	memset(&memory, 0, sizeof(memory));
	make_states(17);
	memory.states[0][7] = (uintptr_t)&memory.cframe;
	memory.cframe = nr_frames ? (uintptr_t)memory.frames[0] : 0;
	for (uint32_t i = 0; i < nr_frames; i++) {
		memory.frames[i][0] = (uintptr_t)memory.code;
		memory.frames[i][1] = i + 1 < nr_frames ? (uintptr_t)memory.frames[i + 1] : 0;
		memory.frames[i][7] = (uintptr_t)memory.code + 192;
	}
	put_word(memory.code, 8, (uintptr_t)PyCode_Type);
	put(memory.code, 68, &line, sizeof(line));
	put_word(memory.code, 112, (uintptr_t)memory.file);
	put_word(memory.code, 120, (uintptr_t)memory.function);
	put_word(memory.code, 136, (uintptr_t)memory.lines);
	memory.lines[2] = 2;
	put(memory.lines, 32, "\x81\x11", 2); /* two instructions on the first line */
	make_text(memory.file, "train.py", 40);
	make_text(memory.function, "step", 40);
	ck_assert(python_frame_init("3.12.1"));
	ck_assert_ptr_null(python_thread_start(memory.states[1], true));
}

static void make_10(void)
{
	const uint32_t line = 7;

	memset(&memory, 0, sizeof(memory));
	make_states(22);
	memory.states[1][3] = (uintptr_t)memory.frames[0];
	memory.frames[0][0] = 1; /* references */
	put_word(memory.frames[0], 32, (uintptr_t)memory.code);
	put_word(memory.code, 8, (uintptr_t)PyCode_Type);
	put(memory.code, 40, &line, sizeof(line));
	put_word(memory.code, 104, (uintptr_t)memory.file);
	put_word(memory.code, 112, (uintptr_t)memory.function);
	put_word(memory.code, 120, (uintptr_t)memory.lines);
	make_text(memory.file, "train.py", 48);
	make_text(memory.function, "step", 48);
	ck_assert(python_frame_init("3.10.4"));
	ck_assert_ptr_null(python_thread_start(memory.states[1], true));
}

static const struct python_frames *frames_of(uint32_t tid, uintptr_t self)
{
	python_frames_reader read = python_frames_read;

	ck_assert_ptr_nonnull(read);
	return read(tid, self);
}

static void check(const struct python_frames *frames, uint32_t nr, uint32_t nr_more)
{
	ck_assert_ptr_nonnull(frames);
	ck_assert_uint_eq(frames->nr, nr);
	ck_assert_uint_eq(frames->nr_more, nr_more);
	for (uint32_t i = 0; i < nr; i++) {
		ck_assert_str_eq(frames->all[i].file, "train.py");
		ck_assert_str_eq(frames->all[i].function, "step");
	}
}

START_TEST(frames_are_told_of_the_thread_with_that_id_alone)
{
	make_12(3);
	check(frames_of(OTHER_TID, 0), 3, 0);
	ck_assert_uint_eq(frames_of(OTHER_TID, 0)->all[0].line, 7);
	ck_assert_ptr_null(frames_of(OTHER_TID + 9, 0));
	ck_assert_ptr_null(frames_of(OTHER_TID + 2, 0)); /* runs no Python */
	memory.states[2][7] = (uintptr_t)&memory.cframe;
	check(frames_of(OTHER_TID + 2, 0), 3, 0); /* an older one than the known */
	put_word(memory.frames[1], 64, (uintptr_t)OWNER_C << 48);
	check(frames_of(OTHER_TID, 0), 2, 0); /* stands for C */
}
END_TEST

START_TEST(of_many_frames_the_outer_ones_are_counted)
{
	make_12(NR_FRAMES);
	check(frames_of(OTHER_TID, 0), PYTHON_FRAMES_MAX, NR_FRAMES - PYTHON_FRAMES_MAX);
	ck_assert(!frames_of(OTHER_TID, 0)->has_rest);
	memory.frames[NR_FRAMES - 1][1] = (uintptr_t)memory.frames[0];
	ck_assert(frames_of(OTHER_TID, 0)->has_rest); /* a circle ends, too */
}
END_TEST

START_TEST(up_to_3_10_threads_are_known_by_their_own_memory_and_the_first_by_its_id)
{
	uint32_t own = (uint32_t)syscall(SYS_gettid);

	make_10();
	check(frames_of(own, 0), 1, 0);
	check(frames_of(OTHER_TID, (uintptr_t)&ring_tls), 1, 0);
	ck_assert_ptr_null(frames_of(OTHER_TID, 0));
	ck_assert_ptr_null(frames_of(own, (uintptr_t)&ring_tls + 64));
}
END_TEST

START_TEST(what_is_not_as_it_should_be_tells_nothing)
{
	void *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(gone, MAP_FAILED);
	make_12(2);
	put_word(memory.code, 8, (uintptr_t)PyUnicode_Type);
	ck_assert_ptr_null(frames_of(OTHER_TID, 0));
	make_12(2);
	put_word(memory.file, 8, (uintptr_t)PyCode_Type);
	ck_assert_ptr_null(frames_of(OTHER_TID, 0));
	make_12(2);
	memory.frames[0][1] = (uintptr_t)gone;
	ck_assert_ptr_null(frames_of(OTHER_TID, 0));
	make_12(2);
	memory.states[0][2]++; /* another interpreter's, or no state any more */
	ck_assert_ptr_null(frames_of(OTHER_TID, 0));
	make_12(2);
	memory.states[1][0] = (uintptr_t)gone;
	ck_assert_ptr_null(frames_of(OTHER_TID, 0));
	memory.states[1][0] = (uintptr_t)memory.states[1]; /* a circle */
	ck_assert_ptr_null(frames_of(OTHER_TID, 0));
}
END_TEST

/* The thread is the last one of a long list, or in none of a circle. */
START_TEST(the_list_may_have_any_length)
{
	enum { NR = 20000 };
	static uintptr_t states[NR][40];

	make_12(3);
	for (uint32_t i = 0; i < NR; i++) {
		memcpy(states[i], memory.states[2], sizeof(states[i]));
		states[i][1] = i + 1 < NR ? (uintptr_t)states[i + 1] : 0;
		states[i][18] = OTHER_TID + 100 + i;
		states[i][7] = (uintptr_t)&memory.cframe;
	}
	memory.states[1][1] = (uintptr_t)states[0];
	check(frames_of(OTHER_TID + 100 + NR - 1, 0), 3, 0);
	ck_assert_ptr_null(frames_of(OTHER_TID + 100 + NR, 0));
	states[NR - 1][1] = (uintptr_t)states[NR / 2];
	ck_assert_ptr_null(frames_of(OTHER_TID + 100 + NR, 0));
}
END_TEST

START_TEST(where_the_ids_are_not_found_that_is_said)
{
	make_12(1);
	memory.states[1][17]++;
	ck_assert_str_eq(
		python_thread_start(memory.states[1], true), "its threads' ids were not found");
	memory.states[1][17]--;
	memory.states[1][18]++;
	ck_assert_str_eq(
		python_thread_start(memory.states[1], true), "its threads' ids were not found");
}
END_TEST

START_TEST(a_forked_child_begins_at_the_state_of_its_only_thread)
{
	make_12(1);
	memory.states[1][2]++; /* has gone with its thread */
	ck_assert_ptr_null(frames_of(OTHER_TID, 0));
	python_thread_forget(memory.states[0]);
	check(frames_of(OTHER_TID, 0), 1, 0);
	python_thread_forget(NULL);
	ck_assert_ptr_null(frames_of(OTHER_TID, 0));
}
END_TEST

/* ---- threads that run ---- */

static struct python_stack stack;
static struct {
	uint32_t tid;
	uintptr_t state;
} known[8];
static uint32_t nr_known;

static void know_thread(void *unused, uint32_t tid, uintptr_t state)
{
	(void)unused;
	known[nr_known].tid = tid;
	known[nr_known++].state = state;
}

static const struct python_sampler *have_sampler(void)
{
	const struct python_sampler *sampler;

	python_thread_init();
	sampler = python_sampler;
	return sampler;
}

static enum python_read read_of(uint32_t tid, size_t state)
{
	return have_sampler()->read(tid, (uintptr_t)memory.states[state], &stack);
}

START_TEST(each_thread_is_known_with_its_state)
{
	make_12(3);
	nr_known = 0;
	have_sampler()->each_thread(know_thread, NULL);
	ck_assert_uint_eq(nr_known, NR_STATES);
	for (uint32_t i = 0; i < nr_known; i++) {
		size_t at =
			(known[i].state - (uintptr_t)memory.states[0]) / sizeof(memory.states[0]);

		ck_assert_uint_eq(known[i].tid,
			at == 1 ? (uint32_t)syscall(SYS_gettid) : OTHER_TID + (uint32_t)at);
	}
}
END_TEST

/* The last one of each number counts. */
START_TEST(a_new_state_that_has_its_makers_number_comes_before_that_of_the_maker)
{
	uintptr_t last = 0;

	make_12(3);
	memory.states[2][18] = OTHER_TID; /* that of 0; runs no Python yet */
	nr_known = 0;
	have_sampler()->each_thread(know_thread, NULL);
	ck_assert_uint_eq(nr_known, NR_STATES);
	for (uint32_t i = 0; i < nr_known; i++) {
		last = known[i].tid == OTHER_TID ? known[i].state : last;
	}
	ck_assert_uint_eq(last, (uintptr_t)memory.states[0]);
}
END_TEST

START_TEST(what_lies_in_the_state_of_the_interpreter_is_its_lock)
{
	uintptr_t address = (uintptr_t)_PyRuntime;

	ck_assert(have_sampler()->is_lock(address));
	ck_assert(have_sampler()->is_lock(address + sizeof(_PyRuntime) - 1));
	ck_assert(!have_sampler()->is_lock(address - 1));
	ck_assert(!have_sampler()->is_lock(address + sizeof(_PyRuntime)));
	ck_assert(!have_sampler()->is_lock(0));
}
END_TEST

static void check_holder(enum python_held held, uint32_t tid, const void *state)
{
	uintptr_t have_state = 1;
	uint32_t have_tid = 1;

	ck_assert_int_eq(have_sampler()->holder(&have_tid, &have_state), held);
	ck_assert_uint_eq(have_tid, tid);
	ck_assert_uint_eq(have_state, (uintptr_t)state);
}

/* The lock's words are the interval, the last holder, whether it holds the lock, and how often. */
START_TEST(the_holder_of_the_lock_is_known)
{
	/* Across the end of what is read at once. */
	uintptr_t *lock = &_PyRuntime[510];

	make_12(3);
	check_holder(PYTHON_LOCK_UNKNOWN, 0, NULL);
	/* The list of threads, with one that Python has started, is much like it. */
	_PyRuntime[100] = 3;
	_PyRuntime[101] = (uintptr_t)memory.states[0];
	_PyRuntime[102] = 1;
	check_holder(PYTHON_LOCK_UNKNOWN, 0, NULL);
	lock[0] = 5000;
	lock[1] = (uintptr_t)memory.states[2];
	lock[2] = 1;
	lock[3] = 7;
	_PyRuntime[103] = 1 << 20; /* the size of its stacks: now they are alike */
	check_holder(PYTHON_LOCK_UNKNOWN, 0, NULL);
	_PyRuntime[104] = (uintptr_t)_PyRuntime;
	_PyRuntime[110] = 3;
	_PyRuntime[111] = (uintptr_t)memory.states[0];
	_PyRuntime[113] = (uintptr_t)memory.states[2]; /* as in 3.14 */
	/* The state of the main thread is there, too. */
	_PyRuntime[200] = 4300;
	_PyRuntime[201] = (uintptr_t)memory.states[0];
	_PyRuntime[203] = memory.states[0][2];
	check_holder(PYTHON_LOCK_HELD, OTHER_TID + 2, memory.states[2]);
	lock[2] = 0;
	check_holder(PYTHON_LOCK_FREE, 0, NULL);
	lock[2] = 1;
	lock[0] = 0; /* is not looked at any more */
	lock[1] = (uintptr_t)memory.states[0];
	check_holder(PYTHON_LOCK_HELD, OTHER_TID, memory.states[0]);
	lock[1] = (uintptr_t)&lock[4]; /* no state */
	check_holder(PYTHON_LOCK_HELD, 0, &lock[4]);
	lock[1] = 16; /* nothing is there */
	check_holder(PYTHON_LOCK_HELD, 0, (void *)16);
	memset(_PyRuntime, 0, sizeof(_PyRuntime));
}
END_TEST

/* Up to 3.10 the C library knows the thread's number. */
START_TEST(threads_of_old_versions_are_known_by_the_c_library)
{
	make_10();
	nr_known = 0;
	have_sampler()->each_thread(know_thread, NULL);
	ck_assert_uint_eq(nr_known, 1);
	ck_assert_uint_eq(known[0].tid, (uint32_t)syscall(SYS_gettid));
	ck_assert_int_eq(read_of(known[0].tid, 1), PYTHON_READ_STACK);
	ck_assert_uint_eq(stack.nr, 1);
	memory.frames[0][0] = 0; /* among the free ones */
	ck_assert_int_eq(read_of(known[0].tid, 1), PYTHON_READ_TORN);
}
END_TEST

START_TEST(a_stack_of_a_running_thread_is_read_or_torn_or_of_another_thread)
{
	struct python_names names;

	make_12(3);
	ck_assert_int_eq(read_of(OTHER_TID, 0), PYTHON_READ_STACK);
	ck_assert_uint_eq(stack.nr, 3);
	ck_assert(!stack.is_cut);
	ck_assert_uint_eq(stack.frames[0].first_line, 7);
	ck_assert(have_sampler()->name(&stack.frames[0], &names));
	ck_assert_str_eq(names.function, "step");
	ck_assert_str_eq(names.file, "train.py");
	ck_assert_uint_eq(names.line, 7);
	ck_assert_int_eq(read_of(OTHER_TID + 1, 0), PYTHON_READ_GONE);
	ck_assert_int_eq(read_of(OTHER_TID + 2, 2), PYTHON_READ_STACK); /* runs no Python */
	ck_assert_uint_eq(stack.nr, 0);
	put_word(memory.code, 8, 0x1234); /* no code any more */
	ck_assert_int_eq(read_of(OTHER_TID, 0), PYTHON_READ_TORN);
	ck_assert(!have_sampler()->name(&stack.frames[0], &names));
	memory.frames[0][1] = 8; /* unreadable */
	ck_assert_int_eq(read_of(OTHER_TID, 0), PYTHON_READ_TORN);
}
END_TEST

START_TEST(a_circle_of_frames_is_a_cut_stack)
{
	make_12(3);
	memory.frames[2][1] = (uintptr_t)memory.frames[0];
	ck_assert_int_eq(read_of(OTHER_TID, 0), PYTHON_READ_STACK);
	ck_assert_uint_eq(stack.nr, PYTHON_STACK_MAX);
	ck_assert(stack.is_cut);
}
END_TEST

/* Of an interpreter as make_12() and make_10() leave it, but for what they learn. */
static bool finds(const char *its_version, size_t id_at)
{
	memset(&memory, 0, sizeof(memory));
	version = its_version;
	make_states(id_at);
	return have_sampler()->find();
}

START_TEST(an_interpreter_is_found_from_outside_once_it_has_begun)
{
	ck_assert(!finds("3.12.1 (main)", 17));
	interpreter = (void *)INTERPRETER;
	ck_assert(finds("3.12.1 (main)", 17));
	ck_assert_int_eq(read_of(OTHER_TID + 2, 2), PYTHON_READ_STACK);
	nr_known = 0;
	have_sampler()->each_thread(know_thread, NULL);
	ck_assert_uint_eq(nr_known, NR_STATES);
}
END_TEST

START_TEST(an_old_interpreter_is_found_from_outside_by_the_c_library)
{
	interpreter = (void *)INTERPRETER;
	ck_assert(finds("3.10.4 (main)", 22));
	make_10();
	ck_assert_int_eq(read_of((uint32_t)syscall(SYS_gettid), 1), PYTHON_READ_STACK);
	ck_assert_uint_eq(stack.nr, 1);
}
END_TEST

START_TEST(an_interpreter_of_an_unknown_version_is_not_read)
{
	interpreter = (void *)INTERPRETER;
	ck_assert(!finds("3.99.0", 17));
	version = "3.12.1"; /* that was the answer */
	ck_assert(!have_sampler()->find());
}
END_TEST

START_TEST(threads_that_are_not_the_interpreters_are_not_taken_for_them)
{
	interpreter = (void *)INTERPRETER;
	for (uint32_t i = 0; i < 20; i++) {
		memset(&memory, 0, sizeof(memory)); /* no ids */
		version = "3.12.1";
		ck_assert(!have_sampler()->find());
	}
	ck_assert(!finds("3.12.1", 17)); /* it is looked for ten times */
}
END_TEST

START_TEST(what_was_tried_and_found_wrong_is_not_looked_for)
{
	interpreter = (void *)INTERPRETER;
	python_thread_refuse();
	ck_assert(!finds("3.12.1", 17));
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {each_thread_is_known_with_its_state,
		a_new_state_that_has_its_makers_number_comes_before_that_of_the_maker,
		what_lies_in_the_state_of_the_interpreter_is_its_lock,
		the_holder_of_the_lock_is_known, threads_of_old_versions_are_known_by_the_c_library,
		a_stack_of_a_running_thread_is_read_or_torn_or_of_another_thread,
		a_circle_of_frames_is_a_cut_stack, frames_are_told_of_the_thread_with_that_id_alone,
		of_many_frames_the_outer_ones_are_counted,
		up_to_3_10_threads_are_known_by_their_own_memory_and_the_first_by_its_id,
		what_is_not_as_it_should_be_tells_nothing, the_list_may_have_any_length,
		where_the_ids_are_not_found_that_is_said,
		a_forked_child_begins_at_the_state_of_its_only_thread,
		an_interpreter_is_found_from_outside_once_it_has_begun,
		an_old_interpreter_is_found_from_outside_by_the_c_library,
		an_interpreter_of_an_unknown_version_is_not_read,
		threads_that_are_not_the_interpreters_are_not_taken_for_them,
		what_was_tried_and_found_wrong_is_not_looked_for};
	char from = 1, to = 0;

	if (safe_read(&to, (uintptr_t)&from, 1) && to) {
		return unit_make("python_thread", tests, sizeof(tests) / sizeof(tests[0]));
	}
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		unit_skip(tests[i]->name, "no process_vm_readv, as under qemu");
	}
	return unit_make("python_thread", NULL, 0);
}
