/* SPDX-License-Identifier: Apache-2.0 */
/* For stream_in.c: what the tables of a stream are, by its own account. */
#ifndef REPORT_STREAM_TABLE_SCHEMA_H
#define REPORT_STREAM_TABLE_SCHEMA_H

#include "report/stream/stream.h"

/* Reads the schema blocks and maps tables and columns to ours by name. Needs the reader. */
void table_schema_read(struct stream *stream);

/* Counts blocks, rows and bytes per table anew; after blocks were added or left out. */
void table_schema_count(struct stream *stream);

#endif
