/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `summary`, which is the default: turns options into a struct summary (views, style,
 * order), opens the streams and lets the style print. Other commands that print views call
 * summary_run() with a request of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/styles/nsys_reports.h"
#include "report/session/options.h"
#include "report/stream/dumpdir.h"
#include "report/reduce/reduced.h"
#include "report/session/summary.h"
#include "report/session/view_list.h"
#include "report/sql/database.h"
#include "report/sql/nsys_query.h"
#include "report/timeline/timeline.h"
#include "report/util/text.h"

/* Rows of each table of the first screen. */
#define FIRST_ROWS 10u

static const char openmetrics[] = "openmetrics";
static const char *const own_formats[] = {openmetrics, NULL};
static const char *const details[] = {"default", "op", "all", NULL};
static const char *const states[] = {"all", "cpu", "gpu", NULL}; /* enum view_times */

/* Monitoring keeps every combination of labels, so kernels and operators are on request. */
static void take_monitored_views(struct summary *summary)
{
	static const char *const names[] = {"headline", "step-stats", "device"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		summary->views[summary->nr_views++] = view_find(names[i], strlen(names[i]));
	}
}

static void take_default_views(struct summary *summary)
{
	if (summary->asked.table.format == TABLE_OPENMETRICS) {
		take_monitored_views(summary);
		return;
	}
	summary->is_default = true;
	for (size_t i = 0; view_classes[i]; i++) {
		/* For a program all views there are; for a reader those worth a first look. */
		bool is_all = summary->is_all || summary->asked.table.format == TABLE_JSON;

		if (view_classes[i]->is_default || (is_all && !view_classes[i]->is_asked_only)) {
			summary->views[summary->nr_views++] = view_classes[i];
		}
	}
}

static int take_views(struct summary *summary, const char *list)
{
	do {
		size_t length = strcspn(list, ",");
		const struct view_class *view = view_find(list, length);

		if (!view) {
			return options_unknown_value(&cmd_summary, "view", list, length);
		}
		if (summary->nr_views == SUMMARY_VIEWS) {
			return cmd_usage(
				&cmd_summary, "more than %u views", (unsigned int)SUMMARY_VIEWS);
		}
		summary->views[summary->nr_views++] = view;
		list += length + (list[length] == ',');
	} while (*list);
	return 0;
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

static void add_views(void (*add)(void *context, const char *word), void *context)
{
	for (size_t i = 0; view_classes[i]; i++) {
		add(context, view_classes[i]->name);
	}
}

static void add_styles(void (*add)(void *context, const char *word), void *context)
{
	for (size_t i = 0; summary_styles[i]; i++) {
		add(context, summary_styles[i]->name);
	}
}

static void add_reports(void (*add)(void *context, const char *word), void *context)
{
	for (size_t i = 0; nsys_reports[i].name; i++) {
		add(context, nsys_reports[i].name);
	}
}

static void add_sort_keys(void (*add)(void *context, const char *word), void *context)
{
	summary_add_sort_keys(view_classes, add, context);
}

static const struct option_line options[] = {
	OPTION("view", 'v', "NAME[,NAME]...", "print these views, see below", .hidden_letter = 'v',
		.add_words = add_views, .is_list = true),
	OPTION("style", 's', "STYLE", "print the layout of another tool, see below",
		.hidden_letter = 's', .add_words = add_styles),
	OPTION("report", 'R', "NAME[,NAME]", "print reports of `nsys stats`, see below",
		.add_words = add_reports),
	OPTION("sort", 'k', "COLUMN",
		"sort by a column's JSON key (total, calls, avg, name ...)\n"
		"or by Paddle's keys (CPUTotal, GPUMax ...)",
		.hidden_letter = 'k', .add_words = add_sort_keys),
	OPTION("all", 'A', NULL,
		"print all views but those as long as the recording; in advice\n"
		"all rules, also those that no finding has"),
	OPTION("per-thread", 'T', NULL, "list operators and ranges per thread"),
	OPTION("across-ranks", 'O', NULL,
		"compute each view of --view per rank; print minimum, median\n"
		"and maximum of the --sort column, and the ranks that have them"),
	OPTION("detail", 'd', NULL,
		"split rows further: operators by input shapes, ranges by\n"
		"operator",
		.is_joined = true),
	OPTION("detail", 'd', "LEVEL",
		"default; op: nest operators; all: also number them by their\n"
		"place in the step",
		.is_joined = true, .words = details),
	OPTION("state", 'P', "STATE", "times of the view framework: all, cpu or gpu",
		.words = states),
	OPTION("at", 'x', "TIME",
		"the blocks in use at a time since the start (1.2s), or at the\n"
		"end of a step (step=7); with --view memory-blocks"),
	OPTION("format", 'f', openmetrics,
		"print gauges for Prometheus; without --view those of headline,\n"
		"step-stats and device",
		.words = own_formats),
	COMMON_OPTIONS_TABLE,
	COMMON_OPTIONS_SELECTION,
	COMMON_OPTIONS_OUTPUT_OPTION,
	{0},
};

/* The level may stand apart, as other options' values do; a folder of that name is ./op. */
static void take_detail(int argc, char **argv)
{
	int choice;

	if (!optarg && optind < argc && options_choose(argv[optind], details, &choice)) {
		optarg = argv[optind++];
	}
}

/* Some reports are queries. */
static int check_queries(const struct summary *summary)
{
	for (size_t i = 0; i < summary->nr_reports; i++) {
		const struct nsys_report *report = summary->reports[i].report;

		if (report->is_query && !database_is_available()) {
			return cmd_usage(&cmd_summary,
				"the report %s needs SQLite: install libsqlite3-dev and rebuild",
				report->name);
		}
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
		return COMMON_OPTIONS_HELP;
	}
	summary->style = &style_nsys;
	if (nsys_take(summary, optarg)) {
		return check_queries(summary);
	}
	for (const struct nsys_report *report = nsys_reports; report->name; report++) {
		buf_printf(&names, "%s%s", names.nr_bytes ? ", " : "", report->name);
	}
	cmd_usage(&cmd_summary, "unknown report or argument '%s'; reports are %.*s", optarg,
		(int)names.nr_bytes, names.bytes);
	buf_fini(&names);
	return CMD_USAGE;
}

/* Paddle writes All, CPU and GPU. */
static int take_state(struct summary *summary)
{
	for (int i = 0; states[i]; i++) {
		if (strcasecmp(optarg, states[i]) == 0) {
			summary->times = (enum view_times)i;
			return 0;
		}
	}
	return options_unknown_word(&cmd_summary, "state", optarg, states);
}

/* "1.2s", "step=7" */
static int take_at(struct summary *summary)
{
	static const char step[] = "step=";
	struct view_at *at = &summary->at;
	char *end;

	at->is_set = true;
	at->is_step = strncmp(optarg, step, sizeof(step) - 1) == 0;
	if (at->is_step) {
		const char *number = optarg + sizeof(step) - 1;

		at->value = strtoull(number, &end, 10);
		if (*number >= '0' && *number <= '9' && !*end) {
			return 0;
		}
	} else if (timeline_parse_time(optarg, &at->value)) {
		return 0;
	}
	return cmd_usage(&cmd_summary,
		"--at %s is neither a time nor a step; examples: 1.2s, step=7", optarg);
}

/* Takes one option. Returns 0, CMD_USAGE after saying why, or COMMON_OPTIONS_HELP when the usage
 * was printed. */
static int take_option(struct summary *summary, int option)
{
	int choice;

	switch (option) {
	case 'v':
		return take_views(summary, optarg);
	case 's':
		return take_style(summary, optarg) ? 0
						   : options_unknown_value(&cmd_summary, "style",
							     optarg, strlen(optarg));
	case 'R':
		return take_reports(summary);
	case 'k':
		summary->sort = optarg;
		return 0;
	case 'O':
		summary->is_across_ranks = true;
		return 0;
	case 'T':
		summary->is_per_thread = true;
		return 0;
	case 'A':
		summary->is_all = true;
		return 0;
	case 'P':
		return take_state(summary);
	case 'x':
		return take_at(summary);
	case 'f': /* the other formats are those of all commands */
		if (!strcmp(optarg, openmetrics)) {
			summary->asked.table.format = TABLE_OPENMETRICS;
			return 0;
		}
		return common_options_take(&summary->asked, option);
	case 'd':
		summary->is_detailed = !optarg;
		summary->has_detail = optarg != NULL;
		if (optarg && !options_choose(optarg, details, &choice)) {
			return options_unknown_word(&cmd_summary, "detail", optarg, details);
		}
		summary->detail = optarg ? (enum view_detail)choice : VIEW_DETAIL_DEFAULT;
		return 0;
	default:
		return common_options_take(&summary->asked, option);
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

static bool has_view(const struct summary *summary, const struct view_class *class)
{
	for (size_t i = 0; i < summary->nr_views; i++) {
		if (summary->views[i] == class) {
			return true;
		}
	}
	return false;
}

static int take_options(struct summary *summary, int argc, char **argv)
{
	int option, status;

	while ((option = options_get(&cmd_summary, argc, argv)) >= 0) {
		if (option == 'd') {
			take_detail(argc, argv);
		}
		status = take_option(summary, option);
		if (status) {
			return status;
		}
	}
	if (!(summary->style->formats & 1u << summary->asked.table.format)) {
		return cmd_usage(&cmd_summary, "style %s does not support this --format",
			summary->style->name);
	}
	if (summary->is_across_ranks &&
		(!summary->nr_views || summary->style != summary_styles[0])) {
		return cmd_usage(&cmd_summary,
			"--across-ranks needs --view and works only with the style gprof");
	}
	if (!summary->nr_views) {
		take_default_views(summary);
	}
	if (summary->at.is_set && !has_view(summary, &view_memory_blocks)) {
		return cmd_usage(&cmd_summary, "--at needs --view memory-blocks");
	}
	choose_operators(summary);
	return 0;
}

static void print_views(struct buf *out)
{
	static const char *const names[VIEW_NR_SUBJECTS] = {
		[VIEW_ABOUT_VERDICT] = "What to do",
		[VIEW_ABOUT_STEPS] = "Steps",
		[VIEW_ABOUT_GPU] = "GPU",
		[VIEW_ABOUT_HOST] = "Operators, calls and Python",
		[VIEW_ABOUT_MEMORY] = "Memory",
		[VIEW_ABOUT_DISTRIBUTED] = "Several ranks",
		[VIEW_ABOUT_RECORDING] = "The recording",
	};

	buf_text(out, "\nViews (* shown without --view):\n");
	for (unsigned int subject = 1; subject < VIEW_NR_SUBJECTS; subject++) {
		buf_printf(out, " %s\n", names[subject]);
		for (size_t i = 0; view_classes[i]; i++) {
			const struct view_class *view = view_classes[i];

			if (view->subject == subject) {
				buf_printf(out, "  %-19s %c %s\n", view->name,
					view->is_default ? '*' : ' ', view->help);
			}
		}
	}
}

static void print_lists(struct buf *out)
{
	struct buf reports = {0};

	print_views(out);
	nsys_list(&reports);
	buf_text(out, "\nReports:\n");
	buf_add(out, reports.bytes, reports.nr_bytes);
	buf_fini(&reports);
	buf_printf(out, "\nStyles:\n");
	for (size_t i = 0; summary_styles[i]; i++) {
		buf_printf(out, "  %-16s   %s\n", summary_styles[i]->name, summary_styles[i]->help);
	}
}

/* Layouts of other tools have no room for such a note. */
static void warn_unlaunched(const struct summary *summary, const struct cmd_input *input)
{
	uint64_t nr_lone = 0;

	if (summary->style == summary_styles[0] || !select_is_set(&summary->asked.select)) {
		return;
	}
	for (size_t i = 0; i < input->nr_processes; i++) {
		nr_lone += input->processes[i]->select->nr_no_call;
	}
	if (nr_lone) {
		cmd_error("%llu GPU %s in no step", (unsigned long long)nr_lone,
			text_many(nr_lone, "activity without a recorded launch is",
				"activities without a recorded launch are"));
	}
}

/* Prints what is wrong, with the column that --sort probably meant. */
static int wrong_sort(const struct summary *summary, const char *wrong)
{
	char **keys = summary_sort_keys(summary->views, summary->nr_views);
	struct buf hint = {0};
	int status;

	options_add_closest(&hint, summary->sort, (const char *const *)keys);
	status = cmd_usage(summary->asked.command, "%s: '%s'%s", wrong, summary->sort,
		summary->style == summary_styles[0] ? hint.bytes : "");
	summary_free_sort_keys(keys);
	buf_fini(&hint);
	return status;
}

static int print(const struct summary *summary, const struct cmd_input *input)
{
	struct cmd_output output;
	struct buf out;
	enum cmd_exit losses;
	const char *wrong;
	int status;

	cmd_output_init(&output, &out, summary->asked.output);
	wrong = summary->style->print(summary, input, &out);
	if (!wrong && summary->asked.table.format == TABLE_OPENMETRICS) {
		buf_text(&out, "# EOF\n");
	}
	if (wrong) {
		buf_fini(&out);
		return summary->sort ? wrong_sort(summary, wrong)
				     : cmd_usage(summary->asked.command, "%s", wrong);
	}
	status = cmd_output_end(&output, &out);
	buf_fini(&out);
	warn_unlaunched(summary, input);
	/* Said even if the output could not be written. */
	losses = cmd_warn_inconsistent(input, &summary->asked.filter, cmd_warn_losses(input));
	return status ? status : (int)losses;
}

static void finish(struct summary *summary)
{
	common_options_fini(&summary->asked);
	free(summary->reports);
}

int summary_run(struct summary *summary, char *const *paths, int nr_paths)
{
	struct common_options *asked = &summary->asked;
	struct cmd_input input;
	int status;

	/* The layouts of other tools have all rows. */
	if (asked->top == COMMON_OPTIONS_NO_TOP) {
		asked->top = summary->style == summary_styles[0] ? common_options_top(asked) : 0;
		if (summary->is_default && !summary->is_all && asked->top > FIRST_ROWS) {
			asked->top = FIRST_ROWS;
		}
	}
	terminal_set(&asked->table, asked->output, asked->color);
	if (nr_paths && dumpdir_is_summary(paths[0])) {
		status = summary_of_reduced(summary, paths, nr_paths);
		finish(summary);
		return status;
	}
	status = (int)common_options_open(asked, &input, paths, nr_paths);
	if (!status) {
		status = print(summary, &input);
	}
	common_options_close(&input);
	finish(summary);
	return status;
}

static int run(int argc, char **argv)
{
	struct summary summary = {
		.asked = {.command = &cmd_summary, .top = COMMON_OPTIONS_NO_TOP},
		.style = summary_styles[0],
		.query = nsys_query_table,
	};
	int status = take_options(&summary, argc, argv);

	if (status) {
		finish(&summary);
		return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
	}
	return summary_run(&summary, argv + optind, argc - optind);
}

const struct command cmd_summary = {
	.name = "summary",
	.arguments = "[OPTION]... [PATH]...",
	.help = "print tables of kernels, copies, API calls ... (the default command)",
	.options = options,
	.print_more = print_lists,
	.run = run,
};
