/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns of data that cannot be right, once a session has read all processes. Sentences go to the
 * caller's `warn`; is_wrong says whether data are missing or wrong. Checks of one process print at
 * most five sentences each and then a sum, as a job has many ranks. Views add sentences of their
 * own (sanity_add) while they run.
 */
#include "report/comm/sanity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/comm/job_clock.h"
#include "report/util/numbers.h"
#include "report/util/sort.h"

/* ---- one process ---- */

/*
 * Checks of one process: each appends a sentence with the file and returns true, or returns false
 * if all is well.
 */

/* A profiler's trace covers minutes. A longer one has a clock that jumped, or several runs. */
#define MAX_TRACE_DAYS 30u
#define DAY_NS	       (86400 * (uint64_t)1000000000u)

/* Steps out of order: the index of the first one, 0 if there is none, and how many. */
struct sanity_steps {
	size_t first, nr;
};

/* Steps that begin before the previous one. */
static struct sanity_steps find_falls(const struct process *process)
{
	struct sanity_steps falls = {0};

	for (size_t i = 1; i < process->nr_steps; i++) {
		if (process->steps[i].tick < process->steps[i - 1].tick) {
			falls.first = falls.first ? falls.first : i;
			falls.nr++;
		}
	}
	return falls;
}

/*
 * The steps of a trace are sorted by begin and of one thread; finds those whose number does not
 * rise.
 */
static struct sanity_steps find_repeats(const struct process *process)
{
	const struct model_step *last = NULL;
	struct sanity_steps repeats = {0};

	for (size_t i = 0; process->stream->is_trace && i < process->nr_steps; i++) {
		if (model_step_is_gap(&process->steps[i])) {
			continue;
		}
		if (last && process->steps[i].step <= last->step) {
			repeats.first = repeats.first ? repeats.first : i;
			repeats.nr++;
		}
		last = &process->steps[i];
	}
	return repeats;
}

/* Do two threads count steps alternately, so that each one's step ends the other's? */
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

/* Steps that overlap or are out of order, and clocks that jump. */
static bool check_times(const struct process *process, struct buf *line)
{
	uint64_t nr_back = process->host_clock.nr_back + process->device_clock.nr_back;
	struct sanity_steps falls = find_falls(process), repeats = find_repeats(process);
	bool overlaps = !falls.nr && !repeats.nr && has_loops(process);
	const char *between = "";

	if (!falls.nr && !repeats.nr && !nr_back && !overlaps) {
		return false;
	}
	buf_printf(line, "%s: ", process->stream->label);
	if (overlaps) {
		buf_text(line, "several threads count steps, so steps overlap; each step ends "
			       "where the next one starts");
		between = "; ";
	}
	if (repeats.nr) {
		buf_printf(line,
			"step %" PRIu64 " follows a step with the same or a higher number (%zu "
			"cases): the clock jumped, or the trace has several loops; steps are in "
			"order of their starts",
			process->steps[repeats.first].step, repeats.nr);
		between = "; ";
	}
	if (falls.nr) {
		buf_printf(line,
			"%sstep %" PRIu64 " starts before its predecessor, step %" PRIu64
			" (%zu cases): the clock went back, or several loops count steps; such "
			"steps have no length",
			between, process->steps[falls.first].step,
			process->steps[falls.first - 1].step, falls.nr);
		between = "; ";
	}
	if (nr_back) {
		buf_printf(line,
			"%s%" PRIu64 " clock readings went back; times near them are wrong",
			between, nr_back);
	}
	return true;
}

/* The other steps are right, and so are figures made of them. */
static bool check_ends(const struct process *process, struct buf *line)
{
	if (process->nr_lost_ends) {
		buf_printf(line,
			"%s: %" PRIu64 " step ends have no time (older versions wrote such ends "
			"under Paddle's own "
			"profiler); the steps before and after them are excluded",
			process->stream->label, process->nr_lost_ends);
	}
	return process->nr_lost_ends > 0;
}

/* A trace of so many days that its times cannot be of one run. */
static bool check_span(const struct process *process, struct buf *line)
{
	uint64_t span_ns =
		process->last_ns > process->first_ns ? process->last_ns - process->first_ns : 0;
	bool is_too_long = process->stream->is_trace && span_ns > MAX_TRACE_DAYS * DAY_NS;

	if (is_too_long) {
		buf_printf(line,
			"%s: the events span %" PRIu64
			" days: a clock jumped, or the trace has several runs; times since the "
			"start and shares of the whole time are meaningless",
			process->stream->label, span_ns / DAY_NS);
	}
	return is_too_long;
}

/* Nothing is left out because of it, but times from calls to activities are wrong. */
static bool check_early(const struct process *process, struct buf *line)
{
	const char *early = process_fact(process, "trace.early_work", "");

	if (*early) {
		buf_printf(line,
			"%s: GPU activities of %s launch%s start before their launch: the clocks "
			"differ or jumped; times from calls to activities are wrong",
			process->stream->label, early, strcmp(early, "1") == 0 ? "" : "es");
	}
	return *early != 0;
}

/* Names of a trace that are not UTF-8. */
static bool check_names(const struct process *process, struct buf *line)
{
	const char *names = process_fact(process, "trace.broken_names", "");

	if (*names) {
		buf_printf(line,
			"%s: %s %s not valid UTF-8; invalid bytes show as \\xNN, in JSON as U+FFFD",
			process->stream->label, names,
			strcmp(names, "1") == 0 ? "name is" : "names are");
	}
	return *names != 0;
}

/* Communicators that nobody else has, see foreign_rank.c. */
static bool check_foreign(const struct process *process, struct buf *line)
{
	if (process->is_foreign) {
		buf_printf(line,
			"'%s': rank %" PRId64 ", process %" PRIu32
			": shares no NCCL communicator with the other ranks: another job, or "
			"recorded at another time? Its collectives match no other rank's, and "
			"tables mix its times with the others'. Select one job by path or --pid",
			process->stream->path, process->rank, process->pid);
	}
	return process->is_foreign;
}

/* ---- all processes ---- */

#define MAX_VALUES 4u
#define MAX_SPANS  20u
#define MAX_WARNED 5u

struct sanity {
	struct process *const *processes;
	size_t nr_processes;
	void (*warn)(const char *sentence);
	struct buf line;
	bool is_wrong;
};

static void emit(struct sanity *check)
{
	buf_char(&check->line, 0);
	check->warn(check->line.bytes);
	check->line.nr_bytes = 0;
}

/* A trace was recorded on purpose; a stream may be of any process that merely imported CUDA. */
static bool has_activities(const struct process *process)
{
	return stream_has_rows(
		       process->stream, table_set_with(GPROF_IS_ACTIVITY | GPROF_IS_UNTIMED)) ||
	       process->stream->is_trace || process->nr_steps > 1;
}

/* ---- hosts and jobs ---- */

/*
 * Counts the different values of a fact. If there are several, starts a line with "the processes
 * belong to N of_what (A, B)".
 */
static size_t add_values(
	struct sanity *check, const char *key, bool of_workers, const char *of_what)
{
	const char **values = mem_zeroed(check->nr_processes + 1, sizeof(*values));
	size_t nr = 0, nr_values = 0;

	for (size_t i = 0; i < check->nr_processes; i++) {
		const char *value = process_fact(check->processes[i], key, "");

		if (*value && (!of_workers || has_activities(check->processes[i]))) {
			values[nr++] = value;
		}
	}
	qsort(values, nr, sizeof(*values), by_string);
	for (size_t i = 0; i < nr; i++) {
		if (!i || strcmp(values[i], values[nr_values - 1]) != 0) {
			values[nr_values++] = values[i];
		}
	}
	if (nr_values > 1) {
		buf_printf(&check->line, "the processes belong to %zu %s (", nr_values, of_what);
		for (size_t i = 0; i < nr_values && i < MAX_VALUES; i++) {
			buf_printf(&check->line, "%s%s", i ? ", " : "", values[i]);
		}
		buf_text(&check->line, nr_values > MAX_VALUES ? ", ...)" : ")");
	}
	free(values);
	return nr_values;
}

static bool has_lone_worker(const struct sanity *check)
{
	for (size_t i = 0; i < check->nr_processes; i++) {
		if (check->processes[i]->rank < 0 && has_activities(check->processes[i])) {
			return true;
		}
	}
	return false;
}

/* Several hosts are normal as long as ranks show that they are one job. */
static void check_hosts(struct sanity *check)
{
	if (add_values(check, "host.name", false, "hosts") < 2) {
		return;
	}
	job_clock_print(check->processes, check->nr_processes, ": ", &check->line);
	if (has_lone_worker(check)) {
		buf_text(&check->line, "; some have no rank and may belong to other jobs; tables "
				       "add them up");
		check->is_wrong = true;
	}
	emit(check);
}

static void check_jobs(struct sanity *check)
{
	if (add_values(check, "job.id", true, "jobs") < 2 &&
		add_values(check, "rank.world_size", true, "job sizes") < 2) {
		return;
	}
	buf_text(&check->line, "; tables add them up. Select one job by path or --pid");
	emit(check);
	check->is_wrong = true;
}

/* ---- ranks ---- */

/* Counts processes that train, as children may merely inherit RANK. */
static void check_repeated_ranks(struct sanity *check)
{
	uint64_t *ranks = mem_zeroed(check->nr_processes + 1, sizeof(*ranks));
	const struct process *last = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < check->nr_processes; i++) {
		const struct process *process = check->processes[i];

		if (process->rank < 0 || !has_activities(process)) {
			continue;
		}
		if (last && last->rank == process->rank && !process_is_same(last, process)) {
			ranks[nr++] = (uint64_t)process->rank;
		}
		last = process;
	}
	if (nr) {
		buf_text(&check->line, "more than one process has rank ");
		numbers_print(ranks, nr, MAX_SPANS, &check->line);
		buf_text(&check->line, ", as with several runs; tables add them up. Select one run "
				       "by path or --pid");
		emit(check);
		check->is_wrong = true;
	}
	free(ranks);
}

static void add_gap(struct sanity *check, size_t *nr, int64_t first, int64_t end)
{
	if (first >= end) {
		return;
	}
	if (*nr < MAX_SPANS) {
		buf_printf(&check->line, "%s%" PRId64, *nr ? "," : "", first);
	}
	if (*nr < MAX_SPANS && end - first > 1) {
		buf_printf(&check->line, "-%" PRId64, end - 1);
	}
	++*nr;
}

/*
 * With a single rank here, the user may not want the others. Processes are sorted by rank, so a
 * rank above `next` leaves a gap. The gaps are collected in the line first, then put into a
 * sentence.
 */
static void check_missing_ranks(struct sanity *check)
{
	int64_t next = 0, world = -1;
	size_t nr_ranks = 0, nr_gaps = 0;

	for (size_t i = 0; i < check->nr_processes; i++) {
		const struct process *process = check->processes[i];

		world = process->world > world ? process->world : world;
		if (process->rank >= next) {
			add_gap(check, &nr_gaps, next, process->rank);
			next = process->rank < INT64_MAX ? process->rank + 1 : process->rank;
			nr_ranks++;
		}
	}
	add_gap(check, &nr_gaps, next, world);
	if (nr_ranks > 1 && nr_gaps) {
		struct buf ranks = check->line;

		check->line = (struct buf){0};
		buf_printf(&check->line, "missing ranks: %.*s%s", (int)ranks.nr_bytes, ranks.bytes,
			nr_gaps > MAX_SPANS ? ",..." : "");
		if (world >= 0) {
			buf_printf(&check->line, " (of %" PRId64 ")", world);
		}
		emit(check);
		buf_fini(&ranks);
		check->is_wrong = true;
	}
	check->line.nr_bytes = 0;
}

/* ---- checks of each process ---- */

/* rest: what the remaining processes have in common. */
static void check_each(struct sanity *check,
	bool (*add)(const struct process *process, struct buf *line), const char *rest)
{
	size_t nr = 0;

	for (size_t i = 0; i < check->nr_processes; i++) {
		if (!add(check->processes[i], &check->line)) {
			continue;
		}
		if (nr++ < MAX_WARNED) {
			emit(check);
		}
		check->line.nr_bytes = 0;
		check->is_wrong = true;
	}
	if (nr > MAX_WARNED) {
		buf_printf(&check->line, "and %zu more processes %s", nr - MAX_WARNED, rest);
		emit(check);
	}
}

/* ---- findings of views ---- */

static struct buf added; /* sentences, each with a NUL behind it */

void sanity_add(const char *format, ...)
{
	va_list arguments;
	char *sentence;
	bool is_known;

	va_start(arguments, format);
	if (vasprintf(&sentence, format, arguments) < 0) {
		sentence = NULL;
	}
	va_end(arguments);
	is_known = !sentence;
	for (size_t i = 0; !is_known && i < added.nr_bytes; i += strlen(added.bytes + i) + 1) {
		is_known = strcmp(added.bytes + i, sentence) == 0;
	}
	if (!is_known) {
		buf_add(&added, sentence, strlen(sentence) + 1);
	}
	free(sentence);
}

bool sanity_has_added(void)
{
	return added.nr_bytes != 0;
}

static void warn_added(struct sanity *check)
{
	for (size_t i = 0; i < added.nr_bytes; i += strlen(added.bytes + i) + 1) {
		check->warn(added.bytes + i);
		check->is_wrong = true;
	}
	buf_fini(&added);
}

bool sanity_check(struct process *const *processes, size_t nr_processes, bool is_part,
	void (*warn)(const char *sentence))
{
	struct sanity check = {.processes = processes, .nr_processes = nr_processes, .warn = warn};

	check_hosts(&check);
	check_jobs(&check);
	check_repeated_ranks(&check);
	if (!is_part) {
		check_missing_ranks(&check);
	}
	check_each(&check, check_foreign, "that share no communicator with the others");
	check_each(&check, check_times, "whose steps or clocks go back");
	check_each(&check, check_ends, "with step ends without a time");
	check_each(&check, check_span, "that span too many days for one run");
	check_each(&check, check_early, "with GPU activities before their launch");
	check_each(&check, check_names, "with names that are not UTF-8");
	warn_added(&check);
	buf_fini(&check.line);
	return check.is_wrong;
}
