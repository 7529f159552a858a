/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the first lines of every output: the program, when it ran, and whether anything is
 * missing. The summary, the page, the history of runs and the headline view call it; its sentences
 * stand once here so that all outputs warn alike. Processes in the same state share one phrase ("3
 * killed by a signal"), since a job has many ranks that end alike.
 */
#include "report/model/run_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/model/process_exit.h"
#include "report/util/text.h"

/* The word at `text` without its folders. */
static const char *base_name(const char *text)
{
	size_t length = strcspn(text, " ");

	while (length > 0 && text[length - 1] != '/') {
		length--;
	}
	return text[length] && text[length] != ' ' ? text + length : text;
}

/*
 * "python3 -u train.py --lr 1" becomes "train.py --lr 1", and "python -m pkg.main" "pkg.main".
 * Options end at -m and -c, whose next words are the program.
 */
static const char *program_of(const char *command)
{
	const char *text = base_name(command);
	const char *word = text + strcspn(text, " ");

	if (strncmp(text, "python", 6) != 0) {
		return text;
	}
	while (word[0] && word[1] == '-' && word[2] != 'm' && word[2] != 'c') {
		word++;
		word += strcspn(word, " ");
	}
	if (word[0] && strncmp(word, " -m ", 4) == 0) {
		return word + 4;
	}
	return word[0] && word[1] && word[1] != '-' ? base_name(word + 1) : text;
}

void run_state_add_command(struct buf *out, const char *command, size_t width)
{
	const char *text = *command ? program_of(command) : "unknown program";

	text_add_shown(out, text, strlen(text), width);
}

void run_state_add_program(struct buf *out, const struct process *process, size_t width)
{
	run_state_add_command(out, process_fact(process, "process.command", ""), width);
}

/* Unfinished processes that are in the same state. */
struct unfinished {
	struct buf state;
	size_t nr;
};

/* More states than there are signals that people use. */
#define NR_STATES 8u

struct losses {
	size_t nr_incomplete, nr_damaged;
	struct unfinished states[NR_STATES];
	size_t nr_states;
	uint64_t nr_missing, nr_blocks;
};

/* The last state stands for all further ones. */
static void count_state(struct losses *losses, const struct process *process)
{
	struct buf state = {0};
	size_t i = 0;

	if (!process_exit_add_state(&state, process)) {
		return;
	}
	while (i < losses->nr_states &&
		(losses->states[i].state.nr_bytes != state.nr_bytes ||
			memcmp(losses->states[i].state.bytes, state.bytes, state.nr_bytes) != 0)) {
		i++;
	}
	if (i == NR_STATES) {
		i--;
		buf_fini(&losses->states[i].state);
		buf_text(&losses->states[i].state, "unfinished for other reasons");
	}
	if (i == losses->nr_states) {
		losses->states[losses->nr_states++].state = state;
		state = (struct buf){0};
	}
	losses->states[i].nr++;
	buf_fini(&state);
}

static struct losses losses_of(struct process *const *processes, size_t nr_processes)
{
	struct losses losses = {0};

	for (size_t i = 0; i < nr_processes; i++) {
		const struct process *process = processes[i];
		uint64_t missing = process_missing(process);

		if (!process_is_complete(process)) {
			losses.nr_incomplete++;
			count_state(&losses, process);
			losses.nr_damaged += stream_is_damaged(process->stream);
			losses.nr_missing += missing < UINT64_MAX - losses.nr_missing
						     ? missing
						     : UINT64_MAX - losses.nr_missing;
			losses.nr_blocks += process->stream->blocks_missing;
		}
	}
	return losses;
}

/* Ends the line; the part of it that does not fit is cut. */
static size_t end_line(struct buf *out, struct buf *line, size_t width)
{
	size_t nr = line->nr_bytes != 0;

	if (nr) {
		text_add_shown(out, line->bytes, line->nr_bytes, width);
		buf_char(out, '\n');
	}
	buf_fini(line);
	return nr;
}

/* The separator is a colon before the first reason and a comma before all further ones. */
static size_t add_incomplete(struct buf *out, struct process *const *processes, size_t nr_processes,
	const char *lacking, size_t width)
{
	struct losses losses = losses_of(processes, nr_processes);
	const char *separator = ":";
	struct buf line = {0};

	if (!losses.nr_incomplete && !*lacking) {
		return 0;
	}
	buf_text(&line, "INCOMPLETE");
	if (losses.nr_incomplete && nr_processes > 1) {
		buf_printf(&line, "%s %zu of %zu processes", separator, losses.nr_incomplete,
			nr_processes);
	}
	if (losses.nr_missing) {
		buf_printf(&line, "%s %" PRIu64 " event%s missing", separator, losses.nr_missing,
			losses.nr_missing == 1 ? "" : "s");
		separator = ",";
	}
	if (losses.nr_blocks) {
		buf_printf(&line, "%s %" PRIu64 " block%s missing", separator, losses.nr_blocks,
			losses.nr_blocks == 1 ? "" : "s");
		separator = ",";
	}
	if (losses.nr_damaged) {
		buf_printf(&line, "%s %zu file%s damaged", separator, losses.nr_damaged,
			losses.nr_damaged == 1 ? "" : "s");
		separator = ",";
	}
	for (size_t i = 0; i < losses.nr_states; i++) {
		const struct buf *state = &losses.states[i].state;

		buf_printf(&line, "%s ", separator);
		if (losses.nr_states > 1) {
			buf_printf(&line, "%zu ", losses.states[i].nr);
		}
		buf_printf(&line, "%.*s", (int)state->nr_bytes, state->bytes);
		buf_fini(&losses.states[i].state);
		separator = ",";
	}
	if (*lacking) {
		buf_printf(&line, "%s %s", separator, lacking);
	}
	return end_line(out, &line, width);
}

/* The last hang, in the recorder's words. */
static size_t add_hangs(
	struct buf *out, struct process *const *processes, size_t nr_processes, size_t width)
{
	const struct process *hung = NULL;
	struct buf line = {0};
	size_t nr_hung = 0;

	for (size_t i = 0; i < nr_processes; i++) {
		if (process_fact(processes[i], "hang.last", NULL) &&
			process_number(processes[i], "hang.count") >= 1) {
			hung = hung ? hung : processes[i];
			nr_hung++;
		}
	}
	if (!hung) {
		return 0;
	}
	buf_text(&line, "HUNG: ");
	if (nr_hung > 1) {
		buf_printf(&line, "%zu processes; ", nr_hung);
	}
	if (hung->rank >= 0) {
		buf_printf(&line, "rank %" PRId64 " ", hung->rank);
	}
	buf_printf(&line, "%" PRId64 " time%s, last: %s", process_number(hung, "hang.count"),
		process_number(hung, "hang.count") == 1 ? "" : "s",
		process_fact(hung, "hang.last", ""));
	return end_line(out, &line, width);
}

size_t run_state_add_losses(struct buf *out, struct process *const *processes, size_t nr_processes,
	const char *lacking, size_t width)
{
	return add_incomplete(out, processes, nr_processes, lacking, width) +
	       add_hangs(out, processes, nr_processes, width);
}

/* Realtime clocks that show a time before 2001 count from the start of the machine. */
#define MIN_REALTIME_NS 1000000000000000000u

void run_state_add_begin(
	struct buf *out, struct process *const *processes, size_t nr_processes, const char *format)
{
	uint64_t first_ns = UINT64_MAX;
	char text[64];
	struct tm local;
	time_t begin;

	for (size_t i = 0; i < nr_processes; i++) {
		uint64_t ns = processes[i]->stream->header.start_realtime_ns;

		first_ns = ns >= MIN_REALTIME_NS && ns < first_ns ? ns : first_ns;
	}
	begin = (time_t)(first_ns / 1000000000u);
	if (first_ns != UINT64_MAX && localtime_r(&begin, &local) &&
		strftime(text, sizeof(text), format, &local)) {
		buf_text(out, text);
	}
}
