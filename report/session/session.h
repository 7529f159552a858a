/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of gprof-report, one in each cmd_NAME.c, in one table (cmd_help.c), and what they
 * share: opening the streams that the user names, warnings on stderr about them, and where output
 * goes.
 */
#ifndef REPORT_SESSION_SESSION_H
#define REPORT_SESSION_SESSION_H

#include <stdio.h>

#include "report/util/buf.h"
#include "report/model/model.h"
#include "report/util/numbers.h"
#include "report/util/option_line.h"

enum cmd_exit {
	CMD_GOOD = 0,
	CMD_FAILED = 1, /* nothing could be read, or the output not written */
	CMD_USAGE = 2,
	CMD_INCOMPLETE = 3,   /* done, but data are missing */
	CMD_CONDITION = 4,    /* a condition of the user holds */
	CMD_INCONCLUSIVE = 5, /* nobody can tell whether it does */
};

struct command {
	const char *name;
	const char *arguments; /* "[OPTION]... [PATH]..." */
	const char *help;      /* one line */
	const struct option_line *options;
	void (*print_more)(struct buf *out); /* after the options; NULL: nothing */
	int (*run)(int argc, char **argv);   /* argv[0] is the command; returns enum cmd_exit */
};

extern const struct command cmd_summary, cmd_timeline, cmd_html, cmd_info, cmd_check, cmd_env,
	cmd_help, cmd_diff, cmd_export, cmd_reduce, cmd_completion, cmd_control, cmd_watch, cmd_sql,
	cmd_whatif, cmd_flame, cmd_serve, cmd_runs;

/* All commands, the default first; ends with NULL. */
extern const struct command *const commands[];

/* The command or the view whose name is the closest, NULL if none is close. */
const char *cmd_closest_name(const char *word);

/* Prints "gprof-report: <formatted>" on stderr. */
void cmd_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a usage error with a hint where help is; returns CMD_USAGE. */
int cmd_usage(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Prints lines of help on stdout. Where the terminal is narrower, they wrap below their last
 * column, with the lines that go on below them.
 */
void cmd_print_help(const struct buf *text);

/* Prints the usage of a command on stdout; returns CMD_GOOD. */
int cmd_print_usage(const struct command *command);

struct cmd_input {
	struct process **processes; /* by rank, then host, then pid */
	size_t nr_processes, capacity;
	size_t nr_runs;	      /* in what was named, also those that were not chosen */
	enum cmd_exit status; /* GOOD, or INCOMPLETE if a path could not be read at all */
};

/* The processes that are wanted; an empty list means any. Starts with all zeros. */
struct cmd_filter {
	struct numbers pids, ranks;
	const char *run; /* as run_choice_make takes it; NULL: the newest of each folder */
};

void cmd_filter_fini(struct cmd_filter *filter);

/*
 * Opens what the arguments name; without any, the directory of GPROF_DIR or gprof-dump. Says on
 * stderr what cannot be read, and which runs are left out. filter NULL: all processes of all runs.
 * Returns GOOD, or FAILED if there is nothing to work on, nor to close.
 */
enum cmd_exit cmd_open(
	struct cmd_input *input, char *const *paths, int nr_paths, const struct cmd_filter *filter);
void cmd_close(struct cmd_input *input);

/* Errors are not printed any more, or again: for input that is opened once more. */
void cmd_mute(bool is_on);

/*
 * Warns of what is missing or damaged in each process. Returns the exit status: that of the
 * input, or INCOMPLETE. Call it after the work, since damage in columns is found by reading.
 */
enum cmd_exit cmd_warn_losses(const struct cmd_input *input);

/* The destination of a buffer while it fills: a file, made with the first bytes, or stdout. */
struct cmd_output {
	const char *path; /* NULL or "-": stdout */
	FILE *file;
	int error; /* -errno */
};

/* The buffer empties itself into it as it fills, see buf.h. */
void cmd_output_init(struct cmd_output *output, struct buf *buf, const char *path);

/* Writes the rest. Returns GOOD, or FAILED after saying why. */
enum cmd_exit cmd_output_end(struct cmd_output *output, struct buf *buf);

/*
 * Warns of what sanity.h finds about the processes. Returns `status`, or INCOMPLETE instead of
 * GOOD.
 */
enum cmd_exit cmd_warn_inconsistent(
	const struct cmd_input *input, const struct cmd_filter *filter, enum cmd_exit status);

/* Writes the buffer to a file, or to stdout if path is NULL or "-". Returns GOOD or FAILED. */
enum cmd_exit cmd_write(const char *path, const struct buf *out);

/* Says on stdout that the file is there and, unless NULL, what it has; nothing of stdout itself. */
void cmd_wrote(const char *path, const char *what);

/* A number option: true if `text` is a whole number within 0 to most. */
bool cmd_number(const char *text, uint64_t most, uint64_t *value);

/* Parses a size such as 500k, 2M, 1G (powers of 1,000) or a number of bytes; false if it is none.
 */
bool cmd_size(const char *text, uint64_t *bytes);

#endif
