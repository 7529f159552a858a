/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file: opened, checked, every view printed in every format, and the timeline written. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/nsys.h"
#include "report/pftrace.h"
#include "report/summary.h"
#include "report/timeline.h"
#include "test/fuzz/fuzz.h"

static void ignore_bad(
	void *context, const char *column, uint64_t offset, enum decode_status status)
{
	(void)context;
	(void)column;
	(void)offset;
	(void)status;
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
	struct summary summary = {.asked.table.is_wide = true};
	struct buf out;

	for (size_t i = 0; view_classes[i]; i++) {
		summary.views[summary.nr_views++] = view_classes[i];
	}
	for (size_t i = 0; summary_styles[i]; i++) {
		summary.style = summary_styles[i];
		for (int format = TABLE_TEXT_FORMAT; format <= TABLE_MARKDOWN; format++) {
			if (summary.style->formats & 1u << format) {
				summary.asked.table.format = (enum table_format)format;
				buf_init(&out, throw_away, NULL);
				summary.style->print(&summary, input, &out);
				buf_fini(&out);
			}
		}
	}
	/* All reports, with the arguments that some have. */
	for (const struct nsys_report *report = nsys_reports; report->name; report++) {
		nsys_take(&summary, report->name);
	}
	nsys_take(&summary, "cuda_gpu_kern_gb_sum:nvtx-name:base,cuda_gpu_trace:mangled");
	summary.style = &style_nsys;
	summary.asked.table.format = TABLE_CSV;
	buf_init(&out, throw_away, NULL);
	style_nsys.print(&summary, input, &out);
	buf_fini(&out);
	free(summary.reports);
	buf_init(&out, throw_away, NULL);
	timeline_write(input->processes, input->nr_processes, NULL, "fuzz.json", &out);
	pftrace_write(input->processes, input->nr_processes, NULL, &out);
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
		for (size_t i = 0; i < stream->nr_blocks; i++) {
			stream_in_verify(stream, i, ignore_bad, NULL);
		}
		print_all(&input);
		process_destroy(process);
	}
	close(fd);
	return 0;
}
