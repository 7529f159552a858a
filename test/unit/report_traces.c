/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/report_traces.h"

#include <string.h>
#include <zlib.h>

#include "test/unit/report_streams.h"
#include "test/unit/unit.h"

const char *traces_write(const char *name, const char *text)
{
	const char *path = streams_path(name);

	streams_write(path, text, strlen(text));
	return path;
}

void traces_gzip(const char *path, const struct buf *text)
{
	gzFile file = gzopen(path, "w1");
	size_t half = text->nr_bytes / 2;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(gzwrite(file, text->bytes, (unsigned int)half), (int)half);
	gzclose(file);
	file = gzopen(path, "a1"); /* a second member */
	ck_assert_int_eq(gzwrite(file, text->bytes + half, (unsigned int)(text->nr_bytes - half)),
		(int)(text->nr_bytes - half));
	gzclose(file);
}

struct process *traces_read(const char *text)
{
	return streams_process(traces_write("a.json", text));
}

void traces_load(const struct process *process, unsigned int table, struct batch *batch)
{
	memset(batch, 0, sizeof(*batch));
	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		if (stream_block_table(process->stream, i) == table) {
			ck_assert_uint_eq(
				stream_load(process->stream, i,
					COL_ALL(schema_table(table)->nr_columns), 0, batch),
				0);
			return;
		}
	}
}

uint64_t traces_rows(const struct process *process, unsigned int table)
{
	return streams_rows(process->stream, table);
}
