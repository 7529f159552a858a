/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file stays open as long as its thread lives: to open one, even at a high number, takes a low
 * number for an instant, and the target may rely on these.
 */
#include "collector/sample/thread_cpu.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/format/format.h"
#include "collector/ring/ring.h"
#include "collector/sample/thread_place.h"
#include "collector/stream/batch.h"
#include "collector/util/log.h"
#include "collector/util/notice.h"
#include "collector/util/private_fd.h"

/* The first one is of the process's first thread. */
#define NR_WATCHED 9u

struct watched {
	struct private_fd file;
	uint32_t thread;	  /* 0: none */
	bool is_seen;		  /* in this look */
	uint64_t cpu_ns, wait_ns; /* in its last row */
	struct thread_place place;
};

static struct thread_cpu_state {
	struct watched all[NR_WATCHED];
	uint32_t pid;	   /* 0: nothing was started, and no file is open */
	unsigned int turn; /* the thread with the last look at a frequency */
} state;

/* No files: unknown. */
static const struct watched none = {
	.file = {.fd = -1},
	.place = {.stat = {.fd = -1}, .sched = {.fd = -1}},
};

/* Without such a file, the thread is watched in vain. */
static void open_files(struct watched *watched, uint32_t tid)
{
	char task[48], path[64];

	log_format(task, sizeof(task), "/proc/self/task/%u", tid);
	/* /proc may number processes as another namespace does; of the first thread that matters
	 * not. */
	log_format(path, sizeof(path), "%s/schedstat", tid == state.pid ? "/proc/self" : task);
	private_fd_open(&watched->file, path, O_RDONLY, PRIVATE_FD_HIGH);
	thread_place_open(&watched->place, task);
}

void thread_cpu_init(void)
{
	memset(&state, 0, sizeof(state));
	for (unsigned int i = 0; i < NR_WATCHED; i++) {
		state.all[i] = none;
	}
	state.pid = (uint32_t)getpid();
	open_files(&state.all[0], state.pid);
}

static void stop_watching(struct watched *watched)
{
	private_fd_close(&watched->file);
	thread_place_close(&watched->place);
	*watched = none;
}

void thread_cpu_forget(void)
{
	for (unsigned int i = 0; i < NR_WATCHED && state.pid; i++) {
		stop_watching(&state.all[i]);
	}
	state.pid = 0;
}

bool thread_cpu_read(const char *text, uint64_t *cpu_ns, uint64_t *wait_ns)
{
	char *end;

	*cpu_ns = strtoull(text, &end, 10);
	if (end == text || *end != ' ') {
		return false;
	}
	text = end + 1;
	*wait_ns = strtoull(text, &end, 10);
	return end != text && *end == ' ';
}

static struct watched *watch(struct watched *watched, const struct ring_thread *thread)
{
	watched->thread = thread->id;
	open_files(watched, thread->tid);
	return watched;
}

static void report_no_room(const struct ring_thread *thread)
{
	static atomic_uint told_in;

	if (thread->has_launched && notice_is_first(&told_in)) {
		notice_add("threads without waits for a CPU", 0,
			"waits for a CPU of thread %u and perhaps others are missing: more than 8 "
			"threads beside the first one launch work",
			thread->tid);
	}
}

/* Returns NULL for a thread that is not watched. */
static struct watched *find(const struct ring_thread *thread)
{
	struct watched *unused = NULL;

	if (thread->tid == state.pid) {
		state.all[0].thread = thread->id;
		return &state.all[0];
	}
	for (unsigned int i = 1; i < NR_WATCHED && thread->has_launched; i++) {
		if (state.all[i].thread == thread->id) {
			return &state.all[i];
		}
		unused = !unused && !state.all[i].thread ? &state.all[i] : unused;
	}
	if (!unused) {
		report_no_room(thread);
		return NULL;
	}
	return watch(unused, thread);
}

static void take(struct watched *watched, uint64_t raw)
{
	struct gprof_row_thread_cpu *row;
	uint64_t cpu_ns, wait_ns;
	char text[96];

	watched->is_seen = true;
	if (!private_fd_read(&watched->file, text, sizeof(text)) ||
		!thread_cpu_read(text, &cpu_ns, &wait_ns) ||
		(cpu_ns == watched->cpu_ns && wait_ns == watched->wait_ns)) {
		return;
	}
	watched->cpu_ns = cpu_ns;
	watched->wait_ns = wait_ns;
	row = batch_add(GPROF_TABLE_thread_cpu);
	row->time = raw;
	row->cpu_ns = cpu_ns;
	row->wait_ns = wait_ns;
	row->thread = watched->thread;
	row->known = watched->place.known;
	row->cpu = watched->place.cpu;
	row->cpu_khz = watched->place.cpu_khz;
	row->migrations = watched->place.migrations;
	row->major_faults = watched->place.major_faults;
}

void thread_cpu_take(uint64_t raw)
{
	for (struct ring_thread *thread = ring_next_thread(NULL); thread && state.pid;
		thread = ring_next_thread(thread)) {
		struct watched *watched = find(thread);

		if (watched) {
			take(watched, raw);
		}
	}
	for (unsigned int i = 1; i < NR_WATCHED; i++) {
		if (state.all[i].thread && !state.all[i].is_seen) {
			stop_watching(&state.all[i]);
		}
		state.all[i].is_seen = false;
	}
}

void thread_cpu_look_at_places(void)
{
	unsigned int next = state.turn + 1;

	for (unsigned int i = 0; i < NR_WATCHED && state.pid; i++) {
		if (state.all[i].thread) {
			thread_place_look(&state.all[i].place);
		}
	}
	for (unsigned int i = 0; i < NR_WATCHED && state.pid; i++, next++) {
		if (state.all[next % NR_WATCHED].thread) {
			state.turn = next % NR_WATCHED;
			thread_place_look_at_frequency(&state.all[state.turn].place);
			break;
		}
	}
}
