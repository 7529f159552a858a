/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU clock of hooks: the CPU's counter if it is invariant (about 9 ns a read), else
 * CLOCK_MONOTONIC (about 20 ns). "Raw" values are that counter. Ticks, about 1 ns each, are raw
 * values scaled by one fixed factor per stream, so that blocks hold small numbers. The reader
 * derives the exact length of a tick from the anchors.
 */
#ifndef COLLECTOR_UTIL_CLOCK_H
#define COLLECTOR_UTIL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct clock_anchor {
	uint64_t raw;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint32_t error_ns; /* distance of the reads */
};

/* clock_gettime, but negative numbers are errors. */
typedef int (*clock_function)(clockid_t id, struct timespec *now);

extern bool clock_has_counter __attribute__((visibility("hidden")));
/* The thread that called clock_init may not read the counter (PR_SET_TSC), nor may its threads. */
extern bool clock_is_forbidden __attribute__((visibility("hidden")));

/*
 * By the kernel's function or a system call: the C library's may be a preloaded library's, which
 * shows the target a clock that is off, or stands still.
 */
uint64_t clock_read_ns(clockid_t id);	    /* 0: there is no such clock */
uint64_t clock_thread_cpu_ns(uint32_t tid); /* the CPU time of one of ours; 0: it has ended */
uint64_t clock_monotonic_ns(void);
uint64_t clock_realtime_ns(void);

/* One reading of another clock, and what our own clock showed halfway through it. */
struct clock_pair {
	uint64_t ours, theirs;
	uint64_t apart; /* duration of the reading, in units of our clock */
};

/*
 * Reads the other clock a few times and returns the quickest reading: in a slow one the thread was
 * interrupted, so that nobody knows which of our times belongs to it. Any thread.
 */
struct clock_pair clock_read_pair(uint64_t (*ours)(void), uint64_t (*theirs)(void));

/* The raw CPU clock; any thread, any time after clock_init. */
static inline uint64_t clock_raw(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(clock_has_counter, 1)) {
		return __builtin_ia32_rdtsc();
	}
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
	return clock_monotonic_ns();
}

/* Is clock_raw an instruction, and no call of another function? */
static inline bool clock_is_counter(void)
{
#if defined(__x86_64__)
	return clock_has_counter;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* clock_raw, where it is an instruction. */
static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return clock_raw();
#endif
}

/*
 * Examines the CPU and takes the first anchor; once, before the first clock_raw. kernel: the
 * kernel's function in this process, NULL if it has none.
 */
void clock_init(clock_function kernel);

/*
 * The factor of ticks, (ticks << 32) / raw, from the time since clock_init (waits until that is
 * 100 us, or for so many reads that a clock must stand still; good to about 1 in 5,000, which is
 * all that nominal ticks need).
 */
uint64_t clock_calibrate(void);

/* That raw value, or that of clock_init if it is earlier: the stream has no time before it. */
uint64_t clock_raw_of_stream(uint64_t raw);

/* The raw value at an earlier CLOCK_MONOTONIC time, neither before clock_init nor in the future. */
uint64_t clock_raw_at(uint64_t monotonic_ns);
/* The same for many times, by one anchor that was taken just now. */
uint64_t clock_raw_before(const struct clock_anchor *now, uint64_t monotonic_ns);
/* The same, which may also lie a little after the anchor. */
uint64_t clock_raw_near(const struct clock_anchor *now, uint64_t monotonic_ns);

/* The best of a few tries at reading all clocks at once. */
struct clock_anchor clock_take_anchor(void);

/* Name for the stream: "tsc", "cntvct" or "monotonic". */
const char *clock_name(void);

#endif
