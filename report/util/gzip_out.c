/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one gzip member with several threads, for timelines and flame graphs. The caller fills
 * pieces; threads pack each by itself, with the last 32 KB of the piece before as dictionary, so
 * that compression hardly suffers. Each piece ends at a whole byte (sync flush), so packed pieces
 * follow each other in the file. Checksums of the pieces combine to that of the file.
 *
 *   pieces   FREE (being filled) -> FULL -> WORKING -> PACKED -> written in order -> FREE
 */
#include "report/util/gzip_out.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "report/util/buf.h"

#define MAX_THREADS  3u /* besides the caller, which helps while it waits */
#define MAX_PIECES   (2u * (MAX_THREADS + 1u))
#define PIECE_BYTES  (256u * 1024u)
#define WINDOW_BYTES (32u * 1024u) /* how far back deflate refers */

/*
 * For timelines, level 2 takes as long as level 1. Level 3 is 5 % smaller and takes up to 50 %
 * longer.
 */
#define LEVEL 2

enum piece_state {
	PIECE_FREE, /* also the piece that is being filled */
	PIECE_FULL,
	PIECE_WORKING,
	PIECE_PACKED,
};

/* Piece k of the file uses pieces[k % nr_pieces]. */
struct piece {
	uint8_t bytes[WINDOW_BYTES +
		      PIECE_BYTES]; /* the end of the piece before, then this piece */
	size_t nr_window, nr_bytes;
	uint8_t *packed;
	size_t nr_packed;
	uint32_t crc;
	enum piece_state state;
};

struct gzip_out {
	FILE *file;
	size_t packed_bytes; /* room in a piece */
	unsigned int nr_pieces;
	pthread_mutex_t lock;	/* protects all below, but for the piece that is being filled */
	pthread_cond_t changed; /* a piece changed its state, or the file is being closed */
	size_t next_fill, next_pack, next_write;
	bool is_writing, is_ending;
	int error;
	uint32_t crc, nr_bytes; /* of all bytes written so far, modulo 2^32 */
	z_stream packer;	/* used by the caller's thread */
	pthread_t threads[MAX_THREADS];
	unsigned int nr_threads;
	struct piece pieces[MAX_PIECES];
};

/* ---- pieces ---- */

/* Flushes to a whole byte, so that the next piece can follow. */
static int pack(struct gzip_out *out, struct piece *piece, z_stream *packer)
{
	deflateReset(packer);
	if (piece->nr_window) {
		deflateSetDictionary(packer, piece->bytes + WINDOW_BYTES - piece->nr_window,
			(uInt)piece->nr_window);
	}
	packer->next_in = piece->bytes + WINDOW_BYTES;
	packer->avail_in = (uInt)piece->nr_bytes;
	packer->next_out = piece->packed;
	packer->avail_out = (uInt)out->packed_bytes;
	if (deflate(packer, Z_SYNC_FLUSH) != Z_OK || packer->avail_in || !packer->avail_out) {
		return -EIO;
	}
	piece->nr_packed = out->packed_bytes - packer->avail_out;
	piece->crc = (uint32_t)crc32(0, piece->bytes + WINDOW_BYTES, (uInt)piece->nr_bytes);
	return 0;
}

static int write_bytes(struct gzip_out *out, const void *bytes, size_t nr_bytes)
{
	errno = 0;
	return fwrite(bytes, 1, nr_bytes, out->file) == nr_bytes ? 0 : errno ? -errno : -EIO;
}

/*
 * Writes the packed pieces in order. The caller holds the lock, which is released during writes.
 * is_writing keeps others from writing the next piece meanwhile.
 */
static void write_packed(struct gzip_out *out)
{
	struct piece *piece = &out->pieces[out->next_write % out->nr_pieces];

	while (!out->is_writing && piece->state == PIECE_PACKED) {
		int error = out->error;

		out->is_writing = true;
		pthread_mutex_unlock(&out->lock);
		error = error ? error : write_bytes(out, piece->packed, piece->nr_packed);
		pthread_mutex_lock(&out->lock);
		out->is_writing = false;
		out->error = out->error ? out->error : error;
		out->crc = (uint32_t)crc32_combine(out->crc, piece->crc, (z_off_t)piece->nr_bytes);
		out->nr_bytes += (uint32_t)piece->nr_bytes;
		piece->state = PIECE_FREE;
		piece = &out->pieces[++out->next_write % out->nr_pieces];
		pthread_cond_broadcast(&out->changed);
	}
}

/*
 * Packs one piece. The caller holds the lock, which is released meanwhile. False if no piece waits.
 */
static bool work_on_one(struct gzip_out *out, z_stream *packer)
{
	struct piece *piece = &out->pieces[out->next_pack % out->nr_pieces];
	int error;

	if (piece->state != PIECE_FULL) {
		return false;
	}
	piece->state = PIECE_WORKING;
	out->next_pack++;
	pthread_mutex_unlock(&out->lock);
	error = pack(out, piece, packer);
	pthread_mutex_lock(&out->lock);
	out->error = out->error ? out->error : error;
	piece->state = PIECE_PACKED;
	write_packed(out);
	return true;
}

static bool init_packer(z_stream *packer)
{
	*packer = (z_stream){0};
	return deflateInit2(packer, LEVEL, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK;
}

static void *work(void *context)
{
	struct gzip_out *out = context;
	z_stream packer;

	if (!init_packer(&packer)) {
		return NULL;
	}
	pthread_mutex_lock(&out->lock);
	while (!out->is_ending) {
		if (!work_on_one(out, &packer)) {
			pthread_cond_wait(&out->changed, &out->lock);
		}
	}
	pthread_mutex_unlock(&out->lock);
	deflateEnd(&packer);
	return NULL;
}

/* ---- the caller's side ---- */

/* If no thread can be started, the caller packs alone. */
static void start_threads(struct gzip_out *out)
{
	cpu_set_t cpus;
	unsigned int nr =
		sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (unsigned int)CPU_COUNT(&cpus);

	nr = nr - 1 < MAX_THREADS ? nr - 1 : MAX_THREADS;
	out->nr_pieces = 2 * (nr + 1);
	out->packed_bytes =
		deflateBound(&out->packer, PIECE_BYTES) + 64; /* and the block of the flush */
	for (unsigned int i = 0; i < out->nr_pieces; i++) {
		out->pieces[i].packed = mem_resize(NULL, out->packed_bytes, 1);
	}
	while (out->nr_threads < nr &&
		!pthread_create(&out->threads[out->nr_threads], NULL, work, out)) {
		out->nr_threads++;
	}
}

int gzip_out_open(struct gzip_out **opened, const char *path)
{
	/* Method deflate, no flags, no time, written on Unix. */
	static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
	FILE *file = fopen(path, "w");
	struct gzip_out *out;

	if (!file) {
		return -errno;
	}
	out = mem_zeroed(1, sizeof(*out));
	out->file = file;
	pthread_mutex_init(&out->lock, NULL);
	pthread_cond_init(&out->changed, NULL);
	out->error = init_packer(&out->packer) ? write_bytes(out, head, sizeof(head)) : -ENOMEM;
	start_threads(out);
	*opened = out;
	return 0;
}

/* Hands over the filled piece and starts the next one as soon as it is free. */
static int hand_over(struct gzip_out *out)
{
	struct piece *piece = &out->pieces[out->next_fill % out->nr_pieces], *next;
	size_t nr_window = piece->nr_bytes < WINDOW_BYTES ? piece->nr_bytes : WINDOW_BYTES;
	int error;

	pthread_mutex_lock(&out->lock);
	piece->state = PIECE_FULL;
	pthread_cond_broadcast(&out->changed);
	next = &out->pieces[++out->next_fill % out->nr_pieces];
	while (next->state != PIECE_FREE) {
		if (!work_on_one(out, &out->packer) && next->state != PIECE_FREE) {
			pthread_cond_wait(&out->changed, &out->lock);
		}
	}
	error = out->error;
	pthread_mutex_unlock(&out->lock);
	/* Nobody refills the previous piece before the next one, so its end is still there. */
	memcpy(next->bytes + WINDOW_BYTES - nr_window,
		piece->bytes + WINDOW_BYTES + piece->nr_bytes - nr_window, nr_window);
	next->nr_window = nr_window;
	next->nr_bytes = 0;
	return error;
}

int gzip_out_write(void *file, const char *bytes, size_t nr_bytes)
{
	struct gzip_out *out = file;
	int error = 0;

	while (nr_bytes) {
		struct piece *piece = &out->pieces[out->next_fill % out->nr_pieces];
		size_t room = PIECE_BYTES - piece->nr_bytes;
		size_t nr = nr_bytes < room ? nr_bytes : room;

		memcpy(piece->bytes + WINDOW_BYTES + piece->nr_bytes, bytes, nr);
		piece->nr_bytes += nr;
		bytes += nr;
		nr_bytes -= nr;
		if (piece->nr_bytes == PIECE_BYTES) {
			error = hand_over(out);
		}
	}
	return error;
}

static void end_threads(struct gzip_out *out)
{
	pthread_mutex_lock(&out->lock);
	while (out->next_write < out->next_fill) {
		if (!work_on_one(out, &out->packer) && out->next_write < out->next_fill) {
			pthread_cond_wait(&out->changed, &out->lock);
		}
	}
	out->is_ending = true;
	pthread_cond_broadcast(&out->changed);
	pthread_mutex_unlock(&out->lock);
	for (unsigned int i = 0; i < out->nr_threads; i++) {
		pthread_join(out->threads[i], NULL);
	}
}

/* Writes an empty last block, then the checksum and size of the unpacked bytes. */
static int write_tail(struct gzip_out *out)
{
	uint8_t tail[10] = {3, 0};

	for (unsigned int i = 0; i < 4; i++) {
		tail[2 + i] = (uint8_t)(out->crc >> 8 * i);
		tail[6 + i] = (uint8_t)(out->nr_bytes >> 8 * i);
	}
	return write_bytes(out, tail, sizeof(tail));
}

int gzip_out_close(struct gzip_out *out)
{
	int error;

	hand_over(out);
	end_threads(out);
	error = out->error ? out->error : write_tail(out);
	if (fclose(out->file) && !error) {
		error = -errno;
	}
	deflateEnd(&out->packer);
	for (unsigned int i = 0; i < out->nr_pieces; i++) {
		free(out->pieces[i].packed);
	}
	pthread_mutex_destroy(&out->lock);
	pthread_cond_destroy(&out->changed);
	free(out);
	return error;
}
