/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers the figures of the first screen. The view headline, `runs` and `reduce` use it. During
 * op_walk's pass it feeds a budget (report/budget) for each process and adds FLOPs by step.
 * Afterwards headline_figures() chooses the processes that count, joins the steps of ranks to steps
 * of the job, and adds up. The order of narrow() calls decides which processes are helpers.
 */
#include "report/analysis/headline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/model/device_records.h"
#include "report/model/process_tree.h"
#include "report/ops/counted_steps.h"
#include "report/ops/flops.h"
#include "report/ops/op_bytes.h"
#include "report/stats/samples.h"
#include "report/stats/step_series.h"
#include "report/util/idset.h"
#include "report/util/sort.h"

/* The share of all operations whose type may have no peak: counters and masks are integers. */
#define MAX_WITHOUT_PEAK 0.01

/* ---- one process ---- */

static void begin(void *context, struct process *process)
{
	struct headline *headline = context;

	headline->processes = mem_resize(
		headline->processes, headline->nr_processes + 1, sizeof(*headline->processes));
	headline->at = &headline->processes[headline->nr_processes++];
	*headline->at = (struct headline_process){.process = process};
	headline->flops = mem_zeroed(process->nr_steps + 1, sizeof(*headline->flops));
	headline->peak = gpu_peak_common(process);
	headline->last_place = UINT32_MAX;
	headline->last_step = 0;
	budget_begin(&headline->budget, process, false);
	headline->budget.on_gap = headline->on_gap;
	headline->budget.on_owned = headline->on_owned;
	headline->budget.site_of = headline->site_of;
	headline->budget.gap_context = headline->gap_context;
	headline->budget.rank_waits = headline->rank_waits;
	headline->at->code = headline->wants_code ? code_samples_create(process) : NULL;
	headline->budget.code = headline->at->code;
}

static void take_enter(void *context, const struct op *op)
{
	struct headline *headline = context;

	headline->at->has_ops = true;
	headline->at->has_operators |=
		op->is & OP_IS_OPERATOR &&
		op_kind(op->name, op->framework, op->scope)->class != OP_DATALOADER;
	headline->at->has_torch |= op->framework == GPROF_FRAMEWORK_TORCH;
	headline->at->has_compiled |= op_is_compiled(op->name, op->framework, op->scope);
	headline->at->compilers |= 1u << op_compiler(op->name, op->framework, op->scope);
	budget_enter(&headline->budget, op);
}

/* As phases_step; one operator after the other is mostly in the same step. */
static size_t step_of(struct headline *headline, uint64_t tick)
{
	const struct process *process = headline->at->process;
	size_t at = headline->last_step;

	if ((at && tick < process->steps[at - 1].tick) ||
		(at < process->nr_steps && process->steps[at].tick <= tick)) {
		headline->last_step = process_steps_begun(process, tick);
	}
	return headline->last_step;
}

/*
 * FLOPs count in the step in which the operator begins. peak_ns is how long the GPU would take for
 * them at its peak for their type.
 */
static void take_op(void *context, const struct op *op)
{
	struct headline *headline = context;
	struct headline_flops *sum;
	enum gpu_float type;
	double flops;

	headline->at->has_ops = true;
	if (!flops_of_op(op, &flops)) {
		if (flops_lack_size(op)) {
			headline->flops[step_of(headline, op->begin)].lacks_sizes = true;
		}
		return;
	}
	if (flops <= 0) {
		return;
	}
	sum = &headline->flops[step_of(headline, op->begin)];
	sum->flops += flops;
	type = op_float(op->shape);
	if (type < NR_GPU_FLOATS && headline->peak.flops[type] > 0) {
		sum->peak_ns += flops / headline->peak.flops[type] * 1e9;
	} else {
		sum->without_peak += flops;
	}
}

static void take_call(void *context, const struct op_call *call, const struct op *op)
{
	struct headline *headline = context;
	struct headline_process *at = headline->at;
	uint8_t api;

	if (!at->has_calls) {
		process_call_name(at->process, call->call, &api);
		at->has_calls = api == GPROF_API_RUNTIME || api == GPROF_API_DRIVER;
	}
	budget_call(&headline->budget, call, op);
}

static void take_range(void *context, const struct op_range *range)
{
	struct headline *headline = context;

	budget_range(&headline->budget, range);
}

static void take_collection(void *context, const struct op_collection *collection)
{
	struct headline *headline = context;
	struct headline_process *at = headline->at;

	if (!at->gc) {
		at->gc = mem_zeroed(1, sizeof(*at->gc));
		gc_sums_begin(at->gc, at->process);
	}
	gc_sums_add(at->gc, collection);
	budget_collection(&headline->budget, collection);
}

static void add_device(struct headline *headline, uint32_t place)
{
	struct headline_process *at = headline->at;
	uint32_t device = process_place(at->process, place).device;

	headline->last_place = place;
	for (size_t i = 0; i < at->nr_devices; i++) {
		if (at->devices[i] == device) {
			return;
		}
	}
	at->devices =
		array_grow(at->devices, at->nr_devices, &at->device_capacity, sizeof(*at->devices));
	at->devices[at->nr_devices++] = device;
}

static void take_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct headline *headline = context;

	if (record->place != headline->last_place) {
		add_device(headline, record->place);
	}
	budget_record(&headline->budget, record, call, op);
}

static void add_phases(struct headline_step *to, const struct phases *phases, uint32_t place)
{
	const struct clock_map *clock = &phases->process->host_clock;
	uint64_t others_ns = to->ns;

	for (unsigned int i = 0; i < PHASE_OTHERS; i++) {
		to->phases[i] = clock_map_duration(clock, phases->steps[place].ticks[i]);
		others_ns -= to->phases[i] < others_ns ? to->phases[i] : others_ns;
	}
	to->phases[PHASE_OTHERS] = others_ns;
}

static void add_step(struct headline *headline, const struct budget_step *step,
	const struct phases *phases, const struct counted_steps *counted,
	const struct cpu_waits *waits)
{
	struct headline_process *at = headline->at;
	struct headline_step *to = &at->steps[at->nr_steps];

	*to = (struct headline_step){.number = step->number,
		.begin_ns = step->begin_ns,
		.place = step->place,
		.flops = headline->flops[step->place],
		.counts = counted->counts[step->place],
		.is_outlier = counted_steps_is_outlier(counted, step->place)};
	to->ns = step->end_ns - step->begin_ns;
	if (step->place) {
		to->ns = phases_step_ns(phases, step->place);
		add_phases(to, phases, step->place);
	}
	memcpy(to->parts, step->ns, sizeof(to->parts));
	memcpy(to->drained, step->drained_ns, sizeof(to->drained));
	to->capture_ns = step->capture_ns;
	if (waits) {
		to->cpu_wait = cpu_waits_between(waits, step->begin_ns, step->end_ns);
	}
	at->nr_steps++;
}

static void list_batches(struct headline_process *at, const struct phases *phases)
{
	struct clock_map *clock = &at->process->host_clock;

	at->batches = mem_zeroed(phases->nr_segments + 1, sizeof(*at->batches));
	for (size_t i = 0; phases->has_loader && i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];

		if (segment->phase != PHASE_DATALOADER) {
			continue;
		}
		if (!segment->is_rest || !at->nr_batches) {
			at->batches[at->nr_batches++].begin_ns =
				clock_map_time(clock, segment->begin);
		}
		at->batches[at->nr_batches - 1].end_ns = clock_map_time(clock, segment->end);
	}
}

/*
 * A step that counts must be whole by the rows of table step. Without steps, the budget has one
 * with all of the recording.
 */
static void end(void *context, struct process *process, const struct phases *phases)
{
	struct headline *headline = context;
	struct headline_process *at = headline->at;
	struct budget *budget = &headline->budget;
	struct cpu_waits *waits = cpu_waits_create(process);
	struct counted_steps counted;

	budget_end(budget, phases);
	if (at->code) {
		code_samples_end(at->code);
	}
	at->has_gpu = process_has_device_records(at->process, NULL);
	at->has_parts = !budget->is_too_much;
	at->has_phases = phases->has_phases && phases_is_training(phases);
	at->launches = budget->launches;
	at->slow_name = budget->slow.name;
	at->wait_name = budget->waits.name;
	at->loaders = budget->loaders;
	at->maker = (uint8_t)process_device_maker(process);
	at->is_selected = at->process->select;
	at->steps = mem_zeroed(budget->nr_steps + 1, sizeof(*at->steps));
	counted_steps_init(&counted, process, false);
	for (size_t i = 0; i < budget->nr_steps; i++) {
		const struct budget_step *step = &budget->steps[i];

		if (step->place ? counted_steps_is_one(phases, step->place)
				: step->end_ns > step->begin_ns) {
			at->has_steps |= step->place != 0;
			add_step(headline, step, phases, &counted, waits);
		}
	}
	counted_steps_fini(&counted);
	list_batches(at, phases);
	if (waits) {
		at->cpu_times = cpu_waits_times(waits);
	}
	cpu_waits_destroy(waits);
	if (at->gc) {
		gc_sums_end(at->gc, phases);
	}
	at->compiled = budget->compiled;
	budget->compiled = (struct compile_samples){0};
	budget_fini(budget);
	free(headline->flops);
	headline->flops = NULL;
}

const struct op_view headline_ops = {
	.ignores_selection = true, /* steps that are not chosen have activities in those that are */
	.begin = begin,
	.enter = take_enter,
	.enter_wants = budget_wants_covered,
	.op = take_op,
	.replay = take_op,
	.op_wants = flops_may_count,
	.range = take_range,
	.collection = take_collection,
	.call = take_call,
	.record = take_record,
	.end = end,
};

void headline_fini(struct headline *headline)
{
	for (size_t i = 0; i < headline->nr_processes; i++) {
		free(headline->processes[i].steps);
		free(headline->processes[i].batches);
		free(headline->processes[i].devices);
		free(headline->processes[i].gc);
		code_samples_destroy(headline->processes[i].code);
		compile_samples_fini(&headline->processes[i].compiled);
	}
	free(headline->processes);
	free(headline->flops);
}

/* ---- which processes count ---- */

static bool has_steps(const struct headline_process *at)
{
	return at->has_steps;
}

static bool has_gpu(const struct headline_process *at)
{
	return at->has_gpu;
}

static bool has_rank(const struct headline_process *at)
{
	return at->process->rank >= 0;
}

static bool is_no_worker(const struct headline_process *at)
{
	int64_t nr_workers;

	return process_tree_worker(at->process, &nr_workers) < 0;
}

/* A rank that trains counts, whatever was recorded of its operators. */
static bool has_ops(const struct headline_process *at)
{
	return at->has_ops || (has_rank(at) && (has_steps(at) || has_gpu(at)));
}

/* Drops the processes that lack it, if others have it. */
static void narrow(struct headline *headline, bool (*has)(const struct headline_process *at))
{
	bool is_any = false;

	for (size_t i = 0; i < headline->nr_processes; i++) {
		is_any |= headline->processes[i].is_main && has(&headline->processes[i]);
	}
	for (size_t i = 0; is_any && i < headline->nr_processes; i++) {
		headline->processes[i].is_main &= has(&headline->processes[i]);
	}
}

static void choose_processes(struct headline *headline)
{
	for (size_t i = 0; i < headline->nr_processes; i++) {
		headline->processes[i].is_main = true;
	}
	narrow(headline, has_gpu);
	narrow(headline, has_steps);
	narrow(headline, has_rank);
	narrow(headline, is_no_worker);
	narrow(headline, has_ops);
}

/* ---- what ran ---- */

static const char *uuid_of(const struct process *process, uint32_t device)
{
	for (size_t i = 0; i < process->nr_devices; i++) {
		if (process->devices[i].id == device) {
			return process->devices[i].uuid;
		}
	}
	return "";
}

/* Adds the text; false if it was there. The empty one never is. */
static bool add_new(struct idset *set, const char *text)
{
	uint32_t name = string_pool_intern(text, strlen(text));
	bool is_new = !*text || !idset_has(set, name);

	idset_add(set, name);
	return is_new;
}

/* Processes may share a GPU. */
static void add_gpus(
	const struct headline_process *at, struct idset *gpus, struct headline_figures *figures)
{
	for (size_t i = 0; i < at->nr_devices; i++) {
		uint32_t name = process_device_name(at->process, at->devices[i]);

		if (add_new(gpus, uuid_of(at->process, at->devices[i]))) {
			figures->gpu_name =
				!figures->nr_gpus || figures->gpu_name == name ? name : 0;
			figures->nr_gpus++;
		}
	}
}

/* Without steps the time that counts, which shares are of. */
static uint64_t span_ns_of(const struct headline_process *at)
{
	const struct process *process = at->process;

	if (!at->has_steps && at->nr_steps) {
		return at->steps[0].ns;
	}
	return process->first_ns < process->last_ns ? process->last_ns - process->first_ns : 0;
}

static void add_process(const struct headline_process *at, struct headline_figures *figures)
{
	const struct process *process = at->process;
	uint64_t span_ns = span_ns_of(at);

	if (!figures->first) {
		figures->first = process;
	}
	budget_add_launches(&figures->launches, &at->launches);
	figures->has_lost |= budget_has_lost(&at->launches);
	figures->slow_name = figures->slow_name ? figures->slow_name : at->slow_name;
	figures->wait_name = figures->wait_name ? figures->wait_name : at->wait_name;
	figures->has_torch |= at->has_torch;
	figures->has_compiled |= at->has_compiled;
	figures->compilers |= at->compilers;
	figures->loaders |= at->loaders;
	figures->has_operators |= at->has_operators;
	figures->maker = figures->maker ? figures->maker : at->maker;
	figures->nr_processes++;
	figures->nr_ranks += process->rank >= 0;
	figures->span_ns = span_ns > figures->span_ns ? span_ns : figures->span_ns;
	figures->has_steps |= at->has_steps;
	figures->has_gpu |= at->has_gpu;
	/* A call that finds no GPU shows none. */
	figures->has_calls |= at->has_calls && !process_lacks_gpu(process);
	if (process->nr_devices > figures->nr_listed) {
		figures->nr_listed = process->nr_devices;
	}
	figures->has_phases |= at->has_phases;
	figures->has_parts &= at->has_parts;
}

static void add_processes(const struct headline *headline, struct headline_figures *figures)
{
	struct idset *hosts = idset_create(), *gpus = idset_create();

	for (size_t i = 0; i < headline->nr_processes; i++) {
		const struct headline_process *at = &headline->processes[i];

		if (at->is_main) {
			add_process(at, figures);
			add_gpus(at, gpus, figures);
			figures->nr_hosts += add_new(hosts, process_host(at->process));
		}
	}
	figures->nr_helpers = headline->nr_processes - figures->nr_processes;
	idset_destroy(hosts);
	idset_destroy(gpus);
}

/* ---- steps ---- */

/* The steps of all processes that count. */
static const struct headline_step **list_steps(const struct headline *headline, size_t *nr)
{
	const struct headline_step **steps;
	size_t nr_all = 0;

	for (size_t i = 0; i < headline->nr_processes; i++) {
		nr_all += headline->processes[i].nr_steps;
	}
	steps = mem_zeroed(nr_all + 1, sizeof(const struct headline_step *));
	*nr = 0;
	for (size_t i = 0; i < headline->nr_processes; i++) {
		const struct headline_process *at = &headline->processes[i];

		for (size_t k = 0; at->is_main && k < at->nr_steps; k++) {
			steps[(*nr)++] = &at->steps[k];
		}
	}
	return steps;
}

/* By step number; of the same number, the slowest rank comes first. */
static int by_number(const void *a, const void *b)
{
	const struct headline_job_step *x = a, *y = b;
	int order = COMPARE(x->number, y->number);

	order = order ? order : (x->rank_ns < y->rank_ns) - (x->rank_ns > y->rank_ns);
	return order ? order : (x->ns < y->ns) - (x->ns > y->ns);
}

size_t headline_join_steps(struct headline_job_step *steps, size_t nr)
{
	size_t nr_joined = 0;

	if (nr) {
		qsort(steps, nr, sizeof(*steps), by_number);
	}
	for (size_t i = 0; i < nr; i++) {
		if (!i || steps[i].number != steps[nr_joined - 1].number) {
			steps[nr_joined++] = steps[i];
		}
	}
	return nr_joined;
}

static double rank_ns(const struct headline_process *at)
{
	double sum = 0, nr = 0;

	for (size_t i = 0; i < at->nr_steps; i++) {
		sum += at->steps[i].counts ? (double)at->steps[i].ns : 0;
		nr += at->steps[i].counts;
	}
	return nr > 0 ? sum / nr : 0;
}

/* All steps of the job: for each number, that of the rank whose steps take longest on average. */
static struct headline_job_step *join_ranks(const struct headline *headline, size_t *nr)
{
	struct headline_job_step *job = NULL;
	size_t capacity = 0;

	*nr = 0;
	for (size_t i = 0; i < headline->nr_processes; i++) {
		const struct headline_process *at = &headline->processes[i];
		double mean_ns = rank_ns(at);

		for (size_t k = 0; at->is_main && k < at->nr_steps; k++) {
			job = array_grow(job, *nr, &capacity, sizeof(*job));
			job[(*nr)++] = (struct headline_job_step){
				at->steps[k].number, at->steps[k].ns, mean_ns};
		}
	}
	*nr = headline_join_steps(job, *nr);
	return job;
}

/* Sets the statistics of the steps that count. */
static void set_statistics(const struct headline_job_step *steps, size_t nr,
	const struct step_series *series, struct headline_figures *figures)
{
	uint64_t *counted = mem_zeroed(nr + 1, sizeof(*counted));
	struct samples samples = {0};

	for (size_t i = 0; i < nr; i++) {
		if (step_series_counts(series, i, steps[i].ns)) {
			counted[samples.nr] = steps[i].ns;
			samples_add(&samples, steps[i].ns);
		}
	}
	figures->nr_steps = samples.nr;
	figures->mean_ns = samples_mean(&samples);
	figures->median_ns = samples_median(&samples);
	figures->p99_ns = samples_quantile(&samples, 0.99);
	figures->counted_ns = samples_sum(&samples);
	figures->has_trend = step_series_trend(counted, samples.nr, &figures->trend_pct);
	samples_fini(&samples);
	free(counted);
}

void headline_set_steps(
	struct headline_figures *figures, const struct headline_job_step *steps, size_t nr)
{
	uint64_t *ns = mem_zeroed(nr + 1, sizeof(*ns));

	for (size_t i = 0; i < nr; i++) {
		ns[i] = steps[i].ns;
	}
	figures->series = figures->is_selected ? STEP_SERIES_ALL : step_series_of(ns, nr);
	set_statistics(steps, nr, &figures->series, figures);
	free(ns);
}

static void add_outlier(const struct headline_step *step, struct headline_figures *figures)
{
	figures->nr_outlier_rows++;
	figures->outlier_ns += step->ns;
	figures->outlier_compilation_ns += step->parts[BUDGET_HOST + HOST_COMPILATION];
	for (unsigned int k = 0; k < NR_PHASES; k++) {
		figures->outlier_phases[k] += step->phases[k];
	}
}

/* Leaves the steps of ranks that count. */
static size_t leave_counted(
	struct headline_figures *figures, const struct headline_step **steps, size_t nr)
{
	size_t nr_left = 0;

	for (size_t i = 0; i < nr; i++) {
		if (steps[i]->counts) {
			steps[nr_left++] = steps[i];
		} else if (steps[i]->is_outlier) {
			add_outlier(steps[i], figures);
		}
	}
	return nr_left;
}

/* FLOP/s are per GPU: the sum of the steps of all processes, times the GPUs that a process has. */
static void set_sums(
	const struct headline_step *const *steps, size_t nr, struct headline_figures *figures)
{
	struct headline_flops all = {0};
	uint64_t steps_ns = 0;
	double gpu_ns;

	figures->nr_step_rows = nr;
	for (size_t i = 0; i < nr; i++) {
		steps_ns += steps[i]->ns;
		for (unsigned int k = 0; k < NR_BUDGET_PARTS; k++) {
			figures->parts[k] += steps[i]->parts[k];
			figures->parts_ns += steps[i]->parts[k];
		}
		for (unsigned int k = 0; k <= NR_HOST_STATES; k++) {
			figures->drained[k] += steps[i]->drained[k];
		}
		figures->capture_ns += steps[i]->capture_ns;
		figures->nr_capturing += steps[i]->capture_ns != 0;
		cpu_wait_add(&figures->cpu_wait, &steps[i]->cpu_wait);
		for (unsigned int k = 0; k < NR_PHASES; k++) {
			figures->phases[k] += steps[i]->phases[k];
			figures->phases_ns += steps[i]->phases[k];
		}
		all.flops += steps[i]->flops.flops;
		all.peak_ns += steps[i]->flops.peak_ns;
		all.without_peak += steps[i]->flops.without_peak;
		figures->lacks_sizes |= steps[i]->flops.lacks_sizes;
	}
	gpu_ns = (double)steps_ns * (double)(figures->nr_gpus ? figures->nr_gpus : 1) /
		 (double)(figures->nr_processes ? figures->nr_processes : 1);
	if (all.flops > 0 && gpu_ns > 0 && !figures->lacks_sizes) {
		figures->flops_per_s = all.flops / gpu_ns * 1e9;
	}
	if (figures->flops_per_s > 0 && figures->has_gpu &&
		all.without_peak <= MAX_WITHOUT_PEAK * all.flops) {
		figures->mfu_pct = 100 * all.peak_ns / gpu_ns;
	}
}

/*
 * Steps of the job, for the median, are those of the slowest rank; shares are sums over the steps
 * of all processes that count.
 */
void headline_figures(struct headline *headline, struct headline_figures *figures)
{
	const struct headline_step **steps;
	size_t nr, nr_joined;

	*figures = (struct headline_figures){.has_parts = true, .mfu_pct = NAN};
	choose_processes(headline);
	add_processes(headline, figures);
	for (size_t i = 0; i < headline->nr_processes; i++) {
		figures->is_selected |= headline->processes[i].is_selected;
	}
	steps = list_steps(headline, &nr);
	if (figures->has_steps) {
		struct headline_job_step *job = join_ranks(headline, &nr_joined);

		headline_set_steps(figures, job, nr_joined);
		nr = leave_counted(figures, steps, nr);
		free(job);
	}
	set_sums(steps, nr, figures);
	free(steps);
}

struct headline_job_step *headline_job_steps(
	const struct headline *headline, const struct headline_figures *figures, size_t *nr)
{
	size_t nr_joined = 0;
	struct headline_job_step *job =
		figures->has_steps ? join_ranks(headline, &nr_joined) : NULL;

	*nr = 0;
	for (size_t i = 0; i < nr_joined; i++) {
		if (step_series_counts(&figures->series, i, job[i].ns)) {
			job[(*nr)++] = job[i];
		}
	}
	return job;
}

size_t headline_nr_steps(const struct headline_figures *figures)
{
	return figures->nr_steps + figures->series.nr_warm_up + figures->series.nr_outliers;
}

void headline_read_steps(struct headline *headline, struct headline_figures *figures,
	struct process *const *processes, size_t nr_processes)
{
	const struct op_view view = {.begin = headline_ops.begin,
		.enter = headline_ops.enter,
		.enter_wants = headline_ops.enter_wants,
		.end = headline_ops.end};
	const struct op_walk walk = {&view, headline};

	op_walk_run(processes, nr_processes, &walk, 1);
	headline_figures(headline, figures);
}
