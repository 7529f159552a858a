/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the runtime of cold.h, to be counted.
 *
 * launches trace N LIBTORCH: N launches, 500 of cudaGetDevice, 500 operators and 500 tensors of
 * that library (test/torch/fake_torch.c), with marks for trace.c.
 *
 * launches steady N: N launches in batches with pauses, as a training makes them, after 1,000
 * others, between two close(-1), which strace shows. Prints page faults of the thread in them, then
 * changes of CUPTI's buffers and their mean CPU time in us.
 *
 * launches time launch|device: prints ns a call, the least of 500 rounds.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "preload/abi/cuda_abi.h"
#include "test/bench/cold/cold.h"

#define BATCH	    200
#define TIME_ROUNDS 500

cudart_error cudaGetDevice(int *device);
cudart_error cudaLaunchKernel(const void *func, cudart_dim3 grid, cudart_dim3 block, void **args,
	size_t shared_mem, cudart_stream stream);

static bool is_device; /* cudaGetDevice instead of a launch */

static void call(void)
{
	const cudart_dim3 one = {1, 1, 1};
	int device;

	cold_mark(COLD_HOOK);
	if (is_device) {
		cudaGetDevice(&device);
	} else {
		cudaLaunchKernel((const void *)call, one, one, NULL, 0, NULL);
	}
	cold_mark(COLD_TARGET);
}

/* As the driver does it: gprof's entry, whereupon its thread sets up CUPTI. */
static bool attach(void)
{
	int (*inject)(void);

	call();
	*(void **)&inject = dlsym(RTLD_DEFAULT, "InitializeInjection");
	if (!inject) {
		return true;
	}
	inject();
	/* Under valgrind that takes seconds, on a busy machine more. */
	for (int i = 0; i < 60000; i++) {
		if (cold_cupti.record && cold_cupti.is_on[0] && cold_cupti.is_on[1]) {
			return true;
		}
		usleep(1000);
	}
	fprintf(stderr, "launches: gprof has not switched CUPTI's callbacks on\n");
	return false;
}

static void trace_calls(enum cold_mark what, unsigned long nr_calls)
{
	is_device = what == COLD_DEVICE;
	for (unsigned long i = 0; i < nr_calls; i++) {
		cold_mark(what);
		call();
	}
	cold_mark(what);
}

static bool trace_operators(const char *path)
{
	void *libtorch = dlopen(path, RTLD_NOW);
	void (*run)(unsigned int nr_ops) = NULL, (*run_tensors)(unsigned int nr_tensors) = NULL;

	dlopen("libnone.so.0",
		RTLD_NOW); /* gprof looks at what is there when the loader has ended */
	if (libtorch) {
		*(void **)&run = dlsym(libtorch, "fake_ops");
		*(void **)&run_tensors = dlsym(libtorch, "fake_tensors");
	}
	if (!run || !run_tensors) {
		fprintf(stderr, "launches: %s\n", dlerror());
		return false;
	}
	run(500);
	run_tensors(500);
	return true;
}

static void launch_steadily(unsigned long nr_launches)
{
	for (unsigned long i = 0; i < nr_launches; i++) {
		call();
		if (i % BATCH == BATCH - 1) {
			usleep(1000);
		}
	}
}

static void steady(unsigned long nr_launches)
{
	struct rusage before, after;
	uint64_t sum_ns = 0;

	launch_steadily(1000);
	cold_cupti.has_times = !getenv("NO_TIMES");
	close(-1);
	getrusage(RUSAGE_THREAD, &before);
	launch_steadily(nr_launches);
	getrusage(RUSAGE_THREAD, &after);
	close(-1);
	for (uint32_t i = 0; i < cold_cupti.nr_changes; i++) {
		sum_ns += cold_cupti.changes_ns[i];
	}
	printf("%ld %u %.1f\n", after.ru_minflt - before.ru_minflt, cold_cupti.nr_changes,
		cold_cupti.nr_changes ? (double)sum_ns / cold_cupti.nr_changes / 1000 : 0);
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void time_calls(void)
{
	int nr_calls = is_device ? 20000 : BATCH;
	double least = 1e18;

	for (int round = 0; round < TIME_ROUNDS; round++) {
		double begin = now_ns();

		for (int i = 0; i < nr_calls; i++) {
			call();
		}
		begin = now_ns() - begin;
		least = begin < least ? begin : least;
		usleep(1000);
	}
	printf("%.2f\n", least / nr_calls);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";

	if (!attach()) {
		return 1;
	}
	is_device = argc > 2 && !strcmp(argv[2], "device");
	if (!strcmp(how, "trace") && argc == 4) {
		trace_calls(COLD_LAUNCH, strtoul(argv[2], NULL, 10));
		trace_calls(COLD_DEVICE, 500);
		return !trace_operators(argv[3]);
	} else if (!strcmp(how, "steady")) {
		steady(strtoul(argv[2], NULL, 10));
	} else if (!strcmp(how, "time")) {
		time_calls();
	} else {
		fprintf(stderr,
			"usage: launches trace N LIBTORCH | steady N | time launch|device\n");
		return 2;
	}
	return 0;
}
