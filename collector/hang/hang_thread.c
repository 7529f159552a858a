/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where the threads of the process are: by the calls that they have marked, and by the
 * kernel.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/hang/hang.h"
#include "collector/ring/python_frames.h"
#include "collector/ring/ring.h"
#include "collector/ring/safe_read.h"
#include "collector/stream/batch.h"
#include "collector/stream/calls.h"
#include "collector/stream/dictionary.h"
#include "collector/util/clock.h"
#include "collector/util/dir.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"
#include "collector/util/target.h"

/* Rows of threads that are in no call, in the order of the kernel's list; others are counted. */
#define MAX_IDLE 256u

_Atomic(python_frames_reader) python_frames_read;

struct look {
	const struct gprof_row_hang *head;
	struct hang_call longest;
	uint32_t nr_idle;
	uint32_t own_tid;
	uint64_t counted_raw;
};

/* ---- as the kernel sees it ---- */

/* Reads the first line of a thread's file in /proc; "" if it cannot be read. */
static void read_line(char *out, size_t out_bytes, uint32_t tid, const char *name)
{
	char path[64];

	log_format(path, sizeof(path), "/proc/self/task/%u/%s", tid, name);
	file_text_read(path, out, out_bytes);
	out[strcspn(out, "\n")] = 0;
}

struct switches {
	uint64_t nr;
	unsigned int nr_kinds;
	bool is_running;
};

static bool look_at_status(const char *line, void *data)
{
	static const char voluntary[] = "voluntary_ctxt_switches:",
			  forced[] = "nonvoluntary_ctxt_switches:";
	struct switches *switches = data;
	const char *value = strchr(line, '\t');

	if (value && !strncmp(line, "State:", 6)) {
		switches->is_running = value[1] == 'R';
	} else if (value && (!strncmp(line, voluntary, sizeof(voluntary) - 1) ||
				    !strncmp(line, forced, sizeof(forced) - 1))) {
		switches->nr += strtoull(value, NULL, 10);
		switches->nr_kinds++;
	}
	return switches->nr_kinds == 2;
}

/*
 * Returns how often the thread has gone off its CPU, if it is on none now and waits for none; else
 * 0.
 */
static uint64_t count_switches(uint32_t tid)
{
	struct switches switches = {0};
	char path[64];

	log_format(path, sizeof(path), "/proc/self/task/%u/status", tid);
	return file_text_find(path, '\n', look_at_status, &switches) && !switches.is_running
		       ? switches.nr
		       : 0;
}

/* As "python3: S in futex_wait_queue, system call 202". */
static uint32_t describe(uint32_t tid)
{
	char status[128], name[32], waits[64], call[128], text[300];
	const char *after;
	size_t n;

	read_line(name, sizeof(name), tid, "comm");
	read_line(status, sizeof(status), tid, "stat");
	read_line(waits, sizeof(waits), tid, "wchan");
	read_line(call, sizeof(call), tid, "syscall");
	after = strrchr(status, ')'); /* its name may hold anything */
	n = log_format(text, sizeof(text), "%s: %c", name, after && after[1] ? after[2] : '?');
	if (waits[0] && strcmp(waits, "0")) {
		n += log_format(text + n, sizeof(text) - n, " in %s", waits);
	}
	/* "running", -1 outside of system calls, or the number and more. */
	if (call[0] >= '0' && call[0] <= '9') {
		call[strcspn(call, " ")] = 0;
		n += log_format(text + n, sizeof(text) - n, ", system call %s", call);
	}
	return dictionary_text(text, n);
}

static uint32_t dictionary_string(const char *text)
{
	return dictionary_text(text, strlen(text));
}

/* ---- its calls ---- */

/*
 * Reads the calls that the thread has marked. Its memory may be unmapped, or belong to another
 * thread by now. During an update the two reads differ: such a thread is in no call for long.
 */
static bool read_calls(struct ring_tls *self, const struct ring_thread *thread)
{
	struct ring_tls again;

	return thread && safe_read(self, (uintptr_t)thread->self, sizeof(*self)) &&
	       safe_read(&again, (uintptr_t)thread->self, sizeof(again)) &&
	       self->thread == thread && self->id == thread->id &&
	       !memcmp(&self->cuda, &again.cuda, sizeof(again.cuda)) &&
	       !memcmp(&self->nccl, &again.nccl, sizeof(again.nccl));
}

static bool is_open(const struct ring_call *call)
{
	return call->name && call->since & 1;
}

static void add_row(struct look *look, const struct ring_thread *thread, uint32_t tid,
	const struct ring_call *call, uint32_t text)
{
	bool has_call = call && call->name;
	uint32_t name = has_call ? dictionary_string(call->name) : 0;
	struct gprof_row_hang *row = batch_slot(GPROF_TABLE_hang);

	*row = *look->head;
	row->item = GPROF_HANG_THREAD;
	row->thread = thread ? thread->id : 0;
	row->task = tid;
	row->name = name;
	row->text = text;
	row->since = has_call ? call->since >> 1 : row->tick;
	row->is_open = has_call && is_open(call);
	if (row->is_open && (!look->longest.name || row->since < look->longest.since)) {
		look->longest = (struct hang_call){call->name, row->since, tid};
	}
}

static const struct ring_thread *find_thread(uint32_t tid)
{
	const struct ring_thread *thread = ring_next_thread(NULL);

	while (thread && thread->tid != tid) {
		thread = ring_next_thread(thread);
	}
	return thread;
}

/* ---- calls that are only counted ---- */

/* A thread that polls goes in and out; one that hangs stays for longer than this. */
#define STAY_NS 100000000u

static bool is_counting(const struct ring_thread *thread, uint8_t *counting, uint64_t *nr)
{
	*counting = atomic_load(&thread->counting);
	*nr = *counting ? __atomic_load_n(&thread->counts[*counting - 1], __ATOMIC_RELAXED) : 0;
	return *counting != 0;
}

/* Notes who is in such a call, and gives them time to leave it. */
static void look_at_counting(struct look *look)
{
	struct ring_thread *thread = NULL;
	bool is_any = false;

	look->counted_raw = clock_raw();
	while ((thread = ring_next_thread(thread))) {
		is_any |= is_counting(thread, &thread->looked, &thread->nr_looked);
	}
	if (is_any) {
		target_pause(STAY_NS);
	}
}

/* The one that the thread has stayed in. */
static bool find_counted(
	const struct look *look, const struct ring_thread *thread, struct ring_call *call)
{
	uint8_t counting;
	uint64_t nr;

	if (!is_counting(thread, &counting, &nr) || counting != thread->looked ||
		nr != thread->nr_looked) {
		return false;
	}
	ring_call_begin(call, calls_name(calls_counted(counting - 1u)), look->counted_raw);
	return true;
}

/* ---- its frames ---- */

static uint32_t describe_rest(const struct python_frames *frames)
{
	char text[64];

	log_format(text, sizeof(text), "%u%s more frames", frames->nr_more,
		frames->has_rest ? " or" : "");
	return dictionary_string(text);
}

static void add_frame_rows(
	const struct python_frames *frames, const struct gprof_row_hang *thread_row)
{
	uint32_t nr_rows = frames->nr + (frames->nr_more != 0);

	for (uint32_t i = 0; i < nr_rows; i++) {
		struct gprof_row_hang *row = batch_slot(GPROF_TABLE_hang);

		*row = *thread_row;
		row->item = GPROF_HANG_FRAME;
		row->since = row->tick;
		if (i < frames->nr) {
			row->name = dictionary_string(frames->all[i].function);
			row->text = dictionary_string(frames->all[i].file);
			row->line = frames->all[i].line;
		} else {
			row->text = describe_rest(frames);
		}
	}
}

static bool is_same_open(const struct ring_call *before, const struct ring_call *now)
{
	return is_open(before) && !memcmp(before, now, sizeof(*now));
}

static bool is_in_same_call(const struct ring_thread *thread, const struct ring_tls *before)
{
	struct ring_tls now;

	return before && read_calls(&now, thread) &&
	       (is_same_open(&before->cuda, &now.cuda) || is_same_open(&before->nccl, &now.nccl));
}

/*
 * Adds the frames of the interpreter, if the thread has not moved during the read: it is in the
 * same call, which may spin, or off its CPU. `calls`: the state before, NULL if unknown.
 */
static void add_frames(const struct gprof_row_hang *head, const struct ring_thread *thread,
	uint32_t tid, const struct ring_tls *calls)
{
	python_frames_reader read = atomic_load_explicit(&python_frames_read, memory_order_acquire);
	uint64_t nr_switches = read ? count_switches(tid) : 0;
	const struct python_frames *frames =
		read ? read(tid, calls ? (uintptr_t)thread->self : 0) : NULL;
	struct gprof_row_hang row = *head;

	row.thread = thread ? thread->id : 0;
	row.task = tid;
	if (frames && (is_in_same_call(thread, calls) ||
			      (nr_switches && count_switches(tid) == nr_switches))) {
		add_frame_rows(frames, &row);
	}
}

/* ---- a thread ---- */

/*
 * Adds a row for each open call of a thread; for an idle one the last call that it made. Of idle
 * threads only the first MAX_IDLE have rows.
 */
static void look_at(struct look *look, uint32_t tid)
{
	const struct ring_thread *thread = find_thread(tid);
	struct ring_tls self;
	bool is_known = read_calls(&self, thread);
	bool is_idle = !is_known || (!is_open(&self.nccl) && !is_open(&self.cuda) &&
					    !find_counted(look, thread, &self.cuda));
	const struct ring_call *last = &self.cuda;
	uint32_t text;

	if (is_idle && look->nr_idle++ >= MAX_IDLE) {
		return;
	}
	text = describe(tid);

	/* A call of CUDA lies in that of NCCL, if both are open. */
	if (!is_idle && is_open(&self.nccl)) {
		add_row(look, thread, tid, &self.nccl, text);
	}
	if (!is_idle && is_open(&self.cuda)) {
		add_row(look, thread, tid, &self.cuda, text);
	}
	if (is_idle) {
		if (is_known && self.nccl.since > self.cuda.since) {
			last = &self.nccl;
		}
		add_row(look, thread, tid, is_known ? last : NULL, text);
	}
	add_frames(look->head, thread, tid, is_known ? &self : NULL);
}

/* A row of no thread: how many have none. */
static void add_rest(struct look *look)
{
	char text[64];
	size_t n;

	if (look->nr_idle > MAX_IDLE) {
		n = log_format(text, sizeof(text), "%u more threads are in no call",
			look->nr_idle - MAX_IDLE);
		add_row(look, NULL, 0, NULL, dictionary_text(text, n));
	}
}

/* ---- all of them ---- */

static bool is_open_since(const struct ring_call *call, uint64_t raw)
{
	return is_open(call) && call->since >> 1 <= raw;
}

bool hang_thread_is_in_call(uint64_t raw)
{
	const struct ring_thread *thread = NULL;
	struct ring_tls self;

	while ((thread = ring_next_thread(thread))) {
		if (read_calls(&self, thread) &&
			(is_open_since(&self.cuda, raw) || is_open_since(&self.nccl, raw))) {
			return true;
		}
	}
	return false;
}

static void look_at_entry(void *context, const char *name)
{
	struct look *look = context;
	uint32_t tid = (uint32_t)strtoull(name, NULL, 10);

	if (tid && tid != look->own_tid) {
		look_at(look, tid);
	}
}

struct hang_call hang_thread_add_rows(const struct gprof_row_hang *head)
{
	struct look look = {.head = head, .own_tid = (uint32_t)syscall(SYS_gettid)};

	look_at_counting(&look);
	dir_each("/proc/self/task", look_at_entry, &look);
	add_rest(&look);
	return look.longest;
}
