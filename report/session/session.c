/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_open() opens all processes that the paths name, groups them into runs, and keeps those of the
 * wanted run that pass the filter. The warnings after a command say what of them is damaged, lost
 * or unfinished. An output file is made only once there is something to write.
 */
#include "report/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/stream/dumpdir.h"
#include "report/model/process_exit.h"
#include "report/util/err.h"
#include "report/comm/sanity.h"
#include "report/stream/rings.h"
#include "report/comm/job_clock.h"
#include "report/session/run_choice.h"
#include "report/session/importers.h"
#include "report/table/print.h"
#include "report/util/text.h"
#include "report/model/model.h"
#include "report/util/sort.h"

/* Damages of a stream that are printed; the rest is counted. */
#define MAX_DAMAGES 5u

/* A line of help with so many blanks in front goes on from the one above. */
#define MIN_BELOW 12u
/* The last column of help begins before this one. */
#define MAX_INDENT 46u

/* Input that is opened a second time reports its errors only once. */
static bool is_muted;

void cmd_mute(bool is_on)
{
	is_muted = is_on;
}

/* File names, options and texts of streams must not reach the terminal raw. */
static void print_shown(const char *format, va_list arguments, const char *end)
{
	struct buf shown = {0};
	char *text;

	if (!is_muted && vasprintf(&text, format, arguments) >= 0) {
		text_add_shown(&shown, text, strlen(text), 0);
		fprintf(stderr, "gprof-report: %.*s%s\n", (int)shown.nr_bytes, shown.bytes, end);
		free(text);
	}
	buf_fini(&shown);
}

void cmd_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_shown(format, arguments, "");
	va_end(arguments);
}

static void print_sentence(const char *sentence)
{
	cmd_error("%s", sentence);
}

int cmd_usage(const struct command *command, const char *format, ...)
{
	va_list arguments;
	char end[64];

	snprintf(end, sizeof(end), "; try: gprof-report help%s%s", command ? " " : "",
		command ? command->name : "");
	va_start(arguments, format);
	print_shown(format, arguments, end);
	va_end(arguments);
	return CMD_USAGE;
}

/* Returns where the last column of a line of help begins: behind its last two blanks. */
static size_t help_column(const char *line, size_t length)
{
	size_t column = strspn(line, " ");

	for (size_t i = column; i + 2 < length && i < MAX_INDENT; i++) {
		if (line[i] == ' ' && line[i + 1] == ' ' && line[i + 2] != ' ') {
			column = i + 2;
		}
	}
	return column < length ? column : 0;
}

/* Adds a line with those that go on below it, wrapped. Returns where the next one begins. */
static const char *wrap_help(struct buf *out, const char *line, size_t width)
{
	size_t length = strcspn(line, "\n"), column = help_column(line, length);
	struct buf text = {0}, indent = {0}, lines = {0};
	const char *at = line;

	if (!length) {
		buf_char(out, '\n');
		return line + 1;
	}
	buf_add(&text, line + column, length - column);
	for (at += length + (line[length] == '\n'); strspn(at, " ") >= MIN_BELOW;
		at += length + (at[length] == '\n')) {
		length = strcspn(at, "\n");
		buf_char(&text, ' ');
		buf_add(&text, at + strspn(at, " "), length - strspn(at, " "));
	}
	buf_char(&text, '\0');
	buf_pad(&indent, ' ', column);
	buf_char(&indent, '\0');
	text_wrap(&lines, text.bytes, indent.bytes, width);
	memcpy(lines.bytes, line, column);
	buf_add(out, lines.bytes, lines.nr_bytes);
	buf_fini(&text);
	buf_fini(&indent);
	buf_fini(&lines);
	return at;
}

void cmd_print_help(const struct buf *text)
{
	struct table_style style = {.format = TABLE_TEXT_FORMAT};
	struct buf all = {0}, out = {0};

	terminal_set(&style, NULL, TERMINAL_AUTO);
	buf_add(&all, text->bytes, text->nr_bytes);
	buf_char(&all, '\0');
	for (const char *line = all.bytes; style.width && *line;) {
		line = wrap_help(&out, line, style.width);
	}
	cmd_write(NULL, style.width ? &out : text);
	buf_fini(&all);
	buf_fini(&out);
}

int cmd_print_usage(const struct command *command)
{
	struct buf out = {0};

	buf_printf(&out, "usage: gprof-report %s %s\n\n%s\n", command->name, command->arguments,
		command->help);
	if (command->options->name) {
		buf_char(&out, '\n');
		option_lines_add_help(&out, command->options);
	}
	if (command->print_more) {
		command->print_more(&out);
	}
	cmd_print_help(&out);
	buf_fini(&out);
	return CMD_GOOD;
}

bool cmd_number(const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9') {
		return false;
	}
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end && *value <= most;
}

bool cmd_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "kMG";
	size_t length = strlen(text);
	const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
	char digits[16];
	bool is_good;

	length -= unit != NULL;
	if (length >= sizeof(digits)) {
		return false;
	}
	memcpy(digits, text, length);
	digits[length] = 0;
	is_good = cmd_number(digits, UINT32_MAX, bytes);
	for (const char *u = units; unit && u <= unit; u++) {
		*bytes *= 1000;
	}
	return is_good;
}

/* ---- input ---- */

static bool is_wanted(const struct process *process, const struct cmd_filter *filter)
{
	if (!filter) {
		return true;
	}
	return (numbers_is_empty(&filter->pids) || numbers_has(&filter->pids, process->pid)) &&
	       (numbers_is_empty(&filter->ranks) ||
		       (process->rank >= 0 &&
			       numbers_has(&filter->ranks, (uint64_t)process->rank)));
}

void cmd_filter_fini(struct cmd_filter *filter)
{
	numbers_fini(&filter->pids);
	numbers_fini(&filter->ranks);
}

static int compare(const void *a, const void *b)
{
	const struct process *x = *(struct process *const *)a, *y = *(struct process *const *)b;

	return ORDER(COMPARE(x->rank, y->rank), strcmp(process_host(x), process_host(y)),
		COMPARE(x->pid, y->pid),
		COMPARE(x->stream->header.start_realtime_ns, y->stream->header.start_realtime_ns));
}

/* A job may have more streams than a process may usually have files open. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The ranks that the runs have, before any other choice. */
struct rank_range {
	int64_t first, last; /* -1: none */
};

/* An input that is being opened. */
struct opening {
	struct cmd_input *input;
	const struct cmd_filter *filter;
	struct run_choice choice;
	char **folders; /* those among the named paths, from whose runs some are chosen */
	size_t nr_folders, folder_capacity;
};

/* Keeps the process of a stream if it is wanted. folder: as run_choice.h has it. */
static void add_stream(struct opening *opening, struct stream *stream, size_t folder)
{
	struct process *process = process_create(stream);
	bool is_kept = is_wanted(process, opening->filter);

	if (process_exit_is_gone(process)) {
		rings_keep(stream);
	}
	run_choice_add(&opening->choice, process, is_kept ? process : NULL, folder);
	if (!is_kept) {
		process_destroy(process);
	}
}

static void open_path(struct opening *opening, const char *path, size_t folder)
{
	struct stream *first, *stream;

	if (stream_open(&first, path, stream_importers)) {
		cmd_error("cannot read '%s': %s", path,
			dumpdir_is_summary(path)
				? "it is a summary written by reduce; only summary, "
				  "html and reduce read it, and not together with streams"
				: err_text());
		opening->input->status = CMD_INCOMPLETE;
		return;
	}
	for (size_t part = 1; part < first->nr_parts; part++) {
		if (stream_open_part(&stream, first, part)) {
			cmd_error("cannot read '%s': %s", path, err_text());
			opening->input->status = CMD_INCOMPLETE;
			continue;
		}
		add_stream(opening, stream, folder);
	}
	add_stream(opening, first, folder);
}

/* Keeps the processes of the chosen runs. */
static void keep_chosen(struct opening *opening, struct rank_range *ranks)
{
	struct cmd_input *input = opening->input;

	for (size_t i = 0; i < opening->choice.nr; i++) {
		const struct run_choice_process *found = &opening->choice.processes[i];
		int64_t rank = opening->choice.runs[i].rank;

		if (found->process && !found->is_chosen) {
			process_destroy(found->process);
		}
		if (found->is_chosen && rank >= 0) {
			ranks->first =
				ranks->first < 0 || rank < ranks->first ? rank : ranks->first;
			ranks->last = rank > ranks->last ? rank : ranks->last;
		}
		if (found->process && found->is_chosen) {
			input->processes = array_grow(input->processes, input->nr_processes,
				&input->capacity, sizeof(*input->processes));
			input->processes[input->nr_processes++] = found->process;
		}
	}
	if (input->nr_processes) {
		qsort(input->processes, input->nr_processes, sizeof(struct process *), compare);
	}
}

/* Says which runs are left out, or that there is no such run; false then. */
static bool tell_choice(const struct opening *opening)
{
	const char *run = opening->filter ? opening->filter->run : NULL;
	struct buf line = {0};
	bool is_found = false;

	for (size_t i = 0; i < opening->choice.nr; i++) {
		is_found |= opening->choice.processes[i].is_chosen;
	}
	is_found |= !opening->choice.nr; /* then other words say why */
	if (!is_found) {
		run_choice_add_known(&line, &opening->choice);
		cmd_error("no run matches --run %s; %.*s", run, (int)line.nr_bytes, line.bytes);
	} else if (!run) {
		run_choice_add_others(
			&line, &opening->choice, opening->folders, opening->nr_folders);
		if (line.nr_bytes) {
			cmd_error("%.*s", (int)line.nr_bytes, line.bytes);
		}
	}
	buf_fini(&line);
	return is_found;
}

static void add_ranks(struct buf *out, const struct rank_range *ranks)
{
	if (ranks->first >= 0 && ranks->first == ranks->last) {
		buf_printf(out, "; there is rank %" PRId64, ranks->first);
	} else if (ranks->first >= 0) {
		buf_printf(out, "; there are ranks %" PRId64 " to %" PRId64, ranks->first,
			ranks->last);
	}
}

/* Warns of each part of a list that matches no process. `ranks` is NULL for a list of pids. */
static void warn_absent(struct cmd_input *input, const struct numbers *asked, const char *option,
	const struct rank_range *ranks)
{
	for (size_t i = 0; i < asked->nr_spans; i++) {
		const struct number_span *span = &asked->spans[i];
		bool is_found = false;

		for (size_t k = 0; k < input->nr_processes && !is_found; k++) {
			const struct process *process = input->processes[k];
			uint64_t number = ranks ? (uint64_t)process->rank : process->pid;

			is_found = number >= span->first && number <= span->last &&
				   (!ranks || process->rank >= 0);
		}
		if (!is_found) {
			struct buf list = {0};

			numbers_print_span(span, &list);
			if (ranks) {
				add_ranks(&list, ranks);
			}
			cmd_error("no process matches %s %.*s", option, (int)list.nr_bytes,
				list.bytes);
			buf_fini(&list);
			input->status = CMD_INCOMPLETE;
		}
	}
}

/*
 * Adds the path of the library beside this program, as in the build; else its name, as installed.
 */
static void add_library(struct buf *out)
{
	static const char library[] = "libgprof.so";
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(library));
	char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		strcpy(slash + 1, library);
	}
	text_add_shell_word(out, slash && access(path, R_OK) == 0 ? path : library);
}

/* Nothing is there: prints how to record it. */
static void warn_nothing(const char *path, const char *usual)
{
	bool is_named = strcmp(path, "gprof-dump") != 0;
	struct buf command = {0};

	if (is_named && strcmp(path, usual) == 0) {
		is_named = false; /* GPROF_DIR is set */
	}
	if (is_named) {
		buf_text(&command, "GPROF_DIR=");
		text_add_shell_word(&command, path);
		buf_text(&command, " ");
	}
	buf_text(&command, "LD_PRELOAD=");
	add_library(&command);
	buf_text(&command, " PROGRAM");
	if (access(path, F_OK) == 0) {
		cmd_error("cannot read '%s': %s; record with: %.*s", path, err_text(),
			(int)command.nr_bytes, command.bytes);
	} else {
		cmd_error("cannot read '%s': it does not exist. A process that runs with "
			  "libgprof.so and uses CUDA, NVTX, NCCL or a framework creates it; "
			  "record with: %.*s",
			path, (int)command.nr_bytes, command.bytes);
	}
	buf_fini(&command);
}

/* "trace.json": a file, not the directory of a recording. */
static bool has_suffix(const char *path)
{
	const char *name = strrchr(path, '/');

	return strchr(name ? name : path, '.') != NULL;
}

static void warn_unreadable(const char *path, int error, const char *usual)
{
	if (error == -ENOENT && (access(path, F_OK) == 0 || !has_suffix(path))) {
		warn_nothing(path, usual);
	} else {
		cmd_error("cannot read '%s': %s", path, err_text());
	}
}

/* Opens all recordings that a path names. */
static void open_named(struct opening *opening, char *path, const char *usual)
{
	struct dumpdir dumpdir = {0};
	int error = dumpdir_add(&dumpdir, path);
	struct stat status;
	size_t folder = 0;

	if (error) {
		warn_unreadable(path, error, usual);
		opening->input->status = CMD_INCOMPLETE;
	} else if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
		opening->folders = array_grow(opening->folders, opening->nr_folders,
			&opening->folder_capacity, sizeof(*opening->folders));
		opening->folders[opening->nr_folders++] = path;
		folder = opening->nr_folders;
	}
	for (size_t i = 0; i < dumpdir.nr_paths; i++) {
		open_path(opening, dumpdir.paths[i], folder);
	}
	dumpdir_fini(&dumpdir);
}

static void warn_unmatched(const struct rank_range *ranks)
{
	struct buf list = {0};

	add_ranks(&list, ranks);
	cmd_error("no process matches --pid and --rank%.*s", (int)list.nr_bytes,
		list.bytes ? list.bytes : "");
	buf_fini(&list);
}

/*
 * A path that cannot be read makes the result incomplete; only without any process is it a failure.
 */
enum cmd_exit cmd_open(
	struct cmd_input *input, char *const *paths, int nr_paths, const struct cmd_filter *filter)
{
	struct opening opening = {.input = input, .filter = filter};
	struct rank_range ranks = {-1, -1};
	const char *set = getenv("GPROF_DIR");
	char *usual = mem_text(set && *set ? set : "gprof-dump");
	bool is_found;

	*input = (struct cmd_input){.status = CMD_GOOD};
	raise_file_limit();
	for (int i = 0; i < nr_paths; i++) {
		open_named(&opening, paths[i], usual);
	}
	if (!nr_paths) {
		open_named(&opening, usual, usual);
	}
	run_choice_make(&opening.choice, filter ? filter->run : RUN_CHOICE_ALL);
	is_found = tell_choice(&opening);
	keep_chosen(&opening, &ranks);
	if (is_found && !input->nr_processes && input->status == CMD_GOOD) {
		warn_unmatched(&ranks);
	}
	if (filter && input->nr_processes) {
		warn_absent(input, &filter->ranks, "--rank", &ranks);
		warn_absent(input, &filter->pids, "--pid", NULL);
	}
	if (dedup_drop(input->processes, &input->nr_processes, print_sentence)) {
		input->status = CMD_INCOMPLETE;
	}
	foreign_rank_mark(input->processes, input->nr_processes);
	input->nr_runs = opening.choice.nr_runs;
	run_choice_fini(&opening.choice);
	free(opening.folders);
	free(usual);
	if (!input->nr_processes) {
		free(input->processes); /* after a failure nobody closes it */
		input->processes = NULL;
		return CMD_FAILED;
	}
	return CMD_GOOD;
}

void cmd_close(struct cmd_input *input)
{
	for (size_t i = 0; i < input->nr_processes; i++) {
		process_destroy(input->processes[i]);
	}
	free(input->processes);
	*input = (struct cmd_input){0};
}

/* ---- losses ---- */

static void warn_damages(const struct stream *stream)
{
	for (size_t i = 0; i < stream->nr_damages && i < MAX_DAMAGES; i++) {
		const struct stream_damage *damage = &stream->damages[i];

		if (stream->is_trace && !damage->offset) {
			cmd_error("%s: %s", stream->label, damage->what);
			continue;
		}
		if (stream->is_trace) {
			cmd_error("%s: at byte %llu of its text: %s", stream->label,
				(unsigned long long)damage->offset, damage->what);
			continue;
		}
		cmd_error("%s: block %llu at byte %llu is damaged: %s", stream->label,
			(unsigned long long)damage->block, (unsigned long long)damage->offset,
			damage->what);
	}
	if (stream->nr_damages > MAX_DAMAGES) {
		cmd_error("%s: %zu more damaged places; gprof-report check lists all",
			stream->label, stream->nr_damages - MAX_DAMAGES);
	}
}

static void warn_rows(const struct stream *stream)
{
	for (size_t i = 0; i < stream->nr_tables; i++) {
		const struct stream_table *table = &stream->tables[i];

		if (table->rows_missing) {
			cmd_error("%s: %llu rows of table %s are missing", stream->label,
				(unsigned long long)table->rows_missing, table->name);
		}
		if (table->rows_damaged) {
			cmd_error("%s: %llu rows of table %s are damaged", stream->label,
				(unsigned long long)table->rows_damaged, table->name);
		}
	}
	if (stream->blocks_missing) {
		cmd_error("%s: %llu blocks are missing", stream->label,
			(unsigned long long)stream->blocks_missing);
	}
	if (stream->is_schema_assumed) {
		cmd_error("%s: part of the schema is missing; the schema of version %u.%u "
			  "replaces it",
			stream->label, GPROF_FORMAT_MAJOR, GPROF_FORMAT_MINOR);
	}
}

static void warn_end(const struct cmd_input *input, const struct process *process)
{
	struct buf line = {0};

	process_exit_add_text(&line, process, input->processes, input->nr_processes);
	cmd_error("%s is unfinished: its process %.*s", process->stream->label, (int)line.nr_bytes,
		line.bytes);
	buf_fini(&line);
}

static void warn_losses(const struct process *process)
{
	for (size_t i = 0; i < process->nr_losses; i++) {
		const struct model_loss *loss = &process->losses[i];

		cmd_error("%s: %llu %s: %s", process->stream->label,
			(unsigned long long)loss->count, model_loss_unit(loss),
			string_pool_text(loss->cause, NULL));
	}
}

static void warn_process(const struct cmd_input *input, const struct process *process)
{
	const struct stream *stream = process->stream;
	const char *from = stream->label;
	uint64_t missing = process_missing(process);

	warn_damages(stream);
	warn_rows(stream);
	warn_losses(process);
	if (stream->ring_rows_damaged) {
		cmd_error("%s: %llu damaged places in the ring file", from,
			(unsigned long long)stream->ring_rows_damaged);
	}
	if (process_lacks_end(process)) {
		warn_end(input, process);
	}
	if (missing) {
		cmd_error("%s: the data are incomplete: %llu event%s missing", from,
			(unsigned long long)missing, missing == 1 ? " is" : "s are");
	}
}

/* Says why there are no events at all, if there are none. */
static void warn_empty(const struct cmd_input *input)
{
	const struct process *process = input->nr_processes ? input->processes[0] : NULL;
	const char *capture, *schedule;

	for (size_t i = 0; i < input->nr_processes; i++) {
		if (input->processes[i]->nr_events || !input->processes[i]->is_ended ||
			!process_is_complete(input->processes[i])) {
			return;
		}
	}
	if (!process) {
		return;
	}
	if (process->stream->is_trace) {
		cmd_error("%s has no events", process->stream->label);
		return;
	}
	capture = process_fact(process, "config.GPROF_CAPTURE", "none");
	schedule = process_fact(process, "config.GPROF_SCHEDULE", "all");
	if (strcmp(capture, "none") != 0) {
		cmd_error("no events were recorded: GPROF_CAPTURE=%s records only between "
			  "cudaProfilerStart and cudaProfilerStop",
			capture);
	} else if (strcmp(schedule, "all") != 0) {
		cmd_error("no events were recorded: GPROF_SCHEDULE=%s records only these steps",
			schedule);
	} else {
		cmd_error("no events were recorded: the program used no CUDA, NVTX, NCCL or "
			  "framework function that gprof records");
	}
}

enum cmd_exit cmd_warn_losses(const struct cmd_input *input)
{
	enum cmd_exit status = input->status;

	warn_empty(input);
	for (size_t i = 0; i < input->nr_processes; i++) {
		if (!process_is_complete(input->processes[i])) {
			warn_process(input, input->processes[i]);
			status = CMD_INCOMPLETE;
		} else {
			warn_losses(input->processes[i]);
		}
	}
	return status;
}

enum cmd_exit cmd_warn_inconsistent(
	const struct cmd_input *input, const struct cmd_filter *filter, enum cmd_exit status)
{
	bool is_part = !numbers_is_empty(&filter->pids) || !numbers_is_empty(&filter->ranks);

	if (sanity_check(input->processes, input->nr_processes, is_part, print_sentence) &&
		status == CMD_GOOD) {
		return CMD_INCOMPLETE;
	}
	return status;
}

/* ---- output ---- */

static int open_output(struct cmd_output *output)
{
	bool is_file = output->path && strcmp(output->path, "-") != 0;

	if (!output->file && !output->error) {
		output->file = is_file ? fopen(output->path, "w") : stdout;
		output->error = output->file ? 0 : -errno;
	}
	return output->error;
}

static int flush_output(void *context, const char *bytes, size_t nr_bytes)
{
	struct cmd_output *output = context;

	if (!open_output(output) && fwrite(bytes, 1, nr_bytes, output->file) != nr_bytes) {
		output->error = errno ? -errno : -EIO;
	}
	return output->error;
}

void cmd_output_init(struct cmd_output *output, struct buf *buf, const char *path)
{
	*output = (struct cmd_output){.path = path};
	buf_init(buf, flush_output, output);
	buf->is_manual = true;
}

enum cmd_exit cmd_output_end(struct cmd_output *output, struct buf *buf)
{
	buf_flush(buf);
	if (!open_output(output) &&
		(output->file == stdout ? fflush(stdout) : fclose(output->file)) != 0 &&
		!output->error) {
		output->error = -errno;
	}
	if (output->error) {
		cmd_error("cannot write '%s': %s",
			output->path && strcmp(output->path, "-") != 0 ? output->path : "stdout",
			strerror(-output->error));
	}
	return output->error ? CMD_FAILED : CMD_GOOD;
}

enum cmd_exit cmd_write(const char *path, const struct buf *out)
{
	struct cmd_output output;
	struct buf buf;

	cmd_output_init(&output, &buf, path);
	flush_output(&output, out->bytes, out->nr_bytes);
	return cmd_output_end(&output, &buf);
}

void cmd_wrote(const char *path, const char *what)
{
	struct buf line = {0};

	if (!path || strcmp(path, "-") == 0) {
		return;
	}
	buf_text(&line, "wrote ");
	text_add_shown(&line, path, strlen(path), 0);
	buf_printf(&line, "%s%s\n", what ? ": " : "", what ? what : "");
	fwrite(line.bytes, 1, line.nr_bytes, stdout);
	buf_fini(&line);
}
