/* SPDX-License-Identifier: Apache-2.0 */
/* Why events are missing, and how many. Any thread counts, without a lock; the drain collects. */
#ifndef COLLECTOR_UTIL_LOSS_H
#define COLLECTOR_UTIL_LOSS_H

#include <stdint.h>

/* The text goes into the stream; with "the event is kept" (GPROF_LOSS_KEPT) no event is missing. */
#define LOSS_CAUSES(L)                                                                             \
	L(RING, "ring full (raise GPROF_BUFFER_MB)")                                               \
	L(SIGNAL, "call from a signal handler that interrupted the recording of an event (rare; "  \
		  "nothing to do)")                                                                \
	L(LEFT, "call or event that a jump out of a signal handler, an exception or the end of "   \
		"its thread cut short (nothing to do)")                                            \
	L(DAMAGED, "event overwritten in memory before it was read (look for a wild write in the " \
		   "program)")                                                                     \
	L(START, "call while the recorder was starting (the first CUDA call starts it; steps "     \
		 "that end meanwhile are not counted, so later steps have lower numbers)")         \
	L(CUPTI, "dropped by CUPTI (raise GPROF_BUFFER_MB)")                                       \
	L(CUPTI_BUFFER, "CUPTI buffers exhausted (raise GPROF_BUFFER_MB)")                         \
	L(CUPTI_RECORD,                                                                            \
		"CUPTI record of an unknown form (set GPROF_CUPTI_PATH to an older CUPTI)")        \
	L(LATE, "device activity that ended after 1024 later record windows, and may have been "   \
		"launched in one (record fewer, longer windows with GPROF_SCHEDULE)")              \
	L(SHARED, "device activity, while another CUPTI client was active")                        \
	L(CUPTI_TIMES, "CUPTI waits and overheads without times")                                  \
	L(THREAD, "creator of a thread not recorded (over 1024 starting at once; the event is "    \
		  "kept)")                                                                         \
	L(DISK, "the file system refused the stream (no space, or a quota: set GPROF_DIR to a "    \
		"directory with room)")                                                            \
	L(FACTS, "name, sample or other fact that the file system refused, with 32 MB of others "  \
		 "waiting (set GPROF_DIR to a directory with room)")                               \
	L(LIMIT, "GPROF_MAX_MB reached (raise it, or record fewer steps with GPROF_SCHEDULE)")     \
	L(REVERSED, "duration of an event that ended before it began, by the clocks of two CPUs "  \
		    "(the event is kept, with 0)")                                                 \
	L(LIMIT_FACTS, "name, sample or other fact beyond the part of GPROF_MAX_MB that is left "  \
		       "to them (raise it)")                                                       \
	L(LIMIT_STEP, "step, thread, window or sample after GPROF_MAX_MB (raise it)")              \
	L(OS_NAME, "name of a file cut to 512 bytes (the event is kept)")                          \
	L(TEXT, "text cut to 4096 bytes (the event is kept)")                                      \
	L(NVTX_NAME, "NVTX domain or string registered before a fork or the first event, for "     \
		     "which there was no memory (the event is kept, without its name)")            \
	L(NVTX_HANDLE, "NVTX domain or string of another tool beyond 65,536 of a kind (the event " \
		       "is kept, without a name)")                                                 \
	L(NVTX_WIDE, "NVTX name of wide characters cut to some 250 bytes (the event is kept)")     \
	L(OP, "operator inside more than 510 others, or without a recorded start (rare; nothing "  \
	      "to do)")                                                                            \
	L(SHAPE, "operator without its shape: one of over 32,768 different ones, or of 4 MB, or "  \
		 "memory is short (the event is kept)")                                            \
	L(BLOCK, "CPU memory of PyTorch in over 65,000 blocks at a time (rare; nothing to do)")    \
	L(PYTHON, "Python stack that was unreadable, or beyond 130,000 different ones (the event " \
		  "is kept)")                                                                      \
	L(PYTHON_CALL, "call of a Python function beyond 200,000 per second and thread (name "     \
		       "fewer in GPROF_PYTHON_FILTER)")                                            \
	L(PYTHON_CODE, "call of a Python function beyond the 32,768 different ones that gprof "    \
		       "distinguishes, or memory is short")                                        \
	L(PYTHON_FILE, "Python function in a file beyond the 4,096 that gprof distinguishes (the " \
		       "event is kept, without the file)")                                         \
	L(PYTHON_TEXT, "name of a Python file or function of over 512 bytes, shortened in the "    \
		       "middle (the event is kept)")                                               \
	L(PYTHON_MODULE,                                                                           \
		"PyTorch module without its path or whole class: it is one of over 16,000, deep "  \
		"inside its caller, or a name is too long (the event is kept)")                    \
	L(PYTHON_DEPTH, "calls of Python functions or modules nested too deep to record, counted " \
			"once each time (nothing to do)")                                          \
	L(COMPILED, "module of torch.compile that was not read (the event is kept, without "       \
		    "the operators of its kernels)")                                               \
	L(CPU_SAMPLE, "CPU sample that found no room in the kernel's buffer (lower GPROF_CPU_HZ)") \
	L(SWITCH, "context switch, or CPU sample beside them, that found no room in the kernel's " \
		  "buffer (raise kernel.perf_event_mlock_kb, or switch GPROF_SCHED off)")          \
	L(STACK_NEW, "C stack of a call that gprof had not seen before, and had no time to copy "  \
		     "(the event is kept)")                                                        \
	L(STACK_PLACE, "C stack of a call that is not on its thread's own stack, as those of "     \
		       "coroutines and signal handlers (the event is kept)")                       \
	L(CPU_THREAD, "thread without CPU samples, which the kernel refused or had no room for")   \
	L(PM_SAMPLE, "sample of hardware counters that found no room in the GPU's buffer, or was " \
		     "not decoded (raise GPROF_METRICS_US)")                                       \
	L(NCCL, "channel or network transfer of NCCL beyond 4,096 of a communicator under way at " \
		"a time")                                                                          \
	L(NCCL_REQUEST, "request of NCCL to a network device beyond 4,096 of a communicator "      \
			"under way at a time, or 4 devices of a transfer, or that ended after "    \
			"its transfer")                                                            \
	L(NCCL_PLUGIN, "request to a network device by a network plugin of NCCL that gprof does "  \
		       "not know, or of another version")                                          \
	L(NCCL_NAME, "name of an NCCL communicator cut to 63 bytes (the event is kept)")           \
	L(NCCL_NEXT, "event of NCCL that the program's own profiler plugin did not get: gprof "    \
		     "keeps the handles of its last 65,536 events, or memory is short")            \
	L(NOTICE, "notices beyond the first 64 (GPROF_LOG=info in GPROF_LOG_FILE has all)")

enum loss_cause {
#define L(name, text) LOSS_##name,
	LOSS_CAUSES(L)
#undef L
		LOSS_NR_CAUSES,
};

/* Counts nr_events more events lost for `cause`. Any thread. */
void loss_add(enum loss_cause cause, uint64_t nr_events);

/* The losses for `cause` since the last call. */
uint64_t loss_take(enum loss_cause cause);

/* In a forked child: drops the parent's losses. */
void loss_forget(void);

#endif
