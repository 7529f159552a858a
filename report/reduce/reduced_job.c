/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the summaries of a job into one, the first step of `summary` and `html` with files of
 * `reduce`, and warns of what they lack: ranks that no file has, ranks that are there twice, and
 * processes whose data are incomplete.
 *
 * The warnings need the processes in order of ranks, which reduced_job_read leaves them in.
 */
#include "report/reduce/reduced_job.h"

#include <stdlib.h>

#include "report/session/session.h"
#include "report/util/err.h"
#include "report/util/numbers.h"
#include "report/util/string_pool.h"

#define MAX_SPANS  20u
#define MAX_WARNED 5u

/* ---- reading ---- */

int reduced_job_read(struct reduced *reduced, char *const *paths, int nr_paths)
{
	for (int i = 0; i < nr_paths; i++) {
		struct reduced one;
		int error = reduced_read(&one, paths[i]);

		error = error ? error : reduced_merge(reduced, &one);
		reduced_fini(&one);
		if (error) {
			cmd_error("cannot read '%s': %s", paths[i], err_text());
			return CMD_FAILED;
		}
	}
	reduced_sort(reduced);
	return 0;
}

/* ---- warnings ---- */

/* The number of ranks of the job; -1 if processes differ or none has it. */
static int64_t world_of(const struct reduced *reduced)
{
	int64_t world = -1;

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;

		if (process->rank >= 0 && process->world >= 0) {
			if (world >= 0 && world != process->world) {
				return -1;
			}
			world = process->world;
		}
	}
	return world;
}

struct missing {
	uint64_t first[MAX_SPANS]; /* as many as there are, at most so many */
	uint64_t nr;
};

/* Adds the ranks from `first` to before `end`. A damaged stream may give any number. */
static void add_gap(struct missing *missing, int64_t first, int64_t end)
{
	for (int64_t rank = first; rank < end && missing->nr + (uint64_t)(rank - first) < MAX_SPANS;
		rank++) {
		missing->first[missing->nr + (uint64_t)(rank - first)] = (uint64_t)rank;
	}
	missing->nr += end > first ? (uint64_t)(end - first) : 0;
}

/* Names the first of the missing ranks. */
static bool warn_missing_ranks(const struct reduced *reduced)
{
	int64_t world = world_of(reduced), next = 0;
	struct missing missing = {.nr = 0};
	struct buf line = {0};

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		int64_t rank = reduced->processes[i].who.rank;

		if (rank >= next && rank < world) {
			add_gap(&missing, next, rank);
			next = rank + 1;
		}
	}
	add_gap(&missing, next, world);
	if (!missing.nr || !next) {
		return false;
	}
	numbers_print(missing.first, missing.nr < MAX_SPANS ? (size_t)missing.nr : MAX_SPANS,
		MAX_SPANS, &line);
	cmd_error("%llu of %lld ranks are missing: %.*s%s", (unsigned long long)missing.nr,
		(long long)world, (int)line.nr_bytes, line.bytes,
		missing.nr > MAX_SPANS ? ",..." : "");
	buf_fini(&line);
	return true;
}

/* Children that inherit their parent's RANK but do not train do not count. */
static bool warn_repeated_ranks(const struct reduced *reduced)
{
	uint64_t *ranks = mem_zeroed(reduced->nr_processes, sizeof(*ranks));
	struct buf line = {0};
	int64_t last = -1;
	size_t nr = 0;

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;
		bool has_work = !process->has_no_devices || process->nr_steps > 1;

		if (process->rank >= 0 && has_work && process->rank == last &&
			(!nr || ranks[nr - 1] != (uint64_t)last)) {
			ranks[nr++] = (uint64_t)last;
		}
		last = has_work ? process->rank : last;
	}
	if (nr) {
		numbers_print(ranks, nr, MAX_SPANS, &line);
		cmd_error("more than one process has rank %.*s, as with several runs; tables add "
			  "them up",
			(int)line.nr_bytes, line.bytes);
	}
	buf_fini(&line);
	free(ranks);
	return nr > 0;
}

struct reduced_missing reduced_job_missing(const struct reduced *reduced)
{
	struct reduced_missing missing = {0};

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;

		missing.nr_processes += process->state != REDUCED_COMPLETE;
		if (__builtin_add_overflow(
			    missing.nr_events, process->missing, &missing.nr_events)) {
			missing.nr_events = UINT64_MAX;
		}
	}
	return missing;
}

static bool warn_incomplete(const struct reduced *reduced)
{
	struct reduced_missing missing = reduced_job_missing(reduced);

	if (missing.nr_processes) {
		cmd_error("the data of %zu of %zu processes are incomplete, %llu events are "
			  "missing; the table processes says which",
			missing.nr_processes, reduced->nr_processes,
			(unsigned long long)missing.nr_events);
	}
	return missing.nr_processes > 0;
}

static void warn_lost(const struct reduced_process *process, const struct budget_launches *launches)
{
	struct buf line = {0};

	if (process->rank >= 0) {
		buf_printf(&line, "rank %lld", (long long)process->rank);
	} else {
		buf_text(&line, string_pool_text(reduced_who_of(process).name, NULL));
	}
	buf_text(&line, ": ");
	budget_add_lost(launches, &line);
	cmd_error("%.*s, so idle time is unknown", (int)line.nr_bytes, line.bytes);
	buf_fini(&line);
}

bool reduced_job_warn_lost(const struct reduced *reduced)
{
	size_t nr = 0;

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;
		struct budget_launches launches = reduced_launches(process);

		if (budget_has_lost(&launches) && nr++ < MAX_WARNED) {
			warn_lost(process, &launches);
		}
	}
	if (nr > MAX_WARNED) {
		cmd_error("and %zu more processes whose launches lack GPU activities",
			nr - MAX_WARNED);
	}
	return nr > 0;
}

bool reduced_job_warn(const struct reduced *reduced)
{
	bool is_incomplete = warn_missing_ranks(reduced);

	is_incomplete |= warn_repeated_ranks(reduced);
	is_incomplete |= warn_incomplete(reduced);
	is_incomplete |= reduced_job_warn_lost(reduced);
	return is_incomplete;
}
