/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two million calls per second for a third of a second, 40 MB of rows. Prints how many page
 * faults the calling thread took meanwhile. Where it loses its CPU it does not hurry afterwards.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NR_ROUNDS 330
#define NR_CALLS  2140 /* per ms */

int cudaGetDevice(int *device);

static long nr_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

static void sleep_until(struct timespec *next)
{
	struct timespec now;

	next->tv_nsec += 1000000;
	next->tv_sec += next->tv_nsec / 1000000000;
	next->tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((now.tv_sec - next->tv_sec) * 1000000000 + now.tv_nsec - next->tv_nsec > 1000000) {
		*next = now;
	}
}

int main(void)
{
	struct timespec next;
	long before;
	int device;

	cudaGetDevice(&device);
	usleep(100000);
	before = nr_faults();
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int round = 0; round < NR_ROUNDS; round++) {
		for (int i = 0; i < NR_CALLS; i++) {
			cudaGetDevice(&device);
		}
		sleep_until(&next);
	}
	printf("%ld\n", nr_faults() - before);
	return 0;
}
