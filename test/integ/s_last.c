/* SPDX-License-Identifier: Apache-2.0 */
/* A program with ranges and no CUDA, whose main thread leaves first: the last thread ends it. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test/demo/ranges.h"

static int is_limited;
static const char
	*end; /* how the last thread ends: by a signal from outside, or its own; NULL: it returns */

static void *work(void *unused)
{
	range_push("late");
	usleep(100000);
	range_pop();
	if (end && !strcmp(end, "term")) {
		kill(getpid(), SIGTERM);
	}
	if (end) {
		puts("ready");
		fflush(stdout);
	}
	while (end) {
		pause();
	}
	/* More than 64 KB of the stream. */
	for (int i = 0; is_limited && i < 100000; i++) {
		range_push("more");
		range_pop();
	}
	return unused;
}

/* More than a stack of ours has room for, and less than every thread of a program's has. */
static void at_exit(void)
{
	volatile char room[1 << 20];

	memset((char *)room, 1, sizeof(room));
	puts(room[4096] ? "bye" : "");
}

/* No file may grow beyond 64 KB, by a signal; or nothing of the file system can be reached. */
static int limit(const char *how)
{
	const struct rlimit few = {65536, 65536};

	return strcmp(how, "size") ? chroot(how) || chdir("/") : setrlimit(RLIMIT_FSIZE, &few);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	atexit(at_exit);
	dlopen("libgcc_s.so.1", RTLD_NOW); /* pthread_exit's */
	ranges_init();
	range_push("early");
	range_pop();
	end = argc > 1 && (!strcmp(argv[1], "wait") || !strcmp(argv[1], "term")) ? argv[1] : NULL;
	is_limited = argc > 1 && !end;
	if (is_limited && limit(argv[1])) {
		return 9;
	}
	pthread_create(&thread, NULL, work, NULL);
	pthread_exit(NULL);
}
