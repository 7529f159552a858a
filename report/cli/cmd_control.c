/* SPDX-License-Identifier: Apache-2.0 */
/* Switches recording in the running processes of a dump directory, by a file that they poll. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/session/session.h"
#include "report/model/process_exit.h"
#include "report/util/files.h"

#define NAME "gprof.control"
/* Steps that the recorder takes. */
#define MAX_STEPS 4294967294u

struct counts {
	size_t nr_running, nr_unknown, nr_ended;
	uint64_t flush_ms; /* the longest of the running ones */
};

static struct counts count(const struct cmd_input *input)
{
	struct counts counts = {0};

	for (size_t i = 0; i < input->nr_processes; i++) {
		const struct process *process = input->processes[i];
		enum process_exit_state ending = process_exit_state(process);
		int64_t flush_ms = process_number(process, "config.GPROF_FLUSH_MS");

		counts.nr_running += ending == PROCESS_EXIT_RUNS;
		counts.nr_unknown += ending == PROCESS_EXIT_UNKNOWN;
		counts.nr_ended += ending == PROCESS_EXIT_ENDED;
		if (ending != PROCESS_EXIT_ENDED && flush_ms > (int64_t)counts.flush_ms) {
			counts.flush_ms = (uint64_t)flush_ms;
		}
	}
	return counts;
}

/* FIRST-END, END above FIRST. */
static bool is_span(const char *text)
{
	const char *dash = strchr(text, '-');
	struct buf first = {0};
	uint64_t begin = 0, end = 0;
	bool is_good = dash != NULL;

	if (is_good) {
		buf_printf(&first, "%.*s", (int)(dash - text), text);
		buf_char(&first, '\0');
		is_good = cmd_number(first.bytes, MAX_STEPS, &begin) &&
			  cmd_number(dash + 1, MAX_STEPS, &end) && end > begin;
	}
	buf_fini(&first);
	return is_good;
}

/* All of it at once or nothing, whoever reads meanwhile. */
static enum cmd_exit put(const char *dir, const char *line)
{
	char *path = NULL;
	int rc = -ENOMEM;

	if (asprintf(&path, "%s/" NAME, dir) > 0) {
		rc = replace_file(path, line, strlen(line));
	}
	if (rc) {
		cmd_error("cannot write '%s': %s", path ? path : dir, strerror(-rc));
	}
	free(path);
	return rc ? CMD_FAILED : CMD_GOOD;
}

/* ---- the command ---- */

static void print_sent(const struct counts *counts, const char *line)
{
	printf("%.*s: sent to %zu running process%s", (int)strcspn(line, "\n"), line,
		counts->nr_running, counts->nr_running == 1 ? "" : "es");
	if (counts->nr_unknown) {
		printf(" and to %zu that may still run in a container or on another "
		       "machine",
			counts->nr_unknown);
	}
	if (counts->nr_ended) {
		printf("; %zu %s already ended", counts->nr_ended,
			counts->nr_ended == 1 ? "has" : "have");
	}
	printf("; it takes effect within %" PRIu64 " ms, and the view notices shows the result\n",
		counts->flush_ms);
}

static enum cmd_exit control(char *dir, const char *line)
{
	struct cmd_input input;
	struct counts counts;
	struct stat status;
	enum cmd_exit rc;

	if (stat(dir, &status) == 0 && !S_ISDIR(status.st_mode)) {
		cmd_error("'%s' is not a directory; name the dump directory of the job", dir);
		return CMD_FAILED;
	}
	rc = cmd_open(&input, &dir, 1, NULL);
	if (!rc) {
		counts = count(&input);
		if (counts.nr_running + counts.nr_unknown) {
			rc = put(dir, line);
		} else {
			cmd_error("all processes of '%s' have ended; nothing changed", dir);
			rc = CMD_FAILED;
		}
		if (!rc) {
			print_sent(&counts, line);
		}
	}
	rc = rc ? rc : input.status;
	cmd_close(&input);
	return rc;
}

static int run(int argc, char **argv)
{
	char line[64] = "";

	if (argc == 3 && (strcmp(argv[2], "start") == 0 || strcmp(argv[2], "stop") == 0)) {
		snprintf(line, sizeof(line), "%s\n", argv[2]);
	} else if (argc == 4 && strcmp(argv[2], "steps") == 0 && is_span(argv[3]) &&
		   strlen(argv[3]) < sizeof(line) / 2) {
		snprintf(line, sizeof(line), "steps %s\n", argv[3]);
	} else {
		return cmd_usage(&cmd_control,
			"name a directory, and start, stop or steps FIRST-END (END above FIRST, at "
			"most %u)",
			MAX_STEPS);
	}
	return (int)control(argv[1], line);
}

const struct command cmd_control = {
	.name = "control",
	.arguments = "DIR start|stop|steps FIRST-END",
	.help = "switch recording in the running processes of a dump directory",
	.options = option_line_none,
	.run = run,
};
