/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that all commands have that read streams: which processes, steps and windows, what
 * tables look like, where output goes. A command lists these options beside its own (option_line.h)
 * and hands what it does not know itself to common_options_take().
 */
#ifndef REPORT_SESSION_COMMON_OPTIONS_H
#define REPORT_SESSION_COMMON_OPTIONS_H

#include "report/session/session.h"
#include "report/model/select.h"
#include "report/table/print.h"

#define COMMON_OPTIONS_NO_TOP SIZE_MAX
#define COMMON_OPTIONS_HELP   (-1)

struct common_options {
	const struct command *command; /* the command that error messages name */
	struct cmd_filter filter;
	bool takes_two_runs;
	const char *other_run; /* the second --run; NULL: there is none */
	struct select_options select;
	struct table_style table;
	enum terminal_color color;
	size_t top;	    /* rows of a table, 0: all; COMMON_OPTIONS_NO_TOP: nothing was said */
	const char *output; /* NULL: nothing was said */
};

/* Values of options, each list ends with NULL. */
extern const char *const common_options_runs[], *const common_options_formats[],
							*const common_options_units[];

/* For a command without those of COMMON_OPTIONS_SELECTION. */
#define COMMON_OPTIONS_HELP_OPTION \
	OPTION("help", 'h', NULL, NULL, .hidden_letter = 'h', .is_hidden = true)

#define COMMON_OPTIONS_RUN(...) OPTION("run", 'N', "N", __VA_ARGS__, .words = common_options_runs)
#define COMMON_OPTIONS_RUN_OPTION                                                        \
	COMMON_OPTIONS_RUN("read these runs of a folder: 2, 1-3, -2 for the last two,\n" \
			   "an ID, or all (default: the newest)")

/* These options choose what is read. */
#define COMMON_OPTIONS_SELECTION                                                              \
	COMMON_OPTIONS_RUN_OPTION, OPTION("pid", 'p', "N", NULL, .hidden_letter = 'p'),       \
		OPTION("rank", 'r', "N", "read only these processes or ranks: 0,3-5,8-",      \
			.hidden_letter = 'r'),                                                \
		OPTION("steps", 'S', "N",                                                     \
			"read only these steps: 3-7, 9-, or -2 for the last two"),            \
		OPTION("window", 'W', "N", "read only these record windows of the schedule"), \
		OPTION("mangled", 'm', NULL, "print C++ names as in the binary",              \
			.hidden_letter = 'm'),                                                \
		COMMON_OPTIONS_HELP_OPTION

#define COMMON_OPTIONS_TOP(...) OPTION("top", 't', "N", __VA_ARGS__, .hidden_letter = 't')

/* These options choose what tables look like. */
#define COMMON_OPTIONS_TABLE                                                                       \
	OPTION("format", 'f', "FORMAT", "text (default), csv, json, markdown",                     \
		.hidden_letter = 'f', .words = common_options_formats),                            \
		COMMON_OPTIONS_TOP("rows per table (default: 15 in text and markdown, 10 on the\n" \
				   "first screen, else all; 0: all)"),                             \
		OPTION("unit", 'u', "UNIT", "unit of times: auto (default), s, ms, us, ns",        \
			.hidden_letter = 'u', .words = common_options_units),                      \
		OPTION("wide", 'w', NULL, "print all columns and full names",                      \
			.hidden_letter = 'w'),                                                     \
		OPTION("color", 'c', "WHEN",                                                       \
			"colours and bars: auto (default: on a terminal), always,\nnever",         \
			.words = terminal_colors)

/* Where output goes. */
#define COMMON_OPTIONS_OUTPUT(...)   OPTION("output", 'o', "FILE", __VA_ARGS__, .letter = 'o')
#define COMMON_OPTIONS_OUTPUT_OPTION COMMON_OPTIONS_OUTPUT("write to FILE instead of stdout")

/*
 * Takes an option with its optarg. Returns 0, CMD_USAGE after saying why (also where nobody knows
 * the option), or COMMON_OPTIONS_HELP when the usage was printed.
 */
int common_options_take(struct common_options *asked, int option);

/* Returns how many rows tables have: those of --top, or 15 where people read them, or all. */
size_t common_options_top(const struct common_options *asked);

/*
 * Opens what the arguments name, as cmd_open(), and makes the choice of steps and windows. Returns
 * CMD_GOOD, or CMD_FAILED or CMD_USAGE after saying why. In any case common_options_close() ends
 * it.
 */
enum cmd_exit common_options_open(const struct common_options *asked, struct cmd_input *input,
	char *const *paths, int nr_paths);
void common_options_close(struct cmd_input *input);

void common_options_fini(struct common_options *asked);

#endif
