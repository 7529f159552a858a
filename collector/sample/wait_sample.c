/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that has not run since the last look still waits where it did then, so a long wait costs
 * one reading of a clock a look, and after a second one row a second: nothing that the thread does
 * lies in between. A look that finds a thread running or ready to run has no row.
 */
#include "collector/sample/wait_sample.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/format/codes.h"
#include "collector/format/format.h"
#include "collector/ring/ring.h"
#include "collector/sample/gil_sample.h"
#include "collector/sample/python_sample.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/util/fd_name.h"
#include "collector/util/log.h"
#include "collector/util/notice.h"
#include "collector/util/private_fd.h"

/* The process's first thread, and some that launch work. */
#define NR_WAITERS 9u
#define NAME_BYTES 16u
#define LONG_NS	   1000000000u
/* With its dot, an ending tells formats apart; what is longer is part of a name. */
#define ENDING_BYTES 8u

/* What a thread was found in. */
struct wait {
	uint8_t kind;
	uint32_t call, object, py_stack; /* ids */
	/* If it waits for Python's lock: the TID of the thread that holds it, and its stack's id.
	 */
	uint32_t holder, holder_stack;
};

struct waiter {
	uint32_t tid; /* 0: none */
	uintptr_t python;
	char name[NAME_BYTES];
	/* /proc/self/task/TID/syscall, opened once: that takes a low number for an instant. */
	struct private_fd file;
	uint64_t cpu_ns;    /* at the last look */
	uint64_t looked_ns; /* CLOCK_MONOTONIC of it; 0: the next look begins */
	bool is_seen, is_waiting;
	/* If it waits: */
	struct wait wait;
	uint64_t since_ns; /* CLOCK_MONOTONIC of the look that found it there */
	uint64_t owed_ns;  /* no row stands for it yet */
};

static struct wait_sample_state {
	struct waiter all[NR_WAITERS];
	uint32_t launching[NR_WAITERS]; /* tids */
	unsigned int nr_launching;	/* may be more than that */
	uint32_t era;			/* dictionary_era() when the ids of waits were made */
	struct python_stack stack;
} state;

/* ---- system calls ---- */

/* fd: which argument is the descriptor, -1: none. */
static const struct {
	long nr;
	uint8_t kind;
	int8_t fd;
	char name[18];
} calls[] = {
#define WAIT_CALL(name, kind, fd) {SYS_##name, GPROF_OS_##kind, fd, #name},
#include "collector/sample/wait_calls.def"
#undef WAIT_CALL
};
#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

bool wait_call_read(const char *text, struct wait_call *call)
{
	char *end;

	call->nr = (long)strtoull(text, &end, 10); /* "-1" too */
	if (end == text || *end != ' ') {
		return false; /* "running" */
	}
	for (unsigned int i = 0; i < 2; i++) {
		text = end;
		call->arguments[i] = strtoull(text, &end, 16);
		if (end == text) {
			return false;
		}
	}
	return true;
}

/* ---- names ---- */

/* "/data/0001.jpg" becomes "/data/" and "*.jpg". */
static size_t shorten_path(char *name, size_t nr_bytes, size_t room)
{
	static const char deleted[] = " (deleted)";
	size_t nr_deleted = sizeof(deleted) - 1, folder, ending, nr_ending;

	if (nr_bytes > nr_deleted && !memcmp(name + nr_bytes - nr_deleted, deleted, nr_deleted)) {
		nr_bytes -= nr_deleted;
	}
	for (folder = nr_bytes; name[folder - 1] != '/'; folder--) {
	}
	for (ending = nr_bytes; ending > folder && name[ending - 1] != '.'; ending--) {
	}
	nr_ending = nr_bytes - ending + 1; /* with the dot */
	if (ending <= folder + 1 || nr_ending > ENDING_BYTES) {
		nr_ending = 0; /* it has none, or is hidden */
	}
	if (folder + 1 + nr_ending > room) {
		return nr_bytes;
	}
	memmove(name + folder + 1, name + nr_bytes - nr_ending, nr_ending);
	name[folder] = '*';
	return folder + 1 + nr_ending;
}

size_t wait_shared_name(char *name, size_t nr_bytes, size_t room)
{
	static const char nameless[] = "anon_inode:";
	size_t length = sizeof(nameless) - 1;
	const char *bracket = memchr(name, '[', nr_bytes);

	if (nr_bytes && *name == '/') {
		return nr_bytes > 5 && !memcmp(name, "/dev/", 5)
			       ? nr_bytes
			       : shorten_path(name, nr_bytes, room);
	}
	if (nr_bytes > length && !memcmp(name, nameless, length)) {
		memmove(name, name + length, nr_bytes - length);
		return nr_bytes - length;
	}
	/* "pipe:[4711]", but not "[::1]:80". */
	return bracket && bracket > name && bracket[-1] == ':' && name[nr_bytes - 1] == ']'
		       ? (size_t)(bracket - 1 - name)
		       : nr_bytes;
}

static uint32_t object_of(int fd)
{
	char name[FD_NAME_BYTES];
	size_t nr_bytes = fd_name(name, fd);

	return dictionary_text(name, wait_shared_name(name, nr_bytes, sizeof(name)));
}

static struct wait name_wait(const struct python_sampler *python, const struct wait_call *call)
{
	struct wait wait = {.kind = GPROF_OS_UNKNOWN};
	char text[32];

	if (call->nr < 0) {
		wait.kind = GPROF_OS_FAULT;
		wait.call = dictionary_text("page fault", 10);
		return wait;
	}
	for (size_t i = 0; i < NR_CALLS; i++) {
		if (calls[i].nr != call->nr) {
			continue;
		}
		wait.kind = calls[i].kind;
		wait.call = dictionary_text(calls[i].name, strlen(calls[i].name));
		if (calls[i].fd >= 0) {
			wait.object = object_of((int)call->arguments[calls[i].fd]);
		}
		if (call->nr == SYS_futex && python && python->is_lock(call->arguments[0])) {
			wait.kind = GPROF_OS_GIL;
		}
		return wait;
	}
	wait.call =
		dictionary_text(text, log_format(text, sizeof(text), "system call %ld", call->nr));
	return wait;
}

/* ---- threads ---- */

static void stop(struct waiter *waiter)
{
	private_fd_close(&waiter->file);
	*waiter = (struct waiter){.file = {.fd = -1}};
}

void wait_sample_begin_threads(void)
{
	state.nr_launching = 0;
	for (struct ring_thread *thread = ring_next_thread(NULL); thread;
		thread = ring_next_thread(thread)) {
		if (thread->has_launched && state.nr_launching++ < NR_WAITERS) {
			state.launching[state.nr_launching - 1] = thread->tid;
		}
	}
}

static bool launches(uint32_t tid)
{
	struct ring_thread *thread = NULL;

	for (unsigned int i = 0; i < NR_WAITERS && i < state.nr_launching; i++) {
		if (state.launching[i] == tid) {
			return true;
		}
	}
	while (state.nr_launching > NR_WAITERS && (thread = ring_next_thread(thread))) {
		if (thread->tid == tid && thread->has_launched) {
			return true;
		}
	}
	return false;
}

static void report_no_room(uint32_t tid)
{
	static atomic_uint told_in;

	if (notice_is_first(&told_in)) {
		notice_add("threads without wait samples", 0,
			"what thread %u and perhaps others wait for is missing: more than 8 "
			"threads beside the first one launch work",
			tid);
	}
}

static struct waiter *find(uint32_t tid)
{
	struct waiter *unused = NULL;

	for (unsigned int i = 0; i < NR_WAITERS; i++) {
		if (state.all[i].tid == tid) {
			return &state.all[i];
		}
		unused = !unused && !state.all[i].tid ? &state.all[i] : unused;
	}
	return unused;
}

/* Whatever the kernel says of a thread that has ended meanwhile is no refusal. */
static void open_file(struct waiter *waiter)
{
	static atomic_uint told_in;
	char path[64];
	int rc;

	log_format(path, sizeof(path), "/proc/self/task/%u/syscall", waiter->tid);
	rc = private_fd_open(&waiter->file, path, O_RDONLY, PRIVATE_FD_HIGH);
	if (rc && waiter->tid == (uint32_t)getpid() && notice_is_first(&told_in)) {
		notice_add("no wait samples", -rc,
			"the kernel does not say what threads wait for (%s): view wait-lines is "
			"empty, and findings do not say where the loop waits",
			path);
	}
}

void wait_sample_thread(uint32_t tid, uintptr_t python, const char *name)
{
	struct waiter *waiter;

	if (!(python && tid == (uint32_t)getpid()) && !launches(tid)) {
		return;
	}
	waiter = find(tid);
	if (!waiter) {
		report_no_room(tid);
		return;
	}
	if (!waiter->tid) {
		*waiter = (struct waiter){.tid = tid, .file = {.fd = -1}};
		open_file(waiter);
	}
	waiter->python = python;
	waiter->is_seen = true;
	log_format(waiter->name, sizeof(waiter->name), "%s", name);
}

void wait_sample_forget(void)
{
	for (unsigned int i = 0; i < NR_WAITERS; i++) {
		if (state.all[i].tid) {
			stop(&state.all[i]);
		}
	}
}

/* ---- looks ---- */

/* The target may have closed the file with all others. */
static bool read_call(struct waiter *waiter, struct wait_call *call)
{
	bool was_open = waiter->file.fd >= 0;
	char text[160];

	private_fd_read(&waiter->file, text, sizeof(text));
	if (was_open && waiter->file.fd < 0) {
		open_file(waiter);
		private_fd_read(&waiter->file, text, sizeof(text));
	}
	return wait_call_read(text, call);
}

static uint32_t stack_id(const struct python_sampler *python, enum python_read result)
{
	return result == PYTHON_READ_STACK ? python_sample_add(python, &state.stack)
					   : GPROF_PY_STACK_NOT_READ;
}

/* By now, the waiting thread may have taken the lock itself. */
static void find_holder(
	const struct waiter *waiter, struct wait *wait, const struct python_sampler *python)
{
	struct gil_holder holder;

	if (gil_holder_find(python, &holder) == PYTHON_LOCK_HELD && holder.is_sure && holder.tid &&
		holder.tid != waiter->tid) {
		wait->holder = holder.tid;
		wait->holder_stack = holder.py_stack;
	}
}

/* The frames, and the name of a descriptor, are those of the call if the thread has not run. */
static bool find_wait(struct waiter *waiter, const struct python_sampler *python, uint64_t cpu_ns)
{
	enum python_read result;
	struct wait_call call;
	struct wait wait;

	if (!read_call(waiter, &call)) {
		return false;
	}
	result = waiter->python ? python->read(waiter->tid, waiter->python, &state.stack)
				: PYTHON_READ_GONE;
	wait = name_wait(python, &call);
	if (clock_thread_cpu_ns(waiter->tid) != cpu_ns) {
		return false;
	}
	wait.py_stack = python ? stack_id(python, result) : 0;
	if (wait.kind == GPROF_OS_GIL) {
		find_holder(waiter, &wait, python);
	}
	waiter->wait = wait;
	if (result == PYTHON_READ_GONE) {
		waiter->python = 0;
	}
	return true;
}

/* A row for what is owed, at that time of CLOCK_MONOTONIC. */
static void settle(struct waiter *waiter, const struct clock_anchor *now, uint64_t monotonic_ns)
{
	uint32_t name = dictionary_text(waiter->name, strlen(waiter->name));
	struct gprof_row_wait_sample *row;

	if (!waiter->owed_ns) {
		return;
	}
	row = batch_add(GPROF_TABLE_wait_sample);
	row->time = clock_raw_before(now, monotonic_ns);
	row->ns = waiter->owed_ns;
	row->task = waiter->tid;
	row->kind = waiter->wait.kind;
	row->syscall = waiter->wait.call;
	row->object = waiter->wait.object;
	row->name = name;
	row->py_stack = waiter->wait.py_stack;
	row->holder = waiter->wait.holder;
	row->holder_stack = waiter->wait.holder_stack;
	waiter->owed_ns = 0;
}

void wait_sample_end_threads(const struct clock_anchor *now)
{
	for (unsigned int i = 0; i < NR_WAITERS; i++) {
		struct waiter *waiter = &state.all[i];

		if (waiter->tid && !waiter->is_seen) {
			settle(waiter, now, waiter->looked_ns);
			stop(waiter);
		}
		waiter->is_seen = false;
	}
}

bool wait_sample_has_threads(void)
{
	for (unsigned int i = 0; i < NR_WAITERS; i++) {
		if (state.all[i].tid) {
			return true;
		}
	}
	return false;
}

static bool is_long(const struct waiter *waiter, uint64_t now_ns)
{
	return waiter->is_waiting && now_ns - waiter->since_ns >= LONG_NS;
}

static void look_at(struct waiter *waiter, const struct python_sampler *python,
	const struct clock_anchor *now, bool is_wanted)
{
	uint64_t cpu_ns = clock_thread_cpu_ns(waiter->tid), looked_ns = waiter->looked_ns;
	bool has_run = cpu_ns != waiter->cpu_ns;

	if (has_run || !is_wanted) {
		settle(waiter, now, looked_ns);
	}
	waiter->looked_ns = is_wanted ? now->monotonic_ns : 0;
	waiter->cpu_ns = cpu_ns;
	if (!is_wanted || !cpu_ns) {
		waiter->is_waiting = false;
		return;
	}
	if (has_run || !waiter->is_waiting) {
		waiter->is_waiting = find_wait(waiter, python, cpu_ns);
		waiter->since_ns = now->monotonic_ns;
	}
	if (waiter->is_waiting && looked_ns) {
		waiter->owed_ns += now->monotonic_ns - looked_ns;
		if (!is_long(waiter, now->monotonic_ns) || waiter->owed_ns >= LONG_NS) {
			settle(waiter, now, now->monotonic_ns);
		}
	}
}

uint64_t wait_sample_look(
	const struct python_sampler *python, const struct clock_anchor *now, bool is_wanted)
{
	bool is_new_stream = state.era != dictionary_era(), are_long = true;

	state.era = dictionary_era();
	for (unsigned int i = 0; i < NR_WAITERS; i++) {
		struct waiter *waiter = &state.all[i];

		waiter->is_waiting = waiter->is_waiting && !is_new_stream;
		if (waiter->tid) {
			look_at(waiter, python, now, is_wanted);
			are_long = are_long && is_long(waiter, now->monotonic_ns);
		}
	}
	return 1000000000u / (are_long ? WAIT_SAMPLE_SLOW_HZ : WAIT_SAMPLE_HZ);
}
