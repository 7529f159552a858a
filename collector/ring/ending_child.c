/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the newest ring file of a child by its name, and writes the signal that ended the child
 * into the header, as the child would have done. The next reader of the file reports it.
 */
#include "collector/ring/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/format/format.h"
#include "collector/ring/ring.h"
#include "collector/util/dir.h"
#include "collector/util/log.h"
#include "collector/util/private_fd.h"
#include "collector/util/target.h"

#define SHARED "/dev/shm"
#define SUFFIX ".gprof.rings"

/* The newest ring file of that process. All of this may be on the stack of a signal handler. */
struct search {
	uint64_t pid, start;
	char path[sizeof(SHARED) + NAME_MAX + 1]; /* "" if there is none */
};

/* HOST-PID-START, then the suffix. */
static void look_at(void *context, const char *name)
{
	struct search *search = context;
	size_t length = strlen(name);
	const char *at = name + length - (length < strlen(SUFFIX) ? 0 : strlen(SUFFIX));
	uint64_t start;

	if (strcmp(at, SUFFIX) != 0) {
		return;
	}
	while (at > name && *at != '-') {
		at--;
	}
	start = strtoull(at + (*at == '-'), NULL, 16);
	while (at > name && at[-1] >= '0' && at[-1] <= '9') {
		at--;
	}
	if (at > name && at[-1] == '-' && strtoull(at, NULL, 10) == search->pid &&
		start >= search->start) {
		search->start = start;
		log_format(search->path, sizeof(search->path), SHARED "/%s", name);
	}
}

/* Does the file belong to a process of our PID namespace that has recorded no end? */
static bool is_unmarked(struct private_fd *file)
{
	struct gprof_rings_header header;
	uint64_t space = ring_namespace(), its_space;
	const off_t at = RING_HEADER_BYTES - sizeof(its_space);

	return !private_fd_check(file) &&
	       pread(file->fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	       pread(file->fd, &its_space, sizeof(its_space), at) == (ssize_t)sizeof(its_space) &&
	       !memcmp(header.magic, GPROF_RINGS_MAGIC, sizeof(header.magic)) &&
	       header.header_bytes == RING_HEADER_BYTES && !header.end_kind && space &&
	       space == its_space;
}

static void mark(const char *path, int number)
{
	const uint32_t end[] = {GPROF_END_SIGNAL, (uint32_t)number};
	struct private_fd file;
	struct stat status;

	if (dir_look(path, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
		private_fd_open(&file, path, O_RDWR | O_NONBLOCK, PRIVATE_FD_ANYWHERE)) {
		return;
	}
	if (is_unmarked(&file)) {
		pwrite(file.fd, end, sizeof(end), offsetof(struct gprof_rings_header, end_kind));
	}
	private_fd_close(&file);
}

/* Has another process that number by now? */
static bool is_used_again(pid_t pid)
{
	return !syscall(SYS_kill, (long)pid, 0L) || errno != ESRCH;
}

void ending_mark_child(pid_t pid, int number, bool is_reaped)
{
	TARGET_LEAVE_ALONE;
	struct search search = {.pid = (uint64_t)pid};

	dir_each(SHARED, look_at, &search);
	/* After the search: what it has found may be the other one's. */
	if (*search.path && !(is_reaped && is_used_again(pid))) {
		mark(search.path, number);
	}
}
