/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of libraries that come and go, of locales and of errno. */
#include "test/host/probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The library beside this program, which calls CUDA in `cuda` and nothing in `plain`. */
static const char *library(void)
{
	const char *path = getenv("PROBE_LIBRARY");

	MUST(path);
	return path;
}

static int call_in(void *handle, int nr_calls)
{
	int (*call)(int);

	if (!handle) {
		printf("%s\n", dlerror());
		return -1;
	}
	*(void **)&call = dlsym(handle, "module_call");
	MUST(call);
	return call(nr_calls);
}

/* A copy of everything in a namespace of its own, whose calls no preloaded library sees. */
int probe_namespace(int argc, char **argv)
{
	void *handle;

	(void)argc;
	(void)argv;
	touch(20);
	handle = dlmopen(LM_ID_NEWLM, library(), RTLD_NOW | RTLD_LOCAL);
	touched_maybe(20);
	printf("called %d\n", call_in(handle, 20));
	touch(20);
	printf("closed %d\n", handle ? dlclose(handle) : -1);
	touch(20);
	return 0;
}

/* Each time at another place, as what is opened between takes the old one. */
int probe_unload(int argc, char **argv)
{
	const size_t page = 4096;
	int sum = 0;

	(void)argc;
	(void)argv;
	for (int i = 0; i < 50; i++) {
		void *handle = dlopen(library(), RTLD_NOW | RTLD_LOCAL);

		sum += call_in(handle, 3);
		touched(3);
		MUST(!dlclose(handle));
		touch(1);
		MUST(mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	}
	printf("sum %d\n", sum);
	return 0;
}

int probe_locale(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("locale %s\n", setlocale(LC_ALL, ""));
	touch(20);
	printf("%s %.3f\n", setlocale(LC_ALL, NULL), 1234.5);
	return 0;
}

int probe_errnos(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int i = 0; i < 200; i++) {
		errno = i;
		touch(3);
		MUST(errno == i);
	}
	printf("errno stays\n");
	return 0;
}
