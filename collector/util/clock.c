/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the counter or the kernel's clock once, in clock_init(). Two clocks are compared by
 * reading one, the other, and the first again; of several tries the one with the least time between
 * counts. The drain writes such anchors with each group, so the factor of clock_calibrate() need
 * only be near.
 */
#include "collector/util/clock.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/prctl.h>
#endif

#include "collector/util/file_text.h"

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define CALIBRATE_NS 100000u
/* Each reads the clock a dozen times: a clock that moves has moved that far long before. */
#define CALIBRATE_ANCHORS 100000u

bool clock_has_counter, clock_is_forbidden;
static struct clock_anchor first;
static clock_function _Atomic kernel_clock; /* NULL: the system call */

uint64_t clock_read_ns(clockid_t id)
{
	/* Atomic, since other threads wait by this clock while one thread still starts the
	 * recorder. */
	clock_function kernel = atomic_load_explicit(&kernel_clock, memory_order_relaxed);
	struct timespec now = {0};

	if (!kernel || kernel(id, &now)) {
		syscall(SYS_clock_gettime, id, &now);
	}
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* As pthread_getcpuclockid makes it, which not every C library has: the kernel's number of the
 * clock. */
uint64_t clock_thread_cpu_ns(uint32_t tid)
{
	return clock_read_ns((clockid_t)(~tid << 3 | 6));
}

uint64_t clock_monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_realtime_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

#if defined(__x86_64__)
/*
 * Does the kernel itself take its time from the counter? It knows whether the counters of all CPUs
 * agree, which the CPU does not. "No" too where it does not say: its clock is right everywhere.
 */
static bool is_kernels_source(void)
{
	char name[32];

	file_text_read(CLOCK_SOURCE, name, sizeof(name));
	return !strcmp(name, "tsc\n");
}

/* A program may forbid its threads to read the counter; the kernel's function reads it, too. */
static bool is_forbidden(void)
{
	int how = PR_TSC_ENABLE;

	return !prctl(PR_GET_TSC, &how) && how != PR_TSC_ENABLE;
}
#else
static bool is_forbidden(void)
{
	return false;
}
#endif

static bool find_counter(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	/* Invariant TSC: same rate in all power states, so it is a clock. */
	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8)) && is_kernels_source();
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

void clock_init(clock_function kernel)
{
	clock_is_forbidden = is_forbidden();
	atomic_store(&kernel_clock, clock_is_forbidden ? NULL : kernel);
	clock_has_counter = !clock_is_forbidden && find_counter();
	first = clock_take_anchor();
}

struct clock_pair clock_read_pair(uint64_t (*ours)(void), uint64_t (*theirs)(void))
{
	struct clock_pair best = {.apart = UINT64_MAX};

	for (int i = 0; i < 8; i++) {
		uint64_t before = ours();
		uint64_t other = theirs();
		uint64_t apart = ours() - before;

		if (apart < best.apart) {
			best = (struct clock_pair){before + apart / 2, other, apart};
		}
	}
	return best;
}

struct clock_anchor clock_take_anchor(void)
{
	struct clock_anchor best = {.error_ns = UINT32_MAX};

	for (int i = 0; i < 4; i++) {
		struct clock_anchor a;
		uint64_t before = clock_monotonic_ns();
		uint64_t after;

		a.raw = clock_raw();
		a.realtime_ns = clock_realtime_ns();
		after = clock_monotonic_ns();
		a.monotonic_ns = before + (after - before) / 2;
		a.error_ns = (uint32_t)(after - before);
		if (a.error_ns < best.error_ns) {
			best = a;
		}
	}
	return best;
}

uint64_t clock_raw_of_stream(uint64_t raw)
{
	return raw - first.raw < UINT64_MAX / 2 ? raw : first.raw;
}

uint64_t clock_raw_near(const struct clock_anchor *now, uint64_t monotonic_ns)
{
	uint64_t raw = now->raw - first.raw, since_ns = now->monotonic_ns - first.monotonic_ns;
	uint64_t then_ns =
		monotonic_ns > first.monotonic_ns ? monotonic_ns - first.monotonic_ns : 0;

	return since_ns ? first.raw + (uint64_t)((unsigned __int128)raw * then_ns / since_ns)
			: now->raw;
}

uint64_t clock_raw_before(const struct clock_anchor *now, uint64_t monotonic_ns)
{
	return monotonic_ns < now->monotonic_ns ? clock_raw_near(now, monotonic_ns) : now->raw;
}

uint64_t clock_raw_at(uint64_t monotonic_ns)
{
	struct clock_anchor now = clock_take_anchor();

	return clock_raw_before(&now, monotonic_ns);
}

uint64_t clock_calibrate(void)
{
	struct clock_anchor now = first;

	if (!clock_has_counter) {
		return (uint64_t)1 << 32;
	}
	for (unsigned int i = 0;
		i < CALIBRATE_ANCHORS && now.monotonic_ns - first.monotonic_ns < CALIBRATE_NS;
		i++) {
		now = clock_take_anchor();
	}
	if (now.monotonic_ns == first.monotonic_ns || now.raw == first.raw) {
		return (uint64_t)1 << 32;
	}
	return (uint64_t)(((unsigned __int128)(now.monotonic_ns - first.monotonic_ns) << 32) /
			  (now.raw - first.raw));
}

const char *clock_name(void)
{
#if defined(__aarch64__)
	return "cntvct";
#else
	return clock_has_counter ? "tsc" : "monotonic";
#endif
}
