/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdint.h>

#include "report/html.h"
#include "report/select_ask.h"

#define USUAL_TOP 200u

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"top", required_argument, NULL, 't'},
	{"pid", required_argument, NULL, 'p'},
	{"rank", required_argument, NULL, 'r'},
	{"steps", required_argument, NULL, 'S'},
	{"window", required_argument, NULL, 'W'},
	{"mangled", no_argument, NULL, 'm'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

struct asked {
	struct html_ask html;
	struct cmd_filter filter;
	struct select_ask select;
	const char *path;
};

static int take_numbers(struct numbers *numbers, bool has_last)
{
	if (!numbers_parse(numbers, optarg, has_last)) {
		return cmd_usage(&cmd_html, "not numbers like %s: '%s'",
			has_last ? "3-7, 9- or -2" : "0,3-5", optarg);
	}
	return 0;
}

/* Takes one option. Returns 0, CMD_USAGE after saying why, or -1 when the usage was printed. */
static int take_option(struct asked *asked, int option)
{
	uint64_t number;

	switch (option) {
	case 'o':
		asked->path = optarg;
		return 0;
	case 't':
		if (!cmd_number(optarg, INT32_MAX, &number)) {
			return cmd_usage(&cmd_html, "not a number: '%s'", optarg);
		}
		asked->html.top = (size_t)number;
		return 0;
	case 'p':
		return take_numbers(&asked->filter.pids, false);
	case 'r':
		return take_numbers(&asked->filter.ranks, false);
	case 'S':
		return take_numbers(&asked->select.steps, true);
	case 'W':
		return take_numbers(&asked->select.windows, false);
	case 'm':
		names_show_mangled(true);
		return 0;
	case 'h':
		cmd_print_usage(&cmd_html);
		return -1;
	default:
		return cmd_usage(&cmd_html, "unknown option, or an option without its value");
	}
}

static int write_page(const struct asked *asked, struct cmd_input *input)
{
	struct buf why = {0}, out;
	struct cmd_output output;
	enum cmd_exit losses;
	int status;

	if (!select_all(input->processes, input->nr_processes, &asked->select, &why)) {
		status = cmd_usage(&cmd_html, "%.*s", (int)why.nr_bytes, why.bytes);
	} else {
		cmd_output_init(&output, &out, asked->path);
		html_write(&asked->html, input, &out);
		status = cmd_output_end(&output, &out);
		buf_fini(&out);
		/* Said even if the page could not be written. */
		losses = cmd_tell_odd(input, &asked->filter, cmd_tell_losses(input));
		status = status ? status : (int)losses;
	}
	select_drop_all(input->processes, input->nr_processes);
	buf_fini(&why);
	return status;
}

static int run(int argc, char **argv)
{
	struct asked asked = {.html.top = USUAL_TOP};
	struct cmd_input input;
	int option, status = 0;

	opterr = 0;
	while (!status && (option = getopt_long(argc, argv, "o:t:p:r:mh", options, NULL)) >= 0) {
		status = take_option(&asked, option);
	}
	if (!status && !asked.path) {
		status = cmd_usage(&cmd_html, "-o FILE is needed, as report.html");
	}
	if (!status) {
		status = cmd_open(&input, argv + optind, argc - optind, &asked.filter)
				 ? (int)CMD_FAILED
				 : write_page(&asked, &input);
		cmd_close(&input);
	}
	cmd_filter_fini(&asked.filter);
	numbers_fini(&asked.select.steps);
	numbers_fini(&asked.select.windows);
	return status < 0 ? CMD_GOOD : status;
}

const struct command cmd_html = {
	.name = "html",
	.arguments = "-o FILE [OPTION]... [PATH]...",
	.help = "one page for a browser, with everything that summary knows",
	.options =
		"  -o, --output FILE  report.html; - is stdout\n"
		"  --top N            rows of a table (200), 0 is all; what is over time has 2000\n"
		"  --pid N, --rank N  only processes with these ids or ranks: 0,3-5,8-\n"
		"  --steps N          only these steps: 3-7, 9-, or -2, the last two\n"
		"  --window N         only what was recorded in these windows of the schedule\n"
		"  --mangled          C++ names as they are in the program\n",
	.run = run,
};
