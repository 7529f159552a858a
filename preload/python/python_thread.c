/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drain calls read_frames() for a thread that hangs. It walks the interpreter's list of thread
 * states, in both directions, from one that python_thread_start() has noted, to the state of that
 * thread, and then its frames. For CPU samples it walks the list rarely (each_thread), and reads
 * the frames of a state that it knows (read_stack).
 */
#include "preload/python/python_thread.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/ring/python_frames.h"
#include "collector/ring/ring.h"
#include "collector/util/notice.h"
#include "preload/base/modules.h"
#include "preload/python/python.h"
#include "preload/python/python_frame.h"
#include "preload/python/python_lock.h"

/* The head of a thread state, in 3.8 to 3.15; its ids follow later, in its first words. */
enum { PREVIOUS, NEXT, INTERPRETER, FIRST_ID };
#define STATE_WORDS 40u

#define MAX_WALK 1024u /* frames; a chain that changes while it is read may become a circle */

/* The C library's descriptor of a thread, at pthread_self(), has the kernel's id so near. */
#define DESCRIPTOR_BYTES 2048u

/* Where Python is read from outside: looks at its threads, until its main thread is found. */
#define MAX_LOOKS 10u
/* A thread that took the lock last may have ended. Then it is not found until another takes it. */
#define MAX_SEEKS 50u

/* A stack that changes while it is read is read again. */
#define NR_TRIES 3u

static struct python_threads {
	uint32_t id_at;	 /* the word of a thread state that is its thread's pthread_self() */
	bool has_tid;	 /* from 3.11 on the kernel's id is the next one */
	uint32_t tid_at; /* else the bytes from a thread's pthread_self() to it; 0: unknown */
	uintptr_t interpreter, code_type, str_type;
	ptrdiff_t to_self; /* from a thread's pthread_self() to its ring_tls, in all threads */
	/* A state that lives as long as the interpreter, and its thread. */
	uintptr_t known;
	uintptr_t known_thread;
	uint32_t known_tid;
} threads;

void *(*python_thread_state)(void);

/* Functions of the interpreter that the drain has found from outside, and how often it looked. */
static struct {
	const char *(*Py_GetVersion)(void);
	void *(*PyInterpreterState_Main)(void);
	void *(*PyInterpreterState_ThreadHead)(void *interpreter);
	void *(*thread_state)(void);
	uint64_t nr_added; /* objects, at the last look for it */
	uint32_t nr_looks; /* at its threads */
	uintptr_t lock;	   /* where its lock is, 0: not found */
	uint32_t nr_seeks; /* for that */
	atomic_bool is_refused;
} outside;

/* The result; for the drain thread. */
static struct python_frames frames;
static struct {
	char file[PYTHON_UTF8_BYTES], function[PYTHON_UTF8_BYTES];
} texts[PYTHON_FRAMES_MAX];

/* ---- the interpreter's list ---- */

static bool read_state(uintptr_t words[STATE_WORDS], uintptr_t at)
{
	return python_peek(words, at, (threads.id_at + 2) * sizeof(*words)) &&
	       words[INTERPRETER] == threads.interpreter;
}

static bool is_of(const uintptr_t *state, uint32_t tid, uintptr_t thread)
{
	return threads.has_tid ? state[threads.id_at + 1] == tid
			       : thread && state[threads.id_at] == thread;
}

/*
 * Finds the innermost frame of a thread, whose state is in the list after the known one. The list
 * may become a circle if it changes while it is read. To notice that, it remembers the state at the
 * last power of two.
 */
static uintptr_t find_top(uint32_t way, uint32_t tid, uintptr_t thread)
{
	uintptr_t words[STATE_WORDS], at = threads.known, kept = 0;

	for (uint64_t i = 1; at && at != kept && read_state(words, at); i++) {
		/* Up to 3.10 a new state has its maker's id at first, and no frame. */
		uintptr_t top = is_of(words, tid, thread) ? python_frame_top((void *)at) : 0;

		if (top) {
			return top;
		}
		kept = i & (i - 1) ? kept : at;
		at = words[way];
	}
	return 0;
}

static uintptr_t find_frames(uint32_t tid, uintptr_t self)
{
	uintptr_t thread = self			      ? self - (uintptr_t)threads.to_self
			   : tid == threads.known_tid ? threads.known_thread
						      : 0;
	uintptr_t top = find_top(PREVIOUS, tid, thread);

	return top ? top : find_top(NEXT, tid, thread);
}

/* ---- a stack ---- */

static bool read_text(char utf8[PYTHON_UTF8_BYTES], uintptr_t str)
{
	struct python_text text;

	if (!python_has_type(str, threads.str_type) || !python_text_read(&text, str)) {
		return false;
	}
	python_text_utf8(&text, utf8);
	return true;
}

static bool add_frame(const struct python_frame *frame)
{
	uint32_t i = frames.nr;

	if (i == PYTHON_FRAMES_MAX) {
		frames.nr_more++;
		return true;
	}
	if (!python_has_type(frame->code, threads.code_type) ||
		!read_text(texts[i].file, frame->file) ||
		!read_text(texts[i].function, frame->name)) {
		return false;
	}
	frames.all[i].file = texts[i].file;
	frames.all[i].function = texts[i].function;
	frames.all[i].line = python_point_line(&frame->point);
	frames.nr++;
	return true;
}

static const struct python_frames *read_frames(uint32_t tid, uintptr_t self)
{
	uintptr_t at = find_frames(tid, self);

	frames.nr = frames.nr_more = 0;
	for (uint32_t i = 0; at && i < MAX_WALK; i++) {
		struct python_frame frame;

		if (!python_frame_read(&frame, at) || (frame.code && !add_frame(&frame))) {
			return NULL;
		}
		at = frame.next;
	}
	frames.has_rest = at != 0;
	return frames.nr ? &frames : NULL;
}

/* ---- threads that run ---- */

/* Returns the kernel's id of the thread with that state, 0 if unknown. */
static uint32_t tid_of(const uintptr_t *state)
{
	uint32_t tid = 0;

	if (threads.has_tid) {
		return (uint32_t)state[threads.id_at + 1];
	}
	return threads.tid_at &&
			       python_peek(&tid, state[threads.id_at] + threads.tid_at, sizeof(tid))
		       ? tid
		       : 0;
}

/* As find_top(), those with frames, or those without. */
static void each_way(uint32_t way, uintptr_t at, bool has_frames,
	void (*on_thread)(void *context, uint32_t tid, uintptr_t state), void *context)
{
	uintptr_t words[STATE_WORDS], kept = 0;

	for (uint64_t i = 1; at && at != kept && read_state(words, at); i++) {
		uint32_t tid = tid_of(words);

		if (tid && (python_frame_top((void *)at) != 0) == has_frames) {
			on_thread(context, tid, at);
		}
		kept = i & (i - 1) ? kept : at;
		at = words[way];
	}
}

/*
 * A new state has its maker's id, until its own thread runs. So those with frames come last, and
 * count; up to 3.10, where their ids are found with their frames, alone.
 */
static void each_thread(
	void (*on_thread)(void *context, uint32_t tid, uintptr_t state), void *context)
{
	uintptr_t next = 0;

	python_peek(&next, threads.known + NEXT * sizeof(next), sizeof(next));
	for (uint32_t pass = threads.has_tid ? 0 : 1; pass < 2; pass++) {
		each_way(PREVIOUS, threads.known, pass, on_thread, context);
		each_way(NEXT, next, pass, on_thread, context);
	}
}

static bool walk(uintptr_t at, struct python_stack *stack)
{
	stack->nr = 0;
	for (uint32_t i = 0; at && i < MAX_WALK && stack->nr < PYTHON_STACK_MAX; i++) {
		struct python_frame frame;

		if (!python_frame_read(&frame, at) ||
			(frame.code && frame.type != threads.code_type)) {
			return false;
		}
		if (frame.code) {
			stack->frames[stack->nr++] = (struct python_point_at){frame.code,
				frame.file, frame.name, frame.point.lines, frame.point.first_line,
				frame.point.offset};
		}
		at = frame.next;
	}
	stack->is_cut = at != 0;
	return true;
}

static enum python_read read_stack(uint32_t tid, uintptr_t state, struct python_stack *stack)
{
	enum python_read result = PYTHON_READ_TORN;
	uintptr_t words[STATE_WORDS];

	for (uint32_t i = 0; i < NR_TRIES && result == PYTHON_READ_TORN; i++) {
		python_pages_begin();
		if (!read_state(words, state) || tid_of(words) != tid) {
			result = PYTHON_READ_GONE;
		} else if (walk(python_frame_top((void *)state), stack)) {
			result = PYTHON_READ_STACK;
		}
	}
	python_pages_end();
	return result;
}

static bool read_names(const struct python_point_at *at, struct python_names *names)
{
	struct python_point point = {at->lines, at->first_line, at->offset};

	if (!python_has_type(at->code, threads.code_type) || !read_text(texts[0].file, at->file) ||
		!read_text(texts[0].function, at->name)) {
		return false;
	}
	*names = (struct python_names){texts[0].file, texts[0].function, python_point_line(&point)};
	return true;
}

/* ---- from outside ---- */

/* Looks for the kernel's id of this thread in its descriptor. */
static uint32_t find_tid_at(void)
{
	uintptr_t self = (uintptr_t)pthread_self();
	uint32_t half, tid = (uint32_t)syscall(SYS_gettid);

	for (uint32_t at = 0; at < DESCRIPTOR_BYTES; at += sizeof(half)) {
		if (!python_peek(&half, self + at, sizeof(half))) {
			return 0;
		}
		if (half == tid) {
			return at;
		}
	}
	return 0;
}

/* Is that word the pthread_self() of the thread with that kernel id? */
static bool is_descriptor(uintptr_t word, uint32_t tid, uint32_t tid_at)
{
	uint32_t half;

	return tid_at && word && python_peek(&half, word + tid_at, sizeof(half)) && half == tid;
}

/* Is it the state of the main thread? Then it is the known one. */
static bool know_main(const uintptr_t *words, uintptr_t at, uint32_t tid_at)
{
	uint32_t tid = (uint32_t)getpid();

	for (uint32_t i = FIRST_ID; i < STATE_WORDS - 1; i++) {
		if ((!threads.has_tid || words[i + 1] == tid) &&
			is_descriptor(words[i], tid, tid_at)) {
			threads.known = at;
			threads.known_thread = words[i];
			threads.known_tid = tid;
			threads.tid_at = threads.has_tid ? 0 : tid_at;
			threads.id_at = i;
			return true;
		}
	}
	return false;
}

/* Looks for the main thread's state in the interpreter's list; false if it is not there. */
static bool find_main(uintptr_t at)
{
	uint32_t tid_at = find_tid_at();
	uintptr_t words[STATE_WORDS];

	for (uint32_t i = 0; at && i < MAX_WALK && python_peek(words, at, sizeof(words)) &&
			     words[INTERPRETER] == threads.interpreter;
		i++) {
		if (know_main(words, at, tid_at)) {
			return true;
		}
		at = words[NEXT];
	}
	return false;
}

static bool look_for_symbols(const struct module *module, void *unused)
{
	const struct elf *elf = &module->elf;

	(void)unused;
	if (!module->has_symbols) {
		return false;
	}
	/* Other interpreters than CPython lack the second; their functions may do anything. */
	*(void **)&outside.Py_GetVersion = elf_find(elf, "Py_GetVersion");
	if (!outside.Py_GetVersion || !elf_find(elf, "_PyRuntime")) {
		outside.Py_GetVersion = NULL;
		return false;
	}
	*(void **)&outside.PyInterpreterState_Main = elf_find(elf, "PyInterpreterState_Main");
	*(void **)&outside.PyInterpreterState_ThreadHead =
		elf_find(elf, "PyInterpreterState_ThreadHead");
	*(void **)&outside.thread_state = elf_find(elf, "PyGILState_GetThisThreadState");
	threads.code_type = (uintptr_t)elf_find(elf, "PyCode_Type");
	threads.str_type = (uintptr_t)elf_find(elf, "PyUnicode_Type");
	return true;
}

static void note_count(const struct modules_count *count, void *nr_added)
{
	*(uint64_t *)nr_added = count->nr_added;
}

/* Looks for the interpreter among the objects, if there are new ones. */
static bool has_symbols(void)
{
	uint64_t nr_added = 0;

	if (outside.Py_GetVersion) {
		return true;
	}
	modules_hold(note_count, &nr_added);
	if (nr_added == outside.nr_added) {
		return false;
	}
	outside.nr_added = nr_added;
	return modules_each(look_for_symbols, NULL);
}

static void refuse(const char *why)
{
	const char *version = outside.Py_GetVersion();

	atomic_store(&outside.is_refused, true);
	notice_add("no Python stacks of CPU samples", 0,
		"Python %.*s: %s; CPU samples have native stacks alone", (int)strcspn(version, " "),
		version, why);
}

static bool is_as_known(void)
{
	if (!outside.PyInterpreterState_Main || !outside.PyInterpreterState_ThreadHead ||
		!threads.code_type || !threads.str_type) {
		refuse("it lacks functions that 3.8 and later have");
	} else if (!python_frame_init(outside.Py_GetVersion())) {
		refuse(PYTHON_UNKNOWN_VERSION);
	}
	return !atomic_load(&outside.is_refused);
}

/* The first two functions of the interpreter read one pointer each; none takes a lock. */
static bool find(void)
{
	void *interpreter;
	uintptr_t head;

	if (threads.id_at || atomic_load(&outside.is_refused) || !has_symbols()) {
		return threads.id_at != 0;
	}
	if (!is_as_known()) {
		return false;
	}
	interpreter = outside.PyInterpreterState_Main();
	head = interpreter ? (uintptr_t)outside.PyInterpreterState_ThreadHead(interpreter) : 0;
	if (!head) {
		return false; /* it has not begun */
	}
	threads.has_tid = python_frame_minor() >= 11;
	threads.interpreter = (uintptr_t)interpreter;
	if (find_main(head)) {
		python_thread_state =
			python_thread_state ? python_thread_state : outside.thread_state;
		return true;
	}
	if (++outside.nr_looks == MAX_LOOKS) {
		refuse("its main thread was not found");
	}
	return false;
}

/* The interpreter is there by now. */
static bool is_lock(uint64_t address)
{
	static bool was_looked_for;

	if (!was_looked_for) {
		was_looked_for = true;
		python_lock_find();
	}
	return python_lock_is(address);
}

static bool is_state(uintptr_t at)
{
	uintptr_t words[STATE_WORDS];

	return read_state(words, at);
}

static bool find_lock(void)
{
	static atomic_uint told_in;

	if (!outside.lock && outside.nr_seeks < MAX_SEEKS) {
		outside.nr_seeks++;
		is_lock(0); /* finds the interpreter's variables */
		outside.lock = python_lock_seek(is_state);
	}
	if (!outside.lock && outside.nr_seeks == MAX_SEEKS && notice_is_first(&told_in)) {
		notice_add("Python's lock was not found", 0,
			"gprof does not know who holds Python's lock (GIL): view gil-holders is "
			"empty, and waits for the lock do not say who holds it");
	}
	return outside.lock != 0;
}

static enum python_held find_holder(uint32_t *tid, uintptr_t *state)
{
	uintptr_t words[STATE_WORDS];

	*tid = 0;
	*state = 0;
	if (!find_lock() || !python_lock_read(outside.lock, state)) {
		return PYTHON_LOCK_UNKNOWN;
	}
	if (*state && read_state(words, *state)) {
		*tid = tid_of(words);
	}
	return *state ? PYTHON_LOCK_HELD : PYTHON_LOCK_FREE;
}

static const struct python_sampler sampler = {
	find, each_thread, read_stack, read_names, is_lock, find_holder};

void python_thread_init(void)
{
	atomic_store_explicit(&python_sampler, &sampler, memory_order_release);
}

void python_thread_refuse(void)
{
	atomic_store(&outside.is_refused, true);
}

/* ---- in ---- */

static void know(const void *thread_state)
{
	threads.known = (uintptr_t)thread_state;
	threads.known_thread = (uintptr_t)pthread_self();
	threads.known_tid = (uint32_t)syscall(SYS_gettid);
}

/*
 * The offset of a thread's id in its state differs between versions: it is where the state of this
 * thread has this thread's id.
 */
const char *python_thread_start(const void *thread_state, bool has_hangs)
{
	uintptr_t words[STATE_WORDS];
	uint32_t at = FIRST_ID;

	threads.code_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
	threads.str_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyUnicode_Type");
	threads.has_tid = python_frame_minor() >= 11;
	know(thread_state);
	if (!python_peek(words, threads.known, sizeof(words))) {
		return "its threads cannot be read";
	}
	while (at < STATE_WORDS - 1 && words[at] != threads.known_thread) {
		at++;
	}
	if (at == STATE_WORDS - 1 || (threads.has_tid && words[at + 1] != threads.known_tid)) {
		return "its threads' ids were not found";
	}
	threads.id_at = at;
	threads.interpreter = words[INTERPRETER];
	threads.to_self = (ptrdiff_t)((uintptr_t)&ring_tls - threads.known_thread);
	threads.tid_at = threads.has_tid ? 0 : find_tid_at();
	if (has_hangs) {
		atomic_store_explicit(&python_frames_read, read_frames, memory_order_release);
	}
	return NULL;
}

void python_thread_forget(const void *thread_state)
{
	if (threads.id_at) {
		know(thread_state);
	}
}
