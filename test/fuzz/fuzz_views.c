/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file: opened, checked, and every view and report printed. */
#include <stdlib.h>

#include "report/sql/nsys_query.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_input.h"

/* All reports, with the arguments that some have. */
static void print_reports(const struct cmd_input *input)
{
	struct summary summary = {.asked.table = {.is_wide = true, .format = TABLE_CSV},
		.style = &style_nsys,
		.query = nsys_query_table};
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

/*
 * One view after the other, in one style and format, which the input itself chooses: all of them
 * would take a hundred times as long.
 */
static void print_all(struct cmd_input *input, uint32_t choice)
{
	const struct summary_style *style;
	unsigned int nr_styles = 0;
	enum table_format format = (enum table_format)(choice % (TABLE_MARKDOWN + 1));

	while (summary_styles[nr_styles]) {
		nr_styles++;
	}
	style = summary_styles[choice / 16 % nr_styles];
	fuzz_input_print(input, summary_styles[0], format);
	if (style->formats & 1u << format) {
		fuzz_input_print(input, style, format);
	}
	if (choice / 1024 % 4 == 0) {
		print_reports(input);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	fuzz_input_read(bytes, nr_bytes, fuzz_input_ignore_bad, print_all);
	return 0;
}
