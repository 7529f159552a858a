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

int main(void)
{
	pthread_t thread;

	ranges_init();
	range_push("early");
	range_pop();
	pthread_create(&thread, NULL, work, NULL);
	pthread_exit(NULL);
}
