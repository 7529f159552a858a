/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nested STEPS RANGES [open]: pushes and pops STEPS ranges "step", each around RANGES nested
 * ranges. open: first leaves 10 ranges "step" open, as exceptions do.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NR_LEFT 10

int cudaGetLastError(void);

int main(int argc, char **argv)
{
	int nr_steps = argc > 1 ? atoi(argv[1]) : 1, nr_ranges = argc > 2 ? atoi(argv[2]) : 0;
	int (*push)(const char *) = NULL, (*pop)(void) = NULL;

	cudaGetLastError();
	*(void **)&push = dlsym(RTLD_DEFAULT, "gprof_range_push");
	*(void **)&pop = dlsym(RTLD_DEFAULT, "gprof_range_pop");
	if (!push || !pop) {
		return 1;
	}
	for (int i = 0; i < NR_LEFT && argc > 3 && !strcmp(argv[3], "open"); i++) {
		push("step");
	}
	for (int step = 0; step < nr_steps; step++) {
		push("step");
		for (int i = 0; i < nr_ranges; i++) {
			push("other");
		}
		for (int i = 0; i <= nr_ranges; i++) {
			pop();
		}
	}
	return 0;
}
