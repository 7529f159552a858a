/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches a kernel that does next to nothing, 500 times and then waits, 200 times over; then asks
 * as often which device is current. Prints what a launch takes in ns, median and mean of all
 * rounds, the longest ten launches in us, and what a question takes, its median.
 */
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

/* Sorts them. */
static long long median_ns(long long round_ns[NR_ROUNDS])
{
	qsort(round_ns, NR_ROUNDS, sizeof(round_ns[0]), compare);
	return round_ns[NR_ROUNDS / 2] / NR_LAUNCHES;
}

int main(void)
{
	static long long round_ns[NR_ROUNDS];
	long long sum_ns = 0, longest_ns = 0;
	int *d = NULL, device;

	CHECK(cudaMalloc((void **)&d, 256 * sizeof(int)));
	for (int round = 0; round < NR_ROUNDS; round++) {
		long long begin = now_ns(), last = begin, now = begin;

		for (int i = 0; i < NR_LAUNCHES; i++) {
			LAUNCH(fill, 1, 256, (cudaStream_t)0, &d, &i);
			if (i % 10 == 9) {
				now = now_ns();
				longest_ns = now - last > longest_ns ? now - last : longest_ns;
				last = now;
			}
		}
		round_ns[round] = now - begin;
		sum_ns += round_ns[round];
		CHECK(cudaDeviceSynchronize());
	}
	printf("%lld %lld %lld ", median_ns(round_ns), sum_ns / NR_ROUNDS / NR_LAUNCHES,
		longest_ns / 1000);
	for (int round = 0; round < NR_ROUNDS; round++) {
		long long begin = now_ns();

		for (int i = 0; i < NR_LAUNCHES; i++) {
			CHECK(cudaGetDevice(&device));
		}
		round_ns[round] = now_ns() - begin;
	}
	printf("%lld\n", median_ns(round_ns));
	return 0;
}
