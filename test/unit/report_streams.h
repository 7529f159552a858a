/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the reporter share: streams in the test's own directory. */
#ifndef TEST_UNIT_REPORT_STREAMS_H
#define TEST_UNIT_REPORT_STREAMS_H

#include "report/model/model.h"
#include "test/gen/gen.h"

/* A path in the test's directory, good until seven more were asked for. */
const char *streams_path(const char *name);

/* The small stream under that name. */
const char *streams_small(const char *name);

/* That of training steps with operators. */
const char *streams_ops(const char *name);

/* Opens it, which must succeed. */
struct stream *streams_open(const char *path);
struct process *streams_process(const char *path);

/* The summary that reduce makes of it; for who includes report/reduce/reduced.h. */
struct reduced;
struct reduced streams_reduced(const char *path);

/* The bytes of a file, to be freed. */
unsigned char *streams_read(const char *path, size_t *nr_bytes);
void streams_write(const char *path, const void *bytes, size_t nr_bytes);

/* Offset of the first block of a table in the file, and of the one behind it. */
size_t streams_block(const unsigned char *bytes, size_t nr_bytes, unsigned int table, size_t *end);

/* Rows of a table as the reader has them. */
uint64_t streams_rows(struct stream *stream, unsigned int table);

#endif
