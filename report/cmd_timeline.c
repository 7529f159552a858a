/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/asked.h"
#include "report/gzip_out.h"
#include "report/pftrace.h"
#include "report/timeline.h"

#define USUAL_FILE "trace.pftrace"

struct request {
	struct asked asked;
	struct timeline_pick pick;
};

static const struct option options[] = {
	{"time", required_argument, NULL, 'T'},
	{"min-us", required_argument, NULL, 'U'},
	{"tracks", required_argument, NULL, 'K'},
	ASKED_SELECTION_OPTIONS,
	{0},
};

static int flush_file(void *context, const char *bytes, size_t nr_bytes)
{
	return fwrite(bytes, 1, nr_bytes, context) == nr_bytes ? 0 : -errno;
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), nr_end = strlen(end);

	return length >= nr_end && strcmp(text + length - nr_end, end) == 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_json(const char *path)
{
	return ends_in(path, ".json") || ends_in(path, ".json.gz") || strcmp(path, "-") == 0;
}

static bool is_good_path(const char *path)
{
	return is_json(path) || ends_in(path, ".pftrace") || ends_in(path, ".pftrace.gz");
}

static void write_all(const struct request *request, const struct cmd_input *input, struct buf *out)
{
	if (is_json(request->asked.output)) {
		timeline_write(input->processes, input->nr_processes, &request->pick,
			base_name(request->asked.output), out);
	} else {
		pftrace_write(input->processes, input->nr_processes, &request->pick, out);
	}
}

static int write_gzip(const struct request *request, const struct cmd_input *input)
{
	struct gzip_out *file;
	struct buf out;
	int error = gzip_out_open(&file, request->asked.output), error_of_rest;

	if (error) {
		return error;
	}
	buf_init(&out, gzip_out_write, file);
	write_all(request, input, &out);
	error = buf_flush(&out);
	buf_fini(&out);
	error_of_rest = gzip_out_close(file);
	return error ? error : error_of_rest;
}

static int write_plain(const struct request *request, const struct cmd_input *input)
{
	bool is_stdout = strcmp(request->asked.output, "-") == 0;
	FILE *file = is_stdout ? stdout : fopen(request->asked.output, "w");
	struct buf out;
	int error;

	if (!file) {
		return -errno;
	}
	buf_init(&out, flush_file, file);
	write_all(request, input, &out);
	error = buf_flush(&out);
	buf_fini(&out);
	if ((is_stdout ? fflush(file) : fclose(file)) && !error) {
		error = -errno;
	}
	return error;
}

/* Takes one option. Returns 0, CMD_USAGE after saying why, or ASKED_HELP when the usage was
 * printed. */
static int take_option(struct request *request, int option)
{
	uint64_t number;

	switch (option) {
	case 'o':
		request->asked.output = optarg;
		return is_good_path(optarg)
			       ? 0
			       : cmd_usage(&cmd_timeline,
					 "not a file that ends in .pftrace, .pftrace.gz, .json or "
					 ".json.gz: '%s'",
					 optarg);
	case 'T':
		return timeline_pick_time(&request->pick, optarg)
			       ? 0
			       : cmd_usage(&cmd_timeline, "no time like 1.2s-1.4s: '%s'", optarg);
	case 'U':
		if (!cmd_number(optarg, INT32_MAX, &number)) {
			return cmd_usage(&cmd_timeline, "not a number: '%s'", optarg);
		}
		request->pick.min_ns = number * 1000;
		return 0;
	case 'K':
		return timeline_pick_tracks(&request->pick, optarg)
			       ? 0
			       : cmd_usage(&cmd_timeline, "no such tracks: '%s'", optarg);
	default:
		return asked_take(&request->asked, option);
	}
}

static int write_file(const struct request *request, const struct cmd_input *input)
{
	const char *path = request->asked.output;
	int error = ends_in(path, ".gz") ? write_gzip(request, input) : write_plain(request, input);
	/* Said even if the file could not be written. */
	int status = (int)cmd_tell_odd(input, &request->asked.filter, cmd_tell_losses(input));

	if (error) {
		cmd_error("cannot write '%s': %s", path, strerror(-error));
		return CMD_FAILED;
	}
	return status;
}

static int run(int argc, char **argv)
{
	struct request request = {.asked = {.command = &cmd_timeline, .output = USUAL_FILE}};
	struct cmd_input input;
	int option, status = 0;

	opterr = 0;
	while (!status &&
		(option = getopt_long(argc, argv, ASKED_SELECTION_LETTERS, options, NULL)) >= 0) {
		status = take_option(&request, option);
	}
	if (!status) {
		status = (int)asked_open(&request.asked, &input, argv + optind, argc - optind);
		status = status ? status : write_file(&request, &input);
		asked_close(&input);
	}
	asked_fini(&request.asked);
	return status == ASKED_HELP ? CMD_GOOD : status;
}

const struct command cmd_timeline = {
	.name = "timeline",
	.arguments = "[OPTION]... [PATH]...",
	.help = "a picture of the run for Perfetto, chrome://tracing and HTA",
	.options =
		"  -o, --output FILE      x.pftrace (Perfetto; without the option trace.pftrace) "
		"or "
		"x.json\n"
		"                         (Chrome JSON, as Kineto writes it), both with .gz, too; "
		"- "
		"is\n"
		"                         JSON on stdout\n"
		"  --time SPAN            only that time since the first event: 1.2s-1.4s, 300ms-\n"
		"  --min-us N             only slices that are at least as long\n"
		"  --tracks LIST          only some of "
		"api,ops,nvtx,python,gpu,counters,steps,marks\n" ASKED_SELECTION_USAGE,
	.run = run,
};
