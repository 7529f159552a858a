/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that all commands have that read streams: which processes, steps and windows, what
 * tables look like, where output goes. A command lists these options beside its own and hands what
 * it does not know itself to common_options_take().
 */
#ifndef REPORT_SESSION_COMMON_OPTIONS_H
#define REPORT_SESSION_COMMON_OPTIONS_H

#include <getopt.h>

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

/* Their letters, for getopt_long(); a command's own options have others. */
#define COMMON_OPTIONS_SELECTION_LETTERS "p:r:mo:h"
#define COMMON_OPTIONS_TABLE_LETTERS	 "f:t:u:w"

/* Options for what is read, and for where output goes. */
/* clang-format off */
#define COMMON_OPTIONS_RUN_OPTION {"run", required_argument, NULL, 'N'}

#define COMMON_OPTIONS_SELECTION_OPTIONS                     \
	COMMON_OPTIONS_RUN_OPTION,                           \
	{"pid", required_argument, NULL, 'p'},      \
	{"rank", required_argument, NULL, 'r'},     \
	{"steps", required_argument, NULL, 'S'},    \
	{"window", required_argument, NULL, 'W'},   \
	{"mangled", no_argument, NULL, 'm'},        \
	{"output", required_argument, NULL, 'o'},   \
	{"help", no_argument, NULL, 'h'}

#define COMMON_OPTIONS_TOP_OPTION {"top", required_argument, NULL, 't'}

#define COMMON_OPTIONS_TABLE_OPTIONS                         \
	{"format", required_argument, NULL, 'f'},   \
	COMMON_OPTIONS_TOP_OPTION,                           \
	{"unit", required_argument, NULL, 'u'},     \
	{"wide", no_argument, NULL, 'w'},           \
	{"color", required_argument, NULL, 'c'}
/* clang-format on */

/* Their lines in a usage. */
#define COMMON_OPTIONS_RUN_USAGE                                                               \
	"  --run N                read these runs of a folder: 2, 1-3, -2 for the last two,\n" \
	"                         an ID, or all (default: the newest)\n"

#define COMMON_OPTIONS_SELECTION_USAGE                                                      \
	COMMON_OPTIONS_RUN_USAGE                                                            \
	"  --pid N, --rank N      read only these processes or ranks: 0,3-5,8-\n"           \
	"  --steps N              read only these steps: 3-7, 9-, or -2 for the last two\n" \
	"  --window N             read only these record windows of the schedule\n"         \
	"  --mangled              print C++ names as in the binary\n"

#define COMMON_OPTIONS_TABLE_USAGE                                                               \
	"  --format FORMAT        text (default), csv, json, markdown\n"                         \
	"  --top N                rows per table (default: 15 in text and markdown, 10 on the\n" \
	"                         first screen, else all; 0: all)\n"                             \
	"  --unit UNIT            unit of times: auto (default), s, ms, us, ns\n"                \
	"  --wide                 print all columns and full names\n"                            \
	"  --color WHEN           colours and bars: auto (default: on a terminal), always,\n"    \
	"                         never\n"

/* As struct command's `values`, of the options above. */
void common_options_values(
	const char *option, void (*add)(void *context, const char *word), void *context);

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
