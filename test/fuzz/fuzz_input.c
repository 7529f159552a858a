/* SPDX-License-Identifier: Apache-2.0 */
#include "test/fuzz/fuzz_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/reduce/reduced_view.h"
#include "report/session/importers.h"
#include "report/session/view_list.h"

void fuzz_input_ignore_bad(
	void *stream, const char *column, uint64_t offset, enum decode_status status)
{
	(void)stream;
	(void)column;
	(void)offset;
	(void)status;
}

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
	void (*on_bad)(
		void *stream, const char *column, uint64_t offset, enum decode_status status),
	void (*print)(struct cmd_input *input, uint32_t choice))
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct cmd_input input = {.nr_processes = 1};
	struct stream *stream;
	struct process *process;
	char path[64];

	if (fd < 0 || write(fd, bytes, nr_bytes) != (ssize_t)nr_bytes) {
		abort();
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!stream_open(&stream, path, stream_importers)) {
		process = process_create(stream);
		input.processes = &process;
		for (size_t i = 0; i < stream->nr_blocks; i++) {
			stream_verify(stream, i, on_bad, stream);
		}
		print(&input, decode_crc32(bytes, nr_bytes));
		process_destroy(process);
	}
	close(fd);
}

/* ---- traces of other profilers ---- */

static void must_be_good(
	void *context, const char *column, uint64_t offset, enum decode_status status)
{
	const struct stream *stream = context;

	(void)offset;
	if (stream->is_trace) {
		fprintf(stderr, "column %s: %s\n", column, decode_status_text(status));
		abort(); /* we wrote it */
	}
}

static void print_all(struct cmd_input *input, uint32_t choice)
{
	(void)choice;
	fuzz_input_print(input, summary_styles[0], TABLE_TEXT_FORMAT);
}

void fuzz_input_read_trace(const uint8_t *bytes, size_t nr_bytes)
{
	fuzz_input_read(bytes, nr_bytes, must_be_good, print_all);
}

/* ---- summaries of reduce ---- */

/* Prints it in every format, and destroys it. */
static void print_table(struct table *table)
{
	struct buf out;

	buf_init(&out, fuzz_input_drop, NULL);
	for (int format = TABLE_TEXT_FORMAT; format <= TABLE_MARKDOWN; format++) {
		table_print(table,
			&(struct table_style){.is_wide = true, .format = (enum table_format)format},
			&out);
	}
	buf_fini(&out);
	table_destroy(table);
}

void fuzz_input_print_reduced(struct reduced *reduced)
{
	reduced_sort(reduced);
	print_table(reduced_processes_table(reduced));
	print_table(reduced_every_step_table(reduced, 0));
	for (const struct reduced_view_class *class = reduced_views; class->view; class ++) {
		print_table(class->table(reduced, class->argument));
		print_table(reduced_over_table(reduced, class, class->view->name));
	}
}

void fuzz_input_reduced_written(struct reduced *reduced)
{
	struct buf bytes = {0}, again = {0};
	struct reduced back;

	reduced_write(reduced, &bytes);
	if (reduced_read_bytes(&back, bytes.bytes, bytes.nr_bytes)) {
		abort(); /* we wrote it */
	}
	reduced_write(&back, &again);
	if (bytes.nr_bytes != again.nr_bytes ||
		memcmp(bytes.bytes, again.bytes, again.nr_bytes) != 0) {
		abort();
	}
	reduced_fini(&back);
	buf_fini(&bytes);
	buf_fini(&again);
}
