/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where threads put their rows: each has a chain of chunks out of one pool that all threads share,
 * in a file-backed mapping, so that committed rows outlive the process. Writing is a bump of a
 * thread-local pointer; a full chunk is exchanged for a free one without lock or system call. The
 * drain thread reads the chains and gives chunks back once their rows are in the stream.
 *
 *     row = ring_reserve(&ring_self, bytes);     NULL: no room, already counted
 *     fill *row
 *     ring_commit(&ring_self, row, bytes);
 *
 * Rows of a chunk become visible to the drain and to the reader of a dead process by `committed`.
 */
#ifndef COLLECTOR_RING_H
#define COLLECTOR_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/format.h"

#define RING_CHUNK_BYTES 16384u
#define RING_MAX_THREADS 16384u
/* Added to a thread's depth while it runs gprof's own code: its calls are not the host's. */
#define RING_INSIDE 0x10000u

/*
 * A call that the thread is in, or has returned from last. The drain asks for it when nothing goes
 * on any more (stall_thread.c), so nothing orders its two words.
 */
struct ring_call {
	const char *name; /* NULL: there was none; of those that stay for ever */
	uint64_t since;	  /* clock_raw shifted left by one; bit 0: it has not returned */
};

static inline void ring_call_begin(struct ring_call *call, const char *name, uint64_t raw)
{
	call->name = name;
	call->since = raw << 1 | 1;
}

static inline void ring_call_end(struct ring_call *call, uint64_t raw)
{
	call->since = raw << 1;
}

/*
 * The calling thread's state. Initial-exec TLS, two instructions to reach; kept small because a
 * library that is opened late must find its TLS in the surplus that ld.so reserves.
 */
struct ring_self {
	char *at;  /* where the next row goes */
	char *end; /* of the chunk; both NULL before the thread's first row */
	struct gprof_chunk_header *chunk;
	struct ring_thread *thread;
	uint32_t id;	/* as in the stream, 0 before the first row */
	uint32_t depth; /* hooks of ours on the stack, and RING_INSIDE while in gprof itself */
	uint32_t correlation; /* left by the CUPTI callback for the outermost hook */
	uint32_t callback;    /* correlation id of the last call that a callback began to record */
	uint32_t last;	      /* correlation id of the last call that a callback told of */
	uint8_t writing;      /* between reserve and commit: a signal handler must not write */
	uint8_t ended;	      /* the thread is past its destructors */
	struct ring_call cuda, nccl; /* outermost calls of each; those of NCCL call CUDA */
};

extern __thread struct ring_self ring_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline bool ring_is_inside(const struct ring_self *self)
{
	return self->depth >= RING_INSIDE;
}

/* A thread as the drain sees it. */
struct ring_thread {
	uint32_t id;
	uint32_t tid;
	_Atomic uint32_t has_chain;   /* it wrote a row, and not all of its chunks are given back */
	_Atomic uint32_t ended;	      /* it will write no more */
	_Atomic uint64_t lost;	      /* rows that found no room */
	const struct ring_self *self; /* gone when the thread is: read by peek.h alone */
	void *door; /* memory of a door for the thread in this place, kept for the next one */
	/* the drain's own: */
	uint32_t first;	  /* oldest chunk not given back */
	uint32_t current; /* chunk being read; UINT32_MAX before the first */
	uint32_t offset;  /* bytes of rows of `current` that are read */
	uint64_t lost_told;
	uint64_t lost_settled; /* of these, no longer counted in chunks */
};

/*
 * Makes the pool of pool_bytes in the file `path` (created new, 0600, space reserved), or in
 * anonymous memory if path is NULL. Returns 0 or -errno, and may then be called again with as many
 * bytes. Once per process and once more in a forked child.
 */
int ring_start(const char *path, uint64_t stream_id, uint64_t pool_bytes);

/* Gives up the mapping of a parent without touching it; for a forked child. */
void ring_forget(void);

/* Removes the file; the mapping stays, since threads may still write. */
void ring_stop(const char *path);

char *ring_reserve_slow(struct ring_self *self, uint32_t bytes);

/* Gives the calling thread its id and first chunk if it has none; false if that cannot be now. */
bool ring_enter(struct ring_self *self);

/*
 * Room for a row of `bytes` (a multiple of 8, at most RING_CHUNK_BYTES / 2) or NULL. No lock, no
 * system call but on the thread's first row.
 */
static inline char *ring_reserve(struct ring_self *self, uint32_t bytes)
{
	char *at = self->at;

	if (__builtin_expect((uint64_t)(self->end - at) < bytes, 0) || self->writing) {
		return ring_reserve_slow(self, bytes);
	}
	self->writing = 1;
	/* The drain has read these lines last, on another core: fetch them back early. */
	__builtin_prefetch(at + 512, 1);
	__builtin_prefetch(at + 576, 1);
	atomic_signal_fence(memory_order_seq_cst);
	return at;
}

/* Makes the row at `row`, which was reserved last, visible. */
static inline void ring_commit(struct ring_self *self, void *row, uint32_t bytes)
{
	struct gprof_chunk_header *chunk = self->chunk;
	char *at = (char *)row + bytes;

	self->at = at;
	/* Release: whoever sees the count sees the row. The file's reader relies on it too. */
	__atomic_store_n(&chunk->committed, (uint32_t)(at - (char *)(chunk + 1)), __ATOMIC_RELEASE);
	atomic_signal_fence(memory_order_seq_cst);
	self->writing = 0;
}

/* The calling thread writes no more; its last chunk may go. */
void ring_end_thread(struct ring_self *self);

/* Called by ring_reserve_slow when a thread has its first row: `self->id` is given. */
extern void (*ring_on_thread)(struct ring_self *self);

/* ---- the drain's side; one thread only ---- */

/* Sleeps up to timeout_ms, less if the pool fills or ring_wake is called. */
void ring_wait(uint32_t timeout_ms);
void ring_wake(void);

/* Share of the pool in use, in 1/256. */
unsigned int ring_fill(void);

/*
 * Calls row(context, thread, row) for each committed row not read yet, chain by chain. Rows stay
 * where they are until ring_release.
 */
void ring_read(
	void (*row)(void *context, struct ring_thread *thread, const struct gprof_row_head *head),
	void *context);

/* Calls thread(context, thread, chunk_seq, offset) for each live thread: how far it has been read.
 */
void ring_positions(void (*thread)(void *context, struct ring_thread *thread, uint32_t chunk_seq,
			    uint32_t offset),
	void *context);

/* The first thread after `before` (NULL: of all) that has written a row and not ended, or NULL. */
const struct ring_thread *ring_next_thread(const struct ring_thread *before);

/* Gives back what ring_read has passed. */
void ring_release(void);

/* Rows lost by threads since the last call, and calls that came from a signal handler meanwhile. */
uint64_t ring_take_lost(void);
uint64_t ring_take_nested(void);

#endif
