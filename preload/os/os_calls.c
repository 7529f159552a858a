/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgprof-os.so: wraps functions of the C library and reports their calls to the recorder. It is a
 * library of its own, so that no function of the C library is wrapped without it. It has no
 * state but the addresses of the real functions: a wrapper reads the clock before and after the
 * real call, and changes neither arguments nor result nor errno. No row is written for a call that
 * does not return (a cancelled thread, a handler that jumps out).
 *
 * A wrapper may run before the constructor, since other libraries' constructors may come first.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/base/elf.h"
#include "preload/os/os.h"

#define EXPORT __attribute__((visibility("default")))

const struct own_code gprof_os_code EXPORT = {__ehdr_start, etext};

/* ---- the real functions ---- */

static void *_Atomic nexts[OS_NR];

static const char names[] =
#define OS_CALL(name, kind) #name "\0"
#include "collector/format/os_calls.def"
	;

/*
 * Where versions of a function differ in behaviour, the wrapper has the version that programs are
 * linked to now (os.map), and calls that one. Programs of before pass by the wrapper.
 */
#if defined(__x86_64__)
#define VERSIONED(name, version)                             \
	__asm__(".symver os_" #name "," #name "@@" version); \
	static const char version_of_##name[] = version
VERSIONED(pthread_cond_wait, "GLIBC_2.3.2");
VERSIONED(pthread_cond_timedwait, "GLIBC_2.3.2");
VERSIONED(pthread_cond_signal, "GLIBC_2.3.2");
VERSIONED(pthread_cond_broadcast, "GLIBC_2.3.2");
VERSIONED(posix_spawn, "GLIBC_2.15");
VERSIONED(posix_spawnp, "GLIBC_2.15");

static const char *version_of(unsigned int id)
{
	switch (id) {
	case OS_pthread_cond_wait:
		return version_of_pthread_cond_wait;
	case OS_pthread_cond_timedwait:
		return version_of_pthread_cond_timedwait;
	case OS_pthread_cond_signal:
		return version_of_pthread_cond_signal;
	case OS_pthread_cond_broadcast:
		return version_of_pthread_cond_broadcast;
	case OS_posix_spawn:
		return version_of_posix_spawn;
	case OS_posix_spawnp:
		return version_of_posix_spawnp;
	default:
		return NULL;
	}
}
#define OWN_NAME(name) os_##name
#else
static const char *version_of(unsigned int id)
{
	(void)id;
	return NULL;
}
#define OWN_NAME(name) name
#endif

static bool is_ours(const struct dl_phdr_info *info)
{
	uintptr_t here = (uintptr_t)&nexts;

	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD &&
			here - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz) {
			return true;
		}
	}
	return false;
}

/* Each name's first definition behind this library, in the loader's order. */
static int look(struct dl_phdr_info *info, size_t size, void *is_behind_us)
{
	const char *name = names;
	struct elf elf;

	(void)size;
	if (!*(bool *)is_behind_us) {
		*(bool *)is_behind_us = is_ours(info);
		return 0;
	}
	if (!elf_open(&elf, info)) {
		return 0;
	}
	for (unsigned int id = 0; id < OS_NR; id++, name += strlen(name) + 1) {
		if (!atomic_load_explicit(&nexts[id], memory_order_relaxed)) {
			atomic_store_explicit(&nexts[id],
				elf_find_version(&elf, name, version_of(id)), memory_order_relaxed);
		}
	}
	return 0;
}

/* Any number of threads may do that at once: all find the same. */
static void find_nexts(void)
{
	bool is_behind_us = false;

	dl_iterate_phdr(look, &is_behind_us);
}

__attribute__((constructor)) static void begin_library(void)
{
	find_nexts();
}

static __attribute__((noinline)) void *find_next(enum os_id id)
{
	find_nexts();
	return atomic_load_explicit(&nexts[id], memory_order_relaxed);
}

static inline void *next(enum os_id id)
{
	void *function = atomic_load_explicit(&nexts[id], memory_order_relaxed);

	return __builtin_expect(function != NULL, 1) ? function : find_next(id);
}

/* ---- a call ---- */

/* COLLECTOR_RECORD */
#define IS_RECORDING 1u

static inline bool has_recorder(void)
{
	return &gprof_os_recorder && gprof_os_recorder.sizes == OS_RECORDER_SIZES &&
	       gprof_os_recorder.nr_calls == OS_NR;
}

static inline uint64_t begin_call(void)
{
	return has_recorder() &&
			       (atomic_load_explicit(gprof_os_recorder.mode, memory_order_relaxed) &
				       IS_RECORDING)
		       ? gprof_os_recorder.begin()
		       : 0;
}

static inline void end_call(const struct os_call *call)
{
	gprof_os_recorder.end(call);
}

static inline uint32_t forget(int fd)
{
	return fd >= 0 && has_recorder() ? gprof_os_recorder.forget(fd, fd) : 0;
}

static inline uint64_t posts(const volatile void *object)
{
	return has_recorder() ? gprof_os_recorder.posts(object) : 0;
}

static inline uint32_t poster(const volatile void *object, uint64_t before, int result)
{
	return result == 0 && has_recorder() ? gprof_os_recorder.poster(object, before) : 0;
}

/* Returns the bytes that a call has moved; none if it failed. */
static inline uint64_t moved(ssize_t result)
{
	return result > 0 ? (uint64_t)result : 0;
}

static inline uint64_t address(const volatile void *object)
{
	return (uint64_t)(uintptr_t)object;
}

/*
 * A wrapper of the function `name`: `head` declares it, `before` and `after` run around the call,
 * `failure` is the error of the call by its result r, `absent` what it returns where the C library
 * has no such function. What follows are members of struct os_call.
 */
#define WRAP(head, ret, name, params, args, before, after, failure, absent, ...) \
	head params                                                              \
	{                                                                        \
		ret(*const real) params = (ret(*) params)next(OS_##name);        \
		uint64_t begin;                                                  \
		ret r;                                                           \
                                                                                 \
		if (__builtin_expect(!real, 0)) {                                \
			errno = ENOSYS;                                          \
			return absent;                                           \
		}                                                                \
		before;                                                          \
		begin = begin_call();                                            \
		r = real args;                                                   \
		after;                                                           \
		if (begin) {                                                     \
			end_call(&(struct os_call){.begin = begin,               \
				.call = OS_##name,                               \
				.error = (uint16_t)(failure),                    \
				.caller = address(__builtin_return_address(0)),  \
				__VA_ARGS__});                                   \
		}                                                                \
		return r;                                                        \
	}

/* For a wrapper within another one: the call returns to the caller of that. */
#define INLINED static inline __attribute__((always_inline))

/* For calls without a descriptor. */
#define NO_FD .fd = -1

/* Returns -1 and sets errno where it fails. */
#define CALL(ret, name, params, args, ...)                                                   \
	EXPORT ret name params;                                                              \
	WRAP(ret name, ret, name, params, args, , , r < 0 ? errno : 0, (ret)-1, .result = r, \
		__VA_ARGS__)
/* Returns the error. */
#define CALL_ERROR(name, params, args, ...) \
	EXPORT int name params;             \
	WRAP(int name, int, name, params, args, , , r, ENOSYS, .fd = -1, .result = r, __VA_ARGS__)
/* The same, in one of several versions. */
#define CALL_VERSIONED(name, params, args, ...)                                                 \
	EXPORT int OWN_NAME(name) params;                                                       \
	WRAP(int OWN_NAME(name), int, name, params, args, , , r, ENOSYS, .fd = -1, .result = r, \
		__VA_ARGS__)

/* ---- files: what was known of a new descriptor's number is forgotten ---- */

#define OPENING(ret, name, params, args, ...)                                                    \
	EXPORT ret name params;                                                                  \
	WRAP(ret name, ret, name, params, args, , forget(r), r < 0 ? errno : 0, -1, .result = r, \
		.fd = r, __VA_ARGS__)

/* The mode is there only if the flags ask for it. */
#define TAKE_MODE(mode, flags)                                     \
	if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) { \
		va_list list;                                      \
                                                                   \
		va_start(list, flags);                             \
		mode = va_arg(list, mode_t);                       \
		va_end(list);                                      \
	}

#define OPEN(name)                                                                             \
	EXPORT int name(const char *path, int flags, ...);                                     \
	WRAP(INLINED int call_##name, int, name, (const char *path, int flags, mode_t mode),   \
		(path, flags, mode), , forget(r), r < 0 ? errno : 0, -1, .result = r, .fd = r, \
		.path = path)                                                                  \
	int name(const char *path, int flags, ...)                                             \
	{                                                                                      \
		mode_t mode = 0;                                                               \
                                                                                               \
		TAKE_MODE(mode, flags)                                                         \
		return call_##name(path, flags, mode);                                         \
	}

#define OPENAT(name)                                                                          \
	EXPORT int name(int folder, const char *path, int flags, ...);                        \
	WRAP(INLINED int call_##name, int, name,                                              \
		(int folder, const char *path, int flags, mode_t mode),                       \
		(folder, path, flags, mode), , forget(r), r < 0 ? errno : 0, -1, .result = r, \
		.fd = r, .path = path)                                                        \
	int name(int folder, const char *path, int flags, ...)                                \
	{                                                                                     \
		mode_t mode = 0;                                                              \
                                                                                              \
		TAKE_MODE(mode, flags)                                                        \
		return call_##name(folder, path, flags, mode);                                \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
OPENING(int, creat, (const char *path, mode_t mode), (path, mode), .path = path)
OPENING(int, creat64, (const char *path, mode_t mode), (path, mode), .path = path)
OPENING(int, __open_2, (const char *path, int flags), (path, flags), .path = path)
OPENING(int, __open64_2, (const char *path, int flags), (path, flags), .path = path)
OPENING(int, __openat_2, (int folder, const char *path, int flags), (folder, path, flags),
	.path = path)
OPENING(int, __openat64_2, (int folder, const char *path, int flags), (folder, path, flags),
	.path = path)

/* fileno sets errno for a stream without a descriptor. */
static inline int number_of(FILE *stream)
{
	int before = errno, number = stream ? fileno(stream) : -1;

	errno = before;
	return number;
}

#define FOPEN(name)                                                                          \
	EXPORT FILE *name(const char *path, const char *mode);                               \
	WRAP(FILE *name, FILE *, name, (const char *path, const char *mode), (path, mode), , \
		forget(number_of(r)), r ? 0 : errno, NULL, .result = number_of(r),           \
		.fd = number_of(r), .path = path)

FOPEN(fopen)
FOPEN(fopen64)

/* Forgets the descriptor before the call: once it is closed, another thread may get its number. */
#define CLOSING(name, params, args, number)                                       \
	EXPORT int name params;                                                   \
	WRAP(int name, int, name, params, args, uint32_t file = forget(number), , \
		r < 0 ? errno : 0, -1, .result = r, .fd = -1, .file = file)

CLOSING(close, (int fd), (fd), fd)
CLOSING(fclose, (FILE * stream), (stream), number_of(stream))
CLOSING(pclose, (FILE * stream), (stream), number_of(stream))
CLOSING(dup2, (int from, int to), (from, to), to)
CLOSING(dup3, (int from, int to, int flags), (from, to, flags), to)

static inline uint32_t forget_range(unsigned int first, unsigned int last)
{
	return first <= INT_MAX && has_recorder()
		       ? gprof_os_recorder.forget((int)first, last > INT_MAX ? INT_MAX : (int)last)
		       : 0;
}

EXPORT int close_range(unsigned int first, unsigned int last, int flags);
WRAP(int close_range, int, close_range, (unsigned int first, unsigned int last, int flags),
	(first, last, flags), forget_range(first, last), , r < 0 ? errno : 0, -1, .result = r,
	.fd = -1)

CALL(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), .fd = fd, .bytes = moved(r))
CALL(ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room),
	.fd = fd, .bytes = moved(r))
CALL(ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), .fd = fd,
	.bytes = moved(r))
CALL(ssize_t, pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at), .fd = fd,
	.bytes = moved(r))
CALL(ssize_t, __pread_chk, (int fd, void *to, size_t size, off_t at, size_t room),
	(fd, to, size, at, room), .fd = fd, .bytes = moved(r))
CALL(ssize_t, __pread64_chk, (int fd, void *to, size_t size, off64_t at, size_t room),
	(fd, to, size, at, room), .fd = fd, .bytes = moved(r))
CALL(ssize_t, readv, (int fd, const struct iovec *parts, int nr), (fd, parts, nr), .fd = fd,
	.bytes = moved(r))
CALL(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size), .fd = fd,
	.bytes = moved(r))
CALL(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at),
	.fd = fd, .bytes = moved(r))
CALL(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at),
	.fd = fd, .bytes = moved(r))
CALL(ssize_t, writev, (int fd, const struct iovec *parts, int nr), (fd, parts, nr), .fd = fd,
	.bytes = moved(r))

#define VECTOR_AT(name, offset)                                                     \
	CALL(ssize_t, name, (int fd, const struct iovec *parts, int nr, offset at), \
		(fd, parts, nr, at), .fd = fd, .bytes = moved(r))
#define VECTOR_AT_FLAGS(name, offset)                                                          \
	CALL(ssize_t, name, (int fd, const struct iovec *parts, int nr, offset at, int flags), \
		(fd, parts, nr, at, flags), .fd = fd, .bytes = moved(r))

VECTOR_AT(preadv, off_t)
VECTOR_AT(preadv64, off64_t)
VECTOR_AT(pwritev, off_t)
VECTOR_AT(pwritev64, off64_t)
VECTOR_AT_FLAGS(preadv2, off_t)
VECTOR_AT_FLAGS(preadv64v2, off64_t)
VECTOR_AT_FLAGS(pwritev2, off_t)
VECTOR_AT_FLAGS(pwritev64v2, off64_t)

/* They return items, and the error is in the stream. */
#define ITEMS(name, params, args)                                                     \
	EXPORT size_t name params;                                                    \
	WRAP(size_t name, size_t, name, params, args, , , 0, 0, .result = (int64_t)r, \
		.fd = number_of(stream), .bytes = (uint64_t)r * size)

ITEMS(fread, (void *to, size_t size, size_t nr, FILE *stream), (to, size, nr, stream))
ITEMS(__fread_chk, (void *to, size_t room, size_t size, size_t nr, FILE *stream),
	(to, room, size, nr, stream))
ITEMS(fwrite, (const void *from, size_t size, size_t nr, FILE *stream), (from, size, nr, stream))
CALL(int, fflush, (FILE * stream), (stream), .fd = number_of(stream))

CALL(ssize_t, sendfile, (int to, int from, off_t *at, size_t size), (to, from, at, size), .fd = to,
	.bytes = moved(r))
CALL(ssize_t, sendfile64, (int to, int from, off64_t *at, size_t size), (to, from, at, size),
	.fd = to, .bytes = moved(r))
CALL(ssize_t, copy_file_range,
	(int from, off64_t *at, int to, off64_t *to_at, size_t size, unsigned int flags),
	(from, at, to, to_at, size, flags), .fd = to, .bytes = moved(r))
CALL(int, fsync, (int fd), (fd), .fd = fd)
CALL(int, fdatasync, (int fd), (fd), .fd = fd)

/* ---- sockets ---- */

/* From now on the descriptor has a peer. */
EXPORT int connect(int fd, __CONST_SOCKADDR_ARG to, socklen_t size);
WRAP(int connect, int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t size), (fd, to, size), ,
	forget(fd), r < 0 ? errno : 0, -1, .result = r, .fd = fd)
OPENING(int, accept, (int fd, __SOCKADDR_ARG from, socklen_t *restrict size), (fd, from, size))
OPENING(int, accept4, (int fd, __SOCKADDR_ARG from, socklen_t *restrict size, int flags),
	(fd, from, size, flags))

CALL(ssize_t, send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags),
	.fd = fd, .bytes = moved(r))
CALL(ssize_t, sendto,
	(int fd, const void *from, size_t size, int flags, __CONST_SOCKADDR_ARG to,
		socklen_t to_size),
	(fd, from, size, flags, to, to_size), .fd = fd, .bytes = moved(r))
CALL(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags),
	.fd = fd, .bytes = moved(r))
CALL(ssize_t, recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags), .fd = fd,
	.bytes = moved(r))
CALL(ssize_t, __recv_chk, (int fd, void *to, size_t size, size_t room, int flags),
	(fd, to, size, room, flags), .fd = fd, .bytes = moved(r))
CALL(ssize_t, recvfrom,
	(int fd, void *restrict to, size_t size, int flags, __SOCKADDR_ARG from,
		socklen_t *restrict from_size),
	(fd, to, size, flags, from, from_size), .fd = fd, .bytes = moved(r))
CALL(ssize_t, __recvfrom_chk,
	(int fd, void *restrict to, size_t size, size_t room, int flags, __SOCKADDR_ARG from,
		socklen_t *restrict from_size),
	(fd, to, size, room, flags, from, from_size), .fd = fd, .bytes = moved(r))
CALL(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), .fd = fd,
	.bytes = moved(r))

static uint64_t moved_messages(const struct mmsghdr *messages, int nr)
{
	uint64_t bytes = 0;

	for (int i = 0; i < nr; i++) {
		bytes += messages[i].msg_len;
	}
	return bytes;
}

CALL(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned int nr, int flags),
	(fd, messages, nr, flags), .fd = fd, .bytes = moved_messages(messages, r))
CALL(int, recvmmsg,
	(int fd, struct mmsghdr *messages, unsigned int nr, int flags, struct timespec *most),
	(fd, messages, nr, flags, most), .fd = fd, .bytes = moved_messages(messages, r))

/* ---- waits for several descriptors ---- */

/* The only one, where there is just one. */
static inline int only_fd(const struct pollfd *all, nfds_t nr, int result)
{
	return nr == 1 && result >= 0 ? all->fd : -1;
}

CALL(int, poll, (struct pollfd * all, nfds_t nr, int ms), (all, nr, ms), .fd = only_fd(all, nr, r))
CALL(int, __poll_chk, (struct pollfd * all, nfds_t nr, int ms, size_t room), (all, nr, ms, room),
	.fd = only_fd(all, nr, r))
CALL(int, ppoll,
	(struct pollfd * all, nfds_t nr, const struct timespec *most, const sigset_t *signals),
	(all, nr, most, signals), .fd = only_fd(all, nr, r))
CALL(int, __ppoll_chk,
	(struct pollfd * all, nfds_t nr, const struct timespec *most, const sigset_t *signals,
		size_t room),
	(all, nr, most, signals, room), .fd = only_fd(all, nr, r))
CALL(int, select,
	(int nr, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		struct timeval *restrict most),
	(nr, in, out, other, most), NO_FD)
CALL(int, pselect,
	(int nr, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
		const struct timespec *restrict most, const sigset_t *restrict signals),
	(nr, in, out, other, most, signals), NO_FD)
CALL(int, epoll_wait, (int fd, struct epoll_event *events, int nr, int ms), (fd, events, nr, ms),
	NO_FD)
CALL(int, epoll_pwait,
	(int fd, struct epoll_event *events, int nr, int ms, const sigset_t *signals),
	(fd, events, nr, ms, signals), NO_FD)
CALL(int, epoll_pwait2,
	(int fd, struct epoll_event *events, int nr, const struct timespec *most,
		const sigset_t *signals),
	(fd, events, nr, most, signals), NO_FD)

/* ---- sleeps ---- */

CALL(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left), NO_FD)
CALL_ERROR(clock_nanosleep,
	(clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
	(clock, flags, time, left))
CALL(int, usleep, (useconds_t us), (us), NO_FD)
EXPORT unsigned int sleep(unsigned int seconds);
WRAP(unsigned int sleep, unsigned int, sleep, (unsigned int seconds), (seconds), , , 0, seconds,
	.result = r, .fd = -1)

/* ---- locks and waits ---- */

/* The thread that has the mutex; 0: none, or the C library does not say. */
static inline uint32_t holder_of(const pthread_mutex_t *mutex)
{
#ifdef __GLIBC__
	return (uint32_t)__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
#else
	(void)mutex;
	return 0;
#endif
}

/* The thread that writes; 0: none, or the C library does not say. Those that read are unknown. */
static inline uint32_t writer_of(const pthread_rwlock_t *lock)
{
#ifdef __GLIBC__
	return (uint32_t)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
#else
	(void)lock;
	return 0;
#endif
}

/* A lock has its holder before the call; behind it, that is the caller. */
#define LOCK_CALL(name, params, args, who)                                                  \
	EXPORT int name params;                                                             \
	WRAP(int name, int, name, params, args, uint32_t holder = who(object), , r, ENOSYS, \
		.fd = -1, .result = r, .object = address(object), .holder = holder)
#define LOCK(name, type, who) LOCK_CALL(name, (type * object), (object), who)
#define LOCK_UNTIL(name, type, who)                                                     \
	LOCK_CALL(name, (type *restrict object, const struct timespec *restrict until), \
		(object, until), who)
#define LOCK_BY_CLOCK(name, type, who)                                                           \
	LOCK_CALL(name,                                                                          \
		(type *restrict object, clockid_t clock, const struct timespec *restrict until), \
		(object, clock, until), who)

LOCK(pthread_mutex_lock, pthread_mutex_t, holder_of)
LOCK_UNTIL(pthread_mutex_timedlock, pthread_mutex_t, holder_of)
LOCK_BY_CLOCK(pthread_mutex_clocklock, pthread_mutex_t, holder_of)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_t, writer_of)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_t, writer_of)
LOCK_UNTIL(pthread_rwlock_timedrdlock, pthread_rwlock_t, writer_of)
LOCK_UNTIL(pthread_rwlock_timedwrlock, pthread_rwlock_t, writer_of)
LOCK_BY_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_t, writer_of)
LOCK_BY_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_t, writer_of)

/* ---- waits that another thread ends: the one that did so meanwhile is their holder ---- */

#define ENDED(name, own_name, params, args, failure, absent)                                    \
	EXPORT int own_name params;                                                             \
	WRAP(int own_name, int, name, params, args, uint64_t before = posts(object), , failure, \
		absent, NO_FD, .result = r, .object = address(object),                          \
		.holder = poster(object, before, r))

/* Locks of Python are semaphores: the thread that holds one ends the wait. */
#define SEMAPHORE(name, params, args) ENDED(name, name, params, args, r < 0 ? errno : 0, -1)

SEMAPHORE(sem_wait, (sem_t * object), (object))
SEMAPHORE(sem_timedwait, (sem_t *restrict object, const struct timespec *restrict until),
	(object, until))
SEMAPHORE(sem_clockwait,
	(sem_t *restrict object, clockid_t clock, const struct timespec *restrict until),
	(object, clock, until))

#define CONDITION(name, own_name, params, args) ENDED(name, own_name, params, args, r, ENOSYS)

CONDITION(pthread_cond_wait, OWN_NAME(pthread_cond_wait),
	(pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex), (object, mutex))
CONDITION(pthread_cond_timedwait, OWN_NAME(pthread_cond_timedwait),
	(pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex,
		const struct timespec *restrict until),
	(object, mutex, until))
CONDITION(pthread_cond_clockwait, pthread_cond_clockwait,
	(pthread_cond_t *restrict object, pthread_mutex_t *restrict mutex, clockid_t clock,
		const struct timespec *restrict until),
	(object, mutex, clock, until))

/* These wait for nothing, so they are no events. */
#define POST(name, own_name, type, absent)                                    \
	EXPORT int own_name(type *object);                                    \
	int own_name(type *object)                                            \
	{                                                                     \
		int (*const real)(type *) = (int (*)(type *))next(OS_##name); \
                                                                              \
		if (__builtin_expect(!real, 0)) {                             \
			errno = ENOSYS;                                       \
			return absent;                                        \
		}                                                             \
		if (has_recorder()) {                                         \
			gprof_os_recorder.post(object);                       \
		}                                                             \
		return real(object);                                          \
	}

POST(sem_post, sem_post, sem_t, -1)
POST(pthread_cond_signal, OWN_NAME(pthread_cond_signal), pthread_cond_t, ENOSYS)
POST(pthread_cond_broadcast, OWN_NAME(pthread_cond_broadcast), pthread_cond_t, ENOSYS)

/* One of the threads gets another result than 0. */
EXPORT int pthread_barrier_wait(pthread_barrier_t *object);
WRAP(int pthread_barrier_wait, int, pthread_barrier_wait, (pthread_barrier_t * object), (object), ,
	, r > 0 ? r : 0, ENOSYS, .result = r, .fd = -1, .object = address(object))

CALL_ERROR(pthread_join, (pthread_t thread, void **result), (thread, result),
	.object = (uint64_t)thread)
CALL_ERROR(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
	(thread, result, until), .object = (uint64_t)thread)
CALL_ERROR(pthread_clockjoin_np,
	(pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
	(thread, result, clock, until), .object = (uint64_t)thread)

/* ---- processes ---- */

/*
 * The child of vfork runs on in the frame that called it, so nothing of a wrapper may be left on
 * the stack: the wrapper notes the call before it begins, and then jumps to the C library's
 * function, which returns to the program, twice. So the event has no duration and no result.
 */
__attribute__((used)) static void *begin_vfork(void *caller);

static pid_t lacks_vfork(void)
{
	errno = ENOSYS;
	return -1;
}

static void *begin_vfork(void *caller)
{
	void *real = next(OS_vfork);
	struct os_call call = {
		.begin = begin_call(), .call = OS_vfork, .caller = address(caller), NO_FD};

	if (call.begin) {
		gprof_os_recorder.note(&call);
	}
	return real ? real : (void *)lacks_vfork;
}

/* clang-format off */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"movq (%rsp), %rdi\n"
	"subq $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"call begin_vfork\n"
	"addq $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"jmp *%rax\n"
	".cfi_endproc\n"
	".size vfork, . - vfork\n"
	".popsection");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, %function\n"
	"vfork:\n"
	".cfi_startproc\n"
	"hint #34\n" /* bti c */
	"stp x29, x30, [sp, #-16]!\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset x29, -16\n"
	".cfi_offset x30, -8\n"
	"mov x29, sp\n"
	"mov x0, x30\n"
	"bl begin_vfork\n"
	"ldp x29, x30, [sp], #16\n"
	".cfi_def_cfa_offset 0\n"
	".cfi_restore x29\n"
	".cfi_restore x30\n"
	"mov x16, x0\n"
	"br x16\n"
	".cfi_endproc\n"
	".size vfork, . - vfork\n"
	".popsection");
#endif
/* clang-format on */

/* In the child nothing is recorded yet. */
CALL(pid_t, fork, (void), (), NO_FD)
CALL_VERSIONED(posix_spawn,
	(pid_t *restrict pid, const char *restrict path,
		const posix_spawn_file_actions_t *restrict actions,
		const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
		char *const variables[restrict]),
	(pid, path, actions, attributes, arguments, variables), .path = path)
CALL_VERSIONED(posix_spawnp,
	(pid_t *restrict pid, const char *restrict path,
		const posix_spawn_file_actions_t *restrict actions,
		const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
		char *const variables[restrict]),
	(pid, path, actions, attributes, arguments, variables), .path = path)
CALL(int, system, (const char *command), (command), NO_FD)
EXPORT FILE *popen(const char *command, const char *mode);
WRAP(FILE *popen, FILE *, popen, (const char *command, const char *mode), (command, mode), ,
	forget(number_of(r)), r ? 0 : errno, NULL, .result = number_of(r), .fd = -1)
CALL(pid_t, wait, (int *status), (status), NO_FD)
CALL(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options), NO_FD)
CALL(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage),
	NO_FD)
CALL(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage),
	(pid, status, options, usage), NO_FD)
CALL(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options),
	NO_FD)
