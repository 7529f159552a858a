/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams are dealt to processes, one for each core, since texts and errors are of one thread.
 * What they hand over is the file that they would have written.
 */
#include "report/session/importers.h"
#include "report/cli/cmd_reduce.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/stream/prefetch.h"
#include "report/model/device_clock.h"
#include "report/ops/loop.h"
#include "report/session/options.h"
#include "report/session/run_choice.h"
#include "report/session/common_options.h"
#include "report/util/err.h"
#include "report/reduce/reduced_job.h"
#include "report/util/files.h"

#define MAX_JOBS 1024u

/* ---- a share ---- */

enum cmd_exit cmd_reduce_merge(
	struct reduced *into, struct reduced *from, enum cmd_exit a, enum cmd_exit b)
{
	if (a == CMD_FAILED || b == CMD_FAILED) {
		return CMD_FAILED;
	}
	if (reduced_merge(into, from)) {
		cmd_error("cannot merge summaries: %s", err_text());
		return CMD_FAILED;
	}
	return a > b ? a : b;
}

static enum cmd_exit read_summary(struct reduced *into, const char *path)
{
	if (reduced_read(into, path)) {
		cmd_error("cannot read '%s': %s", path, err_text());
		return CMD_INCOMPLETE;
	}
	return CMD_GOOD;
}

static enum cmd_exit read_stream(struct reduced *into, char *path)
{
	struct cmd_input input;
	enum cmd_exit status = cmd_open(&input, &path, 1, NULL);

	if (status) {
		return CMD_INCOMPLETE; /* which was said */
	}
	device_clock_keep_durations(input.processes[0]);
	loop_begin_steps(input.processes[0]);
	reduce_process(into, input.processes[0]);
	status = cmd_warn_losses(&input);
	cmd_close(&input);
	return status;
}

enum cmd_exit cmd_reduce_share(
	struct reduced *into, const struct dumpdir *paths, size_t first, size_t stride)
{
	enum cmd_exit status = CMD_GOOD;

	for (size_t i = first; i < paths->nr_paths && status != CMD_FAILED; i += stride) {
		struct reduced one = {0};
		enum cmd_exit result = dumpdir_is_summary(paths->paths[i])
					       ? read_summary(&one, paths->paths[i])
					       : read_stream(&one, paths->paths[i]);

		if (reduced_job_warn_lost(&one)) {
			result = result > CMD_INCOMPLETE ? result : CMD_INCOMPLETE;
		}
		status = cmd_reduce_merge(into, &one, status, result);
		reduced_fini(&one);
	}
	return status;
}

/* ---- several processes ---- */

struct job {
	pid_t pid;
	int fd; /* a file for the summary */
};

static void run_job(const struct job *job, const struct dumpdir *paths, size_t first, size_t stride)
{
	struct reduced reduced = {0};
	struct buf bytes = {0};
	enum cmd_exit status;

	status = cmd_reduce_share(&reduced, paths, first, stride);
	reduced_write(&reduced, &bytes);
	if (!temp_file_write(job->fd, 0, bytes.bytes, bytes.nr_bytes)) {
		cmd_error("cannot write to a temporary file");
		status = CMD_FAILED;
	}
	fflush(stderr);
	_exit((int)status);
}

/* False where there is no room for one more. */
static bool start_job(struct job *job, const struct dumpdir *paths, size_t first, size_t stride)
{
	job->fd = temp_file_open();
	if (job->fd < 0) {
		return false;
	}
	fflush(NULL);
	job->pid = fork();
	if (!job->pid) {
		run_job(job, paths, first, stride);
	}
	if (job->pid < 0) {
		close(job->fd);
	}
	return job->pid > 0;
}

static enum cmd_exit read_back(struct reduced *reduced, int fd)
{
	off_t nr_bytes = lseek(fd, 0, SEEK_END);
	char *bytes = mem_zeroed(nr_bytes > 0 ? (size_t)nr_bytes : 0, 1);
	enum cmd_exit status = CMD_GOOD;

	temp_file_read_back(fd, 0, bytes, nr_bytes > 0 ? (size_t)nr_bytes : 0);
	if (reduced_read_bytes(reduced, bytes, nr_bytes > 0 ? (size_t)nr_bytes : 0)) {
		cmd_error("cannot read the result of a worker process: %s", err_text());
		status = CMD_FAILED;
	}
	free(bytes);
	return status;
}

static enum cmd_exit end_job(struct reduced *reduced, const struct job *job)
{
	enum cmd_exit result;
	int status = -1;

	waitpid(job->pid, &status, 0);
	if (WIFEXITED(status) &&
		(WEXITSTATUS(status) == CMD_GOOD || WEXITSTATUS(status) == CMD_INCOMPLETE)) {
		result = read_back(reduced, job->fd);
		result = result ? result : (enum cmd_exit)WEXITSTATUS(status);
	} else {
		if (!WIFEXITED(status)) {
			cmd_error("signal %d ended a worker process", WTERMSIG(status));
		}
		result = CMD_FAILED;
	}
	close(job->fd);
	return result;
}

static enum cmd_exit run_jobs(struct reduced *into, const struct dumpdir *paths, size_t nr_jobs)
{
	struct job *jobs = mem_zeroed(nr_jobs, sizeof(*jobs));
	enum cmd_exit status = CMD_GOOD;
	size_t nr = 0;

	while (nr < nr_jobs && start_job(&jobs[nr], paths, nr, nr_jobs)) {
		nr++;
	}
	/* The shares of those that could not be started. */
	for (size_t i = nr; i < nr_jobs && status != CMD_FAILED; i++) {
		struct reduced share = {0};
		enum cmd_exit result = cmd_reduce_share(&share, paths, i, nr_jobs);

		status = cmd_reduce_merge(into, &share, status, result);
		reduced_fini(&share);
	}
	for (size_t i = 0; i < nr; i++) {
		struct reduced share = {0};
		enum cmd_exit result = end_job(&share, &jobs[i]);

		status = cmd_reduce_merge(into, &share, status, result);
		reduced_fini(&share);
	}
	free(jobs);
	return status;
}

/* ---- the command ---- */

static const struct option_line options[] = {
	COMMON_OPTIONS_OUTPUT("the summary; gprof-report summary FILE prints it"),
	OPTION("jobs", 'j', "N", "processes that work at once (default: one per core)",
		.letter = 'j'),
	COMMON_OPTIONS_RUN_OPTION,
	OPTION("share", 'S', "I/N",
		"take share I, from 0, of N shares of the paths: for tasks of\n"
		"a batch system"),
	COMMON_OPTIONS_HELP_OPTION,
	{0},
};

static bool take_share(struct cmd_reduce *asked, const char *text)
{
	char *copy = mem_text(text), *slash = strchr(copy, '/');
	bool is_good;

	if (slash) {
		*slash = 0;
	}
	is_good = slash && cmd_number(copy, UINT32_MAX, &asked->share) &&
		  cmd_number(slash + 1, UINT32_MAX, &asked->nr_shares) &&
		  asked->share < asked->nr_shares;
	free(copy);
	return is_good;
}

static int take_option(struct cmd_reduce *asked, int option)
{
	switch (option) {
	case 'N':
		asked->run = optarg;
		return run_choice_is_valid(optarg)
			       ? 0
			       : cmd_usage(&cmd_reduce, "invalid run '%s' for --run", optarg);
	case 'o':
		asked->output = optarg;
		return 0;
	case 'j':
		if (!cmd_number(optarg, MAX_JOBS, &asked->nr_jobs) || !asked->nr_jobs) {
			return cmd_usage(
				&cmd_reduce, "-j takes 1 to %u, not '%s'", MAX_JOBS, optarg);
		}
		return 0;
	case 'S':
		return take_share(asked, optarg)
			       ? 0
			       : cmd_usage(&cmd_reduce, "invalid share '%s'; examples: 0/64, 63/64",
					 optarg);
	case 'h':
		cmd_print_usage(&cmd_reduce);
		return COMMON_OPTIONS_HELP;
	default:
		return CMD_USAGE; /* options_get has said why */
	}
}

/* ---- the runs of folders ---- */

/* The streams of a folder, for the choice; other files are of no run. */
static void add_to_choice(struct run_choice *choice, const char *path, size_t folder)
{
	struct stream *stream;
	struct process *process;

	if (strstr(path, ".gprof") && !dumpdir_is_summary(path) &&
		!stream_open(&stream, path, stream_importers)) {
		process = process_create(stream);
		run_choice_add(choice, process, NULL, folder);
		process_destroy(process);
	} else {
		run_choice_add(choice, NULL, NULL, 0); /* whoever reduces it says what is wrong */
	}
}

/*
 * Keeps only the paths of the chosen runs, where an argument is a folder. first: for each argument
 * the index of its first path, and then the number of all.
 */
static int keep_runs(
	struct cmd_reduce *asked, char *const *arguments, size_t nr_arguments, const size_t *first)
{
	struct dumpdir *paths = &asked->paths;
	struct run_choice choice = {0};
	struct buf line = {0};
	size_t nr = 0;

	for (size_t i = 0; i < nr_arguments; i++) {
		bool is_folder = first[i + 1] - first[i] > 1;

		for (size_t k = first[i]; k < first[i + 1]; k++) {
			add_to_choice(&choice, paths->paths[k], is_folder ? i + 1 : 0);
		}
	}
	run_choice_make(&choice, asked->run);
	for (size_t i = 0; i < paths->nr_paths; i++) {
		if (choice.processes[i].is_chosen) {
			paths->paths[nr++] = paths->paths[i];
		} else {
			free(paths->paths[i]);
		}
	}
	paths->nr_paths = nr;
	if (!nr) {
		run_choice_add_known(&line, &choice);
		cmd_error("no run matches --run %s; %.*s", asked->run, (int)line.nr_bytes,
			line.bytes);
	} else if (!asked->run) {
		run_choice_add_others(&line, &choice, arguments, nr_arguments);
	}
	if (nr && line.nr_bytes) {
		cmd_error("%.*s", (int)line.nr_bytes, line.bytes);
	}
	buf_fini(&line);
	run_choice_fini(&choice);
	return nr ? 0 : CMD_FAILED;
}

/* Opening each stream once more takes a while, so only where there may be several runs. */
static int find_paths(struct cmd_reduce *asked, char *const *arguments, int nr_arguments)
{
	size_t *first = mem_zeroed((size_t)nr_arguments + 1, sizeof(*first));
	bool has_folder = false;
	int status = 0;

	for (int i = 0; i < nr_arguments; i++) {
		if (dumpdir_add(&asked->paths, arguments[i])) {
			cmd_error("cannot read '%s': %s", arguments[i], err_text());
			asked->status = CMD_INCOMPLETE;
		}
		first[i + 1] = asked->paths.nr_paths;
		has_folder |= first[i + 1] - first[i] > 1;
	}
	if (!asked->paths.nr_paths) {
		status = CMD_FAILED;
	} else if (asked->run ? strcmp(asked->run, RUN_CHOICE_ALL) != 0 : has_folder) {
		status = keep_runs(asked, arguments, (size_t)nr_arguments, first);
	}
	free(first);
	return status;
}

/* Those of the share stay. */
static void keep_share(struct cmd_reduce *asked)
{
	struct dumpdir *paths = &asked->paths;
	size_t nr = 0;

	for (size_t i = 0; asked->nr_shares && i < paths->nr_paths; i++) {
		if (i % asked->nr_shares == asked->share) {
			paths->paths[nr++] = paths->paths[i];
		} else {
			free(paths->paths[i]);
		}
	}
	paths->nr_paths = asked->nr_shares ? nr : paths->nr_paths;
}

int cmd_reduce_take(struct cmd_reduce *asked, int argc, char **argv)
{
	int option, status = 0;

	*asked = (struct cmd_reduce){.status = CMD_GOOD};
	while (!status && (option = options_get(&cmd_reduce, argc, argv)) >= 0) {
		status = take_option(asked, option);
	}
	if (status) {
		return status;
	}
	if (!asked->output || optind == argc) {
		return cmd_usage(&cmd_reduce, "%s",
			asked->output ? "name streams, summaries or their directories"
				      : "name the output: -o FILE");
	}
	status = find_paths(asked, argv + optind, argc - optind);
	if (!status) {
		keep_share(asked);
	}
	return status;
}

enum cmd_exit cmd_reduce_write(
	const struct cmd_reduce *asked, struct reduced *reduced, enum cmd_exit status)
{
	struct cmd_output output;
	enum cmd_exit written;
	struct buf out;

	/* A share without paths is a summary of nothing, which adds nothing. */
	if (status == CMD_FAILED || (!reduced->nr_processes && asked->paths.nr_paths)) {
		return CMD_FAILED; /* which was said */
	}
	cmd_output_init(&output, &out, asked->output);
	reduced_write(reduced, &out);
	written = cmd_output_end(&output, &out);
	buf_fini(&out);
	status = status > asked->status ? status : asked->status;
	return written ? written : status;
}

static int run(int argc, char **argv)
{
	struct cmd_reduce asked;
	struct reduced reduced = {0};
	int status = cmd_reduce_take(&asked, argc, argv);
	size_t nr_jobs = asked.nr_jobs ? (size_t)asked.nr_jobs : prefetch_nr_threads();

	if (asked.paths.nr_paths > 1) {
		prefetch_set_threads(1); /* cores have streams of their own */
	}
	if (!status) {
		nr_jobs = nr_jobs < asked.paths.nr_paths ? nr_jobs : asked.paths.nr_paths;
		status = (int)(nr_jobs > 1 ? run_jobs(&reduced, &asked.paths, nr_jobs)
					   : cmd_reduce_share(&reduced, &asked.paths, 0, 1));
		status = (int)cmd_reduce_write(&asked, &reduced, (enum cmd_exit)status);
	}
	reduced_fini(&reduced);
	dumpdir_fini(&asked.paths);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

const struct command cmd_reduce = {
	.name = "reduce",
	.arguments = "-o FILE [OPTION]... PATH...",
	.help = "make a small summary of streams, or merge summaries",
	.options = options,
	.run = run,
};
