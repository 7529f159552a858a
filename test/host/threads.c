/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of threads. */
#include "test/host/probe.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

enum { BATCH = 50, NR_BUSY = 4 };

static void *work(void *arg)
{
	touch(2);
	return arg;
}

/* threads N: that many in all, BATCH at a time. */
int probe_threads(int argc, char **argv)
{
	int nr = probe_number(argc, argv, 1, 1000);
	pthread_t threads[BATCH];
	intptr_t sum = 0;

	for (int done = 0; done < nr; done += BATCH) {
		for (int i = 0; i < BATCH; i++) {
			MUST(!pthread_create(
				&threads[i], NULL, work, (void *)(intptr_t)(done + i)));
		}
		for (int i = 0; i < BATCH; i++) {
			void *result;

			MUST(!pthread_join(threads[i], &result));
			sum += (intptr_t)result;
		}
	}
	printf("sum %lld\n", (long long)sum);
	return 0;
}

static atomic_bool is_over;

static void *allocate(void *arg)
{
	while (!atomic_load(&is_over)) {
		void *memory = malloc(1000);

		touch(1);
		free(memory);
		usleep(100);
	}
	return arg;
}

static void *fork_often(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++) {
		pid_t child = fork();
		int status = -1;

		if (!child) {
			void *memory = malloc(1000);

			if (i % 5 == 0) {
				touch(2);
			}
			free(memory);
			_exit(6);
		}
		MUST(child > 0 && waitpid(child, &status, 0) == child);
		MUST(WIFEXITED(status) && WEXITSTATUS(status) == 6);
	}
	return NULL;
}

/* fork_threads TIMES: a thread forks while others allocate and call. */
int probe_fork_threads(int argc, char **argv)
{
	int times = probe_number(argc, argv, 1, 50);
	pthread_t busy[NR_BUSY], forking;

	touch(1); /* CUDA is up: a fork while a thread brings it up is nobody's to get right */
	for (int i = 0; i < NR_BUSY; i++) {
		MUST(!pthread_create(&busy[i], NULL, allocate, NULL));
	}
	MUST(!pthread_create(&forking, NULL, fork_often, &times));
	pthread_join(forking, NULL);
	atomic_store(&is_over, true);
	for (int i = 0; i < NR_BUSY; i++) {
		pthread_join(busy[i], NULL);
	}
	printf("forked %d\n", times);
	return 0;
}

static int work_c11(void *arg)
{
	touch(5);
	return *(int *)arg + 1;
}

int probe_thrd(int argc, char **argv)
{
	int number = probe_number(argc, argv, 1, 41), result = 0;
	thrd_t thread;

	for (int i = 0; i < 20; i++) {
		MUST(thrd_create(&thread, work_c11, &number) == thrd_success);
		MUST(thrd_join(thread, &result) == thrd_success);
	}
	printf("result %d\n", result);
	return 0;
}

/* The first CUDA call of the process is made on the smallest stack that there is. */
int probe_min_stack(int argc, char **argv)
{
	size_t bytes = (size_t)probe_number(argc, argv, 1, (int)PTHREAD_STACK_MIN);
	pthread_attr_t attributes;
	pthread_t thread;
	void *result = NULL;

	MUST(!pthread_attr_init(&attributes) && !pthread_attr_setstacksize(&attributes, bytes));
	MUST(!pthread_create(&thread, &attributes, work, &result));
	MUST(!pthread_join(thread, &result));
	printf("joined %d\n", result == (void *)&result);
	return 0;
}

static void *wait_cancelled(void *arg)
{
	MUST(!pthread_cancel(pthread_self()));
	touch(5); /* no CUDA call is a place where a thread may be cancelled */
	*(int *)arg = 1;
	pthread_testcancel();
	*(int *)arg = 2;
	return NULL;
}

int probe_cancelled(int argc, char **argv)
{
	pthread_t thread;
	void *result;
	int where = 0;

	(void)argc;
	(void)argv;
	MUST(!pthread_create(&thread, NULL, wait_cancelled, &where));
	MUST(!pthread_join(thread, &result));
	printf("cancelled %d at %d\n", result == PTHREAD_CANCELED, where);
	touch(5);
	return 0;
}

static void *name(void *arg)
{
	char have[16] = "";

	touch(1);
	pthread_setname_np(pthread_self(), "worker");
	pthread_getname_np(pthread_self(), have, sizeof(have));
	printf("name %s, too long %s\n", have,
		strerror(pthread_setname_np(pthread_self(), "much too long a name")));
	return arg;
}

int probe_names(int argc, char **argv)
{
	pthread_t thread;
	char have[16] = "";

	(void)argc;
	(void)argv;
	touch(1);
	MUST(!pthread_create(&thread, NULL, name, NULL) && !pthread_join(thread, NULL));
	pthread_getname_np(pthread_self(), have, sizeof(have));
	printf("name %s\n", have);
	return 0;
}

/* How many keys of PTHREAD_KEYS_MAX are left, up to one: the library takes one as it is loaded. */
int probe_keys(int argc, char **argv)
{
	pthread_key_t key;
	int n = 0;

	(void)argc;
	(void)argv;
	while (!pthread_key_create(&key, NULL)) {
		n++;
	}
	printf("keys %d\n", n < PTHREAD_KEYS_MAX ? n : PTHREAD_KEYS_MAX - 1);
	touch(5);
	return 0;
}

static pthread_key_t last_key;

static void at_end(void *rounds)
{
	touch(2);
	if ((uintptr_t)rounds > 1) {
		pthread_setspecific(last_key, (void *)((uintptr_t)rounds - 1));
	}
}

static void *work_with_key(void *arg)
{
	touch(1);
	pthread_setspecific(last_key, (void *)2);
	return arg;
}

/* Destructors of a thread's keys call CUDA after ours has run. */
int probe_key_ends(int argc, char **argv)
{
	pthread_t thread;

	(void)argc;
	(void)argv;
	touch(1);
	MUST(!pthread_key_create(&last_key, at_end));
	for (int i = 0; i < 10; i++) {
		MUST(!pthread_create(&thread, NULL, work_with_key, NULL));
		MUST(!pthread_join(thread, NULL));
	}
	printf("ended\n");
	return 0;
}
