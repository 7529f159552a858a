/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a CPU for itself, and real-time scheduling if it may, makes calls, and says how gprof's
 * thread runs, or that one which is there when main has left:
 *
 *	pinned [leave]
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cudaGetDevice(int *device);

static void show(const char *who, pid_t thread, int cpu)
{
	cpu_set_t set;

	sched_getaffinity(thread, sizeof(set), &set);
	printf("%s: %s, %s the CPU of its own\n", who,
		sched_getscheduler(thread) == SCHED_FIFO ? "real-time" : "normal",
		CPU_ISSET(cpu, &set) ? "on" : "off");
}

static int own_cpu = -1;

static void show_gprof(void)
{
	DIR *tasks = opendir("/proc/self/task");
	char path[300], name[32];
	struct dirent *task;

	while ((task = readdir(tasks))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		file = fopen(path, "r");
		if (file && fgets(name, sizeof(name), file) && !strcmp(name, "gprof\n")) {
			show("gprof", atoi(task->d_name), own_cpu);
		}
		if (file) {
			fclose(file);
		}
	}
	closedir(tasks);
}

static void show_self(void)
{
	show("handler", 0, own_cpu);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct sched_param priority = {.sched_priority = 1};
	cpu_set_t set;
	int device;

	(void)argv;
	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = CPU_SETSIZE - 1; own_cpu < 0; cpu--) {
		own_cpu = CPU_ISSET(cpu, &set) ? cpu : -1;
	}
	CPU_ZERO(&set);
	CPU_SET(own_cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	sched_setscheduler(0, SCHED_FIFO, &priority);
	for (int i = 0; i < 1000; i++) {
		cudaGetDevice(&device);
	}
	show("main", 0, own_cpu);
	if (argc > 1) {
		atexit(show_self);
		pthread_exit(NULL);
	}
	show_gprof();
	return 0;
}
