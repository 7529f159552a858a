/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	s_sched pingpong|preempt NR
 *
 * Plants context switches of two workers on one CPU, once gprof has a descriptor for the records of
 * each thread, or half a second later if it has none. pingpong: they hand a word to each other NR
 *times through a futex. preempt: both compute until the kernel has preempted each of them NR times.
 *The end of each worker prints its number, the time (CLOCK_MONOTONIC) at which its part began and
 *ended, and what the kernel says of it in between: its voluntary and involuntary switches, and the
 *ns that it ran and that it waited for a CPU.
 */
#include "test/prog/prog.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct counts {
	unsigned long long time_ns, voluntary, involuntary, ran_ns, waited_ns;
};

static pthread_barrier_t all, workers;
static unsigned long nr;
static bool is_preempted;
static int turn;

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
}

static unsigned long long of_status(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

/* One read of each file: nothing here blocks. */
static struct counts count(void)
{
	struct counts counts = {.time_ns = now_ns()};
	char text[4096] = "";
	FILE *file = fopen("/proc/thread-self/status", "r");

	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	counts.voluntary = of_status(text, "\nvoluntary_ctxt_switches:");
	counts.involuntary = of_status(text, "\nnonvoluntary_ctxt_switches:");
	file = fopen("/proc/thread-self/schedstat", "r");
	if (!file || fscanf(file, "%llu %llu", &counts.ran_ns, &counts.waited_ns) != 2) {
		counts.ran_ns = counts.waited_ns = 0;
	}
	if (file) {
		fclose(file);
	}
	return counts;
}

static void wait_until(int value)
{
	int seen;

	while ((seen = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != value) {
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	}
}

static void play(int me)
{
	for (unsigned long i = 0; i < nr; i++) {
		wait_until(me);
		__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

/* Each runs until both have been preempted often enough since they began. */
static void compete(const struct counts *begin)
{
	static int nr_done;
	bool is_done = false;

	while (__atomic_load_n(&nr_done, __ATOMIC_RELAXED) < 2) {
		if (!is_done && count().involuntary - begin->involuntary >= nr) {
			is_done = true;
			__atomic_add_fetch(&nr_done, 1, __ATOMIC_RELAXED);
		}
	}
}

static void *worker(void *number)
{
	struct counts begin, end;

	pthread_barrier_wait(&all);
	begin = count();
	if (is_preempted) {
		compete(&begin);
	} else {
		play((int)(intptr_t)number);
	}
	end = count();
	pthread_barrier_wait(&workers);
	flockfile(stdout);
	printf("%ld %llu %llu %llu %llu %llu %llu\n", syscall(SYS_gettid), begin.time_ns,
		end.time_ns, end.voluntary - begin.voluntary, end.involuntary - begin.involuntary,
		end.ran_ns - begin.ran_ns, end.waited_ns - begin.waited_ns);
	funlockfile(stdout);
	return NULL;
}

static int nr_perf_descriptors(void)
{
	char path[32];
	int n = 0;

	for (int fd = 0; fd < 256; fd++) {
		char target[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n += readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "perf_event");
	}
	return n;
}

/* gprof finds new threads ten times a second, on a busy machine later, and records all but its own.
 */
static void wait_for_gprof(void)
{
	struct stat tasks = {0};
	int n = 0;

	for (int i = 0; i < 1000 && (n ? n + 1 < (int)tasks.st_nlink - 2 : i < 50); i++) {
		usleep(10000);
		n = nr_perf_descriptors();
		stat("/proc/self/task", &tasks);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	cpu_set_t one;
	int device;

	is_preempted = argc > 1 && !strcmp(argv[1], "preempt");
	nr = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
	CHECK(cudaGetDevice(&device));
	pthread_barrier_init(&all, NULL, 3);
	pthread_barrier_init(&workers, NULL, 2);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (intptr_t i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, worker, (void *)i);
	}
	wait_for_gprof();
	pthread_barrier_wait(&all);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
	}
	return 0;
}
