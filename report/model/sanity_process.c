/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/sanity_process.h"

#include <inttypes.h>

/* A profiler's trace is of minutes; one of so long holds a clock that jumped, or several runs. */
#define MOST_TRACE_DAYS 30u
#define DAY_NS		(86400 * (uint64_t)1000000000u)

/* A step that is not in order, by its place; 0 if there is none. nr: how many are not. */
struct sanity_steps {
	size_t first, nr;
};

/* Those that begin before the one before it. */
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

/* A trace's are by their begins, of one thread: those whose number does not rise. */
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

bool sanity_process_times(const struct process *process, struct buf *line)
{
	uint64_t nr_back = process->host_clock.nr_back + process->device_clock.nr_back;
	struct sanity_steps falls = find_falls(process), repeats = find_repeats(process);
	bool overlaps = !falls.nr && !repeats.nr && has_loops(process);

	if (!falls.nr && !repeats.nr && !nr_back && !overlaps) {
		return false;
	}
	buf_printf(line, "'%s': ", process->stream->path);
	if (overlaps) {
		buf_printf(line,
			"several threads count steps, which overlap: each ends where "
			"the next one begins%s",
			nr_back ? "; " : "");
	}
	if (repeats.nr) {
		buf_printf(line,
			"step %" PRIu64 " begins after one of the same or a higher number (%zu "
			"such): the clock jumped, or several loops are in one trace; steps are "
			"reported by their begins",
			process->steps[repeats.first].step, repeats.nr);
	}
	if (falls.nr) {
		buf_printf(line,
			"step %" PRIu64 " begins before step %" PRIu64
			", which came before it (%zu such): the clock went back, or several loops "
			"count steps; they have no length",
			process->steps[falls.first].step, process->steps[falls.first - 1].step,
			falls.nr);
	}
	if (nr_back) {
		buf_printf(line,
			"%sof its readings of clocks %" PRIu64
			" went back: times near them are off",
			falls.nr ? "; " : "", nr_back);
	}
	return true;
}

/* The others are right, and so is what is computed of them. */
bool sanity_process_ends(const struct process *process, struct buf *line)
{
	if (process->nr_lost_ends) {
		buf_printf(line,
			"'%s': step ends without a time: %" PRIu64
			" (old versions wrote them under Paddle's own profiler); the steps before "
			"and after each are left out",
			process->stream->path, process->nr_lost_ends);
	}
	return process->nr_lost_ends > 0;
}

bool sanity_process_span(const struct process *process, struct buf *line)
{
	uint64_t span_ns =
		process->last_ns > process->first_ns ? process->last_ns - process->first_ns : 0;
	bool is_odd = process->stream->is_trace && span_ns > MOST_TRACE_DAYS * DAY_NS;

	if (is_odd) {
		buf_printf(line,
			"'%s': from its first event to its last are %" PRIu64
			" days: a clock jumped, or several runs are in one trace; times since the "
			"begin and shares of the whole time mean nothing",
			process->stream->path, span_ns / DAY_NS);
	}
	return is_odd;
}

/* Nothing is left out for it, but times between calls and their work cannot be right. */
bool sanity_process_early(const struct process *process, struct buf *line)
{
	const char *early = process_fact(process, "trace.early_work", "");

	if (*early) {
		buf_printf(line,
			"'%s': work of GPUs begins before the call that launched it (%s launches): "
			"the clocks differ or jumped, times from calls to work are off",
			process->stream->path, early);
	}
	return *early != 0;
}

bool sanity_process_names(const struct process *process, struct buf *line)
{
	const char *names = process_fact(process, "trace.broken_names", "");

	if (*names) {
		buf_printf(line,
			"'%s': names that are not UTF-8 (%s of them) are kept: the bytes that are "
			"not are shown as \\xNN, in JSON as U+FFFD",
			process->stream->path, names);
	}
	return *names != 0;
}

bool sanity_process_stranger(const struct process *process, struct buf *line)
{
	if (process->is_stranger) {
		buf_printf(line,
			"'%s': rank %" PRId64 ", process %" PRIu32
			": no other process here has its communicators, though one of these would "
			"have to: is it of another job, or were ranks recorded at different times? "
			"Its collectives are put together with nobody's, tables "
			"add up and compare the rest: name the streams of one job, or choose by "
			"--pid",
			process->stream->path, process->rank, process->pid);
	}
	return process->is_stranger;
}
