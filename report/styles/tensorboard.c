/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of PyTorch's TensorBoard plugin as tables, one set for each process that did something:
 * its columns in its order, times in us. What its formulas get wrong is right here: see
 * breakdown.h, occupancy.h and kernel_class.h; "Unknown" is a third answer about tensor cores.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/analysis/op_average.h"
#include "report/analysis/op_memory.h"
#include "report/styles/tensorboard.h"
#include "report/util/text.h"

/* Also the views that choose them. */
static const char *const page_names[NR_TENSORBOARD_PAGES] = {
	"overview", "operator", "kernel", "memory", "module", "distributed"};

const struct view_class *const tensorboard_sources[NR_TENSORBOARD_SOURCES] = {&view_breakdown,
	&view_gpu_summary, &view_op_average, &view_kernel, &view_kernel_operator, &view_op_memory,
	&view_module, &view_distributed};
static const enum tensorboard_page page_of[NR_TENSORBOARD_SOURCES] = {TENSORBOARD_PAGE_OVERVIEW,
	TENSORBOARD_PAGE_OVERVIEW, TENSORBOARD_PAGE_OPERATOR, TENSORBOARD_PAGE_KERNEL,
	TENSORBOARD_PAGE_KERNEL, TENSORBOARD_PAGE_MEMORY, TENSORBOARD_PAGE_MODULE,
	TENSORBOARD_PAGE_DISTRIBUTED};

void tensorboard_print(struct tensorboard *pages, struct table *table)
{
	struct table_style style = pages->summary->asked.table;

	style.unit = "us";
	if (pages->summary->sort) {
		pages->is_sorted |= table_sort(table, pages->summary->sort);
	}
	table_cut(table, pages->summary->asked.top);
	table_print(table, &style, pages->out);
	table_destroy(table);
}

void tensorboard_set_answer(struct table_cell *cell, const char *text)
{
	char answer[16];

	snprintf(answer, sizeof(answer), "%s", text);
	answer[0] = (char)toupper((unsigned char)answer[0]);
	table_set_string(cell, answer);
}

/* ---- processes ---- */

static bool is_wanted(const struct tensorboard *pages, enum tensorboard_source source)
{
	return pages->is_wanted[page_of[source]] ||
	       (source == TENSORBOARD_AVERAGES && pages->is_wanted[TENSORBOARD_PAGE_DISTRIBUTED]);
}

static void print_process(struct tensorboard *pages, struct process *process)
{
	static void (*const print_pages[NR_TENSORBOARD_PAGES])(struct tensorboard *) = {
		tensorboard_overview, tensorboard_operators, tensorboard_kernels,
		tensorboard_memory, tensorboard_modules, tensorboard_distributed};
	/* By steps, as the plugin's page has it; rows of operators are not taken apart. */
	struct view_input input = {.processes = &process, .nr_processes = 1};
	const struct view_class *classes[NR_TENSORBOARD_SOURCES];
	void *views[NR_TENSORBOARD_SOURCES];
	size_t nr = 0;

	memset(pages->views, 0, sizeof(pages->views));
	for (unsigned int i = 0; i < NR_TENSORBOARD_SOURCES; i++) {
		if (is_wanted(pages, (enum tensorboard_source)i) && i != TENSORBOARD_OVERLAP) {
			classes[nr++] = tensorboard_sources[i];
		}
	}
	view_run(&input, classes, nr, views);
	nr = 0;
	for (unsigned int i = 0; i < NR_TENSORBOARD_SOURCES; i++) {
		if (is_wanted(pages, (enum tensorboard_source)i) && i != TENSORBOARD_OVERLAP) {
			pages->views[i] = views[nr++];
		}
	}
	if (is_wanted(pages, TENSORBOARD_OVERLAP)) {
		input.is_detailed = true;
		view_run(&input, &tensorboard_sources[TENSORBOARD_OVERLAP], 1,
			&pages->views[TENSORBOARD_OVERLAP]);
	}
	for (unsigned int i = 0; i < NR_TENSORBOARD_PAGES; i++) {
		if (pages->is_wanted[i]) {
			print_pages[i](pages);
		}
	}
	for (unsigned int i = 0; i < NR_TENSORBOARD_SOURCES; i++) {
		if (pages->views[i]) {
			view_destroy(tensorboard_sources[i], pages->views[i]);
		}
	}
}

static bool choose_pages(struct tensorboard *pages)
{
	bool is_any = false;

	for (unsigned int i = 0; i < NR_TENSORBOARD_PAGES; i++) {
		pages->is_wanted[i] = pages->summary->is_default;
		for (size_t k = 0; k < pages->summary->nr_views && !pages->is_wanted[i]; k++) {
			const char *view = pages->summary->views[k]->name;

			pages->is_wanted[i] = strcmp(view, page_names[i]) == 0;
		}
		is_any |= pages->is_wanted[i];
	}
	return is_any;
}

static const char *print(
	const struct summary *summary, const struct cmd_input *input, struct buf *out)
{
	struct tensorboard pages = {.summary = summary, .out = out, .is_sorted = !summary->sort};
	const char *why;

	if (!choose_pages(&pages)) {
		buf_text(out,
			"TensorBoard has none of these pages, but overview, operator, kernel, "
			"memory, module, distributed.\n");
		return NULL;
	}
	for (size_t i = 0; i < input->nr_processes; i++) {
		struct process *process = input->processes[i];

		/* Helpers that ran nothing have no pages. */
		if (input->nr_processes > 1 && !op_has_any(process) &&
			!view_has_device_records(process, &why)) {
			continue;
		}
		text_add_shown(out, process_host(process), strlen(process_host(process)), 64);
		buf_printf(out, "_%u\n\n", process->pid);
		print_process(&pages, process);
	}
	return pages.is_sorted ? NULL : "no page has such a column to sort by";
}

const struct summary_style style_tensorboard = {
	.name = "tensorboard",
	.help = "the pages of PyTorch's TensorBoard plugin: --view overview, operator, kernel, "
		"memory, module, distributed",
	.formats = 1u << TABLE_TEXT_FORMAT | 1u << TABLE_CSV | 1u << TABLE_MARKDOWN,
	.print = print,
};
