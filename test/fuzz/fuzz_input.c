/* SPDX-License-Identifier: Apache-2.0 */
#include "test/fuzz/fuzz_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int fuzz_input_drop(void *context, const char *bytes, size_t nr_bytes)
{
	(void)context;
	(void)bytes;
	(void)nr_bytes;
	return 0;
}

void fuzz_input_print(
	const struct cmd_input *input, const struct summary_style *style, enum table_format format)
{
	struct summary summary = {
		.asked.table = {.is_wide = true, .format = format}, .style = style};
	struct buf out;

	for (size_t i = 0; view_classes[i]; i++) {
		summary.views[summary.nr_views++] = view_classes[i];
	}
	buf_init(&out, fuzz_input_drop, NULL);
	style->print(&summary, input, &out);
	buf_fini(&out);
}

void fuzz_input_read(const uint8_t *bytes, size_t nr_bytes,
	void (*tell)(void *stream, const char *column, uint64_t offset, enum decode_status status),
	void (*print)(struct cmd_input *input))
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
		for (size_t i = 0; i < stream->nr_blocks; i++) {
			stream_in_verify(stream, i, tell, stream);
		}
		print(&input);
		process_destroy(process);
	}
	close(fd);
}
