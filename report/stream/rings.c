/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovers what a killed process had recorded but not written. model.c calls it for streams that
 * are still named .part. A ring file consists of chunks, each owned by a thread. A checkpoint in
 * the stream says up to which chunk and offset each thread's rows are in blocks, so rows behind it
 * come from the rings. Blocks after the last checkpoint repeat such rows, and are left out.
 *
 *   blocks    | ... | checkpoint | block | block |      dropped if the rings have their rows
 *   ring      thread 1: [chunk 7: written|rows ][chunk 8: rows ]
 *                                        ^ position in the checkpoint
 */
#include "report/stream/rings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/stream/ring_rows.h"
#include "report/stream/stream.h"
#include "report/util/sort.h"

/* No GPROF_BUFFER_MB makes a larger file, so it is not read into memory. */
#define MAX_CHUNK_BYTES (64u * 1024u * 1024u)

/* The folder of rings that are not beside their stream. */
#define SHARED "/dev/shm/"

/* A chunk owned by a thread; read in order. */
struct chunk_place {
	uint32_t thread;
	uint32_t chunk_seq;
	uint64_t offset; /* in the file, of its header */
	uint32_t committed;
};

/* The position up to which the stream holds the rows of a thread. */
struct position {
	uint32_t thread;
	uint32_t chunk_seq;
	uint32_t offset;
};

struct ring_file {
	int fd;
	uint64_t size;
	struct gprof_rings_header header;
	struct chunk_place *chunks;
	size_t nr_chunks, chunk_capacity;
	struct position *positions;
	size_t nr_positions, position_capacity;
	uint64_t newest_correlation; /* the newest ID in the stream up to these positions */
};

static int read_at(int fd, uint64_t offset, void *bytes, size_t nr_bytes)
{
	ssize_t n;

	do {
		n = pread(fd, bytes, nr_bytes, (off_t)offset);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)nr_bytes ? 0 : -EIO;
}

/*
 * The ID in both headers says that the rings belong to this stream: names alone may be used
 * again.
 */
static int open_file(struct ring_file *file, const struct stream *stream, const char *path)
{
	struct gprof_rings_header *header = &file->header;
	struct stat status;

	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &status)) {
		return err_set(-errno, "%s", strerror(errno));
	}
	if (!S_ISREG(status.st_mode) || read_at(file->fd, 0, header, sizeof(*header)) ||
		memcmp(header->magic, GPROF_RINGS_MAGIC, sizeof(header->magic)) != 0) {
		return err_set(-EINVAL, "not a ring file");
	}
	if (header->major != stream->header.major ||
		header->stream_id != stream->header.stream_id || stream->is_header_damaged) {
		return err_set(-EINVAL, "the ring file belongs to another stream");
	}
	if (header->chunk_bytes < sizeof(struct gprof_chunk_header) ||
		header->chunk_bytes > MAX_CHUNK_BYTES) {
		return err_set(-EINVAL, "the ring file's header is damaged");
	}
	file->size = (uint64_t)status.st_size;
	return 0;
}

static int compare_chunks(const void *a, const void *b)
{
	const struct chunk_place *x = a, *y = b;

	return ORDER(COMPARE(x->thread, y->thread), COMPARE(x->chunk_seq, y->chunk_seq));
}

/*
 * Chunks that no thread owns are free. `committed` is of a process that was killed, so it is
 * capped.
 */
static void find_chunks(struct ring_file *file, struct stream *stream)
{
	const uint32_t chunk_bytes = file->header.chunk_bytes;
	const uint32_t room = chunk_bytes - (uint32_t)sizeof(struct gprof_chunk_header);

	for (uint64_t i = 0; i < file->header.nr_chunks; i++) {
		uint64_t offset = file->header.header_bytes + i * chunk_bytes;
		struct gprof_chunk_header chunk;

		if (offset + chunk_bytes > file->size ||
			read_at(file->fd, offset, &chunk, sizeof(chunk))) {
			break;
		}
		if (chunk.magic != GPROF_CHUNK_MAGIC || !chunk.thread) {
			continue;
		}
		stream->ring_rows_lost += chunk.lost;
		file->chunks = array_grow(file->chunks, file->nr_chunks, &file->chunk_capacity,
			sizeof(*file->chunks));
		file->chunks[file->nr_chunks++] = (struct chunk_place){.thread = chunk.thread,
			.chunk_seq = chunk.chunk_seq,
			.offset = offset,
			.committed = chunk.committed < room ? chunk.committed : room};
	}
	if (file->nr_chunks) {
		qsort(file->chunks, file->nr_chunks, sizeof(*file->chunks), compare_chunks);
	}
}

/* ---- checkpoints ---- */

static void read_positions(struct ring_file *file, const struct batch *batch)
{
	file->nr_positions = 0;
	file->newest_correlation = 0;
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		file->positions = array_grow(file->positions, file->nr_positions,
			&file->position_capacity, sizeof(*file->positions));
		file->positions[file->nr_positions++] =
			(struct position){.thread = (uint32_t)batch->col[COL_checkpoint_thread][i],
				.chunk_seq = (uint32_t)batch->col[COL_checkpoint_chunk_seq][i],
				.offset = (uint32_t)batch->col[COL_checkpoint_offset][i]};
		file->newest_correlation |= batch->col[COL_checkpoint_newest_correlation][i];
	}
}

/*
 * Finds the last good checkpoint. Returns the number of blocks up to it, itself included, 0 if
 * there is none.
 */
static size_t read_checkpoint(struct ring_file *file, struct stream *stream)
{
	for (size_t i = stream->nr_blocks; i-- > 0;) {
		struct batch batch;

		if (stream_block_table(stream, i) == GPROF_TABLE_checkpoint &&
			!stream_load(stream, i, COL_ALL(NR_COL_checkpoint), 0, &batch)) {
			read_positions(file, &batch);
			return i + 1;
		}
	}
	return 0;
}

/*
 * After the last checkpoint the rings still hold all their rows, so blocks repeat them. Rows that
 * never pass a ring (CUPTI's, definitions) are in the blocks only.
 */
static void drop_repeated(struct stream *stream, size_t nr_confirmed)
{
	size_t nr_kept = nr_confirmed;

	stream_count_tables(stream);
	for (size_t i = nr_confirmed; i < stream->nr_blocks; i++) {
		const struct stream_block *block = &stream->blocks[i];
		const struct stream_table *table = &stream->tables[block->table];

		if (!block->ring && table->nr_ring_rows && table->known != GPROF_TABLE_string &&
			table->known != GPROF_TABLE_shape) {
			stream->nr_ignored++;
		} else {
			stream->blocks[nr_kept++] = *block;
		}
	}
	stream->nr_blocks = nr_kept;
}

static int compare_positions(const void *a, const void *b)
{
	const struct position *x = a, *y = b;

	return COMPARE(x->thread, y->thread);
}

static const struct position *find_position(const struct ring_file *file, uint32_t thread)
{
	const struct position key = {.thread = thread};

	return file->nr_positions ? bsearch(&key, file->positions, file->nr_positions, sizeof(key),
					    compare_positions)
				  : NULL;
}

/* ---- rows ---- */

static void read_chunk(struct ring_file *file, const struct chunk_place *chunk, uint32_t first,
	char *bytes, struct ring_rows *rows, struct stream *stream)
{
	const uint64_t offset = chunk->offset + sizeof(struct gprof_chunk_header);

	if (first >= chunk->committed) {
		return;
	}
	if (first % GPROF_ALIGN || read_at(file->fd, offset, bytes, chunk->committed)) {
		stream->ring_rows_damaged++;
		return;
	}
	for (uint32_t at = first; at < chunk->committed;) {
		uint32_t used = ring_rows_add(rows, bytes + at, chunk->committed - at);

		if (!used) {
			stream->ring_rows_damaged++; /* including all rows behind it */
			return;
		}
		at += used;
	}
}

/* Without a position the stream has nothing of that thread yet. */
static void read_chunks(struct ring_file *file, struct stream *stream)
{
	struct ring_rows *rows = ring_rows_create(stream, file->newest_correlation);
	char *bytes = mem_zeroed(file->header.chunk_bytes, 1);

	if (file->nr_positions) {
		qsort(file->positions, file->nr_positions, sizeof(*file->positions),
			compare_positions);
	}
	for (size_t i = 0; i < file->nr_chunks; i++) {
		const struct chunk_place *chunk = &file->chunks[i];
		const struct position *position = find_position(file, chunk->thread);
		uint32_t first = 0;

		if (position && chunk->chunk_seq < position->chunk_seq) {
			continue;
		}
		if (position && chunk->chunk_seq == position->chunk_seq) {
			first = position->offset;
		}
		read_chunk(file, chunk, first, bytes, rows, stream);
	}
	free(bytes);
	ring_rows_finish(rows);
}

/*
 * The order matters: the checkpoint is searched before the rows of rings become blocks of the
 * stream.
 */
static int attach(struct stream *stream, const char *path)
{
	struct ring_file file = {.fd = -1};
	int rc = open_file(&file, stream, path);
	size_t nr_confirmed;

	if (!rc) {
		find_chunks(&file, stream);
		nr_confirmed = read_checkpoint(&file, stream);
		read_chunks(&file, stream);
		drop_repeated(stream, nr_confirmed);
		stream->has_rings = true;
		if (file.header.header_bytes >= sizeof(file.header)) {
			stream->end_kind = file.header.end_kind;
			stream->end_code = file.header.end_code;
		}
		stream->rings_path = mem_text(path);
		stream_count_tables(stream);
	}
	if (file.fd >= 0) {
		close(file.fd);
	}
	free(file.chunks);
	free(file.positions);
	return rc;
}

/*
 * The stream's name with `.rings` instead of `.part`, in `dir`, which ends with a slash. The caller
 * frees it.
 */
static char *path_named(const struct stream *stream, const char *dir, const char *name)
{
	size_t length = strlen(name);
	struct buf path = {0};

	length -= stream->is_part ? strlen(".part") : 0;
	buf_printf(&path, "%s%.*s.rings", dir, (int)length, name);
	buf_char(&path, '\0');
	return path.bytes;
}

static int attach_named(struct stream *stream, const char *dir, const char *name)
{
	char *path = path_named(stream, dir, name);
	int rc = attach(stream, path);

	free(path);
	return rc;
}

int rings_attach_beside(struct stream *stream)
{
	return attach_named(stream, "", stream->path);
}

int rings_attach_shared(struct stream *stream)
{
	const char *slash = strrchr(stream->path, '/');

	return attach_named(stream, SHARED, slash ? slash + 1 : stream->path);
}

/* ---- rings in /dev/shm ---- */

static int copy_part(int from, int to, uint64_t offset, char *bytes, size_t nr_bytes)
{
	int rc = read_at(from, offset, bytes, nr_bytes);

	return rc ? rc : pwrite(to, bytes, nr_bytes, (off_t)offset) == (ssize_t)nr_bytes ? 0 : -EIO;
}

/* Copies the header and the chunks owned by threads; the others become holes. */
static int copy_used(struct ring_file *file, int to)
{
	const size_t chunk_bytes = file->header.chunk_bytes;
	char *bytes = mem_zeroed(chunk_bytes, 1);
	int rc = file->header.header_bytes <= chunk_bytes
			 ? copy_part(file->fd, to, 0, bytes, file->header.header_bytes)
			 : -EINVAL;

	for (size_t i = 0; i < file->nr_chunks && !rc; i++) {
		rc = copy_part(file->fd, to, file->chunks[i].offset, bytes, chunk_bytes);
	}
	free(bytes);
	return rc ? rc : ftruncate(to, (off_t)file->size) || fsync(to) ? -errno : 0;
}

/* Uses a temporary name until the copy is complete, so that nobody reads half of it. */
static int copy_to(struct ring_file *file, const char *path)
{
	struct buf half = {0};
	int rc = 0, to;

	buf_printf(&half, "%s.%ld", path, (long)getpid());
	buf_char(&half, '\0');
	to = open(half.bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	rc = to < 0 ? -errno : copy_used(file, to);
	if (to >= 0) {
		rc = close(to) && !rc ? -errno : rc;
		rc = rc ? rc : rename(half.bytes, path) ? -errno : 0;
		if (rc) {
			unlink(half.bytes);
		}
	}
	buf_fini(&half);
	return rc;
}

/* Removes what a recorder has left that was killed while it copied the same rings. */
static void remove_half(const char *path)
{
	struct buf half = {0};

	buf_printf(&half, "%s.new", path);
	buf_char(&half, '\0');
	unlink(half.bytes);
	buf_fini(&half);
}

/* The rings in shared memory go only once their copy is complete. */
void rings_keep(struct stream *stream)
{
	struct stream seen = {.header = stream->header};
	struct ring_file file = {.fd = -1};
	char *path;

	if (!stream->is_part || !stream->rings_path ||
		strncmp(stream->rings_path, SHARED, strlen(SHARED)) != 0) {
		return;
	}
	path = path_named(stream, "", stream->path);
	if (!open_file(&file, &seen, stream->rings_path)) {
		find_chunks(&file, &seen);
		if (!copy_to(&file, path)) {
			unlink(stream->rings_path);
			free(stream->rings_path);
			stream->rings_path = mem_text(path);
			remove_half(path);
		}
	}
	if (file.fd >= 0) {
		close(file.fd);
	}
	free(file.chunks);
	free(path);
}
