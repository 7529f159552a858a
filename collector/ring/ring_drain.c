/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drain's side of the rings (ring.c has a picture). At each flush it reads the rows of all
 * threads, writes them, notes its positions in the stream, and only then gives chunks back. So
 * whenever the process dies, each row is in the stream or in the file of the rings.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/ring/ring_pool.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"
#include "collector/util/pace.h"
#include "collector/util/target.h"

#define GROW_CHUNKS    16u /* at a time */
#define PREFETCH_BYTES 640
/* No row of a ring is smaller. */
#define MIN_ROW_BYTES 24u

void ring_pool_touch(void)
{
	uint32_t until = atomic_load(&ring_pool.fresh) + RING_TOUCH_AHEAD;

	until = until < ring_pool.nr_chunks ? until : ring_pool.nr_chunks;
	for (uint32_t i = atomic_load(&ring_pool.touched); i < until; i++) {
		if (i >= atomic_load(&ring_pool.nr_ready) && !ring_pool_grow(GROW_CHUNKS)) {
			return;
		}
		memory_touch(ring_chunk_at(i), RING_CHUNK_BYTES);
		atomic_store(&ring_pool.touched, i + 1);
		pace_look();
	}
}

static long futex(int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, &ring_pool.futex, operation | FUTEX_PRIVATE_FLAG, value, timeout);
}

/* Threads of the target that are just sending the signal may do so for that long, in all. */
#define NR_WAKING_LOOKS 20u
#define WAKING_LOOK_NS	1000000u

static void (*on_foreign_signal)(int signal);

/* By the kernel for a file, or by ring_wake. */
static bool is_ours(const siginfo_t *info)
{
	return (info->si_code > 0 && info->si_code != SI_KERNEL) || info->si_code == SI_TKILL;
}

/*
 * A signal that comes before the call stays pending until then. One that somebody sent to the
 * process is its own: it goes back as it came, and we wait for none any more. The kernel lets a
 * thread send such facts only to its own number, and by that to its process.
 */
static void wait_for_signal(int signal, const struct timespec *timeout)
{
	uint64_t set = 1ull << (signal - 1);
	siginfo_t info;

	if (syscall(SYS_rt_sigtimedwait, &set, &info, timeout, sizeof(set)) > 0 &&
		!is_ours(&info)) {
		ring_wait_for_signal(0, NULL);
		syscall(SYS_rt_sigqueueinfo, syscall(SYS_gettid), (long)signal, &info);
		on_foreign_signal(signal);
	}
}

/* The number of a thread that has ended may become another's, so nobody may still use ours then. */
void ring_wait_for_signal(int signal, void (*on_foreign)(int signal))
{
	on_foreign_signal = signal ? on_foreign : on_foreign_signal;
	atomic_store(&ring_pool.signal_tid, signal ? (int)syscall(SYS_gettid) : 0);
	for (uint32_t i = 0; !signal && i < NR_WAKING_LOOKS && atomic_load(&ring_pool.nr_waking);
		i++) {
		target_pause(WAKING_LOOK_NS);
	}
	atomic_store(&ring_pool.signal, signal);
}

bool ring_wait(uint32_t timeout_ms)
{
	int signal = atomic_load(&ring_pool.signal);
	struct timespec timeout = {
		.tv_sec = timeout_ms / 1000, .tv_nsec = (long)(timeout_ms % 1000) * 1000000};

	if (ring_pool.chunks) {
		ring_pool_touch();
	}
	/* 0: the drain sleeps; 1: somebody woke it. */
	if (!atomic_load(&ring_pool.futex)) {
		if (signal) {
			wait_for_signal(signal, &timeout);
		} else {
			futex(FUTEX_WAIT, 0, &timeout);
		}
	}
	return atomic_exchange(&ring_pool.futex, 0) != 0;
}

void ring_wake(void)
{
	int tid;

	if (atomic_exchange(&ring_pool.futex, 1)) {
		return;
	}
	futex(FUTEX_WAKE, 1, NULL);
	atomic_fetch_add(&ring_pool.nr_waking, 1);
	tid = atomic_load(&ring_pool.signal_tid);
	if (tid) {
		syscall(SYS_tgkill, syscall(SYS_getpid), (long)tid,
			(long)atomic_load(&ring_pool.signal));
	}
	atomic_fetch_sub(&ring_pool.nr_waking, 1);
}

unsigned int ring_fill(void)
{
	uint32_t most = atomic_load(&ring_pool.nr_most);

	return most ? atomic_load(&ring_pool.nr_used) * 256u / most : 0;
}

typedef void (*row_function)(
	void *context, struct ring_thread *thread, const struct gprof_row_head *head);

/* The program may have written there itself: what cannot be a row ends the chunk. */
static bool is_row(const struct gprof_row_head *head, uint32_t room)
{
	return head->bytes >= sizeof(*head) && head->bytes <= room && head->bytes % 8 == 0 &&
	       head->text_bytes <= head->bytes - sizeof(*head);
}

/*
 * Reads what was committed when it began. A damaged head ends the chunk, since only its length
 * leads to the next row.
 */
static void read_chunk(struct ring_thread *thread, uint32_t index, row_function row, void *context)
{
	struct gprof_chunk_header *chunk = ring_chunk_at(index);
	const char *rows = (const char *)(chunk + 1);
	uint32_t committed = __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE);

	if (committed > RING_CHUNK_BYTES - sizeof(*chunk)) {
		committed = RING_CHUNK_BYTES - sizeof(*chunk);
	}
	while (thread->offset < committed) {
		const struct gprof_row_head *head =
			(const struct gprof_row_head *)(rows + thread->offset);

		if (!is_row(head, committed - thread->offset)) {
			/* So many rows at most: one that was lost is always counted. */
			loss_add(LOSS_DAMAGED,
				(committed - thread->offset + MIN_ROW_BYTES - 1) / MIN_ROW_BYTES);
			thread->offset = committed;
			return;
		}
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
		/*
		 * Loaded before the rows are read: a chunk that has a successor by now is complete.
		 */
		uint32_t next = atomic_load(&ring_pool.next[thread->current]);

		read_chunk(thread, thread->current, row, context);
		pace_look();
		if (next == STACK_NONE) {
			return;
		}
		thread->current = next;
		thread->offset = 0;
	}
}

/*
 * The next after `before` (NULL: the first) of the threads that have a chain; that is set after
 * `first`, and fresh memory says 0.
 */
static struct ring_thread *next_live(const struct ring_thread *before)
{
	uint32_t n = ring_pool.chunks ? atomic_load(&ring_pool.nr_threads) : 0;
	uint32_t i = before ? (uint32_t)(before - ring_pool.threads) + 1 : 0;

	n = n < RING_MAX_THREADS ? n : RING_MAX_THREADS;
	while (i < n && !atomic_load(&ring_pool.threads[i].has_chain)) {
		i++;
	}
	return i < n ? &ring_pool.threads[i] : NULL;
}

void ring_read(row_function row, void *context)
{
	struct ring_thread *thread = NULL;

	while ((thread = next_live(thread))) {
		read_chain(thread, row, context);
	}
}

void ring_positions(void (*position)(void *context, struct ring_thread *thread, uint32_t chunk_seq,
			    uint32_t offset),
	void *context)
{
	struct ring_thread *thread = NULL;

	while ((thread = next_live(thread))) {
		if (thread->current != STACK_NONE) {
			position(context, thread, ring_chunk_at(thread->current)->chunk_seq,
				thread->offset);
		}
	}
}

struct ring_thread *ring_next_thread(const struct ring_thread *before)
{
	struct ring_thread *thread = next_live(before);

	while (thread && atomic_load(&thread->ended)) {
		thread = next_live(thread);
	}
	return thread;
}

static void free_chunk(uint32_t index)
{
	__atomic_store_n(&ring_chunk_at(index)->thread, 0, __ATOMIC_RELEASE);
	stack_push(&ring_pool.free_chunks, ring_pool.next, index);
	atomic_fetch_sub(&ring_pool.nr_used, 1);
}

/* A reader of the chunks must not count again what a flush has reported. */
static void settle_lost(struct ring_thread *thread)
{
	uint64_t left = thread->lost_counted - thread->lost_settled;

	for (uint32_t index = thread->first; left && index != STACK_NONE;
		index = atomic_load(&ring_pool.next[index])) {
		uint64_t *lost = &ring_chunk_at(index)->lost;
		uint64_t n = __atomic_load_n(lost, __ATOMIC_RELAXED);

		n = n < left ? n : left;
		__atomic_fetch_sub(lost, n, __ATOMIC_RELAXED);
		left -= n;
	}
	thread->lost_settled = thread->lost_counted;
}

/* Must come before the look at `committed`: a thread that has ended commits no more rows. */
static bool has_ended_now(const struct ring_thread *thread)
{
	return atomic_load(&thread->ended) ||
	       (atomic_load(&thread->is_watched) &&
		       syscall(SYS_tgkill, (long)getpid(), (long)thread->tid, 0L) == -1 &&
		       errno == ESRCH);
}

static uint64_t count_of(const struct ring_thread *thread, unsigned int counted)
{
	return __atomic_load_n(&thread->counts[counted], __ATOMIC_RELAXED);
}

void ring_take_counts(void (*count)(void *context, const struct ring_thread *thread,
			      unsigned int counted, uint64_t nr),
	void *context)
{
	struct ring_thread *thread = NULL;

	while ((thread = next_live(thread))) {
		for (unsigned int counted = 0; counted < RING_NR_COUNTS; counted++) {
			uint64_t taken = atomic_load(&thread->counts_taken[counted]);
			uint64_t nr = count_of(thread, counted);

			/* If another thread takes it at the same time, that one counts it. */
			if (nr > taken && atomic_compare_exchange_strong(
						  &thread->counts_taken[counted], &taken, nr)) {
				count(context, thread, counted, nr - taken);
			}
		}
	}
}

static bool has_new_counts(const struct ring_thread *thread)
{
	for (unsigned int counted = 0; counted < RING_NR_COUNTS; counted++) {
		if (count_of(thread, counted) > atomic_load(&thread->counts_taken[counted])) {
			return true;
		}
	}
	return false;
}

/*
 * Gives back the chunks before the current one; of a thread that has ended and whose rows are all
 * read, that one and the thread's entry, too.
 */
static void release_thread(struct ring_thread *thread)
{
	/* In this order: once it has ended, it counts no more. */
	bool has_ended = has_ended_now(thread) && !has_new_counts(thread);
	struct gprof_chunk_header *chunk;

	settle_lost(thread);
	while (thread->first != thread->current) {
		uint32_t next = atomic_load(&ring_pool.next[thread->first]);

		free_chunk(thread->first);
		thread->first = next;
	}
	chunk = ring_chunk_at(thread->current);
	chunk->drained = thread->offset;
	if (has_ended && thread->offset == chunk->committed &&
		atomic_load(&ring_pool.next[thread->current]) == STACK_NONE) {
		ring_pool.lost_ended += atomic_load(&thread->lost) - thread->lost_counted;
		atomic_store(&thread->has_chain, 0);
		free_chunk(thread->current);
		stack_push(&ring_pool.free_threads, ring_pool.thread_links,
			(uint32_t)(thread - ring_pool.threads));
	}
}

void ring_release(void)
{
	struct ring_thread *thread = NULL;

	while ((thread = next_live(thread))) {
		if (thread->current != STACK_NONE) {
			release_thread(thread);
		}
	}
}

uint64_t ring_take_lost(void)
{
	uint64_t sum = atomic_exchange(&ring_pool.lost, 0) + ring_pool.lost_ended;
	struct ring_thread *thread = NULL;

	ring_pool.lost_ended = 0;
	while ((thread = next_live(thread))) {
		uint64_t lost = atomic_load(&thread->lost);

		sum += lost - thread->lost_counted;
		thread->lost_counted = lost;
	}
	return sum;
}

uint64_t ring_take_left(void)
{
	uint64_t left = atomic_load(&ring_pool.left), back = atomic_load(&ring_pool.came_back);
	uint64_t n =
		left > back + ring_pool.left_counted ? left - back - ring_pool.left_counted : 0;

	ring_pool.left_counted += n;
	return n;
}
