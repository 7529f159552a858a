/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the facts that rules judge, and judges them: see judgement.h. */
#include "report/advice/judgement.h"

#include <stdlib.h>

/* ---- gathering ---- */

static const struct scan_want wants[] = {
	UTILIZATION_WANTS,
	{GPROF_TABLE_alloc, COLS(alloc, time, allocated_bytes, reserved_bytes, device_type, device),
		0},
};

void advice_init(struct advice *advice)
{
	advice->facts = mem_zeroed(advice->input.nr_processes + 1, sizeof(*advice->facts));
	for (size_t i = 0; i < advice->input.nr_processes; i++) {
		advice_facts_init(&advice->facts[i], advice->input.processes[i]);
		advice->facts[i].is_brief = advice->input.is_brief;
	}
}

void advice_fini(struct advice *advice)
{
	for (size_t i = 0; i < advice->input.nr_processes; i++) {
		advice_facts_fini(&advice->facts[i]);
	}
	straggler_steps_fini(&advice->stragglers);
	overlap_fini(&advice->overlap);
	utilization_fini(&advice->usage);
	free(advice->facts);
}

static void on_activity(void *context, const struct gpu_activity *activity)
{
	struct advice *advice = context;

	if (activity->table != GPROF_TABLE_op) {
		if (!advice->input.is_brief) {
			utilization_take(&advice->usage, activity);
		}
	} else if (!advice->overlap.has_operators) {
		return; /* all else is of devices, where there are any */
	}
	overlap_take(&advice->overlap, activity);
}

static void begin(void *context, struct process *process)
{
	struct advice *advice = context;

	advice->at = &advice->facts[advice->nr_scanned++];
	overlap_begin_host(&advice->overlap, process);
	utilization_begin(&advice->usage, process);
}

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct advice *advice = context;

	(void)process;
	if (batch->table == GPROF_TABLE_alloc) {
		advice_facts_take_allocs(advice->at, batch);
	} else {
		utilization_take_samples(&advice->usage, batch);
	}
}

static void end(void *context, struct process *process)
{
	struct advice *advice = context;

	(void)process;
	overlap_end(&advice->overlap);
	utilization_end(&advice->usage);
	straggler_steps_add(&advice->stragglers, &advice->overlap, &advice->usage);
}

static void begin_ops(void *context, struct process *process)
{
	struct advice *advice = context;

	(void)process;
	advice->at = &advice->facts[advice->nr_walked++];
	advice_facts_begin(advice->at);
}

static void on_op(void *context, const struct op *op)
{
	advice_facts_take_op(((struct advice *)context)->at, op);
}

static void on_call(void *context, const struct op_call *call, const struct op *op)
{
	advice_facts_take_call(((struct advice *)context)->at, call, op);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	advice_facts_take_record(((struct advice *)context)->at, record, call, op);
}

static void end_ops(void *context, struct process *process, const struct phases *phases)
{
	struct advice *advice = context;

	straggler_steps_add_phases(&advice->stragglers, &advice->overlap, process, phases);
	advice_total(advice->at, phases, &advice->overlap, &advice->usage);
	advice->at->is_training = phases_is_training(phases);
	advice->at->is_judged = advice->at->has_gpu || phases_has_loop(phases);
	advice->has_loops |= advice->at->is_judged;
}

/* Steps that are not chosen count too: they may have launched what runs in a chosen step. */
const struct scan_view advice_scan = {
	.wants = wants,
	.nr_wants = sizeof(wants) / sizeof(wants[0]),
	.begin = begin,
	.on_batch = on_batch,
	.end = end,
	.ignores_selection = true,
	.on_activity = on_activity,
	.has_host_activities = true,
};

const struct op_view advice_ops = {
	.begin = begin_ops,
	.op = on_op,
	.op_wants = advice_facts_wants_op,
	.call = on_call,
	.record = on_record,
	.end = end_ops,
};

/* Whether pageable memory is copied from is all that sentences say of records. */
static void on_copy(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	if (record->table == GPROF_TABLE_memcpy) {
		on_record(context, record, call, op);
	}
}

const struct op_view advice_brief_ops = {
	.begin = begin_ops,
	.record = on_copy,
	.end = end_ops,
};

static bool has_several_devices(const struct process *process)
{
	for (size_t i = 1; i < process->places.nr; i++) {
		const struct model_place *place = idmap_at(&process->places, i);

		if (place->device !=
			((struct model_place *)idmap_at(&process->places, 0))->device) {
			return true;
		}
	}
	return false;
}

bool advice_needs_scan(const void *context)
{
	const struct view_input *input = &((const struct advice *)context)->input;

	return !input->is_brief || input->nr_processes != 1 ||
	       has_several_devices(input->processes[0]);
}

/* Returns the facts of the device's process, after those of the device before it. */
static struct advice_facts *facts_of(
	const struct advice *advice, size_t device, struct advice_facts *facts)
{
	while (facts->process != advice->overlap.devices[device].process) {
		facts++;
	}
	return facts;
}

/* If several devices of a process delay others, the one with the longest delay counts. */
void advice_end(struct advice *advice)
{
	struct straggler *stragglers = advice->stragglers.stragglers;
	struct advice_facts *facts = advice->facts;

	for (size_t i = 0; i < advice->stragglers.nr; i++) {
		facts = facts_of(advice, i, facts);
		stragglers[i].has_lost = budget_has_lost(&facts->launches);
	}
	straggler_steps_compare(
		&advice->stragglers, advice->input.processes, advice->input.nr_processes);
	facts = advice->facts;
	for (size_t i = 0; i < advice->stragglers.nr; i++) {
		const struct straggler *straggler = &stragglers[i];

		facts = facts_of(advice, i, facts);
		if (straggler->nr_compared &&
			(!facts->straggler || straggler->delay_ns > facts->straggler->delay_ns)) {
			facts->straggler = straggler;
		}
	}
}

bool advice_counts(const struct advice *advice, size_t process)
{
	return !advice->has_loops || advice->facts[process].is_judged;
}

/* ---- judging ---- */

/* A rule that applies is worse than one that does not; then the higher cost is worse. */
static bool is_worse(const struct judgement *new, const struct judgement *old)
{
	if (!old->facts || new->result.verdict != old->result.verdict) {
		return !old->facts || new->result.verdict < old->result.verdict;
	}
	return new->result.cost_ns > old->result.cost_ns;
}

void judgement_make(
	const struct advice *advice, const struct advice_rule *rule, struct judgement *judgement)
{
	size_t nr_processes = 0;

	*judgement = (struct judgement){.rule = rule};
	for (size_t i = 0; i < advice->input.nr_processes; i++) {
		struct judgement new = {.rule = rule, .facts = &advice->facts[i]};

		if (!advice_counts(advice, i)) {
			continue;
		}
		advice_judge(rule, advice->facts, advice->input.nr_processes, i, &new.result);
		nr_processes += new.result.verdict == ADVICE_FINDING;
		if (is_worse(&new, judgement)) {
			buf_fini(&judgement->result.evidence);
			*judgement = new;
		} else {
			buf_fini(&new.result.evidence);
		}
	}
	judgement->nr_processes = nr_processes;
}
