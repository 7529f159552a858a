/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What starting a program costs under different preloads, measured without a clock:
 *
 *	steps PROGRAM PRELOAD...
 *
 * Prints for each how many instructions the program takes in user space, from its first one to its
 * end. Exit status: 77 where no process may be traced.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_traced(char *program, const char *preload)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
		_exit(77);
	}
	setenv("LD_PRELOAD", preload, 1);
	execl(program, program, (char *)NULL);
	_exit(127);
}

/* Of a program that has been stopped at its first instruction; -1 if it does not end well. */
static long count(pid_t child)
{
	int status = 0;
	long nr = 0;

	do {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
			waitpid(child, &status, 0) != child) {
			return -1;
		}
		nr++;
	} while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? nr : -1;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: steps PROGRAM PRELOAD...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			run_traced(argv[1], argv[i]);
		}
		if (child < 0 || waitpid(child, &status, 0) != child) {
			return 1;
		}
		if (!WIFSTOPPED(status)) {
			return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
		}
		printf("%ld\n", count(child));
	}
	return 0;
}
