/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of a killed process with its rings beside it: how many bytes the stream has (32 bits,
 * little-endian), the stream, the file of the rings. Recovered, checked, and every row read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/cli/export.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_input.h"

static char dir[] = "/tmp/gprof-fuzz-XXXXXX";
static char stream_path[sizeof(dir) + sizeof("/fuzz.gprof.part")];
static char rings_path[sizeof(dir) + sizeof("/fuzz.gprof.rings")];

static void clean(void)
{
	unlink(stream_path);
	unlink(rings_path);
	rmdir(dir);
}

static void start(void)
{
	if (!mkdtemp(dir)) {
		abort();
	}
	snprintf(stream_path, sizeof(stream_path), "%s/fuzz.gprof.part", dir);
	snprintf(rings_path, sizeof(rings_path), "%s/fuzz.gprof.rings", dir);
	atexit(clean);
}

static void write_file(const char *name, const uint8_t *bytes, size_t nr_bytes)
{
	FILE *file = fopen(name, "we");

	if (!file || fwrite(bytes, 1, nr_bytes, file) != nr_bytes || fclose(file)) {
		abort();
	}
}

static bool ignore_row(void *context, const struct event_table *table,
	const struct process *process, const struct export_cell *cells)
{
	(void)context;
	(void)table;
	(void)process;
	(void)cells;
	return true;
}

/* Every row of the stream and of the rings; what views make of rows other targets try. */
static void read_all(struct process *process)
{
	const struct export_sink sink = {ignore_row, NULL};

	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		stream_verify(process->stream, i, fuzz_input_ignore_bad, NULL);
	}
	export_run(&process, 1, &sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	struct stream *stream;
	uint32_t length;

	if (nr_bytes < sizeof(length)) {
		return 0;
	}
	memcpy(&length, bytes, sizeof(length));
	if (length > nr_bytes - sizeof(length)) {
		return 0;
	}
	if (!*stream_path) {
		start();
	}
	write_file(stream_path, bytes + sizeof(length), length);
	write_file(rings_path, bytes + sizeof(length) + length, nr_bytes - sizeof(length) - length);
	if (!stream_open(&stream, stream_path, NULL)) {
		struct process *process = process_create(stream);

		read_all(process);
		process_destroy(process);
	}
	return 0;
}
