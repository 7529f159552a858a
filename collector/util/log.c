/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a formatter of its own, since the C library's may allocate and depends on the locale. A
 * thread formats a message in the one long static buffer, or in a short one on its stack while
 * another thread has that.
 */
#include "collector/util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/util/printable.h"
#include "collector/util/private_fd.h"
#include "collector/util/target.h"

/* The exit line contains two paths, of the stream and of its directory. */
#define LINE_BYTES    (3 * (PATH_MAX + NAME_MAX) + 512)
#define MESSAGE_BYTES 512

static struct log_state {
	enum log_level level;
	int quiet;
	atomic_bool has_spoken;
	atomic_bool is_line_taken;
	char path[PATH_MAX];
	char line[LINE_BYTES]; /* not on the stack of the target's thread, which may be small */
} log_state = {.level = LOG_WARN};

/* Identifies the target's stderr; apart from log_state, which most processes never touch. */
static struct log_stderr {
	int error; /* EBADF: there is none; another one: unknown */
	dev_t device;
	ino_t inode;
} log_stderr COMPAT_AT_START;

COMPAT_START_CODE static struct log_stderr find_stderr(void)
{
	struct stat now = {0};
	/* glibc has fstat as a symbol only since 2.33. */
	int error = syscall(SYS_fstat, STDERR_FILENO, &now) ? errno : 0;

	return (struct log_stderr){error, now.st_dev, now.st_ino};
}

COMPAT_START_CODE void log_remember_stderr(void)
{
	TARGET_KEEP_ERRNO;

	log_stderr = find_stderr();
}

/* A daemon closes its standard files, and the next file that it opens may get the number 2. */
static bool is_stderr_the_same(void)
{
	struct log_stderr now = find_stderr();

	if (now.error == EBADF || log_stderr.error == EBADF) {
		return false;
	}
	return now.error || log_stderr.error ||
	       (now.device == log_stderr.device && now.inode == log_stderr.inode);
}

void log_init(enum log_level level, const char *path, int quiet)
{
	char *at = log_state.path, *end = at + sizeof(log_state.path) - 1;
	long nr_bytes = 0;

	log_state.level = level;
	log_state.quiet = quiet;
	/* Make the path absolute, unless it gets too long: the target may change its directory. */
	if (*path && *path != '/') {
		nr_bytes = syscall(SYS_getcwd, at, (long)(end - at) - (long)strlen(path));
	}
	if (nr_bytes > 0 && *at == '/') {
		at += nr_bytes;
		at[-1] = '/';
	}
	strncpy(at, path, (size_t)(end - at));
}

struct out {
	char *at;
	char *end;     /* where the final 0 goes */
	bool is_shown; /* the text of %s is foreign, and goes to a terminal */
};

static void put(struct out *out, const char *bytes, size_t nr_bytes)
{
	size_t room = (size_t)(out->end - out->at);

	nr_bytes = nr_bytes < room ? nr_bytes : room;
	memcpy(out->at, bytes, nr_bytes);
	out->at += nr_bytes;
}

static void put_number(struct out *out, uint64_t value, unsigned int base, bool is_negative)
{
	char digits[24];
	char *p = digits + sizeof(digits);

	do {
		*--p = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (is_negative) {
		*--p = '-';
	}
	put(out, p, (size_t)(digits + sizeof(digits) - p));
}

/* The integer argument of the size that the l's and z before the conversion give. */
static uint64_t take_unsigned(va_list *args, int longs)
{
	return longs ? va_arg(*args, unsigned long long) : va_arg(*args, unsigned int);
}

/*
 * Knows %s with a precision, %d, %u, %x and %c, with l and z before the letter; no width and no
 * flags.
 */
static void put_conversion(struct out *out, const char **format, va_list *args)
{
	const char *f = *format;
	size_t limit = SIZE_MAX;
	int longs = 0;

	if (*f == '.' && f[1] == '*') {
		limit = (size_t)va_arg(*args, int);
		f += 2;
	} else if (*f == '.') {
		for (limit = 0, f++; *f >= '0' && *f <= '9'; f++) {
			limit = limit * 10 + (size_t)(*f - '0');
		}
	}
	for (; *f == 'l' || *f == 'z'; f++) {
		longs++; /* long, size_t and long long are all 64 bits wide here */
	}
	switch (*f) {
	case 's': {
		const char *text = va_arg(*args, const char *);

		text = text ? text : "(null)";
		if (out->is_shown) {
			out->at += printable_copy(
				out->at, (size_t)(out->end - out->at), text, strnlen(text, limit));
		} else {
			put(out, text, strnlen(text, limit));
		}
		break;
	}
	case 'd': {
		long long value = longs ? va_arg(*args, long long) : va_arg(*args, int);

		put_number(out, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, value < 0);
		break;
	}
	case 'u':
		put_number(out, take_unsigned(args, longs), 10, false);
		break;
	case 'x':
		put_number(out, take_unsigned(args, longs), 16, false);
		break;
	case 'c': {
		char c = (char)va_arg(*args, int);

		put(out, &c, 1);
		break;
	}
	default:
		put(out, f, 1);
		break;
	}
	*format = f + 1;
}

static size_t format_all(
	char *out_bytes, size_t nr_bytes, bool is_shown, const char *format, va_list args)
{
	struct out out = {out_bytes, out_bytes + nr_bytes - 1, is_shown};
	va_list copy;

	va_copy(copy, args);
	while (*format) {
		size_t plain = strcspn(format, "%");

		put(&out, format, plain);
		format += plain;
		if (*format && *++format) {
			put_conversion(&out, &format, &copy);
		}
	}
	va_end(copy);
	*out.at = 0;
	return (size_t)(out.at - out_bytes);
}

size_t log_vformat(char *out, size_t out_bytes, const char *format, va_list args)
{
	return format_all(out, out_bytes, false, format, args);
}

size_t log_format(char *out, size_t out_bytes, const char *format, ...)
{
	va_list args;
	size_t n;

	va_start(args, format);
	n = log_vformat(out, out_bytes, format, args);
	va_end(args);
	return n;
}

static void write_all(int fd, const char *bytes, size_t nr_bytes)
{
	while (nr_bytes) {
		ssize_t n = write(fd, bytes, nr_bytes);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return;
		}
		bytes += n;
		nr_bytes -= (size_t)n;
	}
}

/*
 * A broken pipe, a file size limit and a terminal of another job send signals to the writer, which
 * may end or stop the target; and its stderr may be a pipe without a reader.
 */
static void write_unharmed(int fd, const char *bytes, size_t nr_bytes)
{
	static const int signals[] = {SIGPIPE, SIGXFSZ, SIGTTOU};
	struct pollfd look = {.fd = fd, .events = POLLOUT};
	const struct timespec now = {0};
	sigset_t ours, before;

	if (poll(&look, 1, 0) != 1 || look.revents != POLLOUT) {
		return;
	}
	sigemptyset(&ours);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaddset(&ours, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &ours, &before);
	write_all(fd, bytes, nr_bytes);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (sigismember(&before, signals[i])) {
			sigdelset(&ours, signals[i]);
		}
	}
	while (sigtimedwait(&ours, NULL, &now) > 0) {
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Opens the file for each message: gprof keeps no descriptor among the target's. */
static void put_out(const char *message, size_t nr_bytes, bool on_stderr)
{
	TARGET_KEEP_ERRNO;

	if (log_state.path[0]) {
		/* A FIFO without a reader fails, instead of waiting for one. */
		const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_NONBLOCK;
		struct private_fd file;

		if (!private_fd_open(&file, log_state.path, flags, PRIVATE_FD_LINKED)) {
			write_unharmed(file.fd, message, nr_bytes);
			private_fd_close(&file);
		}
	}
	if (on_stderr && is_stderr_the_same()) {
		write_unharmed(STDERR_FILENO, message, nr_bytes);
	}
}

static void write_formatted(
	char *message, size_t message_bytes, bool on_stderr, const char *format, va_list args)
{
	size_t n = log_format(message, message_bytes, "gprof[%d]: ", (int)getpid());

	n += format_all(message + n, message_bytes - n - 1, true, format, args);
	message[n++] = '\n';
	put_out(message, n, on_stderr);
}

/*
 * Formats in the one long buffer; while another thread has that, in a short one, which may cut the
 * message.
 */
static void write_message(bool on_stderr, const char *format, va_list args)
{
	char message[MESSAGE_BYTES];

	if (atomic_exchange(&log_state.is_line_taken, true)) {
		write_formatted(message, sizeof(message), on_stderr, format, args);
		return;
	}
	write_formatted(log_state.line, sizeof(log_state.line), on_stderr, format, args);
	atomic_store(&log_state.is_line_taken, false);
}

void log_message(enum log_level level, const char *format, ...)
{
	va_list args;
	bool on_stderr;

	if (level > log_state.level) {
		return;
	}
	on_stderr = level == LOG_WARN && !log_state.path[0] && !log_state.quiet &&
		    !atomic_exchange(&log_state.has_spoken, true);
	va_start(args, format);
	write_message(on_stderr, format, args);
	va_end(args);
}

void log_line(const char *format, ...)
{
	va_list args;
	bool on_stderr = !log_state.quiet && !atomic_exchange(&log_state.has_spoken, true);

	va_start(args, format);
	write_message(on_stderr, format, args);
	va_end(args);
}
