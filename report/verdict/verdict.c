/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what would make a run faster; verdict_text.c says so. One pass gathers what it needs: facts
 * (advice), the time budget (headline), the replay's predictions, and times of kernels. The first
 * screen and the view `advice` call verdict_find after it, and then let it write sentences.
 *
 *   parts of the budget  -->  reach of each cause  --\
 *                                                     >--  min  -->  sorted by time  -->  sentence
 *   replay without it    -->  what a change saves  --/
 *
 * Where the replay has no prediction, the reach stands alone, as "at most". Kernels and operators
 * stand first only if nothing that could be changed around them saves much.
 */
#include "report/verdict/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "report/budget/call_state.h"
#include "report/model/device_records.h"
#include "report/model/os_kind.h"
#include "report/util/sort.h"
#include "report/util/string_pool.h"
#include "report/verdict/waited_rank.h"

/* A cause that reaches less, or whose change saves less, is not shown. Percent of the step. */
#define MIN_REACH_PCT 3.0
#define MIN_SAVED_PCT 1.0

/* Above this share, the capture of graphs leaves nothing else to judge, and start-up leaves too
 * little of a recording without steps to judge. */
#define MUCH_STARTUP_PCT 50.0

/* Above this share, waits for a CPU distort what else is found. */
#define MUCH_CPU_PCT 20.0

/*
 * If GPUs wait longer than that for what is not recorded, the replay does not know what a change
 * saves.
 */
#define UNEXPLAINED_PCT 5.0

/* Workers that start anew less often may be those of a second loader. */
#define MIN_STARTS_ANEW 2u

/* Kernels stand first if they take at least the one, and every change saves less than the other. */
#define COMPUTING_PCT 50.0
#define LITTLE_PCT    5.0

/*
 * Without a GPU, operators stand first if they take as much: not all that is outside of them is a
 * cause.
 */
#define OPERATORS_PCT 90.0

/*
 * If GPUs are idle for longer than that while the host is in operators, these are a cause although
 * launches without overhead would save nothing: a few of them do much on the host.
 */
#define IN_OPERATORS_PCT 50.0

/* A sentence has two of them. */
#define KERNEL_NAME_WIDTH 22u

/* Nothing is predicted of longer steps, so that the first screen takes little memory: 100 MB. */
#define MAX_STEP_EVENTS 500000u

const char *const verdict_cause_names[NR_VERDICT_CAUSES] = {
	[VERDICT_LOST] = "lost_data",
	[VERDICT_STARTUP] = "startup",
	[VERDICT_STRAGGLER] = "straggler",
	[VERDICT_CPU] = "cpu_wait",
	[VERDICT_LOADER] = "loader",
	[VERDICT_LOADER_START] = "loader_start",
	[VERDICT_GIL] = "gil",
	[VERDICT_GC] = "garbage_collection",
	[VERDICT_COMPILATION] = "compilation",
	[VERDICT_OS] = "os_calls",
	[VERDICT_READBACK] = "sync_readback",
	[VERDICT_ALLOCATION] = "alloc_free",
	[VERDICT_LAUNCH] = "launch",
	[VERDICT_USER] = "python_host",
	[VERDICT_COPIES] = "copies_h2d",
	[VERDICT_COMMUNICATION] = "comm_exposed",
	[VERDICT_GAPS] = "gaps",
	[VERDICT_KERNELS] = "kernels_gpu_bound",
	[VERDICT_OPERATORS] = "operators_cpu_bound",
};

/* The removal of the replay for each cause; NR_REPLAY_REMOVALS: nothing, or the time of its calls.
 */
static const enum replay_removal removals[NR_VERDICT_CAUSES] = {
	[VERDICT_LOST] = NR_REPLAY_REMOVALS,
	[VERDICT_STARTUP] = NR_REPLAY_REMOVALS,
	[VERDICT_STRAGGLER] = REPLAY_NO_STRAGGLERS,
	[VERDICT_CPU] = NR_REPLAY_REMOVALS,
	[VERDICT_LOADER] = REPLAY_NO_LOADER,
	[VERDICT_LOADER_START] = NR_REPLAY_REMOVALS,
	[VERDICT_GIL] = NR_REPLAY_REMOVALS,
	[VERDICT_GC] = NR_REPLAY_REMOVALS,
	[VERDICT_COMPILATION] = NR_REPLAY_REMOVALS,
	[VERDICT_OS] = NR_REPLAY_REMOVALS,
	[VERDICT_READBACK] = REPLAY_NO_SYNC,
	[VERDICT_ALLOCATION] = NR_REPLAY_REMOVALS,
	[VERDICT_LAUNCH] = REPLAY_NO_LAUNCHES,
	[VERDICT_USER] = NR_REPLAY_REMOVALS,
	[VERDICT_COPIES] = REPLAY_NO_COPIES,
	[VERDICT_COMMUNICATION] = REPLAY_NO_COMM,
	[VERDICT_GAPS] = REPLAY_NO_GAPS,
	[VERDICT_KERNELS] = NR_REPLAY_REMOVALS,
	[VERDICT_OPERATORS] = NR_REPLAY_REMOVALS,
};

/* ---- its parts ---- */

static bool has_change(enum verdict_cause cause)
{
	return cause == VERDICT_ALLOCATION || cause == VERDICT_GIL || cause == VERDICT_GC ||
	       cause == VERDICT_OS || removals[cause] < NR_REPLAY_REMOVALS;
}

/* The scales of the replay whose factor is 0: their items take no time. */
enum { SCALE_ALLOCATORS = 1, SCALE_COLLECTIONS = 2, SCALE_OS = 4, SCALE_GIL = 8, SCALE_KNOWN = 16 };

/* A name is looked at once, as that of a call and as that of an operator. */
static uint32_t scales_of(void *context, uint32_t name, enum replay_item item)
{
	struct verdict *verdict = context;
	uint32_t *scales = idmap_put(&verdict->scales, name);

	if (!*scales) {
		*scales = SCALE_KNOWN | (op_is_collection(name) ? SCALE_COLLECTIONS : 0u) |
			  (call_kind_of(name) == CALL_ALLOC ? SCALE_ALLOCATORS : 0u) |
			  (os_kind_of(name) == GPROF_OS_GIL ? SCALE_GIL : 0u);
	}
	switch (item) {
	case REPLAY_ITEM_OPERATOR:
		return *scales & SCALE_COLLECTIONS;
	case REPLAY_ITEM_CALL:
		return *scales & SCALE_ALLOCATORS;
	case REPLAY_ITEM_OS_CALL:
		return *scales & SCALE_GIL ? SCALE_GIL : SCALE_OS;
	default:
		return 0;
	}
}

/*
 * The replay has a change for each cause that has one, in the order of causes; predicted_ns counts
 * them in the same way.
 */
static void choose_changes(struct verdict *verdict)
{
	struct prediction *prediction = &verdict->prediction;

	for (enum verdict_cause cause = 0; cause < NR_VERDICT_CAUSES; cause++) {
		struct replay_change *change = &prediction->changes[prediction->nr_changes];

		if (cause == VERDICT_ALLOCATION) {
			change->scales = SCALE_ALLOCATORS;
		} else if (cause == VERDICT_GIL) {
			change->scales = SCALE_GIL;
		} else if (cause == VERDICT_GC) {
			change->scales = SCALE_COLLECTIONS;
		} else if (cause == VERDICT_OS) {
			change->scales = SCALE_OS;
		} else if (has_change(cause)) {
			change->removals = 1u << removals[cause];
		}
		prediction->nr_changes += has_change(cause);
	}
	prediction->load.most_events = MAX_STEP_EVENTS;
	prediction->has_no_limits = true;
	prediction->scales_of = scales_of;
	prediction->context = verdict;
}

static uint32_t site_of(
	void *context, uint32_t name, const struct op_call *call, const struct op *op)
{
	return advice_facts_site(((struct verdict *)context)->advice.at, name, call, op);
}

static void on_gap(void *context, const struct budget_gap *gap)
{
	struct verdict *verdict = context;
	struct advice_facts *facts = verdict->advice.at;

	facts->lacks_gaps |= verdict->headline.budget.is_too_much;
	advice_facts_take_gap(facts, gap);
}

static void on_owned(void *context, const struct budget_step *step, enum budget_part part,
	const struct budget_site *site, uint64_t ns)
{
	static const enum gap_cost costs[NR_BUDGET_PARTS] = {
		[BUDGET_UPLOAD] = GAP_COST_UPLOAD,
		[BUDGET_DOWNLOAD] = GAP_COST_WAIT,
		[BUDGET_TRANSFER] = GAP_COST_COMMUNICATION,
		[BUDGET_COMMUNICATION] = GAP_COST_COMMUNICATION,
		[BUDGET_HOST + HOST_COMPILATION] = GAP_COST_COMPILATION,
		[BUDGET_HOST + HOST_STARTUP] = GAP_COST_STARTUP,
		[BUDGET_HOST + HOST_ALLOCATION] = GAP_COST_ALLOCATION,
		[BUDGET_HOST + HOST_WAIT] = GAP_COST_WAIT,
		[BUDGET_HOST + HOST_STAGING] = GAP_COST_UPLOAD,
		[BUDGET_HOST + HOST_GC] = GAP_COST_GC,
		[BUDGET_HOST + HOST_LOADER] = GAP_COST_LOADER,
		[BUDGET_HOST + HOST_OS] = GAP_COST_OS,
	};

	advice_facts_take_owned(
		((struct verdict *)context)->advice.at, costs[part], step, site, ns);
}

void verdict_init(void *state)
{
	struct verdict *verdict = state;

	advice_init(&verdict->advice);
	verdict->headline.wants_code = true;
	idmap_init(&verdict->scales, sizeof(uint32_t));
	verdict->headline.on_gap = on_gap;
	verdict->headline.on_owned = on_owned;
	verdict->headline.site_of = site_of;
	verdict->headline.gap_context = verdict;
	verdict->headline.rank_waits = verdict->advice.input.waits ? verdict->advice.input.waits
								   : &verdict->prediction.waits;
	choose_changes(verdict);
	prediction_init(&verdict->prediction, &verdict->advice.input);
}

void verdict_fini(void *state)
{
	struct verdict *verdict = state;

	idmap_fini(&verdict->scales);
	work_times_fini(&verdict->work_times);
	advice_sites_fini(&verdict->work);
	prediction_fini(&verdict->prediction);
	headline_fini(&verdict->headline);
	advice_fini(&verdict->advice);
}

/* ---- means per step ---- */

double verdict_per_step(const struct verdict *verdict, double ns)
{
	const struct headline_figures *figures = &verdict->figures;

	return ns / (figures->nr_step_rows ? (double)figures->nr_step_rows : 1);
}

static double part(const struct verdict *verdict, unsigned int which)
{
	return verdict_per_step(verdict, (double)verdict->figures.parts[which]);
}

static double state(const struct verdict *verdict, enum host_state which)
{
	return part(verdict, BUDGET_HOST + which);
}

/* Returns what a state costs in gaps that no wait opened. */
static double undrained(const struct verdict *verdict, unsigned int which)
{
	return verdict_per_step(verdict, (double)(verdict->figures.parts[BUDGET_HOST + which] -
						  verdict->figures.drained[which]));
}

/* The cost of gaps that a wait opened. */
static double drained(const struct verdict *verdict)
{
	double ns = 0;

	for (unsigned int i = 0; i <= NR_HOST_STATES; i++) {
		if (host_state_is_of_wait(i)) {
			ns += (double)verdict->figures.drained[i];
		}
	}
	return verdict_per_step(verdict, ns);
}

/* Returns what a state costs that waits do not explain, see find_after_waits(). */
static double own(const struct verdict *verdict, unsigned int which)
{
	return undrained(verdict, which) +
	       verdict->after_waits *
		       verdict_per_step(verdict, (double)verdict->figures.drained[which]);
}

static double step_ns(const struct verdict *verdict)
{
	return verdict_per_step(verdict, (double)verdict->figures.parts_ns);
}

/*
 * Returns what a saving is a share of: in a job its own step, as the first screen has it. That ends
 * with its mark, and may be shorter.
 */
static double share_step_ns(const struct verdict *verdict)
{
	const struct headline_figures *figures = &verdict->figures;
	double mean_ns = step_ns(verdict);

	return figures->has_steps && figures->nr_processes > 1 && figures->mean_ns > mean_ns
		       ? figures->mean_ns
		       : mean_ns;
}

/* ---- ranks ---- */

/* Returns the communication that a rank does not hide, per step. */
static double communication_of(const struct headline_process *at)
{
	double ns = 0, nr = 0;

	for (size_t i = 0; at->is_main && i < at->nr_steps; i++) {
		if (at->steps[i].counts) {
			ns += (double)budget_communication(at->steps[i].parts);
			nr++;
		}
	}
	return nr > 0 ? ns / nr : 0;
}

/*
 * Communication ends together, so the rank that comes last waits least. Returns by how much the
 * median of the others waits longer.
 */
static double find_latest(struct verdict *verdict)
{
	const struct headline *headline = &verdict->headline;
	double *others = mem_zeroed(headline->nr_processes + 1, sizeof(*others));
	double least = 0, delay_ns = 0;
	size_t nr = 0;

	for (size_t i = 0; i < headline->nr_processes; i++) {
		const struct headline_process *at = &headline->processes[i];
		double ns = communication_of(at);

		if (at->process->rank >= 0 && ns > 0) {
			others[nr++] = ns;
			if (nr == 1 || ns < least) {
				least = ns;
				verdict->late_rank = at->process->rank;
			}
		}
	}
	qsort(others, nr, sizeof(*others), by_double);
	if (nr > 1) { /* the first is the least */
		delay_ns = (others[1 + (nr - 2) / 2] + others[1 + (nr - 1) / 2]) / 2 - least;
	}
	free(others);
	return delay_ns;
}

/*
 * Finds the late rank by steps where they were compared, as the view stragglers does. Returns how
 * long the others wait for it.
 */
static double find_late(struct verdict *verdict)
{
	const struct advice *advice = &verdict->advice;
	bool is_compared = false;

	for (size_t i = 0; i < advice->input.nr_processes; i++) {
		const struct straggler *straggler = advice->facts[i].straggler;

		is_compared |= straggler != NULL;
		if (straggler && straggler->delay_ns &&
			(!verdict->late || straggler->delay_ns > verdict->late->delay_ns)) {
			verdict->late = straggler;
			verdict->late_rank = advice->facts[i].process->rank;
			verdict->late_pid = advice->facts[i].process->pid;
		}
	}
	if (verdict->late) {
		return (double)verdict->late->delay_ns / (double)verdict->late->nr_compared;
	}
	return is_compared ? 0 : find_latest(verdict);
}

/* ---- what a change saves ---- */

/* Returns the mean of the processes that count, as far as it is predicted; below 0: of none. */
static double predicted_ns(const struct verdict *verdict, enum verdict_cause cause)
{
	const struct prediction *prediction = &verdict->prediction;
	size_t change = 0, nr = 0;
	double sum = 0;

	if (!has_change(cause) || verdict->is_unexplained ||
		(cause == VERDICT_STRAGGLER && !prediction->is_joined)) {
		return -1;
	}
	for (enum verdict_cause i = 0; i < cause; i++) {
		change += has_change(i);
	}
	for (size_t i = 0; i < verdict->advice.input.nr_processes; i++) {
		const struct predicted *predicted = prediction_of(prediction, i);

		if (advice_counts(&verdict->advice, i) && prediction_is_known(predicted)) {
			double ns = prediction_saved_ns(predicted, change);

			sum += ns > 0 ? ns : 0;
			nr++;
		}
	}
	return nr ? sum / (double)nr : -1;
}

/* What waits cost: the replay takes a copy that waits for a copy. */
static double readback_ns(const struct verdict *verdict)
{
	double waits_ns = predicted_ns(verdict, VERDICT_READBACK),
	       copies_ns = predicted_ns(verdict, VERDICT_COPIES);

	return copies_ns > waits_ns ? copies_ns : waits_ns;
}

/* Returns what the finding saves, or costs where that is unknown. */
static double cost_ns(const struct verdict_finding *finding)
{
	return finding->saved_ns < 0 ? finding->reach_ns : finding->saved_ns;
}

double verdict_share_pct(const struct verdict_finding *finding)
{
	return finding->step_ns > 0 ? 100 * cost_ns(finding) / finding->step_ns : 0;
}

/* Adds a finding, unless it is too small to be shown. Collections and compilations are measured. */
static void add_finding(struct verdict *verdict, struct verdict_finding finding)
{
	double least_pct = finding.cause == VERDICT_GC || finding.cause == VERDICT_COMPILATION
				   ? MIN_SAVED_PCT
				   : MIN_REACH_PCT;

	if (100 * finding.reach_ns >= least_pct * finding.step_ns &&
		verdict_share_pct(&finding) >= MIN_SAVED_PCT) {
		verdict->findings[verdict->nr++] = finding;
	}
}

static void add(struct verdict *verdict, enum verdict_cause cause, double reach_ns)
{
	struct verdict_finding finding = {.cause = cause, .reach_ns = reach_ns};

	finding.saved_ns =
		cause == VERDICT_READBACK ? readback_ns(verdict) : predicted_ns(verdict, cause);
	/* The loop may need what a call of the system waits for, wherever it is made. */
	finding.is_capped = finding.saved_ns > reach_ns || cause == VERDICT_OS;
	finding.saved_ns = finding.saved_ns > reach_ns ? reach_ns : finding.saved_ns;
	finding.step_ns = share_step_ns(verdict);
	add_finding(verdict, finding);
}

/* ---- causes ---- */

/*
 * Adds what the host does between launches, in gaps that no wait opened, or would not without the
 * wait: one cause, named by the most of it.
 */
static void add_host(struct verdict *verdict)
{
	double calls =
		own(verdict, HOST_LAUNCH) + own(verdict, HOST_CALL) + own(verdict, HOST_OPERATOR);
	double user = own(verdict, HOST_RANGE) + own(verdict, HOST_USER);
	double operators = own(verdict, HOST_OPERATOR);
	size_t nr = verdict->nr;

	if (user > calls) {
		add(verdict, VERDICT_USER, user);
		return;
	}
	add(verdict, VERDICT_LAUNCH, calls + user);
	if (verdict->nr == nr && 100 * operators > IN_OPERATORS_PCT * step_ns(verdict)) {
		verdict->is_in_operators = true;
		add(verdict, VERDICT_USER, calls + user);
	}
}

/* Returns all time in which GPUs were idle. */
static double idle(const struct verdict *verdict)
{
	double ns = 0;

	for (unsigned int i = BUDGET_HOST; i < NR_BUDGET_PARTS; i++) {
		ns += part(verdict, i);
	}
	return ns;
}

/* Compilation in the first step alone, or without steps, is start-up. */
static double first_compilations(const struct verdict *verdict)
{
	return verdict->compiles_later ? 0 : state(verdict, HOST_COMPILATION);
}

/*
 * Returns what it takes of the step or the recording, in percent. A recording that is mostly the
 * capture of graphs is start-up, however long its calls are.
 */
static double add_startup(struct verdict *verdict)
{
	double compilation_ns = first_compilations(verdict);
	double ns = state(verdict, HOST_STARTUP) + compilation_ns;
	double capture_ns = verdict_per_step(verdict, (double)verdict->figures.capture_ns);

	if (!verdict->figures.has_steps) {
		ns += state(verdict, HOST_ALLOCATION);
	}
	capture_ns = capture_ns < idle(verdict) ? capture_ns : idle(verdict);
	if (capture_ns > ns && 100 * capture_ns > MUCH_STARTUP_PCT * step_ns(verdict)) {
		verdict->is_capture = true;
		ns = capture_ns;
	}
	verdict->is_compilation = 2 * compilation_ns > ns;
	add(verdict, VERDICT_STARTUP, ns);
	return 100 * ns / step_ns(verdict);
}

/*
 * After a wait the GPU has nothing to do until the host launches again. If the loop would hardly be
 * faster without the waits, the host is slow, and not too late: what the replay keeps of that time
 * is a cost of what it does then. Where it is less than half, the waits are the cause.
 */
static void find_after_waits(struct verdict *verdict)
{
	double ns = drained(verdict), waits_ns = readback_ns(verdict);

	if (waits_ns >= 0 && waits_ns < ns / 2) {
		verdict->after_waits = 1 - waits_ns / ns;
	}
}

/*
 * A recording without steps that is mostly start-up says nothing of the loop, nor does one that is
 * mostly a capture: no further idle time is a cause then.
 */
static void add_gpu_idle(struct verdict *verdict)
{
	if (add_startup(verdict) > MUCH_STARTUP_PCT &&
		(verdict->is_capture || !verdict->figures.has_steps)) {
		return;
	}
	find_after_waits(verdict);
	add(verdict, VERDICT_READBACK,
		state(verdict, HOST_WAIT) + part(verdict, BUDGET_DOWNLOAD) + drained(verdict));
	if (verdict->figures.has_steps) {
		add(verdict, VERDICT_ALLOCATION, state(verdict, HOST_ALLOCATION));
	}
	add(verdict, VERDICT_OS, own(verdict, HOST_OS));
	add_host(verdict);
	add(verdict, VERDICT_GAPS, part(verdict, BUDGET_LATENCY));
}

/*
 * Without a GPU operators compute, so only what a loop does outside of them is a cause, and what
 * compiles them.
 */
static void add_outside(struct verdict *verdict)
{
	verdict->is_compilation = true;
	add(verdict, VERDICT_STARTUP, first_compilations(verdict));
	if (verdict->figures.has_steps && state(verdict, HOST_OPERATOR) > 0) {
		add(verdict, VERDICT_USER, state(verdict, HOST_RANGE) + state(verdict, HOST_USER));
		add(verdict, VERDICT_OS, state(verdict, HOST_OS));
	}
}

/* A state in the steps of the processes that count, outliers among them. */
struct state_of_all {
	double ns, step_ns; /* means per step */
	uint64_t nr_steps, nr_with;
	bool is_later; /* some of it is not in the first step */
};

static struct state_of_all state_of_all(const struct verdict *verdict, enum host_state state)
{
	struct state_of_all all = {0};

	for (size_t i = 0; i < verdict->headline.nr_processes; i++) {
		const struct headline_process *at = &verdict->headline.processes[i];

		for (size_t k = 0; at->is_main && k < at->nr_steps; k++) {
			const struct headline_step *step = &at->steps[k];
			uint64_t ns = step->parts[BUDGET_HOST + state];

			if (step->counts || step->is_outlier) {
				all.ns += (double)ns;
				all.step_ns += (double)step->ns;
				all.nr_steps++;
				all.nr_with += ns > 0;
				all.is_later |= ns > 0 && step->place > 1;
			}
		}
	}
	all.ns /= all.nr_steps ? (double)all.nr_steps : 1;
	all.step_ns /= all.nr_steps ? (double)all.nr_steps : 1;
	return all;
}

/*
 * Adds what comes rarely: it makes outliers of its steps, which no part of the budget and no replay
 * has; then its cost is a share of all steps. `usual_ns`: in the steps of the budget.
 */
static void add_rare(struct verdict *verdict, enum verdict_cause cause, double usual_ns,
	const struct state_of_all *all)
{
	if (all->ns > usual_ns) {
		add_finding(verdict, (struct verdict_finding){.cause = cause,
					     .reach_ns = all->ns,
					     .saved_ns = -1,
					     .step_ns = all->step_ns});
	} else {
		add(verdict, cause, usual_ns);
	}
}

static void add_gc(struct verdict *verdict)
{
	const struct state_of_all all = state_of_all(verdict, HOST_GC);

	add_rare(verdict, VERDICT_GC, state(verdict, HOST_GC), &all);
}

static void add_compilation(struct verdict *verdict)
{
	const struct state_of_all all = state_of_all(verdict, HOST_COMPILATION);

	verdict->nr_compiling = all.nr_with;
	verdict->nr_compared = all.nr_steps;
	verdict->compiling_ns =
		all.nr_with ? all.ns * (double)all.nr_steps / (double)all.nr_with : 0;
	verdict->compiles_later = all.is_later;
	if (all.is_later) {
		add_rare(verdict, VERDICT_COMPILATION, state(verdict, HOST_COMPILATION), &all);
	}
}

bool verdict_is_crowded(const struct verdict *verdict)
{
	const struct cpu_wait *wait = &verdict->figures.cpu_wait;
	double cpus_ns = (double)wait->nr_cpus * (double)verdict->figures.parts_ns;

	return wait->nr_cpus && wait->nr_threads > wait->nr_cpus &&
	       (wait->others_ns ? wait->own_ns > wait->others_ns
				: 2 * (double)wait->process_ns > cpus_ns);
}

/*
 * Adds waits for a CPU. They lie within the time in which the host, and no GPU, is at work, and are
 * part of what other causes cost.
 */
static void add_cpu(struct verdict *verdict)
{
	double ns = verdict_per_step(verdict, (double)verdict->figures.cpu_wait.ns), host_ns = 0;

	for (unsigned int i = BUDGET_HOST; i <= BUDGET_USER; i++) {
		host_ns += part(verdict, i);
	}
	ns = ns < host_ns ? ns : host_ns;
	add_finding(verdict, (struct verdict_finding){.cause = VERDICT_CPU,
				     .reach_ns = ns,
				     .saved_ns = ns,
				     .is_capped = verdict_is_crowded(verdict),
				     .step_ns = share_step_ns(verdict)});
}

/*
 * Workers that start anew in each epoch often make outliers of its first steps. If most of what
 * the loader costs is that, there is one cause.
 */
static void add_loader(struct verdict *verdict)
{
	const struct loader_starts *starts = &verdict->starts;
	double loader_ns = state(verdict, HOST_LOADER);
	size_t nr = verdict->nr;

	if (starts->nr_anew >= MIN_STARTS_ANEW &&
		100 * starts->least_ns >= MIN_SAVED_PCT * starts->step_ns) {
		add_finding(verdict, (struct verdict_finding){.cause = VERDICT_LOADER_START,
					     .reach_ns = starts->ns,
					     .saved_ns = -1,
					     .step_ns = starts->step_ns});
	}
	if (verdict->nr == nr || 2 * starts->counted_ns < loader_ns) {
		add(verdict, VERDICT_LOADER, loader_ns);
	}
}

/* Adds idle time, which lost activities only seem to leave. */
static void add_idle(struct verdict *verdict)
{
	add_loader(verdict);
	add(verdict, VERDICT_GIL, state(verdict, HOST_GIL));
	add_cpu(verdict);
	add_gc(verdict);
	add_compilation(verdict);
	if (verdict->figures.has_gpu) {
		add_gpu_idle(verdict);
	} else {
		add_outside(verdict);
	}
}

/* A rare cause is a share of more steps than the others are: this compares their times. */
static int by_saving(const void *a, const void *b)
{
	const struct verdict_finding *x = a, *y = b;
	double x_ns = cost_ns(x), y_ns = cost_ns(y);

	return ORDER(COMPARE(y_ns, x_ns), COMPARE(x->cause, y->cause));
}

static void put_first(struct verdict *verdict, enum verdict_cause cause, double reach_ns)
{
	memmove(verdict->findings + 1, verdict->findings, verdict->nr * sizeof(*verdict->findings));
	verdict->nr++;
	verdict->findings[0] = (struct verdict_finding){
		.cause = cause, .reach_ns = reach_ns, .saved_ns = -1, .step_ns = step_ns(verdict)};
}

/*
 * Where a loop lacks a CPU, all that the host does takes longer: that comes before its causes. What
 * threads of its own take from it, it may need.
 */
static void raise_cpu(struct verdict *verdict)
{
	for (size_t i = 1; i < verdict->nr; i++) {
		const struct verdict_finding finding = verdict->findings[i];

		if (finding.cause == VERDICT_CPU && !finding.is_capped &&
			verdict_share_pct(&finding) >= MUCH_CPU_PCT) {
			memmove(verdict->findings + 1, verdict->findings,
				i * sizeof(*verdict->findings));
			verdict->findings[0] = finding;
		}
	}
}

/* Does nothing that was found save much? */
static bool saves_little(const struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->nr; i++) {
		if (verdict_share_pct(&verdict->findings[i]) >= LITTLE_PCT) {
			return false;
		}
	}
	return true;
}

static void take_work(struct verdict *verdict)
{
	bool are_kernels = verdict->figures.has_gpu;

	work_times_top(&verdict->work_times, &verdict->headline, are_kernels,
		are_kernels ? KERNEL_NAME_WIDTH : VERDICT_NAME_WIDTH, &verdict->work);
}

/* Adds kernels: that only faster ones would save much is a verdict as well. */
static void add_kernels(struct verdict *verdict)
{
	double ns = part(verdict, BUDGET_COMPUTING);
	bool is_much = 100 * ns >= COMPUTING_PCT * step_ns(verdict);

	if (verdict->figures.has_gpu && (is_much || (verdict->is_unexplained && ns > 0)) &&
		saves_little(verdict)) {
		put_first(verdict, VERDICT_KERNELS, ns);
		take_work(verdict);
	}
}

/* Adds operators, but not where a GPU may have worked: they may have waited for it. */
static void add_operators(struct verdict *verdict)
{
	const struct headline_figures *figures = &verdict->figures;
	double ns = state(verdict, HOST_OPERATOR);

	if (!figures->has_gpu && !figures->has_calls && !figures->nr_listed &&
		100 * ns >= OPERATORS_PCT * step_ns(verdict) && saves_little(verdict)) {
		put_first(verdict, VERDICT_OPERATORS, ns);
		take_work(verdict);
	}
}

/* Adds the straggler. The ranks but the late one wait in what communication they do not hide. */
static void add_late(struct verdict *verdict)
{
	const struct headline_figures *figures = &verdict->figures;
	double nr = (double)(figures->nr_ranks ? figures->nr_ranks : figures->nr_processes);
	double others = nr > 1 ? nr / (nr - 1) : 1;
	double waits_ns = part(verdict, BUDGET_RANK_WAIT);
	double most_ns = waits_ns + part(verdict, BUDGET_COMMUNICATION);
	double delay_ns = find_late(verdict);

	delay_ns = delay_ns < most_ns * others ? delay_ns : most_ns * others;
	/* Steps of a late rank show less than half of that: they may wait for several. */
	if (waits_ns > 0 && 2 * delay_ns <= waits_ns * others) {
		verdict->late = NULL;
		verdict->late_rank = waited_rank(&verdict->headline, &verdict->prediction.waits);
		verdict->is_late_mostly = true;
		delay_ns = verdict->late_rank < 0 ? waits_ns : waits_ns * others;
	}
	add(verdict, VERDICT_STRAGGLER, delay_ns);
}

static const struct advice_facts *facts_of(const struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->advice.input.nr_processes; i++) {
		if (verdict->advice.facts[i].process == verdict->figures.first) {
			return &verdict->advice.facts[i];
		}
	}
	return NULL;
}

/* The rules of other tools judge no idle time that is unknown, and no replay predicts it. */
static void set_launches(struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->headline.nr_processes; i++) {
		const struct budget_launches *launches = &verdict->headline.processes[i].launches;

		verdict->advice.facts[i].launches = *launches;
		prediction_set_launches(&verdict->prediction, i, launches);
	}
}

/* Says on stderr which of the processes that count lost launches, where idle time is unknown. */
static void warn_lost(const struct verdict *verdict)
{
	const struct headline *headline = &verdict->headline;

	for (size_t i = 0; i < headline->nr_processes; i++) {
		const struct headline_process *at = &headline->processes[i];

		if (at->is_main) {
			budget_warn_lost(at->process, &at->launches);
		}
	}
}

static bool has_operator_times(const struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->headline.nr_processes; i++) {
		if (process_has_operator_times(verdict->headline.processes[i].process)) {
			return true;
		}
	}
	return false;
}

/*
 * Idle time comes first, and not where launches are lost; copies and communication are busy time,
 * which is known all the same. What stands first by rule comes after the sort.
 */
void verdict_find(struct verdict *verdict)
{
	const struct headline_figures *figures = &verdict->figures;

	if (verdict->is_found) {
		return;
	}
	verdict->is_found = true;
	verdict->late_rank = -1;
	headline_figures(&verdict->headline, &verdict->figures);
	verdict->workers = loader_workers_of(&verdict->headline, &verdict->figures);
	verdict->starts = loader_starts_of(&verdict->headline, figures->median_ns);
	prediction_end(&verdict->prediction);
	set_launches(verdict);
	advice_end(&verdict->advice);
	if (!figures->has_parts || !figures->parts_ns || has_operator_times(verdict)) {
		return;
	}
	verdict->facts = facts_of(verdict);
	verdict->is_unexplained =
		100 * part(verdict, BUDGET_DEPENDENCY) > UNEXPLAINED_PCT * step_ns(verdict);
	if (!figures->has_lost) {
		add_idle(verdict);
	}
	add(verdict, VERDICT_COPIES, part(verdict, BUDGET_UPLOAD) + state(verdict, HOST_STAGING));
	add(verdict, VERDICT_COMMUNICATION,
		part(verdict, BUDGET_TRANSFER) + part(verdict, BUDGET_COMMUNICATION));
	add_late(verdict);
	qsort(verdict->findings, verdict->nr, sizeof(*verdict->findings), by_saving);
	raise_cpu(verdict);
	if (figures->has_lost) {
		put_first(verdict, VERDICT_LOST, 0);
		warn_lost(verdict);
	} else {
		add_kernels(verdict);
		add_operators(verdict);
	}
}
