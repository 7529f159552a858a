/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stream/stream.h"

#include <stdlib.h>
#include <string.h>

#include "report/stream/prefetch.h"
#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/stream/rings.h"
#include "report/stream/file.h"
#include "report/stream/index.h"
#include "report/stream/table_schema.h"

/* What loads use: one for all streams, since a job may have hundreds and few blocks are in hand. */
static struct prefetch *shared;
static size_t nr_users;

static void take_shared(struct stream *stream)
{
	if (!nr_users++) {
		shared = prefetch_create();
	}
	stream->is_user = true;
}

static void give_shared(struct stream *stream)
{
	if (!stream->is_user) {
		return;
	}
	prefetch_expect(shared, NULL, 0);
	if (!--nr_users) {
		prefetch_destroy(shared);
		shared = NULL;
	}
}

int stream_read(const struct stream *stream, uint64_t offset, void *bytes, size_t nr_bytes)
{
	return stream_file_read(stream, offset, bytes, nr_bytes);
}

int stream_open(struct stream **stream, const char *path)
{
	struct stream *s = mem_zeroed(1, sizeof(*s));
	size_t length = strlen(path);
	int rc;

	s->fd = -1;
	s->path = mem_text(path);
	s->is_part = length > 5 && strcmp(path + length - 5, ".part") == 0;
	rc = stream_index_open(s);
	if (rc) {
		stream_close(s);
		return rc;
	}
	if (!s->is_trace) { /* what is in memory alone could not be opened again */
		stream_file_share(s);
	}
	take_shared(s);
	table_schema_read(s);
	*stream = s;
	return 0;
}

void stream_close(struct stream *stream)
{
	if (!stream) {
		return;
	}
	give_shared(stream); /* no thread reads it any more */
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		ring_batch_destroy(stream->blocks[i].ring);
	}
	for (size_t i = 0; i < stream->nr_tables; i++) {
		for (unsigned int c = 0; c < stream->tables[i].nr_columns; c++) {
			if (stream->tables[i].columns[c].known < 0) {
				free((char *)stream->tables[i].columns[c].name);
			}
		}
		free(stream->tables[i].columns);
		free(stream->tables[i].name);
	}
	stream_file_close(stream);
	free(stream->tables);
	free(stream->blocks);
	free(stream->damages);
	free(stream->rings_path);
	free(stream->path);
	free(stream);
}

unsigned int stream_block_table(const struct stream *stream, size_t block)
{
	return stream->tables[stream->blocks[block].table].known;
}

struct stream_table *stream_table(const struct stream *stream, unsigned int known)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		if (stream->tables[i].known == known) {
			return &stream->tables[i];
		}
	}
	return NULL;
}

unsigned int stream_known(const struct stream *stream, uint64_t number)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		if (stream->tables[i].number == number) {
			return stream->tables[i].known;
		}
	}
	return 0;
}

bool stream_is_damaged(const struct stream *stream)
{
	if (stream->is_header_damaged || stream->is_schema_assumed || stream->nr_damages ||
		stream->blocks_missing || stream->blocks_repeated || stream->ring_rows_damaged) {
		return true;
	}
	for (size_t i = 0; i < stream->nr_tables; i++) {
		if (stream->tables[i].rows_missing || stream->tables[i].rows_damaged) {
			return true;
		}
	}
	return false;
}

/* ---- columns of a block ---- */

static void count_damage(struct stream *stream, size_t block)
{
	struct stream_block *b = &stream->blocks[block];

	if (!b->is_counted_damaged) {
		b->is_counted_damaged = true;
		stream->tables[b->table].rows_damaged += b->nr_rows;
	}
}

void stream_expect(const struct stream_request *requests, size_t nr_requests)
{
	prefetch_expect(shared, requests, nr_requests);
}

uint32_t stream_load(struct stream *stream, size_t block, uint32_t mask, uint32_t small_mask,
	struct batch *batch)
{
	const struct stream_request request = {
		.stream = stream, .block = block, .mask = mask, .small_mask = small_mask};
	uint32_t bad = prefetch_take(shared, &request, batch);

	if (bad) {
		count_damage(stream, block);
	}
	return bad;
}

unsigned int stream_verify(struct stream *stream, size_t block,
	void (*bad)(void *context, const char *column, uint64_t offset, enum decode_status status),
	void *context)
{
	unsigned int nr_bad = reader_verify(prefetch_reader(shared), stream, block, bad, context);

	if (nr_bad) {
		count_damage(stream, block);
	}
	return nr_bad;
}
