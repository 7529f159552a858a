/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hook of pthread_create gives a thread its parent (thread_began), its first row says who it is
 * (on_first_row, which ring.c calls), and the destructor of a key says that it has ended. Where a
 * key would make the C library allocate, the drain watches the thread instead. The last part finds
 * out whether the drain is the only thread left, after a main thread that called pthread_exit.
 */
#include "collector/thread.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/ring/ring.h"
#include "collector/util/clock.h"
#include "collector/util/dir.h"

/*
 * glibc keeps the values of this many keys in a thread's own memory; for later keys it allocates
 * them at the first use, with the program's malloc.
 */
#define NR_FREE_KEYS 32u

/* The links of /proc/PID/task: two of any directory's, and one for each thread. */
#define LINKS_OF_TWO 4u

static struct thread_state {
	bool has_key;
	pthread_key_t key;
} state COMPAT_AT_START;

static void emit(enum gprof_thread_what what, uint64_t tick, uint32_t parent, const char *name)
{
	struct gprof_row_thread row = {.tick = tick, .parent = parent, .what = (uint8_t)what};

	if (ring_enter(&ring_tls)) {
		row.thread = ring_tls.id;
		row.tid = ring_tls.thread->tid;
		ring_emit(&row, GPROF_TABLE_thread, name, strlen(name));
	}
}

void thread_emit(enum gprof_thread_what what, uint32_t parent, const char *name)
{
	emit(what, clock_raw(), parent, name);
}

void thread_began(uint32_t parent)
{
	if (!ring_tls.id) {
		ring_tls.parent = parent;
		ring_tls.created = clock_raw();
	}
}

/*
 * The thread's first row: who it is. gprof's own thread, which may write rows about windows and
 * steps, is none of the program's and has no such row.
 */
static void on_first_row(struct ring_tls *self)
{
	char name[16] = "";

	if (ring_stays_in_profiler(self)) {
		return;
	}
	prctl(PR_GET_NAME, name);
	thread_emit(GPROF_THREAD_SEEN, 0, name);
	if (self->created) {
		emit(GPROF_THREAD_CREATED, self->created, self->parent, "");
		self->created = 0;
	}
	if (!state.has_key || pthread_setspecific(state.key, (void *)1)) {
		ring_watch_thread(self);
	}
}

/*
 * Destructors of other libraries may call CUDA after gprof's, which requests another round, until
 * the last but one (in the last, sanitizers have already taken their own state away). Then the
 * thread is over.
 */
static void on_end(void *rounds)
{
	char name[16] = "";

	if ((uintptr_t)rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1) {
		pthread_setspecific(state.key, (void *)((uintptr_t)rounds + 1));
		return;
	}
	if (ring_is_ours()) {
		if (ring_tls.frame || ring_tls.writing) {
			ring_recover(&ring_tls, RING_STACK_TOP); /* by pthread_exit in a call */
		}
		prctl(PR_GET_NAME, name);
		thread_emit(GPROF_THREAD_ENDED, 0, name);
	}
	ring_end_thread(&ring_tls);
	if (thread_has_main_left()) {
		ring_wake(); /* this may be the last */
	}
}

COMPAT_START_CODE void thread_reserve_key(void)
{
	if (!pthread_key_create || pthread_key_create(&state.key, on_end)) {
		return;
	}
	state.has_key = state.key < NR_FREE_KEYS;
}

void thread_init(void)
{
	ring_on_thread = on_first_row;
}

/* ---- the last one ---- */

/* The C library gives each thread a list of robust mutexes; the kernel drops it as a thread ends.
 */
bool thread_has_main_left(void)
{
	void *list = &list;
	size_t bytes;

	return !syscall(SYS_get_robust_list, (int)syscall(SYS_getpid), &list, &bytes) && !list;
}

enum thread_last thread_look_for_last(void)
{
	struct stat tasks;

	if (!thread_has_main_left()) {
		return THREAD_LAST_NO;
	}
	if (dir_look("/proc/self/task", &tasks)) {
		return errno == ENOMEM ? THREAD_LAST_NO : THREAD_LAST_UNKNOWN;
	}
	/* The main thread is still counted, as the others' leader. */
	return tasks.st_nlink == LINKS_OF_TWO ? THREAD_LAST_YES : THREAD_LAST_NO;
}
