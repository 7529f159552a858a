/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side of the target's threads. Any function here may be interrupted by a signal handler that
 * calls CUDA itself, or left by a jump or an exception. So `writing` and `frame` hold stack
 * addresses: a handler runs below them, and code that has been left leaves them below the stack
 * pointer.
 *
 *   ring_tls.at, .end: where the thread writes its next row ------------------+
 *                                                                             v
 *   ring_thread.first --> [chunk] --next--> [chunk] --next--> ... --next--> [chunk]
 *                         read: free at     ^                               committed: rows up
 *                         ring_release()    current, offset: the drain      to here are readable
 *                                           reads from here
 *
 * `next` is an array beside the chunks, which also links the free ones.
 */
#include "collector/ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/format/block.h"
#include "collector/ring/ending.h"
#include "collector/ring/ring_pool.h"
#include "collector/util/dir.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"
#include "collector/util/mode.h"
#include "collector/util/private_fd.h"
#include "collector/util/target.h"

/* Chunks that get their memory at first, in a file that grows. */
#define FIRST_CHUNKS 16u
/* A pool grows while so many times its size are left to others. */
#define LEFT_SHARE  8u
#define FIRST_BYTES (RING_HEADER_BYTES + FIRST_CHUNKS * RING_CHUNK_BYTES)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
/* The drain is woken when so many 256ths of the pool are in use, and again for each more of them.
 */
#define WAKE_FILL 64u

__thread struct ring_tls ring_tls __attribute__((tls_model("initial-exec")));
void (*ring_on_thread)(struct ring_tls *self);

struct ring_pool ring_pool;

static uint32_t chunk_index(const struct gprof_chunk_header *chunk)
{
	return (uint32_t)(((const char *)chunk - ring_pool.chunks) / RING_CHUNK_BYTES);
}

/* ---- the pool ---- */

/* Unlike a store it fails where the memory is not to be had. */
static bool populate(char *from, const char *until)
{
	from -= (uintptr_t)from % (uintptr_t)sysconf(_SC_PAGESIZE);
	return !madvise(from, (size_t)(until - from), MADV_POPULATE_WRITE);
}

/* Only a pool in shared memory grows. Once memory is refused, nr_most is the final size. */
bool ring_pool_grow(uint32_t nr_chunks)
{
	uint32_t from = atomic_load(&ring_pool.nr_ready);
	uint32_t most = atomic_load(&ring_pool.nr_most);
	uint32_t until = from + nr_chunks < most ? from + nr_chunks : most;

	if (from >= most) {
		return false;
	}
	/*
	 * Programs often create shared memory without reserving it, so that the last one to touch
	 * it gets SIGBUS.
	 */
	if ((ring_pool.path &&
		    !dir_has_room(ring_pool.path, ring_pool.mapped_bytes * LEFT_SHARE, true)) ||
		!populate((char *)ring_chunk_at(from), (char *)ring_chunk_at(until))) {
		atomic_compare_exchange_strong(&ring_pool.nr_most, &most, from);
		return false;
	}
	/* If another thread has done the same meanwhile, this fails, and that is enough. */
	atomic_compare_exchange_strong(&ring_pool.nr_ready, &from, until);
	return true;
}

/*
 * Reserves space, so that a full disk fails here and does not raise SIGBUS in a thread of the
 * target; on tmpfs only what is needed at first, since the kernel would clear all of it before the
 * first call.
 */
static int reserve(int fd, size_t bytes, bool grows)
{
	int rc;

	/* Not posix_fallocate, which writes everything where the file system cannot reserve. */
	do {
		rc = (grows ? ftruncate(fd, (off_t)bytes) : fallocate(fd, 0, 0, (off_t)bytes))
			     ? errno
			     : 0;
	} while (rc == EINTR);
	return rc;
}

static int map_reserved(int fd, size_t bytes, char **map, bool grows)
{
	int rc = reserve(fd, bytes, grows);

	*map = NULL;
	if (!rc) {
		*map = memory_map_file(fd, bytes);
		rc = *map ? 0 : errno;
	}
	if (!rc && grows && !populate(*map, *map + FIRST_BYTES)) {
		rc = errno;
		munmap(*map, bytes);
	}
	return rc;
}

/* *grows: the mapping has memory for FIRST_BYTES; false: for all. */
static int map_file(const char *path, size_t bytes, char **map, bool *grows)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL;
	struct private_fd file;
	int rc = private_fd_open(&file, path, flags, PRIVATE_FD_ANYWHERE);

	if (rc) {
		return rc;
	}
	rc = EINVAL;
	*grows = bytes > FIRST_BYTES && dir_is_memory(path);
	if (*grows) {
		rc = map_reserved(file.fd, bytes, map, true);
	}
	/* Before Linux 5.14 memory cannot be requested without the danger of SIGBUS. */
	if (rc == EINVAL) {
		*grows = false;
		rc = map_reserved(file.fd, bytes, map, false);
	}
	private_fd_close(&file);
	if (rc) {
		unlink(path);
	}
	return -rc;
}

uint64_t ring_namespace(void)
{
	char text[64]; /* pid:[NUMBER] */
	ssize_t n = readlink("/proc/self/ns/pid", text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	return strncmp(text, "pid:[", 5) ? 0 : strtoull(text + 5, NULL, 10);
}

static void write_header(char *map, uint64_t stream_id, uint32_t nr_chunks)
{
	struct gprof_rings_header *header = (struct gprof_rings_header *)map;
	uint64_t space = ring_namespace();

	*header = (struct gprof_rings_header){.major = GPROF_FORMAT_MAJOR,
		.minor = GPROF_FORMAT_MINOR,
		.header_bytes = RING_HEADER_BYTES,
		.stream_id = stream_id,
		.chunk_bytes = RING_CHUNK_BYTES,
		.nr_chunks = nr_chunks};
	memcpy(header->magic, GPROF_RINGS_MAGIC, sizeof(header->magic));
	memcpy(map + RING_HEADER_BYTES - sizeof(space), &space, sizeof(space));
}

/*
 * Only the header and the chunks are in the file; the tables of threads and links are private
 * memory. A caller whose first path failed may call it again with another one.
 */
int ring_start(const char *path, uint64_t stream_id, uint64_t pool_bytes)
{
	uint32_t nr_chunks = (uint32_t)(pool_bytes / RING_CHUNK_BYTES);
	size_t bytes = RING_HEADER_BYTES + (size_t)nr_chunks * RING_CHUNK_BYTES;
	char *map = NULL;
	bool grows = false;
	int rc = 0;

	if (!ring_pool.threads) { /* no earlier try with another path has made them */
		ring_pool.threads = memory_map(RING_MAX_THREADS * sizeof(*ring_pool.threads));
		ring_pool.thread_links =
			memory_map(RING_MAX_THREADS * sizeof(*ring_pool.thread_links));
		ring_pool.next = memory_map((size_t)nr_chunks * sizeof(*ring_pool.next));
	}
	if (!ring_pool.threads || !ring_pool.thread_links || !ring_pool.next) {
		return -ENOMEM; /* before there is a file, which nobody would remove */
	}
	if (path) {
		rc = map_file(path, bytes, &map, &grows);
	} else {
		map = memory_map(bytes);
	}
	if (rc || !map) {
		return rc ? rc : -ENOMEM;
	}
	write_header(map, stream_id, nr_chunks);
	ring_pool.mapped_bytes = bytes;
	ring_pool.path = grows ? path : NULL;
	ring_pool.nr_chunks = nr_chunks;
	atomic_store(&ring_pool.nr_most, nr_chunks);
	atomic_store(&ring_pool.nr_ready, grows ? FIRST_CHUNKS : nr_chunks);
	stack_init(&ring_pool.free_chunks);
	stack_init(&ring_pool.free_threads);
	/* A thread that sees it sees all of the above: threads may look while this one starts. */
	__atomic_store_n(&ring_pool.chunks, map + RING_HEADER_BYTES, __ATOMIC_RELEASE);
	atomic_store(&collector_page.is_ours, 1);
	ending_set_header((struct gprof_rings_header *)map);
	ring_pool_touch();
	return 0;
}

bool ring_forget(void)
{
	ending_forget();
	atomic_store(&collector_page.is_ours, 0);
	if (ring_pool.chunks && ring_tls.writing) {
		mmap(ring_pool.chunks - RING_HEADER_BYTES, ring_pool.mapped_bytes,
			PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		return false;
	}
	if (ring_pool.chunks) {
		munmap(ring_pool.chunks - RING_HEADER_BYTES, ring_pool.mapped_bytes);
	}
	memset((void *)&ring_pool, 0, sizeof(ring_pool));
	memset(&ring_tls, 0, sizeof(ring_tls));
	return true;
}

void ring_stop(const char *path)
{
	if (path && unlink(path)) {
		/* After chroot or with other rights the name cannot be reached; the space can. */
		madvise(ring_pool.chunks, ring_pool.mapped_bytes - RING_HEADER_BYTES, MADV_REMOVE);
	}
}

/* ---- the chain of a thread ---- */

/* Does the drain see it? From then on it gives back the chunk before, which may be anybody's now.
 */
static bool is_linked(const struct ring_tls *self)
{
	uint32_t next;

	if (!self->chunk) {
		return atomic_load(&self->thread->has_chain);
	}
	/* In this order: a chunk that is given back loses its owner first. */
	next = atomic_load(&ring_pool.next[chunk_index(self->chunk)]);
	return next != STACK_NONE ||
	       __atomic_load_n(&self->chunk->thread, __ATOMIC_SEQ_CST) != self->id;
}

static void link_chunk(struct ring_tls *self, uint32_t index)
{
	struct gprof_chunk_header *chunk = ring_chunk_at(index);
	uint32_t seq = self->chunk ? self->chunk->chunk_seq + 1 : 1;

	atomic_store(&ring_pool.next[index], STACK_NONE);
	chunk->committed = 0;
	chunk->drained = 0;
	chunk->lost = 0;
	chunk->chunk_seq = seq;
	chunk->magic = GPROF_CHUNK_MAGIC;
	/* The owner last: a reader of the file trusts the rest once it stands there. */
	__atomic_store_n(&chunk->thread, self->id, __ATOMIC_RELEASE);
	if (self->chunk) {
		atomic_store(&ring_pool.next[chunk_index(self->chunk)], index);
	} else {
		self->thread->first = index;
		atomic_store(&self->thread->has_chain, 1);
	}
}

/*
 * The thread continues in its pending chunk. A jump may leave this function at any point; it then
 * runs again, even if the drain has seen the chunk in between.
 */
static void use_chunk(struct ring_tls *self, uint32_t index)
{
	struct gprof_chunk_header *chunk = ring_chunk_at(index);

	if (self->chunk != chunk && !is_linked(self)) {
		link_chunk(self, index);
	}
	atomic_signal_fence(memory_order_seq_cst);
	self->chunk = chunk;
	self->at = (char *)(chunk + 1);
	self->end = (char *)chunk + RING_CHUNK_BYTES;
	atomic_signal_fence(memory_order_seq_cst);
	self->thread->pending = STACK_NONE;
}

/* ---- where a thread is ---- */

bool ring_is_left(uintptr_t frame, uintptr_t stack)
{
	stack_t other = {.ss_flags = SS_DISABLE};
	bool is_there, was_there;
	TARGET_KEEP_ERRNO;

	sigaltstack(NULL, &other);
	is_there = other.ss_flags & SS_ONSTACK;
	was_there =
		!(other.ss_flags & SS_DISABLE) && frame - (uintptr_t)other.ss_sp < other.ss_size;
	return is_there == was_there ? stack > frame : was_there;
}

/*
 * The same for a row. An interrupted writer continues its row later, so only certainty counts: a
 * handler's own stack may be above the thread's and disarmed, unknown to sigaltstack while it is in
 * use. A thread's variables are above its own stack, and below the main thread's.
 */
static bool is_row_left(const struct ring_tls *self, uintptr_t stack)
{
	uintptr_t variables = (uintptr_t)self;

	return stack == RING_STACK_TOP ||
	       (ring_is_left(self->writing, stack) &&
		       (self->writing < variables) == (stack < variables));
}

/* After leaving a row, or the exchange of a chunk: the thread continues behind its last row. */
static void repair(struct ring_tls *self)
{
	self->writing = ring_stack_pointer(); /* a handler must stay out of this, too */
	atomic_signal_fence(memory_order_seq_cst);
	if (self->thread && self->thread->pending != STACK_NONE) {
		use_chunk(self, self->thread->pending);
	} else if (self->chunk) {
		self->at = (char *)(self->chunk + 1) + self->chunk->committed;
	}
	atomic_signal_fence(memory_order_seq_cst);
	self->writing = 0;
}

void ring_recover(struct ring_tls *self, uintptr_t stack)
{
	atomic_fetch_add(&ring_pool.left, 1);
	self->frame = 0;
	if (self->writing && is_row_left(self, stack)) {
		repair(self);
	}
}

void ring_was_left(void)
{
	atomic_fetch_add(&ring_pool.left, 1);
}

void ring_came_back(void)
{
	uint64_t back = atomic_load(&ring_pool.came_back);

	/* In a forked child a call may come back that its parent has taken for left. */
	while (back < atomic_load(&ring_pool.left) &&
		!atomic_compare_exchange_weak(&ring_pool.came_back, &back, back + 1)) {
	}
}

bool ring_still_in_profiler(struct ring_tls *self, uintptr_t stack)
{
	if (self->frame == UINTPTR_MAX || !ring_is_left(self->frame, stack)) {
		return true;
	}
	ring_recover(self, stack);
	return false;
}

/* May the thread write? Not in a signal handler that has interrupted it in a row. */
static bool may_write(struct ring_tls *self, uintptr_t stack)
{
	if (self->writing && is_row_left(self, stack)) {
		atomic_fetch_add(&ring_pool.left, 1);
		repair(self);
	}
	return !self->writing;
}

/* ---- a thread's side ---- */

/* Sets self->thread last: a thread that leaves this function by a jump is adopted again. */
static bool adopt_thread(struct ring_tls *self)
{
	struct ring_thread *thread;
	uint32_t index = STACK_NONE;

	if (!self->ended) {
		index = stack_take(&ring_pool.free_threads, ring_pool.thread_links,
			&ring_pool.nr_threads, RING_MAX_THREADS);
	}
	if (index == STACK_NONE) {
		atomic_fetch_add(&ring_pool.lost, 1);
		return false;
	}
	thread = &ring_pool.threads[index];
	thread->id = atomic_fetch_add(&ring_pool.last_id, 1) + 1;
	thread->tid = (uint32_t)syscall(SYS_gettid);
	thread->self = self;
	thread->pending = STACK_NONE;
	thread->first = STACK_NONE;
	thread->current = STACK_NONE;
	thread->offset = 0;
	thread->has_launched = false;
	thread->lost_counted = 0;
	thread->lost_settled = 0;
	atomic_store(&thread->lost, 0);
	atomic_store(&thread->ended, 0);
	atomic_store(&thread->is_watched, 0);
	memset(thread->counts, 0, sizeof(thread->counts));
	atomic_store(&thread->counting, 0);
	memset((void *)thread->counts_taken, 0, sizeof(thread->counts_taken));
	self->id = thread->id;
	atomic_signal_fence(memory_order_seq_cst);
	self->thread = thread;
	return true;
}

/* In the chunk too, for a reader of the file, if no later flush reports it. */
static void count_lost(struct ring_tls *self)
{
	if (self->chunk) {
		atomic_fetch_add(&self->thread->lost, 1);
		__atomic_fetch_add(&self->chunk->lost, 1, __ATOMIC_RELAXED);
	} else {
		/* The drain sees a thread's own count only once it has a chain. */
		atomic_fetch_add(&ring_pool.lost, 1);
	}
}

static uint32_t take_chunk(void)
{
	uint32_t index;

	do {
		index = stack_take(&ring_pool.free_chunks, ring_pool.next, &ring_pool.fresh,
			atomic_load(&ring_pool.nr_ready));
	} while (index == STACK_NONE && ring_pool_grow(1));
	return index;
}

/* Threads that write fast take new chunks for some time: until the drain gives the first back. */
static bool is_nearly_untouched(void)
{
	uint32_t touched = atomic_load(&ring_pool.touched);

	return touched < atomic_load(&ring_pool.nr_most) &&
	       atomic_load(&ring_pool.fresh) + RING_TOUCH_AHEAD / 2 > touched;
}

static bool next_chunk(struct ring_tls *self)
{
	uint32_t index = take_chunk();
	uint32_t used;

	if (index == STACK_NONE) {
		count_lost(self);
		ring_wake();
		return false;
	}
	used = atomic_fetch_add(&ring_pool.nr_used, 1) + 1;
	self->thread->pending = index;
	atomic_signal_fence(memory_order_seq_cst);
	use_chunk(self, index);
	if ((used * 256u / atomic_load(&ring_pool.nr_most) >= WAKE_FILL && used % 16u == 0) ||
		is_nearly_untouched()) {
		ring_wake();
	}
	return true;
}

bool ring_enter(struct ring_tls *self)
{
	TARGET_KEEP_ERRNO;
	bool ok;

	if (!ring_is_ours()) {
		return false;
	}
	if (self->chunk) {
		return true;
	}
	if (!may_write(self, RING_STACK)) {
		loss_add(LOSS_SIGNAL, 1);
		return false;
	}
	/* A handler that runs meanwhile must stay out. */
	self->writing = ring_stack_pointer();
	atomic_signal_fence(memory_order_seq_cst);
	/* Check again: a signal handler may have forked until here, and this may be the child. */
	ok = ring_is_ours() && (self->thread || adopt_thread(self)) && next_chunk(self);
	atomic_signal_fence(memory_order_seq_cst);
	self->writing = 0;
	if (ok && ring_on_thread) {
		ring_on_thread(self);
	}
	return ok;
}

/*
 * Gets here without a chunk, at the end of one, or inside a row. The last is certain only after a
 * look at the stack: the row may have been left.
 */
char *ring_reserve_slow(struct ring_tls *self, uint32_t bytes, uintptr_t stack)
{
	TARGET_KEEP_ERRNO;
	bool ok;

	if (!ring_is_ours()) {
		return NULL;
	}
	if (!may_write(self, stack)) {
		loss_add(LOSS_SIGNAL, 1);
		return NULL;
	}
	if (!ring_enter(self) || bytes > RING_CHUNK_BYTES / 2) {
		return NULL;
	}
	if ((uint64_t)(self->end - self->at) < bytes) {
		self->writing = ring_stack_pointer();
		atomic_signal_fence(memory_order_seq_cst);
		ok = ring_is_ours() && next_chunk(self); /* see ring_enter() */
		atomic_signal_fence(memory_order_seq_cst);
		self->writing = 0;
		if (!ok) {
			return NULL;
		}
	}
	return ring_reserve(self, bytes);
}

void ring_emit(void *row, unsigned int table, const char *text, uint64_t nr_bytes)
{
	struct gprof_row_head *head = row;
	uint32_t row_bytes = block_table(table)->row_bytes;
	uint32_t bytes;
	char *at;

	if (nr_bytes > GPROF_TEXT_BYTES) {
		nr_bytes = GPROF_TEXT_BYTES;
		loss_add(LOSS_TEXT, 1);
	}
	bytes = ring_row_bytes(row_bytes, nr_bytes);
	at = ring_is_ours() ? ring_reserve(&ring_tls, bytes) : NULL;
	if (!at) {
		return;
	}
	head->bytes = (uint16_t)bytes;
	head->table = (uint8_t)table;
	head->text_bytes = (uint32_t)nr_bytes;
	memcpy(at, row, row_bytes);
	if (nr_bytes) {
		memcpy(at + row_bytes, text, nr_bytes);
	}
	ring_commit(&ring_tls, at, bytes);
}

bool ring_is_ours(void)
{
	return atomic_load(&collector_page.is_ours);
}

void ring_watch_thread(struct ring_tls *self)
{
	atomic_store(&self->thread->is_watched, 1);
}

void ring_end_thread(struct ring_tls *self)
{
	if (!ring_is_ours()) {
		/* Its parent's thread goes on. */
	} else if (self->chunk) {
		atomic_store(&self->thread->ended, 1);
	} else if (self->thread) { /* without a chain the drain never comes to see it */
		stack_push(&ring_pool.free_threads, ring_pool.thread_links,
			(uint32_t)(self->thread - ring_pool.threads));
	}
	*self = (struct ring_tls){.ended = 1, .frame = self->frame};
}
