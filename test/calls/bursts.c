/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls in bursts, each of which lets gprof's thread run for milliseconds, and waits until it has
 * done its work. Prints how many calls it made, and how many microseconds of CPU that thread used
 * each time that it ran until it slept by itself, on average.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NR_BURSTS 12
#define NR_CALLS  230000 /* a good quarter of the rings */

int cudaGetDevice(int *device);

static char task[300]; /* the folder of gprof's thread */

static int read_file(const char *folder, const char *name, char *text, size_t nr_bytes)
{
	char path[320];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "re");
	n = file ? fread(text, 1, nr_bytes - 1, file) : 0;
	text[n] = 0;
	if (file) {
		fclose(file);
	}
	return n > 0;
}

static int find_task(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	char name[32] = "";

	while (tasks && strcmp(name, "gprof\n") != 0 && (entry = readdir(tasks))) {
		snprintf(task, sizeof(task), "/proc/self/task/%s", entry->d_name);
		read_file(task, "comm", name, sizeof(name));
	}
	if (tasks) {
		closedir(tasks);
	}
	return !strcmp(name, "gprof\n");
}

static unsigned long long cpu_ns(void)
{
	unsigned long long ns = 0;
	char text[128];

	read_file(task, "schedstat", text, sizeof(text));
	return sscanf(text, "%llu", &ns) == 1 ? ns : 0;
}

static unsigned long long nr_sleeps(void)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	unsigned long long n = 0;
	char text[4096], *at;

	read_file(task, "status", text, sizeof(text));
	at = strstr(text, key);
	return at && sscanf(at + sizeof(key) - 1, "%llu", &n) == 1 ? n : 0;
}

static void wait_until_done(void)
{
	unsigned long long before;

	do {
		before = cpu_ns();
		usleep(50000);
	} while (cpu_ns() != before);
}

int main(void)
{
	unsigned long long cpu, sleeps, nr_calls = 1;
	int device;

	cudaGetDevice(&device);
	usleep(100000);
	if (!find_task()) {
		return 1;
	}
	wait_until_done();
	cpu = cpu_ns();
	sleeps = nr_sleeps();
	for (int i = 0; i < NR_BURSTS; i++) {
		for (int k = 0; k < NR_CALLS; k++) {
			nr_calls += cudaGetDevice(&device) == 0;
		}
		wait_until_done();
	}
	cpu = cpu_ns() - cpu;
	sleeps = nr_sleeps() - sleeps;
	printf("%llu %llu\n", nr_calls, sleeps ? cpu / sleeps / 1000 : cpu);
	return 0;
}
