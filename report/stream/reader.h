/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes columns of blocks. A reader holds one batch and serves one thread. Streams do not change,
 * so several readers may read one stream. Memory: the widest block, half a MB a column.
 */
#ifndef REPORT_STREAM_READER_H
#define REPORT_STREAM_READER_H

#include "report/stream/types.h"

struct reader;

struct reader *reader_create(void);
void reader_destroy(struct reader *reader);

/* Works like stream_load, but counts no damage. The batch is valid until the reader's next call. */
uint32_t reader_load(struct reader *reader, const struct stream *stream, size_t block,
	uint32_t mask, uint32_t small_mask, struct batch *batch);

/* Works like stream_most. */
uint64_t reader_most(
	struct reader *reader, const struct stream *stream, size_t block, unsigned int column);

/* Works like stream_verify, but counts no damage. */
unsigned int reader_verify(struct reader *reader, const struct stream *stream, size_t block,
	void (*bad)(void *context, const char *column, uint64_t offset, enum decode_status status),
	void *context);

#endif
