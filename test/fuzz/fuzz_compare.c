/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole file for the commands that are no tables of it: a summary by `reduce`, a comparison (with
 * itself), the page of either, rows for other programs.
 */
#include <stdlib.h>

#include "report/diff/diff.h"
#include "report/cli/export.h"
#include "report/html/html.h"
#include "report/html/timeline_data.h"
#include "report/reduce/reduced.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/fuzz_input.h"

static void write_page(const struct html_options *ask, const struct cmd_input *input)
{
	struct buf out;

	buf_init(&out, fuzz_input_drop, NULL);
	html_write(ask, input, &out);
	buf_fini(&out);
}

static void reduce(const struct cmd_input *input)
{
	const struct cmd_input none = {0};
	struct reduced reduced = {0};

	reduce_process(&reduced, input->processes[0]);
	fuzz_input_reduced_written(&reduced);
	fuzz_input_print_reduced(&reduced);
	write_page(&(struct html_options){.reduced = &reduced, .top = 10}, &none);
	reduced_fini(&reduced);
}

static void compare(const struct cmd_input *input)
{
	const struct cmd_input *const inputs[] = {input, input};
	char name[] = "fuzz", *paths[] = {name, name};
	struct diff diff = {0};

	diff_run(&diff, inputs, paths, UINT32_MAX);
	write_page(&(struct html_options){.diff = &diff, .other = input, .top = 10}, input);
	diff_fini(&diff);
}

static void try_all(struct cmd_input *input, uint32_t choice)
{
	switch (choice % 4) {
	case 0:
		reduce(input);
		break;
	case 1:
		compare(input);
		break;
	case 2:
		if (export_has_sqlite()) {
			export_sqlite(":memory:", input->processes, input->nr_processes);
		}
		break;
	default:
		write_page(&(struct html_options){.timeline_bytes = HTML_TIMELINE_BYTES, .top = 10},
			input);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	fuzz_input_read(bytes, nr_bytes, fuzz_input_ignore_bad, try_all);
	return 0;
}
