/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What starting a program costs under different preloads, taken in turns:
 *
 *	startup ROUNDS PROGRAM [PRELOAD...]
 *
 * `-` is no preload. Prints for each its least and its median time in microseconds.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ROUNDS = 5000, MAX_PRELOADS = 8 };

static double times[MAX_PRELOADS][MAX_ROUNDS];

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double run(char *program, const char *preload)
{
	char variable[4096];
	char *const arguments[] = {program, NULL};
	char *environment[] = {variable, NULL};
	double begin = now_us();
	pid_t child;
	int status;

	snprintf(variable, sizeof(variable), "LD_PRELOAD=%s", strcmp(preload, "-") ? preload : "");
	if (posix_spawn(&child, program, NULL, NULL, arguments, environment) ||
		waitpid(child, &status, 0) != child || status) {
		fprintf(stderr, "startup: %s does not run under %s\n", program, preload);
		exit(1);
	}
	return now_us() - begin;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int nr_rounds = argc > 1 ? atoi(argv[1]) : 0;
	int nr_preloads = argc - 3;

	if (nr_rounds < 1 || nr_rounds > MAX_ROUNDS || nr_preloads < 1 ||
		nr_preloads > MAX_PRELOADS) {
		fprintf(stderr, "usage: startup ROUNDS PROGRAM PRELOAD...\n");
		return 2;
	}
	for (int round = 0; round < nr_rounds; round++) {
		for (int i = 0; i < nr_preloads; i++) {
			times[i][round] = run(argv[2], argv[3 + i]);
		}
	}
	for (int i = 0; i < nr_preloads; i++) {
		qsort(times[i], (size_t)nr_rounds, sizeof(double), compare);
		printf("%.0f %.0f %s\n", times[i][0], times[i][nr_rounds / 2], argv[3 + i]);
	}
	return 0;
}
