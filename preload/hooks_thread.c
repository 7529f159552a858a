/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads: creator, begin, name. One unversioned definition catches every glibc's pthread_create;
 * thrd_create bypasses it, and such threads appear at their first event.
 */
#include "preload/hook/hook.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/util/stack.h"
#include "preload/hooks.h"
#include "preload/torch/torch.h"
#include "preload/torch/worker.h"

/*
 * Data for a new thread. If more threads than this start at once, the others have no known creator.
 */
#define MAX_STARTING 1024u

struct starting {
	void *(*start)(void *);
	void *arg;
	uint32_t parent;
};

static struct thread_state {
	struct starting all[MAX_STARTING];
	_Atomic uint32_t links[MAX_STARTING];
	_Atomic uint32_t nr_used; /* at any time */
	/* Threads that exist because of us, CUPTI's too, in the process of that number. */
	atomic_uint nr_ours;
	_Atomic pid_t pid;
} state;

/* Apart from the rest, which is zero at first and so takes no room in the library's file. */
static struct stack free_ones = {STACK_NONE};

static void *run(void *data)
{
	struct starting starting = *(struct starting *)data;

	stack_push(&free_ones, state.links, (uint32_t)((struct starting *)data - state.all));
	collector_thread_began(starting.parent);
	return starting.start(starting.arg);
}

unsigned int hooks_thread_count_ours(void)
{
	return atomic_load(&state.pid) == getpid() ? atomic_load(&state.nr_ours) : 0;
}

static void *run_ours(void *data)
{
	struct starting starting = *(struct starting *)data;
	void *result;

	stack_push(&free_ones, state.links, (uint32_t)((struct starting *)data - state.all));
	result = starting.start(starting.arg);
	atomic_fetch_sub(&state.nr_ours, 1);
	return result;
}

static void count_ours(void)
{
	if (atomic_exchange(&state.pid, getpid()) != getpid()) {
		atomic_store(&state.nr_ours, 0); /* those of a parent */
	}
	atomic_fetch_add(&state.nr_ours, 1);
}

static int create(const __typeof__(&pthread_create) real, pthread_t *thread,
	const pthread_attr_t *attr, struct starting starting, bool is_ours)
{
	uint32_t index = stack_take(&free_ones, state.links, &state.nr_used, MAX_STARTING);
	int rc;

	if (index == STACK_NONE) {
		loss_add(LOSS_THREAD, !is_ours);
		return real(thread, attr, starting.start, starting.arg);
	}
	state.all[index] = starting;
	if (is_ours) {
		count_ours();
	}
	rc = real(thread, attr, is_ours ? run_ours : run, &state.all[index]);
	if (rc) {
		stack_push(&free_ones, state.links, index);
		atomic_fetch_sub(&state.nr_ours, is_ours);
	}
	return rc;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	const __typeof__(&pthread_create) real = HOOK_NEXT(pthread_create);
	uint32_t mode = hook_mode();
	bool is_ours = ring_in_profiler(&ring_tls);

	if (!real) {
		return EAGAIN;
	}
	hook_forget_removed();
	torch_look_late();
	if (!is_ours) {
		torch_look_opened();
	}
	worker_look();
	if (!is_ours && (!(mode & COLLECTOR_RECORD) || collector_is_cupti((uintptr_t)start))) {
		return real(thread, attr, start, arg);
	}
	return create(real, thread, attr,
		(struct starting){.start = start, .arg = arg, .parent = ring_tls.id}, is_ours);
}

int pthread_setname_np(pthread_t thread, const char *name)
{
	const __typeof__(&pthread_setname_np) real = HOOK_NEXT(pthread_setname_np);
	int rc = real ? real(thread, name) : ENOSYS;

	/* Another thread's name is read when that thread ends; its id is not to be had here. The
	 * first row of a thread reads its name, too. */
	if (!rc && (hook_mode() & COLLECTOR_RECORD) && !ring_in_profiler(&ring_tls) &&
		ring_tls.id && pthread_equal(thread, pthread_self())) {
		collector_thread_named(name);
	}
	return rc;
}
