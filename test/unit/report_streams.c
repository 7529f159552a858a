/* SPDX-License-Identifier: Apache-2.0 */
#include "report/session/importers.h"
#include "test/unit/report_streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/err.h"
#include "report/reduce/reduced.h"
#include "test/unit/unit.h"

const char *streams_path(const char *name)
{
	static char paths[8][4200];
	static const char *dir;
	static unsigned int next;
	char *path = paths[next++ % 8];

	dir = dir ? dir : unit_temp_dir();
	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

const char *streams_small(const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);

	gen_small(gen);
	gen_close(gen, "exit");
	return path;
}

const char *streams_ops(const char *name)
{
	const char *path = streams_path(name);
	struct gen *gen = gen_open(path);

	gen_ops(gen);
	gen_close(gen, "exit");
	return path;
}

struct stream *streams_open(const char *path)
{
	struct stream *stream = NULL;

	ck_assert_msg(!stream_open(&stream, path, stream_importers), "%s: %s", path, err_text());
	return stream;
}

struct process *streams_process(const char *path)
{
	return process_create(streams_open(path));
}

struct reduced streams_reduced(const char *path)
{
	struct process *process = streams_process(path);
	struct reduced reduced = {0};

	reduce_process(&reduced, process);
	process_destroy(process);
	return reduced;
}

unsigned char *streams_read(const char *path, size_t *nr_bytes)
{
	FILE *file = fopen(path, "r");
	unsigned char *bytes = malloc(1u << 22);

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(bytes);
	*nr_bytes = fread(bytes, 1, 1u << 22, file);
	fclose(file);
	return bytes;
}

void streams_write(const char *path, const void *bytes, size_t nr_bytes)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, nr_bytes, file), nr_bytes);
	fclose(file);
}

size_t streams_block(const unsigned char *bytes, size_t nr_bytes, unsigned int table, size_t *end)
{
	size_t at = sizeof(struct gprof_file_header);

	while (at < nr_bytes) {
		struct gprof_block_header header;

		memcpy(&header, bytes + at, sizeof(header));
		*end = at + sizeof(header) + header.payload_bytes +
		       header.nr_columns * sizeof(struct gprof_column_entry);
		*end = (*end + GPROF_ALIGN - 1) / GPROF_ALIGN * GPROF_ALIGN;
		if (header.table == table) {
			return at;
		}
		at = *end;
	}
	ck_abort_msg("no block of that table");
	return 0;
}

uint64_t streams_rows(struct stream *stream, unsigned int table)
{
	const struct stream_table *found = stream_table(stream, table);

	return found ? found->nr_rows : 0;
}
