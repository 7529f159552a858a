/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "report/cmd.h"
#include "report/timeline.h"

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"pid", required_argument, NULL, 'p'},
	{"rank", required_argument, NULL, 'r'},
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

static int write_gzip(const char *path, const struct cmd_input *input)
{
	/* Level 3: JSON of this kind shrinks to about the same, twice as fast as with the usual 6.
	 */
	gzFile file = gzopen(path, "wb3");
	struct buf out;
	int error;

	if (!file) {
		return errno ? -errno : -ENOMEM;
	}
	buf_init(&out, flush_gzip, file);
	timeline_write(input->processes, input->nr_processes, base_name(path), &out);
	error = buf_flush(&out);
	buf_fini(&out);
	return gzclose(file) == Z_OK ? error : (error ? error : -EIO);
}

static int write_plain(const char *path, const struct cmd_input *input)
{
	bool is_stdout = strcmp(path, "-") == 0;
	FILE *file = is_stdout ? stdout : fopen(path, "w");
	struct buf out;
	int error;

	if (!file) {
		return -errno;
	}
	buf_init(&out, flush_file, file);
	timeline_write(input->processes, input->nr_processes, base_name(path), &out);
	error = buf_flush(&out);
	buf_fini(&out);
	if ((is_stdout ? fflush(file) : fclose(file)) && !error) {
		error = -errno;
	}
	return error;
}

static int run(int argc, char **argv)
{
	struct cmd_filter filter = {0};
	const char *path = NULL;
	struct cmd_input input;
	int option, error, status;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "o:p:r:mh", options, NULL)) >= 0) {
		switch (option) {
		case 'o':
			path = optarg;
			break;
		case 'p':
		case 'r':
			if (!numbers_parse(
				    option == 'p' ? &filter.pids : &filter.ranks, optarg, false)) {
				return cmd_usage(
					&cmd_timeline, "not numbers like 0,3-5: '%s'", optarg);
			}
			break;
		case 'm':
			names_show_mangled(true);
			break;
		case 'h':
			return cmd_print_usage(&cmd_timeline);
		default:
			return cmd_usage(
				&cmd_timeline, "unknown option, or an option without its value");
		}
	}
	if (!path ||
		(strcmp(path, "-") != 0 && !ends_in(path, ".json") && !ends_in(path, ".json.gz"))) {
		return cmd_usage(&cmd_timeline, "-o FILE is needed, ending in .json or .json.gz");
	}
	if (cmd_open(&input, argv + optind, argc - optind, &filter)) {
		cmd_close(&input);
		cmd_filter_fini(&filter);
		return CMD_FAILED;
	}
	error = ends_in(path, ".gz") ? write_gzip(path, &input) : write_plain(path, &input);
	status = (int)cmd_tell_odd(&input, &filter, cmd_tell_losses(&input));
	if (error) {
		cmd_error("cannot write '%s': %s", path, strerror(-error));
		status = CMD_FAILED;
	}
	cmd_close(&input);
	cmd_filter_fini(&filter);
	return status;
}

const struct command cmd_timeline = {
	.name = "timeline",
	.arguments = "-o FILE [OPTION]... [PATH]...",
	.help = "a picture of the run for Perfetto, chrome://tracing and HTA",
	.options = "  -o, --output FILE  x.json or x.json.gz (Chrome JSON, as Kineto writes it); - "
		   "is stdout\n"
		   "  --pid N, --rank N  only processes with these ids or ranks: 0,3-5,8-\n"
		   "  --mangled          C++ names as they are in the program\n",
	.run = run,
};
