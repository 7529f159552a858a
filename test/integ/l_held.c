/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces pthread_create: threads with a stack of HELD_STACK bytes wait until HELD of them exist,
 * so that all of them start at once.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

struct held {
	void *(*start)(void *);
	void *arg;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int nr_held;

static void *run(void *data)
{
	struct held held = *(struct held *)data;

	free(data);
	pthread_mutex_lock(&lock);
	while (nr_held < atoi(getenv("HELD"))) {
		pthread_cond_wait(&changed, &lock);
	}
	pthread_mutex_unlock(&lock);
	return held.start(held.arg);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct held *held = malloc(sizeof(*held));
	size_t stack_bytes = 0;
	int rc;

	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	if (!held || !attr || pthread_attr_getstacksize(attr, &stack_bytes) ||
		stack_bytes != (size_t)atol(getenv("HELD_STACK"))) {
		free(held);
		return real(thread, attr, start, arg);
	}
	*held = (struct held){start, arg};
	rc = real(thread, attr, run, held);
	pthread_mutex_lock(&lock);
	nr_held += !rc;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return rc;
}
