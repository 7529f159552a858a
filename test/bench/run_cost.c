/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_cost RUNS EVENTS LABEL COMMAND...: what a command costs, its output thrown away. Prints the
 * shortest wall time of the runs, million events a second by it and by the CPU time of that run,
 * and the peak of memory. Fails if that is above MOST_MB, where that is set.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct cost {
	double wall_s, cpu_s;
	long peak_kb;
	int status;
};

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct cost run(char **argv)
{
	double begin = now_s();
	pid_t child = fork();
	struct rusage usage;
	struct cost cost;

	if (!child) {
		int none = open("/dev/null", O_WRONLY);

		dup2(none, STDOUT_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (child < 0 || wait4(child, &cost.status, 0, &usage) != child) {
		perror("run_cost");
		exit(1);
	}
	cost.wall_s = now_s() - begin;
	cost.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
	cost.peak_kb = usage.ru_maxrss;
	return cost;
}

int main(int argc, char **argv)
{
	struct cost best = {.wall_s = 1e9};
	const char *most = getenv("MOST_MB");
	double nr_events;

	if (argc < 5) {
		fprintf(stderr, "usage: run_cost RUNS EVENTS LABEL COMMAND...\n");
		return 2;
	}
	nr_events = strtod(argv[2], NULL) / 1e6;
	for (int i = atoi(argv[1]); i > 0; i--) {
		struct cost cost = run(argv + 4);

		if (cost.status) {
			fprintf(stderr, "run_cost: %s failed\n", argv[4]);
			return 1;
		}
		best = cost.wall_s < best.wall_s ? cost : best;
	}
	printf("%-44s %8.2f s, %6.2f s of CPU %8.1f M/s %8.1f M/s of CPU %8.1f MB\n", argv[3],
		best.wall_s, best.cpu_s, nr_events / best.wall_s, nr_events / best.cpu_s,
		(double)best.peak_kb / 1024);
	if (most && (double)best.peak_kb / 1024 > strtod(most, NULL)) {
		fprintf(stderr, "run_cost: more than %s MB\n", most);
		return 1;
	}
	return 0;
}
