/* SPDX-License-Identifier: Apache-2.0 */
/* For stream_in.c: finds the blocks of a file and learns its schema. */
#ifndef REPORT_STREAM_INDEX_H
#define REPORT_STREAM_INDEX_H

#include "report/stream_in.h"

/* Opens stream->path, checks the header, fills blocks and damages. 0, or negative with err_set. */
int stream_index_open(struct stream_in *stream);

/* Reads the schema blocks and maps tables and columns to ours by name. Needs the reader. */
void stream_index_schema(struct stream_in *stream);

/* Counts blocks, rows and bytes per table anew; after blocks were added or left out. */
void stream_index_count(struct stream_in *stream);

#endif
