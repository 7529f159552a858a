/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/nsys.h"
#include "report/options.h"
#include "report/summary.h"

#define USUAL_TOP 15u

const char *const summary_formats[] = {"text", "csv", "json", "markdown", NULL};
const char *const summary_units[] = {"auto", "s", "ms", "us", "ns", NULL};
const char *const summary_details[] = {"default", "op", "all", NULL};

static void take_default_views(struct summary *summary)
{
	summary->is_default = true;
	for (size_t i = 0; view_classes[i]; i++) {
		/* For a program all views there are; for a reader those worth a first look. */
		if (view_classes[i]->is_default ||
			(summary->table.format == TABLE_JSON && !view_classes[i]->is_asked_only)) {
			summary->views[summary->nr_views++] = view_classes[i];
		}
	}
}

static bool take_views(struct summary *summary, const char *list)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		const struct view_class *view = view_find(list, length);

		if (!view || summary->nr_views == SUMMARY_VIEWS) {
			return false;
		}
		summary->views[summary->nr_views++] = view;
		list += length + (list[length] == ',');
	}
	return summary->nr_views > 0;
}

static bool take_style(struct summary *summary, const char *name)
{
	for (size_t i = 0; summary_styles[i]; i++) {
		if (strcmp(summary_styles[i]->name, name) == 0) {
			summary->style = summary_styles[i];
			return true;
		}
	}
	return false;
}

static const struct option options[] = {
	{"view", required_argument, NULL, 'v'},
	{"format", required_argument, NULL, 'f'},
	{"style", required_argument, NULL, 's'},
	{"report", required_argument, NULL, 'R'},
	{"sort", required_argument, NULL, 'k'},
	{"top", required_argument, NULL, 't'},
	{"unit", required_argument, NULL, 'u'},
	{"pid", required_argument, NULL, 'p'},
	{"rank", required_argument, NULL, 'r'},
	{"steps", required_argument, NULL, 'S'},
	{"window", required_argument, NULL, 'W'},
	{"per-thread", no_argument, NULL, 'T'},
	{"detail", optional_argument, NULL, 'd'},
	{"wide", no_argument, NULL, 'w'},
	{"mangled", no_argument, NULL, 'm'},
	{"color", required_argument, NULL, 'c'},
	{"output", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

/* The level may stand apart, as other options' values do; a folder of that name is ./op. */
static void take_detail(int argc, char **argv)
{
	int choice;

	if (!optarg && optind < argc && options_choose(argv[optind], summary_details, &choice)) {
		optarg = argv[optind++];
	}
}

static int take_numbers(struct numbers *numbers, bool has_last)
{
	if (!numbers_parse(numbers, optarg, has_last)) {
		return cmd_usage(&cmd_summary, "not numbers like %s: '%s'",
			has_last ? "3-7, 9- or -2" : "0,3-5", optarg);
	}
	return 0;
}

static int take_reports(struct summary *summary)
{
	struct buf names = {0};

	if (strcmp(optarg, "help") == 0) {
		nsys_list(&names);
		fwrite(names.bytes, 1, names.nr_bytes, stdout);
		buf_fini(&names);
		return -1;
	}
	summary->style = &style_nsys;
	if (nsys_take(summary, optarg)) {
		return 0;
	}
	for (const struct nsys_report *report = nsys_reports; report->name; report++) {
		buf_printf(&names, "%s%s", names.nr_bytes ? ", " : "", report->name);
	}
	cmd_usage(&cmd_summary, "no such report, or it has no such argument: '%s'; there are %.*s",
		optarg, (int)names.nr_bytes, names.bytes);
	buf_fini(&names);
	return CMD_USAGE;
}

/* Takes one option. Returns 0, CMD_USAGE after saying why, or -1 when the usage was printed. */
static int take_option(struct summary *summary, int option)
{
	uint64_t number;
	int choice;

	switch (option) {
	case 'v':
		return take_views(summary, optarg)
			       ? 0
			       : cmd_usage(&cmd_summary, "no such view in '%s'", optarg);
	case 'f':
		if (!options_choose(optarg, summary_formats, &choice)) {
			return cmd_usage(&cmd_summary, "no such format: '%s'", optarg);
		}
		summary->table.format = (enum table_format)choice;
		return 0;
	case 's':
		return take_style(summary, optarg)
			       ? 0
			       : cmd_usage(&cmd_summary, "no such style: '%s'", optarg);
	case 'R':
		return take_reports(summary);
	case 'u':
		if (!options_choose(optarg, summary_units, &choice)) {
			return cmd_usage(&cmd_summary, "no such unit: '%s'", optarg);
		}
		summary->table.unit = choice ? summary_units[choice] : NULL;
		return 0;
	case 't':
		if (!cmd_number(optarg, INT32_MAX, &number)) {
			return cmd_usage(&cmd_summary, "not a number: '%s'", optarg);
		}
		summary->top = (size_t)number;
		return 0;
	case 'p':
		return take_numbers(&summary->filter.pids, false);
	case 'r':
		return take_numbers(&summary->filter.ranks, false);
	case 'S':
		return take_numbers(&summary->ask.steps, true);
	case 'W':
		return take_numbers(&summary->ask.windows, false);
	case 'k':
		summary->sort = optarg;
		return 0;
	case 'T':
		summary->is_per_thread = true;
		return 0;
	case 'd':
		summary->is_detailed = !optarg;
		summary->has_detail = optarg != NULL;
		if (optarg && !options_choose(optarg, summary_details, &choice)) {
			return cmd_usage(&cmd_summary, "no such detail: '%s'", optarg);
		}
		summary->detail = optarg ? (enum view_detail)choice : VIEW_DETAIL_DEFAULT;
		return 0;
	case 'w':
		summary->table.is_wide = true;
		return 0;
	case 'm':
		names_show_mangled(true);
		return 0;
	case 'c':
		if (!options_choose(optarg, terminal_colors, &choice)) {
			return cmd_usage(&cmd_summary, "no such color: '%s'", optarg);
		}
		summary->color = (enum terminal_color)choice;
		return 0;
	case 'o':
		summary->output = optarg;
		return 0;
	case 'h':
		cmd_print_usage(&cmd_summary);
		return -1;
	default:
		return cmd_usage(&cmd_summary, "unknown option, or an option without its value");
	}
}

/* Operators that are taken apart are a table of their own. */
static void choose_operators(struct summary *summary)
{
	for (size_t i = 0; summary->detail != VIEW_DETAIL_DEFAULT && i < summary->nr_views; i++) {
		if (summary->views[i] == &view_operator) {
			summary->views[i] = &view_operator_detail;
		}
	}
}

static int take_options(struct summary *summary, int argc, char **argv)
{
	int option, status;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "v:f:s:k:t:u:p:r:wmo:h", options, NULL)) >= 0) {
		if (option == 'd') {
			take_detail(argc, argv);
		}
		status = take_option(summary, option);
		if (status) {
			return status;
		}
	}
	if (!(summary->style->formats & 1u << summary->table.format)) {
		return cmd_usage(
			&cmd_summary, "the style %s has no such format", summary->style->name);
	}
	if (!summary->nr_views) {
		take_default_views(summary);
	}
	choose_operators(summary);
	return 0;
}

static void print_lists(void)
{
	struct buf reports = {0};

	printf("\nViews (* shown without --view):\n");
	for (size_t i = 0; view_classes[i]; i++) {
		printf("  %-16s %c %s\n", view_classes[i]->name,
			view_classes[i]->is_default ? '*' : ' ', view_classes[i]->help);
	}
	nsys_list(&reports);
	printf("\nReports:\n%.*s", (int)reports.nr_bytes, reports.bytes);
	buf_fini(&reports);
	printf("\nStyles:\n");
	for (size_t i = 0; summary_styles[i]; i++) {
		printf("  %-16s   %s\n", summary_styles[i]->name, summary_styles[i]->help);
	}
}

/* Layouts of other tools have no place for what could not be chosen. */
static void tell_lone(const struct summary *summary, const struct cmd_input *input)
{
	uint64_t nr_lone = 0;

	if (summary->style == summary_styles[0] || !select_is_asked(&summary->ask)) {
		return;
	}
	for (size_t i = 0; i < input->nr_processes; i++) {
		nr_lone += input->processes[i]->select->nr_lone;
	}
	if (nr_lone) {
		cmd_error("%llu records of work have no call in the stream and are in no step",
			(unsigned long long)nr_lone);
	}
}

static int print(const struct summary *summary, const struct cmd_input *input)
{
	struct cmd_output output;
	struct buf out;
	enum cmd_exit losses;
	const char *wrong;
	int status;

	cmd_output_init(&output, &out, summary->output);
	wrong = summary->style->print(summary, input, &out);
	if (wrong) {
		buf_fini(&out);
		return summary->sort ? cmd_usage(&cmd_summary, "%s: '%s'", wrong, summary->sort)
				     : cmd_usage(&cmd_summary, "%s", wrong);
	}
	status = cmd_output_end(&output, &out);
	buf_fini(&out);
	tell_lone(summary, input);
	/* Said even if the output could not be written. */
	losses = cmd_tell_odd(input, &summary->filter, cmd_tell_losses(input));
	return status ? status : (int)losses;
}

static void finish(struct summary *summary)
{
	cmd_filter_fini(&summary->filter);
	numbers_fini(&summary->ask.steps);
	numbers_fini(&summary->ask.windows);
	free(summary->reports);
}

static int run(int argc, char **argv)
{
	struct summary summary = {.style = summary_styles[0], .top = SIZE_MAX};
	struct cmd_input input;
	struct buf why = {0};
	int status = take_options(&summary, argc, argv);

	if (status) {
		finish(&summary);
		return status < 0 ? CMD_GOOD : status;
	}
	if (summary.top == SIZE_MAX) {
		bool is_text = summary.table.format == TABLE_TEXT_FORMAT ||
			       summary.table.format == TABLE_MARKDOWN;

		summary.top = is_text && summary.style == summary_styles[0] ? USUAL_TOP : 0;
	}
	if (cmd_open(&input, argv + optind, argc - optind, &summary.filter)) {
		cmd_close(&input);
		finish(&summary);
		return CMD_FAILED;
	}
	if (!select_all(input.processes, input.nr_processes, &summary.ask, &why)) {
		status = cmd_usage(&cmd_summary, "%.*s", (int)why.nr_bytes, why.bytes);
	} else {
		terminal_set(&summary.table, summary.output, summary.color);
		status = print(&summary, &input);
	}
	select_drop_all(input.processes, input.nr_processes);
	buf_fini(&why);
	cmd_close(&input);
	finish(&summary);
	return status;
}

const struct command cmd_summary = {
	.name = "summary",
	.arguments = "[OPTION]... [PATH]...",
	.help = "tables of kernels, copies, API calls ... (this is the default)",
	.options =
		"  --view NAME[,NAME]...  the tables below that are wanted\n"
		"  --format FORMAT        text (default), csv, json, markdown\n"
		"  --style STYLE          whose layout the tables have, see below\n"
		"  --report NAME[,NAME]   reports of `nsys stats` by their names, see below\n"
		"  --sort COLUMN          by a column's JSON key, as total, calls, avg, max, name; "
		"or by\n"
		"                         Paddle's, as CPUTotal, GPUMax\n"
		"  --top N                rows of a table; 0 is all (text and markdown: 15)\n"
		"  --unit UNIT            of times: auto (default), s, ms, us, ns\n"
		"  --pid N, --rank N      only processes with these ids or ranks: 0,3-5,8-\n"
		"  --steps N              only these steps: 3-7, 9-, or -2, the last two\n"
		"  --window N             only what was recorded in these windows of the schedule\n"
		"  --per-thread           operators of each thread by themselves\n"
		"  --detail               operators by the shapes of their inputs, ranges by "
		"operators\n"
		"  --detail=LEVEL         default, op: operators by what lies in them, all: and by "
		"their\n"
		"                         place in the step\n"
		"  --wide                 all columns, names in full length\n"
		"  --mangled              C++ names as they are in the program\n"
		"  --color WHEN           colours and bars: auto (default, on a terminal), always, "
		"never\n"
		"  -o, --output FILE      not to stdout\n",
	.print_more = print_lists,
	.run = run,
};
