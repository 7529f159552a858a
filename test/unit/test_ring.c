/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/util/dir.h"
#include "collector/util/loss.h"
#include "collector/util/target.h"
#include "collector/ring/ring_pool.h"
#include "collector/thread.h"
#include "test/unit/unit.h"

#define MAX_IDS 4096

/* A row of 24 to 104 bytes: its number, then bytes that follow from it. */
struct row {
	struct gprof_row_head head;
	uint64_t number;
	unsigned char fill[88];
};

static uint32_t row_bytes(uint64_t number)
{
	return 24 + 8 * (uint32_t)(number % 11);
}

static bool put(uint64_t number)
{
	uint32_t bytes = row_bytes(number);
	struct row *row = (struct row *)ring_reserve(&ring_tls, bytes);

	if (!row) {
		return false;
	}
	row->head = (struct gprof_row_head){.bytes = (uint16_t)bytes, .table = GPROF_TABLE_api};
	row->number = number;
	memset(row->fill, (int)(number & 0xff), bytes - 16);
	ring_commit(&ring_tls, row, bytes);
	return true;
}

struct seen {
	uint64_t nr_rows;
	uint64_t next[MAX_IDS]; /* per thread id: the lowest number allowed */
	uint32_t max_id;
};

static void see(void *context, struct ring_thread *thread, const struct gprof_row_head *head)
{
	const struct row *row = (const struct row *)head;
	struct seen *seen = context;

	ck_assert_uint_lt(thread->id, MAX_IDS);
	if (head->table == GPROF_TABLE_thread) {
		return;
	}
	ck_assert_uint_eq(head->bytes, row_bytes(row->number));
	ck_assert_uint_ge(row->number, seen->next[thread->id]);
	for (uint32_t i = 0; i < head->bytes - 16u; i++) {
		if (row->fill[i] != (row->number & 0xff)) {
			ck_abort_msg("byte %u of row %lu", i, (unsigned long)row->number);
		}
	}
	seen->next[thread->id] = row->number + 1;
	seen->max_id = thread->id > seen->max_id ? thread->id : seen->max_id;
	seen->nr_rows++;
}

static void drain(struct seen *seen)
{
	ring_read(see, seen);
	ring_release();
}

START_TEST(rows_come_back_once_and_in_order)
{
	static struct seen seen;

	ck_assert_int_eq(ring_start(NULL, 1, 1 << 20), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		ck_assert(put(i));
	}
	drain(&seen);
	ck_assert_uint_eq(seen.nr_rows, 1000);
	drain(&seen);
	ck_assert_uint_eq(seen.nr_rows, 1000);
	ck_assert_uint_eq(ring_take_lost(), 0);
}
END_TEST

START_TEST(full_ring_drops_newest_and_counts)
{
	static struct seen seen;
	uint64_t i, nr_lost = 0;

	ck_assert_int_eq(ring_start(NULL, 1, 4 * RING_CHUNK_BYTES), 0);
	for (i = 0; put(i); i++) {
	}
	ck_assert_uint_gt(i, 3 * RING_CHUNK_BYTES / 104);
	ck_assert_uint_eq(ring_fill(), 256);
	/* Smaller rows may still fit into the rest of the last chunk; what does not is counted. */
	for (uint64_t more = 0; more < 100; more++) {
		nr_lost += !put(11 * (i + more) + 10);
	}
	drain(&seen);
	ck_assert_uint_eq(seen.nr_rows, i + 100 - nr_lost);
	ck_assert_uint_eq(ring_take_lost(), nr_lost + 1);
	ck_assert_uint_eq(ring_take_lost(), 0);
	ck_assert(put(UINT64_MAX / 2));
}
END_TEST

START_TEST(chunks_go_round_without_loss)
{
	static struct seen seen;
	uint64_t n = 0;

	ck_assert_int_eq(ring_start(NULL, 1, 8 * RING_CHUNK_BYTES), 0);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 700; i++) {
			ck_assert(put(n++));
		}
		drain(&seen);
	}
	ck_assert_uint_eq(seen.nr_rows, n);
	ck_assert_uint_eq(ring_take_lost(), 0);
}
END_TEST

#define NR_THREADS 6
#define NR_ROWS	   20000

static void *write_many(void *nr_put)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < NR_ROWS; i++) {
		n += put(i);
	}
	*(uint64_t *)nr_put = n;
	ring_end_thread(&ring_tls);
	return NULL;
}

START_TEST(rows_of_many_threads_are_read_or_counted_as_lost)
{
	static struct seen seen;
	pthread_t threads[NR_THREADS];
	uint64_t put_by[NR_THREADS], sum = 0;

	ck_assert_int_eq(ring_start(NULL, 1, 16 * RING_CHUNK_BYTES), 0);
	for (int i = 0; i < NR_THREADS; i++) {
		ck_assert_int_eq(pthread_create(&threads[i], NULL, write_many, &put_by[i]), 0);
	}
	for (int i = 0; i < 50; i++) {
		drain(&seen);
		ring_wait(1);
	}
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += put_by[i];
	}
	drain(&seen);
	drain(&seen);
	ck_assert_uint_eq(seen.nr_rows, sum);
	ck_assert_uint_eq(ring_take_lost(), (uint64_t)NR_THREADS * NR_ROWS - sum);
	ck_assert_uint_eq(ring_fill(), 0);
}
END_TEST

static void *write_one(void *number)
{
	ck_assert(put(*(uint64_t *)number));
	ring_end_thread(&ring_tls);
	ck_assert(!put(1)); /* past its destructors a thread has no ring */
	return NULL;
}

START_TEST(ended_threads_give_their_chunks_to_new_ones)
{
	static struct seen seen;
	pthread_t thread;

	ck_assert_int_eq(ring_start(NULL, 1, 4 * RING_CHUNK_BYTES), 0);
	for (uint64_t i = 0; i < 300; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, write_one, &i), 0);
		pthread_join(thread, NULL);
		drain(&seen);
	}
	ck_assert_uint_eq(seen.nr_rows, 300);
	ck_assert_uint_eq(seen.max_id, 300);
	ck_assert_uint_eq(ring_fill(), 0);
	ck_assert_uint_eq(ring_take_lost(), 300); /* the second row of each */
}
END_TEST

static int in_handler;

static void on_signal(int number)
{
	(void)number;
	in_handler = ring_reserve(&ring_tls, 24) ? 1 : 2;
}

START_TEST(reserve_from_a_signal_handler_while_a_row_is_written_is_refused_and_counted)
{
	static struct seen seen;
	struct row *row;

	ck_assert_int_eq(ring_start(NULL, 1, 1 << 20), 0);
	ck_assert(put(0));
	signal(SIGUSR1, on_signal);
	row = (struct row *)ring_reserve(&ring_tls, 24);
	raise(SIGUSR1);
	ck_assert_int_eq(in_handler, 2);
	row->head = (struct gprof_row_head){.bytes = 24, .table = GPROF_TABLE_api};
	row->number = 11;
	memset(row->fill, 11, 8);
	ring_commit(&ring_tls, row, 24);
	ck_assert_uint_eq(loss_take(LOSS_SIGNAL), 1);
	ck_assert_uint_eq(loss_take(LOSS_SIGNAL), 0);
	ck_assert(put(12));
	drain(&seen);
	ck_assert_uint_eq(seen.nr_rows, 3);
}
END_TEST

static void die_while_writing(const char *path)
{
	ck_assert_int_eq(ring_start(path, 77, 8 * RING_CHUNK_BYTES), 0);
	for (uint64_t i = 0; i < 500; i++) {
		put(i);
	}
	ring_reserve(&ring_tls, 24);
	memset(ring_tls.at, 0xff, 24);
	kill(getpid(), SIGKILL);
}

/* The rows that the file's chunks show, by FORMAT.md alone. */
static uint64_t count_rows(const char *map)
{
	const struct gprof_rings_header *header = (const struct gprof_rings_header *)map;
	uint64_t n = 0;

	ck_assert_mem_eq(header->magic, GPROF_RINGS_MAGIC, sizeof(header->magic));
	ck_assert_uint_eq(header->major, GPROF_FORMAT_MAJOR);
	ck_assert_uint_eq(header->stream_id, 77);
	for (uint32_t i = 0; i < header->nr_chunks; i++) {
		const char *at = map + header->header_bytes + (size_t)i * header->chunk_bytes;
		const struct gprof_chunk_header *chunk = (const struct gprof_chunk_header *)at;

		if (chunk->magic != GPROF_CHUNK_MAGIC || !chunk->thread) {
			continue;
		}
		ck_assert_uint_le(chunk->committed, header->chunk_bytes - sizeof(*chunk));
		for (uint32_t offset = 0; offset < chunk->committed; n++) {
			const struct row *row = (const struct row *)(at + sizeof(*chunk) + offset);

			ck_assert_uint_eq(row->number, n);
			offset += row->head.bytes;
		}
	}
	return n;
}

/* The program's shared memory is in the same file system, and gets SIGBUS where nothing is left. */
START_TEST(a_pool_leaves_the_most_of_shared_memory_to_others)
{
	struct statvfs shared;
	char path[64];
	uint64_t n = 0;

	if (!dir_is_memory("/dev/shm")) {
		return;
	}
	ck_assert_int_eq(statvfs("/dev/shm", &shared), 0);
	snprintf(path, sizeof(path), "/dev/shm/gprof-test-%d", (int)getpid());
	ck_assert_int_eq(ring_start(path, 1, (uint64_t)shared.f_bavail * shared.f_frsize / 4), 0);
	ring_stop(path);
	/* The name is gone; the file system is asked by another one. */
	ring_pool.path = ring_pool.path ? "/dev/shm" : NULL;
	while (ring_pool.path && n < 1000000 && put(n)) {
		n++;
	}
	ck_assert_uint_lt(n, 100000);
}
END_TEST

START_TEST(committed_rows_outlive_sigkill)
{
	char path[4200];
	struct stat file;
	int status, fd;
	pid_t child;
	char *map;

	snprintf(path, sizeof(path), "%s/rings", unit_temp_dir());
	child = fork();
	if (!child) {
		die_while_writing(path);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	fd = open(path, O_RDONLY);
	ck_assert_int_eq(fstat(fd, &file), 0);
	ck_assert_uint_eq(file.st_mode & 07777, 0600);
	/* Space was reserved: a disk that fills up later cannot raise SIGBUS. */
	ck_assert_uint_ge((uint64_t)file.st_blocks * 512, (uint64_t)file.st_size);
	map = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(map, MAP_FAILED);
	ck_assert_uint_eq(count_rows(map), 500);
}
END_TEST

START_TEST(file_that_is_there_is_not_taken)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/rings", unit_temp_dir());
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	ck_assert_int_eq(ring_start(path, 1, 1 << 20), -EEXIST);
	ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(before_the_start_nothing_is_reserved_and_errno_stays)
{
	errno = ERANGE;
	ck_assert(!put(1));
	ck_assert_int_eq(errno, ERANGE);
}
END_TEST

static void sum_positions(
	void *context, struct ring_thread *thread, uint32_t chunk_seq, uint32_t offset)
{
	uint64_t *at = context;

	ck_assert_uint_eq(thread->id, 1);
	*at = (uint64_t)chunk_seq << 32 | offset;
}

START_TEST(positions_tell_what_was_read)
{
	static struct seen seen;
	uint64_t at = 0;

	ck_assert_int_eq(ring_start(NULL, 1, 1 << 20), 0);
	ck_assert(put(0));
	ck_assert(put(1));
	ring_read(see, &seen);
	ck_assert(put(2));
	ring_positions(sum_positions, &at);
	ck_assert_uint_eq(at, (uint64_t)1 << 32 | (24 + 32));
}
END_TEST

/* What the chunks of the file say is lost. */
static uint64_t count_lost(const char *map)
{
	const struct gprof_rings_header *header = (const struct gprof_rings_header *)map;
	uint64_t n = 0;

	for (uint32_t i = 0; i < header->nr_chunks; i++) {
		const struct gprof_chunk_header *chunk =
			(const struct gprof_chunk_header *)(map + header->header_bytes +
							    (size_t)i * header->chunk_bytes);

		n += chunk->thread ? chunk->lost : 0;
	}
	return n;
}

static const char *map_ring(const char *path)
{
	int fd = open(path, O_RDONLY);
	char *map = mmap(NULL, 4096 + 4 * RING_CHUNK_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	ck_assert_ptr_ne(map, MAP_FAILED);
	close(fd);
	return map;
}

START_TEST(the_file_tells_of_losses_until_the_stream_does)
{
	static struct seen seen;
	char path[4200];
	const char *map;
	uint64_t i;

	snprintf(path, sizeof(path), "%s/rings", unit_temp_dir());
	ck_assert_int_eq(ring_start(path, 1, 4 * RING_CHUNK_BYTES), 0);
	map = map_ring(path);
	for (i = 0; put(i); i++) {
	}
	for (uint64_t more = 1; more < 10; more++) {
		ck_assert(!put(11 * (i + more) + 10));
	}
	ck_assert_uint_eq(count_lost(map), 10);
	ring_read(see, &seen);
	ck_assert_uint_eq(ring_take_lost(), 10);
	ck_assert(!put(11 * (i + 10) + 10)); /* while the others are on their way */
	ck_assert_uint_eq(count_lost(map), 11);
	ring_release();
	ck_assert_uint_eq(count_lost(map), 1);
	ring_read(see, &seen);
	ck_assert_uint_eq(ring_take_lost(), 1);
	ring_release();
	ck_assert_uint_eq(count_lost(map), 0);
	ck_assert(put(11 * (i + 11) + 10));
}
END_TEST

/* More threads than there are places come and go while there is no room. */
START_TEST(threads_that_found_no_room_leave_their_place)
{
	static struct seen seen;

	ck_assert_int_eq(ring_start(NULL, 1, 4 * RING_CHUNK_BYTES), 0);
	for (uint64_t i = 0; put(i); i++) {
	}
	for (uint32_t n = 0; n < RING_MAX_THREADS + 10; n++) {
		ring_tls = (struct ring_tls){0};
		ck_assert(!put(n));
		ring_end_thread(&ring_tls);
	}
	drain(&seen);
	ring_tls = (struct ring_tls){0};
	ck_assert(put(0));
}
END_TEST

static void count(
	void *nr_calls, const struct ring_thread *thread, unsigned int counted, uint64_t nr)
{
	(void)thread;
	(void)counted;
	*(uint64_t *)nr_calls += nr;
}

/* Nobody would ever read the counts of a thread that never gets a chunk. */
START_TEST(calls_are_counted_only_where_they_are_seen)
{
	uint64_t nr_calls = 0;

	ck_assert_int_eq(ring_start(NULL, 1, 4 * RING_CHUNK_BYTES), 0);
	for (uint64_t i = 0; put(i); i++) {
	}
	ring_count_first(&ring_tls, 3);
	ck_assert_uint_eq(ring_tls.thread->counts[3], 1);
	ring_tls.thread->counts[3] += 10;
	ring_take_counts(count, &nr_calls);
	ck_assert_uint_eq(nr_calls, 10);
	ring_tls = (struct ring_tls){0};
	ck_assert(!put(0));
	ring_count_first(&ring_tls, 3);
	ck_assert_uint_eq(ring_tls.thread->counts[3], 0);
}
END_TEST

/* ---- what a thread has left ---- */

static sigjmp_buf place;

static void jump(int number)
{
	siglongjmp(place, number);
}

static __attribute__((noinline)) void leave_a_row(uint64_t number)
{
	struct row *row = (struct row *)ring_reserve(&ring_tls, row_bytes(number));

	ck_assert_ptr_nonnull(row);
	memset(row, 0xff, row_bytes(number));
	raise(SIGUSR1);
}

START_TEST(a_row_that_was_left_is_counted_and_its_room_taken_by_the_next)
{
	static struct seen seen;

	ck_assert_int_eq(ring_start(NULL, 1, 4 * RING_CHUNK_BYTES), 0);
	signal(SIGUSR1, jump);
	for (uint64_t i = 0; i < 20; i++) {
		ck_assert(put(i));
		if (!sigsetjmp(place, 1)) {
			leave_a_row(i);
		}
	}
	ck_assert(put(20));
	drain(&seen);
	ck_assert_uint_eq(seen.nr_rows, 21);
	ck_assert_uint_eq(ring_take_left(), 20);
	ck_assert_uint_eq(ring_take_left(), 0);
	ck_assert_uint_eq(loss_take(LOSS_SIGNAL), 0);
}
END_TEST

/* The thread was left as it took another chunk: linked, and not used, while the drain goes on. */
START_TEST(a_chunk_that_was_linked_before_its_thread_left_is_used)
{
	static struct seen seen;
	struct ring_tls before;
	uint64_t i = 0;

	ck_assert_int_eq(ring_start(NULL, 1, 8 * RING_CHUNK_BYTES), 0);
	ck_assert(put(i++));
	do {
		before = ring_tls;
		ck_assert(put(i++));
	} while (ring_tls.chunk == before.chunk);
	/* As if it had left before its first row there. */
	ring_tls.thread->pending =
		(uint32_t)(((char *)ring_tls.chunk - (char *)before.chunk) / RING_CHUNK_BYTES);
	ring_tls.chunk->committed = 0;
	ring_tls.chunk = before.chunk;
	ring_tls.at = before.at;
	ring_tls.end = before.end;
	ring_tls.writing = ring_stack_pointer() - 4096;
	drain(&seen); /* gives the chunk before it back */
	ck_assert_uint_eq(seen.nr_rows, i - 1);
	for (int more = 0; more < 500; more++) {
		ck_assert(put(i++));
	}
	drain(&seen);
	ck_assert_uint_eq(seen.nr_rows, i - 1);
	ck_assert_uint_eq(ring_take_left(), 1);
}
END_TEST

START_TEST(what_comes_back_without_having_been_left_hides_no_other)
{
	ck_assert_int_eq(ring_start(NULL, 1, 4 * RING_CHUNK_BYTES), 0);
	ring_came_back();
	ring_recover(&ring_tls, RING_STACK);
	ck_assert_uint_eq(ring_take_left(), 1);
	ring_recover(&ring_tls, RING_STACK);
	ring_came_back();
	ck_assert_uint_eq(ring_take_left(), 0);
}
END_TEST

START_TEST(what_cannot_be_a_row_ends_its_chunk_and_is_counted)
{
	static const struct gprof_row_head damages[] = {{.bytes = 0}, {.bytes = 4},
		{.bytes = 28, .table = GPROF_TABLE_api}, {.bytes = 65528, .table = GPROF_TABLE_api},
		{.bytes = 24, .table = GPROF_TABLE_api, .text_bytes = 100}};
	static struct seen seen;
	char *at;

	ck_assert_int_eq(ring_start(NULL, 1, 8 * RING_CHUNK_BYTES), 0);
	ck_assert(put(0));
	at = ring_tls.at;
	ck_assert(put(1));
	ck_assert(put(2));
	memcpy(at, &damages[_i], sizeof(damages[_i]));
	drain(&seen);
	ck_assert_uint_eq(seen.nr_rows, 1);
	ck_assert_uint_ge(loss_take(LOSS_DAMAGED), 2); /* the one after it is lost as well */
	ck_assert(put(3));
	/* A count beyond the chunk leads nowhere either. */
	ring_tls.chunk->committed = UINT32_MAX;
	ring_read(see, &seen);
	ck_assert_uint_eq(seen.nr_rows, 2);
	ck_assert_uint_gt(loss_take(LOSS_DAMAGED), 0);
}
END_TEST

/* A signal handler forks while its thread writes, and the child goes on writing. */
START_TEST(a_child_that_was_forked_in_a_row_writes_none_of_its_parent)
{
	static struct seen seen;
	struct row *row;
	int status;
	pid_t child;

	ck_assert_int_eq(ring_start(NULL, 1, 4 * RING_CHUNK_BYTES), 0);
	ck_assert(put(0));
	row = (struct row *)ring_reserve(&ring_tls, row_bytes(1));
	child = fork();
	if (!child) {
		ck_assert(!ring_forget());
		memset(row, 0xff, row_bytes(1));
		ring_commit(&ring_tls, row, row_bytes(1));
		_exit(ring_tls.writing ? 1 : 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	row->head =
		(struct gprof_row_head){.bytes = (uint16_t)row_bytes(1), .table = GPROF_TABLE_api};
	row->number = 1;
	memset(row->fill, 1, row_bytes(1) - 16);
	ring_commit(&ring_tls, row, row_bytes(1));
	drain(&seen);
	ck_assert_uint_eq(seen.nr_rows, 2);
	ck_assert_uint_eq(loss_take(LOSS_DAMAGED), 0);
}
END_TEST

extern pid_t _Fork(void) __attribute__((weak)); /* glibc 2.34 */

/* Between two rows of its parent's thread the child tries to write some, and ends its thread. */
static void *fork_between_rows(void *unused)
{
	struct gprof_row_thread row = {.what = GPROF_THREAD_NAMED};
	int status;
	pid_t child;

	ck_assert(put(0));
	child = _Fork();
	if (!child) {
		thread_emit(GPROF_THREAD_NAMED, 0, "child");
		ring_emit(&row, GPROF_TABLE_thread, NULL, 0);
		if (ring_enter(&ring_tls) || ring_reserve_slow(&ring_tls, 24, RING_STACK)) {
			_exit(1);
		}
		pthread_exit(NULL);
	}
	for (uint64_t i = 1; i < 50; i++) {
		ck_assert(put(i));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	for (uint64_t i = 50; i < 100; i++) {
		ck_assert(put(i));
	}
	return unused;
}

/* Linux 4.14, and no emulator that only says it did: is a page made empty in children? */
static bool pages_can_be_wiped(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status = 1;
	pid_t child;

	ck_assert_ptr_ne(page, MAP_FAILED);
	madvise(page, 4096, MADV_WIPEONFORK);
	*page = 1;
	child = fork();
	if (!child) {
		_exit(*page);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status == 0;
}

/* It shares the rings with its parent, and knows nothing of that: its C library ran no handlers. */
START_TEST(a_child_made_without_forks_handlers_leaves_its_parents_rings_alone)
{
	static struct seen seen;
	char path[256];
	pthread_t thread;

	if (!_Fork || !pages_can_be_wiped()) {
		return;
	}
	target_wipe_page_in_children();
	thread_reserve_key();
	thread_init();
	/* In a file: that is shared with children. */
	snprintf(path, sizeof(path), "%s/rings", unit_temp_dir());
	ck_assert_int_eq(ring_start(path, 1, 4 * RING_CHUNK_BYTES), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, fork_between_rows, NULL), 0);
	pthread_join(thread, NULL);
	drain(&seen);
	ck_assert_uint_eq(seen.nr_rows, 100);
	ck_assert_uint_eq(loss_take(LOSS_DAMAGED), 0);
	ck_assert_uint_eq(ring_fill(), 0);
}
END_TEST

static void *write_and_vanish(void *unused)
{
	ck_assert(put(0));
	ring_watch_thread(&ring_tls);
	return unused;
}

START_TEST(a_thread_whose_end_nobody_sees_gives_its_chunk_back_once_it_is_gone)
{
	static struct seen seen;
	pthread_t thread;

	ck_assert_int_eq(ring_start(NULL, 1, 4 * RING_CHUNK_BYTES), 0);
	for (int i = 0; i < 50; i++) {
		seen.next[i + 1] = 0;
		ck_assert_int_eq(pthread_create(&thread, NULL, write_and_vanish, NULL), 0);
		pthread_join(thread, NULL);
		/* It is joined a moment before the kernel has let go of it. */
		do {
			drain(&seen);
		} while (ring_fill());
	}
	ck_assert_uint_eq(seen.nr_rows, 50);
	ck_assert_uint_eq(ring_take_lost(), 0);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {rows_come_back_once_and_in_order,
		full_ring_drops_newest_and_counts, chunks_go_round_without_loss,
		rows_of_many_threads_are_read_or_counted_as_lost,
		ended_threads_give_their_chunks_to_new_ones,
		reserve_from_a_signal_handler_while_a_row_is_written_is_refused_and_counted,
		a_pool_leaves_the_most_of_shared_memory_to_others, committed_rows_outlive_sigkill,
		file_that_is_there_is_not_taken,
		before_the_start_nothing_is_reserved_and_errno_stays, positions_tell_what_was_read,
		the_file_tells_of_losses_until_the_stream_does,
		threads_that_found_no_room_leave_their_place,
		calls_are_counted_only_where_they_are_seen,
		a_row_that_was_left_is_counted_and_its_room_taken_by_the_next,
		a_chunk_that_was_linked_before_its_thread_left_is_used,
		what_comes_back_without_having_been_left_hides_no_other,
		a_child_that_was_forked_in_a_row_writes_none_of_its_parent,
		a_child_made_without_forks_handlers_leaves_its_parents_rings_alone,
		a_thread_whose_end_nobody_sees_gives_its_chunk_back_once_it_is_gone};
	Suite *suite = unit_make("ring", tests, sizeof(tests) / sizeof(tests[0]));

	unit_loop(suite, what_cannot_be_a_row_ends_its_chunk_and_is_counted, 5);
	return suite;
}
