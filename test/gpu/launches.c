/* SPDX-License-Identifier: Apache-2.0 */
/* Launches a kernel that does next to nothing, 500 times and then waits, 200 times over: prints what
 * a launch takes in ns, the median of all rounds. */
#include "test/prog/prog.h"

#include <time.h>

enum { NR_ROUNDS = 200, NR_LAUNCHES = 500 };

KERNEL2(fill, int *, x, int, value)
{
	x[index] = value;
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	static long long round_ns[NR_ROUNDS];
	int *d = NULL;

	CHECK(cudaMalloc((void **)&d, 256 * sizeof(int)));
	for (int round = 0; round < NR_ROUNDS; round++) {
		long long begin = now_ns();

		for (int i = 0; i < NR_LAUNCHES; i++) {
			LAUNCH(fill, 1, 256, (cudaStream_t)0, &d, &i);
		}
		round_ns[round] = now_ns() - begin;
		CHECK(cudaDeviceSynchronize());
	}
	qsort(round_ns, NR_ROUNDS, sizeof(round_ns[0]), compare);
	printf("%lld\n", round_ns[NR_ROUNDS / 2] / NR_LAUNCHES);
	return 0;
}
