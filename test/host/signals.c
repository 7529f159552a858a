/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of signals: handlers, stacks, masks and what was asked for. */
#include "test/host/probe.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t nr_segv, nr_term, nr_chld, nr_alrm;
static sigjmp_buf back;
static int *volatile nowhere = (int *)8;

static void on_signal(int number)
{
	int error = errno;

	switch (number) {
	case SIGSEGV:
		nr_segv++;
		siglongjmp(back, 1);
	case SIGTERM:
		nr_term++;
		touch(1);
		break;
	case SIGCHLD:
		nr_chld++;
		while (waitpid(-1, NULL, WNOHANG) > 0) {
		}
		break;
	case SIGALRM:
		nr_alrm++;
		touch_maybe(1);
		break;
	}
	errno = error;
}

static void handle(int number, int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	MUST(!sigaction(number, &action, NULL));
}

int probe_handlers(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	handle(SIGSEGV, 0);
	handle(SIGTERM, 0);
	handle(SIGCHLD, SA_RESTART);
	touch(20);
	for (int i = 0; i < 10; i++) {
		if (!sigsetjmp(back, 1)) {
			*nowhere = 1;
		}
		raise(SIGTERM);
		touch(1);
	}
	usleep(100000); /* nobody of ours sends a SIGCHLD */
	printf("before a child: %d\n", (int)nr_chld);
	if (!fork()) {
		_exit(0);
	}
	for (int i = 0; i < 100 && !nr_chld; i++) {
		usleep(10000);
	}
	printf("faults %d terms %d children %d\n", (int)nr_segv, (int)nr_term, (int)nr_chld);
	return 0;
}

/* A handler calls CUDA while the thread that it interrupts does the same. */
int probe_alarms(int argc, char **argv)
{
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};

	(void)argc;
	(void)argv;
	touch(1);
	handle(SIGALRM, SA_RESTART);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 200000 && nr_alrm < 200; i++) {
		touch(1);
	}
	while (nr_alrm < 200) {
		pause();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("alarms came\n");
	return 0;
}

/* A handler on the least stack that the system allows. */
int probe_small_stack(int argc, char **argv)
{
	long least = sysconf(_SC_MINSIGSTKSZ);
	stack_t stack = {.ss_size = (size_t)(least > MINSIGSTKSZ ? least : MINSIGSTKSZ)};

	(void)argc;
	(void)argv;
	stack.ss_sp = malloc(stack.ss_size);
	MUST(stack.ss_sp && !sigaltstack(&stack, NULL));
	handle(SIGTERM, SA_ONSTACK);
	handle(SIGSEGV, SA_ONSTACK);
	touch(20);
	for (int i = 0; i < 100; i++) {
		raise(SIGTERM);
		if (!sigsetjmp(back, 1)) {
			*nowhere = 1;
		}
	}
	printf("terms %d faults %d\n", (int)nr_term, (int)nr_segv);
	return 0;
}

/* But for the two that are the C library's own, which it handles from the first thread on. */
static void print_signals(void)
{
	enum { LIBRARY = 3 };
	unsigned long long set;
	char line[256];
	FILE *file = fopen("/proc/thread-self/status", "r");

	MUST(file);
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "Sig", 3) && strncmp(line, "SigQ", 4)) {
			MUST(sscanf(line + sizeof("SigXxx:"), "%llx", &set) == 1);
			printf("%.6s %llx\n", line, set & ~((unsigned long long)LIBRARY << 31));
		}
	}
	fclose(file);
}

int probe_dispositions(int argc, char **argv)
{
	sigset_t some;

	(void)argc;
	(void)argv;
	signal(SIGUSR1, SIG_IGN);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR2);
	sigaddset(&some, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &some, NULL);
	print_signals();
	touch(20);
	print_signals();
	usleep(100000);
	print_signals();
	return 0;
}

/* What is sent to the process goes to the host's threads: here to sigwait. */
int probe_blocked(int argc, char **argv)
{
	sigset_t all;
	int got = 0;

	(void)argc;
	(void)argv;
	touch(20);
	usleep(100000);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int number = 1; number < NSIG; number++) {
		if (number != SIGKILL && number != SIGSTOP && number != 32 && number != 33) {
			kill(getpid(), number);
			MUST(!sigwait(&all, &got) && got == number);
		}
	}
	printf("all came\n");
	return 0;
}

/* No handler: SIGTERM ends the process and nothing of ours delays it. */
int probe_terminated(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	touch(20);
	printf("so far\n");
	fflush(stdout);
	raise(SIGTERM);
	return 0;
}
