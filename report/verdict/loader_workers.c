/* SPDX-License-Identifier: Apache-2.0 */
/* A worker is a process of its own, whose first thread reads samples and makes batches of them. */
#include "report/verdict/loader_workers.h"

#include "report/model/process_tree.h"

/* Shares of the workers' time, from which on they say what keeps it busy. */
#define MIN_COMPUTING_PCT 70.0
#define MIN_LACKING_PCT	  30.0
#define MIN_BLOCKED_PCT	  70.0
/* Workers that were seen for less say nothing. */
#define MIN_WORKER_NS 300000000u

static struct cpu_times sum_of(const struct headline *headline, int64_t *nr_workers)
{
	struct cpu_times sum = {0};

	*nr_workers = 0;
	for (size_t i = 0; i < headline->nr_processes; i++) {
		const struct headline_process *at = &headline->processes[i];
		int64_t nr;

		if (!at->is_main && at->cpu_times.all_ns >= MIN_WORKER_NS &&
			process_tree_worker(at->process, &nr) >= 0) {
			sum.cpu_ns += at->cpu_times.cpu_ns;
			sum.wait_ns += at->cpu_times.wait_ns;
			sum.all_ns += at->cpu_times.all_ns;
			sum.nr_cpus = at->cpu_times.nr_cpus;
			*nr_workers = nr > *nr_workers ? nr : *nr_workers;
		}
	}
	return sum;
}

/* Is there a CPU for one more worker of each process that has a loop? */
static bool has_room(
	const struct headline_figures *figures, const struct cpu_times *sum, int64_t nr_workers)
{
	uint64_t nr_hosts = figures->nr_hosts ? figures->nr_hosts : 1;
	uint64_t nr_loops = (figures->nr_processes + nr_hosts - 1) / nr_hosts;

	return nr_loops * ((uint64_t)nr_workers + 1) <= sum->nr_cpus;
}

struct loader_workers loader_workers_of(
	const struct headline *headline, const struct headline_figures *figures)
{
	int64_t nr_workers;
	const struct cpu_times sum = sum_of(headline, &nr_workers);
	double all_ns = (double)sum.all_ns;
	double cpu_pct = 100 * (double)sum.cpu_ns / all_ns;
	double wait_pct = 100 * (double)sum.wait_ns / all_ns;

	if (!sum.all_ns || figures->loaders != OP_LOADER_WORKERS) {
		return (struct loader_workers){LOADER_WORK_UNKNOWN, 0};
	}
	if (wait_pct >= MIN_LACKING_PCT) {
		return (struct loader_workers){LOADER_LACKS_CPUS, wait_pct};
	}
	if (cpu_pct >= MIN_COMPUTING_PCT) {
		return (struct loader_workers){
			has_room(figures, &sum, nr_workers) ? LOADER_COMPUTES : LOADER_FILLS_CPUS,
			cpu_pct};
	}
	if (100 - cpu_pct - wait_pct >= MIN_BLOCKED_PCT) {
		return (struct loader_workers){LOADER_IS_BLOCKED, 100 - cpu_pct - wait_pct};
	}
	return (struct loader_workers){LOADER_WORK_UNKNOWN, 0};
}
