/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a part of the work in a forked process, for the page's parts: the code of views is for one
 * thread, and a fork has all data that is loaded. The result comes back by a temporary file, not a
 * pipe, so that the worker never waits for its reader.
 */
#include "report/util/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/util/files.h"
#include "report/util/progress.h"

#define READ_BYTES (1u << 20)

/* The file of a worker, in the worker. */
struct written {
	int fd;
	uint64_t nr_bytes;
};

static int write_file(void *context, const char *bytes, size_t nr_bytes)
{
	struct written *written = context;

	if (!temp_file_write(written->fd, written->nr_bytes, bytes, nr_bytes)) {
		return -EIO;
	}
	written->nr_bytes += nr_bytes;
	return 0;
}

static void work(int fd, bool (*run)(void *context, struct buf *out), void *context)
{
	struct written written = {.fd = fd};
	struct buf out;
	bool is_good;

	buf_init(&out, write_file, &written);
	is_good = run(context, &out) && !buf_flush(&out);
	_exit(is_good ? EXIT_SUCCESS : EXIT_FAILURE);
}

/*
 * Output that is still in buffers of stdio would be written twice, hence the fflush(). Both
 * processes count the worker after the fork, and so agree on its number: one that could not start
 * takes none.
 */
bool worker_start(struct worker *worker, bool (*run)(void *context, struct buf *out), void *context)
{
	*worker = (struct worker){.fd = temp_file_open()};
	if (worker->fd < 0) {
		return false;
	}
	fflush(NULL);
	worker->pid = fork();
	if (!worker->pid) {
		progress_be_worker(progress_add_worker()); /* the line is the other process's */
		work(worker->fd, run, context);
	}
	if (worker->pid < 0) {
		close(worker->fd);
		worker->pid = 0;
	} else {
		progress_add_worker();
	}
	return worker->pid != 0;
}

static void read_back(int fd, struct buf *out)
{
	off_t nr_bytes = lseek(fd, 0, SEEK_END);
	char *bytes = mem_resize(NULL, READ_BYTES, 1);

	for (off_t at = 0; at < nr_bytes; at += READ_BYTES) {
		size_t nr = nr_bytes - at < READ_BYTES ? (size_t)(nr_bytes - at) : READ_BYTES;

		temp_file_read_back(fd, (uint64_t)at, bytes, nr);
		buf_add(out, bytes, nr);
		buf_flush_if_large(out);
	}
	free(bytes);
}

/* Shows how far all are until the worker has ended. */
static void watch(const struct worker *worker)
{
	static const struct timespec pause = {.tv_nsec = 20000000};
	siginfo_t ended = {0};

	while (progress_is_of_all() &&
		!waitid(P_PID, (id_t)worker->pid, &ended, WEXITED | WNOHANG | WNOWAIT) &&
		!ended.si_pid) {
		progress_show();
		nanosleep(&pause, NULL);
	}
}

bool worker_end(struct worker *worker, struct buf *out)
{
	pid_t ended;
	int status = 0;

	if (!worker->pid) {
		return false;
	}
	watch(worker);
	while ((ended = waitpid(worker->pid, &status, 0)) < 0 && errno == EINTR) {
	}
	worker->pid = 0;
	if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) {
		read_back(worker->fd, out);
	} else {
		ended = 0;
	}
	close(worker->fd);
	return ended > 0;
}
