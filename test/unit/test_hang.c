/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/hang/hang.h"

#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/stream/batch.h"
#include "collector/stream/calls.h"
#include "collector/collector.h"
#include "collector/util/config.h"
#include "collector/ring/python_frames.h"
#include "collector/util/notice.h"
#include "collector/ring/safe_read.h"
#include "collector/step/step.h"
#include "test/unit/unit.h"
#include "test/unit/written.h"

enum { LIMIT_MS = 1000 };

static uint32_t find_call(const char *name)
{
	(void)name;
	return 0;
}

static void start(const char *seconds, const char *step)
{
	setenv("GPROF_HANG_TIMEOUT_S", seconds, 1);
	setenv("GPROF_STEP", step, 1);
	config_init();
	clock_init(NULL);
	written_begin();
	ck_assert_int_eq(ring_start(NULL, 1, 1 << 20), 0);
	step_init(find_call);
	collector_mode = 0;
	step_start();
	hang_init();
}

static void pause_for(unsigned int ms)
{
	const struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&time, NULL);
}

/* The rows that wait with that item; `last`: the newest of them. */
static unsigned int count(enum gprof_hang item, struct gprof_row_hang *last)
{
	const struct batch *batch = &batches[GPROF_TABLE_hang];
	unsigned int nr = 0;

	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		const struct gprof_row_hang *row = batch->rows[i];

		if (row->item == item) {
			*last = *row;
			nr++;
		}
	}
	return nr;
}

static void add_launch(void)
{
	batch_add(GPROF_TABLE_api_launch);
}

START_TEST(nothing_is_told_where_it_is_off)
{
	start("0", "auto");
	step_mark(GPROF_STEP_CALL);
	pause_for(2);
	ck_assert(!hang_look());
	ck_assert(!hang_is_on);
	ck_assert_uint_eq(batches[GPROF_TABLE_hang].nr_rows, 0);
}
END_TEST

START_TEST(step_that_does_not_end_is_told_once_and_again_when_it_ended)
{
	struct gprof_row_hang row;

	start("1", "auto");
	step_mark(GPROF_STEP_CALL);
	ck_assert(!hang_look());
	pause_for(LIMIT_MS);
	add_launch(); /* does not count where steps are marked */
	ck_assert(hang_look());
	ck_assert_uint_eq(count(GPROF_HANG_BEGAN, &row), 1);
	ck_assert_uint_eq(row.hang, 1);
	ck_assert_uint_eq(row.step, 1);
	ck_assert_uint_lt(row.since, row.tick);
	ck_assert(!hang_look());
	ck_assert_uint_eq(count(GPROF_HANG_ENDED, &row), 0);
	step_mark(GPROF_STEP_CALL);
	ck_assert(hang_look());
	ck_assert_uint_eq(count(GPROF_HANG_ENDED, &row), 1);
	ck_assert_uint_eq(row.hang, 1);
	pause_for(LIMIT_MS);
	ck_assert(hang_look());
	ck_assert_uint_eq(count(GPROF_HANG_ENDED, &row), 1);
	ck_assert_uint_eq(count(GPROF_HANG_BEGAN, &row), 2);
	ck_assert_uint_eq(row.hang, 2);
}
END_TEST

START_TEST(slow_steps_are_no_stall)
{
	start("1", "auto");
	for (int i = 0; i < 15; i++) {
		pause_for(LIMIT_MS / 10);
		step_mark(GPROF_STEP_CALL);
		ck_assert(!hang_look());
	}
}
END_TEST

START_TEST(without_steps_only_a_call_that_does_not_return_is_a_stall)
{
	struct gprof_row_hang row;
	struct ring_call *call = &ring_tls.nccl;

	start("1", "none");
	ck_assert(ring_enter(&ring_tls));
	add_launch();
	ck_assert(!hang_look());
	pause_for(LIMIT_MS);
	ck_assert(!hang_look()); /* it may have nothing to do */
	ring_call_begin(call, "ncclSend", clock_raw());
	pause_for(LIMIT_MS);
	add_launch();
	ck_assert(!hang_look()); /* another thread goes on */
	pause_for(LIMIT_MS);
	ck_assert(hang_look());
	ck_assert_uint_eq(count(GPROF_HANG_BEGAN, &row), 1);
	add_launch();
	ck_assert(hang_look());
	ck_assert_uint_eq(count(GPROF_HANG_ENDED, &row), 1);
}
END_TEST

START_TEST(intervals_and_closed_windows_tell_nothing)
{
	start("1", "interval:10");
	ck_assert(ring_enter(&ring_tls));
	ring_call_begin(&ring_tls.cuda, "cudaStreamSynchronize", clock_raw());
	step_mark(GPROF_STEP_INTERVAL);
	add_launch();
	ck_assert(!hang_look());
	pause_for(LIMIT_MS);
	step_mark(GPROF_STEP_INTERVAL); /* the clock's, not the program's */
	ck_assert(hang_look());
	step_command(1, 1); /* gprof-report control stop */
	ck_assert(hang_look());
	pause_for(LIMIT_MS);
	ck_assert(!hang_look());
}
END_TEST

static sem_t is_in, may_go;

/* In a call of NCCL, and in one of CUDA in that. */
static void *wait_in_calls(void *tid)
{
	*(uint32_t *)tid = (uint32_t)syscall(SYS_gettid);
	ck_assert(ring_enter(&ring_tls));
	ring_call_begin(&ring_tls.nccl, "ncclAllReduce", clock_raw());
	ring_call_begin(&ring_tls.cuda, "cudaMalloc", clock_raw());
	sem_post(&is_in);
	sem_wait(&may_go);
	return NULL;
}

START_TEST(each_call_that_is_open_is_told_and_the_last_one_of_other_threads)
{
	const struct batch *batch = &batches[GPROF_TABLE_hang];
	uint32_t tid, nr = 0, own = (uint32_t)syscall(SYS_gettid);
	const struct gprof_row_hang head = {.tick = clock_raw(), .hang = 7};
	struct hang_call longest;
	pthread_t thread;

	start("1", "auto");
	sem_init(&is_in, 0, 0);
	sem_init(&may_go, 0, 0);
	pthread_create(&thread, NULL, wait_in_calls, &tid);
	sem_wait(&is_in);
	longest = hang_thread_add_rows(&head);
	ck_assert_str_eq(longest.name, "ncclAllReduce");
	ck_assert_uint_eq(longest.tid, tid);
	ck_assert(hang_thread_is_in_call(clock_raw()));
	ck_assert(!hang_thread_is_in_call(longest.since - 1));
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		const struct gprof_row_hang *row = batch->rows[i];

		ck_assert_uint_eq(row->item, GPROF_HANG_THREAD);
		ck_assert_uint_eq(row->hang, 7);
		ck_assert_uint_ne(row->task, own); /* the drain itself */
		if (row->task == tid) {
			ck_assert(row->is_open);
			ck_assert_uint_ne(row->thread, 0);
			ck_assert(row->name && row->text);
			nr++;
		}
	}
	ck_assert_uint_eq(nr, 2);
	sem_post(&may_go);
	pthread_join(thread, NULL);
}
END_TEST

static void *wait_in_counted(void *goes_on)
{
	struct ring_thread *thread;

	ck_assert(ring_enter(&ring_tls));
	thread = ring_tls.thread;
	thread->counts[0] = 5;
	atomic_store(&thread->counting, 1);
	sem_post(&is_in);
	while (sem_trywait(&may_go)) {
		__atomic_fetch_add(&thread->counts[0], goes_on != NULL, __ATOMIC_RELAXED);
	}
	atomic_store(&thread->counting, 0);
	return NULL;
}

/* The one that hangs in it, and not one that polls. */
START_TEST(call_that_is_only_counted_is_told_if_the_thread_stays_in_it)
{
	static const char name[] = "cudaGetDevice";
	static const struct calls_hook hook = {.name_at = 0, .counted = 1};
	const struct gprof_row_hang head = {.tick = clock_raw(), .hang = 7};
	struct hang_call longest;
	pthread_t thread;

	calls_init(name, &hook, 1);
	start("1", "auto");
	sem_init(&is_in, 0, 0);
	sem_init(&may_go, 0, 0);
	for (int goes_on = 0; goes_on < 2; goes_on++) {
		pthread_create(&thread, NULL, wait_in_counted, goes_on ? &may_go : NULL);
		sem_wait(&is_in);
		do { /* one that has no core stays, too */
			longest = hang_thread_add_rows(&head);
		} while (goes_on && longest.name);
		ck_assert_ptr_eq(longest.name, goes_on ? NULL : name);
		sem_post(&may_go);
		pthread_join(thread, NULL);
	}
}
END_TEST

/* ---- frames ---- */

static _Atomic uint32_t frames_tid; /* whose frames are known */
static atomic_bool is_woken;	    /* the thread runs while they are read */
static atomic_bool may_end;

static void wait_until_it_sleeps(void)
{
	char path[64], text[128];
	const char *after = NULL;

	snprintf(path, sizeof(path), "/proc/self/task/%u/stat", frames_tid);
	while (!after || strncmp(after, ") S", 3)) {
		FILE *file = fopen(path, "r");

		ck_assert_ptr_nonnull(file);
		ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
		after = strrchr(text, ')');
		fclose(file);
	}
}

static const struct python_frames *read_some(uint32_t tid, uintptr_t self)
{
	static const struct python_frames some = {
		.all = {{"train.py", "step", 7}}, .nr = 1, .nr_more = 2};

	(void)self;
	if (tid == frames_tid && is_woken) {
		sem_post(&may_go);
		sem_wait(&is_in);
		wait_until_it_sleeps();
	}
	return tid == frames_tid ? &some : NULL;
}

static void *sleep_on(void *unused)
{
	frames_tid = (uint32_t)syscall(SYS_gettid);
	while (!may_end) {
		sem_post(&is_in);
		sem_wait(&may_go);
	}
	return unused;
}

static void *spin(void *call)
{
	frames_tid = (uint32_t)syscall(SYS_gettid);
	ck_assert(ring_enter(&ring_tls));
	if (call) {
		ring_call_begin(&ring_tls.cuda, call, clock_raw());
	}
	sem_post(&is_in);
	while (!may_end) {
	}
	return NULL;
}

/* How many rows of frames a look has, of which `row` is one. */
static unsigned int look_for_frames(struct gprof_row_hang *row)
{
	const struct gprof_row_hang head = {.tick = clock_raw(), .hang = 1, .since = 5};
	struct gprof_row_hang before;
	unsigned int nr_before = count(GPROF_HANG_FRAME, &before);

	hang_thread_add_rows(&head);
	return count(GPROF_HANG_FRAME, row) - nr_before;
}

static void begin_frames(pthread_t *thread, void *(*run)(void *), void *argument)
{
	start("1", "auto");
	python_frames_read = read_some;
	sem_init(&is_in, 0, 0);
	sem_init(&may_go, 0, 0);
	pthread_create(thread, NULL, run, argument);
	sem_wait(&is_in);
}

static void end_frames(pthread_t thread)
{
	may_end = true;
	sem_post(&may_go);
	pthread_join(thread, NULL);
}

START_TEST(frames_are_told_of_a_thread_that_sleeps_and_not_if_it_ran_meanwhile)
{
	struct gprof_row_hang row;
	pthread_t thread;

	begin_frames(&thread, sleep_on, NULL);
	wait_until_it_sleeps();
	ck_assert_uint_eq(look_for_frames(&row), 2);
	ck_assert_uint_eq(row.task, frames_tid);
	ck_assert_uint_eq(row.since, row.tick);
	ck_assert(!row.name && row.text); /* how many more */
	is_woken = true;
	ck_assert_uint_eq(look_for_frames(&row), 0);
	is_woken = false;
	ck_assert_uint_eq(look_for_frames(&row), 2);
	end_frames(thread);
}
END_TEST

/* The groups make a long line in the kernel's file about a thread. */
START_TEST(frames_are_told_of_a_thread_with_many_groups)
{
	static gid_t groups[2000];
	struct gprof_row_hang row;
	pthread_t thread;

	for (unsigned int i = 0; i < 2000; i++) {
		groups[i] = 1000000000 + i;
	}
	ck_assert_int_eq(setgroups(2000, groups), 0);
	begin_frames(&thread, sleep_on, NULL);
	wait_until_it_sleeps();
	ck_assert_uint_eq(look_for_frames(&row), 2);
	end_frames(thread);
}
END_TEST

START_TEST(frames_are_not_told_of_a_thread_that_runs)
{
	struct gprof_row_hang row;
	pthread_t thread;

	begin_frames(&thread, spin, NULL);
	ck_assert_uint_eq(look_for_frames(&row), 0);
	end_frames(thread);
}
END_TEST

START_TEST(frames_are_told_of_a_thread_that_spins_in_a_call)
{
	static char call[] = "cudaStreamSynchronize";
	struct gprof_row_hang row;
	pthread_t thread;

	begin_frames(&thread, spin, call);
	ck_assert_uint_eq(look_for_frames(&row), 2);
	ck_assert_uint_ne(row.thread, 0);
	end_frames(thread);
}
END_TEST

START_TEST(last_work_of_each_place_and_communicator_is_kept)
{
	const struct batch *batch = &batches[GPROF_TABLE_hang];
	const struct gprof_row_hang head = {.tick = 1000, .hang = 1};
	struct gprof_row_hang row;

	start("1", "auto");
	/* Records come out of order. */
	hang_work_ended(GPROF_TABLE_memcpy, 3, 12, 0, 500);
	hang_work_ended(GPROF_TABLE_kernel, 3, 11, 9, 400);
	hang_work_ended(GPROF_TABLE_kernel, 4, 13, 9, 450);
	hang_work_launched(&(struct gprof_row_api_launch){
		.begin = 20, .stream = 0x70, .correlation = 14, .shape = 9, .thread = 2});
	hang_work_called(&(struct gprof_row_nccl){
		.begin = 30, .comm = 1, .sequence = 5, .kind = GPROF_NCCL_BROADCAST, .bytes = 64});
	hang_work_called(&(struct gprof_row_nccl){
		.begin = 40, .comm = 1, .sequence = 1, .kind = GPROF_NCCL_SEND});
	hang_work_add_rows(&head);
	ck_assert_uint_eq(batch->nr_rows, 4);
	ck_assert_uint_eq(count(GPROF_HANG_FINISHED, &row), 2);
	ck_assert_uint_eq(count(GPROF_HANG_LAUNCHED, &row), 1);
	ck_assert_uint_eq(row.correlation, 14);
	ck_assert_uint_eq(count(GPROF_HANG_COLLECTIVE, &row), 1);
	ck_assert_uint_eq(row.sequence, 5);
	ck_assert_uint_eq(row.since, 30);
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		memcpy(&row, batch->rows[i], sizeof(row));
		ck_assert_uint_eq(row.tick, 1000);
		if (row.item == GPROF_HANG_FINISHED && row.place == 3) {
			ck_assert_uint_eq(row.correlation, 12);
			ck_assert_uint_ne(row.name, 0); /* memcpy */
		}
	}
}
END_TEST

START_TEST(those_that_were_used_last_are_kept_of_many_streams)
{
	const struct gprof_row_hang head = {.tick = 1000, .hang = 1};
	const struct batch *batch = &batches[GPROF_TABLE_hang];

	start("1", "auto");
	for (uint32_t i = 1; i <= 100; i++) {
		hang_work_launched(
			&(struct gprof_row_api_launch){.begin = i, .stream = i, .correlation = i});
	}
	hang_work_add_rows(&head);
	ck_assert_uint_eq(batch->nr_rows, 64);
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		const struct gprof_row_hang *row = batch->rows[i];

		ck_assert_uint_gt(row->correlation, 100 - 64);
	}
}
END_TEST

static uint32_t told_shape(uint32_t launched)
{
	static uint64_t begin = 1000000;
	const struct gprof_row_hang head = {.tick = ++begin, .hang = 1};
	struct gprof_row_hang row;

	hang_work_launched(&(struct gprof_row_api_launch){
		.begin = begin, .stream = 0x70, .correlation = 100000, .shape = launched});
	hang_work_add_rows(&head);
	count(GPROF_HANG_LAUNCHED, &row);
	ck_assert_uint_eq(row.since, begin);
	return row.shape;
}

/* A kernel's own shape has CUPTI's name; that of its launch has the hook's, or the address. */
START_TEST(launch_among_too_many_keeps_its_own_shape)
{
	enum { NR = 3000, ENDED = 10000 };

	start("1", "auto");
	for (uint32_t i = 1; i <= NR; i++) {
		hang_work_launched(&(struct gprof_row_api_launch){
			.begin = i, .stream = i % 3, .correlation = i, .shape = i});
		if (i == 2 || i == NR) {
			hang_work_ended(GPROF_TABLE_kernel, 1, i, ENDED + i, i);
		}
	}
	/* These came too late: the places of their launches were taken. */
	hang_work_ended(GPROF_TABLE_kernel, 1, 5, ENDED + 5, NR + 5);
	hang_work_ended(GPROF_TABLE_kernel, 1, 5 + 1024, ENDED + 6, NR + 6);
	ck_assert_uint_eq(told_shape(NR), ENDED + NR);
	ck_assert_uint_eq(told_shape(2), ENDED + 2);
	ck_assert_uint_eq(told_shape(5), 5);
	ck_assert_uint_eq(told_shape(5 + 1024), 5 + 1024);
	ck_assert_uint_eq(
		told_shape(2 + 1024), 2 + 1024); /* not the shape of the launch in the same place */
}
END_TEST

/* Many wait for work; the last one is in a call. */
static void *wait_in_pool(void *unused)
{
	sem_post(&is_in);
	sem_wait(&may_go);
	return unused;
}

START_TEST(of_many_threads_those_in_calls_are_told_and_the_rest_are_counted)
{
	enum { NR_POOL = 300, MAX_IDLE = 256 };
	const struct gprof_row_hang head = {.tick = clock_raw(), .hang = 1};
	const unsigned int table = GPROF_TABLE_hang;
	struct decode_block *blocks;
	size_t nr_blocks;
	pthread_t threads[NR_POOL + 1];
	struct hang_call longest;
	uint32_t tid, nr_open = 0, nr_idle = 0, nr_rest = 0;

	start("1", "auto");
	sem_init(&is_in, 0, 0);
	sem_init(&may_go, 0, 0);
	for (int i = 0; i <= NR_POOL; i++) {
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
					 i < NR_POOL ? wait_in_pool : wait_in_calls, &tid),
			0);
		sem_wait(&is_in);
	}
	longest = hang_thread_add_rows(&head);
	ck_assert_str_eq(longest.name, "ncclAllReduce");
	ck_assert_uint_eq(longest.tid, tid);
	blocks = written_end(&nr_blocks);
	for (size_t i = 0; i < decode_rows(blocks, nr_blocks, table); i++) {
		uint64_t task = decode_value(blocks, nr_blocks, table, "task", i);
		uint64_t text = decode_value(blocks, nr_blocks, table, "text", i);

		if (decode_value(blocks, nr_blocks, table, "is_open", i)) {
			nr_open++;
		} else if (task) {
			nr_idle++;
		} else {
			const char *rest = decode_string(blocks, nr_blocks, text);
			char *words;

			/* Sanitizers and emulators have threads of their own. */
			ck_assert_uint_ge(strtoul(rest, &words, 10), NR_POOL - MAX_IDLE);
			ck_assert_str_eq(words, " more threads are in no call");
			nr_rest++;
		}
	}
	ck_assert_uint_eq(nr_open, 2);
	ck_assert_uint_eq(nr_idle, MAX_IDLE);
	ck_assert_uint_eq(nr_rest, 1);
	for (size_t i = 0; i < nr_blocks; i++) {
		decode_free(&blocks[i]);
	}
	free(blocks);
	for (int i = 0; i <= NR_POOL; i++) {
		sem_post(&may_go);
	}
	for (int i = 0; i <= NR_POOL; i++) {
		pthread_join(threads[i], NULL);
	}
}
END_TEST

/* ---- where the kernel does not let a process read its own memory ---- */

static bool can_peek(void)
{
	char from = 1, to = 0;

	return safe_read(&to, (uintptr_t)&from, 1) && to;
}

static bool can_set_groups(void)
{
	gid_t groups[100];
	int nr = getgroups(100, groups);

	return nr >= 0 && !setgroups((size_t)nr, groups);
}

/* As containers of old kernels do. */
static void refuse_peeks(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof(rules) / sizeof(rules[0]), rules};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

START_TEST(where_memory_cannot_be_read_steps_alone_tell_and_that_is_said)
{
	struct gprof_row_hang row;
	struct notice notice;
	pthread_t thread;
	uint32_t tid;

	if (can_peek()) {
		refuse_peeks();
	}
	ck_assert(!can_peek());
	start("1", "auto");
	ck_assert(notice_take(&notice));
	ck_assert_str_eq(notice.cause, "hangs");
	ck_assert_ptr_nonnull(strstr(notice.text, "process_vm_readv"));
	sem_init(&is_in, 0, 0);
	sem_init(&may_go, 0, 0);
	pthread_create(&thread, NULL, wait_in_calls, &tid);
	sem_wait(&is_in);
	pause_for(LIMIT_MS);
	ck_assert(!hang_look());
	step_mark(GPROF_STEP_CALL);
	ck_assert(!hang_look());
	pause_for(LIMIT_MS);
	ck_assert(hang_look());
	ck_assert_uint_eq(count(GPROF_HANG_BEGAN, &row), 1);
	ck_assert_uint_ge(count(GPROF_HANG_THREAD, &row), 1);
	ck_assert(!row.is_open && !row.name && row.text);
	sem_post(&may_go);
	pthread_join(thread, NULL);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {nothing_is_told_where_it_is_off,
		step_that_does_not_end_is_told_once_and_again_when_it_ended,
		slow_steps_are_no_stall, last_work_of_each_place_and_communicator_is_kept,
		those_that_were_used_last_are_kept_of_many_streams,
		launch_among_too_many_keeps_its_own_shape,
		where_memory_cannot_be_read_steps_alone_tell_and_that_is_said};
	/* What threads are in is read through the kernel. */
	const TTest *const peeking[] = {without_steps_only_a_call_that_does_not_return_is_a_stall,
		intervals_and_closed_windows_tell_nothing,
		each_call_that_is_open_is_told_and_the_last_one_of_other_threads,
		of_many_threads_those_in_calls_are_told_and_the_rest_are_counted,
		frames_are_told_of_a_thread_that_sleeps_and_not_if_it_ran_meanwhile,
		frames_are_not_told_of_a_thread_that_runs,
		frames_are_told_of_a_thread_that_spins_in_a_call,
		call_that_is_only_counted_is_told_if_the_thread_stays_in_it};
	Suite *suite = unit_make("hang", tests, sizeof(tests) / sizeof(tests[0]));

	for (size_t i = 0; i < sizeof(peeking) / sizeof(peeking[0]); i++) {
		if (can_peek()) {
			unit_loop(suite, peeking[i], 1);
		} else {
			unit_skip(peeking[i]->name, "no process_vm_readv, as under qemu");
		}
	}
	if (can_peek() && can_set_groups()) {
		unit_loop(suite, frames_are_told_of_a_thread_with_many_groups, 1);
	} else {
		unit_skip(frames_are_told_of_a_thread_with_many_groups->name, "not allowed here");
	}
	return suite;
}
