/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds ranks that belong to another job, right after a session has dropped duplicates. sanity.c
 * then warns, and views note it. A rank is foreign if it must share a communicator with somebody
 * here, and shares none. "Must" follows by counting: a communicator of n of the job's ranks leaves
 * out world - n; if more other ranks than that are here, at least one of them must have it.
 */
#include "report/comm/job_clock.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

/* A rank that has communicators of several ranks. */
struct candidate {
	struct process *process;
	bool is_known; /* all of its communicators are in the stream */
	bool is_met;   /* another process has one of them */
};

struct membership {
	uint64_t key;
	size_t candidate;
};

struct job {
	struct candidate *candidates; /* sorted by rank */
	struct membership *members;
	size_t nr_candidates, nr_members, capacity;
	size_t nr_ranks; /* those that count, see counts() */
};

static const struct model_nccl_comm *comm_at(const struct process *process, size_t place)
{
	return idmap_at(&process->nccl_comms, place);
}

/* A trace covers a few steps; its process may have more groups than are in it. */
static bool is_candidate(const struct process *process)
{
	bool has_several = false;

	for (size_t i = 0; i < process->nccl_comms.nr; i++) {
		has_several |= comm_at(process, i)->nr_ranks > 1;
	}
	return has_several && process->rank >= 0 && process->world > 1 &&
	       !process->stream->is_trace;
}

static void add_members(struct job *job, size_t candidate)
{
	struct candidate *c = &job->candidates[candidate];

	c->is_known = true;
	for (size_t i = 0; i < c->process->nccl_comms.nr; i++) {
		const struct model_nccl_comm *comm = comm_at(c->process, i);

		if (!comm->key || !comm->nr_ranks || comm->rank < 0) {
			c->is_known = false;
			continue;
		}
		job->members = array_grow(
			job->members, job->nr_members, &job->capacity, sizeof(*job->members));
		job->members[job->nr_members++] =
			(struct membership){.key = comm->key, .candidate = candidate};
	}
}

/* A rank with incomplete communicators may belong to any. */
static bool counts(const struct candidate *candidate)
{
	return candidate->is_known && process_is_complete(candidate->process);
}

/* False if the processes are of jobs of different sizes, which another check reports. */
static bool join(struct job *job, struct process *const *processes, size_t nr_processes)
{
	int64_t last_rank = -1;

	job->candidates = mem_zeroed(nr_processes + 1, sizeof(*job->candidates));
	for (size_t i = 0; i < nr_processes; i++) {
		struct candidate *candidate = &job->candidates[job->nr_candidates];

		if (!is_candidate(processes[i])) {
			continue;
		}
		candidate->process = processes[i];
		if (candidate->process->world != job->candidates[0].process->world) {
			return false;
		}
		add_members(job, job->nr_candidates++);
		if (counts(candidate) && processes[i]->rank != last_rank) {
			last_rank = processes[i]->rank;
			job->nr_ranks++;
		}
	}
	return true;
}

static int by_key(const void *a, const void *b)
{
	const struct membership *x = a, *y = b;

	return COMPARE(x->key, y->key);
}

/* Spares a process that has several ranks of one communicator, too. */
static void meet(struct job *job)
{
	if (job->nr_members) {
		qsort(job->members, job->nr_members, sizeof(*job->members), by_key);
	}
	for (size_t i = 1; i < job->nr_members; i++) {
		if (job->members[i - 1].key == job->members[i].key) {
			job->candidates[job->members[i - 1].candidate].is_met = true;
			job->candidates[job->members[i].candidate].is_met = true;
		}
	}
}

/*
 * Counts the other ranks beside that of a candidate. Several processes may have its rank, and one
 * of those that count is enough to take the rank out.
 */
static size_t count_others(const struct job *job, size_t at)
{
	int64_t rank = job->candidates[at].process->rank;

	while (at && job->candidates[at - 1].process->rank == rank) {
		at--;
	}
	for (; at < job->nr_candidates && job->candidates[at].process->rank == rank; at++) {
		if (counts(&job->candidates[at])) {
			return job->nr_ranks - 1;
		}
	}
	return job->nr_ranks;
}

/*
 * A communicator of n ranks leaves out all others of the job. If more than those are here, one of
 * them must have it.
 */
static bool must_meet(const struct process *process, size_t nr_others)
{
	for (size_t i = 0; i < process->nccl_comms.nr; i++) {
		int64_t nr_ranks = comm_at(process, i)->nr_ranks;

		if (nr_ranks > 1 && nr_ranks <= process->world &&
			(int64_t)nr_others > process->world - nr_ranks) {
			return true;
		}
	}
	return false;
}

void foreign_rank_mark(struct process *const *processes, size_t nr_processes)
{
	struct job job = {0};

	if (join(&job, processes, nr_processes)) {
		meet(&job);
		for (size_t i = 0; i < job.nr_candidates; i++) {
			const struct candidate *candidate = &job.candidates[i];

			candidate->process->is_foreign =
				candidate->is_known && !candidate->is_met &&
				must_meet(candidate->process, count_others(&job, i));
		}
	}
	free(job.candidates);
	free(job.members);
}
