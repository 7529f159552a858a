/* SPDX-License-Identifier: Apache-2.0 */
/* `summary` of files that `reduce` wrote. */
#include <stdlib.h>
#include <string.h>

#include "report/err.h"
#include "report/reduced_view.h"
#include "report/summary.h"

#define MOST_SPANS 20u

/* ---- what is wrong ---- */

/* What the whole number of ranks is by each process; -1 if they differ or none tells. */
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
	uint64_t first[MOST_SPANS]; /* as many as there are, at most so many */
	uint64_t nr;
};

/* Ranks from `first` to before `end`; these may be as many as somebody wrote into a stream. */
static void add_gap(struct missing *missing, int64_t first, int64_t end)
{
	for (int64_t rank = first;
		rank < end && missing->nr + (uint64_t)(rank - first) < MOST_SPANS; rank++) {
		missing->first[missing->nr + (uint64_t)(rank - first)] = (uint64_t)rank;
	}
	missing->nr += end > first ? (uint64_t)(end - first) : 0;
}

/* How many ranks are missing, and which; the first ones are named. */
static bool tell_ranks(const struct reduced *reduced)
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
	numbers_print(missing.first, missing.nr < MOST_SPANS ? (size_t)missing.nr : MOST_SPANS,
		MOST_SPANS, &line);
	cmd_error("%llu of %lld ranks are missing: %.*s%s", (unsigned long long)missing.nr,
		(long long)world, (int)line.nr_bytes, line.bytes,
		missing.nr > MOST_SPANS ? ",..." : "");
	buf_fini(&line);
	return true;
}

/* Those that train: children that merely have their parent's RANK do not count. */
static bool tell_repeated(const struct reduced *reduced)
{
	uint64_t *ranks = mem_zeroed(reduced->nr_processes, sizeof(*ranks));
	struct buf line = {0};
	int64_t last = -1;
	size_t nr = 0;

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		const struct reduced_process *process = &reduced->processes[i].who;
		bool has_work = !process->is_without_works || process->nr_steps > 1;

		if (process->rank >= 0 && has_work && process->rank == last &&
			(!nr || ranks[nr - 1] != (uint64_t)last)) {
			ranks[nr++] = (uint64_t)last;
		}
		last = has_work ? process->rank : last;
	}
	if (nr) {
		numbers_print(ranks, nr, MOST_SPANS, &line);
		cmd_error("there is more than one process of rank %.*s, as of several runs: tables "
			  "add them up",
			(int)line.nr_bytes, line.bytes);
	}
	buf_fini(&line);
	free(ranks);
	return nr > 0;
}

static bool tell_missing(const struct reduced *reduced)
{
	size_t nr_bad = 0;
	uint64_t nr_events = 0;

	for (size_t i = 0; i < reduced->nr_processes; i++) {
		nr_bad += reduced->processes[i].who.state != REDUCED_COMPLETE;
		if (__builtin_add_overflow(
			    nr_events, reduced->processes[i].who.missing, &nr_events)) {
			nr_events = UINT64_MAX;
		}
	}
	if (nr_bad) {
		cmd_error("the data of %zu of %zu processes are incomplete, %llu events are "
			  "missing; the table processes says which",
			nr_bad, reduced->nr_processes, (unsigned long long)nr_events);
	}
	return nr_bad > 0;
}

/* ---- printing ---- */

static struct table *make_table(const struct summary *summary,
	const struct reduced_view_class *class, struct reduced *reduced)
{
	bool is_every = summary->is_detailed && class->table == reduced_steps_table;

	if (summary->is_over_ranks) {
		return reduced_over_table(reduced, class, class->name);
	}
	return is_every ? reduced_every_step_table(reduced, 0)
			: class->table(reduced, class->argument);
}

static bool is_asked(const struct summary *summary, const struct reduced_view_class *class)
{
	for (size_t i = 0; i < summary->nr_views; i++) {
		if (strcmp(summary->views[i]->name, class->name) == 0) {
			return true;
		}
	}
	return false;
}

/* Over ranks that is what is compared, and the order is its own. */
static const char *sort_of(const struct summary *summary)
{
	return summary->is_over_ranks ? NULL : summary->sort;
}

/* Prints a table unless it has nothing that was asked for. False if it cannot be sorted so. */
static bool print_table(const struct summary *summary, struct table *table, struct buf *out)
{
	bool is_json = summary->asked.table.format == TABLE_JSON;
	bool is_sorted = sort_of(summary) && summary_sort(table, sort_of(summary));

	table_cut(table, summary->asked.top);
	if ((table->nr_rows && !table->is_aside) || is_json || !summary->is_default) {
		buf_text(out, is_json ? ",\n" : "");
		table_print(table, &summary->asked.table, out);
	}
	table_destroy(table);
	return is_sorted;
}

/* What a job of many needs at first: each process beside the others. */
static bool print_over(const struct summary *summary, struct reduced *reduced, struct buf *out)
{
	bool is_sorted = false;

	for (const struct reduced_view_class *class = reduced_views;
		class->name && summary->is_default && reduced->nr_processes > 1; class ++) {
		if (class->over_key) {
			is_sorted |= print_table(
				summary, reduced_over_table(reduced, class, class->over_key), out);
		}
	}
	return is_sorted;
}

/* False if no view has the column to sort by. */
static bool print_all(const struct summary *summary, struct reduced *reduced, struct buf *out)
{
	struct table *processes = reduced_processes_table(reduced);
	bool is_json = summary->asked.table.format == TABLE_JSON, is_sorted = !sort_of(summary);

	if (is_json) {
		buf_printf(out, "{\n  \"gprof_report\": \"%s\",\n", GPROF_VERSION);
	}
	table_cut(processes, summary->asked.top);
	table_print(processes, &summary->asked.table, out);
	table_destroy(processes);
	is_sorted |= print_over(summary, reduced, out);
	for (const struct reduced_view_class *class = reduced_views; class->name; class ++) {
		if (summary->is_default || is_asked(summary, class)) {
			is_sorted |= print_table(summary, make_table(summary, class, reduced), out);
		}
	}
	buf_text(out, is_json ? "\n}\n" : "");
	return is_sorted;
}

/* ---- what was asked ---- */

static int refuse(const struct summary *summary)
{
	const struct asked *asked = &summary->asked;
	struct buf names = {0};

	if (summary->style != &style_gprof || summary->is_per_thread || summary->has_detail ||
		select_is_asked(&asked->select) || !numbers_is_empty(&asked->filter.pids) ||
		!numbers_is_empty(&asked->filter.ranks)) {
		return cmd_usage(&cmd_summary,
			"a summary of reduce has one style, and all of its processes and steps; "
			"the streams have more");
	}
	if (summary->is_over_ranks && summary->sort && strcmp(summary->sort, "total") != 0) {
		return cmd_usage(&cmd_summary,
			"a summary of reduce compares ranks by total, not by '%s'; the streams "
			"have more",
			summary->sort);
	}
	for (size_t i = 0; !summary->is_default && i < summary->nr_views; i++) {
		if (reduced_view_find(summary->views[i]->name)) {
			continue;
		}
		for (const struct reduced_view_class *class = reduced_views; class->name;
			class ++) {
			buf_printf(&names, "%s%s", names.nr_bytes ? ", " : "", class->name);
		}
		cmd_usage(&cmd_summary,
			"a summary of reduce cannot fill the view %s, the streams can; it has %.*s",
			summary->views[i]->name, (int)names.nr_bytes, names.bytes);
		buf_fini(&names);
		return CMD_USAGE;
	}
	return 0;
}

static int read_all(struct reduced *reduced, char *const *paths, int nr_paths)
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
	return 0;
}

int summary_of_reduced(struct summary *summary, char *const *paths, int nr_paths)
{
	struct reduced reduced = {0};
	struct cmd_output output;
	struct buf out;
	bool is_incomplete;
	int status = refuse(summary);

	status = status ? status : read_all(&reduced, paths, nr_paths);
	if (!status) {
		reduced_sort(&reduced);
		cmd_output_init(&output, &out, summary->asked.output);
		if (print_all(summary, &reduced, &out)) {
			status = (int)cmd_output_end(&output, &out);
		} else {
			status = cmd_usage(&cmd_summary,
				"no view has such a column to sort by: '%s'", summary->sort);
		}
		buf_fini(&out);
	}
	if (status != CMD_USAGE && reduced.nr_processes) {
		is_incomplete = tell_ranks(&reduced);
		is_incomplete |= tell_repeated(&reduced);
		is_incomplete |= tell_missing(&reduced);
		status = !status && is_incomplete ? CMD_INCOMPLETE : status;
	}
	reduced_fini(&reduced);
	return status;
}
