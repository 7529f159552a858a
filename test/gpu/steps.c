/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of five launches and a synchronisation.
 *
 *	steps until FILE	as long as there is no FILE; prints "ready" after the first step
 *	steps hang		three, then a kernel that never ends, and waits for it
 */
#include "test/prog/prog.h"

#include <unistd.h>

enum { N = 1024, LAUNCHES = 5 };

KERNEL2(fill, int *, x, int, value)
{
	x[index] = value;
}

KERNEL2(never_ends, volatile int *, x, int, value)
{
	while (x[index] != value) {
	}
}

static void step(int *d)
{
	for (int i = 0; i < LAUNCHES; i++) {
		LAUNCH(fill, N / 256, 256, (cudaStream_t)0, &d, &i);
	}
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	int *d = NULL, other = -1;

	if (argc < 2) {
		return 2;
	}
	CHECK(cudaMalloc((void **)&d, N * sizeof(int)));
	step(d);
	printf("ready\n");
	fflush(stdout);
	if (!strcmp(argv[1], "hang")) {
		step(d);
		step(d);
		LAUNCH(never_ends, 1, 32, (cudaStream_t)0, &d, &other);
		CHECK(cudaDeviceSynchronize());
	}
	while (argc > 2 && access(argv[2], F_OK) != 0) {
		step(d);
	}
	CHECK(cudaFree(d));
	printf("done\n");
	return 0;
}
