/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses runs by their numbers or IDs, and says in a line which others there are. */
#include "report/session/run_choice.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/numbers.h"
#include "report/util/text.h"

/* Runs that are listed one by one. */
#define MAX_LISTED 3u
/* gprof-record's IDs have so many digits; no number of a run does. */
#define ID_DIGITS 16u

static bool is_id(const char *text)
{
	return text[strspn(text, "0123456789,-")] || strlen(text) >= ID_DIGITS;
}

bool run_choice_is_valid(const char *text)
{
	struct numbers numbers = {0};
	bool is_valid = *text && (is_id(text) || numbers_parse(&numbers, text, true));

	numbers_fini(&numbers);
	return is_valid;
}

void run_choice_add(struct run_choice *choice, const struct process *process, struct process *kept,
	size_t folder)
{
	choice->runs =
		array_grow(choice->runs, choice->nr, &choice->run_capacity, sizeof(*choice->runs));
	choice->processes = array_grow(
		choice->processes, choice->nr, &choice->capacity, sizeof(*choice->processes));
	choice->runs[choice->nr] =
		process ? runs_describe(process) : (struct runs_process){.is_trace = true};
	choice->processes[choice->nr++] =
		(struct run_choice_process){.process = kept, .folder = folder};
}

/* The newest run in the folder, 0: there is none. */
static size_t newest_in(const struct run_choice *choice, size_t folder)
{
	size_t newest = 0;

	for (size_t i = 0; i < choice->nr; i++) {
		if (choice->processes[i].folder == folder && choice->runs[i].run > newest) {
			newest = choice->runs[i].run;
		}
	}
	return newest;
}

static void choose_newest(struct run_choice *choice)
{
	bool *is_newest = mem_zeroed(choice->nr_runs + 1, sizeof(*is_newest));
	size_t nr_folders = 0;

	for (size_t i = 0; i < choice->nr; i++) {
		size_t folder = choice->processes[i].folder;

		nr_folders = folder > nr_folders ? folder : nr_folders;
	}
	for (size_t folder = 1; folder <= nr_folders; folder++) {
		is_newest[newest_in(choice, folder)] = true;
	}
	is_newest[0] = true;
	for (size_t i = 0; i < choice->nr; i++) {
		choice->processes[i].is_chosen =
			!choice->processes[i].folder || is_newest[choice->runs[i].run];
	}
	free(is_newest);
}

static void choose_id(struct run_choice *choice, const char *id)
{
	bool *has_id = mem_zeroed(choice->nr_runs + 1, sizeof(*has_id));

	for (size_t i = 0; i < choice->nr; i++) {
		uint32_t text = choice->runs[i].id;

		has_id[choice->runs[i].run] |=
			text && strcmp(string_pool_text(text, NULL), id) == 0;
	}
	has_id[0] = false;
	for (size_t i = 0; i < choice->nr; i++) {
		choice->processes[i].is_chosen = has_id[choice->runs[i].run];
	}
	free(has_id);
}

static void choose_numbers(struct run_choice *choice, const char *text)
{
	struct numbers numbers = {0};

	numbers_parse(&numbers, text, true);
	for (size_t i = 0; i < choice->nr; i++) {
		size_t run = choice->runs[i].run;

		choice->processes[i].is_chosen =
			run &&
			(numbers_has(&numbers, run) || run + numbers.nr_last > choice->nr_runs);
	}
	numbers_fini(&numbers);
}

void run_choice_make(struct run_choice *choice, const char *text)
{
	choice->nr_runs = choice->nr ? runs_group(choice->runs, choice->nr) : 0;
	if (!text) {
		choose_newest(choice);
	} else if (strcmp(text, RUN_CHOICE_ALL) == 0) {
		for (size_t i = 0; i < choice->nr; i++) {
			choice->processes[i].is_chosen = true;
		}
	} else if (is_id(text)) {
		choose_id(choice, text);
	} else {
		choose_numbers(choice, text);
	}
}

/* ---- words ---- */

/* Returns which runs are left out; true for each that is. */
static bool *left_out(const struct run_choice *choice, size_t *nr)
{
	bool *is_out = mem_zeroed(choice->nr_runs + 1, sizeof(*is_out));

	memset(is_out, true, choice->nr_runs + 1);
	for (size_t i = 0; i < choice->nr; i++) {
		is_out[choice->runs[i].run] &= !choice->processes[i].is_chosen;
	}
	is_out[0] = false;
	*nr = 0;
	for (size_t run = 1; run <= choice->nr_runs; run++) {
		*nr += is_out[run];
	}
	return is_out;
}

static void add_numbers(struct buf *out, const bool *is_out, size_t nr_runs, size_t nr)
{
	size_t nr_said = 0, last = 0;

	for (size_t run = 1; run <= nr_runs; run++) {
		if (is_out[run] && (nr <= MAX_LISTED || !nr_said)) {
			buf_printf(out, "%s --run %zu", nr_said++ ? "," : ":", run);
		}
		last = is_out[run] ? run : last;
	}
	if (nr > MAX_LISTED) {
		buf_printf(out, " to --run %zu", last);
	}
}

void run_choice_add_others(
	struct buf *out, const struct run_choice *choice, char *const *paths, size_t nr_paths)
{
	size_t nr;
	bool *is_out = left_out(choice, &nr);

	if (nr) {
		buf_printf(out, "%zu older run%s in ", nr, nr == 1 ? "" : "s");
		text_add_shown(out, paths[0], strlen(paths[0]), 0);
		buf_text(out, nr_paths > 1 ? " and the other folders" : "");
		add_numbers(out, is_out, choice->nr_runs, nr);
		buf_text(out, "; gprof-report runs");
		for (size_t i = 0; i < nr_paths; i++) {
			buf_char(out, ' ');
			text_add_shell_word(out, paths[i]);
		}
		buf_printf(out, " lists %s", nr == 1 ? "it" : "them");
	}
	free(is_out);
}

void run_choice_add_known(struct buf *out, const struct run_choice *choice)
{
	if (!choice->nr_runs) {
		buf_text(out, "no runs are recorded there");
	} else if (choice->nr_runs == 1) {
		buf_text(out, "there is run 1");
	} else {
		buf_printf(out, "there are runs 1 to %zu", choice->nr_runs);
	}
}

void run_choice_fini(struct run_choice *choice)
{
	free(choice->runs);
	free(choice->processes);
}
