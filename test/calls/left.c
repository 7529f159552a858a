/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left SCENARIO: calls that are left in the middle, or have other calls in them. Prints how many
 * calls of cudaGetDevice and ncclAllReduce it has made, of which each must be recorded, and how
 * many others were left before their end.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "test/calls/scenarios.h"
#include "test/entries.h"

int cudaGetDevice(int *device);
int cudaDeviceSynchronize(void);
int ncclAllReduce(
	const void *send, void *recv, size_t count, int type, int op, void *comm, void *stream);
extern void (*runtime_inside)(void);

static int nr_made, nr_reduced, nr_left;
static sigjmp_buf place;

static void call(int nr)
{
	int device;

	for (int i = 0; i < nr; i++) {
		cudaGetDevice(&device);
		nr_made++;
	}
}

static void reduce(int nr)
{
	int sum;

	for (int i = 0; i < nr; i++) {
		ncclAllReduce(NULL, &sum, 0, 0, 0, NULL, NULL);
		nr_reduced++;
	}
}

/* ---- jumps ---- */

static void jump(int signal)
{
	siglongjmp(place, signal);
}

static void raise_it(void)
{
	raise(SIGUSR1);
}

static void leave_sync(void)
{
	runtime_inside = raise_it;
	if (!sigsetjmp(place, 1)) {
		cudaDeviceSynchronize();
	}
	runtime_inside = NULL;
	nr_left++;
}

/* From deeper on the stack than what follows, and from as deep. */
static __attribute__((noinline)) void leave_below(int depth)
{
	volatile char room[512];

	room[0] = 1;
	if (depth) {
		leave_below(depth - 1);
	} else {
		leave_sync();
	}
	room[1] = room[0];
}

static void by_jump(void)
{
	signal(SIGUSR1, jump);
	call(1);
	leave_sync();
	call(1000);
	leave_below(5);
	call(100);
	leave_below(5);
	leave_below(5);
	call(1);
}

static void by_jump_of_nccl(void)
{
	int sum;

	signal(SIGUSR1, jump);
	reduce(1);
	runtime_inside = raise_it;
	if (!sigsetjmp(place, 1)) {
		ncclAllReduce(NULL, &sum, 0, 0, 0, NULL, NULL);
	}
	runtime_inside = NULL;
	nr_left++;
	reduce(1000);
	call(10);
}

/* From a signal handler's own stack. */
static void use_other_stack(void)
{
	static char other[65536];
	stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)};

	sigaltstack(&stack, NULL);
}

static void by_jump_from_other_stack(void)
{
	struct sigaction action = {.sa_handler = jump, .sa_flags = SA_ONSTACK};

	use_other_stack();
	sigaction(SIGUSR1, &action, NULL);
	leave_sync();
	call(1000);
}

/* ---- calls in calls ---- */

static void call_in_handler(int signal)
{
	(void)signal;
	call(1);
}

static void call_with_in_it(int flags)
{
	struct sigaction action = {.sa_handler = call_in_handler, .sa_flags = flags};

	sigaction(SIGUSR1, &action, NULL);
	runtime_inside = raise_it;
	for (int i = 0; i < 100; i++) {
		cudaDeviceSynchronize();
		call(1);
	}
	runtime_inside = NULL;
	call(10);
}

static void in_handler(void)
{
	call_with_in_it(0);
}

static void in_handler_on_other_stack(void)
{
	use_other_stack();
	call_with_in_it(SA_ONSTACK);
}

/* A call in a handler, left by another handler: the one that the first has interrupted goes on. */
static void jump_in_handler(int signal)
{
	(void)signal;
	runtime_inside = NULL;
	call(1);
	leave_sync();
	call(10);
	runtime_inside = raise_it;
}

static void left_in_handler(void)
{
	signal(SIGUSR1, jump);
	signal(SIGUSR2, jump_in_handler);
	call(1);
	runtime_inside = NULL;
	raise(SIGUSR2);
	runtime_inside = NULL;
	call(10);
}

static void call_once(void)
{
	call(1);
}

static void in_callback(void)
{
	runtime_inside = call_once;
	for (int i = 0; i < 100; i++) {
		cudaDeviceSynchronize();
	}
	runtime_inside = NULL;
	call(10);
}

/* ---- other ways ---- */

static pthread_key_t key;

static void call_at_end(void *unused)
{
	(void)unused;
	call(10);
}

static void exit_thread(void)
{
	nr_left++;
	pthread_exit(NULL);
}

static void *leave_thread(void *unused)
{
	pthread_setspecific(key, &key);
	call(1);
	runtime_inside = exit_thread;
	cudaDeviceSynchronize();
	return unused;
}

static void by_thread_exit(void)
{
	pthread_t thread;

	pthread_key_create(&key, call_at_end);
	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, leave_thread, NULL);
		pthread_join(thread, NULL);
	}
	runtime_inside = NULL;
	call(10);
}

/* A coroutine whose stack lies anywhere, and another one, are in calls at once; all come back. */
static ucontext_t here, there;

static void switch_back(void)
{
	swapcontext(&there, &here);
}

static void run_there(void)
{
	runtime_inside = switch_back;
	cudaDeviceSynchronize();
	runtime_inside = NULL;
	call(5);
}

static void by_coroutine(void)
{
	static char low[65536];
	char high[65536];
	char *stacks[] = {low, high};

	for (int i = 0; i < 2; i++) {
		getcontext(&there);
		there.uc_stack.ss_sp = stacks[i];
		there.uc_stack.ss_size = sizeof(low);
		there.uc_link = &here;
		makecontext(&there, run_there, 0);
		swapcontext(&here, &there);
		runtime_inside = NULL;
		call(100);
		swapcontext(&here, &there);
		call(100);
	}
}

/* Has the recorder come as far as its stream? What follows takes it a moment. */
static bool has_stream(void)
{
	return count_entries(getenv("GPROF_DIR")) > 0;
}

/*
 * The very first call waits for the recorder to start, and is left while it does. Of those after it
 * some come too early, which is counted; but not for long.
 */
static void while_starting(void)
{
	struct itimerval timer = {.it_value.tv_usec = 50000};
	int device;

	signal(SIGALRM, jump);
	setitimer(ITIMER_REAL, &timer, NULL);
	if (!sigsetjmp(place, 1)) {
		cudaGetDevice(&device);
		puts("the recorder has started too early");
	}
	for (int i = 0; i < 400; i += has_stream()) {
		call(1);
		usleep(5000);
	}
}

static const struct scenario scenarios[] = {
	{"by_jump", by_jump},
	{"by_jump_of_nccl", by_jump_of_nccl},
	{"by_jump_from_other_stack", by_jump_from_other_stack},
	{"in_handler", in_handler},
	{"in_handler_on_other_stack", in_handler_on_other_stack},
	{"left_in_handler", left_in_handler},
	{"in_callback", in_callback},
	{"by_thread_exit", by_thread_exit},
	{"by_coroutine", by_coroutine},
	{"while_starting", while_starting},
};

int main(int argc, char **argv)
{
	(void)argc;
	if (run_scenario(scenarios, sizeof(scenarios) / sizeof(scenarios[0]), argv[1])) {
		printf("%d %d %d\n", nr_made, nr_reduced, nr_left);
	}
	return 0;
}
