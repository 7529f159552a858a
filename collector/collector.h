/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder as the doors (preload/) see it. A door asks collector_mode, stamps with clock_raw,
 * reserves and commits rows in the ring of its thread, and that is all; everything else happens on
 * the drain thread. No function here changes errno, allocates with malloc, or takes a lock that
 * another thread may hold while it waits.
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/util/clock.h"
#include "collector/ring/ending.h"
#include "collector/format/format.h"
#include "collector/ring/ring.h"

/* Bits of collector_mode. 0: hooks fall through after one load and one branch. */
enum {
	COLLECTOR_RECORD = 1,	/* events are kept */
	COLLECTOR_COLD = 2,	/* nothing was started yet: the next hook starts the recorder */
	COLLECTOR_STEP_API = 4, /* GPROF_STEP=api:... is on: hooks compare their id */
};

#if defined(__aarch64__)
#define COLLECTOR_PAGE 65536u
#else
#define COLLECTOR_PAGE 4096u
#endif

/* Alone on its page, which a child finds wiped until fork's handler has run; see collector.c. */
struct collector_page {
	_Atomic uint32_t mode;
	_Atomic uint32_t is_ours; /* the rings were started by this process */
} __attribute__((aligned(COLLECTOR_PAGE)));

extern struct collector_page collector_page __attribute__((visibility("hidden")));
#define collector_mode collector_page.mode

/* The hook whose return ends a step, 0 if none; valid with COLLECTOR_STEP_API. */
extern uint32_t collector_step_call __attribute__((visibility("hidden")));

/* Why events are missing; the text goes into the stream. */
#define COLLECTOR_LOSSES(L)                                                                        \
	L(RING, "ring full (raise GPROF_BUFFER_MB)")                                               \
	L(SIGNAL, "call from a signal handler that ran while an event was written (rare; nothing " \
		  "to do)")                                                                        \
	L(LEFT, "call or event that was left before its end, by a jump out of a signal handler, "  \
		"an "                                                                              \
		"exception or the end of its thread (nothing to do)")                              \
	L(DAMAGED, "event overwritten in memory before it was read (look for a wild write in the " \
		   "program)")                                                                     \
	L(START, "call while the recorder was starting (the first CUDA call starts it; a step "    \
		 "that ended meanwhile is not counted: the numbers of later ones are lower)")      \
	L(CUPTI, "dropped by CUPTI (raise GPROF_BUFFER_MB)")                                       \
	L(CUPTI_BUFFER, "CUPTI buffers exhausted (raise GPROF_BUFFER_MB)")                         \
	L(CUPTI_RECORD, "CUPTI record of a form that this version does not know (set "             \
			"GPROF_CUPTI_PATH to an older CUPTI)")                                     \
	L(SHARED, "device activity, while another CUPTI client was active")                        \
	L(CUPTI_TIMES, "CUPTI waits and overheads without times")                                  \
	L(THREAD, "creator of a thread not recorded (over 1024 starting at once; the event is "    \
		  "kept)")                                                                         \
	L(DISK, "the file system refused the stream (no space, or a quota: set GPROF_DIR to one "  \
		"with room)")                                                                      \
	L(LIMIT, "GPROF_MAX_MB reached (raise it, or record fewer steps by GPROF_SCHEDULE)")       \
	L(TEXT, "text cut to 4096 bytes (the event is kept)")                                      \
	L(OP, "operator in over 510 others, or whose begin was not seen (rare; nothing to do)")    \
	L(PYTHON, "Python stack that could not be read, or beyond 130,000 different ones (the "    \
		  "event is kept)")                                                                \
	L(PYTHON_CALL, "call of a Python function beyond 200,000 a second of a thread (name "      \
		       "fewer by GPROF_PYTHON_FILTER)")                                            \
	L(PYTHON_CODE, "call of a Python function beyond the 32,768 that are kept apart")          \
	L(PYTHON_DEPTH, "calls of Python functions or modules that lie too deep in others to be "  \
			"seen, counted once each time (nothing to do)")                            \
	L(NOTICE, "notices beyond the first 64 (GPROF_LOG=info in GPROF_LOG_FILE has all)")

enum collector_loss {
#define L(name, text) COLLECTOR_LOST_##name,
	COLLECTOR_LOSSES(L)
#undef L
		COLLECTOR_NR_LOSSES,
};

/* A function that api rows name: its position in the list, from 1, is its `call`. */
struct collector_call {
	uint16_t name_at; /* in one piece of memory with all names */
	uint8_t api;	  /* enum gprof_api */
};

/*
 * Once, before anything else (the constructor, or the first hook if that runs earlier): only finds
 * out whether gprof is switched off. names, calls: the hooks, which must stay.
 */
void collector_init(const char *names, const struct collector_call *calls, uint32_t nr_calls);

/*
 * The process uses CUDA, NVTX or the like: makes the stream, the rings and the drain thread. Any
 * thread, any number of times; only the first does something, others return at once.
 */
void collector_start(void);

/* The drain's, while it starts: it has come on, and who waits for it may wait on. */
void collector_move_on(void);

/*
 * The drain's, some time after that: the thread that has started the recorder may have been taken
 * out of the call by a signal handler's jump, so that nobody lets the first event in.
 */
void collector_take_over(void);

/*
 * The driver is initialised in this process (InitializeInjection, or a hooked call succeeded):
 * attaches CUPTI, once. Must not be called with the Python GIL's waiters in mind: it takes
 * milliseconds.
 */
void collector_attach(void);

/*
 * What a door wants to be told: that windows open or close (the drain thread; about CUPTI's warm-up
 * time before and after), that the process forks or has forked, in the atfork handlers; and in a
 * child whose parent recorded, that all that was recorded is gone.
 */
struct collector_door {
	void (*follow)(bool is_wanted);
	void (*before_fork)(void);
	void (*after_fork)(bool is_child);
	void (*child)(void);
};

/* The one door that wants it; before it is used. */
void collector_set_door(const struct collector_door *door);

/* The drain's: tells it. */
void collector_follow(bool is_wanted);

/* Writes what there is and closes the stream; `how` the process ended. At most a few seconds. */
void collector_stop(const char *how);

/* In a forked child, from the atfork handler: a new, cold recorder that never touches CUPTI. */
void collector_child(void);

/* Switches everything off for good; the cause goes into the stream and on stderr. */
void collector_disable(const char *cause, int code);

/*
 * Is anything recorded in this process? False also in a child that was made without fork's
 * handlers: the rings are not its own.
 */
bool collector_is_running(void);

/* Counts missing events. Any thread. */
void collector_lose(enum collector_loss cause, uint64_t nr_events);

/* Something that the user should know: what, the refusing API's code, and the remedy. */
void collector_notice(const char *cause, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A step ended now, found by `rule`. Any thread. */
void collector_step(enum gprof_step_rule rule);

/*
 * A user range of a framework ended (times by clock_raw), on any thread and also while nothing is
 * recorded: steps may end with it.
 */
void collector_range(const char *name, uint64_t begin, uint64_t end);

/* Does GPROF_STEP name this NVTX range? For the NVTX door, when a range ends. */
bool collector_is_step_range(const char *name, uint64_t nr_bytes);

/*
 * The process is that worker, from 0 on, of so many of a data loader; of 0: it is none. Any thread,
 * also before the recorder starts.
 */
void collector_loader_worker(uint32_t number, uint32_t nr_workers);

/* cudaProfilerStart (true) and cudaProfilerStop (false). */
void collector_capture(bool is_on);

/*
 * The calling thread, which runs gprof's pthread_create trampoline, was made by the thread with
 * that id (0: one without events); or it got a name. Its end is seen by a destructor of its own.
 */
void collector_thread_began(uint32_t parent);
void collector_thread_named(const char *name);

/* Will kernels come with names and times from CUPTI? Valid after collector_attach. */
bool collector_has_cupti(void);

/* Is a thread that starts there one of CUPTI's own, and not the host's? No lock. */
bool collector_is_cupti(uintptr_t start);

/*
 * Writes a row of a table whose struct begins with `head`, with `text` behind it, to the calling
 * thread's ring. The copy for rare rows; hot doors fill the ring in place.
 */
void collector_emit(void *row, unsigned int table, const char *text, uint64_t nr_bytes);

/* Size of a row of row_bytes with that much text behind it, as head.bytes wants it. */
static inline uint32_t collector_row_bytes(uint32_t row_bytes, uint64_t text_bytes)
{
	return (row_bytes + (uint32_t)text_bytes + 7u) & ~7u;
}

#endif
