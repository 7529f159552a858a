/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's side of libgprof-os.so (os/os.h): which calls are the program's, which are events,
 * and what their descriptors mean.
 *
 * A file gets a number when its descriptor is in an event for the first time, and that row has its
 * name. To learn it costs one system call, or three for a socket; the number stays until the
 * descriptor closes. So most events of a file cost none.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/ring/call_stack.h"
#include "collector/ring/os_counts.h"
#include "collector/util/fd_name.h"
#include "collector/util/target.h"
#include "preload/hook/hook.h"
#include "preload/hooks.h"
#include "preload/os/os.h"
#include "preload/python/python_frame.h"
#include "preload/python/python_lock.h"

/* The numbers of files are remembered for so many descriptors; later ones are named in each row. */
#define MAX_FDS 65536

static struct os_state {
	_Atomic uint32_t files[MAX_FDS];
	_Atomic uint32_t nr_files;
} state;

/* ---- names ---- */

/* As fd_name has it. */
static size_t descriptor_name(char *name, int fd)
{
	size_t nr_bytes = fd_name(name, fd);

	loss_add(LOSS_OS_NAME, nr_bytes == FD_NAME_BYTES);
	return nr_bytes;
}

static size_t path_name(char *name, const char *path)
{
	size_t nr_bytes = strnlen(path, FD_NAME_BYTES);

	loss_add(LOSS_OS_NAME, nr_bytes == FD_NAME_BYTES);
	memcpy(name, path, nr_bytes);
	return nr_bytes;
}

/* These errors may come before anybody reads the path, which may then be no address at all. */
static bool has_read_path(int error)
{
	return error != EFAULT && error != EINVAL && error != ENOMEM && error != EAGAIN;
}

/*
 * The number of the file; *nr_bytes: of its name, which the row must have. A path counts where
 * there is no descriptor, and where /proc does not say what it means.
 */
static uint32_t find_file(const struct os_call *call, char *name, size_t *nr_bytes)
{
	bool is_remembered = call->fd >= 0 && call->fd < MAX_FDS;
	uint32_t file = is_remembered ? atomic_load(&state.files[call->fd]) : call->file;

	if (file) {
		return file;
	}
	*nr_bytes = call->fd >= 0 ? descriptor_name(name, call->fd) : 0;
	if (!*nr_bytes && call->path && has_read_path(call->error)) {
		*nr_bytes = path_name(name, call->path);
	}
	if (*nr_bytes && is_remembered) {
		file = atomic_fetch_add(&state.nr_files, 1) + 1;
		atomic_store(&state.files[call->fd], file);
	}
	return file;
}

/* ---- who posts semaphores and signals condition variables ---- */

/*
 * A post writes one word into a table, at a place that the hash of the object's address selects:
 * the rest of the hash, a counter that tells two posts of the same thread apart, and the thread's
 * number, which is below 2^22 in every kernel. Two objects that share a place overwrite each other.
 */
#define NR_POSTERS  4096u
#define POSTER_BITS 22u
#define COUNT_BITS  8u
#define HASH_SHIFT  (POSTER_BITS + COUNT_BITS)
#define HASH_FACTOR 0x9e3779b97f4a7c15ull

static _Atomic uint64_t posters[NR_POSTERS];

static inline uint64_t low_bits(uint64_t value, unsigned int nr)
{
	return value & ((1ull << nr) - 1);
}

static inline uint64_t hash_of(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object * HASH_FACTOR;
}

static inline _Atomic uint64_t *place_of(uint64_t hash)
{
	return &posters[(hash >> (64 - HASH_SHIFT)) % NR_POSTERS];
}

static void note_post(const volatile void *object)
{
	/* Once the thread is past its destructors, its entry may be another thread's. */
	const struct ring_thread *thread = ring_tls.ended ? NULL : ring_tls.thread;
	uint64_t hash = hash_of(object);
	_Atomic uint64_t *place = place_of(hash);
	uint64_t before = atomic_load_explicit(place, memory_order_relaxed);
	uint64_t count = low_bits((before >> POSTER_BITS) + 1, COUNT_BITS);
	uint64_t poster = thread ? low_bits(thread->tid, POSTER_BITS) : 0;

	atomic_store_explicit(
		place, hash << HASH_SHIFT | count << POSTER_BITS | poster, memory_order_relaxed);
}

static uint64_t posts_of(const volatile void *object)
{
	return atomic_load_explicit(place_of(hash_of(object)), memory_order_relaxed);
}

static uint32_t poster_of(const volatile void *object, uint64_t posts)
{
	uint64_t now = posts_of(object);
	bool is_of_it = now >> HASH_SHIFT == low_bits(hash_of(object), 64 - HASH_SHIFT);

	return is_of_it && now != posts ? (uint32_t)low_bits(now, POSTER_BITS) : 0;
}

/* ---- a call ---- */

/* Returns what the call counts as: the function, or a wait for the GIL. */
static enum os_id id_of(const struct os_call *call)
{
	return python_lock_is(call->object) ? OS_python_gil : (enum os_id)call->call;
}

/*
 * A handler may call while the interpreter that it interrupts changes its frames: the kernel reads
 * them, and fails where they are none.
 */
static uint32_t python_stack_of(const struct os_call *call, uint64_t end)
{
	uint32_t (*stack_of_call)(void) =
		atomic_load_explicit(&hook_python_stack, memory_order_relaxed);
	uint32_t stack = 0;
	bool was_trusted;

	if (stack_of_call && call_stack_is_for(call->begin, end)) {
		was_trusted = python_frame_trust(false);
		stack = stack_of_call();
		python_frame_trust(was_trusted);
	}
	return stack;
}

static void write_row(const struct os_call *call, uint64_t end, uint32_t py_stack)
{
	struct gprof_row_os_call row = {.begin = call->begin,
		.dur = end,
		.thread = ring_tls.id,
		.call = (uint16_t)(os_counts_first_call() + id_of(call)),
		.result = call->error,
		.returned = call->result,
		.bytes = call->bytes,
		.object = call->object,
		.caller = call->caller,
		.holder = call->holder,
		.native_stack = call_stack_of(call->begin, end),
		.py_stack = py_stack};
	char name[FD_NAME_BYTES];
	size_t nr_bytes = 0;

	row.file = find_file(call, name, &nr_bytes);
	ring_emit(&row, GPROF_TABLE_os_call, name, nr_bytes);
}

static void record(const struct os_call *call, uint64_t end)
{
	struct ring_tls *self = &ring_tls;
	struct ring_mark mark;
	TARGET_KEEP_ERRNO;
	uint32_t py_stack = python_stack_of(call, end);

	/* Calls from here are gprof's own. */
	ring_enter_profiler(self, &mark);
	if ((hook_mode() & COLLECTOR_RECORD) && ring_enter(self)) {
		write_row(call, end, py_stack);
	}
	ring_leave_profiler(self, &mark);
}

/*
 * Calls of gprof are not the program's; those that a call of CUDA or NCCL makes are a part of that.
 * A mark below the stack's end is one that the thread has left.
 */
static uint64_t begin_call(void)
{
	return ring_tls.frame > RING_STACK ? 0 : clock_raw();
}

static void end_call(const struct os_call *call)
{
	uint64_t end = clock_raw();

	if (end - call->begin < atomic_load_explicit(&os_counts_min_raw, memory_order_relaxed)) {
		os_counts_add(id_of(call), call->bytes);
	} else {
		record(call, end);
	}
}

/*
 * Does it fail for want of a file, or of an address? The functions that look for `path` in folders
 * of their own say so afterwards, unless it has one.
 */
static bool is_missing(const char *path, bool is_searched)
{
	TARGET_KEEP_ERRNO;
	bool is_absent =
		syscall(SYS_faccessat, (long)AT_FDCWD, path, (long)F_OK) && errno != EACCES;

	return is_absent && (errno == EFAULT || !is_searched || strchr(path, '/'));
}

/* A call that does not return, or not only here, has its row before: no time, and no error. */
static void note_call(const struct os_call *call)
{
	record(call, call->begin);
}

void hooks_os_begin_exec(struct os_call *call)
{
	bool is_searched = call->call == OS_execvp || call->call == OS_execvpe;

	if (&gprof_os_code && (hook_mode() & COLLECTOR_RECORD)) {
		call->begin = begin_call();
	}
	if (call->begin && !(call->path && is_missing(call->path, is_searched))) {
		note_call(call);
	}
}

void hooks_os_fail_exec(struct os_call *call)
{
	if (call->begin) {
		call->result = -1;
		call->error = (uint16_t)errno;
		end_call(call);
	}
}

static uint32_t forget_file(int first, int last)
{
	uint32_t file = 0;

	for (int fd = first < 0 ? 0 : first; fd <= last && fd < MAX_FDS; fd++) {
		uint32_t before = atomic_load_explicit(&state.files[fd], memory_order_relaxed);

		if (before) {
			atomic_store_explicit(&state.files[fd], 0, memory_order_relaxed);
		}
		file = fd == first ? before : file;
	}
	return file;
}

/* A forked child has a stream of its own, in which no file has a name. */
void hooks_os_forget(void)
{
	forget_file(0, MAX_FDS - 1);
}

void hooks_os_init(void)
{
	if (&gprof_os_code) {
		os_counts_want(&gprof_os_code);
		python_lock_find();
	}
}

HOOK_EXPORT const struct os_recorder gprof_os_recorder = {.sizes = OS_RECORDER_SIZES,
	.nr_calls = OS_NR,
	.mode = &collector_mode,
	.begin = begin_call,
	.end = end_call,
	.note = note_call,
	.forget = forget_file,
	.post = note_post,
	.posts = posts_of,
	.poster = poster_of};
