/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of another host: what a process reads of CLOCK_REALTIME and CLOCK_MONOTONIC is
 *
 *	CLOCK_OFF + CLOCK_PPM * (true CLOCK_REALTIME - CLOCK_SINCE) / 10^6
 *
 * ns ahead of the truth; all but CLOCK_PPM are ns. To be preloaded. Moments at which a wait on a
 * condition ends are of that clock, too. It stands in for the C library's function and for the
 * kernel's, which the auxiliary vector leads to. Reads by a system call, sleeps, other clocks,
 * time() and gettimeofday() are true.
 */
#include <elf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000 };

static struct {
	int64_t off_ns, since_ns;
	double ppm;
} settings;

static int64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoll(text, NULL, 10) : 0;
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* Behind the arguments and the environment as the kernel has put them. */
static void replace_kernel_functions(int argc, char **argv)
{
	char **env = argv + argc + 1;

	while (*env) {
		env++;
	}
	for (Elf64_auxv_t *entry = (Elf64_auxv_t *)(env + 1); entry->a_type != AT_NULL; entry++) {
		if (entry->a_type == AT_SYSINFO_EHDR) {
			entry->a_un.a_val = (uintptr_t)__ehdr_start;
		}
	}
}

__attribute__((constructor)) static void read_settings(int argc, char **argv)
{
	const char *ppm = getenv("CLOCK_PPM");

	replace_kernel_functions(argc, argv);

	settings.off_ns = number("CLOCK_OFF");
	settings.since_ns = number("CLOCK_SINCE");
	settings.ppm = ppm ? strtod(ppm, NULL) : 0;
}

static int64_t ahead_ns(void)
{
	struct timespec t;
	int64_t since_ns;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	since_ns = t.tv_sec * SECOND_NS + t.tv_nsec - settings.since_ns;
	return settings.off_ns + (int64_t)((double)since_ns * settings.ppm * 1e-6);
}

static void move(struct timespec *t, int64_t by_ns)
{
	int64_t ns = t->tv_sec * SECOND_NS + t->tv_nsec + by_ns;

	t->tv_sec = ns / SECOND_NS;
	t->tv_nsec = ns % SECOND_NS;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, id, t);

	if (r == 0 && (id == CLOCK_REALTIME || id == CLOCK_MONOTONIC)) {
		move(t, ahead_ns());
	}
	return r;
}

#if defined(__aarch64__)
#define KERNEL_CLOCK_GETTIME __kernel_clock_gettime
#else
#define KERNEL_CLOCK_GETTIME __vdso_clock_gettime
#endif

__attribute__((visibility("default"))) int KERNEL_CLOCK_GETTIME(clockid_t id, struct timespec *t);

int KERNEL_CLOCK_GETTIME(clockid_t id, struct timespec *t)
{
	return clock_gettime(id, t);
}

__attribute__((visibility("default"))) int pthread_cond_timedwait(
	pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until)
{
	struct timespec true_until = *until;

	move(&true_until, -ahead_ns());
	return pthread_cond_clockwait(condition, lock, CLOCK_REALTIME, &true_until);
}
