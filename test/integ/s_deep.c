/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	s_deep ROUNDS [unreadable]
 *
 * Built without frame pointers. Spends CPU time in work_deep, below level_one, level_two, a frame
 * that is aligned (level_three) and one whose size is known only when it runs (level_four); in
 * compare, which the C library's qsort calls for sort_all; and in work_thread, of another thread.
 * ROUNDS is what each is, in thousands of rounds of a loop. With unreadable, a filter first forbids
 * process_vm_readv. It prints what it has computed.
 */
#include "test/prog/prog.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "test/integ/forbid.h"

#ifdef __clang__
#define WORK static __attribute__((noinline))
#else
#define WORK static __attribute__((noinline, noipa))
#endif

/* No tail call: the frame that calls it stays. */
#define STAY(value) __asm__ volatile("" : "+r"(value))

static unsigned long rounds;

static inline __attribute__((always_inline)) unsigned long spin(unsigned long nr)
{
	unsigned long value = nr;

	for (unsigned long i = 0; i < nr; i++) {
		value = value * 6364136223846793005ul + 1442695040888963407ul;
		STAY(value);
	}
	return value;
}

WORK unsigned long work_deep(unsigned long nr)
{
	return spin(nr);
}

WORK unsigned long level_four(unsigned long nr)
{
	volatile char *room = __builtin_alloca(nr % 64 + 1);
	unsigned long value;

	room[0] = 1;
	value = work_deep(nr) + (unsigned long)room[0];
	STAY(value);
	return value;
}

WORK unsigned long level_three(unsigned long nr)
{
	volatile char room[128] __attribute__((aligned(64)));
	unsigned long value;

	room[nr % sizeof(room)] = 1;
	value = level_four(nr + (uintptr_t)room % 64) + (unsigned long)room[nr % sizeof(room)];
	STAY(value);
	return value;
}

WORK unsigned long level_two(unsigned long nr)
{
	unsigned long value = level_three(nr);

	STAY(value);
	return value;
}

WORK unsigned long level_one(unsigned long nr)
{
	unsigned long value = 0;

	for (int i = 0; i < 50; i++) {
		value += level_two(nr / 50);
		STAY(value);
	}
	return value;
}

#define NR_SORTED 16

static int compare(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;
	unsigned long value = spin(rounds / 64);

	STAY(value);
	return (x > y) - (x < y);
}

WORK unsigned long sort_all(void)
{
	unsigned long numbers[NR_SORTED];

	for (unsigned long i = 0; i < NR_SORTED; i++) {
		numbers[i] = i * 7 % NR_SORTED;
	}
	qsort(numbers, NR_SORTED, sizeof(numbers[0]), compare);
	return numbers[3];
}

WORK unsigned long work_thread(unsigned long nr)
{
	return spin(nr);
}

static void *run_thread(void *sum)
{
	unsigned long value = work_thread(rounds);

	STAY(value);
	*(unsigned long *)sum = value;
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long sum = 0, value;
	pthread_t thread;
	void *memory;

	rounds = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1000) * 1000;
	if (argc > 2 && !strcmp(argv[2], "unreadable")) {
		forbid_call(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM);
	}
	CHECK(cudaMalloc(&memory, 1 << 20));
	pthread_create(&thread, NULL, run_thread, &sum);
	value = level_one(rounds);
	value += sort_all();
	pthread_join(thread, NULL);
	printf("%lx\n", sum + value);
	return 0;
}
