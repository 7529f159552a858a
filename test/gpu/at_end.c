/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the end of a process, and for other tools beside us: launches kernels and says when it leaves
 * main.
 *
 *	at_end [LAUNCHES]	prints CLOCK_MONOTONIC in ns as its last act
 *	at_end bad		writes behind its memory on the device
 */
#include "test/prog/prog.h"

#include <time.h>
#include <unistd.h>

enum { N = 1024 };

KERNEL2(fill, int *, x, int, value)
{
	x[index] = value;
}

int main(int argc, char **argv)
{
	int is_bad = argc > 1 && !strcmp(argv[1], "bad");
	int nr_launches = argc > 1 && !is_bad ? atoi(argv[1]) : 1;
	int *d = NULL;
	struct timespec now;
	char line[32];
	int nr_bytes;

	CHECK(cudaMalloc((void **)&d, N * sizeof(int)));
	for (int i = 0; i < nr_launches; i++) {
		LAUNCH(fill, is_bad ? 2 * N / 256 : N / 256, 256, (cudaStream_t)0, &d, &i);
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(d));
	clock_gettime(CLOCK_MONOTONIC, &now);
	nr_bytes = snprintf(line, sizeof(line), "%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
	return write(STDOUT_FILENO, line, (size_t)nr_bytes) == nr_bytes ? 0 : 1;
}
