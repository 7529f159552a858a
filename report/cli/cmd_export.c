/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `export`: refuses wrong options before it opens any stream, and hands the processes
 * to export_sqlite.c or export_files.c. Both get their rows from export.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/session/common_options.h"
#include "report/cli/export.h"
#include "report/session/options.h"

static const char *const formats[] = {[EXPORT_SQLITE] = "sqlite",
	[EXPORT_CSV] = "csv",
	[EXPORT_JSONL] = "jsonl",
	[EXPORT_MEMORY_VIZ] = "memory-viz",
	NULL};

static const struct option_line options[] = {
	OPTION("output", 'o', "PATH",
		"the database, such as x.sqlite, or a folder for files;\n"
		"of memory-viz a file, such as memory.pickle",
		.letter = 'o'),
	OPTION("format", 'f', "FORMAT",
		"sqlite (default): a database, with nsys's tables as views;\n"
		"csv, jsonl: files TABLE/rank=R/step=S/...\n"
		"memory-viz: GPU memory of one process, for PyTorch's\n"
		"viewer, https://pytorch.org/memory_viz",
		.hidden_letter = 'f', .words = formats),
	COMMON_OPTIONS_SELECTION,
	{0},
};

static int take_option(struct common_options *asked, enum export_format *format, int option)
{
	int choice;

	if (option != 'f') {
		return common_options_take(asked, option);
	}
	if (!options_choose(optarg, formats, &choice)) {
		return options_unknown_word(&cmd_export, "format", optarg, formats);
	}
	*format = (enum export_format)choice;
	return 0;
}

static void say_written(const char *path, const struct cmd_input *input)
{
	uint64_t nr_events = 0;
	char text[96];

	for (size_t i = 0; i < input->nr_processes; i++) {
		nr_events += input->processes[i]->nr_events;
	}
	snprintf(text, sizeof(text), "%" PRIu64 " event%s of %zu process%s", nr_events,
		nr_events == 1 ? "" : "s", input->nr_processes,
		input->nr_processes == 1 ? "" : "es");
	cmd_wrote(path, text);
}

static int write_all(const struct common_options *asked, enum export_format format,
	const struct cmd_input *input)
{
	const char *path = asked->output, *why = NULL;
	enum cmd_exit written = CMD_GOOD;
	int status;

	if (format == EXPORT_MEMORY_VIZ) {
		written = export_memory_viz(path, input);
	} else if (format == EXPORT_SQLITE) {
		why = export_sqlite(path, input->processes, input->nr_processes);
	} else {
		why = export_files(path, format, input->processes, input->nr_processes);
	}
	/* Said even if the output could not be written. */
	status = (int)cmd_warn_inconsistent(input, &asked->filter, cmd_warn_losses(input));
	if (why) {
		cmd_error("cannot write '%s': %s", path, why);
		written = CMD_FAILED;
	} else if (format != EXPORT_MEMORY_VIZ) {
		say_written(path, input);
	}
	return written == CMD_GOOD ? status : (int)written;
}

static int run(int argc, char **argv)
{
	struct common_options asked = {.command = &cmd_export};
	enum export_format format = EXPORT_SQLITE;
	struct cmd_input input;
	int option, status = 0;

	while (!status && (option = options_get(&cmd_export, argc, argv)) >= 0) {
		status = take_option(&asked, &format, option);
	}
	if (!status && !asked.output) {
		status = cmd_usage(&cmd_export, "name the output: -o x.sqlite, or -o FOLDER");
	}
	if (!status && format == EXPORT_SQLITE && !export_has_sqlite()) {
		status = cmd_usage(&cmd_export,
			"built without SQLite: install libsqlite3-dev and rebuild, or use "
			"--format csv");
	}
	if (!status) {
		status = (int)common_options_open(&asked, &input, argv + optind, argc - optind);
		status = status ? status : write_all(&asked, format, &input);
		common_options_close(&input);
	}
	common_options_fini(&asked);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

const struct command cmd_export = {
	.name = "export",
	.arguments = "-o PATH [OPTION]... [PATH]...",
	.help = "write every event as rows, for databases and data frames",
	.options = options,
	.run = run,
};
