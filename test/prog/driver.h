/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that call the driver: a call that must succeed, and functions by cuGetProcAddress.
 */
#ifndef GPROF_TEST_DRIVER_H
#define GPROF_TEST_DRIVER_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "preload/abi/cuda_abi.h"
#include "test/prog/must.h"

/* Ends the program where a call fails. */
#define CHECK(call) MUST_BE_0(call, #call)

/* The driver, opened past every preloaded symbol; without one the program ends. */
static inline void *driver_open(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!driver) {
		fprintf(stderr, "no driver\n");
		exit(1);
	}
	return driver;
}

/* The form of a function that belongs to @version; NULL, with the driver's reason, where there is
 * none. */
static inline void *driver_function(
	void *driver, const char *name, int version, uint64_t flags, int *status)
{
	int (*look_up)(const char *, void **, int, uint64_t, int *);
	void *function = NULL;

	*(void **)&look_up = dlsym(driver, "cuGetProcAddress_v2");
	return look_up && look_up(name, &function, version, flags, status) == 0 ? function : NULL;
}

#endif
