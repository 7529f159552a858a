/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory in which threads put their rows: each has a chain of chunks out of one pool that all
 * threads share, in a file-backed mapping, so that committed rows outlive the process. Writing is a
 * bump of a thread-local pointer; a full chunk is exchanged for a free one without lock or system
 * call. The drain thread reads the chains and gives chunks back once their rows are in the stream.
 *
 *     row = ring_reserve(&ring_tls, bytes);     NULL: no room, already counted
 *     fill *row
 *     ring_commit(&ring_tls, row, bytes);
 *
 * Rows of a chunk become visible to the drain and to the reader of a dead process by `committed`.
 */
#ifndef COLLECTOR_RING_RING_H
#define COLLECTOR_RING_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"

#define RING_CHUNK_BYTES 16384u
#define RING_MAX_THREADS 16384u
#define RING_NR_COUNTS	 32u
/* Size of the file's header, whose last 8 bytes are the ring_namespace() of its creator. */
#define RING_HEADER_BYTES 4096u

/*
 * The call that the thread is in, or has returned from last. The drain reads it when the process
 * makes no progress (hang_thread.c), so nothing orders its two words.
 */
struct ring_call {
	const char *name; /* NULL: none so far; the text stays for ever */
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
struct ring_tls {
	char *at;  /* where the next row goes */
	char *end; /* of the chunk; both NULL before the thread's first row */
	struct gprof_chunk_header *chunk;
	struct ring_thread *thread;
	/*
	 * The position on the stack where the outermost hook, or a part of gprof itself, has its
	 * ring_mark; 0 if the thread is in neither. One word, so that a signal handler sees one or
	 * the other.
	 */
	uintptr_t frame;
	uintptr_t writing;    /* the stack between reserve and commit: nobody else may write then */
	uint32_t id;	      /* as in the stream, 0 before the first row */
	uint32_t correlation; /* left by the CUPTI callback for the outermost hook */
	uint32_t last;	      /* correlation ID of the last call that a callback saw */
	uint8_t ended;	      /* the thread is past its destructors */
	struct ring_call cuda, nccl; /* outermost calls of each; those of NCCL call CUDA */
	uint64_t created; /* clock_raw; 0: unknown, or already reported with its first row */
	uint32_t parent;  /* id of the thread that created it, 0 if that has none */
};

extern __thread struct ring_tls ring_tls
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* ---- where the thread is ---- */

/*
 * A signal handler may leave a call, or gprof's own code, by siglongjmp; so may a C++ exception, a
 * coroutine or pthread_exit. No code of gprof runs then. So the thread stores the stack address of
 * the code it is in: once its stack pointer is above that address, it has left.
 */
struct ring_mark {
	uintptr_t before; /* ring_tls.frame */
	/* State of the call that a signal handler's call has interrupted: */
	struct ring_call cuda;
	uint32_t correlation;
};

/*
 * In ring_tls.frame: the thread is in gprof itself, not in a hook; its calls are not the program's.
 */
#define RING_IN_PROFILER 1u

/*
 * The stack address at which the function that this is compiled into was called; its callees are
 * below.
 */
#define RING_STACK ((uintptr_t)__builtin_dwarf_cfa())

static inline __attribute__((always_inline)) uintptr_t ring_stack_pointer(void)
{
	uintptr_t pointer;

#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %0" : "=r"(pointer));
#elif defined(__aarch64__)
	__asm__ volatile("mov %0, sp" : "=r"(pointer));
#else
	pointer = (uintptr_t)&pointer;
#endif
	return pointer;
}

/*
 * Has the thread, now at `stack`, left the code at `frame`? On the stack of a signal handler this
 * is undecidable, and the answer is no.
 */
bool ring_is_left(uintptr_t frame, uintptr_t stack);

/*
 * The thread, now at `stack`, has left the code it was in: counts that, and repairs its ring if it
 * has left a row too.
 */
void ring_recover(struct ring_tls *self, uintptr_t stack);

/* The `stack` of a thread that has left everything, at its end. */
#define RING_STACK_TOP UINTPTR_MAX

/* Counts a call of a source as left. */
void ring_was_left(void);

/* The call was taken for one that was left, and has come to its end: coroutines do that. */
void ring_came_back(void);

/* The slow half of ring_in_profiler. */
bool ring_still_in_profiler(struct ring_tls *self, uintptr_t stack);

static inline __attribute__((always_inline)) bool ring_in_profiler(struct ring_tls *self)
{
	return __builtin_expect(self->frame & RING_IN_PROFILER, 0) &&
	       ring_still_in_profiler(self, RING_STACK);
}

/* Around gprof's own code; the mark is on the caller's stack. */
static inline void ring_enter_profiler(struct ring_tls *self, struct ring_mark *mark)
{
	mark->before = self->frame;
	self->frame = (uintptr_t)mark | RING_IN_PROFILER;
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void ring_leave_profiler(struct ring_tls *self, const struct ring_mark *mark)
{
	atomic_signal_fence(memory_order_seq_cst);
	self->frame = mark->before;
}

/* All calls that this thread ever makes are gprof's own. */
static inline void ring_stay_in_profiler(struct ring_tls *self)
{
	self->frame = UINTPTR_MAX;
}

static inline bool ring_stays_in_profiler(const struct ring_tls *self)
{
	return self->frame == UINTPTR_MAX;
}

/* A thread as the drain sees it. */
struct ring_thread {
	uint32_t id;
	uint32_t tid;
	_Atomic uint32_t has_chain;  /* it wrote a row, and not all of its chunks are given back */
	_Atomic uint32_t ended;	     /* it will write no more */
	_Atomic uint32_t is_watched; /* nothing reports its end: the drain must check */
	_Atomic uint64_t lost;	     /* rows that found no room */
	const struct ring_tls *self; /* gone when the thread is: only safe_read.h may read it */
	/*
	 * Calls that are only counted, by function (hook_counted), since the slot was given to the
	 * thread; from its first call on, which has a row. Only the thread writes.
	 */
	uint64_t counts[RING_NR_COUNTS];
	/* 1 + the index in `counts` of the counted call that the thread is in; 0: it is in none. */
	_Atomic uint8_t counting;
	void *source_data; /* memory of a source for the thread in this slot; the next thread reuses
			      it */
	uint32_t pending;  /* a chunk that it has taken and does not write to yet; or UINT32_MAX */
	/* for the drain only: */
	uint32_t first;	  /* oldest chunk not given back */
	uint32_t current; /* chunk being read; UINT32_MAX before the first */
	uint32_t offset;  /* bytes of rows of `current` that are read */
	uint64_t lost_counted;
	uint64_t lost_settled; /* of these, no longer counted in chunks */
	uint64_t nr_looked;    /* calls counted there when hang_thread.c looked last */
	uint8_t looked;	       /* value of `counting` at that look */
	bool has_launched;     /* a row of a launch was read */
	/* The part of `counts` that has rows: api_count rows, and the row of the first call. */
	_Atomic uint64_t counts_taken[RING_NR_COUNTS];
};

/*
 * Makes the pool of pool_bytes in the file `path` (created new, 0600, space reserved), or in
 * anonymous memory if path is NULL. Returns 0 or -errno, and may then be called again with as many
 * bytes. `path` must stay. Once per process and once more in a forked child.
 */
int ring_start(const char *path, uint64_t stream_id, uint64_t pool_bytes);

/*
 * Drops the mapping of a parent without touching it, in a forked child. Returns false if a signal
 * handler forked while its thread wrote a row: the writing continues when the handler returns. It
 * finds private memory at the same address; the child must not start rings of its own.
 */
bool ring_forget(void);

/* The number of our pid namespace; 0 if unknown. */
uint64_t ring_namespace(void);

/*
 * Did this process start the rings? Not if it was made without fork's handlers, by _Fork or clone:
 * then they are its parent's, and shared.
 */
bool ring_is_ours(void);

/* Removes the file; the mapping stays, since threads may still write. */
void ring_stop(const char *path);

/* stack: RING_STACK of the caller. */
char *ring_reserve_slow(struct ring_tls *self, uint32_t bytes, uintptr_t stack);

/*
 * Gives the calling thread its id and first chunk if it has none. Returns false if that is
 * impossible now: there is no ring yet, or the pending row is counted as lost.
 */
bool ring_enter(struct ring_tls *self);

/*
 * Room for a row of `bytes` (a multiple of 8, at most RING_CHUNK_BYTES / 2) or NULL. No lock, no
 * system call but on the thread's first row.
 */
static inline __attribute__((always_inline)) char *ring_reserve(
	struct ring_tls *self, uint32_t bytes)
{
	char *at;

	if (__builtin_expect(self->writing != 0, 0)) {
		return ring_reserve_slow(self, bytes, RING_STACK);
	}
	/* First this: a signal handler that writes a row before it has moved `at`. */
	self->writing = ring_stack_pointer();
	atomic_signal_fence(memory_order_seq_cst);
	at = self->at;
	if (__builtin_expect((uint64_t)(self->end - at) < bytes, 0)) {
		self->writing = 0;
		return ring_reserve_slow(self, bytes, RING_STACK);
	}
	/* The drain has read these lines last, on another core: fetch them back early. */
	__builtin_prefetch(at + 512, 1);
	__builtin_prefetch(at + 576, 1);
	return at;
}

/* Makes the row at `row`, which was reserved last, visible. */
static inline void ring_commit(struct ring_tls *self, void *row, uint32_t bytes)
{
	struct gprof_chunk_header *chunk = self->chunk;
	char *at = (char *)row + bytes;

	self->at = at;
	/*
	 * Release: a reader that sees the count sees the row. The reader of the file relies on it
	 * too.
	 */
	__atomic_store_n(&chunk->committed, (uint32_t)(at - (char *)(chunk + 1)), __ATOMIC_RELEASE);
	atomic_signal_fence(memory_order_seq_cst);
	self->writing = 0;
}

/*
 * Notes that the first call of a counted function has a row; later calls are only counted. The
 * drain does not see a thread without a chunk, so each call of such a thread counts as lost.
 */
static inline void ring_count_first(struct ring_tls *self, unsigned int counted)
{
	/* Read once, before all else: a signal handler that forks leaves its child an empty `self`.
	 */
	struct ring_thread *thread = __atomic_load_n(&self->thread, __ATOMIC_RELAXED);

	atomic_signal_fence(memory_order_seq_cst);
	if (thread && self->chunk && !thread->counts[counted]) {
		atomic_store(&thread->counts_taken[counted], 1);
		__atomic_store_n(&thread->counts[counted], 1, __ATOMIC_RELAXED);
	}
}

/* Size of a row of row_bytes with that much text behind it, as head.bytes wants it. */
static inline uint32_t ring_row_bytes(uint32_t row_bytes, uint64_t text_bytes)
{
	return (row_bytes + (uint32_t)text_bytes + 7u) & ~7u;
}

/*
 * Writes a row of `table`, whose struct begins with its head, followed by `text`, to the ring of
 * the calling thread. It copies, so it is for rare rows; hot paths fill the ring in place.
 */
void ring_emit(void *row, unsigned int table, const char *text, uint64_t nr_bytes);

/* The calling thread writes no more; its last chunk may go. */
void ring_end_thread(struct ring_tls *self);

/* The calling thread will not call that: the drain finds out when it is gone. */
void ring_watch_thread(struct ring_tls *self);

/* Called by ring_reserve_slow when a thread has its first row: `self->id` is given. */
extern void (*ring_on_thread)(struct ring_tls *self);

/* ---- the drain's side; one thread only ---- */

/*
 * Sleeps up to timeout_ms, less if the pool fills, ring_wake is called, or the signal comes.
 * Returns true if it was one of the first two.
 */
bool ring_wait(uint32_t timeout_ms);
void ring_wake(void);

/*
 * From now on a signal wakes the calling thread, the drain, out of ring_wait, too: one that it has
 * blocked. 0: none does any more. Where the process itself uses that signal, it loses none: then
 * none wakes the drain any more, and on_foreign is called.
 */
void ring_wait_for_signal(int signal, void (*on_foreign)(int signal));

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
struct ring_thread *ring_next_thread(const struct ring_thread *before);

/*
 * Calls count(context, thread, counted, nr) for what threads have counted since the last call. Any
 * thread.
 */
void ring_take_counts(void (*count)(void *context, const struct ring_thread *thread,
			      unsigned int counted, uint64_t nr),
	void *context);

/* Returns the chunks that ring_read has passed to the pool. */
void ring_release(void);

/* Return counts since their last call: rows without room; calls and rows left unfinished. */
uint64_t ring_take_lost(void);
uint64_t ring_take_left(void);

#endif
