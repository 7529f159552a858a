/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up by rank what the others waited for it in the steps that count: see waited_rank.h. Of
 * waits that a rank measured by itself nobody knows for whom they were.
 */
#include "report/verdict/waited_rank.h"

#include <stdlib.h>

/* The sums of each process. */
struct waited {
	bool *counts; /* by budget_step.place; NULL: the process does not count */
	bool has_steps;
	double for_it_ns; /* what the others waited for it */
};

static struct waited waited_of(const struct headline_process *of)
{
	struct waited waited = {.has_steps = of->has_steps};

	if (of->is_main) {
		waited.counts = mem_zeroed(of->process->nr_steps + 1, sizeof(*waited.counts));
	}
	for (size_t i = 0; of->is_main && i < of->nr_steps; i++) {
		waited.counts[of->steps[i].place] = of->steps[i].counts;
	}
	return waited;
}

static void add(const struct nccl_ops *ops, struct waited *processes, double *all_ns)
{
	for (size_t i = 0; i < ops->nr_ops; i++) {
		const struct nccl_op *op = &ops->ops[i];
		struct waited *process = &processes[op->process];

		if (process->counts && (!process->has_steps || process->counts[op->step])) {
			*all_ns += (double)nccl_op_wait_ns(op);
			process->for_it_ns += (double)op->caused_ns;
		}
	}
}

int64_t waited_rank(const struct headline *headline, const struct rank_waits *waits)
{
	size_t nr = headline->nr_processes, most = 0;
	struct waited *processes = mem_zeroed(nr + 1, sizeof(*processes));
	double all_ns = 0;
	int64_t rank = -1;

	for (size_t i = 0; i < nr; i++) {
		processes[i] = waited_of(&headline->processes[i]);
	}
	add(&waits->ops, processes, &all_ns);
	add(&waits->host_ops, processes, &all_ns);
	for (size_t i = 0; i < nr; i++) {
		most = processes[i].for_it_ns > processes[most].for_it_ns ? i : most;
		free(processes[i].counts);
	}
	if (all_ns > 0 && 2 * processes[most].for_it_ns > all_ns) {
		rank = headline->processes[most].process->rank;
	}
	free(processes);
	return rank;
}
