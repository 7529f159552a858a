/* SPDX-License-Identifier: Apache-2.0 */
/* A trace: read, checked as a stream must be, and every view of it printed. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/summary.h"
#include "test/fuzz/fuzz.h"

static void must_be_good(
	void *context, const char *column, uint64_t offset, enum decode_status status)
{
	(void)context;
	(void)offset;
	fprintf(stderr, "column %s: %s\n", column, decode_status_text(status));
	abort(); /* we wrote it */
}

static int throw_away(void *context, const char *bytes, size_t nr_bytes)
{
	(void)context;
	(void)bytes;
	(void)nr_bytes;
	return 0;
}

static void print_all(struct cmd_input *input)
{
	struct summary summary = {.table = {.is_wide = true}};
	struct buf out;

	for (size_t i = 0; view_classes[i]; i++) {
		summary.views[summary.nr_views++] = view_classes[i];
	}
	summary.style = summary_styles[0];
	buf_init(&out, throw_away, NULL);
	summary.style->print(&summary, input, &out);
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct cmd_input input = {.nr_processes = 1};
	struct stream_in *stream;
	struct process *process;
	char path[64];

	if (fd < 0 || write(fd, bytes, nr_bytes) != (ssize_t)nr_bytes) {
		abort();
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!stream_in_open(&stream, path)) {
		process = process_create(stream);
		input.processes = &process;
		for (size_t i = 0; stream->is_trace && i < stream->nr_blocks; i++) {
			stream_in_verify(stream, i, must_be_good, NULL);
		}
		print_all(&input);
		process_destroy(process);
	}
	close(fd);
	return 0;
}
