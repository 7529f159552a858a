/* SPDX-License-Identifier: Apache-2.0 */
#include "report/asked.h"
#include "report/html.h"
#include "report/html_timeline.h"

#define USUAL_TOP 200u

static const struct option options[] = {
	ASKED_TOP_OPTION,
	{"timeline-kb", required_argument, NULL, 'k'},
	ASKED_SELECTION_OPTIONS,
	{0},
};

static int write_page(
	const struct asked *asked, size_t timeline_bytes, const struct cmd_input *input)
{
	struct html_ask html = {.top = asked->top == ASKED_NO_TOP ? USUAL_TOP : asked->top,
		.timeline_bytes = timeline_bytes};
	struct cmd_output output;
	enum cmd_exit losses;
	struct buf out;
	int status;

	cmd_output_init(&output, &out, asked->output);
	html_write(&html, input, &out);
	status = cmd_output_end(&output, &out);
	buf_fini(&out);
	/* Said even if the page could not be written. */
	losses = cmd_tell_odd(input, &asked->filter, cmd_tell_losses(input));
	return status ? status : (int)losses;
}

static int take_timeline_kb(size_t *timeline_bytes)
{
	uint64_t number;

	if (!cmd_number(optarg, INT32_MAX, &number)) {
		return cmd_usage(&cmd_html, "not a number: '%s'", optarg);
	}
	*timeline_bytes = (size_t)number * 1000;
	return 0;
}

static int run(int argc, char **argv)
{
	struct asked asked = {.command = &cmd_html, .top = ASKED_NO_TOP};
	size_t timeline_bytes = HTML_TIMELINE_BYTES;
	struct cmd_input input;
	int option, status = 0;

	opterr = 0;
	while (!status && (option = getopt_long(
				   argc, argv, "t:" ASKED_SELECTION_LETTERS, options, NULL)) >= 0) {
		status = option == 'k' ? take_timeline_kb(&timeline_bytes)
				       : asked_take(&asked, option);
	}
	if (!status && !asked.output) {
		status = cmd_usage(&cmd_html, "-o FILE is needed, as report.html");
	}
	if (!status) {
		status = (int)asked_open(&asked, &input, argv + optind, argc - optind);
		status = status ? status : write_page(&asked, timeline_bytes, &input);
		asked_close(&input);
	}
	asked_fini(&asked);
	return status == ASKED_HELP ? CMD_GOOD : status;
}

const struct command cmd_html = {
	.name = "html",
	.arguments = "-o FILE [OPTION]... [PATH]...",
	.help = "one page for a browser, with everything that summary knows",
	.options = "  -o, --output FILE      report.html; - is stdout\n"
		   "  --top N                rows of a table (200), 0 is all; what is over time "
		   "has 2000\n"
		   "  --timeline-kb N        what the timeline may take of the page (2000), 0 "
		   "leaves it out\n" ASKED_SELECTION_USAGE,
	.run = run,
};
