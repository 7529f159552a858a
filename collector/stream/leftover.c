/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for files of rings in /dev/shm whose process is gone and whose stream is in our directory.
 * Copies the used chunks under another name, renames the copy, and removes the original. Other
 * recorders may try at the same time: who creates the copy's file, with O_EXCL, moves it.
 */
#include "collector/stream/leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/ring/ring.h"
#include "collector/stream/stream.h"
#include "collector/util/clock.h"
#include "collector/util/dir.h"
#include "collector/util/log.h"
#include "collector/util/pace.h"
#include "collector/util/private_fd.h"

#define SHARED "/dev/shm"
#define SUFFIX ".gprof.rings"
/* No pool is larger: GPROF_BUFFER_MB's half. */
#define MAX_CHUNKS (((uint64_t)65536 << 20) / 2 / RING_CHUNK_BYTES)

/* Nobody copies for so long without a write. */
#define HALF_MAX_S 60u

struct move {
	bool (*is_over)(void);
	bool is_own; /* of a program that this process ran before exec: it is moved in any case */
	uint32_t nr_moved;
	struct private_fd from, to;
	char bytes[RING_CHUNK_BYTES];
};

static bool read_at(struct move *move, uint64_t at, size_t nr_bytes)
{
	return !private_fd_check(&move->from) &&
	       pread(move->from.fd, move->bytes, nr_bytes, (off_t)at) == (ssize_t)nr_bytes;
}

static bool copy_at(struct move *move, uint64_t at, size_t nr_bytes)
{
	pace_look();
	return read_at(move, at, nr_bytes) && !private_fd_check(&move->to) &&
	       pwrite(move->to.fd, move->bytes, nr_bytes, (off_t)at) == (ssize_t)nr_bytes;
}

static bool is_sound(const struct gprof_rings_header *header)
{
	return !memcmp(header->magic, GPROF_RINGS_MAGIC, sizeof(header->magic)) &&
	       header->header_bytes == RING_HEADER_BYTES &&
	       header->chunk_bytes == RING_CHUNK_BYTES && header->nr_chunks <= MAX_CHUNKS;
}

/* Copies the header and the chunks that threads own; the others stay holes in the file. */
static bool copy_used(struct move *move)
{
	struct gprof_rings_header header;
	struct gprof_chunk_header chunk;
	uint64_t here = ring_namespace(), there, at = RING_HEADER_BYTES;

	if (!read_at(move, 0, RING_HEADER_BYTES)) {
		return false;
	}
	memcpy(&header, move->bytes, sizeof(header));
	memcpy(&there, move->bytes + RING_HEADER_BYTES - sizeof(there), sizeof(there));
	/* In another pid namespace this number is another process. */
	if (!is_sound(&header) || !here || here != there || !copy_at(move, 0, RING_HEADER_BYTES)) {
		return false;
	}
	for (uint32_t i = 0; i < header.nr_chunks; i++, at += RING_CHUNK_BYTES) {
		bool is_over = move->is_over();

		if ((is_over && !move->is_own) || !read_at(move, at, sizeof(chunk))) {
			return false;
		}
		memcpy(&chunk, move->bytes, sizeof(chunk));
		if (chunk.magic == GPROF_CHUNK_MAGIC && chunk.thread &&
			!copy_at(move, at, RING_CHUNK_BYTES)) {
			return false;
		}
	}
	return !private_fd_check(&move->to) && !ftruncate(move->to.fd, (off_t)at);
}

/*
 * Makes the half file, whose name keeps others out. One that a killed process left is made anew; no
 * other process copies what ours has left.
 */
static int open_half(struct move *move, const char *half)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL;
	struct stat status;
	int rc = private_fd_open(&move->to, half, flags, PRIVATE_FD_ANYWHERE);

	if (rc != -EEXIST || dir_look(half, &status) ||
		(!move->is_own && (uint64_t)status.st_mtim.tv_sec + HALF_MAX_S >
					  clock_realtime_ns() / 1000000000u)) {
		return rc;
	}
	unlink(half);
	return private_fd_open(&move->to, half, flags, PRIVATE_FD_ANYWHERE);
}

/* Uses another name until the copy is complete. */
static void move_file(struct move *move, const char *from, const char *to)
{
	char half[PATH_MAX];
	bool is_whole;

	log_format(half, sizeof(half), "%s.new", to);
	if (private_fd_open(&move->from, from, O_RDONLY | O_NONBLOCK, PRIVATE_FD_ANYWHERE)) {
		return;
	}
	if (!open_half(move, half)) {
		is_whole = copy_used(move);
		private_fd_close(&move->to);
		if (is_whole && !rename(half, to)) {
			move->nr_moved += !unlink(from);
		} else {
			unlink(half);
		}
	}
	private_fd_close(&move->from);
}

static bool is_own_file(const char *path)
{
	struct stat status;

	return !dir_look(path, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

/*
 * Returns the length of NAME-PID-START, if that process of this machine is gone, or is this one
 * before it replaced its program; 0 for all other names.
 */
static size_t gone_length(struct move *move, const char *name)
{
	const char *own = strrchr(stream_path(), '/') + 1;
	size_t length = strlen(name), host = strcspn(own, "-") + 1;
	unsigned long long pid;
	bool is_gone;

	if (length <= strlen(SUFFIX) || strcmp(name + length - strlen(SUFFIX), SUFFIX) != 0 ||
		strncmp(name, own, host) != 0) {
		return 0;
	}
	pid = strtoull(name + host, NULL, 10);
	length -= strlen(SUFFIX);
	move->is_own = pid == (unsigned long long)getpid();
	if (move->is_own) {
		is_gone = strncmp(own, name, length) != 0;
	} else {
		is_gone = pid && pid <= INT_MAX && !move->is_over() &&
			  syscall(SYS_kill, (long)pid, 0L) && errno == ESRCH;
	}
	return is_gone ? length : 0;
}

static void look_at(void *context, const char *name)
{
	struct move *move = context;
	int length = (int)gone_length(move, name);
	char from[PATH_MAX], part[PATH_MAX], to[PATH_MAX];

	if (!length || strlen(stream_dir()) + strlen(name) + sizeof(".new/") > sizeof(to)) {
		return;
	}
	log_format(from, sizeof(from), SHARED "/%s", name);
	log_format(part, sizeof(part), "%s/%.*s.gprof.part", stream_dir(), length, name);
	log_format(to, sizeof(to), "%s/%s", stream_dir(), name);
	if (is_own_file(from) && is_own_file(part)) {
		move_file(move, from, to);
	}
}

static struct private_fd shared = {.fd = -1};

void leftover_begin(void)
{
	dir_open(&shared, SHARED);
}

void leftover_move(bool (*is_over)(void))
{
	static struct move move;

	move.is_over = is_over;
	/* Again: a folder that changes while it is read may not show all names. */
	do {
		move.nr_moved = 0;
		dir_read(&shared, look_at, &move);
	} while (move.nr_moved);
	private_fd_close(&shared);
}
