/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of children: by every way to make one, with every part of the environment. */
#include "test/host/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char self[] = "/proc/self/exe";

/* say CALLS STATUS: what the probes below execute. */
int probe_say(int argc, char **argv)
{
	touch(probe_number(argc, argv, 1, 0));
	printf("said %s\n", getenv("HOME") ? "with an environment" : "without an environment");
	return probe_number(argc, argv, 2, 0);
}

int probe_exec_empty(int argc, char **argv)
{
	char *const arguments[] = {"probe", "say", "0", "3", NULL};
	char *const none[] = {NULL};

	(void)argc;
	(void)argv;
	touch(20);
	execve(self, arguments, none);
	return 1;
}

int probe_exec_unset(int argc, char **argv)
{
	pid_t child;

	(void)argc;
	(void)argv;
	touch(20);
	unsetenv("LD_PRELOAD");
	unsetenv("PROBE_COUNT");
	child = fork();
	if (!child) {
		execl(self, "probe", "say", "5", "4", (char *)NULL);
		_exit(1);
	}
	probe_reap("child", child);
	touch(20);
	return 0;
}

/* fork_many TIMES EVERY: every so manieth child calls CUDA. */
int probe_fork_many(int argc, char **argv)
{
	int times = probe_number(argc, argv, 1, 1000);
	int every = probe_number(argc, argv, 2, 100);
	int sum = 0;

	touch(10);
	for (int i = 0; i < times; i++) {
		pid_t child = fork();
		int status = -1;

		if (!child) {
			if (i % every == every - 1) {
				touch(3);
			}
			_exit(i % 3);
		}
		MUST(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
		sum += WEXITSTATUS(status);
	}
	touch(10);
	printf("sum %d\n", sum);
	return 0;
}

/* fork_deep DEPTH: a child of a child of a child, each ends by exit. */
int probe_fork_deep(int argc, char **argv)
{
	int depth = probe_number(argc, argv, 1, 4);

	for (int i = 0; i < depth; i++) {
		pid_t child;

		touch(5);
		fflush(stdout);
		child = fork();
		if (child) {
			char name[32];

			snprintf(name, sizeof(name), "depth %d", i);
			probe_reap(name, child);
			exit(i + 10);
		}
	}
	touch(5);
	return depth + 10;
}

int probe_vfork(int argc, char **argv)
{
	volatile pid_t child;

	(void)argc;
	(void)argv;
	touch(20);
	child = vfork();
	if (!child) {
		execl(self, "probe", "say", "5", "4", (char *)NULL);
		_exit(1);
	}
	probe_reap("child", child);
	child = vfork();
	if (!child) {
		_exit(9);
	}
	probe_reap("child", child);
	touch(20);
	return 0;
}

int probe_spawn(int argc, char **argv)
{
	char *const arguments[] = {"probe", "say", "5", "4", NULL};
	pid_t child = 0;

	(void)argc;
	(void)argv;
	touch(20);
	for (int i = 0; i < 3; i++) {
		MUST(!posix_spawn(&child, self, NULL, NULL, arguments, environ));
		probe_reap("child", child);
	}
	MUST(posix_spawn(&child, "/does/not/exist", NULL, NULL, arguments, environ) == ENOENT);
	touch(20);
	return 0;
}

int probe_system(int argc, char **argv)
{
	FILE *pipe;
	char line[64] = "";

	(void)argc;
	(void)argv;
	touch(20);
	printf("system %d\n", WEXITSTATUS(system("exit 3")));
	pipe = popen("echo from a pipe | tr a-z A-Z", "r");
	MUST(pipe && fgets(line, sizeof(line), pipe));
	printf("%sclosed %d\n", line, pclose(pipe));
	touch(20);
	return 0;
}

/* A child that no atfork handler knows of: it shares the file mappings with its parent. */
int probe_clone_fork(int argc, char **argv)
{
	int nr_calls = probe_number(argc, argv, 1, 2000);

	touch(20);
	for (int i = 0; i < 5; i++) {
		pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

		if (!child) {
			touch_maybe(nr_calls);
			syscall(SYS_exit_group, 7);
		}
		touch(nr_calls);
		probe_reap("clone", child);
	}
	touch(20);
	return 0;
}

/* The same by glibc's own, where there is one; older ones are asked for a plain fork. */
extern pid_t _Fork(void) __attribute__((weak));

int probe_libc_fork(int argc, char **argv)
{
	pid_t child;

	(void)argc;
	(void)argv;
	touch(20);
	child = _Fork ? _Fork() : fork();
	if (!child) {
		touch_maybe(100);
		_exit(7);
	}
	touch(100);
	probe_reap("_Fork", child);
	return 0;
}

static int clone_main(void *arg)
{
	touch_maybe(*(int *)arg);
	return 8;
}

/* A child in the same memory, with its parent's thread-local storage; the parent stands still. */
int probe_clone_vm(int argc, char **argv)
{
	static char stack[256 << 10] __attribute__((aligned(64)));
	int nr_calls = 10;

	(void)argc;
	(void)argv;
	touch(20);
	probe_reap("clone", clone(clone_main, stack + sizeof(stack),
				    CLONE_VM | CLONE_VFORK | SIGCHLD, &nr_calls));
	touch(20);
	return 0;
}

static void tell(const char *text)
{
	int fd = open("told.new", O_WRONLY | O_CREAT, 0600);

	MUST(fd >= 0 && write(fd, text, strlen(text)) > 0);
	close(fd);
	rename("told.new", "told");
}

/* The test waits for the file `told`, which the last process writes. */
int probe_daemon(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	touch(5);
	if (fork()) {
		_exit(0);
	}
	MUST(setsid() > 0);
	if (fork()) {
		_exit(0);
	}
	for (int fd = 0; fd < 3; fd++) {
		close(fd);
		MUST(open("/dev/null", O_RDWR) == fd);
	}
	umask(0);
	touch(7);
	tell("a daemon\n");
	return 0;
}

int probe_orphan(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	touch(5);
	if (fork()) {
		return 3;
	}
	usleep(300000);
	touch(7);
	tell(getppid() == 1 ? "outlived\n" : "adopted\n");
	return 0;
}
