/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread reads and unpacks the next pieces of a trace while kineto.c's tokenizer parses the
 * current one. The pieces are a ring; each has KINETO_INPUT_ROOM bytes before it, where the
 * tokenizer puts the begin of an event that continues in it. A gzip file may have several members,
 * and zeros after the last. Without a thread, kineto_input_next() reads by itself.
 */
#include "report/import/kineto/json.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "report/util/buf.h"

#define NR_PIECES   5u
#define PIECE_BYTES (256u * 1024u)
#define READ_BYTES  (64u * 1024u)
/* This much may follow the JSON text and is still read: gzip's checksum is at its end. */
#define MAX_BEHIND (64u << 20)

struct piece {
	char *memory;
	size_t nr_bytes;
};

struct kineto_input {
	int fd;
	uint64_t offset;	  /* in the file */
	bool is_gzip, has_member; /* has_member: at least one is complete */
	z_stream zlib;
	unsigned char *packed;
	const char *problem;
	/*
	 * A ring of pieces between the threads. `lock` protects the four numbers and flags below.
	 */
	struct piece pieces[NR_PIECES];
	size_t nr_filled, nr_done; /* since the start; taken: handed out or done */
	bool is_ended, is_cancelled;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool has_thread;
};

bool kineto_input_is_trace(const unsigned char *bytes, size_t nr_bytes)
{
	size_t i = 0;

	if (nr_bytes >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
		return true;
	}
	if (nr_bytes >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
		i = 3;
	}
	while (i < nr_bytes && (bytes[i] == ' ' || (bytes[i] >= '\t' && bytes[i] <= '\r'))) {
		i++;
	}
	return i < nr_bytes && (bytes[i] == '{' || bytes[i] == '[');
}

/* ---- the thread that reads ---- */

static size_t read_file(struct kineto_input *in, void *bytes, size_t nr_bytes)
{
	for (;;) {
		ssize_t n = pread(in->fd, bytes, nr_bytes, (off_t)in->offset);

		if (n >= 0) {
			in->offset += (uint64_t)n;
			return (size_t)n;
		}
		if (errno != EINTR) {
			in->problem = "a read error";
			return 0;
		}
	}
}

/* Fills a piece as far as there are bytes. */
static size_t unpack(struct kineto_input *in, char *bytes)
{
	z_stream *zlib = &in->zlib;

	zlib->next_out = (unsigned char *)bytes;
	zlib->avail_out = PIECE_BYTES;
	while (zlib->avail_out && !in->problem) {
		int rc;

		if (!zlib->avail_in) {
			zlib->next_in = in->packed;
			zlib->avail_in = (uInt)read_file(in, in->packed, READ_BYTES);
			if (!zlib->avail_in) {
				/*
				 * Another member may follow; a file may end only between members.
				 */
				in->problem = zlib->total_in ? "the gzip data are truncated"
							     : in->problem;
				break;
			}
		}
		if (!zlib->total_in && in->has_member && zlib->next_in[0] != 0x1f) {
			break; /* zeros after the last member */
		}
		rc = inflate(zlib, Z_NO_FLUSH);
		if (rc == Z_STREAM_END) {
			in->has_member = true;
			inflateReset(zlib);
		} else if (rc != Z_OK) {
			in->problem = "the gzip data are damaged";
		}
	}
	return PIECE_BYTES - zlib->avail_out;
}

/* Replaces only control bytes, so texts keep their lengths and offsets. */
static void blank(char *bytes, size_t nr_bytes)
{
	for (size_t i = 0; i < nr_bytes; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		bytes[i] = (char)(byte < ' ' && byte != '\n' ? ' ' : byte);
	}
}

static size_t fill(struct kineto_input *in, char *bytes)
{
	size_t nr_bytes = in->is_gzip ? unpack(in, bytes) : read_file(in, bytes, PIECE_BYTES);

	blank(bytes, nr_bytes);
	return nr_bytes;
}

static void *read_all(void *context)
{
	struct kineto_input *in = context;
	bool goes_on = true;

	while (goes_on) {
		struct piece *piece;

		pthread_mutex_lock(&in->lock);
		/* The reader has two: the current one, and the previous until it moves on. */
		while (in->nr_filled - in->nr_done == NR_PIECES - 2 && !in->is_cancelled) {
			pthread_cond_wait(&in->changed, &in->lock);
		}
		goes_on = !in->is_cancelled;
		pthread_mutex_unlock(&in->lock);
		piece = &in->pieces[in->nr_filled % NR_PIECES];
		piece->nr_bytes = goes_on ? fill(in, piece->memory + KINETO_INPUT_ROOM) : 0;
		goes_on = piece->nr_bytes > 0;
		pthread_mutex_lock(&in->lock);
		in->nr_filled += goes_on;
		in->is_ended = !goes_on;
		pthread_cond_signal(&in->changed);
		pthread_mutex_unlock(&in->lock);
	}
	return NULL;
}

/* ---- the reader ---- */

struct kineto_input *kineto_input_create(int fd)
{
	struct kineto_input *in = mem_zeroed(1, sizeof(*in));
	unsigned char magic[2] = {0};

	in->fd = fd;
	in->is_gzip = pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
	in->packed = mem_zeroed(READ_BYTES, 1);
	/* 16: gzip, with its checksum */
	if (in->is_gzip && inflateInit2(&in->zlib, 16 + MAX_WBITS) != Z_OK) {
		in->problem = "zlib has no memory";
	}
	for (unsigned int i = 0; i < NR_PIECES; i++) {
		in->pieces[i].memory = mem_resize(NULL, KINETO_INPUT_ROOM + PIECE_BYTES, 1);
	}
	pthread_mutex_init(&in->lock, NULL);
	pthread_cond_init(&in->changed, NULL);
	in->has_thread = !pthread_create(&in->thread, NULL, read_all, in);
	return in;
}

size_t kineto_input_next(struct kineto_input *in, char **bytes)
{
	struct piece *piece = &in->pieces[in->nr_done % NR_PIECES];

	*bytes = piece->memory + KINETO_INPUT_ROOM;
	if (!in->has_thread) {
		in->nr_done++;
		return fill(in, *bytes);
	}
	pthread_mutex_lock(&in->lock);
	while (in->nr_filled == in->nr_done && !in->is_ended) {
		pthread_cond_wait(&in->changed, &in->lock);
	}
	if (in->nr_filled == in->nr_done) {
		pthread_mutex_unlock(&in->lock);
		return 0;
	}
	in->nr_done++;
	pthread_cond_signal(&in->changed);
	pthread_mutex_unlock(&in->lock);
	return piece->nr_bytes;
}

const char *kineto_input_problem(struct kineto_input *in)
{
	const char *problem;
	char *bytes;

	for (size_t i = 0; i < MAX_BEHIND / PIECE_BYTES && kineto_input_next(in, &bytes); i++) {
	}
	pthread_mutex_lock(&in->lock);
	problem = in->is_ended || !in->has_thread ? in->problem : NULL;
	pthread_mutex_unlock(&in->lock);
	return problem;
}

void kineto_input_destroy(struct kineto_input *in)
{
	if (in->has_thread) {
		pthread_mutex_lock(&in->lock);
		in->is_cancelled = true;
		pthread_cond_signal(&in->changed);
		pthread_mutex_unlock(&in->lock);
		pthread_join(in->thread, NULL);
	}
	pthread_mutex_destroy(&in->lock);
	pthread_cond_destroy(&in->changed);
	if (in->is_gzip) {
		inflateEnd(&in->zlib);
	}
	for (unsigned int i = 0; i < NR_PIECES; i++) {
		free(in->pieces[i].memory);
	}
	free(in->packed);
	free(in);
}
