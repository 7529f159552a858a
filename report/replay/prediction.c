/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the replay for the view what-if and for the verdict. During the scan it gathers the matching
 * of collectives (rank_waits) and the marks of step_events; during the walk step_events hands it
 * the steps, of which it makes graphs. A process by itself is replayed at once, so only one graph
 * is in memory. Ranks of a job must meet at their collectives, so their graphs wait until
 * prediction_end() joins those of each step.
 */
#include "report/replay/prediction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/select.h"
#include "report/util/sort.h"

/*
 * A long run is sampled: MAX_STEPS of its steps are replayed, or more as long as they have at most
 * MAX_EVENTS events. The graphs of a job are all in memory, so MAX_JOB_STEPS of its steps are.
 */
#define MAX_STEPS     32u
#define MAX_EVENTS    50000u
#define MAX_JOB_STEPS 16u
#define MAX_JOB_NODES 4000000u /* 350 MB */

/* Sums over the replayed steps of a process, ns. */
struct prediction_sums {
	uint64_t nr_steps, step_ns, span_ns, span_replayed_ns, unexplained_ns;
	uint64_t span_changed_ns[PREDICTION_CHANGES], least_ns[PREDICTION_CHANGES];
	uint64_t limits[PREDICTION_CHANGES][NR_REPLAY_KINDS];
};

/* A step of a job, until all its processes are there. */
struct prediction_step {
	uint64_t number;
	struct replay_graph **graphs; /* of each process, NULL where it is not replayed */
	uint64_t *step_ns;
};

/* ---- names and collectives ---- */

static uint32_t scales_of(void *context, uint32_t name, enum replay_item item)
{
	const struct prediction *prediction = context;

	return prediction->scales_of ? prediction->scales_of(prediction->context, name, item) : 0;
}

/* All ranks' operations of a collective lie behind each other: its number is the first of them. */
static uint32_t of_collective(void *context, uint64_t correlation)
{
	const struct prediction *prediction = context;
	const struct nccl_op *ops = prediction->waits.ops.ops;
	const struct nccl_op *op = rank_waits_kernel(&prediction->waits, correlation);

	if (!prediction->is_joined || !op || !nccl_op_is_numbered(op)) {
		return 0;
	}
	while (op > ops && op[-1].key == op->key && op[-1].sequence == op->sequence) {
		op--;
	}
	return (uint32_t)(op - ops) + 1;
}

/* They are numbered behind those of NCCL. */
static uint32_t of_host_collective(void *context, uint64_t begin)
{
	const struct prediction *prediction = context;
	const struct nccl_op *op = rank_waits_call(&prediction->waits, begin);

	return prediction->is_joined && op ? (uint32_t)(prediction->waits.ops.nr_ops + op->key) : 0;
}

static uint32_t ranks_of(void *context, uint32_t collective)
{
	const struct rank_waits *waits = &((struct prediction *)context)->waits;
	size_t nr_ops = waits->ops.nr_ops;

	return collective <= nr_ops ? waits->ops.ops[collective - 1].nr_ranks
				    : waits->host_ops.ops[collective - 1 - nr_ops].nr_ranks;
}

static struct replay_names names_of(struct prediction *prediction)
{
	return (struct replay_names){scales_of, of_collective, ranks_of, prediction,
		prediction->has_no_limits, of_host_collective};
}

/* ---- steps ---- */

/* Does it make nothing longer? */
static bool only_shortens(const struct replay_change *change)
{
	for (unsigned int i = 0; i < REPLAY_SCALES; i++) {
		if ((change->scales & 1u << i) && change->factors[i] > 1) {
			return false;
		}
	}
	return true;
}

/*
 * A change that only shortens nodes may still make a replayed step longer, as the order of waits
 * shifts. Then the unchanged result counts: nothing faster is predicted to take longer.
 */
static void add_results(struct prediction *prediction, struct replay_graph *graph, const size_t *of,
	size_t nr, const uint64_t *step_ns)
{
	struct replay_result *unchanged = mem_zeroed(nr, sizeof(*unchanged));
	struct replay_result *changed = mem_zeroed(nr, sizeof(*changed));

	for (size_t i = 0; i < nr; i++) {
		struct prediction_sums *sums = &prediction->sums[of[i]];

		sums->nr_steps++;
		sums->step_ns += step_ns[i];
		sums->span_ns += replay_measured_ns(graph, i);
		sums->unexplained_ns += replay_unexplained_ns(graph, i);
	}
	replay_run(graph, NULL, unchanged);
	for (size_t i = 0; i < nr; i++) {
		prediction->sums[of[i]].span_replayed_ns += unchanged[i].step_ns;
	}
	for (size_t change = 0; change < prediction->nr_changes; change++) {
		bool is_changed = replay_has(graph, &prediction->changes[change]);
		bool is_shorter = only_shortens(&prediction->changes[change]);

		if (is_changed) {
			replay_run(graph, &prediction->changes[change], changed);
		}
		for (size_t i = 0; i < nr; i++) {
			bool is_unchanged =
				!is_changed ||
				(is_shorter && changed[i].step_ns > unchanged[i].step_ns);
			const struct replay_result *result =
				&(is_unchanged ? unchanged : changed)[i];
			struct prediction_sums *sums = &prediction->sums[of[i]];

			sums->span_changed_ns[change] += result->step_ns;
			sums->least_ns[change] += result->least_ns;
			for (unsigned int k = 0; k < NR_REPLAY_KINDS; k++) {
				sums->limits[change][k] += result->limits[k];
			}
		}
	}
	free(unchanged);
	free(changed);
}

static struct prediction_step *find_step(struct prediction *prediction, uint64_t number)
{
	size_t nr = prediction->input->nr_processes;
	struct prediction_step *step;

	for (size_t i = 0; i < prediction->nr_steps; i++) {
		if (prediction->steps[i].number == number) {
			return &prediction->steps[i];
		}
	}
	prediction->steps = array_grow(prediction->steps, prediction->nr_steps,
		&prediction->step_capacity, sizeof(*prediction->steps));
	step = &prediction->steps[prediction->nr_steps++];
	*step = (struct prediction_step){.number = number,
		.graphs = mem_zeroed(nr, sizeof(struct replay_graph *)),
		.step_ns = mem_zeroed(nr, sizeof(uint64_t))};
	return step;
}

/*
 * Picks one step of each `stride` consecutive ones, at a position that changes from group to group.
 * A fixed position would distort loops that do something in every fourth step: either all replayed
 * steps would have it, or none. The number of the step decides, so all ranks pick the same steps.
 */
static bool wants_step(void *context, uint64_t number)
{
	size_t stride = ((struct prediction *)context)->stride;
	uint64_t position = (number / stride * 0x9e3779b97f4a7c15u >> 32) % stride;

	return number % stride == position;
}

/* As in the budget: from the end of all that steps before launched, to that of what it launched. */
static uint64_t measured_ns(const struct step_events *step)
{
	uint64_t begin = step->begin, end = step->end;

	for (size_t i = 0; i < step->nr_records; i++) {
		const struct step_activity *record = &step->records[i];

		if (record->call_begin < step->begin) {
			begin = record->end > begin ? record->end : begin;
		} else if (record->call_begin < step->end) {
			end = record->end > end ? record->end : end;
		}
	}
	return end > begin ? end - begin : 0;
}

/* Steps come one by one. */
static void on_step(void *context, struct step_events *step, size_t nr_steps)
{
	struct prediction *prediction = context;
	struct replay_names names = names_of(prediction);
	uint64_t step_ns = measured_ns(step);
	struct prediction_step *of_job;
	struct replay_graph *graph;

	(void)nr_steps;
	/* The work that the first step starts with is unknown; it also warms up. */
	if (step->complete_from == step->begin && prediction->nr_seen) {
		return;
	}
	prediction->nr_seen++;
	graph = replay_create(step, &names);
	if (!prediction->is_joined) {
		add_results(prediction, graph, &prediction->process, 1, &step_ns);
		replay_destroy(graph);
		return;
	}
	of_job = find_step(prediction, step->number);
	of_job->graphs[prediction->process] = graph;
	of_job->step_ns[prediction->process] = step_ns;
}

static void free_step(struct prediction_step *step, size_t nr_processes)
{
	for (size_t i = 0; i < nr_processes; i++) {
		if (step->graphs[i]) {
			replay_destroy(step->graphs[i]);
		}
	}
	free(step->graphs);
	free(step->step_ns);
}

/* Replays a step of all processes together. */
static void run_step(struct prediction *prediction, struct prediction_step *step)
{
	size_t nr_processes = prediction->input->nr_processes, nr = 0;
	struct replay_graph **graphs = mem_zeroed(nr_processes, sizeof(*graphs));
	size_t *of = mem_zeroed(nr_processes, sizeof(*of));
	uint64_t *step_ns = mem_zeroed(nr_processes, sizeof(*step_ns));
	struct replay_names names = names_of(prediction);
	struct replay_graph *joined;

	for (size_t i = 0; i < nr_processes; i++) {
		if (step->graphs[i]) {
			graphs[nr] = step->graphs[i];
			step_ns[nr] = step->step_ns[i];
			of[nr++] = i;
		}
	}
	joined = replay_join(graphs, nr, &names);
	add_results(prediction, joined, of, nr, step_ns);
	replay_destroy(joined);
	free(graphs);
	free(of);
	free(step_ns);
}

/* ---- the pass ---- */

void prediction_init(struct prediction *prediction, const struct view_input *input)
{
	prediction->input = input;
	prediction->load.wants = wants_step;
	prediction->load.take = on_step;
	prediction->load.context = prediction;
	rank_waits_init(&prediction->waits, input->nr_processes);
	prediction->sums = mem_zeroed(input->nr_processes + 1, sizeof(*prediction->sums));
	prediction->of = mem_zeroed(input->nr_processes + 1, sizeof(*prediction->of));
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct prediction *prediction = context;

	if (batch->table == GPROF_TABLE_nccl || batch->table == GPROF_TABLE_op) {
		rank_waits_add_batch(&prediction->waits, process, batch);
	} else {
		step_loader_mark(&prediction->load, process, batch);
	}
}

static void end_scan(void *context, struct process *process)
{
	rank_waits_end(&((struct prediction *)context)->waits, process);
}

static bool has_steps(const struct process *process)
{
	return process->nr_steps > 1;
}

/* Returns how many steps of the job fit in memory: each has the events of about two. */
static size_t most_job_steps(const struct prediction *prediction)
{
	uint64_t nr_nodes = 0;

	for (size_t i = 0; i < prediction->input->nr_processes; i++) {
		const struct process *process = prediction->input->processes[i];

		nr_nodes += has_steps(process) ? 2 * process->nr_events / process->nr_steps : 0;
	}
	nr_nodes = nr_nodes ? MAX_JOB_NODES / nr_nodes : 0;
	return nr_nodes < MAX_JOB_STEPS ? (size_t)nr_nodes : MAX_JOB_STEPS;
}

static size_t nr_selected(const struct process *process)
{
	size_t nr = 0;

	for (size_t i = 0; i < process->nr_steps; i++) {
		nr += select_has_step(process, i);
	}
	return nr;
}

/*
 * Returns how many steps of each process are replayed if processes are replayed by themselves. It
 * is the same number for all of them, so that their ranks pick the same steps.
 */
static size_t most_steps(const struct prediction *prediction)
{
	uint64_t nr_events = 0, most;

	for (size_t i = 0; i < prediction->input->nr_processes; i++) {
		const struct process *process = prediction->input->processes[i];

		nr_events += has_steps(process) ? process->nr_events / process->nr_steps + 1 : 0;
	}
	most = nr_events ? MAX_EVENTS / nr_events : 0;
	return most > MAX_STEPS ? (size_t)most : MAX_STEPS;
}

/*
 * The stride is the same for all ranks that count alike; the first process decides whether graphs
 * are joined, as the scan has then matched the collectives of all.
 */
static void begin(void *context, struct process *process)
{
	struct prediction *prediction = context;
	size_t most;

	rank_waits_begin(&prediction->waits);
	if (!prediction->nr_begun) {
		prediction->is_joined = prediction->waits.nr_matched && most_job_steps(prediction);
	}
	most = prediction->is_joined ? most_job_steps(prediction) : most_steps(prediction);
	prediction->process = prediction->nr_begun++;
	prediction->nr_seen = 0;
	prediction->stride = (nr_selected(process) + most - 1) / most;
	prediction->stride = prediction->stride ? prediction->stride : 1;
	step_loader_begin(&prediction->load, process);
}

static void on_op(void *context, const struct op *op)
{
	step_loader_op(&((struct prediction *)context)->load, op);
}

static void on_range(void *context, const struct op_range *range)
{
	step_loader_range(&((struct prediction *)context)->load, range);
}

static void on_collection(void *context, const struct op_collection *collection)
{
	step_loader_collection(&((struct prediction *)context)->load, collection);
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	(void)op;
	step_loader_call(&((struct prediction *)context)->load, call);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	step_loader_record(&((struct prediction *)context)->load, record, call, op);
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	(void)process;
	(void)phases;
	step_loader_end(&((struct prediction *)context)->load);
}

static const struct scan_want wants[] = {
	STEP_LOADER_WANTS,
	RANK_WAITS_WANTS,
};

static bool needs(void *context, struct process *process, unsigned int table)
{
	return (table != GPROF_TABLE_op && table != GPROF_TABLE_nccl) ||
	       rank_waits_needs(&((struct prediction *)context)->waits, process, table);
}

const struct scan_view prediction_scan = {
	.wants = wants,
	.nr_wants = sizeof(wants) / sizeof(wants[0]),
	.needs = needs,
	.on_batch = on_batch,
	.end = end_scan,
	.ignores_selection = true,
};

const struct op_view prediction_ops = {
	.ignores_selection = true,
	.begin = begin,
	.op = on_op,
	.range = on_range,
	.collection = on_collection,
	.call = on_call,
	.record = on_record,
	.end = end,
};

/* ---- results ---- */

static void set_means(const struct prediction_sums *sums, struct predicted *predicted)
{
	double nr = (double)sums->nr_steps;

	*predicted = (struct predicted){
		.step_ns = (double)sums->step_ns / nr,
		.span_ns = (double)sums->span_ns / nr,
		.span_replayed_ns = (double)sums->span_replayed_ns / nr,
		.unexplained_ns = (double)sums->unexplained_ns / nr,
		.nr_steps = sums->nr_steps,
	};
	for (size_t i = 0; i < PREDICTION_CHANGES; i++) {
		predicted->span_changed_ns[i] = (double)sums->span_changed_ns[i] / nr;
		predicted->least_ns[i] = (double)sums->least_ns[i] / nr;
	}
	memcpy(predicted->limits, sums->limits, sizeof(predicted->limits));
}

static double changed_ns(const struct predicted *of, size_t change)
{
	return of->step_ns - prediction_saved_ns(of, change);
}

static double least_ns(const struct predicted *of, size_t change)
{
	return of->least_ns[change];
}

/* Returns the largest value of the processes that were replayed, or the lower median. */
static double over_ranks(const struct prediction *prediction,
	double (*get)(const struct predicted *of, size_t change), size_t change, bool is_half)
{
	size_t nr_processes = prediction->input->nr_processes, nr = 0;
	double *values = mem_zeroed(nr_processes + 1, sizeof(*values)), value;

	for (size_t i = 0; i < nr_processes; i++) {
		if (prediction->of[i].nr_steps) {
			values[nr++] = get(&prediction->of[i], change);
		}
	}
	qsort(values, nr, sizeof(*values), by_double);
	value = !nr ? 0 : values[is_half ? (nr - 1) / 2 : nr - 1];
	free(values);
	return value;
}

static const struct predicted *slowest_of(const struct prediction *prediction)
{
	const struct predicted *slowest = prediction->of;

	for (size_t i = 0; i < prediction->input->nr_processes; i++) {
		const struct predicted *of = &prediction->of[i];

		slowest = of->step_ns > slowest->step_ns ? of : slowest;
	}
	return slowest;
}

/* A change may make another rank the slowest one. */
static void set_job(struct prediction *prediction)
{
	struct predicted *job = &prediction->job;

	*job = *slowest_of(prediction);
	memset(job->limits, 0, sizeof(job->limits));
	for (size_t i = 0; i < prediction->nr_changes; i++) {
		/* Half of the ranks do not wait for the rest, which are to be as fast. */
		bool is_half = prediction->changes[i].removals & 1u << REPLAY_NO_STRAGGLERS;
		double saved_ns = job->step_ns - over_ranks(prediction, changed_ns, i, is_half);

		job->span_changed_ns[i] = job->span_replayed_ns - saved_ns;
		job->least_ns[i] = over_ranks(prediction, least_ns, i, is_half);
	}
	for (size_t k = 0; k < prediction->input->nr_processes; k++) {
		for (size_t i = 0; i < PREDICTION_CHANGES; i++) {
			for (unsigned int kind = 0; kind < NR_REPLAY_KINDS; kind++) {
				job->limits[i][kind] += prediction->of[k].limits[i][kind];
			}
		}
	}
}

void prediction_end(struct prediction *prediction)
{
	size_t nr_processes = prediction->input->nr_processes;
	bool has_any = false;

	if (prediction->has_ended) {
		return;
	}
	prediction->has_ended = true;
	for (size_t i = 0; i < prediction->nr_steps; i++) {
		run_step(prediction, &prediction->steps[i]);
		free_step(&prediction->steps[i], nr_processes);
	}
	prediction->nr_steps = 0;
	for (size_t i = 0; i < nr_processes; i++) {
		has_any |= has_steps(prediction->input->processes[i]);
	}
	for (size_t i = 0; i < nr_processes; i++) {
		/* Helpers of a process that trains have no steps. */
		if (prediction->sums[i].nr_steps &&
			(!has_any || has_steps(prediction->input->processes[i]))) {
			set_means(&prediction->sums[i], &prediction->of[i]);
		}
	}
	if (prediction->is_joined) {
		set_job(prediction);
	}
}

void prediction_set_launches(
	struct prediction *prediction, size_t process, const struct budget_launches *launches)
{
	struct predicted *of = &prediction->of[process];

	of->launches = *launches;
	if (of->nr_steps && budget_has_lost(launches)) {
		budget_add_launches(&prediction->job.launches, launches);
	}
}

void prediction_fini(struct prediction *prediction)
{
	for (size_t i = 0; i < prediction->nr_steps; i++) {
		free_step(&prediction->steps[i], prediction->input->nr_processes);
	}
	free(prediction->steps);
	step_loader_fini(&prediction->load);
	rank_waits_fini(&prediction->waits);
	free(prediction->sums);
	free(prediction->of);
}

const struct predicted *prediction_of(const struct prediction *prediction, size_t process)
{
	return prediction->is_joined && prediction->of[process].nr_steps ? &prediction->job
									 : &prediction->of[process];
}

double prediction_saved_ns(const struct predicted *predicted, size_t change)
{
	double saved_ns = predicted->span_replayed_ns - predicted->span_changed_ns[change];
	double most_ns = predicted->step_ns - predicted->least_ns[change];

	most_ns = most_ns > 0 ? most_ns : 0;
	return saved_ns < most_ns ? saved_ns : most_ns;
}

double prediction_error_pct(const struct predicted *predicted)
{
	return predicted->step_ns > 0
		       ? 100 * fabs(predicted->span_replayed_ns - predicted->span_ns) /
				 predicted->step_ns
		       : 0;
}

bool prediction_is_known(const struct predicted *predicted)
{
	return predicted->nr_steps && prediction_error_pct(predicted) <= PREDICTION_ERROR_PCT &&
	       !budget_has_lost(&predicted->launches);
}
