/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens libraries as Python does, and calls what they have of fake_ops and fake_allocate.
 * usage: fake_host NR_OPS LIBRARY...
 *        fake_host beside LIBRARY SECOND    another thread opens SECOND while callbacks are
 * switched
 *        fake_host last|last-thread LIBRARY    opens LIBRARY while the recorder runs and nothing
 * after it, starts a thread if asked, and runs three operators
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *must_open(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return library;
}

struct second {
	const char *path;
	bool (*is_locked)(void);
};

static void *open_second(void *data)
{
	const struct second *second = data;

	for (int i = 0; i < 100000 && !second->is_locked(); i++) {
		usleep(10);
	}
	must_open(second->path);
	dlopen("libnone.so.0", RTLD_NOW);
	return NULL;
}

static int run_beside(char **paths)
{
	struct second second = {.path = paths[1]};
	pthread_t thread;

	*(void **)&second.is_locked = dlsym(must_open(paths[0]), "fake_is_locked");
	if (!second.is_locked || pthread_create(&thread, NULL, open_second, &second)) {
		return 1;
	}
	dlopen("libnone.so.0", RTLD_NOW);
	pthread_join(thread, NULL);
	puts("done");
	return 0;
}

static void *nothing(void *unused)
{
	return unused;
}

static int run_last(const char *path, bool has_thread)
{
	void (*step)(void) = NULL, (*ops)(unsigned int nr_ops) = NULL;
	pthread_t thread;

	*(void **)&step = dlsym(RTLD_DEFAULT, "gprof_step");
	if (step) {
		step();
	}
	*(void **)&ops = dlsym(must_open(path), "fake_ops");
	if (!ops || (has_thread && (pthread_create(&thread, NULL, nothing, NULL) ||
					   pthread_join(thread, NULL)))) {
		return 1;
	}
	ops(3);
	puts("done");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strncmp(argv[1], "last", 4)) {
		return run_last(argv[2], strcmp(argv[1], "last") != 0);
	}
	if (argc == 4 && !strcmp(argv[1], "beside")) {
		return run_beside(argv + 2);
	}
	for (int i = 2; i < argc; i++) {
		must_open(argv[i]);
	}
	dlopen("libnone.so.0", RTLD_NOW);
	for (int i = 2; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		void (*ops)(unsigned int nr_ops);
		void (*allocate)(void), (*stages)(void);

		*(void **)&ops = dlsym(library, "fake_ops");
		*(void **)&allocate = dlsym(library, "fake_allocate");
		*(void **)&stages = dlsym(library, "fake_stages");
		if (ops) {
			ops((unsigned int)atoi(argv[1]));
		}
		if (allocate) {
			allocate();
		}
		if (stages) {
			stages();
		}
	}
	puts("done");
	return 0;
}
