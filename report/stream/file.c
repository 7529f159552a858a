/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the number of open files below the limit, for jobs with hundreds of streams. reader.c and
 * block_index.c read through it. Open files form a list by their last read; beyond the limit the
 * oldest one without a reader is closed. It is opened again by name, and must then have the same
 * device and inode: a file that took the name has other data.
 *
 *   newest <-> ... <-> oldest       closed files are in no list; fd is -1
 */
#include "report/stream/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/util/buf.h"

/* A shared file: open, or closed for a while. */
struct stream_file {
	int fd; /* -1: closed */
	unsigned int nr_readers;
	struct stat status;
	struct stream_file *newer, *older; /* among the open ones, by the time of the last read */
};

static struct {
	pthread_mutex_t lock;
	struct stream_file *newest, *oldest;
	size_t nr_open, most;
} files = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- open files ---- */

static void unlink_open(struct stream_file *file)
{
	*(file->newer ? &file->newer->older : &files.newest) = file->older;
	*(file->older ? &file->older->newer : &files.oldest) = file->newer;
	files.nr_open--;
}

static void link_newest(struct stream_file *file)
{
	file->newer = NULL;
	file->older = files.newest;
	*(files.newest ? &files.newest->newer : &files.oldest) = file;
	files.newest = file;
	files.nr_open++;
}

static void close_oldest(void)
{
	struct stream_file *file = files.oldest;

	while (file && file->nr_readers) {
		file = file->newer;
	}
	if (file) {
		unlink_open(file);
		close(file->fd);
		file->fd = -1;
	}
}

static size_t find_most(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 2 < STREAM_FILES) {
		return limit.rlim_cur / 2;
	}
	return STREAM_FILES;
}

static void make_room(void)
{
	files.most = files.most ? files.most : find_most();
	if (files.nr_open >= files.most) {
		close_oldest();
	}
}

/* Fails if the name refers to another file now. */
static int open_again(struct stream_file *file, const char *path)
{
	struct stat status;
	int fd;

	make_room();
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		return -errno;
	}
	if (fstat(fd, &status) || status.st_dev != file->status.st_dev ||
		status.st_ino != file->status.st_ino) {
		close(fd);
		return -ESTALE;
	}
	file->fd = fd;
	link_newest(file);
	return 0;
}

/* ---- one file ---- */

void stream_file_share(struct stream *stream)
{
	struct stream_file *file;
	struct stat status, named;

	if (fstat(stream->fd, &status) || stat(stream->path, &named) ||
		status.st_dev != named.st_dev || status.st_ino != named.st_ino) {
		return; /* no name to open it again by */
	}
	file = mem_zeroed(1, sizeof(*file));
	file->fd = stream->fd;
	file->status = status;
	stream->fd = -1;
	stream->file = file;
	pthread_mutex_lock(&files.lock);
	make_room();
	link_newest(file);
	pthread_mutex_unlock(&files.lock);
}

void stream_file_close(struct stream *stream)
{
	struct stream_file *file = stream->file;

	if (stream->fd >= 0) {
		close(stream->fd);
	}
	stream->fd = -1;
	if (!file) {
		return;
	}
	pthread_mutex_lock(&files.lock);
	if (file->fd >= 0) {
		unlink_open(file);
		close(file->fd);
	}
	pthread_mutex_unlock(&files.lock);
	free(file);
	stream->file = NULL;
}

/*
 * Returns its descriptor, which stays open until release, or -errno. Every read moves the file to
 * the front of the list.
 */
static int acquire(struct stream_file *file, const char *path)
{
	int rc = 0;

	pthread_mutex_lock(&files.lock);
	if (file->fd < 0) {
		rc = open_again(file, path);
	} else if (files.newest != file) {
		unlink_open(file);
		link_newest(file);
	}
	file->nr_readers += !rc;
	pthread_mutex_unlock(&files.lock);
	return rc ? rc : file->fd;
}

static void release(struct stream_file *file)
{
	pthread_mutex_lock(&files.lock);
	file->nr_readers--;
	pthread_mutex_unlock(&files.lock);
}

static int read_all(int fd, uint64_t offset, char *to, size_t nr_bytes)
{
	while (nr_bytes) {
		ssize_t n = pread(fd, to, nr_bytes, (off_t)offset);

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n ? -errno : -ENODATA;
		}
		to += n;
		offset += (uint64_t)n;
		nr_bytes -= (size_t)n;
	}
	return 0;
}

int stream_file_read(const struct stream *stream, uint64_t offset, void *bytes, size_t nr_bytes)
{
	int fd = stream->file ? acquire(stream->file, stream->path) : stream->fd;
	int rc = fd < 0 ? fd : read_all(fd, offset, bytes, nr_bytes);

	if (stream->file && fd >= 0) {
		release(stream->file);
	}
	return rc;
}
