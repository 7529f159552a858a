/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many page faults a process takes that does nothing: starts LIBRARY PROGRAM... The median of
 * many, with the library preloaded.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define NR_STARTS 41

extern char **environ;

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long faults[NR_STARTS];

	if (argc < 3 || setenv("LD_PRELOAD", argv[1], 1)) {
		return 2;
	}
	for (int i = 0; i < NR_STARTS; i++) {
		struct rusage usage;
		pid_t child;
		int status;

		if (posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environ) ||
			wait4(child, &status, 0, &usage) != child || status) {
			return 1;
		}
		faults[i] = usage.ru_minflt;
	}
	qsort(faults, NR_STARTS, sizeof(faults[0]), compare);
	printf("%ld\n", faults[NR_STARTS / 2]);
	return 0;
}
