/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of a killed process with its rings beside it: how many bytes the stream has (32 bits,
 * little-endian), the stream, the file of the rings. Recovered, checked, and some views printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void print(struct process *process, uint32_t choice)
{
	struct cmd_input input = {.processes = &process, .nr_processes = 1};

	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		stream_in_verify(process->stream, i, fuzz_input_ignore_bad, NULL);
	}
	fuzz_input_print(
		&input, summary_styles[0], (enum table_format)(choice % (TABLE_MARKDOWN + 1)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	struct stream_in *stream;
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
	if (!stream_in_open(&stream, stream_path)) {
		struct process *process = process_create(stream);

		print(process, decode_crc32(bytes, nr_bytes));
		process_destroy(process);
	}
	return 0;
}
