/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes CUDA calls, says how many kernels it launched, and ends:
 *
 *	s_end HOW [LAUNCHES [PROGRAM]]
 *
 * HOW is one of the ways below; PROGRAM is what the exec ways start, with the argument "return".
 * Statuses are 3 where the program chooses.
 */
#include "test/prog/prog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 64, NR_BUSY = 4, STATUS = 3 };

extern char **environ;

KERNEL2(end_kernel, int *, x, int, by)
{
	x[index] += by;
}

static struct {
	const char *program;
	int *d;
	int nr_launched;
	sigjmp_buf back;
} state;

static void launch(int n)
{
	int by = 1;

	for (int i = 0; i < n; i++) {
		LAUNCH(end_kernel, 1, N, (cudaStream_t)0, &state.d, &by);
	}
	state.nr_launched += n;
	CHECK(cudaDeviceSynchronize());
}

static void say(void)
{
	printf("launched %d\n", state.nr_launched);
	fflush(stdout);
}

/* ---- ways ---- */

static void by_return(void)
{
}

static void by_exit(void)
{
	exit(STATUS);
}

static void by__exit(void)
{
	_exit(STATUS);
}

static void by__Exit(void)
{
	_Exit(STATUS);
}

static void by_quick_exit(void)
{
	quick_exit(STATUS);
}

static void by_abort(void)
{
	abort();
}

static void by_segv(void)
{
	kill(getpid(), SIGSEGV);
}

static void by_kill(void)
{
	kill(getpid(), SIGKILL);
}

static void by_term(void)
{
	raise(SIGTERM);
}

/* As CPython ends after Ctrl-C: its own handler is gone by then. */
static void by_int(void)
{
	signal(SIGINT, SIG_DFL);
	kill(getpid(), SIGINT);
}

static void by_hup(void)
{
	killpg(getpgrp(), SIGHUP);
}

static void by_queue(void)
{
	sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 1});
}

/* What is blocked or handled does not end the process. */
static void by_no_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR1);
	signal(SIGUSR2, SIG_IGN);
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGCHLD);
	kill(getpid(), 0);
	/* sigqueue accepts neither a process group nor 0, so nothing is sent. */
	CHECK(!sigqueue(0, SIGTERM, (union sigval){0}));
	CHECK(!sigqueue(-getpgrp(), SIGTERM, (union sigval){0}));
	launch(5);
	say();
	exit(STATUS);
}

/* Until somebody sends it a signal. */
static void by_outside(void)
{
	FILE *ready = fopen(getenv("READY"), "w");

	if (!ready || fclose(ready)) {
		exit(9);
	}
	for (;;) {
		pause();
	}
}

static void exit_on_signal(int signal)
{
	(void)signal;
	exit(STATUS);
}

static void _exit_on_signal(int signal)
{
	(void)signal;
	_exit(STATUS);
}

static void by_term_exit(void)
{
	signal(SIGTERM, exit_on_signal);
	raise(SIGTERM);
}

static void by_term__exit(void)
{
	signal(SIGTERM, _exit_on_signal);
	raise(SIGTERM);
}

static void jump_back(int signal)
{
	(void)signal;
	siglongjmp(state.back, 1);
}

/* The program goes on after abort. */
static void by_abort_caught(void)
{
	signal(SIGABRT, jump_back);
	if (!sigsetjmp(state.back, 1)) {
		abort();
	}
	launch(5);
	say();
	exit(STATUS);
}

static void say_aborted(int signal)
{
	(void)signal;
	launch(5);
	puts("aborted");
	say();
}

static void by_abort_handled(void)
{
	signal(SIGABRT, say_aborted);
	abort();
}

/* As Python's faulthandler. */
static void abort_again(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void by_abort_again(void)
{
	signal(SIGABRT, abort_again);
	abort();
}

static void by_abort_blocked(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGABRT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGABRT, SIG_IGN);
	abort();
}

#define ARGV                                                             \
	{                                                                \
		(char *)(uintptr_t)state.program, (char *)"return", NULL \
	}

static void by_execv(void)
{
	char *argv[] = ARGV;

	execv(state.program, argv);
}

static void by_execve(void)
{
	char *argv[] = ARGV;

	execve(state.program, argv, environ);
}

static void by_execvp(void)
{
	char *argv[] = ARGV;

	execvp(state.program, argv);
}

static void by_execvpe(void)
{
	char *argv[] = ARGV;

	execvpe(state.program, argv, environ);
}

static void by_fexecve(void)
{
	char *argv[] = ARGV;

	fexecve(open(state.program, O_RDONLY | O_CLOEXEC), argv, environ);
}

static void by_execl(void)
{
	execl(state.program, state.program, "return", (char *)NULL);
}

static void by_execlp(void)
{
	execlp(state.program, state.program, "return", (char *)NULL);
}

static void by_execle(void)
{
	execle(state.program, state.program, "return", (char *)NULL, environ);
}

/* Nothing of that name: the process goes on, and its mark must be gone when it is killed. */
static void by_exec_fail(void)
{
	char *argv[] = ARGV;

	execv("/nowhere/program", argv);
	if (execl("/nowhere/program", "x", (char *)NULL) != -1 || errno != ENOENT) {
		exit(9);
	}
	launch(5);
	say();
	by_kill();
}

static void *be_busy(void *unused)
{
	int device;

	(void)unused;
	/* Not faster than the recorder can be on a busy machine: until exit handlers are over, it
	 * records. */
	while (!cudaGetDevice(&device)) {
		usleep(10);
	}
	return NULL;
}

/* main returns while threads call CUDA. */
static void by_busy_return(void)
{
	pthread_t thread;

	for (int i = 0; i < NR_BUSY; i++) {
		pthread_create(&thread, NULL, be_busy, NULL);
	}
	usleep(20000);
}

static void *run_exit(void *unused)
{
	(void)unused;
	exit(STATUS);
}

static void by_thread_exit(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run_exit, NULL);
	pthread_join(thread, NULL);
}

/* An object that is older than the first CUDA call, as static ones of C++ are. */
static void free_late(void)
{
	launch(5);
	CHECK(cudaFree(state.d));
	say();
}

__attribute__((constructor)) static void ask_for_late(void)
{
	const char *late = getenv("LATE");

	if (late && !strcmp(late, "exit")) {
		atexit(free_late);
	} else if (late && !strcmp(late, "quick_exit")) {
		at_quick_exit(free_late);
	}
}

static void reset(void)
{
	cudaDeviceReset();
}

/* The runtime is torn down before our own handler runs. */
static void by_reset(void)
{
	atexit(reset);
	exit(STATUS);
}

static void wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status) {
		exit(9);
	}
}

/* Children that share this one's memory: what they do must not be taken for its end. */
static void by_vfork(void)
{
	pid_t child = vfork();

	if (!child) {
		_exit(0);
	}
	wait_for(child);
	child = vfork();
	if (!child) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	wait_for(child);
	launch(5);
	say();
	by_kill();
}

/* And one with a copy of it, made behind the C library's back. */
static void by_clone(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!child) {
		_exit(0);
	}
	wait_for(child);
	launch(5);
	say();
	exit(STATUS);
}

static void by_fork__exit(void)
{
	pid_t child = fork();
	int device;

	if (!child) {
		cudaGetDevice(&device);
		_exit(0);
	}
	wait_for(child);
	launch(5);
	say();
	exit(STATUS);
}

#define WAY(name)                \
	{                        \
#name, by_##name \
	}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {WAY(return ), WAY(exit), WAY(_exit), WAY(_Exit), WAY(quick_exit), WAY(abort), WAY(segv),
	WAY(kill), WAY(int), WAY(hup), WAY(queue), WAY(no_signal), WAY(outside), WAY(abort_handled),
	WAY(abort_again), WAY(abort_blocked), WAY(term), WAY(term_exit), WAY(term__exit),
	WAY(abort_caught), WAY(execv), WAY(execve), WAY(execvp), WAY(execvpe), WAY(fexecve),
	WAY(execl), WAY(execlp), WAY(execle), WAY(exec_fail), WAY(busy_return), WAY(thread_exit),
	WAY(reset), WAY(vfork), WAY(clone), WAY(fork__exit)};

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 7;

	state.program = argc > 3 ? argv[3] : argv[0];
	CHECK(cudaMalloc((void **)&state.d, N * sizeof(int)));
	launch(n);
	say();
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			return STATUS;
		}
	}
	return 2;
}
