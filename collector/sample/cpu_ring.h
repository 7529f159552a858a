/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's buffer of one thread, in which it writes a record for each sample (perf_event_open,
 * a software clock), and if that is wanted for each context switch. For the drain thread.
 */
#ifndef COLLECTOR_SAMPLE_CPU_RING_H
#define COLLECTOR_SAMPLE_CPU_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/sample/stack_walk.h"

/* The kernel's own bound (kernel.perf_event_max_stack), unless an administrator has changed it. */
#define CPU_RING_MAX_FRAMES 127u

/* Header, time, number of frames, and all frames with a mark of context. */
#define CPU_RING_CHAIN_BYTES (sizeof(struct perf_event_header) + 8 * (2 + CPU_RING_MAX_FRAMES + 1))

/*
 * A record with a copy of the stack: the copy and what stands beside it make a power of two. Beside
 * records of switches, each one also has its CPU.
 */
#define CPU_RING_RECORD_BYTES 8192u
#define CPU_RING_CPU_BYTES    8u
#define CPU_RING_STACK_BYTES  (CPU_RING_RECORD_BYTES - 88u - CPU_RING_CPU_BYTES)

/* A record of a switch: header, time and CPU. */
#define CPU_RING_SWITCH_BYTES (sizeof(struct perf_event_header) + 8 + CPU_RING_CPU_BYTES)

struct cpu_ring_want {
	uint32_t tid;
	uint64_t period_ns;  /* of samples; 0: none */
	uint32_t ring_bytes; /* a power of two of whole pages, without the first page */
	int waked_tid;	     /* the thread that gets CPU_RING_SIGNAL with records; 0: none */
	bool wakes_early;    /* with each record; else when the ring is half full */
	bool copies_stack;   /* else the kernel follows frame pointers */
	bool has_switches;   /* context switches have records, too */
};

/* The kernel sends none of these, and hardly any program does. */
#define CPU_RING_SIGNAL SIGSTKFLT

/* Before the first thread, also in a forked child. is_asked: the user wants events. */
void cpu_ring_begin(bool is_asked);

/* Does a seccomp filter hold, under which nothing is opened? */
bool cpu_ring_is_filtered(void);
/* It may have come meanwhile: the next cpu_ring_open looks. */
void cpu_ring_check_filter(void);

/* Returns 0 or -errno. Uses no descriptor after it. */
int cpu_ring_open(struct perf_event_mmap_page **ring, const struct cpu_ring_want *want);

/* Do samples stand for the time of threads in the kernel, too? False before a thread has an event.
 */
bool cpu_ring_has_kernel(void);

/* The bytes that the user may lock are used by a buffer of that size. */
size_t cpu_ring_locked_bytes(uint32_t ring_bytes);

/* Bytes that each user may lock for such buffers, of all processes, besides RLIMIT_MEMLOCK. */
uint64_t cpu_ring_most_locked_bytes(void);

/* The size of a buffer with room for `wanted_bytes`, and of at most `most`. */
uint32_t cpu_ring_bytes(uint64_t wanted_bytes, uint64_t page_bytes, uint64_t most);

/* Ends the event, too. */
void cpu_ring_close(struct perf_event_mmap_page *ring);

static inline bool cpu_ring_has_records(const struct perf_event_mmap_page *ring)
{
	return __atomic_load_n(&ring->data_head, __ATOMIC_RELAXED) != ring->data_tail;
}

static inline bool cpu_ring_is_half_full(const struct perf_event_mmap_page *ring)
{
	return 2 * (__atomic_load_n(&ring->data_head, __ATOMIC_RELAXED) - ring->data_tail) >=
	       ring->data_size;
}

/*
 * Takes out all records, also those that come meanwhile, up to twice the size of the buffer;
 * on_record gets those that are not longer than CPU_RING_RECORD_BYTES. Returns how many bytes there
 * were at most at a time.
 */
uint64_t cpu_ring_read(struct perf_event_mmap_page *ring,
	void (*on_record)(void *context, const struct perf_event_header *header), void *context);

/* A sample as the kernel has it: the chain of frame pointers, or a copy of the stack. */
struct cpu_ring_sample {
	uint64_t monotonic_ns;
	const uint64_t *addresses; /* the innermost first, with the kernel's marks of context */
	uint64_t nr;
	bool is_copy;
	struct stack_copy copy;
};

/* How the kernel writes samples: as cpu_ring_want. */
struct cpu_ring_form {
	bool copies_stack, has_switches;
};

/* From the bytes of a record; false if it is no sample, or is malformed. */
bool cpu_ring_decode(const struct perf_event_header *header, size_t nr_bytes,
	struct cpu_ring_form form, struct cpu_ring_sample *sample);

enum cpu_ring_what {
	CPU_RING_SWITCHED_IN,
	CPU_RING_PREEMPTED,    /* switched out while it could run */
	CPU_RING_BLOCKED,      /* switched out to wait */
	CPU_RING_SWITCHED_OUT, /* why is unknown: kernels before 4.17 do not say it */
	CPU_RING_EXITED,
	CPU_RING_LOST, /* records before it found no room */
};

/* A record of a switch, or what else says what a thread does. */
struct cpu_ring_switch {
	uint64_t monotonic_ns;
	uint32_t cpu;
	enum cpu_ring_what what;
};

/* The same for these, of a buffer that has switches. */
bool cpu_ring_decode_switch(
	const struct perf_event_header *header, size_t nr_bytes, struct cpu_ring_switch *record);

/*
 * Finds the frames of a sample, at most `most`, the innermost first: in callers, the last byte of
 * the call. is_cut: there are others, which are unknown.
 */
uint32_t cpu_ring_frames(
	const struct cpu_ring_sample *sample, uint64_t *addresses, uint32_t most, bool *is_cut);

/* Does the record give the thread a name? Then it is copied, cut to nr_bytes with its end. */
bool cpu_ring_decode_name(const struct perf_event_header *header, char *name, size_t nr_bytes);

/* How many samples found no room before the record; 0 if it does not say so. */
uint64_t cpu_ring_decode_lost(const struct perf_event_header *header);

/*
 * How many samples a thread may have lost that used so much CPU time between two reads, of which
 * the second took nr_taken and found no room left. The kernel says how many found no room with the
 * next one that does.
 */
uint64_t cpu_ring_lost(uint64_t cpu_ns, uint64_t period_ns, uint64_t nr_taken);

#endif
