/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/util/progress.h"
#include "report/util/worker.h"
#include "test/unit/unit.h"

/* A terminal as stderr, and what was written to it. */
static int terminal;
static int to_worker[2];

static void open_terminal(void)
{
	int slave;

	ck_assert_int_eq(openpty(&terminal, &slave, NULL, NULL, NULL), 0);
	setenv("TERM", "xterm", 1);
	dup2(slave, STDERR_FILENO);
	close(slave);
}

/* What appears, at once or after the second in which nothing does. */
static void read_line(char *line, size_t nr_bytes)
{
	struct pollfd fd = {.fd = terminal, .events = POLLIN};
	ssize_t nr;

	while (poll(&fd, 1, 10) == 0) {
		progress_show();
	}
	nr = read(terminal, line, nr_bytes - 1);
	ck_assert_int_gt(nr, 0);
	line[nr] = '\0';
}

/* Half of one of the two passes, until the other process closes the pipe. */
static bool do_half(void *context, struct buf *out)
{
	char byte;

	(void)context;
	close(to_worker[1]);
	progress_start("reading", 10);
	progress_add(5);
	buf_text(out, "half");
	while (read(to_worker[0], &byte, 1) > 0) {
	}
	progress_stop();
	return true;
}

START_TEST(one_line_has_what_a_worker_does_too)
{
	struct worker worker;
	struct buf out = {0};
	char line[100];

	open_terminal();
	ck_assert_int_eq(pipe(to_worker), 0);
	progress_start_all("writing", 2);
	ck_assert(worker_start(&worker, do_half, NULL));
	progress_start("reading", 100);
	progress_add(50);
	progress_stop(); /* a whole pass, whatever was done of it */
	do {
		read_line(line, sizeof(line));
	} while (strstr(line, "50 %")); /* until the worker says so */
	ck_assert_ptr_nonnull(strstr(line, "\rgprof-report: writing, 75 %"));
	close(to_worker[1]);
	ck_assert(worker_end(&worker, &out));
	ck_assert_uint_eq(out.nr_bytes, 4);
	progress_stop_all();
	do {
		read_line(line, sizeof(line));
	} while (!strstr(line, "\033[K"));
	buf_fini(&out);
}
END_TEST

START_TEST(a_worker_that_cannot_start_takes_no_place_in_the_line)
{
	struct worker worker;
	struct buf out = {0};
	char line[100];

	open_terminal();
	progress_start_all("writing", 2);
	setenv("TMPDIR", "/no such folder", 1);
	for (unsigned int i = 0; i < PROGRESS_MAX_WORKERS; i++) {
		ck_assert(!worker_start(&worker, do_half, NULL));
	}
	unsetenv("TMPDIR");
	ck_assert_int_eq(pipe(to_worker), 0);
	ck_assert(worker_start(&worker, do_half, NULL));
	do {
		read_line(line, sizeof(line));
	} while (strstr(line, " 0 %")); /* until the worker says so */
	ck_assert_ptr_nonnull(strstr(line, "\rgprof-report: writing, 25 %"));
	close(to_worker[1]);
	ck_assert(worker_end(&worker, &out));
	progress_stop_all();
	buf_fini(&out);
}
END_TEST

START_TEST(without_a_terminal_nothing_appears)
{
	setenv("TERM", "dumb", 1);
	progress_start_all("writing", 1);
	ck_assert(!progress_is_of_all());
	progress_start("reading", 1);
	progress_add(1);
	progress_stop();
	progress_stop_all();
}
END_TEST

UNIT_SUITE("report/progress", one_line_has_what_a_worker_does_too,
	a_worker_that_cannot_start_takes_no_place_in_the_line, without_a_terminal_nothing_appears);
