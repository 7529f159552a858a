/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "report/cmd.h"
#include "report/pftrace.h"
#include "report/select_ask.h"
#include "report/timeline.h"

#define USUAL_FILE "trace.pftrace"

struct request {
	const char *path;
	struct cmd_filter filter;
	struct select_ask ask;
	struct timeline_pick pick;
};

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"pid", required_argument, NULL, 'p'},
	{"rank", required_argument, NULL, 'r'},
	{"steps", required_argument, NULL, 'S'},
	{"window", required_argument, NULL, 'W'},
	{"time", required_argument, NULL, 't'},
	{"min-us", required_argument, NULL, 'u'},
	{"tracks", required_argument, NULL, 'k'},
	{"mangled", no_argument, NULL, 'm'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static int flush_file(void *context, const char *bytes, size_t nr_bytes)
{
	return fwrite(bytes, 1, nr_bytes, context) == nr_bytes ? 0 : -errno;
}

static int flush_gzip(void *context, const char *bytes, size_t nr_bytes)
{
	return gzwrite(context, bytes, (unsigned int)nr_bytes) == (int)nr_bytes ? 0 : -EIO;
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
	if (is_json(request->path)) {
		timeline_write(input->processes, input->nr_processes, &request->pick,
			base_name(request->path), out);
	} else {
		pftrace_write(input->processes, input->nr_processes, &request->pick, out);
	}
}

static int write_gzip(const struct request *request, const struct cmd_input *input)
{
	/* Level 3: it shrinks to about the same, twice as fast as with the usual 6. */
	gzFile file = gzopen(request->path, "wb3");
	struct buf out;
	int error;

	if (!file) {
		return errno ? -errno : -ENOMEM;
	}
	buf_init(&out, flush_gzip, file);
	write_all(request, input, &out);
	error = buf_flush(&out);
	buf_fini(&out);
	return gzclose(file) == Z_OK ? error : (error ? error : -EIO);
}

static int write_plain(const struct request *request, const struct cmd_input *input)
{
	bool is_stdout = strcmp(request->path, "-") == 0;
	FILE *file = is_stdout ? stdout : fopen(request->path, "w");
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

static int take_numbers(struct numbers *numbers, bool has_last)
{
	if (!numbers_parse(numbers, optarg, has_last)) {
		return cmd_usage(&cmd_timeline, "not numbers like %s: '%s'",
			has_last ? "3-7, 9- or -2" : "0,3-5", optarg);
	}
	return 0;
}

/* Takes one option. Returns 0, CMD_USAGE after saying why, or -1 when the usage was printed. */
static int take_option(struct request *request, int option)
{
	uint64_t number;

	switch (option) {
	case 'o':
		request->path = optarg;
		return is_good_path(optarg)
			       ? 0
			       : cmd_usage(&cmd_timeline,
					 "not a file that ends in .pftrace, .pftrace.gz, .json or "
					 ".json.gz: '%s'",
					 optarg);
	case 'p':
		return take_numbers(&request->filter.pids, false);
	case 'r':
		return take_numbers(&request->filter.ranks, false);
	case 'S':
		return take_numbers(&request->ask.steps, true);
	case 'W':
		return take_numbers(&request->ask.windows, false);
	case 't':
		return timeline_pick_time(&request->pick, optarg)
			       ? 0
			       : cmd_usage(&cmd_timeline, "no time like 1.2s-1.4s: '%s'", optarg);
	case 'u':
		if (!cmd_number(optarg, INT32_MAX, &number)) {
			return cmd_usage(&cmd_timeline, "not a number: '%s'", optarg);
		}
		request->pick.min_ns = number * 1000;
		return 0;
	case 'k':
		return timeline_pick_tracks(&request->pick, optarg)
			       ? 0
			       : cmd_usage(&cmd_timeline, "no such tracks: '%s'", optarg);
	case 'm':
		names_show_mangled(true);
		return 0;
	case 'h':
		cmd_print_usage(&cmd_timeline);
		return -1;
	default:
		return cmd_usage(&cmd_timeline, "unknown option, or an option without its value");
	}
}

static int write_chosen(const struct request *request, const struct cmd_input *input)
{
	struct buf why = {0};
	int status, error;

	if (!select_all(input->processes, input->nr_processes, &request->ask, &why)) {
		cmd_usage(&cmd_timeline, "%.*s", (int)why.nr_bytes, why.bytes);
		buf_fini(&why);
		return CMD_USAGE;
	}
	error = ends_in(request->path, ".gz") ? write_gzip(request, input)
					      : write_plain(request, input);
	select_drop_all(input->processes, input->nr_processes);
	status = (int)cmd_tell_odd(input, &request->filter, cmd_tell_losses(input));
	if (error) {
		cmd_error("cannot write '%s': %s", request->path, strerror(-error));
		return CMD_FAILED;
	}
	return status;
}

static void request_fini(struct request *request)
{
	cmd_filter_fini(&request->filter);
	numbers_fini(&request->ask.steps);
	numbers_fini(&request->ask.windows);
}

static int run(int argc, char **argv)
{
	struct request request = {.path = USUAL_FILE};
	struct cmd_input input;
	int option, status = 0;

	opterr = 0;
	while (!status && (option = getopt_long(argc, argv, "o:p:r:mh", options, NULL)) >= 0) {
		status = take_option(&request, option);
	}
	if (status) {
		request_fini(&request);
		return status < 0 ? CMD_GOOD : status;
	}
	status = CMD_FAILED;
	if (!cmd_open(&input, argv + optind, argc - optind, &request.filter)) {
		status = write_chosen(&request, &input);
	}
	cmd_close(&input);
	request_fini(&request);
	return status;
}

const struct command cmd_timeline = {
	.name = "timeline",
	.arguments = "[OPTION]... [PATH]...",
	.help = "a picture of the run for Perfetto, chrome://tracing and HTA",
	.options =
		"  -o, --output FILE  x.pftrace (Perfetto; without the option trace.pftrace) or "
		"x.json\n"
		"                     (Chrome JSON, as Kineto writes it), both with .gz, too; - "
		"is\n"
		"                     JSON on stdout\n"
		"  --pid N, --rank N  only processes with these ids or ranks: 0,3-5,8-\n"
		"  --steps N          only these steps: 3-7, 9-, or -2, the last two\n"
		"  --window N         only what was recorded in these windows of the schedule\n"
		"  --time SPAN        only that time since the first event: 1.2s-1.4s, 300ms-\n"
		"  --min-us N         only slices that are at least as long\n"
		"  --tracks LIST      only some of api,ops,nvtx,python,gpu,counters,steps,marks\n"
		"  --mangled          C++ names as they are in the program\n",
	.run = run,
};
