/* SPDX-License-Identifier: Apache-2.0 */
/* Files of ours among the descriptors of the host. */
#include "collector/util/private_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/util/config_file.h"
#include "collector/util/file_text.h"
#include "collector/util/log.h"
#include "test/unit/unit.h"

/*
 * What the host does while we have a file open, by the linker's --wrap: before we read or write it,
 * it puts a file of its own at that number.
 */
static int taken = -1, host_file = -1;
static unsigned int nr_interrupts;
static bool is_name_going; /* right after it was opened */

ssize_t __real_pread(int fd, void *out, size_t nr_bytes, off_t from);
ssize_t __wrap_pread(int fd, void *out, size_t nr_bytes, off_t from);
ssize_t __real_write(int fd, const void *bytes, size_t nr_bytes);
ssize_t __wrap_write(int fd, const void *bytes, size_t nr_bytes);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, int mode);

static void take_number(int fd)
{
	if (host_file >= 0) {
		taken = dup2(host_file, fd);
	}
}

ssize_t __wrap_pread(int fd, void *out, size_t nr_bytes, off_t from)
{
	take_number(fd);
	return __real_pread(fd, out, nr_bytes, from);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t nr_bytes)
{
	take_number(fd);
	return __real_write(fd, bytes, nr_bytes);
}

int __wrap_open(const char *path, int flags, int mode)
{
	int fd;

	if (nr_interrupts) {
		nr_interrupts--;
		errno = EINTR;
		return -1;
	}
	fd = __real_open(path, flags, mode);
	if (is_name_going) {
		unlink(path);
	}
	return fd;
}

START_TEST(a_held_file_has_a_high_number_and_is_read_again)
{
	struct private_fd held;
	char text[64], again[4];
	int lowest = dup(0);

	close(lowest);
	ck_assert_int_eq(private_fd_open(&held, "/proc/self/statm", O_RDONLY, PRIVATE_FD_HIGH), 0);
	ck_assert_int_ge(held.fd, 500);
	ck_assert(fcntl(held.fd, F_GETFD) & FD_CLOEXEC);
	ck_assert_int_eq(dup(0), lowest);
	ck_assert_uint_gt(private_fd_read(&held, text, sizeof(text)), 5);
	ck_assert_uint_eq(private_fd_read(&held, again, sizeof(again)), 3);
	ck_assert_int_eq(memcmp(text, again, 3), 0);
	ck_assert_int_eq(again[3], 0);
	private_fd_close(&held);
	ck_assert_int_eq(held.fd, -1);
	ck_assert_uint_eq(private_fd_read(&held, text, sizeof(text)), 0);
}
END_TEST

START_TEST(a_number_that_the_host_took_is_left_alone)
{
	struct private_fd held;
	char text[64];
	int fd;

	ck_assert_int_eq(private_fd_open(&held, "/proc/self/statm", O_RDONLY, PRIVATE_FD_HIGH), 0);
	fd = held.fd;
	ck_assert_int_eq(dup2(0, fd), fd);
	ck_assert_uint_eq(private_fd_read(&held, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "");
	private_fd_close(&held);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
}
END_TEST

START_TEST(few_descriptors_are_the_hosts)
{
	const struct rlimit few = {.rlim_cur = 256, .rlim_max = 256};
	struct private_fd held;

	setrlimit(RLIMIT_NOFILE, &few);
	ck_assert_int_lt(private_fd_open(&held, "/proc/self/statm", O_RDONLY, PRIVATE_FD_HIGH), 0);
	ck_assert_int_eq(held.fd, -1);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_not_held)
{
	struct private_fd held;

	ck_assert_int_lt(
		private_fd_open(&held, "/proc/no such file", O_RDONLY, PRIVATE_FD_HIGH), 0);
	ck_assert_int_eq(held.fd, -1);
}
END_TEST

static void allow(rlim_t nr)
{
	const struct rlimit few = {.rlim_cur = nr, .rlim_max = nr};

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
}

/* The first number that is free. */
static int next_number(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

START_TEST(a_file_that_must_be_held_takes_what_number_there_is)
{
	char name[] = "/tmp/gprof-held-XXXXXX";
	struct stat made;
	struct private_fd held;
	int lowest;

	close(mkstemp(name));
	unlink(name);
	lowest = next_number();
	allow((rlim_t)lowest + 40);
	ck_assert_int_eq(
		private_fd_open(&held, name, O_WRONLY | O_CREAT | O_EXCL, PRIVATE_FD_ANYWHERE), 0);
	ck_assert_int_ge(held.fd, (lowest + 40) * 3 / 4);
	ck_assert_int_eq(next_number(), lowest);
	ck_assert_int_eq(fstat(held.fd, &made), 0);
	ck_assert_uint_eq(made.st_mode & 0777, 0600);
	private_fd_close(&held);
	ck_assert_int_ne(
		private_fd_open(&held, name, O_WRONLY | O_CREAT | O_EXCL, PRIVATE_FD_ANYWHERE), 0);
	ck_assert_int_eq(access(name, F_OK), 0); /* that of before */
	allow((rlim_t)lowest + 1);
	ck_assert_int_eq(private_fd_open(&held, name, O_WRONLY, PRIVATE_FD_ANYWHERE), 0);
	ck_assert_int_eq(held.fd, lowest);
	private_fd_close(&held);
	ck_assert_int_eq(next_number(), lowest);
	unlink(name);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
	char name[] = "/tmp/gprof-held-XXXXXX";
	struct private_fd held;

	close(mkstemp(name));
	unlink(name);
	ck_assert_int_eq(symlink("/dev/null", name), 0);
	ck_assert_int_eq(private_fd_open(&held, name, O_RDONLY, PRIVATE_FD_HIGH), -ELOOP);
	ck_assert_int_eq(held.fd, -1);
	unlink(name);
}
END_TEST

START_TEST(a_closed_number_is_told)
{
	struct private_fd held;

	ck_assert_int_eq(private_fd_open(&held, "/proc/self/statm", O_RDONLY, PRIVATE_FD_HIGH), 0);
	ck_assert_int_eq(private_fd_check(&held), 0);
	close(held.fd);
	ck_assert_int_eq(private_fd_check(&held), -EBADF);
	ck_assert_int_eq(held.fd, -1);
	ck_assert_int_eq(private_fd_check(&held), -EBADF);
}
END_TEST

static bool is_nothing(const char *line, void *unused)
{
	(void)unused;
	return !line;
}

static void ck_left_alone(void)
{
	ck_assert_int_ge(taken, 500); /* where few hosts have files at all */
	ck_assert_int_ge(fcntl(taken, F_GETFD), 0);
	taken = -1;
}

START_TEST(no_file_of_the_host_is_closed_whoever_reads_or_writes)
{
	static struct config_file file;
	char name[] = "/tmp/gprof-held-XXXXXX", text[64];
	int fd = mkstemp(name);

	ck_assert_int_eq(write(fd, "A=b\n", 4), 4);
	close(fd);
	host_file = open("/dev/null", O_RDWR);
	file_text_read("/proc/self/statm", text, sizeof(text));
	ck_left_alone();
	file_text_find("/proc/self/status", '\n', is_nothing, NULL);
	ck_left_alone();
	config_file_read(&file, name);
	ck_left_alone();
	log_init(LOG_INFO, name, 0);
	log_message(LOG_INFO, "text");
	ck_left_alone();
	unlink(name);
}
END_TEST

START_TEST(a_link_of_the_users_is_followed)
{
	static struct config_file file;
	char name[] = "/tmp/gprof-held-XXXXXX", link[64];

	close(mkstemp(name));
	snprintf(link, sizeof(link), "%s.link", name);
	ck_assert_int_eq(symlink(name, link), 0);
	log_init(LOG_INFO, link, 0);
	log_message(LOG_INFO, "text");
	ck_assert_int_eq(config_file_read(&file, link), 0);
	ck_assert_ptr_nonnull(strstr(file.bytes, ": text"));
	unlink(link);
	unlink(name);
}
END_TEST

START_TEST(an_interrupted_open_is_tried_again)
{
	char text[64];

	nr_interrupts = 2;
	ck_assert_uint_gt(file_text_read("/proc/self/statm", text, sizeof(text)), 5);
	ck_assert_uint_eq(nr_interrupts, 0);
}
END_TEST

/* As files of a thread in /proc go. */
START_TEST(a_file_whose_name_goes_is_closed)
{
	char name[] = "/tmp/gprof-held-XXXXXX";
	struct private_fd held;
	int before;

	close(mkstemp(name));
	before = next_number();
	is_name_going = true;
	private_fd_open(&held, name, O_RDONLY, PRIVATE_FD_ANYWHERE);
	private_fd_close(&held);
	ck_assert_int_eq(next_number(), before);
}
END_TEST

UNIT_SUITE("private_fd", no_file_of_the_host_is_closed_whoever_reads_or_writes,
	a_link_of_the_users_is_followed, an_interrupted_open_is_tried_again,
	a_file_whose_name_goes_is_closed, a_held_file_has_a_high_number_and_is_read_again,
	a_number_that_the_host_took_is_left_alone, few_descriptors_are_the_hosts,
	a_file_that_is_not_there_is_not_held, a_file_that_must_be_held_takes_what_number_there_is,
	a_link_is_not_followed, a_closed_number_is_told)
