/* SPDX-License-Identifier: Apache-2.0 */
/* Each counter is a series of points, between which it rises evenly. */
#include "report/budget/cpu_waits.h"

#include <stdlib.h>

#include "report/model/device_records.h"
#include "report/model/process_tree.h"
#include "report/model/scan.h"
#include "report/ops/loop.h"
#include "report/util/buf.h"
#include "report/util/idmap.h"
#include "report/util/sort.h"

struct point {
	uint64_t time_ns, value;
};

struct series {
	struct point *points; /* in the order of their times */
	size_t nr, capacity;
};

struct thread_times {
	uint32_t thread;
	struct series cpu, waits;
};

struct cpu_waits {
	struct process *process;
	struct thread_times *threads;
	size_t nr_threads;
	struct series process_cpu, host_busy, held;
	uint64_t nr_cpus; /* that the process may run on; 0: unknown */
	uint64_t limit_milli_cpus;
	bool has_all_cpus;	    /* it may run on each CPU of its host */
	struct idmap tasks;	    /* uint64_t of CPU time, by the system's number of a thread */
	uint64_t first_ns, last_ns; /* of CPU samples */
	uint64_t nr_busy;	    /* threads that compute; 0: unknown */
};

/* A thread computes that uses so much of a CPU. */
#define MIN_BUSY_SHARE 0.05

/* ---- reading ---- */

/* A counter that falls, as after a suspension, stands still. */
static void add_point(struct series *series, uint64_t time_ns, uint64_t value)
{
	const struct point *last = series->nr ? &series->points[series->nr - 1] : NULL;

	if (last && (time_ns <= last->time_ns || value < last->value)) {
		return;
	}
	series->points =
		array_grow(series->points, series->nr, &series->capacity, sizeof(*series->points));
	series->points[series->nr++] = (struct point){time_ns, value};
}

static struct thread_times *thread_of(struct cpu_waits *waits, uint32_t thread)
{
	for (size_t i = 0; i < waits->nr_threads; i++) {
		if (waits->threads[i].thread == thread) {
			return &waits->threads[i];
		}
	}
	waits->threads = mem_resize(waits->threads, waits->nr_threads + 1, sizeof(*waits->threads));
	waits->threads[waits->nr_threads] = (struct thread_times){.thread = thread};
	return &waits->threads[waits->nr_threads++];
}

static void add_thread(struct cpu_waits *waits, const struct batch *b, uint32_t row)
{
	struct thread_times *thread =
		thread_of(waits, (uint32_t)b->col[COL_thread_cpu_thread][row]);
	uint64_t time_ns =
		clock_map_time(&waits->process->host_clock, b->col[COL_thread_cpu_time][row]);

	add_point(&thread->cpu, time_ns, b->col[COL_thread_cpu_cpu_ns][row]);
	if (b->col[COL_thread_cpu_wait_ns][row] != GPROF_THREAD_CPU_UNKNOWN) {
		add_point(&thread->waits, time_ns, b->col[COL_thread_cpu_wait_ns][row]);
	}
}

/* Takes the lowest value; 0 is none. */
static void lower(uint64_t *to, uint64_t value)
{
	if (value && (!*to || value < *to)) {
		*to = value;
	}
}

static void add_sample(struct cpu_waits *waits, const struct batch *b, uint32_t row)
{
	uint64_t value = b->col[COL_sample_value][row];
	uint64_t time_ns =
		clock_map_time(&waits->process->host_clock, b->col[COL_sample_time][row]);

	switch (b->col[COL_sample_metric][row]) {
	case GPROF_METRIC_PROCESS_CPU_NS:
		add_point(&waits->process_cpu, time_ns, value);
		break;
	case GPROF_METRIC_HOST_CPU_BUSY_NS:
		add_point(&waits->host_busy, time_ns, value);
		break;
	case GPROF_METRIC_CGROUP_THROTTLED_NS:
		add_point(&waits->held, time_ns, value);
		break;
	case GPROF_METRIC_PROCESS_ALLOWED_CPUS:
		lower(&waits->nr_cpus, value);
		break;
	case GPROF_METRIC_CGROUP_LIMIT_MILLI_CPUS:
		lower(&waits->limit_milli_cpus, value);
		break;
	default:
		break;
	}
}

static void add_cpu_sample(struct cpu_waits *waits, const struct batch *b, uint32_t row)
{
	uint64_t *cpu_ns = idmap_put(&waits->tasks, (uint32_t)b->col[COL_cpu_sample_task][row]);
	uint64_t time_ns =
		clock_map_time(&waits->process->host_clock, b->col[COL_cpu_sample_time][row]);

	*cpu_ns += b->col[COL_cpu_sample_ns][row];
	waits->first_ns = time_ns < waits->first_ns ? time_ns : waits->first_ns;
	waits->last_ns = time_ns > waits->last_ns ? time_ns : waits->last_ns;
}

static void count_busy(struct cpu_waits *waits)
{
	for (size_t i = 0; i < waits->tasks.nr; i++) {
		const uint64_t *cpu_ns = idmap_at(&waits->tasks, i);

		waits->nr_busy += (double)*cpu_ns >=
				  MIN_BUSY_SHARE * (double)(waits->last_ns - waits->first_ns);
	}
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (b->table == GPROF_TABLE_thread_cpu) {
			add_thread(context, b, i);
		} else if (b->table == GPROF_TABLE_cpu_sample) {
			add_cpu_sample(context, b, i);
		} else {
			add_sample(context, b, i);
		}
	}
}

static const struct scan_want wants[] = {
	{GPROF_TABLE_thread_cpu, COLS(thread_cpu, time, cpu_ns, wait_ns, thread), 0},
	{GPROF_TABLE_sample, COLS(sample, time, value, metric), 0},
	{GPROF_TABLE_cpu_sample, COLS(cpu_sample, time, ns, task), 0},
};

static const struct scan_view scan_view = {.wants = wants,
	.nr_wants = sizeof(wants) / sizeof(wants[0]),
	.on_batch = on_batch,
	.ignores_selection = true};

static void free_thread(struct thread_times *thread)
{
	free(thread->cpu.points);
	free(thread->waits.points);
}

/*
 * With a GPU all of them may keep it waiting: they launch, but for the first thread, which hardly
 * wants a CPU if it neither launches nor is the loop's. Without one, the loop's does. Of a worker
 * of a data loader there is the first thread, which makes its batches.
 */
static void leave_threads(struct cpu_waits *waits)
{
	int64_t nr_workers;
	bool is_worker = process_tree_worker(waits->process, &nr_workers) >= 0;
	bool has_gpu = process_has_device_records(waits->process, NULL);
	uint32_t loop = has_gpu || is_worker ? 0 : loop_thread(waits->process);
	size_t nr = 0;

	for (size_t i = 0; i < waits->nr_threads; i++) {
		struct thread_times *thread = &waits->threads[i];

		if (!loop || thread->thread == loop) {
			waits->threads[nr++] = *thread;
		} else {
			free_thread(thread);
		}
	}
	waits->nr_threads = nr;
}

struct cpu_waits *cpu_waits_create(struct process *process)
{
	const struct stream_table *table = stream_table(process->stream, GPROF_TABLE_thread_cpu);
	struct cpu_waits *waits;

	if (!table || !table->nr_rows) {
		return NULL;
	}
	waits = mem_zeroed(1, sizeof(*waits));
	waits->process = process;
	waits->first_ns = UINT64_MAX;
	idmap_init(&waits->tasks, sizeof(uint64_t));
	scan_run(&process, 1, &(const struct scan){&scan_view, waits}, 1);
	waits->has_all_cpus =
		waits->nr_cpus == strtoull(process_fact(process, "host.cpus", "0"), NULL, 10);
	leave_threads(waits);
	count_busy(waits);
	idmap_fini(&waits->tasks);
	return waits;
}

void cpu_waits_destroy(struct cpu_waits *waits)
{
	if (waits) {
		for (size_t i = 0; i < waits->nr_threads; i++) {
			free_thread(&waits->threads[i]);
		}
		free(waits->threads);
		free(waits->process_cpu.points);
		free(waits->host_busy.points);
		free(waits->held.points);
		free(waits);
	}
}

/* ---- sums ---- */

/* Returns the value at a time: before the first point that of the first, and so at the end. */
static double value_at(const struct series *series, uint64_t time_ns)
{
	const struct point *a, *b;
	size_t at;

	BISECT(at, 0, series->nr, series->points[at].time_ns < time_ns);
	if (!at || at == series->nr) {
		return series->nr ? (double)series->points[at ? at - 1 : 0].value : 0;
	}
	a = &series->points[at - 1];
	b = &series->points[at];
	return (double)a->value + (double)(b->value - a->value) * (double)(time_ns - a->time_ns) /
					  (double)(b->time_ns - a->time_ns);
}

static double rise(const struct series *series, uint64_t begin_ns, uint64_t end_ns)
{
	return value_at(series, end_ns) - value_at(series, begin_ns);
}

static uint64_t whole(double ns)
{
	return ns > 0 ? (uint64_t)(ns + 0.5) : 0;
}

struct cpu_wait cpu_waits_between(const struct cpu_waits *waits, uint64_t begin_ns, uint64_t end_ns)
{
	double ns = 0, threads_ns = 0, most_ns = (double)(end_ns - begin_ns);
	double process_ns = rise(&waits->process_cpu, begin_ns, end_ns);

	for (size_t i = 0; i < waits->nr_threads; i++) {
		ns += rise(&waits->threads[i].waits, begin_ns, end_ns);
		threads_ns += rise(&waits->threads[i].cpu, begin_ns, end_ns);
	}
	if (waits->nr_cpus) {
		most_ns -= process_ns / (double)waits->nr_cpus;
	}
	return (struct cpu_wait){.ns = whole(ns < most_ns ? ns : most_ns),
		.nr_threads = waits->nr_busy,
		.nr_cpus = waits->nr_cpus,
		.own_ns = whole(process_ns - threads_ns),
		.process_ns = whole(process_ns),
		.others_ns = waits->has_all_cpus
				     ? whole(rise(&waits->host_busy, begin_ns, end_ns) - process_ns)
				     : 0,
		.held_ns = whole(rise(&waits->held, begin_ns, end_ns)),
		.limit_milli_cpus = waits->limit_milli_cpus};
}

static uint64_t span(const struct series *series, bool is_of_time)
{
	const struct point *first = series->points,
			   *last = first + (series->nr ? series->nr - 1 : 0);

	return !series->nr  ? 0
	       : is_of_time ? last->time_ns - first->time_ns
			    : last->value - first->value;
}

struct cpu_times cpu_waits_times(const struct cpu_waits *waits)
{
	struct cpu_times times = {.nr_cpus = waits->nr_cpus};

	for (size_t i = 0; i < waits->nr_threads; i++) {
		const struct thread_times *thread = &waits->threads[i];

		times.all_ns += span(&thread->cpu, true);
		times.cpu_ns += span(&thread->cpu, false);
		times.wait_ns += span(&thread->waits, false);
	}
	if (waits->limit_milli_cpus && waits->limit_milli_cpus < 1000 * times.nr_cpus) {
		times.nr_cpus = waits->limit_milli_cpus / 1000;
	}
	return times;
}

void cpu_wait_add(struct cpu_wait *sum, const struct cpu_wait *more)
{
	sum->ns += more->ns;
	sum->nr_threads = more->nr_threads > sum->nr_threads ? more->nr_threads : sum->nr_threads;
	lower(&sum->nr_cpus, more->nr_cpus);
	sum->own_ns += more->own_ns;
	sum->process_ns += more->process_ns;
	sum->others_ns += more->others_ns;
	sum->held_ns += more->held_ns;
	lower(&sum->limit_milli_cpus, more->limit_milli_cpus);
}
