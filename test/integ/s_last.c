/* SPDX-License-Identifier: Apache-2.0 */
/* A program with ranges and no CUDA, whose main thread leaves first: the last thread ends it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/demo/ranges.h"

static void *work(void *unused)
{
	range_push("late");
	usleep(100000);
	range_pop();
	return unused;
}

/* More than a stack of ours has room for, and less than every thread of a program's has. */
static void at_exit(void)
{
	volatile char room[1 << 20];

	memset((char *)room, 1, sizeof(room));
	puts(room[4096] ? "bye" : "");
}

int main(void)
{
	pthread_t thread;

	atexit(at_exit);
	ranges_init();
	range_push("early");
	range_pop();
	pthread_create(&thread, NULL, work, NULL);
	pthread_exit(NULL);
}
