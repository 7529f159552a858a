/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/headline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/model/process_tree.h"
#include "report/model/select.h"
#include "report/ops/flops.h"
#include "report/ops/op_bytes.h"
#include "report/stats/samples.h"
#include "report/stats/step_series.h"
#include "report/util/idset.h"
#include "report/util/rounding.h"
#include "report/util/text.h"

/* Of all operations: counters and masks are integers. */
#define MOST_WITHOUT_PEAK 0.01

/* ---- one process ---- */

static struct headline_process *at_hand(struct headline *headline)
{
	return &headline->processes[headline->nr_processes - 1];
}

static void begin(void *context, struct process *process)
{
	struct headline *headline = context;

	headline->processes = mem_resize(
		headline->processes, headline->nr_processes + 1, sizeof(*headline->processes));
	headline->processes[headline->nr_processes++] =
		(struct headline_process){.process = process};
	headline->flops = mem_zeroed(process->nr_steps + 1, sizeof(*headline->flops));
	headline->peak = gpu_peak_common(process);
	headline->last_place = UINT32_MAX;
	headline->last_step = 0;
	budget_begin(&headline->budget, process, false);
}

static void take_enter(void *context, const struct op *op)
{
	struct headline *headline = context;

	at_hand(headline)->has_ops = true;
	at_hand(headline)->has_torch |= op->framework == GPROF_FRAMEWORK_TORCH;
	budget_enter(&headline->budget, op);
}

/* As phases_step; one operator after the other is mostly in the same step. */
static size_t step_of(struct headline *headline, uint64_t tick)
{
	const struct process *process = at_hand(headline)->process;
	size_t at = headline->last_step;

	if ((at && tick < process->steps[at - 1].tick) ||
		(at < process->nr_steps && process->steps[at].tick <= tick)) {
		headline->last_step = process_steps_begun(process, tick);
	}
	return headline->last_step;
}

static void take_op(void *context, const struct op *op)
{
	struct headline *headline = context;
	struct headline_flops *sum;
	enum gpu_float type;
	double flops;

	at_hand(headline)->has_ops = true;
	if (flops_lack_size(op)) {
		headline->flops[step_of(headline, op->begin)].lacks_sizes = true;
	}
	if (!flops_of_op(op, &flops) || flops <= 0) {
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
	struct headline_process *at = at_hand(headline);
	uint8_t api;

	(void)op;
	if (!at->has_calls) {
		process_call_name(at->process, call->call, &api);
		at->has_calls = api == GPROF_API_RUNTIME || api == GPROF_API_DRIVER;
	}
	budget_call(&headline->budget, call);
}

static void take_range(void *context, const struct op_range *range)
{
	struct headline *headline = context;

	budget_range(&headline->budget, range);
}

static void add_device(struct headline *headline, uint32_t place)
{
	struct headline_process *at = at_hand(headline);
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

	(void)op;
	if (record->place != headline->last_place) {
		add_device(headline, record->place);
	}
	budget_record(&headline->budget, record, call);
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

static void add_step(
	struct headline *headline, const struct budget_step *step, const struct phases *phases)
{
	struct headline_process *at = at_hand(headline);
	struct headline_step *to = &at->steps[at->nr_steps];

	*to = (struct headline_step){.number = step->number, .flops = headline->flops[step->place]};
	to->ns = step->end_ns - step->begin_ns;
	if (step->place) {
		to->ns = clock_map_duration(
			&at->process->host_clock, phases_step_ticks(phases, step->place));
		add_phases(to, phases, step->place);
	}
	memcpy(to->parts, step->ns, sizeof(to->parts));
	memcpy(to->drained, step->drained_ns, sizeof(to->drained));
	at->nr_steps++;
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct headline *headline = context;
	struct headline_process *at = at_hand(headline);
	struct budget *budget = &headline->budget;

	(void)process;
	budget_end(budget, phases);
	at->has_gpu = process_has_device_records(at->process, NULL);
	at->has_parts = !budget->is_too_much;
	at->has_phases = phases->has_phases && phases_is_training(phases);
	at->nr_launches = budget->nr_launches;
	at->nr_graph_launches = budget->nr_graph_launches;
	at->nr_lost = budget->nr_lost;
	at->slow_name = budget->slow.name;
	at->wait_name = budget->waits.name;
	at->has_hip = budget->has_hip;
	at->is_selected = at->process->select;
	at->steps = mem_zeroed(budget->nr_steps + 1, sizeof(*at->steps));
	for (size_t i = 0; i < budget->nr_steps; i++) {
		const struct budget_step *step = &budget->steps[i];

		if (step->end_ns > step->begin_ns &&
			(!step->place || (phases_is_whole(phases, step->place) &&
						 select_has_step(at->process, step->place - 1)))) {
			at->has_steps |= step->place != 0;
			add_step(headline, step, phases);
		}
	}
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
	.op_wants = flops_may_count,
	.range = take_range,
	.call = take_call,
	.record = take_record,
	.end = end,
};

void headline_fini(struct headline *headline)
{
	for (size_t i = 0; i < headline->nr_processes; i++) {
		free(headline->processes[i].steps);
		free(headline->processes[i].devices);
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

static bool has_ops(const struct headline_process *at)
{
	return at->has_ops;
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

static void add_process(const struct headline_process *at, struct headline_figures *figures)
{
	const struct process *process = at->process;
	uint64_t span_ns =
		process->first_ns < process->last_ns ? process->last_ns - process->first_ns : 0;

	if (!figures->first) {
		figures->first = process;
	}
	figures->nr_launches += at->nr_launches;
	figures->nr_graph_launches += at->nr_graph_launches;
	figures->nr_lost += at->nr_lost;
	figures->slow_name = figures->slow_name ? figures->slow_name : at->slow_name;
	figures->wait_name = figures->wait_name ? figures->wait_name : at->wait_name;
	figures->has_torch |= at->has_torch;
	figures->has_hip |= at->has_hip;
	figures->nr_processes++;
	figures->nr_ranks += process->rank >= 0;
	figures->span_ns = span_ns > figures->span_ns ? span_ns : figures->span_ns;
	figures->has_steps |= at->has_steps;
	figures->has_gpu |= at->has_gpu;
	figures->has_calls |= at->has_calls;
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

static int by_number(const void *a, const void *b)
{
	const struct headline_step *x = *(const struct headline_step *const *)a;
	const struct headline_step *y = *(const struct headline_step *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* The steps of all processes that count, by their numbers. */
static const struct headline_step **sort_steps(const struct headline *headline, size_t *nr)
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
	qsort(steps, *nr, sizeof(const struct headline_step *), by_number);
	return steps;
}

/* How long each step of the job took; ends[i]: where those of the i-th end. */
static size_t join_ranks(
	const struct headline_step *const *steps, size_t nr, uint64_t *ns, size_t *ends)
{
	size_t nr_joined = 0;

	for (size_t begin = 0, end; begin < nr; begin = end) {
		struct samples ranks = {0};

		for (end = begin; end < nr && steps[end]->number == steps[begin]->number; end++) {
			samples_add(&ranks, steps[end]->ns);
		}
		ends[nr_joined] = end;
		ns[nr_joined++] = whole_part(samples_median(&ranks));
		samples_fini(&ranks);
	}
	return nr_joined;
}

/* Of the steps that count; the others are moved out of the way. */
static void set_statistics(const uint64_t *ns, size_t nr, const struct step_series *series,
	struct headline_figures *figures)
{
	uint64_t *counted = mem_zeroed(nr + 1, sizeof(*counted));
	struct samples samples = {0};

	for (size_t i = 0; i < nr; i++) {
		if (step_series_counts(series, i, ns[i])) {
			counted[samples.nr] = ns[i];
			samples_add(&samples, ns[i]);
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

void headline_set_steps(struct headline_figures *figures, const uint64_t *ns, size_t nr)
{
	figures->series = figures->is_selected ? STEP_SERIES_ALL : step_series_of(ns, nr);
	set_statistics(ns, nr, &figures->series, figures);
}

static void add_outlier(const struct headline_step *step, struct headline_figures *figures)
{
	figures->nr_outlier_rows++;
	for (unsigned int k = 0; k < NR_PHASES; k++) {
		figures->outlier_phases[k] += step->phases[k];
	}
}

/* Leaves the steps of ranks whose step of the job counts. */
static size_t leave_counted(struct headline_figures *figures, const struct headline_step **steps,
	const uint64_t *ns, const size_t *ends, size_t nr_joined)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_joined; i++) {
		bool counts = step_series_counts(&figures->series, i, ns[i]);

		for (size_t k = i ? ends[i - 1] : 0; k < ends[i]; k++) {
			if (counts) {
				steps[nr++] = steps[k];
			} else if (i >= figures->series.nr_warm_up) {
				add_outlier(steps[k], figures);
			}
		}
	}
	return nr;
}

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
		all.without_peak <= MOST_WITHOUT_PEAK * all.flops) {
		figures->mfu_pct = 100 * all.peak_ns / gpu_ns;
	}
}

void headline_figures(struct headline *headline, struct headline_figures *figures)
{
	const struct headline_step **steps;
	size_t nr, nr_joined, *ends;
	uint64_t *ns;

	*figures = (struct headline_figures){.has_parts = true, .flops_per_s = -1, .mfu_pct = -1};
	choose_processes(headline);
	add_processes(headline, figures);
	for (size_t i = 0; i < headline->nr_processes; i++) {
		figures->is_selected |= headline->processes[i].is_selected;
	}
	steps = sort_steps(headline, &nr);
	ns = mem_zeroed(nr + 1, sizeof(*ns));
	ends = mem_zeroed(nr + 1, sizeof(*ends));
	nr_joined = join_ranks(steps, nr, ns, ends);
	if (figures->has_steps) {
		headline_set_steps(figures, ns, nr_joined);
		nr = leave_counted(figures, steps, ns, ends, nr_joined);
	}
	set_sums(steps, nr, figures);
	free(steps);
	free(ns);
	free(ends);
}

struct headline_job_step *headline_job_steps(
	const struct headline *headline, const struct headline_figures *figures, size_t *nr)
{
	size_t nr_all, nr_joined;
	const struct headline_step **steps = sort_steps(headline, &nr_all);
	struct headline_job_step *job = mem_zeroed(nr_all + 1, sizeof(*job));
	uint64_t *ns = mem_zeroed(nr_all + 1, sizeof(*ns));
	size_t *ends = mem_zeroed(nr_all + 1, sizeof(*ends));

	nr_joined = figures->has_steps ? join_ranks(steps, nr_all, ns, ends) : 0;
	*nr = 0;
	for (size_t i = 0; i < nr_joined; i++) {
		if (step_series_counts(&figures->series, i, ns[i])) {
			job[(*nr)++] =
				(struct headline_job_step){steps[ends[i] - 1]->number, ns[i]};
		}
	}
	free(steps);
	free(ns);
	free(ends);
	return job;
}

/* ---- lines ---- */

void headline_add_no_gpu(struct buf *out, const struct headline_figures *figures)
{
	if (figures->nr_listed) {
		buf_printf(out, ", %zu GPU%s without recorded activity", figures->nr_listed,
			figures->nr_listed == 1 ? "" : "s");
	} else {
		buf_text(out, figures->has_calls ? ", no GPU activity recorded" : ", no GPU");
	}
}

/* The first of them, and why the GPU is idle: what the host does meanwhile. */
#define NR_BUSY 3u
const struct figure_share headline_gpu_shares[HEADLINE_NR_GPU_SHARES] = {
	{"computing", BUDGET_COMPUTING, BUDGET_COMPUTING},
	{"exposed communication", BUDGET_COMMUNICATION, BUDGET_COMMUNICATION},
	{"exposed copies", BUDGET_UPLOAD, BUDGET_SET},
	{"start-up", BUDGET_HOST + HOST_STARTUP, BUDGET_HOST + HOST_STARTUP},
	{"allocation", BUDGET_HOST + HOST_ALLOCATION, BUDGET_HOST + HOST_ALLOCATION},
	{"waits", BUDGET_HOST + HOST_WAIT, BUDGET_HOST + HOST_WAIT},
	{"copy calls", BUDGET_HOST + HOST_STAGING, BUDGET_HOST + HOST_STAGING},
	{"launches", BUDGET_HOST + HOST_LAUNCH, BUDGET_HOST + HOST_CALL},
	{"loader", BUDGET_HOST + HOST_LOADER, BUDGET_HOST + HOST_LOADER},
	{"operators", BUDGET_HOST + HOST_OPERATOR, BUDGET_HOST + HOST_OPERATOR},
	{"OS calls", BUDGET_HOST + HOST_OS, BUDGET_HOST + HOST_OS},
	{"user code", BUDGET_HOST + HOST_RANGE, BUDGET_USER},
	{"latency", BUDGET_LATENCY, BUDGET_LATENCY},
	{"dependencies", BUDGET_DEPENDENCY, BUDGET_DEPENDENCY},
};

const struct figure_share headline_cpu_shares[HEADLINE_NR_CPU_SHARES] = {
	{"in operators", BUDGET_HOST + HOST_OPERATOR, BUDGET_HOST + HOST_OPERATOR},
	{"in the data loader", BUDGET_HOST + HOST_LOADER, BUDGET_HOST + HOST_LOADER},
	{"in communication", BUDGET_COMMUNICATION, BUDGET_COMMUNICATION},
	{"in CUDA calls", BUDGET_HOST + HOST_STARTUP, BUDGET_HOST + HOST_CALL},
	{"elsewhere", BUDGET_HOST + HOST_OS, BUDGET_DEPENDENCY},
};

const struct figure_share headline_phase_shares[HEADLINE_NR_PHASE_SHARES] = {
	{"forward", PHASE_FORWARD, PHASE_FORWARD},
	{"backward", PHASE_BACKWARD, PHASE_BACKWARD},
	{"optimizer", PHASE_OPTIMIZATION, PHASE_OPTIMIZATION},
	{"data loader", PHASE_DATALOADER, PHASE_DATALOADER},
	{"other", PHASE_OTHERS, PHASE_OTHERS},
};

bool headline_has_lost(const struct headline_figures *figures)
{
	return figures->has_gpu && budget_has_lost(figures->nr_launches, figures->nr_lost);
}

/* Of causes of idle time: more of them, and smaller ones, are "other". */
#define MOST_CAUSES  4u
#define LEAST_TENTHS 10u

/* The largest cause that is left; NR_BUSY: all are small. */
static size_t largest_cause(const unsigned int *tenths)
{
	size_t most = NR_BUSY;

	for (size_t i = NR_BUSY; i < HEADLINE_NR_GPU_SHARES; i++) {
		most = tenths[i] > tenths[most] ? i : most;
	}
	return most;
}

/* The causes of idle time stand behind its sum, the largest first. */
static void add_idle(struct figure_lines *lines, unsigned int *tenths, bool is_lost)
{
	unsigned int idle = 0, left;

	for (size_t i = NR_BUSY; i < HEADLINE_NR_GPU_SHARES; i++) {
		idle += tenths[i];
	}
	left = idle;
	if (is_lost) {
		figure_lines_add_share(lines, idle, "idle or not recorded");
		return;
	}
	for (unsigned int nr = 0; left; nr++) {
		size_t cause = largest_cause(tenths);
		bool is_rest = nr && (nr == MOST_CAUSES || tenths[cause] < LEAST_TENTHS) &&
			       tenths[cause] < left;
		unsigned int share = is_rest ? left : tenths[cause];
		char item[64], begin[32] = "";

		if (!nr) {
			snprintf(begin, sizeof(begin), "%u.%u %% idle (", idle / 10, idle % 10);
		}
		snprintf(item, sizeof(item), "%s%s %u.%u%s", begin,
			is_rest ? "other" : headline_gpu_shares[cause].text, share / 10, share % 10,
			share == left ? ")" : "");
		figure_lines_add(lines, item);
		left -= share;
		tenths[cause] = 0;
	}
}

void headline_add_gpu_shares(struct figure_lines *lines, const struct headline_figures *figures)
{
	unsigned int tenths[FIGURE_MOST_SHARES];

	figure_shares_tenths(headline_gpu_shares, HEADLINE_NR_GPU_SHARES, figures->parts,
		figures->parts_ns, tenths);
	figure_lines_begin(lines, "Time");
	for (size_t i = 0; i < NR_BUSY; i++) {
		figure_lines_add_share(lines, tenths[i], headline_gpu_shares[i].text);
	}
	add_idle(lines, tenths, headline_has_lost(figures));
	figure_lines_end(lines);
}

void headline_add_cpu_shares(struct figure_lines *lines, const struct headline_figures *figures)
{
	if (figures->has_phases && figures->phases_ns) {
		figure_lines_add_shares(lines, "Time", headline_phase_shares,
			HEADLINE_NR_PHASE_SHARES, figures->phases, figures->phases_ns);
	}
	figure_lines_add_shares(lines, "CPU", headline_cpu_shares, HEADLINE_NR_CPU_SHARES,
		figures->parts, figures->parts_ns);
}

/* A last item that the line need not have. */
static void add_optional(struct figure_lines *lines, const char *item)
{
	if (lines->column + 2 + strlen(item) <= lines->width) {
		figure_lines_add(lines, item);
	}
}

static void add_step_times(struct figure_lines *lines, const struct headline_figures *figures)
{
	char item[96], time[TEXT_TIME_BYTES];

	text_time(time, figures->median_ns);
	if (figures->nr_steps == 1) {
		figure_lines_add(lines, time);
		return;
	}
	snprintf(item, sizeof(item), "median %s", time);
	figure_lines_add(lines, item);
	text_time(time, (double)figures->p99_ns);
	snprintf(item, sizeof(item), "p99 %s", time);
	figure_lines_add(lines, item);
	if (figures->has_trend) {
		snprintf(item, sizeof(item), "trend %+.1f %%", figures->trend_pct);
		figure_lines_add(lines, item);
	} else if (figures->nr_steps >= STEP_SERIES_LEAST) {
		figure_lines_add(lines, "no trend");
	}
}

void headline_add_step(struct figure_lines *lines, const struct headline_figures *figures)
{
	char item[96];

	figure_lines_begin(lines, "Step");
	if (figures->nr_steps) {
		add_step_times(lines, figures);
	} else {
		figure_lines_add(lines,
			figures->has_steps ? "n/a" : "no steps found; all of the recording counts");
	}
	if (figures->series.nr_warm_up) {
		snprintf(item, sizeof(item), "%zu warm-up step%s excluded",
			figures->series.nr_warm_up, figures->series.nr_warm_up == 1 ? "" : "s");
		figure_lines_add(lines, item);
	}
	if (figures->nr_steps > 1 && figures->nr_steps < STEP_SERIES_LEAST) {
		add_optional(lines, "too few steps for a trend");
	}
	figure_lines_end(lines);
}

/* Adds the phase that most of the time beyond that of other steps is of, if there is one. */
static void add_outlier_phase(struct figure_lines *lines, const struct headline_figures *figures)
{
	double nr = (double)figures->nr_step_rows, more_ns[NR_PHASES], all_ns = 0;

	for (unsigned int k = 0; figures->has_phases && nr > 0 && k < NR_PHASES; k++) {
		more_ns[k] = (double)figures->outlier_phases[k] -
			     (double)figures->phases[k] * (double)figures->nr_outlier_rows / nr;
		all_ns += more_ns[k];
	}
	for (size_t i = 0; all_ns > 0 && i < HEADLINE_NR_PHASE_SHARES; i++) {
		if (2 * more_ns[headline_phase_shares[i].first] > all_ns) {
			char item[64];

			snprintf(item, sizeof(item), "mostly %s", headline_phase_shares[i].text);
			figure_lines_add(lines, item);
		}
	}
}

/* As "2 of 59 steps took 10 times the median". */
void headline_add_outliers(struct figure_lines *lines, const struct headline_figures *figures)
{
	const struct step_series *series = &figures->series;
	double least = (double)series->shortest_ns / figures->median_ns;
	double most = (double)series->longest_ns / figures->median_ns;
	char item[160];

	if (!series->nr_outliers) {
		return;
	}
	figure_lines_begin(lines, "Slow");
	snprintf(item, sizeof(item), "%zu of %zu steps took %.0f", series->nr_outliers,
		headline_nr_steps(figures), least);
	if (round(most) > round(least)) {
		snprintf(item + strlen(item), sizeof(item) - strlen(item), " to %.0f", most);
	}
	snprintf(item + strlen(item), sizeof(item) - strlen(item),
		" times the median (%.0f %% of the time)",
		100 * (double)series->outliers_ns /
			((double)series->outliers_ns + (double)figures->counted_ns));
	figure_lines_add(lines, item);
	add_outlier_phase(lines, figures);
	figure_lines_add(lines,
		figures->has_all_parts ? "excluded from the median above" : "excluded above");
	figure_lines_end(lines);
}

size_t headline_nr_steps(const struct headline_figures *figures)
{
	return figures->nr_steps + figures->series.nr_warm_up + figures->series.nr_outliers;
}

/* ---- its row ---- */

#define SHARE(key, title, what)                                        \
	TABLE_COLUMN(key "_ns", title, TABLE_MEAN_TIME, .help = what), \
		TABLE_COLUMN(key "_pct", title " %", TABLE_PERCENT, .help = "of the step")

#define FINDING(nr)                                                                               \
	TABLE_COLUMN("finding_" nr, "Finding " nr, TABLE_TEXT, .help = "what would save time"),   \
		TABLE_COLUMN("finding_" nr "_saved_ns", "Saved by " nr, TABLE_MEAN_TIME,          \
			.help = "predicted by the replay of the steps; unknown where it cannot"), \
		TABLE_COLUMN("finding_" nr "_saved_pct", "Saved by " nr " %", TABLE_PERCENT,      \
			.help = "of the step")

const struct table_column headline_columns[HEADLINE_NR_COLUMNS] = {
	TABLE_COLUMN("program", "Program", TABLE_TEXT),
	TABLE_COLUMN("processes", "Processes", TABLE_COUNT, .help = "that the figures are of"),
	TABLE_COLUMN("helpers", "Helpers", TABLE_COUNT, .help = "other processes"),
	TABLE_COLUMN("ranks", "Ranks", TABLE_COUNT),
	TABLE_COLUMN("hosts", "Hosts", TABLE_COUNT),
	TABLE_COLUMN("gpus", "GPUs", TABLE_COUNT, .help = "that had work"),
	TABLE_COLUMN("gpu_name", "GPU", TABLE_TEXT, .help = "unknown if they differ"),
	TABLE_COLUMN("span_ns", "Recorded", TABLE_TIME, .help = "of the longest process"),
	TABLE_COLUMN("steps", "Steps", TABLE_COUNT,
		.help = "whole ones, without those that warm up and outliers; the following are of "
			"these"),
	TABLE_COLUMN("warm_up_steps", "Warm-up", TABLE_COUNT, .help = "steps that warm up"),
	TABLE_COLUMN("outlier_steps", "Outliers", TABLE_COUNT,
		.help = "later steps of more than twice the median, such as with a validation"),
	TABLE_COLUMN("outliers_ns", "Outliers total", TABLE_TIME, .help = "sum of these steps"),
	TABLE_COLUMN("median_ns", "Median", TABLE_MEAN_TIME,
		.help = "of steps; a step of a job takes the median of its ranks"),
	TABLE_COLUMN("mean_ns", "Mean", TABLE_MEAN_TIME),
	TABLE_COLUMN("p99_ns", "p99", TABLE_TIME, .help = "99th percentile, nearest rank"),
	TABLE_COLUMN("trend_pct", "Trend %", TABLE_PERCENT,
		.help = "median of the last third of the steps against the first; unknown if "
			"chance explains it"),
	SHARE("computing", "Computing", "a computing kernel runs"),
	SHARE("exposed_communication", "Exposed communication",
		"communication runs and no other GPU activity"),
	SHARE("exposed_copies", "Exposed copies", "copies or memsets run and no computing kernel"),
	SHARE("idle_startup", "Idle, start-up", "the host is in a long call that does not recur"),
	SHARE("idle_allocation", "Idle, allocation",
		"the host allocates, frees, loads or compiles"),
	SHARE("idle_wait", "Idle, waits", "the host waits for the GPU, or reads back"),
	SHARE("idle_staging", "Idle, copy calls", "the host copies to the GPU, and waits for it"),
	SHARE("idle_launch", "Idle, launches", "the host is in another CUDA call"),
	SHARE("idle_dataloader", "Idle, data loader", "the host is in the data loader"),
	SHARE("idle_operators", "Idle, CPU operators", "the host is in an operator"),
	SHARE("idle_os", "Idle, OS calls", "the host is in a call of the operating system"),
	SHARE("idle_user", "Idle, user code", "the host is elsewhere, such as in Python"),
	SHARE("idle_latency", "Idle, latency", "the GPU is about to begin what was launched"),
	SHARE("idle_dependency", "Idle, dependencies",
		"what was launched waits for an event, another stream or another process"),
	SHARE("cpu_operators", "CPU, operators", "without a GPU: in an operator"),
	SHARE("cpu_dataloader", "CPU, data loader", "without a GPU: in the data loader"),
	SHARE("cpu_communication", "CPU, communication", "without a GPU: in a collective"),
	SHARE("cpu_calls", "CPU, CUDA calls", "without a GPU: in a CUDA call"),
	SHARE("cpu_other", "CPU, other", "without a GPU: elsewhere, such as in Python"),
	SHARE("forward", "Forward", "phase of the host"),
	SHARE("backward", "Backward", "phase of the host"),
	SHARE("optimization", "Optimization", "phase of the host"),
	SHARE("dataloader", "Dataloader", "phase of the host"),
	SHARE("others", "Others", "in no phase"),
	TABLE_COLUMN("flops_per_s", "FLOP/s", TABLE_NUMBER,
		.help = "of operators with recorded shapes, per GPU"),
	TABLE_COLUMN("mfu_pct", "MFU %", TABLE_PERCENT,
		.help = "time of these operations at the peak of the GPU for their types of "
			"numbers (TF32 counts as float32), of the step"),
	FINDING("1"),
	FINDING("2"),
	FINDING("3"),
	TABLE_COLUMN("incomplete", "Incomplete", TABLE_COUNT,
		.help = "processes of which anything is missing"),
};

/* Means of all steps of all processes; of the whole recordings where there are no steps. */
static void fill_times(const struct headline_figures *figures, struct table_cell *cells)
{
	double nr = figures->has_steps ? (double)figures->nr_step_rows : 1;

	if (figures->has_parts && figures->has_gpu) {
		figure_shares_fill(headline_gpu_shares, HEADLINE_NR_GPU_SHARES, figures->parts,
			figures->parts_ns, nr, &cells[HEADLINE_GPU_SHARES]);
	} else if (figures->has_parts) {
		figure_shares_fill(headline_cpu_shares, HEADLINE_NR_CPU_SHARES, figures->parts,
			figures->parts_ns, nr, &cells[HEADLINE_CPU_SHARES]);
	}
	if (figures->has_phases) {
		figure_shares_fill(headline_phase_shares, HEADLINE_NR_PHASE_SHARES, figures->phases,
			figures->phases_ns, nr, &cells[HEADLINE_PHASE_SHARES]);
	}
}

static void fill_steps(const struct headline_figures *figures, struct table_cell *cells)
{
	table_set_integer(&cells[HEADLINE_STEPS], figures->nr_steps);
	table_set_integer(&cells[HEADLINE_WARM_UP], figures->series.nr_warm_up);
	table_set_integer(&cells[HEADLINE_OUTLIERS], figures->series.nr_outliers);
	table_set_integer(&cells[HEADLINE_OUTLIERS_NS], figures->series.outliers_ns);
	if (figures->nr_steps) {
		table_set_number(&cells[HEADLINE_MEDIAN], figures->median_ns);
		table_set_number(&cells[HEADLINE_MEAN], figures->mean_ns);
		table_set_integer(&cells[HEADLINE_P99], figures->p99_ns);
	}
	if (figures->has_trend) {
		table_set_number(&cells[HEADLINE_TREND], figures->trend_pct);
	}
}

static void fill_run(const struct headline_figures *figures, struct table_cell *cells)
{
	table_set_integer(&cells[HEADLINE_PROCESSES], figures->nr_processes);
	table_set_integer(&cells[HEADLINE_HELPERS], figures->nr_helpers);
	table_set_integer(&cells[HEADLINE_RANKS], figures->nr_ranks);
	table_set_integer(&cells[HEADLINE_HOSTS], figures->nr_hosts);
	if (figures->nr_gpus != HEADLINE_UNKNOWN_GPUS) {
		table_set_integer(&cells[HEADLINE_GPUS], figures->nr_gpus);
	}
	if (figures->gpu_name) {
		table_set_string(
			&cells[HEADLINE_GPU_NAME], string_pool_text(figures->gpu_name, NULL));
	}
	table_set_integer(&cells[HEADLINE_SPAN], figures->span_ns);
}

void headline_fill(const struct headline_figures *figures, struct table_cell *cells)
{
	fill_run(figures, cells);
	fill_steps(figures, cells);
	fill_times(figures, cells);
	if (figures->flops_per_s > 0) {
		table_set_number(&cells[HEADLINE_FLOPS], figures->flops_per_s);
	}
	if (figures->mfu_pct >= 0) {
		table_set_number(&cells[HEADLINE_MFU], figures->mfu_pct);
	}
}
