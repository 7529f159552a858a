/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a CUDA call and then, as its argument says: `return`; `spawn PROGRAM...`, which runs it and
 * waits; `late`: forks a child that is the first to use CUDA; `orphan`: forks a child with a child
 * of its own, which both make calls after this one ended.
 */
#include "test/prog/prog.h"

#include <sys/wait.h>
#include <unistd.h>

static void call(void)
{
	int device;

	cudaGetDevice(&device);
}

static int spawn(char **argv)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void leave_orphan(void)
{
	pid_t parent = getpid();
	pid_t grandchild;
	int status;

	if (fork()) {
		return;
	}
	for (int i = 0; i < 500 && getppid() == parent; i++) {
		usleep(10000);
	}
	call();
	grandchild = fork();
	if (!grandchild) {
		call();
		_exit(5);
	}
	waitpid(grandchild, &status, 0);
	exit(4);
}

int main(int argc, char **argv)
{
	void *d;
	int status;

	if (argc > 1 && !strcmp(argv[1], "late") && fork()) {
		wait(&status);
		return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
	}
	CHECK(cudaMalloc(&d, 16));
	if (argc > 2 && !strcmp(argv[1], "spawn")) {
		return spawn(argv + 2);
	}
	if (argc > 1 && !strcmp(argv[1], "orphan")) {
		leave_orphan();
	}
	return argc > 1 && !strcmp(argv[1], "late") ? 6 : 0;
}
