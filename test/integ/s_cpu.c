/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	s_cpu STEPS WORK [late]
 *
 * Spends CPU time in known shares: of each step three parts in work_three, called by its own
 * caller, and one part in work_one; a thread named "s_cpu worker" spends two parts in work_two,
 * begun after the first call of CUDA, or before it (late). WORK is what a part is, in thousands of
 * rounds of one loop. The threads meet at each step. It prints what it has computed.
 */
#include "test/prog/prog.h"

#include <pthread.h>
#include <stdbool.h>

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

int main(int argc, char **argv)
{
	bool is_late = argc > 3 && !strcmp(argv[3], "late");
	unsigned long sum = 0, other = 0;
	pthread_t thread;
	void *memory;

	nr_steps = argc > 1 ? atoi(argv[1]) : 10;
	rounds = (argc > 2 ? strtoul(argv[2], NULL, 10) : 1000) * 1000;
	pthread_barrier_init(&together, NULL, 2);
	if (!is_late) {
		CHECK(cudaMalloc(&memory, 1 << 20));
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
	printf("%lx\n", sum + other);
	return 0;
}
