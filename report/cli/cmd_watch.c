/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a running job: a line now and then, the summary of each record window as it closes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/session/options.h"
#include "report/session/common_options.h"
#include "report/session/session.h"
#include "report/util/err.h"
#include "report/util/files.h"
#include "report/cli/watch.h"

#define USUAL_MS	   2000u
#define MIN_MS		   10u
#define MAX_MS		   3600000u
#define MAX_HANG_TIMEOUT_S 1000000u

struct options {
	const char *metrics, *command;
	char *dir;
	uint64_t interval_ms, hang_timeout_s; /* hang_timeout_s 0: not reported */
	bool is_once;
};

static const struct option_line lines[] = {
	OPTION("metrics", 'm', "FILE", "write all numbers for Prometheus's node exporter"),
	OPTION("exec", 'e', "CMD",
		"run CMD in a shell after each window, with GPROF_WATCH_DIR\n"
		"and GPROF_WATCH_WINDOW set"),
	OPTION("hang-timeout-s", 's', "N",
		"print the view missing-collectives when no step ends for\n"
		"N seconds"),
	OPTION("interval-ms", 'i', "N", "update interval, 10 to 3600000 (default: 2000)"),
	OPTION("once", '1', NULL, "print one line, write the metrics, and exit"),
	COMMON_OPTIONS_HELP_OPTION,
	{0},
};

/* Returns 0, CMD_USAGE after saying why, or COMMON_OPTIONS_HELP when the usage was printed. */
static int take_options(struct options *options, int argc, char **argv)
{
	int option;

	while ((option = options_get(&cmd_watch, argc, argv)) >= 0) {
		if (option == 'm') {
			options->metrics = optarg;
		} else if (option == 'e') {
			options->command = optarg;
		} else if (option == '1') {
			options->is_once = true;
		} else if (option == 'h') {
			cmd_print_usage(&cmd_watch);
			return COMMON_OPTIONS_HELP;
		} else if (option == 's') {
			if (!cmd_number(optarg, MAX_HANG_TIMEOUT_S, &options->hang_timeout_s)) {
				return cmd_usage(&cmd_watch,
					"--hang-timeout-s takes 0 to %u, not '%s'",
					MAX_HANG_TIMEOUT_S, optarg);
			}
		} else if (option != 'i') {
			return CMD_USAGE; /* options_get has said why */
		} else if (!cmd_number(optarg, MAX_MS, &options->interval_ms) ||
			   options->interval_ms < MIN_MS) {
			return cmd_usage(&cmd_watch, "--interval-ms takes %u to %u, not '%s'",
				MIN_MS, MAX_MS, optarg);
		}
	}
	if (argc - optind > 1) {
		return cmd_usage(&cmd_watch, "watch takes one directory");
	}
	options->dir = optind < argc ? argv[optind] : NULL;
	return 0;
}

/* ---- what is shown ---- */

/* On a terminal the line is written over; elsewhere there is one after the other. */
static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static void print_line(const struct watch *watch, bool is_last)
{
	bool is_over = is_terminal();
	struct buf line = {0};
	time_t now = time(NULL);
	struct tm local;
	char clock[16] = "";

	if (localtime_r(&now, &local)) {
		strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	}
	watch_add_line(&line, watch);
	printf("%s%s %.*s%s%s", is_over ? "\r" : "", clock, (int)line.nr_bytes, line.bytes,
		is_over ? "\033[K" : "", is_over && !is_last ? "" : "\n");
	fflush(stdout);
	buf_fini(&line);
}

static enum cmd_exit write_metrics(const struct watch *watch, const char *path)
{
	struct buf out = {0};
	int rc;

	watch_add_metrics(&out, watch);
	rc = replace_file(path, out.bytes, out.nr_bytes);
	buf_fini(&out);
	if (rc) {
		cmd_error("cannot write '%s': %s", path, strerror(-rc));
	}
	return rc ? CMD_FAILED : CMD_GOOD;
}

/* ---- windows ---- */

/* The same tables as later, by the same command. */
static enum cmd_exit run_summary(const char *dir, char *option, char *value)
{
	/* The newest run, and no word about others. */
	char command[] = "summary", run[] = "--run=-1", *path = mem_text(dir);
	char *arguments[] = {command, option, value, run, path, NULL};
	enum cmd_exit rc;

	optind = 0; /* getopt starts anew */
	rc = (enum cmd_exit)cmd_summary.run(5, arguments);
	free(path);
	return rc;
}

static enum cmd_exit print_tables(const char *dir, const char *title, char *option, char *value)
{
	enum cmd_exit rc;

	printf("%s%s\n\n", is_terminal() ? "\r\033[K" : "", title);
	rc = run_summary(dir, option, value);
	printf("\n");
	fflush(stdout);
	return rc == CMD_INCOMPLETE ? CMD_GOOD
				    : rc; /* reported already; the job is still running */
}

/* The first lines of the whole run; stderr says what is missing. */
static enum cmd_exit print_headline(const char *dir)
{
	char option[] = "--view", view[] = "headline";
	enum cmd_exit rc;

	printf("\n");
	rc = run_summary(dir, option, view);
	fflush(stdout);
	return rc;
}

static enum cmd_exit print_window(const char *dir, uint32_t number)
{
	char option[] = "--window", window[16], title[32];

	snprintf(window, sizeof(window), "%" PRIu32, number);
	snprintf(title, sizeof(title), "Window %s", window);
	return print_tables(dir, title, option, window);
}

/* Once for each time that no step ends within --hang-timeout-s. */
static enum cmd_exit print_hang(struct watch *watch, const struct options *options)
{
	char option[] = "--view", view[] = "missing-collectives", title[64];
	uint64_t now = watch_now_ns();

	if (!options->hang_timeout_s || watch_is_over(watch) || watch->hang_ns == watch->moved_ns ||
		now - watch->moved_ns < options->hang_timeout_s * 1000000000u) {
		return CMD_GOOD;
	}
	watch->hang_ns = watch->moved_ns;
	snprintf(title, sizeof(title), "Hang: no step has ended for %" PRIu64 " s",
		(now - watch->moved_ns) / 1000000000u);
	return print_tables(options->dir, title, option, view);
}

/* Hangs that the recorders of the processes found. */
static enum cmd_exit print_recorded_hangs(struct watch *watch, const struct options *options)
{
	char option[] = "--view", views[] = "hang,missing-collectives";
	enum cmd_exit rc = CMD_GOOD;
	struct buf who = {0};

	if (watch_next_recovered(watch, &who)) {
		printf("%sResumed after a hang: %.*s\n", is_terminal() ? "\r\033[K" : "",
			(int)who.nr_bytes, who.bytes);
		fflush(stdout);
	}
	buf_fini(&who);
	buf_text(&who, "Hang of ");
	if (watch_next_hangs(watch, &who)) {
		buf_char(&who, '\0');
		rc = print_tables(options->dir, who.bytes, option, views);
	}
	buf_fini(&who);
	return rc;
}

static enum cmd_exit run_command(const char *command, const char *dir, uint32_t number)
{
	char window[16];
	int status;

	snprintf(window, sizeof(window), "%" PRIu32, number);
	if (setenv("GPROF_WATCH_DIR", dir, 1) || setenv("GPROF_WATCH_WINDOW", window, 1)) {
		cmd_error("cannot run '%s': %s", command, strerror(errno));
		return CMD_FAILED;
	}
	status = system(command);
	if (status) {
		cmd_error("the command of --exec failed for window %s (%s %d)", window,
			WIFEXITED(status) ? "status" : "signal",
			WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	}
	return status ? CMD_FAILED : CMD_GOOD;
}

static enum cmd_exit print_windows(struct watch *watch, const struct options *options)
{
	enum cmd_exit rc = CMD_GOOD;
	uint32_t number;

	while (watch_take_window(watch, &number)) {
		enum cmd_exit printed = print_window(options->dir, number);

		rc = rc ? rc : printed;
		if (options->command) {
			enum cmd_exit ran = run_command(options->command, options->dir, number);

			rc = rc ? rc : ran;
		}
	}
	return rc;
}

/* ---- the watch ---- */

static void pause_for(uint64_t ms)
{
	struct timespec left = {
		.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

	while (nanosleep(&left, &left) && errno == EINTR) {
	}
}

/* One look. */
static enum cmd_exit show(struct watch *watch, const struct options *options)
{
	bool is_last = options->is_once || watch_is_over(watch);
	enum cmd_exit rc = CMD_GOOD, printed;

	print_line(watch, is_last);
	watch_begin_slice(watch);
	if (options->metrics) {
		rc = write_metrics(watch, options->metrics);
	}
	if (options->is_once) {
		return rc;
	}
	printed = print_windows(watch, options);
	rc = rc ? rc : printed;
	printed = print_recorded_hangs(watch, options);
	rc = rc ? rc : printed;
	printed = print_hang(watch, options);
	return rc ? rc : printed;
}

static enum cmd_exit follow(struct watch *watch, const struct options *options)
{
	enum cmd_exit status = CMD_GOOD, rc;
	bool is_waiting = false;

	for (;;) {
		int failed = watch_look(watch);

		if (watch->nr_processes) {
			rc = show(watch, options);
			status = status ? status : rc;
		} else if (options->is_once) {
			cmd_error("cannot read '%s': %s", options->dir,
				failed ? err_text() : "no stream can be read yet");
			return CMD_FAILED;
		} else if (!is_waiting) {
			cmd_error("waiting for the first stream in '%s'", options->dir);
			is_waiting = true;
		}
		if (options->is_once) {
			return status;
		}
		if (watch_is_over(watch)) {
			break;
		}
		pause_for(options->interval_ms);
	}
	rc = print_headline(options->dir);
	return status ? status : rc;
}

static int run(int argc, char **argv)
{
	struct options options = {.interval_ms = USUAL_MS};
	const char *set = getenv("GPROF_DIR");
	struct watch watch = {0};
	char *dir;
	int status = take_options(&options, argc, argv);

	if (status) {
		return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
	}
	dir = mem_text(options.dir ? options.dir : set && *set ? set : "gprof-dump");
	options.dir = dir;
	watch.dir = dir;
	status = (int)follow(&watch, &options);
	watch_fini(&watch);
	free(dir);
	return status;
}

const struct command cmd_watch = {
	.name = "watch",
	.arguments = "[OPTION]... [DIR]",
	.help = "follow a running job: a status line, the tables of each record window, and the "
		"headline at the end",
	.options = lines,
	.run = run,
};
