/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of chunks, as the two sides of the rings share it: ring.c, where threads write, and
 * ring_drain.c, where the drain reads. For these two alone.
 */
#ifndef COLLECTOR_RING_RING_POOL_H
#define COLLECTOR_RING_RING_POOL_H

#include <stddef.h>

#include "collector/ring/ring.h"
#include "collector/util/stack.h"

struct ring_pool {
	char *chunks; /* NULL: not started */
	size_t mapped_bytes;
	const char *path; /* of a file that grows, or NULL */
	uint32_t nr_chunks;
	/*
	 * Chunks that have their memory, and how many may get it: in a file of a tmpfs that comes
	 * as it is needed, and the tmpfs may get full.
	 */
	_Atomic uint32_t nr_ready, nr_most;
	_Atomic uint32_t *next; /* per chunk: next in the free stack, or in its thread's chain */
	struct ring_thread *threads;
	_Atomic uint32_t nr_threads; /* entries of `threads` ever used */
	_Atomic uint32_t last_id;
	_Atomic uint32_t *thread_links;
	struct stack free_chunks;
	struct stack free_threads;
	_Atomic uint32_t nr_used;
	_Atomic uint32_t fresh;	  /* chunks from here on were never used */
	_Atomic uint32_t touched; /* chunks before this one have had their page faults */
	_Atomic uint32_t futex;
	atomic_int signal, signal_tid; /* The drain, that thread, waits for it; 0: for the futex. */
	atomic_uint nr_waking;	       /* threads that may be sending that signal */
	_Atomic uint64_t lost;	       /* lost by threads without a slot in `threads` */
	_Atomic uint64_t left, came_back;
	uint64_t left_counted; /* calls that were left for good, already counted */
	uint64_t lost_ended;   /* losses of ended threads, not yet counted */
};

extern struct ring_pool ring_pool __attribute__((visibility("hidden")));

static inline struct gprof_chunk_header *ring_chunk_at(uint32_t index)
{
	return (struct gprof_chunk_header *)(ring_pool.chunks + (size_t)index * RING_CHUNK_BYTES);
}

/*
 * Gives memory to that many more chunks; returns false if there is none, or all have it. Any
 * thread. A thread of the target requests no more than it needs, since its call waits.
 */
bool ring_pool_grow(uint32_t nr_chunks);

/* Chunks that the drain touches ahead, so that no thread of the target takes their page faults. */
#define RING_TOUCH_AHEAD 64u

/* Takes page faults ahead of the target's threads. For the attaching thread, then the drain. */
void ring_pool_touch(void);

#endif
