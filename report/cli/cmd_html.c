/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `html`: the page of one run, the page that compares two, the page of a summary of
 * `reduce`, or one picture. Here is the choice between them; report/html writes all of them.
 */
#include "report/cli/cmd_runs.h"
#include "report/session/sides.h"
#include "report/diff/diff.h"
#include "report/html/html.h"
#include "report/html/svg.h"
#include "report/html/timeline_data.h"
#include "report/session/options.h"
#include "report/stream/dumpdir.h"
#include "report/reduce/reduced_job.h"

/* As many as people compare at a look. */
#define HISTORY_RUNS 20u

static const char usual_page[] = "report.html", usual_picture[] = "report.svg";

static const struct option_line options[] = {
	COMMON_OPTIONS_OUTPUT("the report (default: report.html, of --svg report.svg); - is\n"
			      "stdout"),
	COMMON_OPTIONS_TOP("rows per table (default: 200, tables over time 2000; 0: all)"),
	OPTION("timeline-size", 'k', "SIZE",
		"size limit of the timeline (default: 2M; 0: no timeline)"),
	OPTION("svg", 'V', "VIEW", "draw one SVG picture instead: breakdown, steps or timeline",
		.words = html_svg_views),
	COMMON_OPTIONS_SELECTION,
	{0},
};

struct request {
	struct common_options asked;
	struct html_options html;
	struct sides sides; /* a page of one has A alone */
	bool is_svg;	    /* a picture of this view instead of the page */
	int svg_view;
};

static int parse_timeline_size(size_t *timeline_bytes)
{
	uint64_t bytes;

	if (!cmd_size(optarg, &bytes)) {
		return cmd_usage(&cmd_html, "invalid size '%s'; example: 2M", optarg);
	}
	*timeline_bytes = (size_t)bytes;
	return 0;
}

static int parse_option(struct request *request, int option)
{
	switch (option) {
	case 'k':
		return parse_timeline_size(&request->html.timeline_bytes);
	case 'V':
		request->is_svg = true;
		return options_choose(optarg, html_svg_views, &request->svg_view)
			       ? 0
			       : options_unknown_word(&cmd_html, "picture", optarg, html_svg_views);
	default:
		return common_options_take(&request->asked, option);
	}
}

static int parse_options(struct request *request, int argc, char **argv)
{
	struct common_options *asked = &request->asked;
	int option, status = 0;

	while (!status && (option = options_get(&cmd_html, argc, argv)) >= 0) {
		status = parse_option(request, option);
	}
	if (!status && !asked->output) {
		asked->output = request->is_svg ? usual_picture : usual_page;
	}
	if (!status && request->is_svg && sides_are_named(asked, argc - optind)) {
		status = cmd_usage(&cmd_html, "--svg takes one path and one run");
	}
	if (!status && argc - optind > 2) {
		status = cmd_usage(&cmd_html,
			"too many paths: name one for a report, two to compare; "
			"name the streams of one job by their directory");
	}
	/* A picture has room for few steps: without a selection it shows the last one. */
	if (!status && request->is_svg && request->svg_view == (int)HTML_SVG_TIMELINE &&
		!select_is_set(&asked->select)) {
		numbers_parse(&asked->select.steps, "-1", true);
	}
	request->html.top = asked->top == COMMON_OPTIONS_NO_TOP ? HTML_USUAL_TOP : asked->top;
	return status;
}

static int write_page(struct request *request, size_t nr_inputs)
{
	const struct common_options *asked = &request->asked;
	int status, losses = CMD_GOOD;
	struct cmd_output output;
	const char *why = NULL;
	struct buf out;

	cmd_output_init(&output, &out, asked->output);
	if (!request->is_svg) {
		html_write(&request->html, &request->sides.inputs[0], &out);
	} else {
		why = html_svg_write(
			(unsigned int)request->svg_view, &request->sides.inputs[0], &out);
	}
	if (why) {
		cmd_error("cannot draw %s: %s", html_svg_views[request->svg_view], why);
		buf_fini(&out);
		return CMD_FAILED;
	}
	status = cmd_output_end(&output, &out);
	buf_fini(&out);
	/* Printed even if the page could not be written. */
	for (size_t i = 0; i < nr_inputs; i++) {
		const struct cmd_input *input = &request->sides.inputs[i];
		int of_input =
			(int)cmd_warn_inconsistent(input, &asked->filter, cmd_warn_losses(input));

		losses = of_input ? of_input : losses;
	}
	return status ? status : losses;
}

static int write_diff(struct request *request)
{
	const struct cmd_input *const inputs[] = {
		&request->sides.inputs[0], &request->sides.inputs[1]};
	struct diff diff = {0};
	int status;

	diff_run(&diff, inputs, request->sides.names, 0);
	request->html.diff = &diff;
	request->html.other = inputs[1];
	status = write_page(request, 2);
	diff_fini(&diff);
	return status;
}

/* ---- the page of a summary ---- */

static int refuse_reduced(const struct request *request, int nr_paths)
{
	const struct common_options *asked = &request->asked;

	if (nr_paths > 1) {
		return cmd_usage(&cmd_html, "html takes one summary of reduce; to merge summaries "
					    "run reduce, to compare runs name their streams");
	}
	if (request->is_svg || select_is_set(&asked->select) ||
		!numbers_is_empty(&asked->filter.pids) || !numbers_is_empty(&asked->filter.ranks)) {
		return cmd_usage(&cmd_html,
			"--svg and selections of processes or steps need streams, not a "
			"summary of reduce");
	}
	return 0;
}

static int run_reduced(struct request *request, char *const *paths, int nr_paths)
{
	int status = refuse_reduced(request, nr_paths);
	const struct cmd_input none = {0};
	struct reduced reduced = {0};
	struct cmd_output output;
	struct buf out;

	status = status ? status : reduced_job_read(&reduced, paths, nr_paths);
	if (!status) {
		bool is_incomplete = reduced_job_warn(&reduced);

		request->html.reduced = &reduced;
		cmd_output_init(&output, &out, request->asked.output);
		html_write(&request->html, &none, &out);
		status = (int)cmd_output_end(&output, &out);
		buf_fini(&out);
		status = !status && is_incomplete ? CMD_INCOMPLETE : status;
	}
	reduced_fini(&reduced);
	return status;
}

/* ---- the page of streams ---- */

static int run_streams(struct request *request, char **paths, int nr_paths)
{
	struct sides *sides = &request->sides;
	int status;

	if (sides_are_named(&request->asked, nr_paths)) {
		status = (int)sides_open(sides, &request->asked, paths, nr_paths);
		status = status ? status : write_diff(request);
	} else {
		if (!request->is_svg) {
			request->html.history = cmd_runs_history(paths, nr_paths, HISTORY_RUNS);
		}
		status = (int)common_options_open(
			&request->asked, &sides->inputs[0], paths, nr_paths);
		if (status && request->html.history) {
			table_destroy(request->html.history);
		}
		status = status ? status : write_page(request, 1);
	}
	sides_close(sides);
	return status;
}

/* Names the file that the user did not. */
static void say_usual(const struct request *request, int status)
{
	const char *path = request->asked.output;

	if ((path == usual_page || path == usual_picture) &&
		(status == CMD_GOOD || status == CMD_INCOMPLETE)) {
		cmd_wrote(path, NULL);
	}
}

static int run(int argc, char **argv)
{
	struct request request = {.asked = {.command = &cmd_html,
					  .top = COMMON_OPTIONS_NO_TOP,
					  .takes_two_runs = true},
		.html = {.timeline_bytes = HTML_TIMELINE_BYTES}};
	int status = parse_options(&request, argc, argv), nr_paths = argc - optind;
	char **paths = argv + optind;

	request.html.paths = paths;
	request.html.nr_paths = nr_paths;
	if (!status) {
		status = nr_paths && dumpdir_is_summary(paths[0])
				 ? run_reduced(&request, paths, nr_paths)
				 : run_streams(&request, paths, nr_paths);
		say_usual(&request, status);
	}
	common_options_fini(&request.asked);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

const struct command cmd_html = {
	.name = "html",
	.arguments = "[OPTION]... [PATH [B]]",
	.help = "write an HTML report with charts, all tables and a timeline, or compare two runs",
	.options = options,
	.run = run,
};
