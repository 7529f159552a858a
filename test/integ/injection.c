/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A preloaded library that stands between a program and the driver as Nsight Compute's does: it
 * gives itself out as libcuda.so.1, by the path of the library in which its dlopen lies.
 */
#include <dlfcn.h>
#include <string.h>

const int nvInjectionVersion = 1;

void *dlopen(const char *path, int mode);
int cuInit(unsigned int flags);

void *dlopen(const char *path, int mode)
{
	void *(*next)(const char *, int) = NULL;
	Dl_info where;

	*(void **)&next = dlsym(RTLD_NEXT, "dlopen");
	if (path && !strcmp(path, "libcuda.so.1") && dladdr((void *)&dlopen, &where)) {
		path = where.dli_fname;
	}
	return next(path, mode);
}

/* The others come from the driver, which this library needs. */
int cuInit(unsigned int flags)
{
	int (*next)(unsigned int) = NULL;

	*(void **)&next = dlsym(RTLD_NEXT, "cuInit");
	return next(flags);
}
