/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forks encoding|handler|looking CHILDREN: makes so many children while events are recorded all the
 * time: from the main thread, whatever the recorder is just doing; from a signal handler, whatever
 * its thread is just doing, where the child then goes on; or while other threads' first calls from
 * new places look for their functions, and each child opens a library. Prints how many calls of
 * cudaGetDevice the parent has made, how many each child makes, and how many children failed.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_CALLS 50

int cudaGetDevice(int *device);

static atomic_bool is_over;
static _Atomic long nr_made;
static atomic_int nr_running; /* threads */
static volatile int nr_forks, nr_wanted, is_child;

static void call(int nr)
{
	int device;

	for (int i = 0; i < nr; i++) {
		cudaGetDevice(&device);
	}
	atomic_fetch_add(&nr_made, nr);
}

static void *call_all_the_time(void *unused)
{
	atomic_fetch_add(&nr_running, 1);
	while (!atomic_load(&is_over)) {
		call(100);
		usleep(100);
	}
	return unused;
}

static int wait_for_all(void)
{
	int nr_failed = 0, status;

	while (wait(&status) > 0) {
		nr_failed += status != 0;
	}
	return nr_failed;
}

static bool has_recorder(void)
{
	char path[300], name[8] = "";
	const char *enable = getenv("GPROF_ENABLE");
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;

	while (dir && strcmp(name, "gprof\n") && (entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (file) {
			(void)!fgets(name, sizeof(name), file);
			fclose(file);
		}
	}
	closedir(dir);
	return !strcmp(name, "gprof\n") || (enable && !strcmp(enable, "0"));
}

/*
 * AddressSanitizer takes its allocator's lock where a thread begins. A child that is made meanwhile
 * waits for it for ever, so that the first fork waits until all threads run.
 */
static void wait_until_all_run(void)
{
	for (int i = 0; i < 10000 && (atomic_load(&nr_running) < 2 || !has_recorder()); i++) {
		usleep(1000);
	}
}

static int fork_while_encoding(int nr)
{
	pthread_t threads[2];
	int nr_failed = 0;

	for (int i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, call_all_the_time, NULL);
	}
	wait_until_all_run();
	for (int i = 0; i < nr; i++) {
		if (!fork()) {
			call(CHILD_CALLS);
			exit(0);
		}
		if (i % 4 == 3) {
			nr_failed += wait_for_all();
		}
		usleep(1000);
	}
	atomic_store(&is_over, 1);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
	}
	return nr_failed + wait_for_all();
}

static void on_timer(int number)
{
	(void)number;
	if (nr_forks < nr_wanted && !is_child) {
		nr_forks++;
		is_child = !fork();
	}
}

/* Without usleep or the like: the handler is to come while a call is recorded. */
static int fork_in_handlers(int nr)
{
	struct itimerval timer = {{0, 2000}, {0, 2000}};
	int device;

	nr_wanted = nr;
	signal(SIGALRM, on_timer);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (nr_forks < nr_wanted && !is_child) {
		cudaGetDevice(&device);
		nr_made += !is_child;
	}
	if (is_child) {
		call(CHILD_CALLS);
		_exit(0);
	}
	timer = (struct itimerval){0};
	setitimer(ITIMER_REAL, &timer, NULL);
	return wait_for_all();
}

#if defined(__x86_64__)
/* From code of no module, whose calls look for their function each time. */
static void *look_all_the_time(void *unused)
{
	/* push %rbx; mov %rsi,%rax; call *%rax; pop %rbx; ret */
	static const unsigned char code[] = {0x53, 0x48, 0x89, 0xf0, 0xff, 0xd0, 0x5b, 0xc3};
	int (*made)(int *result, int (*function)(int *));
	int device;
	void *memory = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(memory, code, sizeof(code));
	*(void **)&made = memory;
	atomic_fetch_add(&nr_running, 1);
	while (!atomic_load(&is_over)) {
		made(&device, cudaGetDevice);
		atomic_fetch_add(&nr_made, 1);
	}
	return unused;
}
#else
static void *look_all_the_time(void *unused)
{
	atomic_fetch_add(&nr_running, 1);
	return unused;
}
#endif

static int fork_while_looking(int nr)
{
	pthread_t threads[2];
	int nr_failed = 0;

	for (int i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, look_all_the_time, NULL);
	}
	wait_until_all_run();
	for (int i = 0; i < nr; i++) {
		if (!fork()) {
			alarm(20);
			_exit(!dlopen("./another.so", RTLD_NOW));
		}
		nr_failed += wait_for_all();
		usleep(1000);
	}
	atomic_store(&is_over, 1);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
	}
	return nr_failed;
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[2]) : 10, nr_failed;

	call(1);
	nr_failed = argc > 1 && !strcmp(argv[1], "handler")   ? fork_in_handlers(nr)
		    : argc > 1 && !strcmp(argv[1], "looking") ? fork_while_looking(nr)
							      : fork_while_encoding(nr);
	printf("%ld %d %d\n", (long)nr_made, CHILD_CALLS, nr_failed);
	return 0;
}
