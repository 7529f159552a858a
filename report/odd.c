/* SPDX-License-Identifier: Apache-2.0 */
#include "report/odd.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/numbers.h"

#define MOST_VALUES 4u
#define MOST_SPANS  20u
#define MOST_TOLD   5u

struct odd {
	struct process *const *processes;
	size_t nr_processes;
	void (*tell)(const char *sentence);
	struct buf line;
	bool is_wrong;
};

static void tell(struct odd *odd)
{
	buf_char(&odd->line, 0);
	odd->tell(odd->line.bytes);
	odd->line.nr_bytes = 0;
}

/* A trace was made on purpose; a stream is of any process, also of one that only imported CUDA. */
static bool has_work(const struct process *process)
{
	static const unsigned int tables[] = {GPROF_TABLE_kernel, GPROF_TABLE_memcpy,
		GPROF_TABLE_memset, GPROF_TABLE_graph, GPROF_TABLE_untimed};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct stream_table *table = stream_in_table(process->stream, tables[i]);

		if (table && table->nr_rows) {
			return true;
		}
	}
	return process->stream->is_trace || process->nr_steps > 1;
}

/* ---- hosts and jobs ---- */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many values of a fact the processes have. More than one begin a line: "N of_what (A, B". */
static size_t add_values(struct odd *odd, const char *key, bool of_workers, const char *of_what)
{
	const char **values = mem_zeroed(odd->nr_processes + 1, sizeof(*values));
	size_t nr = 0, nr_values = 0;

	for (size_t i = 0; i < odd->nr_processes; i++) {
		const char *value = process_fact(odd->processes[i], key, "");

		if (*value && (!of_workers || has_work(odd->processes[i]))) {
			values[nr++] = value;
		}
	}
	qsort(values, nr, sizeof(*values), compare_texts);
	for (size_t i = 0; i < nr; i++) {
		if (!i || strcmp(values[i], values[nr_values - 1]) != 0) {
			values[nr_values++] = values[i];
		}
	}
	if (nr_values > 1) {
		buf_printf(&odd->line, "the processes are of %zu %s (", nr_values, of_what);
		for (size_t i = 0; i < nr_values && i < MOST_VALUES; i++) {
			buf_printf(&odd->line, "%s%s", i ? ", " : "", values[i]);
		}
		buf_text(&odd->line, nr_values > MOST_VALUES ? ", ...)" : ")");
	}
	free(values);
	return nr_values;
}

static bool has_lone_worker(const struct odd *odd)
{
	for (size_t i = 0; i < odd->nr_processes; i++) {
		if (odd->processes[i]->rank < 0 && has_work(odd->processes[i])) {
			return true;
		}
	}
	return false;
}

/* That a job is of several hosts is usual, as long as ranks say that it is one. */
static void tell_hosts(struct odd *odd)
{
	if (add_values(odd, "host.name", false, "hosts") < 2) {
		return;
	}
	buf_text(&odd->line, ", whose clocks may differ");
	if (has_lone_worker(odd)) {
		buf_text(&odd->line, "; some have no rank, so nothing says that they are of one "
				     "job: tables add them up");
		odd->is_wrong = true;
	}
	tell(odd);
}

static void tell_jobs(struct odd *odd)
{
	if (add_values(odd, "job.id", true, "jobs") < 2 &&
		add_values(odd, "rank.world_size", true, "job sizes") < 2) {
		return;
	}
	buf_text(&odd->line, ": tables add them up; name the streams of one job");
	tell(odd);
	odd->is_wrong = true;
}

/* ---- ranks ---- */

/* Those that train: children that merely have their parent's RANK do not count. */
static void tell_repeated(struct odd *odd)
{
	uint64_t *ranks = mem_zeroed(odd->nr_processes + 1, sizeof(*ranks));
	const struct process *last = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < odd->nr_processes; i++) {
		const struct process *process = odd->processes[i];

		if (process->rank < 0 || !has_work(process)) {
			continue;
		}
		if (last && last->rank == process->rank && !process_is_same(last, process)) {
			ranks[nr++] = (uint64_t)process->rank;
		}
		last = process;
	}
	if (nr) {
		buf_text(&odd->line, "there is more than one process of rank ");
		numbers_print(ranks, nr, MOST_SPANS, &odd->line);
		buf_text(&odd->line, ", as of several runs: tables add them up; name the streams "
				     "of one run, or choose by --pid");
		tell(odd);
		odd->is_wrong = true;
	}
	free(ranks);
}

static void add_gap(struct odd *odd, size_t *nr, int64_t first, int64_t end)
{
	if (first >= end) {
		return;
	}
	if (*nr < MOST_SPANS) {
		buf_printf(&odd->line, "%s%" PRId64, *nr ? "," : "", first);
	}
	if (*nr < MOST_SPANS && end - first > 1) {
		buf_printf(&odd->line, "-%" PRId64, end - 1);
	}
	++*nr;
}

/* Of one rank alone nobody knows whether the others were wanted. */
static void tell_missing(struct odd *odd)
{
	int64_t next = 0, world = -1;
	size_t nr_ranks = 0, nr_gaps = 0;

	for (size_t i = 0; i < odd->nr_processes; i++) {
		const struct process *process = odd->processes[i];

		world = process->world > world ? process->world : world;
		if (process->rank >= next) {
			add_gap(odd, &nr_gaps, next, process->rank);
			next = process->rank < INT64_MAX ? process->rank + 1 : process->rank;
			nr_ranks++;
		}
	}
	add_gap(odd, &nr_gaps, next, world);
	if (nr_ranks > 1 && nr_gaps) {
		struct buf ranks = odd->line;

		odd->line = (struct buf){0};
		if (world >= 0) {
			buf_printf(&odd->line, "of %" PRId64 " ranks ", world);
		}
		buf_printf(&odd->line, "these%s are missing: %.*s%s", world < 0 ? " ranks" : "",
			(int)ranks.nr_bytes, ranks.bytes, nr_gaps > MOST_SPANS ? ",..." : "");
		tell(odd);
		buf_fini(&ranks);
		odd->is_wrong = true;
	}
	odd->line.nr_bytes = 0;
}

/* ---- time ---- */

/* The first step that begins before the one before it; 0 if there is none. */
static size_t find_fall(const struct process *process, size_t *nr_falls)
{
	size_t first = 0;

	*nr_falls = 0;
	for (size_t i = 1; i < process->nr_steps; i++) {
		if (process->steps[i].tick < process->steps[i - 1].tick) {
			first = first ? first : i;
			++*nr_falls;
		}
	}
	return first;
}

/* Two threads that count steps in turns: where one's step begins the other's ends. */
static bool has_loops(const struct process *process)
{
	const struct model_step *steps = process->steps;

	for (size_t i = 1; i < process->nr_steps; i++) {
		if (steps[i].thread != steps[i - 1].thread && steps[i].step <= steps[i - 1].step &&
			!model_step_is_gap(&steps[i]) && !model_step_is_gap(&steps[i - 1])) {
			return true;
		}
	}
	return false;
}

static bool add_times(struct odd *odd, const struct process *process)
{
	uint64_t nr_back = process->host_clock.nr_back + process->device_clock.nr_back;
	size_t nr_falls, fall = find_fall(process, &nr_falls);

	bool overlaps = !fall && has_loops(process);

	if (!fall && !nr_back && !overlaps) {
		return false;
	}
	buf_printf(&odd->line, "'%s': ", process->stream->path);
	if (overlaps) {
		buf_printf(&odd->line,
			"several threads count steps, which overlap: each ends where "
			"the next one begins%s",
			nr_back ? "; " : "");
	}
	if (fall) {
		buf_printf(&odd->line,
			"step %" PRIu64 " begins before step %" PRIu64
			", which came before it (%zu such): the clock went back, or several loops "
			"count steps; they have no length",
			process->steps[fall].step, process->steps[fall - 1].step, nr_falls);
	}
	if (nr_back) {
		buf_printf(&odd->line,
			"%sof its readings of clocks %" PRIu64
			" went back: times near them are off",
			fall ? "; " : "", nr_back);
	}
	return true;
}

static void tell_times(struct odd *odd)
{
	size_t nr = 0;

	for (size_t i = 0; i < odd->nr_processes; i++) {
		if (!add_times(odd, odd->processes[i])) {
			continue;
		}
		if (nr++ < MOST_TOLD) {
			tell(odd);
		}
		odd->line.nr_bytes = 0;
		odd->is_wrong = true;
	}
	if (nr > MOST_TOLD) {
		buf_printf(&odd->line, "and %zu more processes whose steps or clocks go back",
			nr - MOST_TOLD);
		tell(odd);
	}
}

/* Nothing is left out for it, so data are not wrong: times between calls and their work are. */
static void tell_early(struct odd *odd)
{
	size_t nr = 0;

	for (size_t i = 0; i < odd->nr_processes; i++) {
		const char *early = process_fact(odd->processes[i], "trace.early_work", "");

		if (*early && nr++ < MOST_TOLD) {
			buf_printf(&odd->line,
				"'%s': work of GPUs begins before the call that launched it (%s "
				"launches): the clocks differ or jumped, times from calls to work "
				"are off",
				odd->processes[i]->stream->path, early);
			tell(odd);
		}
	}
	if (nr > MOST_TOLD) {
		buf_printf(&odd->line, "and %zu more processes with work before its launch",
			nr - MOST_TOLD);
		tell(odd);
	}
}

static void tell_broken_names(struct odd *odd)
{
	size_t nr = 0;

	for (size_t i = 0; i < odd->nr_processes; i++) {
		const char *names = process_fact(odd->processes[i], "trace.broken_names", "");

		if (*names && nr++ < MOST_TOLD) {
			buf_printf(&odd->line,
				"'%s': names that are not UTF-8 (%s of them) are kept: the bytes "
				"that are not are shown as \\xNN, in JSON as U+FFFD",
				odd->processes[i]->stream->path, names);
			tell(odd);
		}
		odd->is_wrong |= *names != 0;
	}
	if (nr > MOST_TOLD) {
		buf_printf(&odd->line, "and %zu more traces with names that are not UTF-8",
			nr - MOST_TOLD);
		tell(odd);
	}
}

/* ---- what views found ---- */

static struct buf added; /* sentences, each with a 0 behind it */

void odd_add(const char *format, ...)
{
	va_list arguments;
	char *sentence;
	bool is_told;

	va_start(arguments, format);
	if (vasprintf(&sentence, format, arguments) < 0) {
		sentence = NULL;
	}
	va_end(arguments);
	is_told = !sentence;
	for (size_t i = 0; !is_told && i < added.nr_bytes; i += strlen(added.bytes + i) + 1) {
		is_told = strcmp(added.bytes + i, sentence) == 0;
	}
	if (!is_told) {
		buf_add(&added, sentence, strlen(sentence) + 1);
	}
	free(sentence);
}

static void tell_added(struct odd *odd)
{
	for (size_t i = 0; i < added.nr_bytes; i += strlen(added.bytes + i) + 1) {
		odd->tell(added.bytes + i);
		odd->is_wrong = true;
	}
	buf_fini(&added);
}

bool odd_tell(struct process *const *processes, size_t nr_processes, bool is_part,
	void (*told)(const char *sentence))
{
	struct odd odd = {.processes = processes, .nr_processes = nr_processes, .tell = told};

	tell_hosts(&odd);
	tell_jobs(&odd);
	tell_repeated(&odd);
	if (!is_part) {
		tell_missing(&odd);
	}
	tell_times(&odd);
	tell_early(&odd);
	tell_broken_names(&odd);
	tell_added(&odd);
	buf_fini(&odd.line);
	return odd.is_wrong;
}
