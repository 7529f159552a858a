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

#include "test/unit/unit.h"

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

UNIT_SUITE("private_fd", a_held_file_has_a_high_number_and_is_read_again,
	a_number_that_the_host_took_is_left_alone, few_descriptors_are_the_hosts,
	a_file_that_is_not_there_is_not_held, a_file_that_must_be_held_takes_what_number_there_is,
	a_link_is_not_followed, a_closed_number_is_told)
