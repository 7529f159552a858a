/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that fail on demand, for the test build of the library: its objects call fault_X in place
 * of X (fault.mk renames the symbols), and nobody else's calls come here.
 *
 *	FAULT=open:3		the third call of open fails, counted over the process and its
 *children FAULT=open:3+		the third and all that follow
 *	FAULT_ERRNO=122		with this errno, where the function has one
 *	FAULT_LATE_MS=500	they do not fail, but come so much later
 *	FAULT_BUSY=1		and use that much CPU meanwhile
 *	FAULT_COUNTS=FILE	gets the number of calls of each function of faults.def, 32 bits
 *each
 *
 * The counters lie in a shared mapping of FILE, so that they outlive a kill and go on after a fork.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum function {
#define FAULT(name, ret, params, args, failure, code) FUNCTION_##name,
#define HAND(name)				      FUNCTION_##name,
#include "test/fault/faults.def"
	NR_FUNCTIONS,
};

static const char *const names[NR_FUNCTIONS] = {
#define FAULT(name, ret, params, args, failure, code) #name,
#define HAND(name)				      #name,
#include "test/fault/faults.def"
};

typedef _Atomic uint32_t counter;

static counter own_counts[NR_FUNCTIONS];

static struct fault_state {
	int function; /* that fails, -1: none */
	uint32_t nth;
	bool is_lasting;
	int code; /* 0: the function's own */
	long late_ms;
	bool is_busy;
	counter *counts;
} fault = {.function = -1, .counts = own_counts};

/* Before the library's own constructor, which is to be tested too. */
__attribute__((constructor(101))) static void read_environment(void)
{
	const char *text = getenv("FAULT");
	const char *code = getenv("FAULT_ERRNO");
	const char *late = getenv("FAULT_LATE_MS");
	const char *path = getenv("FAULT_COUNTS");
	size_t length = text ? strcspn(text, ":") : 0;
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	char *end;

	if (fd >= 0 && !ftruncate(fd, sizeof(own_counts))) {
		void *map =
			mmap(NULL, sizeof(own_counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		fault.counts = map == MAP_FAILED ? own_counts : map;
	}
	if (fd >= 0) {
		close(fd);
	}
	fault.code = code ? atoi(code) : 0;
	fault.late_ms = late ? atol(late) : 0;
	fault.is_busy = getenv("FAULT_BUSY") != NULL;
	for (int i = 0; length && text[length] && i < NR_FUNCTIONS; i++) {
		if (strlen(names[i]) == length && !strncmp(names[i], text, length)) {
			fault.function = i;
			fault.nth = (uint32_t)strtoul(text + length + 1, &end, 10);
			fault.is_lasting = *end == '+';
		}
	}
}

static void come_late(void)
{
	struct timespec cpu,
		time = {.tv_sec = fault.late_ms / 1000, .tv_nsec = fault.late_ms % 1000 * 1000000};

	if (!fault.is_busy) {
		nanosleep(&time, NULL);
		return;
	}
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	} while (cpu.tv_sec * 1000 + cpu.tv_nsec / 1000000 < fault.late_ms);
}

/* The errno to fail with, or -1 where this call is not to fail. */
static int fails(enum function function, int code)
{
	uint32_t nth = atomic_fetch_add(&fault.counts[function], 1) + 1;

	if ((int)function != fault.function || nth < fault.nth ||
		(nth > fault.nth && !fault.is_lasting)) {
		return -1;
	}
	if (fault.late_ms) {
		come_late();
		return -1;
	}
	return fault.code ? fault.code : code;
}

/* glibc's; no header has it. */
extern int __cxa_at_quick_exit(void (*function)(void *), void *dso);

/* The library's objects know these by the renamed symbols alone. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define FAULT(name, ret, params, args, failure, code_)    \
	ret fault_##name params                           \
	{                                                 \
		int code = fails(FUNCTION_##name, code_); \
                                                          \
		if (code < 0) {                           \
			return name args;                 \
		}                                         \
		errno = code ? code : errno;              \
		return (failure);                         \
	}
#include "test/fault/faults.def"

void *fault_mremap(void *at, size_t old_bytes, size_t new_bytes, int flags, void *to)
{
	int code = fails(FUNCTION_mremap, ENOMEM);

	if (code < 0) {
		return mremap(at, old_bytes, new_bytes, flags, to);
	}
	errno = code;
	return MAP_FAILED;
}

int fault_open(const char *path, int flags, ...)
{
	int code = fails(FUNCTION_open, EMFILE);
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (code < 0) {
		return open(path, flags, mode);
	}
	errno = code;
	return -1;
}

int fault_fcntl(int fd, int what, ...)
{
	int code = fails(FUNCTION_fcntl, EMFILE);
	va_list args;
	long value;

	va_start(args, what);
	value = va_arg(args, long);
	va_end(args);
	if (code < 0) {
		return fcntl(fd, what, value);
	}
	errno = code;
	return -1;
}

/* As on a network file system: it fails, and the descriptor is gone all the same. */
int fault_close(int fd)
{
	int code = fails(FUNCTION_close, EIO);
	int rc = close(fd);

	if (code < 0) {
		return rc;
	}
	errno = code;
	return -1;
}

/* As where seccomp forbids a call; but no filter that lets a program run forbids waiting. */
long fault_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	int code = number == SYS_futex ? -1 : fails(FUNCTION_syscall, ENOSYS);

	if (code < 0) {
		return syscall(number, a, b, c, d, e, f);
	}
	errno = code;
	return -1;
}

int fault_prctl(int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d)
{
	int code = fails(FUNCTION_prctl, EINVAL);

	if (code < 0) {
		return prctl(what, a, b, c, d);
	}
	errno = code;
	return -1;
}

extern int __register_atfork(
	void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);

int fault___register_atfork(
	void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso)
{
	int code = fails(FUNCTION___register_atfork, ENOMEM);

	return code < 0 ? __register_atfork(prepare, parent, child, dso) : code;
}
