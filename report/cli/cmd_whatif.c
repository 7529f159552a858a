/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `whatif`: `summary` with one view and a list of changes, which the view applies to a
 * replay of the recording.
 */
#include <stdlib.h>
#include <string.h>

#include "report/replay/what_if.h"
#include "report/session/options.h"
#include "report/session/summary.h"

static void add_sort_keys(void (*add)(void *context, const char *word), void *context)
{
	static const struct view_class *const views[] = {&view_what_if, NULL};

	summary_add_sort_keys(views, add, context);
}

static const struct option_line options[] = {
	OPTION("remove", 'X', "NAME", "take out one of the things listed below; repeatable",
		.words = what_if_removals),
	OPTION("scale", 'x', "KIND:REGEX=F",
		"multiply times by F; repeatable. kernel: kernels and copies\n"
		"whose names contain REGEX; op: operators and ranges whose\n"
		"whole name is REGEX, with what they launch"),
	OPTION("sort", 'k', "COLUMN",
		"sort by a column's JSON key (default: what saves most first)",
		.hidden_letter = 'k', .add_words = add_sort_keys),
	OPTION("per-rank", 'R', NULL, "list the ranks of a job below each change"),
	COMMON_OPTIONS_TABLE,
	COMMON_OPTIONS_SELECTION,
	COMMON_OPTIONS_OUTPUT_OPTION,
	{0},
};

static int take_scale(struct what_if *what_if, const char *text)
{
	const char *wrong = what_if_add_scale(what_if, text);

	return wrong ? cmd_usage(&cmd_whatif, "--scale '%s': %s", text, wrong) : 0;
}

static int take_removal(struct what_if *what_if, const char *name)
{
	return what_if_add_removal(what_if, name)
		       ? 0
		       : options_unknown_word(&cmd_whatif, "--remove", name, what_if_removals);
}

static int take_options(struct summary *summary, int argc, char **argv)
{
	int option, status = 0;

	while (!status && (option = options_get(&cmd_whatif, argc, argv)) >= 0) {
		switch (option) {
		case 'x':
			status = take_scale(summary->what_if, optarg);
			break;
		case 'X':
			status = take_removal(summary->what_if, optarg);
			break;
		case 'k':
			summary->sort = optarg;
			break;
		case 'R':
			summary->is_detailed = true;
			break;
		default:
			status = common_options_take(&summary->asked, option);
		}
	}
	return status;
}

static int run(int argc, char **argv)
{
	struct what_if what_if = {0};
	struct summary summary = {
		.asked = {.command = &cmd_whatif, .top = COMMON_OPTIONS_NO_TOP},
		.style = summary_styles[0],
		.views = {&view_what_if},
		.nr_views = 1,
		.what_if = &what_if,
	};
	int status = take_options(&summary, argc, argv);

	if (status) {
		common_options_fini(&summary.asked);
		status = status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
	} else {
		status = summary_run(&summary, argv + optind, argc - optind);
	}
	what_if_fini(&what_if);
	return status;
}

static void print_more(struct buf *out)
{
	buf_text(out, "\nRemovals:\n");
	for (size_t i = 0; what_if_removals[i]; i++) {
		buf_printf(out, "  %-18s %s\n", what_if_removals[i], what_if_assumptions[i]);
	}
}

const struct command cmd_whatif = {
	.name = "whatif",
	.arguments = "[OPTION]... [PATH]...",
	.help = "predict the step time if kernels, operators, copies ... were faster",
	.options = options,
	.print_more = print_more,
	.run = run,
};
