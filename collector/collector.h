/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's API for the event sources in preload/. A source checks collector_mode, reads
 * clock_raw, reserves and commits rows in the ring of its thread, and no more; everything else
 * happens on the drain thread. No function here changes errno, calls malloc, or takes a lock that
 * another thread may hold while it waits.
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"
#include "collector/ring/ending.h"
#include "collector/ring/ring.h"
#include "collector/stream/calls.h"
#include "collector/util/clock.h"
#include "collector/util/loss.h"
#include "collector/util/mode.h"
#include "collector/util/notice.h"

/*
 * Once, before anything else (the constructor, or the first hook if that runs earlier): only reads
 * whether gprof is enabled. names, calls: the hooks, which must stay.
 */
void collector_init(const char *names, const struct calls_hook *calls, uint32_t nr_calls);

/*
 * The process uses CUDA, NVTX or the like: makes the stream, the rings and the drain thread. Any
 * thread, any number of times; only the first does something and returns true, others return at
 * once.
 */
bool collector_start(void);

/*
 * The driver is initialised in this process (InitializeInjection, or a hooked call succeeded):
 * attaches CUPTI, once. It takes milliseconds, so do not call it where threads wait for Python's
 * GIL. holder: a tool in the process that another client of CUPTI would break, which therefore is
 * left to it; NULL: none. It must stay.
 */
void collector_attach(const char *holder);

/*
 * Events for a source: the recorder starts and needs the kernel's clock (NULL: there is none);
 * record windows open or close (on the drain thread, with CUPTI's warm-up time before and after);
 * the process forks or has forked (in the atfork handlers); in a child whose parent recorded, all
 * that was recorded is gone.
 */
struct collector_source {
	clock_function (*find_clock)(void);
	bool (*set_enabled)(bool is_wanted); /* returns true if there was something off */
	void (*before_fork)(void);
	void (*after_fork)(bool is_child);
	void (*forget)(void);
};

/* Registers the one source that wants these events, before it is used. */
void collector_set_source(const struct collector_source *door);

/*
 * Writes the remaining events and closes the stream; `how` is the way the process ended. Takes at
 * most a few seconds.
 */
void collector_stop(const char *how);

/*
 * The process ends soon, or may: writes the events so far, and goes on recording. Takes as long at
 * most. is_exit: exit handlers run, and the driver is torn down by one of them.
 */
void collector_catch_up(bool is_exit);

/* Another program replaces this one now: what was only counted goes into the rings, which stay. */
void collector_leave_counts(void);

/*
 * Is anything recorded in this process? False also in a child that was made without fork's
 * handlers: the rings are not its own.
 */
bool collector_is_running(void);

/* A step ended now, found by `rule`. Any thread. */
void collector_step(enum gprof_step_rule rule);

/*
 * A user range of a framework ended (times by clock_raw), on any thread and also while nothing is
 * recorded: steps may end with it.
 */
void collector_range(const char *name, uint64_t begin, uint64_t end);

/* In a record window: backward has added to the gradient of a parameter, on any thread. */
void collector_gradient(void);

/*
 * With GPROF_TIMER_ONLY=1 a source writes the rows of fetches from data loaders all the same, since
 * reader_cost is their time: is the range of that name one, and a window open?
 */
bool collector_times_fetch(const char *name);

/* Does GPROF_STEP name this NVTX range? For preload/nvtx, when a range ends. */
bool collector_is_step_range(const char *name, uint64_t nr_bytes);

/*
 * The process is that worker (from 0) of so many of a data loader; 0 workers: it is none. Any
 * thread, also before the recorder starts.
 */
void collector_loader_worker(uint32_t number, uint32_t nr_workers);

/*
 * The program itself switches recording on or off. Returns 1, or 0 if it was so already; -EIO if
 * nothing is recorded in this process any more, or the drain makes no progress. After off, the
 * stream has all that was recorded and whose GPU work is done.
 */
int collector_switch(bool is_on);

/* The path of the stream, which lasts as long as the process; NULL if nothing is recorded. */
const char *collector_stream(void);

/* The number of the newest record window, from 1; 0 before the first. */
uint64_t collector_window(void);

/* cudaProfilerStart (true) and cudaProfilerStop (false). */
void collector_capture(bool is_on);

/*
 * The calling thread, which runs gprof's pthread_create trampoline, was made by the thread with
 * that id (0: one without events); or it got a name. Its end is seen by a destructor of its own.
 */
void collector_thread_began(uint32_t parent);
void collector_thread_named(const char *name);

/* Does CUPTI start a thread at that address, and not the target? No lock. */
bool collector_is_cupti(uintptr_t start);

#endif
