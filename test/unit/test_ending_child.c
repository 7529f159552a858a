/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/ring/ending.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/format/format.h"
#include "collector/ring/ring.h"
#include "test/unit/unit.h"

static char path[128];

/* The rings of that process, as it has left them. */
static void leave_rings(pid_t pid)
{
	struct gprof_rings_header header = {.header_bytes = RING_HEADER_BYTES};
	uint64_t space = ring_namespace();
	int fd;

	memcpy(header.magic, GPROF_RINGS_MAGIC, sizeof(header.magic));
	snprintf(path, sizeof(path), "/dev/shm/unit-%d-1.gprof.rings", (int)pid);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	ck_assert_int_eq(write(fd, &header, sizeof(header)), sizeof(header));
	ck_assert_int_eq(pwrite(fd, &space, sizeof(space), RING_HEADER_BYTES - sizeof(space)),
		sizeof(space));
	close(fd);
}

static int marked_signal(void)
{
	struct gprof_rings_header header = {0};
	int fd = open(path, O_RDONLY);

	ck_assert_int_eq(read(fd, &header, sizeof(header)), sizeof(header));
	close(fd);
	return header.end_kind == GPROF_END_SIGNAL ? (int)header.end_code : 0;
}

static pid_t make_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	leave_rings(pid);
	return pid;
}

/* That process has the number of a child that is no more. */
START_TEST(process_that_has_the_number_now_is_not_marked)
{
	pid_t pid = make_child();

	ending_mark_child(pid, SIGTERM, true);
	ck_assert_int_eq(marked_signal(), 0);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ending_mark_child(pid, SIGKILL, true);
	ck_assert_int_eq(marked_signal(), SIGKILL);
	unlink(path);
}
END_TEST

START_TEST(child_that_still_has_its_number_is_marked)
{
	siginfo_t info;
	pid_t pid = make_child();

	kill(pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ending_mark_child(pid, SIGKILL, false);
	ck_assert_int_eq(marked_signal(), SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(path);
}
END_TEST

UNIT_SUITE("ending_child", process_that_has_the_number_now_is_not_marked,
	child_that_still_has_its_number_is_marked)
