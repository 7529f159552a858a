/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `serve`: opens its port, so that a port in use is reported before a long read, reads
 * the streams, writes the page into memory once, and answers requests (report/serve) until it is
 * stopped.
 */
#include <stdlib.h>

#include "report/html/html.h"
#include "report/html/timeline_data.h"
#include "report/serve/server.h"
#include "report/session/common_options.h"
#include "report/session/options.h"
#include "report/stream/dumpdir.h"
#include "report/util/text.h"

static const struct option_line options[] = {
	OPTION("port", 'P', "N",
		"port on 127.0.0.1 (default: a free one); to look from another\n"
		"machine, there: ssh -L N:localhost:N THIS-MACHINE"),
	COMMON_OPTIONS_TOP("rows per table (default: 200, tables over time 2000; 0: all)"),
	OPTION("timeline-size", 'k', "SIZE",
		"what the timeline may take before the browser asks for more\n"
		"(default: 2M; 0: no timeline)"),
	COMMON_OPTIONS_SELECTION,
	/* It says which command writes a file. */
	OPTION("output", 'o', "FILE", NULL, .hidden_letter = 'o', .is_hidden = true),
	{0},
};

struct request {
	struct common_options asked;
	struct html_options html;
	uint16_t port; /* 0: the system chooses */
};

static int parse_option(struct request *request, int option)
{
	uint64_t number;

	switch (option) {
	case 'P':
		if (!cmd_number(optarg, UINT16_MAX, &number)) {
			return cmd_usage(&cmd_serve, "invalid port '%s' (0 to 65535)", optarg);
		}
		request->port = (uint16_t)number;
		return 0;
	case 'k':
		if (!cmd_size(optarg, &number)) {
			return cmd_usage(&cmd_serve, "invalid size '%s'; example: 2M", optarg);
		}
		request->html.timeline_bytes = (size_t)number;
		return 0;
	case 'o':
		return cmd_usage(&cmd_serve, "serve writes no file; html does");
	default:
		return common_options_take(&request->asked, option);
	}
}

/* "3 processes of gprof-dump" */
static void add_served(
	struct buf *out, const struct cmd_input *input, char *const *paths, int nr_paths)
{
	buf_printf(out, "serving %zu process%s", input->nr_processes,
		input->nr_processes == 1 ? "" : "es");
	if (nr_paths == 1) {
		buf_text(out, " of ");
		text_add_shown(out, paths[0], strlen(paths[0]), 0);
	}
	buf_char(out, '\0');
}

static int run_server(struct request *request, struct server *server, const struct cmd_input *input,
	char *const *paths, int nr_paths)
{
	struct buf served = {0};
	int status = CMD_GOOD;

	server->input = input;
	request->html.served_nonce = server->nonce;
	request->html.paths = paths;
	request->html.nr_paths = nr_paths;
	html_write(&request->html, input, &server->page);
	cmd_warn_inconsistent(input, &request->asked.filter, cmd_warn_losses(input));
	add_served(&served, input, paths, nr_paths);
	if (!server_run(server, served.bytes)) {
		cmd_error("cannot start the server on 127.0.0.1:%u", server->address.port);
		status = CMD_FAILED;
	}
	buf_fini(&served);
	return status;
}

static int serve(struct request *request, char *const *paths, int nr_paths)
{
	struct server server = {0};
	struct cmd_input input = {0};
	char *why = server_open(&server, request->port);
	int status = CMD_FAILED;

	if (why) {
		cmd_error("%s", why);
	} else {
		status = (int)common_options_open(&request->asked, &input, paths, nr_paths);
		status = status ? status : run_server(request, &server, &input, paths, nr_paths);
		common_options_close(&input);
	}
	server_close(&server);
	free(why);
	return status;
}

static int run(int argc, char **argv)
{
	struct request request = {.asked = {.command = &cmd_serve, .top = COMMON_OPTIONS_NO_TOP},
		.html = {.timeline_bytes = HTML_TIMELINE_BYTES}};
	struct common_options *asked = &request.asked;
	int option, status = 0;

	while (!status && (option = options_get(&cmd_serve, argc, argv)) >= 0) {
		status = parse_option(&request, option);
	}
	if (!status && optind < argc && dumpdir_is_summary(argv[optind])) {
		status = cmd_usage(&cmd_serve,
			"serve needs streams, not a summary of reduce; html writes its report");
	}
	if (!status) {
		request.html.top =
			asked->top == COMMON_OPTIONS_NO_TOP ? HTML_USUAL_TOP : asked->top;
		status = serve(&request, argv + optind, argc - optind);
	}
	common_options_fini(asked);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

const struct command cmd_serve = {
	.name = "serve",
	.arguments = "[OPTION]... [PATH]...",
	.help = "show the HTML report in a browser of this machine, with all events of the "
		"timeline",
	.options = options,
	.run = run,
};
