/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	s_cpu STEPS WORK [late|fork|refused|deadly|deadly_late]
 *
 * Spends CPU time in known shares: of each step three parts in work_three, called by its own
 * caller, and one part in work_one; a thread named "s_cpu worker" spends two parts in work_two,
 * begun after the first call of CUDA, or before it (late). With fork, a child then spends as many
 * steps in work_one, on another thread than its main one. With refused, a filter as those of
 * containers first forbids perf_event_open; with deadly, one that kills the process for it; with
 * deadly_late, that one comes after the first call of CUDA, for all threads. WORK is what a part
 *is, in thousands of rounds of one loop. The threads meet at each step. It prints what it has
 *computed.
 */
#include "test/prog/prog.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/integ/forbid.h"

#ifdef __clang__
#define WORK static __attribute__((noinline))
#else
#define WORK static __attribute__((noinline, noipa))
#endif

static pthread_barrier_t together;
static unsigned long rounds;
static int nr_steps;

/*
 * One loop for all: the same number of rounds takes each caller as long. Asking for the frame's
 * address makes the compiler keep one, also in a function that calls no other.
 */
static inline __attribute__((always_inline)) unsigned long spin(unsigned long nr)
{
	unsigned long value = nr;

	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	for (unsigned long i = 0; i < nr; i++) {
		value = value * 6364136223846793005ul + 1442695040888963407ul;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

WORK unsigned long work_one(unsigned long nr)
{
	return spin(nr);
}

WORK unsigned long work_two(unsigned long nr)
{
	return spin(2 * nr);
}

WORK unsigned long work_three(unsigned long nr)
{
	return spin(3 * nr);
}

WORK unsigned long call_three(unsigned long nr)
{
	unsigned long value = work_three(nr);

	__asm__ volatile("" : "+r"(value)); /* no tail call: this frame stays */
	return value;
}

static void *worker(void *sum)
{
	pthread_setname_np(pthread_self(), "s_cpu worker");
	for (int i = 0; i < nr_steps; i++) {
		pthread_barrier_wait(&together);
		*(unsigned long *)sum += work_two(rounds);
	}
	return NULL;
}

static void forbid_perf(unsigned int how)
{
	forbid_call(SYS_perf_event_open, how);
}

static int count_sampled(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int nr = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		nr += strstr(line, "[perf_event]") != NULL;
	}
	if (maps) {
		fclose(maps);
	}
	return nr;
}

/* Until gprof samples a thread, which is this one: others have not begun, or hardly run. */
static void wait_for_samples(void)
{
	for (int i = 0; i < 1000 && !count_sampled(); i++) {
		usleep(10000);
	}
}

static void *child_worker(void *sum)
{
	for (int i = 0; i < nr_steps; i++) {
		*(unsigned long *)sum += work_one(rounds);
	}
	return NULL;
}

static int run_child(void)
{
	unsigned long sum = 0;
	pthread_t thread;
	int device;

	cudaGetDevice(&device);
	pthread_create(&thread, NULL, child_worker, &sum);
	pthread_join(thread, NULL);
	printf("child %lx\n", sum);
	return 0;
}

int main(int argc, char **argv)
{
	bool is_late = argc > 3 && !strcmp(argv[3], "late");
	bool has_child = argc > 3 && !strcmp(argv[3], "fork");
	unsigned long sum = 0, other = 0;
	pthread_t thread;
	void *memory;

	if (argc > 3 && !strcmp(argv[3], "refused")) {
		forbid_perf(SECCOMP_RET_ERRNO | EPERM);
	} else if (argc > 3 && !strcmp(argv[3], "deadly")) {
		forbid_perf(SECCOMP_RET_KILL_PROCESS);
	}
	nr_steps = argc > 1 ? atoi(argv[1]) : 10;
	rounds = (argc > 2 ? strtoul(argv[2], NULL, 10) : 1000) * 1000;
	pthread_barrier_init(&together, NULL, 2);
	if (!is_late) {
		CHECK(cudaMalloc(&memory, 1 << 20));
	}
	if (argc > 3 && !strcmp(argv[3], "deadly_late")) {
		wait_for_samples();
		forbid_perf(SECCOMP_RET_KILL_PROCESS);
	}
	pthread_create(&thread, NULL, worker, &other);
	if (is_late) {
		CHECK(cudaMalloc(&memory, 1 << 20));
	}
	for (int i = 0; i < nr_steps; i++) {
		pthread_barrier_wait(&together);
		sum += call_three(rounds) + work_one(rounds);
	}
	pthread_join(thread, NULL);
	if (has_child && !fork()) {
		return run_child();
	}
	wait(NULL);
	printf("%lx\n", sum + other);
	return 0;
}
