/* SPDX-License-Identifier: Apache-2.0 */
/* A program without CUDA: threads, names, children, signals, a library opened. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/entries.h"

static void *work(void *arg)
{
	pthread_setname_np(pthread_self(), "worker");
	return arg;
}

int main(void)
{
	pthread_t thread;
	void *result = NULL;
	int status;
	pid_t child;

	if (pthread_create(&thread, NULL, work, &status) || pthread_join(thread, &result)) {
		return 1;
	}
	printf("thread %s\n", result == &status ? "came back" : "lost");
	printf("threads %d\n", count_entries("/proc/self/task"));
	printf("descriptors %d\n", count_entries("/proc/self/fd") - 1);
	printf("libm %s\n", dlopen("libm.so.6", RTLD_NOW) ? "opened" : "missing");
	fflush(stdout);
	child = fork();
	if (!child) {
		execl("/bin/echo", "echo", "from a child", (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	return 42;
}
