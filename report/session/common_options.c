/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the options that commands share into a struct common_options. common_options_open() is the
 * way from paths to processes: it opens them, aligns the clocks of a job, and selects steps and
 * windows.
 */
#include "report/session/common_options.h"

#include <string.h>

#include "report/comm/job_clock.h"
#include "report/ops/loop.h"
#include "report/session/options.h"
#include "report/session/run_choice.h"
#include "report/model/device_clock.h"
#include "report/model/time_axis.h"

#define USUAL_TOP 15u

const char *const common_options_runs[] = {RUN_CHOICE_ALL, NULL};
const char *const common_options_formats[] = {"text", "csv", "json", "markdown", NULL};
const char *const common_options_units[] = {"auto", "s", "ms", "us", "ns", NULL};

static int take_numbers(
	struct common_options *asked, const char *option, struct numbers *numbers, bool has_last)
{
	if (!numbers_parse(numbers, optarg, has_last)) {
		return cmd_usage(asked->command, "invalid numbers '%s' for %s; examples: %s",
			optarg, option, has_last ? "3-7, 9-, -2" : "0,3-5");
	}
	return 0;
}

static int take_word(
	struct common_options *asked, const char *const *words, const char *option, int *choice)
{
	return options_choose(optarg, words, choice)
		       ? 0
		       : options_unknown_word(asked->command, option, optarg, words);
}

static int take_run(struct common_options *asked)
{
	if (!run_choice_is_valid(optarg)) {
		return cmd_usage(asked->command,
			"invalid run '%s' for --run; examples: 2, 1-3, -2, all", optarg);
	}
	if (!asked->filter.run) {
		asked->filter.run = optarg;
	} else if (asked->takes_two_runs && !asked->other_run) {
		asked->other_run = optarg;
	} else {
		return cmd_usage(asked->command,
			"--run is there once, twice in diff and html; runs together: --run 1,2");
	}
	return 0;
}

static int take_top(struct common_options *asked)
{
	uint64_t number;

	if (!cmd_number(optarg, INT32_MAX, &number)) {
		return cmd_usage(asked->command, "--top takes a number, not '%s'", optarg);
	}
	asked->top = (size_t)number;
	return 0;
}

int common_options_take(struct common_options *asked, int option)
{
	int status, choice = 0;

	switch (option) {
	case 'p':
		return take_numbers(asked, "--pid", &asked->filter.pids, false);
	case 'r':
		return take_numbers(asked, "--rank", &asked->filter.ranks, false);
	case 'N':
		return take_run(asked);
	case 'S':
		return take_numbers(asked, "--steps", &asked->select.steps, true);
	case 'W':
		return take_numbers(asked, "--window", &asked->select.windows, false);
	case 'm':
		string_pool_show_mangled(true);
		return 0;
	case 'o':
		asked->output = optarg;
		return 0;
	case 'h':
		cmd_print_usage(asked->command);
		return COMMON_OPTIONS_HELP;
	case 'f':
		status = take_word(asked, common_options_formats, "--format", &choice);
		asked->table.format = (enum table_format)choice;
		return status;
	case 't':
		return take_top(asked);
	case 'u':
		status = take_word(asked, common_options_units, "--unit", &choice);
		asked->table.unit = choice ? common_options_units[choice] : NULL;
		return status;
	case 'w':
		asked->table.is_wide = true;
		return 0;
	case 'c':
		status = take_word(asked, terminal_colors, "--color", &choice);
		asked->color = (enum terminal_color)choice;
		return status;
	default:
		return CMD_USAGE; /* options_get has said why */
	}
}

size_t common_options_top(const struct common_options *asked)
{
	bool is_read_by_people =
		asked->table.format == TABLE_TEXT_FORMAT || asked->table.format == TABLE_MARKDOWN;

	if (asked->top != COMMON_OPTIONS_NO_TOP) {
		return asked->top;
	}
	return is_read_by_people ? USUAL_TOP : 0;
}

/*
 * Clocks are aligned first, then steps are found, then the common axis: a selection needs all of
 * them.
 */
enum cmd_exit common_options_open(const struct common_options *asked, struct cmd_input *input,
	char *const *paths, int nr_paths)
{
	enum cmd_exit status = cmd_open(input, paths, nr_paths, &asked->filter);
	struct buf why = {0};

	if (!status) {
		job_clock_align(input->processes, input->nr_processes);
		for (size_t i = 0; i < input->nr_processes; i++) {
			device_clock_keep_durations(input->processes[i]);
			loop_begin_steps(input->processes[i]);
		}
		time_axis_set(input->processes, input->nr_processes);
	}
	if (!status && !select_all(input->processes, input->nr_processes, &asked->select, &why)) {
		if (nr_paths == 1) {
			cmd_usage(asked->command, "'%s': %.*s", paths[0], (int)why.nr_bytes,
				why.bytes);
		} else {
			cmd_usage(asked->command, "%.*s", (int)why.nr_bytes, why.bytes);
		}
		status = CMD_USAGE;
	}
	buf_fini(&why);
	return status;
}

void common_options_close(struct cmd_input *input)
{
	select_drop_all(input->processes, input->nr_processes);
	cmd_close(input);
}

void common_options_fini(struct common_options *asked)
{
	cmd_filter_fini(&asked->filter);
	numbers_fini(&asked->select.steps);
	numbers_fini(&asked->select.windows);
}
