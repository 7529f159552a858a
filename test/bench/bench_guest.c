/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs a process to have gprof in it. Every way that is compared takes its turn in one
 * run; printed are medians.
 *
 *	bench_guest startup NAME=LD_PRELOAD...	from spawn to end of this program with `nothing`, us
 *	bench_guest nothing
 *	bench_guest forks [touch]		fork and wait; `touch`: after a call of CUDA; us
 *	bench_guest threads [touch]		pthread_create and join, us
 *	bench_guest rate EVENTS_A_SECOND MS	calls at that rate: what was reached in M/s, then
 *the CPU of the thread named gprof in % of a core
 *	bench_guest longest MS			calls one after the other; the longest took so many
 *ms bench_guest end PROGRAM			from the last line that it prints to its end, ms
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "preload/abi/cuda_abi.h"

#define MAX_WAYS   8
#define NR_SPAWNS  600
#define NR_FORKS   400
#define NR_THREADS 4000
#define BATCH	   500

extern char **environ;
cudart_error cudaEventQuery(cudart_event event);

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return (difference > 0) - (difference < 0);
}

static double median(double *values, int nr)
{
	qsort(values, (size_t)nr, sizeof(*values), compare);
	return values[nr / 2];
}

/* ---- start-up ---- */

static double spawn_once(const char *library)
{
	char self[] = "/proc/self/exe", what[] = "nothing", *argv[] = {self, what, NULL};
	double begin;
	pid_t child;
	int status;

	if (*library) {
		setenv("LD_PRELOAD", library, 1);
	}
	begin = now_us();
	if (posix_spawn(&child, self, NULL, NULL, argv, environ)) {
		exit(1);
	}
	waitpid(child, &status, 0);
	begin = now_us() - begin;
	unsetenv("LD_PRELOAD");
	return begin;
}

static int startup(int nr_ways, char **ways)
{
	static double times[MAX_WAYS][NR_SPAWNS];

	for (int i = 0; i < NR_SPAWNS; i++) {
		for (int way = 0; way < nr_ways; way++) {
			times[way][i] = spawn_once(strchr(ways[way], '=') + 1);
		}
	}
	for (int way = 0; way < nr_ways; way++) {
		printf("%.*s %.1f\n", (int)strcspn(ways[way], "="), ways[way],
			median(times[way], NR_SPAWNS));
	}
	return 0;
}

/* ---- children and threads ---- */

static void forks(void)
{
	static double times[NR_FORKS];

	for (int i = 0; i < NR_FORKS; i++) {
		double begin = now_us();
		pid_t child = fork();

		if (!child) {
			_exit(0);
		}
		waitpid(child, NULL, 0);
		times[i] = now_us() - begin;
	}
	printf("%.2f\n", median(times, NR_FORKS));
}

static void *no_work(void *unused)
{
	return unused;
}

static void threads(void)
{
	static double times[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++) {
		double begin = now_us();
		pthread_t thread;

		if (pthread_create(&thread, NULL, no_work, NULL)) {
			exit(1);
		}
		pthread_join(thread, NULL);
		times[i] = now_us() - begin;
	}
	printf("%.2f\n", median(times, NR_THREADS));
}

/* ---- calls at a rate ---- */

/* Of the thread named gprof, 0 without one. */
static double guest_cpu_us(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned long long ns = 0;
	struct dirent *entry;

	while (tasks && (entry = readdir(tasks)) != NULL) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "re");
		if (file) {
			name[fread(name, 1, sizeof(name) - 1, file)] = 0;
			fclose(file);
		}
		snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", entry->d_name);
		file = strcmp(name, "gprof\n") ? NULL : fopen(path, "re");
		if (file) {
			ns = fscanf(file, "%llu", &ns) == 1 ? ns : 0;
			fclose(file);
		}
	}
	if (tasks) {
		closedir(tasks);
	}
	return (double)ns / 1e3;
}

/* Waits between batches, asleep where there is the time, so that others get the core. */
static void wait_until(double us)
{
	double left;

	while ((left = us - now_us()) > 0) {
		if (left > 100) {
			usleep((useconds_t)left - 60);
		}
	}
}

static void rate(double a_second, double ms)
{
	double begin, cpu, end, nr_calls = 0;

	cudaEventQuery(NULL);
	usleep(50000); /* the recorder's own beginning is not of interest */
	cpu = guest_cpu_us();
	begin = now_us();
	do {
		for (int i = 0; i < BATCH; i++) {
			cudaEventQuery(NULL);
		}
		nr_calls += BATCH;
		wait_until(begin + nr_calls / a_second * 1e6);
		end = now_us();
	} while (end - begin < ms * 1000);
	cpu = guest_cpu_us() - cpu;
	printf("%.1f %.1f\n", nr_calls / (end - begin), 100 * cpu / (end - begin));
}

/* A call with the way to the next one, so that no pause falls between two. */
static void longest(double ms)
{
	double begin, before, most = 0;

	cudaEventQuery(NULL);
	usleep(50000);
	begin = before = now_us();
	while (before - begin < ms * 1000) {
		double now;

		cudaEventQuery(NULL);
		now = now_us();
		most = now - before > most ? now - before : most;
		before = now;
	}
	printf("%.3f\n", most / 1000);
}

/* ---- the end ---- */

/* On a terminal, where lines come as they are printed. */
static int end_of(char **argv)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	double last = 0;
	char bytes[4096];
	pid_t child;
	int side;

	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) {
		return 1;
	}
	side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	child = fork();
	if (!child) {
		dup2(side, STDOUT_FILENO);
		close(side);
		close(terminal);
		execv(argv[0], argv);
		_exit(1);
	}
	close(side);
	while (read(terminal, bytes, sizeof(bytes)) > 0) {
		last = now_us();
	}
	waitpid(child, NULL, 0);
	printf("%.2f\n", (now_us() - last) / 1000);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc > 2 && !strcmp(argv[2], "touch")) {
		cudaEventQuery(NULL);
	}
	if (!strcmp(what, "startup")) {
		return startup(argc - 2, argv + 2);
	} else if (!strcmp(what, "forks")) {
		forks();
	} else if (!strcmp(what, "threads")) {
		threads();
	} else if (!strcmp(what, "rate") && argc > 3) {
		rate(strtod(argv[2], NULL), strtod(argv[3], NULL));
	} else if (!strcmp(what, "longest") && argc > 2) {
		longest(strtod(argv[2], NULL));
	} else if (!strcmp(what, "end") && argc > 2) {
		return end_of(argv + 2);
	}
	return 0;
}
