/* SPDX-License-Identifier: Apache-2.0 */
/* The runs that a folder has, one a line. */
#include "report/cli/cmd_runs.h"

#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/analysis/headline.h"
#include "report/comm/job_clock.h"
#include "report/model/device_clock.h"
#include "report/model/process_exit.h"
#include "report/model/run_state.h"
#include "report/model/time_axis.h"
#include "report/ops/loop.h"
#include "report/ops/op_walk.h"
#include "report/session/common_options.h"
#include "report/session/options.h"
#include "report/session/run_choice.h"
#include "report/table/print.h"
#include "report/util/text.h"

struct request {
	struct common_options asked;
	const char *deleted; /* which ones, NULL: none */
	bool is_trend;
};

/* ---- the runs ---- */

static void add_process(struct cmd_run *run, struct process *process)
{
	run->processes = array_grow(
		run->processes, run->nr_processes, &run->capacity, sizeof(*run->processes));
	run->processes[run->nr_processes++] = process;
}

static void find_runs(
	struct cmd_runs *runs, const struct cmd_input *input, char *const *paths, int nr_paths)
{
	struct runs_process *all = mem_zeroed(input->nr_processes, sizeof(*all));
	struct buf folders = {0};

	for (size_t i = 0; i < input->nr_processes; i++) {
		all[i] = runs_describe(input->processes[i]);
	}
	runs->nr = runs_group(all, input->nr_processes);
	runs->nr_all = input->nr_runs;
	runs->runs = mem_zeroed(runs->nr, sizeof(*runs->runs));
	for (size_t i = 0; i < runs->nr; i++) {
		runs->runs[i].number = i + 1;
	}
	for (size_t i = 0; i < input->nr_processes; i++) {
		if (all[i].run) {
			add_process(&runs->runs[all[i].run - 1], input->processes[i]);
		}
	}
	for (int i = 0; i < nr_paths; i++) {
		buf_char(&folders, ' ');
		text_add_shell_word(&folders, paths[i]);
	}
	buf_char(&folders, '\0');
	runs->folders = folders.bytes;
	free(all);
}

static void free_runs(struct cmd_runs *runs)
{
	for (size_t i = 0; i < runs->nr; i++) {
		free(runs->runs[i].processes);
	}
	free(runs->runs);
	free(runs->folders);
}

/* ---- how they ended ---- */

static bool does_run(const struct cmd_run *run)
{
	for (size_t i = 0; i < run->nr_processes; i++) {
		if (process_exit_state(run->processes[i]) == PROCESS_EXIT_RUNS) {
			return true;
		}
	}
	return false;
}

/* The status of a process that ended by itself, 0 if it was well or is not known. */
static int64_t status_of(const struct process *process)
{
	int64_t code = process_number(process, "end.code");

	return code > 0 && strcmp(process_fact(process, "end.how", ""), "abort") != 0 ? code : 0;
}

/*
 * The first sign is the state: a running process, an end that process_exit_add_state() knows, an
 * exit status; else whether all streams are complete.
 */
static void add_state(struct buf *out, const struct cmd_run *run)
{
	bool is_complete = true;

	if (does_run(run)) {
		buf_text(out, "running");
		return;
	}
	for (size_t i = 0; i < run->nr_processes; i++) {
		if (process_exit_add_state(out, run->processes[i])) {
			return;
		}
		is_complete &= process_is_complete(run->processes[i]);
	}
	for (size_t i = 0; i < run->nr_processes; i++) {
		const struct process *process = run->processes[i];

		if (status_of(process)) {
			buf_printf(out, "exit status %" PRId64, status_of(process));
			return;
		}
	}
	buf_text(out, is_complete ? "complete" : "incomplete");
}

/* ---- the table ---- */

struct run_row {
	struct cmd_run run;
	uint64_t nr_ranks, nr_steps;
	double median_ns;
	const char *state, *command, *id;
};

static const struct table_column columns[] = {
	TABLE_COLUMN("run", "Run", TABLE_ID, .help = "its number for --run",
		TABLE_MEMBER(run_row, run.number)),
	TABLE_COLUMN("began", "Began", TABLE_TEXT, .help = "in local time",
		TABLE_SET(run_row, run, cmd_runs_set_begin)),
	TABLE_COLUMN(
		"processes", "Processes", TABLE_COUNT, TABLE_MEMBER(run_row, run.nr_processes)),
	TABLE_COLUMN("ranks", "Ranks", TABLE_COUNT, TABLE_NONZERO(run_row, nr_ranks)),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT, TABLE_MEMBER(run_row, nr_steps)),
	TABLE_COLUMN("median_ns", "Median step", TABLE_MEAN_TIME, TABLE_MEMBER(run_row, median_ns)),
	TABLE_COLUMN("state", "State", TABLE_TEXT, TABLE_MEMBER(run_row, state)),
	TABLE_COLUMN("command", "Command", TABLE_TEXT, TABLE_MEMBER(run_row, command)),
	TABLE_COLUMN("id", "ID", TABLE_TEXT, .is_wide_only = true, .help = "GPROF_RUN",
		TABLE_MEMBER(run_row, id)),
};
#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

void cmd_runs_set_begin(const void *member, struct table_cell *cell)
{
	const struct cmd_run *run = member;
	struct buf text = {0};

	run_state_add_begin(&text, run->processes, run->nr_processes, "%Y-%m-%d %H:%M:%S");
	table_set_text(cell, text.bytes, text.nr_bytes);
	buf_fini(&text);
}

static const char *id_of(const struct cmd_run *run)
{
	for (size_t i = 0; i < run->nr_processes; i++) {
		const char *id = process_fact(run->processes[i], "config.GPROF_RUN", "");

		if (*id) {
			return id;
		}
	}
	return NULL;
}

void cmd_runs_prepare(const struct cmd_run *run)
{
	job_clock_align(run->processes, run->nr_processes);
	for (size_t i = 0; i < run->nr_processes; i++) {
		device_clock_keep_durations(run->processes[i]);
		loop_begin_steps(run->processes[i]);
	}
	time_axis_set(run->processes, run->nr_processes);
}

static void add_run(struct table *table, const struct cmd_run *run)
{
	struct headline headline = {0};
	struct headline_figures figures;
	struct buf state = {0}, command = {0};
	struct run_row row = {
		.run = *run, .median_ns = NAN, .nr_steps = UINT64_MAX, .id = id_of(run)};

	cmd_runs_prepare(run);
	headline_read_steps(&headline, &figures, run->processes, run->nr_processes);
	row.nr_ranks = figures.nr_ranks;
	if (figures.has_steps) {
		row.nr_steps = headline_nr_steps(&figures);
		row.median_ns = figures.median_ns;
	}
	run_state_add_program(&command, figures.first, 0);
	add_state(&state, run);
	buf_char(&command, '\0');
	buf_char(&state, '\0');
	row.command = command.bytes;
	row.state = state.bytes;
	table_add(table, &row);
	buf_fini(&command);
	buf_fini(&state);
	headline_fini(&headline);
}

/* The newest `top` of them, 0: all. */
static struct table *list_runs(const struct cmd_runs *runs, size_t top)
{
	struct table *table = table_create("runs", "Runs", columns, NR_COLUMNS);

	for (size_t i = 0; i < runs->nr; i++) {
		if (!top || runs->nr - i <= top) {
			add_run(table, &runs->runs[i]);
		}
	}
	return table;
}

static void print(const struct request *request, const struct cmd_runs *runs, struct buf *out)
{
	struct table *table;
	bool is_json = request->asked.table.format == TABLE_JSON;
	bool is_text = request->asked.table.format == TABLE_TEXT_FORMAT;
	struct table_style style = request->asked.table;
	size_t top = request->asked.top == COMMON_OPTIONS_NO_TOP ? 0 : request->asked.top;

	style.is_plain = style.format == TABLE_CSV;
	table = request->is_trend ? cmd_runs_trend(runs, top) : list_runs(runs, top);
	if (is_json) {
		buf_printf(out, "{\n  \"gprof_report\": \"%s\",\n", GPROF_VERSION);
	}
	table_print(table, &style, out);
	buf_text(out, is_json ? "\n}\n" : "");
	if (is_text && runs->nr > 1) {
		buf_printf(
			out, "Read one: gprof-report --run %zu%s\n", runs->nr - 1, runs->folders);
		buf_printf(out, "Compare:  gprof-report diff --run %zu --run %zu%s\n", runs->nr - 1,
			runs->nr, runs->folders);
	}
	table_destroy(table);
}

/* Files have no other runs, and a FIFO is read once. */
static bool are_folders(char *const *paths, int nr_paths)
{
	struct stat status;

	for (int i = 0; i < nr_paths; i++) {
		if (stat(paths[i], &status) || !S_ISDIR(status.st_mode)) {
			return false;
		}
	}
	return true;
}

struct table *cmd_runs_history(char *const *paths, int nr_paths, size_t top)
{
	const struct cmd_filter filter = {.run = RUN_CHOICE_ALL};
	struct cmd_runs runs = {0};
	struct table *table = NULL;
	struct cmd_input input;
	bool is_open;

	if (!are_folders(paths, nr_paths)) {
		return NULL;
	}
	cmd_mute(true); /* the page's own input says it */
	is_open = !cmd_open(&input, paths, nr_paths, &filter);
	cmd_mute(false);
	if (!is_open) {
		return NULL;
	}
	find_runs(&runs, &input, paths, nr_paths);
	if (runs.nr > 1) {
		table = cmd_runs_trend(&runs, top);
	}
	if (table && table->nr_rows < 2) {
		table_destroy(table);
		table = NULL;
	}
	free_runs(&runs);
	cmd_close(&input);
	return table;
}

/* ---- the command ---- */

static const struct option_line options[] = {
	OPTION("trend", 'T', NULL,
		"the runs with the command of the newest one: steps, MFU,\n"
		"communication, memory, and which changes are significant"),
	OPTION("delete", 'D', "N", "delete the files of run N (or 1-3, an ID), and no others"),
	COMMON_OPTIONS_TABLE,
	COMMON_OPTIONS_OUTPUT_OPTION,
	COMMON_OPTIONS_HELP_OPTION,
	{0},
};

static int take_option(struct request *request, int option)
{
	if (option == 'T') {
		request->is_trend = true;
		return 0;
	}
	if (option != 'D') {
		return common_options_take(&request->asked, option);
	}
	request->deleted = optarg;
	if (strcmp(optarg, RUN_CHOICE_ALL) == 0) {
		return cmd_usage(&cmd_runs, "--delete takes numbers; to delete all runs, delete "
					    "the folder");
	}
	return run_choice_is_valid(optarg)
		       ? 0
		       : cmd_usage(&cmd_runs, "invalid run '%s' for --delete", optarg);
}

static int run_input(struct request *request, char *const *paths, int nr_paths)
{
	/* The choice of a run says which ones there are not. */
	const struct cmd_filter filter = {
		.run = request->deleted ? request->deleted : RUN_CHOICE_ALL};
	struct cmd_runs runs = {0};
	struct cmd_input input;
	struct cmd_output output;
	struct buf out;
	int status = (int)cmd_open(&input, paths, nr_paths, &filter);

	if (status) {
		return status;
	}
	find_runs(&runs, &input, paths, nr_paths);
	if (request->deleted) {
		status = (int)cmd_runs_delete(&runs, request->deleted);
	} else {
		cmd_output_init(&output, &out, request->asked.output);
		print(request, &runs, &out);
		status = (int)cmd_output_end(&output, &out);
		buf_fini(&out);
		status = status ? status : (int)input.status;
	}
	free_runs(&runs);
	cmd_close(&input);
	return status;
}

static int run(int argc, char **argv)
{
	struct request request = {.asked = {.command = &cmd_runs, .top = COMMON_OPTIONS_NO_TOP}};
	int option, status = 0;

	while (!status && (option = options_get(&cmd_runs, argc, argv)) >= 0) {
		status = take_option(&request, option);
	}
	if (!status) {
		terminal_set(&request.asked.table, request.asked.output, request.asked.color);
		status = run_input(&request, argv + optind, argc - optind);
	}
	common_options_fini(&request.asked);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

const struct command cmd_runs = {
	.name = "runs",
	.arguments = "[OPTION]... [DIR]...",
	.help = "list the runs of a folder: when, what, steps, median step, how it ended",
	.options = options,
	.run = run,
};
