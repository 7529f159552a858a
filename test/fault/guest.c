/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target that must not notice: steps, threads that launch, NVTX, a child that makes calls, one
 * that becomes another program, and at the end a look at what a target can see of itself.
 *Everything that it prints is the same in each run. It makes no assumption about gprof.
 *
 *	guest [STEPS [SLEEP_MS]]
 */
#include "test/prog/prog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/demo/ranges.h"

enum { N = 256, NR_THREADS = 3, NR_LAUNCHES = 10, NR_CHILD_CALLS = 7 };

static int nr_errno_changed;

/* A call that succeeds leaves errno alone, with gprof as without. */
#define KEEPS_ERRNO(call)                        \
	do {                                     \
		errno = 77;                      \
		CHECK(call);                     \
		nr_errno_changed += errno != 77; \
	} while (0)

KERNEL2(step_kernel, int *, x, int, by)
{
	x[index] += by;
}

static void *work(void *arg)
{
	int by = 1, host[N] = {0}, *d;
	cudaStream_t stream;

	pthread_setname_np(pthread_self(), "worker");
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&d, sizeof(host)));
	CHECK(cudaMemsetAsync(d, 0, sizeof(host), stream));
	for (int i = 0; i < NR_LAUNCHES; i++) {
		range_push("work");
		LAUNCH(step_kernel, 2, N / 2, stream, &d, &by);
		range_pop();
	}
	CHECK(cudaMemcpyAsync(host, d, sizeof(host), cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamSynchronize(stream));
	*(int *)arg = host[0] + host[N - 1];
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[NR_THREADS];
	int results[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++) {
		int rc = pthread_create(&threads[i], NULL, work, &results[i]);

		if (rc) {
			printf("no thread: %d\n", rc);
			exit(1);
		}
	}
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
		printf("thread %d\n", results[i]);
	}
}

static void run_child(void)
{
	int status = 0, device;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		for (int i = 0; i < NR_CHILD_CALLS; i++) {
			cudaGetDevice(&device);
		}
		printf("in the child\n");
		exit(5);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

/* A child that becomes another program. */
static void run_program(void)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		execlp("echo", "echo", "in another program", (char *)NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	printf("program %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

static int count_low_fds(void)
{
	int nr = 0;

	for (int fd = 0; fd < 100; fd++) {
		nr += fcntl(fd, F_GETFD) >= 0;
	}
	return nr;
}

static int nr_fds_at_start;

static void before_libraries(void)
{
	nr_fds_at_start = count_low_fds();
}

/* The loader calls it before the constructors of all libraries, preloaded ones included. */
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(
	void) = before_libraries;

/* A descriptor that another thread has open for a moment is no leak; on a busy machine a moment is
 * long. */
static int count_lasting_low_fds(void)
{
	enum { LOOK_US = 1000, MOST_US = 1000000 };
	int nr = count_low_fds();

	for (int us = 0; nr > nr_fds_at_start && us < MOST_US; us += LOOK_US) {
		usleep(LOOK_US);
		nr = count_low_fds();
	}
	return nr;
}

/* Low descriptors, blocked signals, handlers: what a target can see of itself. */
static void look_around(void)
{
	int nr_fds = count_lasting_low_fds(), nr_blocked = 0, nr_handled = 0;
	struct sigaction action;
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	for (int i = 1; i < NSIG; i++) {
		nr_blocked += sigismember(&blocked, i) == 1;
		nr_handled += !sigaction(i, NULL, &action) && action.sa_handler != SIG_DFL;
	}
	printf("descriptors %d, signals %d blocked %d handled, errno changed %d times\n", nr_fds,
		nr_blocked, nr_handled, nr_errno_changed);
}

int main(int argc, char **argv)
{
	int nr_steps = argc > 1 ? atoi(argv[1]) : 4;
	int sleep_ms = argc > 2 ? atoi(argv[2]) : 3;
	int *d, host[N] = {0}, by = 1;
	void (*gprof_step)(void);

	*(void **)&gprof_step = dlsym(RTLD_DEFAULT, "gprof_step");
	ranges_init();
	KEEPS_ERRNO(cudaMalloc((void **)&d, sizeof(host)));
	for (int step = 0; step < nr_steps; step++) {
		range_push("step");
		KEEPS_ERRNO(cudaMemcpy(d, host, sizeof(host), cudaMemcpyHostToDevice));
		for (int i = 0; i < NR_LAUNCHES; i++) {
			LAUNCH(step_kernel, 2, N / 2, (cudaStream_t)0, &d, &by);
		}
		KEEPS_ERRNO(cudaDeviceSynchronize());
		range_pop();
		if (gprof_step) {
			gprof_step();
		}
		usleep((useconds_t)sleep_ms * 1000);
	}
	CHECK(cudaMemcpy(host, d, sizeof(host), cudaMemcpyDeviceToHost));
	printf("result %d\n", host[0]);
	run_threads();
	run_child();
	run_program();
	look_around();
	fprintf(stderr, "on stderr\n");
	return 3;
}
