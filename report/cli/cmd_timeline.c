/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `timeline`: takes the filter and the name of the output, whose ending chooses the
 * form. timeline/file.c writes it, and splits JSON that is too large for viewers.
 */
#include <stdlib.h>
#include <string.h>

#include "report/session/options.h"
#include "report/session/common_options.h"
#include "report/timeline/file.h"

#define USUAL_FILE "trace.pftrace"
/* Browsers hold no text of 512 MB. */
#define USUAL_PART_BYTES 400000000u

struct request {
	struct common_options asked;
	struct timeline_filter filter;
	uint64_t part_bytes;
};

static const struct option_line options[] = {
	COMMON_OPTIONS_OUTPUT("x.pftrace for Perfetto (default: trace.pftrace), x.json for\n"
			      "Chrome, either with .gz; - writes JSON to stdout"),
	OPTION("time", 'T', "SPAN", "keep this span of time since the start: 1.2s-1.4s, 300ms-"),
	OPTION("min-us", 'U', "N", "drop events shorter than N us"),
	OPTION("tracks", 'K', "LIST",
		"keep these tracks of api,ops,nvtx,python,gpu,counters,steps,marks",
		.words = timeline_tracks, .is_list = true),
	OPTION("compat", 'F', "TOOL",
		"hta: leave out what HolisticTraceAnalysis miscounts; tensorboard:\n"
		"calls as its plugin knows them (JSON)"),
	OPTION("split-size", 'P', "SIZE",
		"split JSON into files x-1.json, x-2.json ... of this size (default:\n"
		"400M; 0: one file)"),
	COMMON_OPTIONS_SELECTION,
	{0},
};

/* Returns 0, CMD_USAGE after an error message, or COMMON_OPTIONS_HELP when the usage
 * was printed. */
static int parse_option(struct request *request, int option)
{
	uint64_t number;

	switch (option) {
	case 'o':
		request->asked.output = optarg;
		return timeline_file_is_path(optarg)
			       ? 0
			       : cmd_usage(&cmd_timeline,
					 "'%s' does not end in .pftrace, .pftrace.gz, .json or "
					 ".json.gz",
					 optarg);
	case 'T':
		return timeline_filter_parse_time(&request->filter, optarg)
			       ? 0
			       : cmd_usage(&cmd_timeline, "invalid time '%s'; example: 1.2s-1.4s",
					 optarg);
	case 'U':
		if (!cmd_number(optarg, INT32_MAX, &number)) {
			return cmd_usage(&cmd_timeline, "invalid number '%s'", optarg);
		}
		request->filter.min_ns = number * 1000;
		return 0;
	case 'K':
		return timeline_filter_parse_tracks(&request->filter, optarg)
			       ? 0
			       : cmd_usage(&cmd_timeline,
					 "unknown track in '%s' (supported: api, ops, nvtx, "
					 "python, gpu, counters, steps, marks)",
					 optarg);
	case 'F':
		request->filter.is_for_hta = strcmp(optarg, "hta") == 0;
		request->filter.is_for_tensorboard = strcmp(optarg, "tensorboard") == 0;
		return request->filter.is_for_hta || request->filter.is_for_tensorboard
			       ? 0
			       : cmd_usage(&cmd_timeline,
					 "unknown --compat target '%s' (supported: hta, "
					 "tensorboard)",
					 optarg);
	case 'P':
		return cmd_size(optarg, &request->part_bytes)
			       ? 0
			       : cmd_usage(
					 &cmd_timeline, "invalid size '%s'; example: 400M", optarg);
	default:
		return common_options_take(&request->asked, option);
	}
}

static void warn_split(const struct timeline_file *file)
{
	char *first = timeline_file_part(file->path, 1);
	char *last = timeline_file_part(file->path, file->nr_parts);

	cmd_error("'%s' exceeds the size limit of viewers; split by time into %zu files: '%s' "
		  "to '%s'",
		file->path, file->nr_parts, first, last);
	free(first);
	free(last);
}

static void warn_older(const struct timeline_file *file)
{
	char *first = timeline_file_part(file->path, file->nr_parts + 1);
	char *last = timeline_file_part(file->path, file->nr_parts + file->nr_older);

	cmd_error("'%s' to '%s' belong to an earlier timeline; remove them before you open all "
		  "parts",
		first, last);
	free(first);
	free(last);
}

static int write_file(const struct request *request, const struct cmd_input *input)
{
	struct timeline_file file = {.path = request->asked.output,
		.filter = &request->filter,
		.most_bytes = request->part_bytes};
	int error = timeline_file_write(&file, input->processes, input->nr_processes);
	/* Printed even if the file could not be written. */
	int status =
		(int)cmd_warn_inconsistent(input, &request->asked.filter, cmd_warn_losses(input));

	if (error) {
		cmd_error("cannot write '%s': %s", file.path, strerror(-error));
		return CMD_FAILED;
	}
	if (file.nr_parts) {
		warn_split(&file);
	} else {
		cmd_wrote(file.path, "open it at https://ui.perfetto.dev");
	}
	if (file.nr_older) {
		warn_older(&file);
	}
	return status;
}

static int run(int argc, char **argv)
{
	struct request request = {.asked = {.command = &cmd_timeline, .output = USUAL_FILE},
		.part_bytes = USUAL_PART_BYTES};
	struct cmd_input input;
	int option, status = 0;

	while (!status && (option = options_get(&cmd_timeline, argc, argv)) >= 0) {
		status = parse_option(&request, option);
	}
	if (!status) {
		status = (int)common_options_open(
			&request.asked, &input, argv + optind, argc - optind);
		status = status ? status : write_file(&request, &input);
		common_options_close(&input);
	}
	common_options_fini(&request.asked);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

const struct command cmd_timeline = {
	.name = "timeline",
	.arguments = "[OPTION]... [PATH]...",
	.help = "write a timeline for Perfetto, chrome://tracing or HolisticTraceAnalysis",
	.options = options,
	.run = run,
};
