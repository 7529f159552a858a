/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/ending.h"
#include "collector/memory.h"
#include "collector/stack.h"

#define HEADER_ROOM 4096u
/* The drain is woken when so many 256ths of the pool are in use, and again for each more of them.
 */
#define WAKE_FILL 64u
/* Chunks that the drain touches ahead, so that no thread of the host takes their page faults. */
#define TOUCH_AHEAD    64u
#define PREFETCH_BYTES 640

__thread struct ring_self ring_self __attribute__((tls_model("initial-exec")));
void (*ring_on_thread)(struct ring_self *self);

static struct ring_state {
	char *chunks; /* NULL: not started */
	size_t mapped_bytes;
	uint32_t nr_chunks;
	_Atomic uint32_t *next; /* per chunk: next in the free stack, or in its thread's chain */
	struct ring_thread *threads;
	_Atomic uint32_t nr_threads; /* entries of `threads` ever used */
	_Atomic uint32_t last_id;
	_Atomic uint32_t *thread_links;
	struct stack free_chunks;
	struct stack free_threads;
	_Atomic uint32_t nr_used;
	_Atomic uint32_t fresh; /* chunks from here on were never used */
	uint32_t touched;
	_Atomic uint32_t futex;
	_Atomic uint64_t lost; /* by threads that found no place in `threads` */
	_Atomic uint64_t nested;
	uint64_t lost_ended; /* of threads that are gone, not yet told */
} ring;

static struct gprof_chunk_header *chunk_at(uint32_t index)
{
	return (struct gprof_chunk_header *)(ring.chunks + (size_t)index * RING_CHUNK_BYTES);
}

static uint32_t chunk_index(const struct gprof_chunk_header *chunk)
{
	return (uint32_t)(((const char *)chunk - ring.chunks) / RING_CHUNK_BYTES);
}

/* ---- the pool ---- */

/* A used one if there is, else the next that was never used, below `limit`. */
static uint32_t take(
	struct stack *used, _Atomic uint32_t *links, _Atomic uint32_t *fresh, uint32_t limit)
{
	uint32_t index = stack_pop(used, links);

	if (index != STACK_NONE) {
		return index;
	}
	index = atomic_load(fresh);
	while (index < limit) {
		if (atomic_compare_exchange_weak(fresh, &index, index + 1)) {
			return index;
		}
	}
	return STACK_NONE;
}

/* Space is reserved, so that a full disk refuses here and does not raise SIGBUS in a host thread.
 */
static int map_file(const char *path, size_t bytes, char **map)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int rc;

	if (fd < 0) {
		return -errno;
	}
	/* Not posix_fallocate, which writes everything where the file system cannot reserve. */
	do {
		rc = fallocate(fd, 0, 0, (off_t)bytes) ? errno : 0;
	} while (rc == EINTR);
	*map = MAP_FAILED;
	if (!rc) {
		*map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		rc = *map == MAP_FAILED ? errno : 0;
	}
	close(fd);
	if (rc) {
		unlink(path);
	}
	return -rc;
}

/*
 * ThreadSanitizer sees an atomic access beside a plain one to the same bytes; but this one changes
 * nothing, and the hardware does it as a whole.
 */
__attribute__((no_sanitize_thread)) static void touch_ahead(void)
{
	uint32_t until = atomic_load(&ring.fresh) + TOUCH_AHEAD;

	until = until < ring.nr_chunks ? until : ring.nr_chunks;
	for (; ring.touched < until; ring.touched++) {
		volatile char *chunk = (volatile char *)chunk_at(ring.touched);

		/* Writing would race with a thread that takes the chunk; a fault by atomic or does
		 * not. */
		for (uint32_t at = 0; at < RING_CHUNK_BYTES; at += 4096) {
			__atomic_fetch_or((volatile uint32_t *)(chunk + at), 0, __ATOMIC_RELAXED);
		}
	}
}

int ring_start(const char *path, uint64_t stream_id, uint64_t pool_bytes)
{
	struct gprof_rings_header *header;
	uint32_t nr_chunks = (uint32_t)(pool_bytes / RING_CHUNK_BYTES);
	size_t bytes = HEADER_ROOM + (size_t)nr_chunks * RING_CHUNK_BYTES;
	char *map = NULL;
	int rc = 0;

	if (!ring.threads) { /* not tried before, in another place */
		ring.threads = memory_map(RING_MAX_THREADS * sizeof(*ring.threads));
		ring.thread_links = memory_map(RING_MAX_THREADS * sizeof(*ring.thread_links));
		ring.next = memory_map((size_t)nr_chunks * sizeof(*ring.next));
	}
	if (path) {
		rc = map_file(path, bytes, &map);
	} else {
		map = memory_map(bytes);
	}
	if (rc || !map || !ring.threads || !ring.thread_links || !ring.next) {
		return rc ? rc : -ENOMEM;
	}
	header = (struct gprof_rings_header *)map;
	*header = (struct gprof_rings_header){.major = GPROF_FORMAT_MAJOR,
		.minor = GPROF_FORMAT_MINOR,
		.header_bytes = HEADER_ROOM,
		.stream_id = stream_id,
		.chunk_bytes = RING_CHUNK_BYTES,
		.nr_chunks = nr_chunks};
	memcpy(header->magic, GPROF_RINGS_MAGIC, sizeof(header->magic));
	ring.mapped_bytes = bytes;
	ring.nr_chunks = nr_chunks;
	stack_init(&ring.free_chunks);
	stack_init(&ring.free_threads);
	ring.chunks = map + HEADER_ROOM;
	ending_begin(header);
	touch_ahead();
	return 0;
}

void ring_forget(void)
{
	ending_forget();
	if (ring.chunks) {
		munmap(ring.chunks - HEADER_ROOM, ring.mapped_bytes);
	}
	memset((void *)&ring, 0, sizeof(ring));
	memset(&ring_self, 0, sizeof(ring_self));
}

void ring_stop(const char *path)
{
	if (path && unlink(path)) {
		/* After chroot or with other rights the name cannot be reached; the space can. */
		madvise(ring.chunks, ring.mapped_bytes - HEADER_ROOM, MADV_REMOVE);
	}
}

/* ---- a thread's side ---- */

static bool adopt_thread(struct ring_self *self)
{
	struct ring_thread *thread;
	uint32_t index = STACK_NONE;

	if (!self->ended) {
		index = take(
			&ring.free_threads, ring.thread_links, &ring.nr_threads, RING_MAX_THREADS);
	}
	if (index == STACK_NONE) {
		atomic_fetch_add(&ring.lost, 1);
		return false;
	}
	thread = &ring.threads[index];
	thread->id = atomic_fetch_add(&ring.last_id, 1) + 1;
	thread->tid = (uint32_t)syscall(SYS_gettid);
	thread->first = STACK_NONE;
	thread->current = STACK_NONE;
	thread->offset = 0;
	thread->lost_told = 0;
	thread->lost_settled = 0;
	atomic_store(&thread->lost, 0);
	atomic_store(&thread->ended, 0);
	self->thread = thread;
	self->id = thread->id;
	return true;
}

/* In the chunk too, where a reader of the file finds it if no flush tells of it any more. */
static void count_lost(struct ring_self *self)
{
	if (self->chunk) {
		atomic_fetch_add(&self->thread->lost, 1);
		__atomic_fetch_add(&self->chunk->lost, 1, __ATOMIC_RELAXED);
	} else {
		/* The drain sees a thread's own count only once it has a chain. */
		atomic_fetch_add(&ring.lost, 1);
	}
}

static bool next_chunk(struct ring_self *self)
{
	uint32_t index = take(&ring.free_chunks, ring.next, &ring.fresh, ring.nr_chunks);
	struct gprof_chunk_header *chunk;
	uint32_t seq = self->chunk ? self->chunk->chunk_seq + 1 : 1;
	uint32_t used;

	if (index == STACK_NONE) {
		count_lost(self);
		ring_wake();
		return false;
	}
	chunk = chunk_at(index);
	atomic_store(&ring.next[index], STACK_NONE);
	chunk->committed = 0;
	chunk->drained = 0;
	chunk->lost = 0;
	chunk->chunk_seq = seq;
	chunk->magic = GPROF_CHUNK_MAGIC;
	/* The owner last: a reader of the file trusts the rest once it stands there. */
	__atomic_store_n(&chunk->thread, self->id, __ATOMIC_RELEASE);
	if (self->chunk) {
		atomic_store(&ring.next[chunk_index(self->chunk)], index);
	} else {
		self->thread->first = index;
	}
	atomic_store(&self->thread->has_chain, 1);
	self->chunk = chunk;
	self->at = (char *)(chunk + 1);
	self->end = (char *)chunk + RING_CHUNK_BYTES;
	used = atomic_fetch_add(&ring.nr_used, 1) + 1;
	if (used * 256u / ring.nr_chunks >= WAKE_FILL && used % 16u == 0) {
		ring_wake();
	}
	return true;
}

bool ring_enter(struct ring_self *self)
{
	int error = errno;
	bool ok = self->chunk != NULL;

	if (ok) {
		return true;
	}
	if (!ring.chunks || self->writing) {
		return false;
	}
	/* A handler that runs meanwhile must stay out. */
	self->writing = 1;
	atomic_signal_fence(memory_order_seq_cst);
	ok = (self->thread || adopt_thread(self)) && next_chunk(self);
	atomic_signal_fence(memory_order_seq_cst);
	self->writing = 0;
	if (ok && ring_on_thread) {
		ring_on_thread(self);
	}
	errno = error;
	return ok;
}

char *ring_reserve_slow(struct ring_self *self, uint32_t bytes)
{
	int error = errno;
	bool ok;

	if (self->writing) {
		atomic_fetch_add(&ring.nested, 1);
		return NULL;
	}
	if (!ring_enter(self) || bytes > RING_CHUNK_BYTES / 2) {
		return NULL;
	}
	if ((uint64_t)(self->end - self->at) < bytes) {
		self->writing = 1;
		atomic_signal_fence(memory_order_seq_cst);
		ok = next_chunk(self);
		atomic_signal_fence(memory_order_seq_cst);
		self->writing = 0;
		errno = error;
		if (!ok) {
			return NULL;
		}
	}
	return ring_reserve(self, bytes);
}

void ring_end_thread(struct ring_self *self)
{
	if (self->chunk) {
		atomic_store(&self->thread->ended, 1);
	} else if (self->thread) { /* without a chain the drain never comes to see it */
		stack_push(&ring.free_threads, ring.thread_links,
			(uint32_t)(self->thread - ring.threads));
	}
	*self = (struct ring_self){.ended = 1, .depth = self->depth};
}

/* ---- the drain's side ---- */

static long futex(int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, &ring.futex, operation | FUTEX_PRIVATE_FLAG, value, timeout);
}

void ring_wait(uint32_t timeout_ms)
{
	struct timespec timeout = {
		.tv_sec = timeout_ms / 1000, .tv_nsec = (long)(timeout_ms % 1000) * 1000000};

	if (ring.chunks) {
		touch_ahead();
	}
	/* 0: the drain sleeps; 1: somebody woke it. */
	if (!atomic_load(&ring.futex)) {
		futex(FUTEX_WAIT, 0, &timeout);
	}
	atomic_store(&ring.futex, 0);
}

void ring_wake(void)
{
	if (!atomic_exchange(&ring.futex, 1)) {
		futex(FUTEX_WAKE, 1, NULL);
	}
}

unsigned int ring_fill(void)
{
	return ring.nr_chunks ? atomic_load(&ring.nr_used) * 256u / ring.nr_chunks : 0;
}

typedef void (*row_function)(
	void *context, struct ring_thread *thread, const struct gprof_row_head *head);

static void read_chunk(struct ring_thread *thread, uint32_t index, row_function row, void *context)
{
	struct gprof_chunk_header *chunk = chunk_at(index);
	const char *rows = (const char *)(chunk + 1);
	uint32_t committed = __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE);

	while (thread->offset < committed) {
		const struct gprof_row_head *head =
			(const struct gprof_row_head *)(rows + thread->offset);

		/* Written last by another core: on its way while the rows before it are taken. */
		__builtin_prefetch((const char *)head + PREFETCH_BYTES);
		row(context, thread, head);
		thread->offset += head->bytes;
	}
}

static void read_chain(struct ring_thread *thread, row_function row, void *context)
{
	if (thread->current == STACK_NONE) {
		thread->current = thread->first;
		thread->offset = 0;
	}
	for (;;) {
		/* Asked before reading: a chunk that has a successor by now is complete. */
		uint32_t next = atomic_load(&ring.next[thread->current]);

		read_chunk(thread, thread->current, row, context);
		if (next == STACK_NONE) {
			return;
		}
		thread->current = next;
		thread->offset = 0;
	}
}

/* The threads that have a chain; that is set after `first`, and fresh memory says 0. */
static struct ring_thread *live_thread(uint32_t index)
{
	struct ring_thread *thread = &ring.threads[index];

	return atomic_load(&thread->has_chain) ? thread : NULL;
}

static uint32_t count_threads(void)
{
	uint32_t n = ring.chunks ? atomic_load(&ring.nr_threads) : 0;

	return n < RING_MAX_THREADS ? n : RING_MAX_THREADS;
}

void ring_read(row_function row, void *context)
{
	for (uint32_t i = 0; i < count_threads(); i++) {
		struct ring_thread *thread = live_thread(i);

		if (thread) {
			read_chain(thread, row, context);
		}
	}
}

void ring_positions(void (*position)(void *context, struct ring_thread *thread, uint32_t chunk_seq,
			    uint32_t offset),
	void *context)
{
	for (uint32_t i = 0; i < count_threads(); i++) {
		struct ring_thread *thread = live_thread(i);

		if (thread && thread->current != STACK_NONE) {
			position(context, thread, chunk_at(thread->current)->chunk_seq,
				thread->offset);
		}
	}
}

static void free_chunk(uint32_t index)
{
	__atomic_store_n(&chunk_at(index)->thread, 0, __ATOMIC_RELEASE);
	stack_push(&ring.free_chunks, ring.next, index);
	atomic_fetch_sub(&ring.nr_used, 1);
}

/* What a flush has told of is no longer for a reader of the chunks to add. */
static void settle_lost(struct ring_thread *thread)
{
	uint64_t left = thread->lost_told - thread->lost_settled;

	for (uint32_t index = thread->first; left && index != STACK_NONE;
		index = atomic_load(&ring.next[index])) {
		uint64_t *lost = &chunk_at(index)->lost;
		uint64_t n = __atomic_load_n(lost, __ATOMIC_RELAXED);

		n = n < left ? n : left;
		__atomic_fetch_sub(lost, n, __ATOMIC_RELAXED);
		left -= n;
	}
	thread->lost_settled = thread->lost_told;
}

static void release_thread(struct ring_thread *thread, uint32_t index)
{
	bool has_ended = atomic_load(&thread->ended);
	struct gprof_chunk_header *chunk;

	settle_lost(thread);
	while (thread->first != thread->current) {
		uint32_t next = atomic_load(&ring.next[thread->first]);

		free_chunk(thread->first);
		thread->first = next;
	}
	chunk = chunk_at(thread->current);
	chunk->drained = thread->offset;
	if (has_ended && thread->offset == chunk->committed &&
		atomic_load(&ring.next[thread->current]) == STACK_NONE) {
		ring.lost_ended += atomic_load(&thread->lost) - thread->lost_told;
		atomic_store(&thread->has_chain, 0);
		free_chunk(thread->current);
		stack_push(&ring.free_threads, ring.thread_links, index);
	}
}

void ring_release(void)
{
	for (uint32_t i = 0; i < count_threads(); i++) {
		struct ring_thread *thread = live_thread(i);

		if (thread && thread->current != STACK_NONE) {
			release_thread(thread, i);
		}
	}
}

uint64_t ring_take_lost(void)
{
	uint64_t sum = atomic_exchange(&ring.lost, 0) + ring.lost_ended;

	ring.lost_ended = 0;
	for (uint32_t i = 0; i < count_threads(); i++) {
		struct ring_thread *thread = live_thread(i);

		if (thread) {
			uint64_t lost = atomic_load(&thread->lost);

			sum += lost - thread->lost_told;
			thread->lost_told = lost;
		}
	}
	return sum;
}

uint64_t ring_take_nested(void)
{
	return atomic_exchange(&ring.nested, 0);
}
