/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the driver as a runtime makes them, through the addresses that cuGetProcAddress returns:
 * 348 of cuDeviceGetAttribute, 4 each of cuDeviceGetName and cuDeviceTotalMem, one of cuInit and
 * cuDeviceGet; then some of the runtime. It prints where in the driver these addresses are.
 */
#include "test/prog/driver.h"

/* A function of the driver by cuGetProcAddress; its offset in the library is printed. */
static void *find(void *driver, const char *name)
{
	void *function = driver_function(driver, name, 12000, 0, NULL);
	Dl_info info = {0};

	if (!function || !dladdr(function, &info)) {
		fprintf(stderr, "no %s\n", name);
		exit(1);
	}
	printf("%s %s+%#lx\n", name, info.dli_sname ? info.dli_sname : "?",
		(unsigned long)((char *)function - (char *)info.dli_fbase));
	return function;
}

int main(void)
{
	void *driver = driver_open();
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
	int (*init)(unsigned int), (*get)(int *, int), (*attribute)(int *, int, int);
	int (*name)(char *, int, int), (*total)(size_t *, int);
	int (*allocate)(void **, size_t), (*release)(void *);
	int value = 0, rc = 0, device = 0;
	size_t bytes = 0;
	char text[64];
	void *memory = NULL;

	if (!runtime) {
		fprintf(stderr, "no runtime\n");
		return 1;
	}
	*(void **)&init = find(driver, "cuInit");
	*(void **)&get = find(driver, "cuDeviceGet");
	*(void **)&attribute = find(driver, "cuDeviceGetAttribute");
	*(void **)&name = find(driver, "cuDeviceGetName");
	*(void **)&total = find(driver, "cuDeviceTotalMem");
	rc |= init(0);
	rc |= get(&device, 0);
	for (int i = 0; i < 348; i++) {
		rc |= attribute(&value, 16, device);
	}
	for (int i = 0; i < 4; i++) {
		rc |= name(text, sizeof(text), device) | total(&bytes, device);
	}
	*(void **)&allocate = dlsym(runtime, "cudaMalloc");
	*(void **)&release = dlsym(runtime, "cudaFree");
	for (int i = 0; i < 3; i++) {
		rc |= allocate(&memory, 1024) | release(memory);
	}
	printf("results %d\n", rc);
	return rc != 0;
}
