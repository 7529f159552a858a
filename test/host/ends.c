/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of the ends of a process, by itself, while its threads go on. */
#include "test/host/probe.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NR_BUSY = 3 };

/* Recording ends before the process does: what is called between may be missing. */
static atomic_bool is_ending;

static void *call_for_ever(void *arg)
{
	for (;;) {
		if (atomic_load(&is_ending)) {
			touch_maybe(1);
		} else {
			touch(1);
		}
		usleep(50);
	}
	return arg;
}

static void start_busy(void)
{
	pthread_t thread;

	for (int i = 0; i < NR_BUSY; i++) {
		MUST(!pthread_create(&thread, NULL, call_for_ever, NULL));
	}
	touch(10);
	usleep(100000);
}

static void about_to_end(void)
{
	atomic_store(&is_ending, true);
	usleep(5000);
}

static void exit_message_recorded(void)
{
	printf("at exit\n");
	fflush(stdout); /* quick_exit does not */
}

static void *exit_seven(void *arg)
{
	(void)arg;
	touch(5);
	about_to_end();
	exit(7);
}

int probe_thread_exits(int argc, char **argv)
{
	pthread_t thread;

	(void)argc;
	(void)argv;
	atexit(exit_message_recorded);
	start_busy();
	MUST(!pthread_create(&thread, NULL, exit_seven, NULL));
	pause();
	return 0;
}

int probe_main_returns(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	atexit(exit_message_recorded);
	start_busy();
	about_to_end();
	return 5;
}

static void *outlive_main(void *arg)
{
	usleep(50000);
	touch(10);
	printf("last\n");
	return arg;
}

int probe_main_leaves(int argc, char **argv)
{
	pthread_t thread;

	(void)argc;
	(void)argv;
	atexit(exit_message_recorded);
	touch(10);
	MUST(!pthread_create(&thread, NULL, outlive_main, NULL));
	pthread_exit(NULL);
}

int probe_leave_quick(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	at_quick_exit(exit_message_recorded);
	start_busy();
	about_to_end();
	quick_exit(4);
}

int probe_leave_now(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	start_busy();
	about_to_end();
	_exit(6);
}

static void touch_late(void)
{
	touch(10);
	printf("touched at exit\n");
}

/* The host's own exit handlers still call CUDA; what was registered first runs last. */
int probe_leave_late(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	touch(10);
	atexit(touch_late);
	return 3;
}
