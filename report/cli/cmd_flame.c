/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `flame`: reads all processes into one tree (timeline/flame.c), and writes it in the
 * form that the ending of the output's name says. Without --by its widths are GPU time, or CPU time
 * if there is none, which only the tree tells.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/html/svg_flame.h"
#include "report/session/common_options.h"
#include "report/session/options.h"
#include "report/util/text.h"
#include "report/util/gzip_out.h"

#define USUAL_FILE "flame.svg"

enum form { FORM_SVG, FORM_SPEEDSCOPE, FORM_FOLDED, FORM_PPROF, NR_FORMS };

/* A file's name ends in one of them. */
static const char *const endings[NR_FORMS] = {
	[FORM_SVG] = ".svg",
	[FORM_SPEEDSCOPE] = ".speedscope.json",
	[FORM_FOLDED] = ".folded",
	[FORM_PPROF] = ".pb.gz",
};

/* By enum phase; the last word stands for all. */
static const char *const phases[] = {
	"dataloader", "forward", "backward", "optimization", "others", "all", NULL};

enum order { ORDER_WEIGHT, ORDER_TIME };
static const char *const orders[] = {"weight", "time", NULL};

struct request {
	struct common_options asked;
	int weight; /* -1: GPU time, or CPU time if there is none */
	int phase;  /* enum phase */
	int order;  /* enum order */
	bool has_stacks;
	unsigned int samples; /* FLAME_SAMPLES or FLAME_WAITS in place of operators; 0: neither */
	enum form form;
};

static const struct option_line options[] = {
	COMMON_OPTIONS_OUTPUT("x.svg (default: flame.svg), x.speedscope.json for speedscope,\n"
			      "x.folded for flamegraph.pl, x.pb.gz for pprof; - writes\n"
			      "folded lines to stdout"),
	OPTION("by", 'b', "WEIGHT",
		"what widths mean: gpu (default; cpu without a GPU), cpu,\n"
		"launches",
		.words = flame_weight_names),
	OPTION("stacks", 's', NULL, "begin with Python stacks in place of modules"),
	OPTION("samples", 'C', NULL,
		"CPU samples: threads, Python and native stacks\n"
		"in place of operators"),
	OPTION("waits", 'W', NULL,
		"samples of waits: threads, Python stacks and what they\n"
		"wait for, in place of operators"),
	OPTION("phase", 'P', "PHASE",
		"draw only what begins in dataloader, forward, backward,\n"
		"optimization or others (default: all)",
		.words = phases),
	OPTION("order", 'O', "ORDER",
		"frames beside each other in the picture: weight (default: the\n"
		"widest first), time (as they began first)",
		.words = orders),
	COMMON_OPTIONS_SELECTION,
	{0},
};

static int take_output(struct request *request)
{
	size_t length = strlen(optarg);

	request->asked.output = optarg;
	if (strcmp(optarg, "-") == 0) {
		request->form = FORM_FOLDED;
		return 0;
	}
	for (unsigned int i = 0; i < NR_FORMS; i++) {
		size_t nr_end = strlen(endings[i]);

		if (length >= nr_end && strcmp(optarg + length - nr_end, endings[i]) == 0) {
			request->form = i;
			return 0;
		}
	}
	return cmd_usage(&cmd_flame,
		"'%s' does not end in .svg, .speedscope.json, .folded or .pb.gz", optarg);
}

static int parse_option(struct request *request, int option)
{
	switch (option) {
	case 'o':
		return take_output(request);
	case 'b':
		return options_choose(optarg, flame_weight_names, &request->weight)
			       ? 0
			       : cmd_usage(&cmd_flame,
					 "unknown weight '%s' (supported: gpu, cpu, launches)",
					 optarg);
	case 's':
		request->has_stacks = true;
		return 0;
	case 'C':
		request->samples = FLAME_SAMPLES;
		return 0;
	case 'W':
		request->samples = FLAME_WAITS;
		return 0;
	case 'P':
		return options_choose(optarg, phases, &request->phase)
			       ? 0
			       : cmd_usage(&cmd_flame,
					 "unknown phase '%s' (supported: dataloader, forward, "
					 "backward, optimization, others, all)",
					 optarg);
	case 'O':
		return options_choose(optarg, orders, &request->order)
			       ? 0
			       : cmd_usage(&cmd_flame,
					 "unknown order '%s' (supported: weight, time)", optarg);
	default:
		return common_options_take(&request->asked, option);
	}
}

/* The command, as the picture shows it. */
static void add_command(const struct request *request, struct buf *out)
{
	buf_text(out, "gprof-report flame");
	buf_text(out, request->has_stacks ? " --stacks" : "");
	buf_text(out, request->samples == FLAME_SAMPLES ? " --samples"
		      : request->samples		? " --waits"
							: "");
	if (request->phase != FLAME_ALL_PHASES) {
		buf_printf(out, " --phase %s", phases[request->phase]);
	}
	buf_text(out, request->order == ORDER_TIME ? " --order time" : "");
	buf_add(out, "", 1);
}

static void add_form(const struct request *request, const struct flame *flame, struct buf *out)
{
	enum flame_weight weight = (enum flame_weight)request->weight;
	struct buf command = {0};

	switch (request->form) {
	case FORM_SVG:
		add_command(request, &command);
		svg_flame_write(flame, weight, request->order == ORDER_TIME, command.bytes, out);
		buf_fini(&command);
		break;
	case FORM_SPEEDSCOPE:
		flame_write_speedscope(flame, weight, out);
		break;
	case FORM_FOLDED:
		flame_write_folded(flame, weight, out);
		break;
	default:
		flame_write_pprof(flame, weight, out);
	}
}

static int write_packed(const struct request *request, const struct flame *flame)
{
	const char *path = request->asked.output;
	struct gzip_out *file;
	struct buf out;
	int error = gzip_out_open(&file, path), error_of_rest;

	if (!error) {
		buf_init(&out, gzip_out_write, file);
		add_form(request, flame, &out);
		error = buf_flush(&out);
		buf_fini(&out);
		error_of_rest = gzip_out_close(file);
		error = error ? error : error_of_rest;
	}
	if (error) {
		cmd_error("cannot write '%s': %s", path, strerror(-error));
		return CMD_FAILED;
	}
	return CMD_GOOD;
}

static int write_file(const struct request *request, const struct flame *flame)
{
	struct cmd_output output;
	struct buf out;
	int status;

	if (request->form == FORM_PPROF) {
		return write_packed(request, flame);
	}
	cmd_output_init(&output, &out, request->asked.output);
	add_form(request, flame, &out);
	status = (int)cmd_output_end(&output, &out);
	buf_fini(&out);
	return status;
}

static int refuse_empty(const struct request *request, const struct flame *flame)
{
	const uint64_t *total = flame->frames[0].total;

	if (request->samples) {
		cmd_error("cannot draw %s: none was recorded (GPROF_CPU_HZ); `gprof-report "
			  "--view notices` says if the system refuses them",
			request->samples == FLAME_WAITS ? "samples of waits" : "CPU samples");
	} else if (flame->unsampled[request->weight]) {
		cmd_error(
			"cannot draw Python stacks: none was recorded; set GPROF_PYTHON=stacks in "
			"the run, or leave out --stacks");
	} else if (request->phase != FLAME_ALL_PHASES) {
		cmd_error("cannot draw '%s' of phase '%s': the recording has none of it; "
			  "gprof-report summary --view model lists its phases",
			flame_weight_names[request->weight], phases[request->phase]);
	} else if (total[FLAME_CPU] || total[FLAME_LAUNCHES]) {
		cmd_error("cannot draw '%s': the recording has none of it; try --by %s",
			flame_weight_names[request->weight],
			flame_weight_names[total[FLAME_CPU] ? FLAME_CPU : FLAME_LAUNCHES]);
	} else {
		cmd_error("cannot draw a flame graph: no operator, call or GPU activity was "
			  "recorded");
	}
	return CMD_FAILED;
}

static void note_left_out(const struct request *request, const struct flame *flame)
{
	uint64_t total = flame->frames[0].total[request->weight];
	uint64_t unsampled = flame->unsampled[request->weight];

	if (unsampled) {
		cmd_error("the graph covers %.1f %%: the rest has no Python stack; GPROF_PYTHON_HZ "
			  "sets how many stacks a recording samples",
			100 * (double)total / ((double)total + (double)unsampled));
	}
	if (request->weight == FLAME_GPU && flame->nr_untimed) {
		cmd_error("the graph leaves out %llu GPU %s without times",
			(unsigned long long)flame->nr_untimed,
			text_many(flame->nr_untimed, "activity", "activities"));
	}
}

static void say_written(const struct request *request, const struct flame *flame, int status)
{
	static const char *const of[] = {
		[FLAME_GPU] = "GPU time", [FLAME_CPU] = "CPU time", [FLAME_LAUNCHES] = "launches"};
	uint64_t total = flame->frames[0].total[request->weight];
	char text[64], time[TEXT_TIME_BYTES];

	if (request->weight == FLAME_LAUNCHES) {
		snprintf(text, sizeof(text), "%" PRIu64 " %s", total,
			text_many(total, "launch", "launches"));
	} else {
		snprintf(text, sizeof(text), "%s of %s", text_time(time, (double)total),
			request->samples == FLAME_WAITS ? "waiting" : of[request->weight]);
	}
	if (status == CMD_GOOD) {
		cmd_wrote(request->asked.output, text);
	}
}

static int draw(struct request *request, const struct cmd_input *input)
{
	struct flame flame;
	int status, losses;

	flame_read(&flame, input->processes, input->nr_processes,
		request->samples      ? request->samples
		: request->has_stacks ? FLAME_STACKS
				      : 0,
		(enum phase)request->phase, NULL);
	if (request->samples) {
		request->weight = FLAME_CPU;
	} else if (request->weight < 0) {
		bool has_gpu = flame.frames[0].total[FLAME_GPU] || flame.unsampled[FLAME_GPU];

		request->weight = has_gpu ? FLAME_GPU : FLAME_CPU;
	}
	if (flame.frames[0].total[request->weight]) {
		status = write_file(request, &flame);
		say_written(request, &flame, status);
		note_left_out(request, &flame);
	} else {
		status = refuse_empty(request, &flame);
	}
	flame_fini(&flame);
	/* Printed even if the file could not be written. */
	losses = (int)cmd_warn_inconsistent(input, &request->asked.filter, cmd_warn_losses(input));
	return status ? status : losses;
}

static int run(int argc, char **argv)
{
	struct request request = {.asked = {.command = &cmd_flame, .output = USUAL_FILE},
		.weight = -1,
		.phase = FLAME_ALL_PHASES};
	struct cmd_input input;
	int option, status = 0;

	while (!status && (option = options_get(&cmd_flame, argc, argv)) >= 0) {
		status = parse_option(&request, option);
	}
	if (!status && request.samples &&
		(request.has_stacks || request.weight >= 0 || request.phase != FLAME_ALL_PHASES)) {
		status = cmd_usage(&cmd_flame,
			"%s has time alone, and no phases or Python stacks from launches: leave "
			"out --by, --phase and --stacks",
			request.samples == FLAME_WAITS ? "--waits" : "--samples");
	}
	if (!status) {
		status = (int)common_options_open(
			&request.asked, &input, argv + optind, argc - optind);
		status = status ? status : draw(&request, &input);
		common_options_close(&input);
	}
	common_options_fini(&request.asked);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

const struct command cmd_flame = {
	.name = "flame",
	.arguments = "[OPTION]... [PATH]...",
	.help = "write a flame graph: modules, operators and kernels, or Python stacks first, or "
		"CPU samples, or waits",
	.options = options,
	.run = run,
};
