/* SPDX-License-Identifier: Apache-2.0 */
/* The program around the probes: probe NAME [ARGUMENT...]. */
#include "test/host/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} probes[] = {
#define P(name) {#name, probe_##name},
	PROBES(P)
#undef P
};

/* Two numbers in the file named by PROBE_COUNT: calls made, and calls that may be recorded. */
static struct counts {
	_Atomic uint64_t sure;
	_Atomic uint64_t maybe;
} own_counts, *counts = &own_counts;

static void open_counts(void)
{
	const char *path = getenv("PROBE_COUNT");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0) {
		return;
	}
	map = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED) {
		counts = map;
	}
	close(fd);
}

#ifdef PROBE_CUDA
extern int cudaGetDevice(int *device);

static void touch_counted(int nr_calls, _Atomic uint64_t *count)
{
	int device;

	for (int i = 0; i < nr_calls; i++) {
		cudaGetDevice(&device);
		atomic_fetch_add(count, 1);
	}
}
#else
static void touch_counted(int nr_calls, _Atomic uint64_t *count)
{
	(void)nr_calls;
	(void)count;
}
#endif

void touch(int nr_calls)
{
	touch_counted(nr_calls, &counts->sure);
}

void touch_maybe(int nr_calls)
{
	touch_counted(nr_calls, &counts->maybe);
}

void touched(int nr_calls)
{
#ifdef PROBE_CUDA
	atomic_fetch_add(&counts->sure, (uint64_t)nr_calls);
#else
	(void)nr_calls;
#endif
}

void touched_maybe(int nr_calls)
{
	atomic_fetch_add(&counts->maybe, (uint64_t)nr_calls);
}

int probe_number(int argc, char **argv, int index, int otherwise)
{
	return argc > index ? atoi(argv[index]) : otherwise;
}

void probe_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not true: %s (%s)\n", file, line, what, strerror(errno));
	_exit(99);
}

void probe_reap(const char *name, int pid)
{
	int status = 0;

	MUST(pid > 0);
	while (waitpid(pid, &status, 0) < 0) {
		MUST(errno == EINTR);
	}
	if (WIFSIGNALED(status)) {
		printf("%s: signal %d\n", name, WTERMSIG(status));
	} else {
		printf("%s: status %d\n", name, WEXITSTATUS(status));
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	open_counts();
	for (size_t i = 0; argc > 1 && i < sizeof(probes) / sizeof(probes[0]); i++) {
		if (!strcmp(probes[i].name, argv[1])) {
			return probes[i].run(argc - 1, argv + 1);
		}
	}
	fprintf(stderr, "usage: probe NAME [ARGUMENT...]\n");
	return 2;
}
