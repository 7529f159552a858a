/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file: opened, checked, every view printed in every format, and the timeline written. */
#include <stdlib.h>

#include "report/html_timeline.h"
#include "report/nsys.h"
#include "report/pftrace.h"
#include "report/timeline.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_input.h"

static void ignore_bad(
	void *context, const char *column, uint64_t offset, enum decode_status status)
{
	(void)context;
	(void)column;
	(void)offset;
	(void)status;
}

/* All reports, with the arguments that some have. */
static void print_reports(const struct cmd_input *input)
{
	struct summary summary = {
		.asked.table = {.is_wide = true, .format = TABLE_CSV}, .style = &style_nsys};
	struct buf out;

	for (const struct nsys_report *report = nsys_reports; report->name; report++) {
		nsys_take(&summary, report->name);
	}
	nsys_take(&summary, "cuda_gpu_kern_gb_sum:nvtx-name:base,cuda_gpu_trace:mangled");
	buf_init(&out, fuzz_input_drop, NULL);
	style_nsys.print(&summary, input, &out);
	buf_fini(&out);
	free(summary.reports);
}

static void write_timelines(const struct cmd_input *input)
{
	struct buf out;

	buf_init(&out, fuzz_input_drop, NULL);
	timeline_write(input->processes, input->nr_processes, NULL, "fuzz.json", &out);
	pftrace_write(input->processes, input->nr_processes, NULL, &out);
	/* Room for all slices, and for so few that most are sums. */
	html_timeline_write(input, HTML_TIMELINE_BYTES, &out);
	html_timeline_write(input, 2000, &out);
	buf_fini(&out);
}

static void print_all(struct cmd_input *input)
{
	for (size_t i = 0; summary_styles[i]; i++) {
		for (int format = TABLE_TEXT_FORMAT; format <= TABLE_MARKDOWN; format++) {
			if (summary_styles[i]->formats & 1u << format) {
				fuzz_input_print(
					input, summary_styles[i], (enum table_format)format);
			}
		}
	}
	print_reports(input);
	write_timelines(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	fuzz_input_read(bytes, nr_bytes, ignore_bad, print_all);
	return 0;
}
