/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker starts anew if one of the same number, of the same loop, has ended before. So the first
 * start of a second loader may count as well: nothing tells loaders apart.
 */
#include "report/verdict/loader_starts.h"

#include <stdlib.h>

#include "report/model/process_tree.h"
#include "report/util/hash.h"
#include "report/util/sort.h"

/* The unit in which the kernel tells when a process began. */
#define TICK_NS 10000000u
/* Streams may claim any number of processes between a worker and its loop. */
#define MAX_BETWEEN 8u

/* A worker process; times are of CLOCK_MONOTONIC. */
struct worker {
	size_t loop; /* among the processes of the headline */
	int64_t number, nr_workers;
	uint64_t start_ns;	   /* as the kernel tells, if the host has not slept; 0: unknown */
	uint64_t begin_ns, end_ns; /* its first event, and its last one */
	uint64_t start;		   /* how many of its number began before */
	bool is_anew;
};

/* ---- workers ---- */

/* A server that forks workers (forkserver) may stand between them and the loop. */
static bool find_loop(struct process *const *all, size_t nr_all, size_t index,
	const struct headline *headline, size_t *loop)
{
	struct process_tree_member member = {.parent = index};

	for (unsigned int i = 0; i <= MAX_BETWEEN; i++) {
		member = process_tree_find_one(all, nr_all, member.parent);
		if (member.link == PROCESS_TREE_NONE) {
			return false;
		}
		if (headline->processes[member.parent].is_main) {
			*loop = member.parent;
			return true;
		}
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	const struct worker *x = a, *y = b;

	return ORDER(COMPARE(x->loop, y->loop), COMPARE(x->nr_workers, y->nr_workers),
		COMPARE(x->number, y->number), COMPARE(x->begin_ns, y->begin_ns));
}

/* Of one loop. */
static int by_start(const void *a, const void *b)
{
	const struct worker *x = a, *y = b;

	return ORDER(COMPARE(x->nr_workers, y->nr_workers), COMPARE(x->start, y->start),
		COMPARE(x->begin_ns, y->begin_ns));
}

/* Returns the workers of all loops, in order; the caller frees them. */
static struct worker *list_workers(const struct headline *headline, size_t *nr)
{
	size_t nr_all = headline->nr_processes;
	struct process **all = mem_zeroed(nr_all + 1, sizeof(*all));
	struct worker *workers = mem_zeroed(nr_all + 1, sizeof(*workers));

	*nr = 0;
	for (size_t i = 0; i < nr_all; i++) {
		all[i] = headline->processes[i].process;
	}
	for (size_t i = 0; i < nr_all; i++) {
		struct worker *worker = &workers[*nr];

		worker->number = process_tree_worker(all[i], &worker->nr_workers);
		worker->start_ns =
			all[i]->start_ticks > 0 ? (uint64_t)all[i]->start_ticks * TICK_NS : 0;
		worker->begin_ns = all[i]->first_ns;
		worker->end_ns = all[i]->last_ns;
		if (!headline->processes[i].is_main && worker->number >= 0 &&
			all[i]->first_ns <= all[i]->last_ns &&
			find_loop(all, nr_all, i, headline, &worker->loop)) {
			(*nr)++;
		}
	}
	free(all);
	qsort(workers, *nr, sizeof(*workers), by_number);
	return workers;
}

/* In the order of by_number, of one loop. */
static void number_starts(struct worker *workers, size_t nr)
{
	uint64_t first_end_ns = 0;

	for (size_t i = 0; i < nr; i++) {
		struct worker *worker = &workers[i];
		bool is_first = !i || worker->number != worker[-1].number ||
				worker->nr_workers != worker[-1].nr_workers;

		worker->start = is_first ? 0 : worker[-1].start + 1;
		worker->is_anew = !is_first && first_end_ns < worker->begin_ns;
		if (is_first || worker->end_ns < first_end_ns) {
			first_end_ns = worker->end_ns;
		}
	}
}

static bool is_same_start(const struct worker *a, const struct worker *b)
{
	return a->start == b->start && a->nr_workers == b->nr_workers;
}

/* ---- what the loop waits for ---- */

/* Idle time in the loader and outside of operators, since starting a process is none. */
static double idle_ns(const struct headline_step *step)
{
	return (double)(step->parts[BUDGET_HOST + HOST_LOADER] +
			step->parts[BUDGET_HOST + HOST_RANGE] +
			step->parts[BUDGET_HOST + HOST_USER] + step->parts[BUDGET_HOST + HOST_OS]);
}

static bool is_known(const struct headline_step *step)
{
	return step->counts || step->is_outlier;
}

/* The step of that time; NULL if it is in none that is known. */
static const struct headline_step *step_at(const struct headline_process *at, uint64_t ns)
{
	const struct headline_step *step;
	size_t i = 0;

	BISECT(i, 0, at->nr_steps, at->steps[i].begin_ns <= ns);
	step = i ? &at->steps[i - 1] : NULL;
	return step && ns - step->begin_ns < step->ns && is_known(step) ? step : NULL;
}

/* From the start of the first worker, where that is known, to the first batch. */
static double start_ns(const struct worker *workers, size_t nr, const struct headline_batch *batch,
	uint64_t before_ns)
{
	uint64_t begin_ns = batch->begin_ns;

	for (size_t i = 0; i < nr; i++) {
		uint64_t ns = workers[i].start_ns;

		if (ns + TICK_NS > before_ns && ns < begin_ns) {
			begin_ns = ns > before_ns ? ns : before_ns;
		}
	}
	return (double)(batch->end_ns - begin_ns);
}

static bool has_anew(const struct worker *workers, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (workers[i].is_anew) {
			return true;
		}
	}
	return false;
}

/* Adds one start. While workers make batches all the time, each takes them so many steps. */
static void add_start(const struct headline_process *at, const struct worker *workers, size_t nr,
	size_t batch, struct loader_starts *starts)
{
	const struct headline_step *step = step_at(at, at->batches[batch].begin_ns);
	double ns, least_ns;

	if (!step || !has_anew(workers, nr)) {
		return;
	}
	ns = start_ns(workers, nr, &at->batches[batch], batch ? at->batches[batch - 1].end_ns : 0);
	ns = ns < idle_ns(step) ? ns : idle_ns(step);
	least_ns = ns - (double)workers[0].nr_workers * starts->usual_ns;
	starts->nr_anew++;
	starts->ns += ns;
	starts->least_ns += least_ns > 0 ? least_ns : 0;
	starts->counted_ns += step->counts ? ns : 0;
}

/* Adds the workers of one loop, in the order of by_start. Returns how often it starts some. */
static uint64_t add_loop(const struct headline_process *at, const struct worker *workers, size_t nr,
	struct loader_starts *starts)
{
	uint64_t nr_starts = 0;
	size_t batch = 0, end;

	for (size_t first = 0; first < nr; first = end) {
		end = first + 1;
		while (end < nr && is_same_start(&workers[end], &workers[first])) {
			end++;
		}
		BISECT(batch, 0, at->nr_batches,
			at->batches[batch].end_ns <= workers[first].begin_ns);
		if (batch < at->nr_batches) {
			add_start(at, workers + first, end - first, batch, starts);
			nr_starts++;
		}
	}
	return nr_starts;
}

static void set_means(const struct headline *headline, struct loader_starts *starts)
{
	double nr = 0, nr_counted = 0, step_ns = 0;

	for (size_t i = 0; i < headline->nr_processes; i++) {
		const struct headline_process *at = &headline->processes[i];

		for (size_t k = 0; at->is_main && k < at->nr_steps; k++) {
			step_ns += is_known(&at->steps[k]) ? (double)at->steps[k].ns : 0;
			nr += is_known(&at->steps[k]);
			nr_counted += at->steps[k].counts;
		}
	}
	nr = nr > 0 ? nr : 1;
	starts->ns /= nr;
	starts->least_ns /= nr;
	starts->step_ns = step_ns / nr;
	starts->counted_ns /= nr_counted > 0 ? nr_counted : 1;
}

struct loader_starts loader_starts_of(const struct headline *headline, double median_step_ns)
{
	struct loader_starts starts = {.usual_ns = median_step_ns};
	size_t nr, end;
	struct worker *workers = list_workers(headline, &nr);

	for (size_t first = 0; first < nr; first = end) {
		const struct headline_process *at = &headline->processes[workers[first].loop];
		uint64_t nr_starts;

		end = first + 1;
		while (end < nr && workers[end].loop == workers[first].loop) {
			end++;
		}
		number_starts(workers + first, end - first);
		qsort(workers + first, end - first, sizeof(*workers), by_start);
		nr_starts = add_loop(at, workers + first, end - first, &starts);
		starts.nr = nr_starts > starts.nr ? nr_starts : starts.nr;
	}
	free(workers);
	set_means(headline, &starts);
	return starts;
}
