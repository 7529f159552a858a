/* SPDX-License-Identifier: Apache-2.0 */
/* A worker is a process of its own, whose first thread reads samples and makes batches of them. */
#include "report/verdict/loader_workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/budget/loader_stage.h"
#include "report/model/mixed_stack.h"
#include "report/model/os_files.h"
#include "report/model/os_kind.h"
#include "report/model/process_tree.h"
#include "report/model/scan.h"
#include "report/util/buf.h"
#include "report/verdict/wait_text.h"

/* Shares of the workers' time, from which on they say what keeps it busy. */
#define MIN_COMPUTING_PCT 70.0
#define MIN_LACKING_PCT	  30.0
#define MIN_BLOCKED_PCT	  70.0
#define MIN_BUSY_PCT	  70.0
#define MIN_MOST_PCT	  30.0
#define MIN_STAGE_PCT	  50.0
/* More than the rounding of shares makes of a whole number of workers. */
#define ROUNDING 1e-6
/* Workers that were seen for less say nothing. */
#define MIN_WORKER_NS 300000000u

/* ---- their threads ---- */

/* A worker among the processes; sets how many its loader has. */
static bool is_worker(const struct headline_process *at, int64_t *nr_workers)
{
	return !at->is_main && at->cpu_times.all_ns >= MIN_WORKER_NS &&
	       process_tree_worker(at->process, nr_workers) >= 0;
}

static struct cpu_times sum_of(const struct headline *headline, int64_t *nr_workers)
{
	struct cpu_times sum = {0};

	*nr_workers = 0;
	for (size_t i = 0; i < headline->nr_processes; i++) {
		const struct headline_process *at = &headline->processes[i];
		int64_t nr;

		if (is_worker(at, &nr)) {
			sum.cpu_ns += at->cpu_times.cpu_ns;
			sum.wait_ns += at->cpu_times.wait_ns;
			sum.all_ns += at->cpu_times.all_ns;
			sum.nr_cpus = at->cpu_times.nr_cpus;
			*nr_workers = nr > *nr_workers ? nr : *nr_workers;
		}
	}
	return sum;
}

/* Workers of each loop if all CPUs are theirs. */
static uint64_t most_workers(const struct headline_figures *figures, const struct cpu_times *sum)
{
	uint64_t nr_hosts = figures->nr_hosts ? figures->nr_hosts : 1;
	uint64_t nr_loops = (figures->nr_processes + nr_hosts - 1) / nr_hosts;

	return nr_loops ? sum->nr_cpus / nr_loops : 0;
}

uint64_t loader_workers_wanted(const struct loader_workers *workers, double share_of_step)
{
	double exact = share_of_step < 1 ? (double)workers->nr / (1 - share_of_step) : 0;
	double wanted = ceil(exact - ROUNDING);

	return wanted > (double)workers->nr && wanted <= (double)workers->nr_most ? (uint64_t)wanted
										  : 0;
}

double loader_workers_saving(const struct loader_workers *workers, double reach_ns, double step_ns)
{
	double saved_ns = workers->most.share_pct / 100 * step_ns;

	return saved_ns < reach_ns ? saved_ns : reach_ns;
}

/* ---- their calls of the system ---- */

/* Calls of a function on files of a group. */
struct call_sum {
	uint32_t function, group;
	uint64_t ns, bytes;
};

struct calls {
	struct os_files files; /* of the process that is read */
	struct idmap sums;     /* struct call_sum by function and group */
};

static void add_call(
	struct calls *calls, struct process *process, const struct batch *b, uint32_t row)
{
	uint32_t function = process_call_name(process, b->col[COL_api_call][row], NULL);
	uint32_t name = os_files_name(
		&calls->files, b->col[COL_os_call_file][row], b->col[COL_os_call_name][row]);
	struct call_sum *sum;
	uint32_t group;

	if (loader_stage_is_queue(os_kind_of(function), name)) {
		return;
	}
	group = name ? os_files_group(name) : 0;
	sum = idmap_put(&calls->sums, (uint64_t)function << 32 | group);
	sum->function = function;
	sum->group = group;
	sum->ns += clock_map_duration(&process->host_clock, b->col[COL_api_dur][row]);
	sum->bytes += b->col[COL_os_call_bytes][row];
}

/* The first thread makes batches, others hand them on. */
static void on_batch(void *context, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (process_tid(process, (uint32_t)b->col[COL_api_thread][i]) == process->pid) {
			add_call(context, process, b, i);
		}
	}
}

static const struct scan_want wants = {
	GPROF_TABLE_os_call, COLS(api, dur, thread, call) | COLS(os_call, bytes, file, name), 0};

static const struct scan_view scan_view = {
	.wants = &wants, .nr_wants = 1, .on_batch = on_batch, .ignores_selection = true};

static void set_call(
	struct loader_workers *workers, const struct calls *calls, const struct cpu_times *times)
{
	const struct call_sum *most = NULL;
	struct buf text = {0};

	for (size_t i = 0; i < calls->sums.nr; i++) {
		const struct call_sum *sum = idmap_at(&calls->sums, i);

		most = !most || sum->ns > most->ns ? sum : most;
	}
	if (!most || 100 * (double)most->ns < MIN_MOST_PCT * (double)times->all_ns) {
		return;
	}
	buf_text(&text, string_pool_text(most->function, NULL));
	if (most->group) {
		buf_printf(&text, "(%s)", string_pool_text(most->group, NULL));
	}
	workers->most.name = string_pool_intern(text.bytes, text.nr_bytes);
	workers->most.what = LOADER_MOST_CALL;
	workers->most.share_pct = 100 * (double)most->ns / (double)times->all_ns;
	workers->most.bytes_per_s = (double)most->bytes * 1e9 / (double)most->ns;
	buf_fini(&text);
}

static void find_call(const struct headline *headline, const struct cpu_times *times,
	struct loader_workers *workers)
{
	struct calls calls = {0};

	idmap_init(&calls.sums, sizeof(struct call_sum));
	for (size_t i = 0; i < headline->nr_processes; i++) {
		struct process *process = headline->processes[i].process;
		int64_t nr;

		if (is_worker(&headline->processes[i], &nr)) {
			os_files_begin(&calls.files, process);
			scan_run(&process, 1, &(const struct scan){&scan_view, &calls}, 1);
		}
	}
	set_call(workers, &calls, times);
	os_files_fini(&calls.files);
	idmap_fini(&calls.sums);
}

/* ---- their code ---- */

/* CPU samples of the workers' first threads. */
struct worker_code {
	struct idmap lines;  /* struct line_sum by line */
	struct idmap staged; /* the same by stage and line */
	uint64_t nr, nr_of[NR_LOADER_STAGES];
};

struct line_sum {
	uint32_t place; /* of string_pool.h */
	enum loader_stage stage;
	uint64_t nr;
};

static void add_line(
	struct idmap *lines, uint64_t key, enum loader_stage stage, uint32_t place, uint64_t nr)
{
	struct line_sum *line = idmap_put(lines, key);

	line->place = place;
	line->stage = stage;
	line->nr += nr;
}

static void add_code(
	void *context, struct process *process, uint64_t stack, const struct code_sum *sum)
{
	struct worker_code *code = context;
	uint32_t place = mixed_stack_place(process, stack);
	uint32_t py_stack = (uint32_t)(stack >> 32);
	enum loader_stage stage = loader_stage_of(process, py_stack, true);

	if (!place) {
		return;
	}
	add_line(&code->lines, place, stage, place, sum->nr);
	place = loader_stage_line(process, py_stack);
	add_line(&code->staged, (uint64_t)stage << 32 | place, stage, place, sum->nr);
	code->nr += sum->nr;
	code->nr_of[stage] += sum->nr;
}

/* The line with most samples; of that stage, if it is not LOADER_STAGE_NONE. */
static const struct line_sum *most_of(const struct idmap *lines, enum loader_stage stage)
{
	const struct line_sum *most = NULL;

	for (size_t i = 0; i < lines->nr; i++) {
		const struct line_sum *line = idmap_at(lines, i);

		if ((!stage || line->stage == stage) && (!most || line->nr > most->nr)) {
			most = line;
		}
	}
	return most;
}

/* Own code has no stage that says more than its line does. */
static enum loader_stage stage_with_most(const struct worker_code *code)
{
	enum loader_stage most = LOADER_STAGE_NONE;

	for (unsigned int stage = 0; stage < NR_LOADER_STAGES; stage++) {
		if (loader_stage_verb(stage) && (!most || code->nr_of[stage] > code->nr_of[most])) {
			most = stage;
		}
	}
	return most;
}

/* cpu_pct: the share of the workers' time in which they compute. */
static void set_code(struct loader_workers *workers, const struct worker_code *code, double cpu_pct)
{
	const struct line_sum *line = most_of(&code->lines, LOADER_STAGE_NONE);
	const struct line_sum *of_stage;
	enum loader_stage stage = stage_with_most(code);
	double sample_pct = code->nr ? cpu_pct / (double)code->nr : 0;

	if (code->nr < CODE_PLACE_MIN_SAMPLES) {
		return;
	}
	if (sample_pct * (double)code->nr_of[stage] >= MIN_STAGE_PCT) {
		workers->most.what = LOADER_MOST_STAGE;
		workers->most.stage = stage;
		of_stage = most_of(&code->staged, stage);
		workers->most.name = of_stage->place;
		workers->most.line_pct = 100 * (double)of_stage->nr / (double)code->nr_of[stage];
		workers->most.share_pct = sample_pct * (double)code->nr_of[stage];
	} else if (sample_pct * (double)line->nr >= MIN_MOST_PCT) {
		workers->most.what = LOADER_MOST_CODE;
		workers->most.name = line->place;
		workers->most.share_pct = sample_pct * (double)line->nr;
	}
}

static void find_code(
	const struct headline *headline, double cpu_pct, struct loader_workers *workers)
{
	struct worker_code code = {0};
	int64_t nr;

	idmap_init(&code.lines, sizeof(struct line_sum));
	idmap_init(&code.staged, sizeof(struct line_sum));
	for (size_t i = 0; i < headline->nr_processes; i++) {
		struct process *process = headline->processes[i].process;

		if (is_worker(&headline->processes[i], &nr)) {
			code_samples_each_of_thread(process, process->pid, add_code, &code);
		}
	}
	set_code(workers, &code, cpu_pct);
	idmap_fini(&code.lines);
	idmap_fini(&code.staged);
}

/* ---- their waits ---- */

static struct wait_place *sum_waits(const struct headline *headline)
{
	struct wait_place *places = NULL;
	int64_t nr;

	for (size_t i = 0; i < headline->nr_processes; i++) {
		struct process *process = headline->processes[i].process;

		if (is_worker(&headline->processes[i], &nr)) {
			code_samples_sum_thread_waits(process, process->pid, &places);
		}
	}
	return places;
}

static void drop_queues(struct wait_place **places)
{
	struct wait_place *place, *next;

	HASH_ITER(hh, *places, place, next)
	{
		if (loader_stage_is_queue(place->key.kind, place->key.object)) {
			HASH_DEL(*places, place);
			free(place);
		}
	}
}

/*
 * Names the line that waits most, if it has more of the workers' time than what is named so far.
 * Returns in how much of it they wait for something other than the loop, in percent; below 0:
 * unknown.
 */
static double find_wait(const struct headline *headline, const struct cpu_times *times,
	struct loader_workers *workers)
{
	struct wait_place *places = sum_waits(headline);
	bool has_samples = places != NULL;
	struct wait_sums sums;
	double share_pct;

	drop_queues(&places);
	sums = wait_sums_of(places);
	hash_free(places);
	share_pct = 100 * (double)sums.top[0].sum.ns / (double)times->all_ns;
	if (sums.top[0].sum.nr >= CODE_PLACE_MIN_SAMPLES && share_pct >= MIN_MOST_PCT &&
		share_pct > workers->most.share_pct) {
		workers->most.what = LOADER_MOST_WAIT;
		workers->most.wait = sums.top[0].key;
		workers->most.share_pct = share_pct;
	}
	return has_samples ? 100 * sums.ns / (double)times->all_ns : -1;
}

/* ---- what they read ---- */

static void find_reads(const struct headline *headline, struct loader_workers *workers)
{
	int64_t nr;

	for (size_t i = 0; i < headline->nr_processes; i++) {
		if (is_worker(&headline->processes[i], &nr)) {
			storage_reads_add(&workers->reads, headline->processes[i].process);
		}
	}
}

static bool is_read(unsigned int kind)
{
	return kind == GPROF_OS_READ || kind == GPROF_OS_FAULT;
}

bool loader_workers_wait_for_storage(const struct loader_workers *workers)
{
	unsigned int kind = workers->most.what == LOADER_MOST_WAIT ? workers->most.wait.kind
			    : workers->most.what == LOADER_MOST_CALL
				    ? os_kind_of(os_files_function(workers->most.name))
				    : GPROF_OS_UNKNOWN;

	return is_read(kind) && storage_reads_miss(&workers->reads);
}

/* ---- all ---- */

/* Workers that neither compute nor lack a CPU for most of the time. */
static void find_blocked(const struct headline *headline, const struct cpu_times *times,
	double cpu_pct, struct loader_workers *workers)
{
	double blocked_pct = workers->share_pct, wait_pct;

	if (blocked_pct >= MIN_BLOCKED_PCT) {
		workers->work = LOADER_IS_BLOCKED;
		find_call(headline, times, workers);
	}
	if (workers->most.what == LOADER_MOST_CALL) {
		return;
	}
	find_code(headline, cpu_pct, workers);
	wait_pct = find_wait(headline, times, workers);
	if (wait_pct >= 0 && cpu_pct + wait_pct < MIN_BUSY_PCT) {
		workers->work = LOADER_WORK_UNKNOWN; /* they wait for the loop, too */
	} else if (wait_pct >= 0 && blocked_pct < MIN_BLOCKED_PCT) {
		workers->work = LOADER_IS_BUSY;
		workers->share_pct = cpu_pct + wait_pct;
	}
}

struct loader_workers loader_workers_of(
	const struct headline *headline, const struct headline_figures *figures)
{
	int64_t nr_workers;
	const struct cpu_times sum = sum_of(headline, &nr_workers);
	double cpu_pct = 100 * (double)sum.cpu_ns / (double)sum.all_ns;
	double wait_pct = 100 * (double)sum.wait_ns / (double)sum.all_ns;
	struct loader_workers workers = {LOADER_WORK_UNKNOWN, .nr = (uint64_t)nr_workers,
		.nr_cpus = sum.nr_cpus, .nr_most = most_workers(figures, &sum),
		.share_pct = 100 - cpu_pct - wait_pct};

	if (!sum.all_ns || figures->loaders != OP_LOADER_WORKERS) {
		return workers;
	}
	find_reads(headline, &workers);
	if (wait_pct >= MIN_LACKING_PCT) {
		workers.work = LOADER_LACKS_CPUS;
		workers.share_pct = wait_pct;
	} else if (cpu_pct >= MIN_COMPUTING_PCT) {
		workers.work = workers.nr < workers.nr_most ? LOADER_COMPUTES : LOADER_FILLS_CPUS;
		workers.share_pct = cpu_pct;
	} else {
		find_blocked(headline, &sum, cpu_pct, &workers);
		return workers;
	}
	find_code(headline, cpu_pct, &workers);
	return workers;
}
