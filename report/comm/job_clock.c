/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts all processes on the clock of one host, the first step of a session that touches times.
 * nccl_match.c fits a line for each clock through the ends of collectives that hosts share; this
 * bends the clock maps of the processes by that line, so that everybody who converts a tick later
 * gets the job's time without knowing of it.
 *
 *   clock map of a process   tick -> ns of its host
 *   line of its clock        ns of its host -> ns of the reference
 *   bent map                 tick -> ns of the reference      points moved, slopes times 1 + drift
 */
#include "report/comm/job_clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm/nccl_match.h"

/* A process of an unknown host has a clock of its own. */
static bool shares_clock(const struct process *a, const struct process *b)
{
	uint32_t clock = process_clock(a);

	return a == b || (clock && clock == process_clock(b));
}

static bool has_several_clocks(struct process *const *processes, size_t nr_processes)
{
	for (size_t i = 1; i < nr_processes; i++) {
		if (!shares_clock(processes[0], processes[i])) {
			return true;
		}
	}
	return false;
}

/* ---- maps ---- */

static void bend(
	struct clock_map *map, const struct process *process, const struct nccl_clock *clock)
{
	if (!map->nr_points) { /* no points: an identity map */
		clock_map_add(map, process->first_ns, process->first_ns);
		clock_map_finish(map);
	}
	for (size_t i = 0; i < map->nr_points; i++) {
		struct clock_point *point = &map->points[i];

		point->to = nccl_clock_time(clock, point->to);
		point->slope = (uint64_t)llround((double)point->slope * (1 + clock->drift));
	}
	map->first_slope = (uint64_t)llround((double)map->first_slope * (1 + clock->drift));
	map->now_length = 0;
}

/* All times that the process has already must move as well; durations do not. */
static void convert(
	struct process *process, const struct nccl_clock *clock, const struct process *reference)
{
	bend(&process->host_clock, process, clock);
	bend(&process->device_clock, process, clock);
	process->first_ns = nccl_clock_time(clock, process->first_ns);
	process->last_ns = nccl_clock_time(clock, process->last_ns);
	process->origin_ns = nccl_clock_time(clock, process->origin_ns);
	process->realtime_offset_ns = reference->realtime_offset_ns;
	process->is_clock_fitted = true;
	process->clock_error_ns = clock->error_ns;
}

/* ---- clocks ---- */

/* Returns 1 + the index of each process's clock, 0 if unknown. */
static uint32_t *find_clocks(
	const struct nccl_ops *ops, struct process *const *processes, size_t nr_processes)
{
	uint32_t *clock_of = mem_zeroed(nr_processes, sizeof(*clock_of));

	for (size_t i = 0; i < ops->nr_ops; i++) {
		clock_of[ops->ops[i].process] = ops->ops[i].clock + 1;
	}
	/* A data loader has no communicator, but the clock of its host. */
	for (size_t i = 0; i < nr_processes; i++) {
		for (size_t k = 0; !clock_of[i] && k < nr_processes; k++) {
			clock_of[i] = shares_clock(processes[i], processes[k]) ? clock_of[k] : 0;
		}
	}
	return clock_of;
}

static bool has_fitted(const struct nccl_clocks *clocks)
{
	size_t nr_known = 0;

	for (size_t i = 0; i < clocks->nr; i++) {
		nr_known += clocks->clocks[i].is_known;
	}
	return nr_known > 1;
}

/* An operation of the reference clock. */
static const struct nccl_op *find_first(
	const struct nccl_clocks *clocks, const struct nccl_ops *ops)
{
	const struct nccl_op *op = ops->ops;

	while (op->clock != clocks->first) {
		op++; /* each clock has an operation */
	}
	return op;
}

static void align(const struct nccl_clocks *clocks, const struct nccl_ops *ops,
	struct process *const *processes, size_t nr_processes)
{
	uint32_t *clock_of = find_clocks(ops, processes, nr_processes);
	const struct process *reference = processes[find_first(clocks, ops)->process];

	for (size_t i = 0; i < nr_processes; i++) {
		struct process *process = processes[i];

		if (!clock_of[i] || !clocks->clocks[clock_of[i] - 1].is_known ||
			process->first_ns > process->last_ns) {
			continue;
		}
		if (clock_of[i] != clocks->first + 1) {
			convert(process, &clocks->clocks[clock_of[i] - 1], reference);
		}
		process->has_job_clock = true;
	}
	free(clock_of);
}

void job_clock_align(struct process *const *processes, size_t nr_processes)
{
	struct nccl_clocks clocks = {0};
	struct nccl_ops ops = {0};

	if (!has_several_clocks(processes, nr_processes)) {
		return;
	}
	for (size_t i = 0; i < nr_processes; i++) {
		nccl_ops_read(&ops, processes[i]);
	}
	if (ops.nr_ops) {
		nccl_match_clocks(&ops, &clocks);
	}
	if (has_fitted(&clocks)) {
		align(&clocks, &ops, processes, nr_processes);
	}
	nccl_clocks_fini(&clocks);
	nccl_ops_fini(&ops);
}

static size_t count_fitted(
	struct process *const *processes, size_t nr_processes, uint64_t *error_ns)
{
	size_t nr = 0;

	*error_ns = 0;
	for (size_t i = 0; i < nr_processes; i++) {
		uint64_t ns = processes[i]->clock_error_ns;

		nr += processes[i]->is_clock_fitted;
		*error_ns = ns > *error_ns ? ns : *error_ns;
	}
	return nr;
}

bool job_clock_print_fit(
	struct process *const *processes, size_t nr_processes, const char *before, struct buf *out)
{
	uint64_t error_ns;
	size_t nr = count_fitted(processes, nr_processes, &error_ns);

	if (nr) {
		buf_printf(out,
			"%sclocks of %zu processes are aligned by the ends of NCCL operations, of "
			"which 95 %% agree within %.1f us",
			before, nr, (double)error_ns / 1e3);
	}
	return nr != 0;
}

void job_clock_print_one(const struct process *process, const char *before, struct buf *out)
{
	if (process->is_clock_fitted) {
		buf_printf(out,
			"%sclock aligned by NCCL operations, 95 %% of which agree within %.1f us",
			before, (double)process->clock_error_ns / 1e3);
	}
}

/* Counts the processes that have neither the job's clock nor that of the first process. */
static size_t count_apart(struct process *const *processes, size_t nr_processes)
{
	const struct process *first = processes[0];
	size_t nr = 0;

	for (size_t i = 0; i < nr_processes; i++) {
		first = processes[i]->has_job_clock ? processes[i] : first;
	}
	for (size_t i = 0; i < nr_processes; i++) {
		nr += !shares_clock(first, processes[i]);
	}
	return nr;
}

void job_clock_print_unaligned(
	struct process *const *processes, size_t nr_processes, const char *before, struct buf *out)
{
	size_t nr_apart = nr_processes ? count_apart(processes, nr_processes) : 0;

	if (nr_apart) {
		buf_printf(out,
			"%s%zu processes share too few NCCL operations: they are placed by wall "
			"clocks, which may differ",
			before, nr_apart);
	}
}

void job_clock_print(
	struct process *const *processes, size_t nr_processes, const char *before, struct buf *out)
{
	bool is_printed = job_clock_print_fit(processes, nr_processes, before, out);

	job_clock_print_unaligned(processes, nr_processes, is_printed ? "; " : before, out);
}
