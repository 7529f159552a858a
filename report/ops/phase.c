/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the phases of steps. op_walk.c adds segments while it goes backwards; phases_finish() turns
 * them around and names each by its class and its neighbours, since nothing marks a forward pass:
 * it is what comes before a Backward.
 *
 *   loop's thread   [loader] op op op op          [Optimizer.step]
 *   autograd                             b b b b b
 *   segments        LOADER   OTHER       BACKWARD OPTIMIZATION        classes, by names
 *   phases          Dataload Forward     Backward Optimization        by neighbours, name_run()
 *
 * An outer segment that is interrupted by an inner one of another class is cut in two. Backwards,
 * the outer one comes first:
 *
 *   phases_add(OTHER)      |OOOOOOOOOOOOOOO|
 *   phases_add(LOADER)             |LL|OOOO|      interrupt(): the front of O becomes `rest`
 *   phases_add(next)       |OOOOOOO|LL|OOOO|      resume() pushes `rest` before it
 */
#include "report/ops/phase.h"

#include <stdlib.h>

#include "report/ops/loop.h"
#include "report/util/buf.h"
#include "report/model/select.h"

/* ---- runs ---- */

/* Names the phase of each segment by its neighbours. The segments are in order of time here. */

/*
 * Joins the wait of the reducer after the last autograd node, and its copy of the gradients, to
 * that Backward. Compacts the array in place: [0 .. nr) is done, and `at` looks back over
 * operators.
 */
static void phase_runs_join(struct phases *phases)
{
	struct phase_segment *all = phases->segments;
	size_t nr = 0;

	for (size_t i = 0; i < phases->nr_segments; i++) {
		size_t at = nr;

		all[nr++] = all[i];
		if (all[i].class != OP_REDUCTION) {
			continue;
		}
		while (at && all[at - 1].class == OP_OTHER &&
			all[at - 1].step == all[nr - 1].step) {
			at--;
		}
		if (!at || all[at - 1].class != OP_BACKWARD ||
			all[at - 1].step != all[nr - 1].step) {
			all[nr - 1].class = OP_BACKWARD;
			continue;
		}
		for (size_t k = at; k < nr; k++) {
			all[at - 1].gpu_ns += all[k].gpu_ns;
			all[at - 1].communication_ns += all[k].communication_ns;
			all[at - 1].nr_activities += all[k].nr_activities;
		}
		all[at - 1].end = all[nr - 1].end;
		nr = at;
	}
	phases->nr_segments = nr;
}

/* The class at or after that index, ignoring other operators and clearing of gradients. */
static enum op_class class_after(const struct phases *phases, size_t i)
{
	for (; i < phases->nr_segments; i++) {
		if (phases->segments[i].class != OP_CLEARING &&
			phases->segments[i].class != OP_OTHER) {
			return (enum op_class)phases->segments[i].class;
		}
	}
	return OP_RANGE;
}

/*
 * The phase of a run that ends before segment `end`; `before` is the class before it, OP_RANGE if
 * none.
 *
 * Gradients are cleared before Forward or after it. With a loader, operators between the
 * optimizer's step and the clearing, without a batch in between, are no Forward: that comes later.
 */
static enum phase name_run(struct phases *phases, enum op_class before, size_t end)
{
	enum op_class after = class_after(phases, end);

	if (phases->has_loader && before == OP_OPTIMIZATION && end < phases->nr_segments &&
		phases->segments[end].class == OP_CLEARING) {
		return PHASE_OTHERS;
	}
	if (phases->has_forward || phases->is_static) {
		return PHASE_OTHERS;
	}
	if (after == OP_BACKWARD) {
		if (before == OP_BACKWARD && !phases->has_optimizer) {
			phases->nr_unknown++;
			return PHASE_OTHERS;
		}
		return PHASE_FORWARD;
	}
	if (before == OP_DATALOADER && (after == OP_DATALOADER || after == OP_RANGE)) {
		return PHASE_FORWARD;
	}
	/* Without steps this may be anything, such as setting up. */
	return before == OP_RANGE && after == OP_RANGE && phases_has_steps(phases) ? PHASE_FORWARD
										   : PHASE_OTHERS;
}

/*
 * Sets `phase` of all segments: a run of operators by name_run(), all others by their class.
 * Clearing gradients stands before or after the forward pass, so it does not count as a neighbour.
 */
static void phase_runs_name(struct phases *phases)
{
	enum op_class before = OP_RANGE;
	size_t i = 0;

	while (i < phases->nr_segments) {
		size_t end = i;
		enum phase phase;

		while (end < phases->nr_segments && phases->segments[end].class == OP_OTHER) {
			end++;
		}
		if (end == i) {
			static const uint8_t phase_of[] = {[OP_DATALOADER] = PHASE_DATALOADER,
				[OP_FORWARD] = PHASE_FORWARD,
				[OP_BACKWARD] = PHASE_BACKWARD,
				[OP_OPTIMIZATION] = PHASE_OPTIMIZATION,
				[OP_CLEARING] = PHASE_OPTIMIZATION};
			enum op_class class = phases->segments[i].class;

			before = class == OP_CLEARING ? before : class;
			phases->segments[i].phase = phase_of[class];
			i++;
			continue;
		}
		phase = name_run(phases, before, end);
		for (; i < end; i++) {
			phases->segments[i].phase = (uint8_t)phase;
		}
	}
}

const char *const phase_names[NR_PHASES] = {
	"Dataloader", "Forward", "Backward", "Optimization", "Others"};

/*
 * A step is recorded if the state at its number was to record, and did not change within the step.
 * Rows of windows have the numbers of steps, in order, so both are walked together.
 */
static void find_recorded(struct phases *phases, const struct process *process)
{
	uint8_t state = GPROF_WINDOW_RECORD;
	size_t w = 0;

	for (size_t i = 0; i + 1 < phases->nr_steps; i++) {
		uint64_t step = process->steps[i].step;
		bool is_recorded, is_first = true;

		for (; w < process->nr_windows && process->windows[w].step < step; w++) {
			state = process->windows[w].state;
		}
		is_recorded = state == GPROF_WINDOW_RECORD;
		for (; w < process->nr_windows && process->windows[w].step == step; w++) {
			state = process->windows[w].state;
			is_recorded = (is_first || is_recorded) && state == GPROF_WINDOW_RECORD;
			is_first = false;
		}
		phases->steps[i + 1].is_recorded =
			is_recorded && !model_step_is_gap(&process->steps[i]);
	}
}

void phases_init(struct phases *phases, struct process *process)
{
	*phases = (struct phases){
		.process = process, .first = UINT64_MAX, .loop_tick = loop_begin(process)};
	phases->is_loop_known = phases->loop_tick != UINT64_MAX;
	phases->nr_steps = process->nr_steps > 1 ? process->nr_steps + 1 : 1;
	phases->steps = mem_zeroed(phases->nr_steps, sizeof(*phases->steps));
	find_recorded(phases, process);
	for (size_t i = 0; i < phases->nr_steps; i++) {
		phases->steps[i].is_chosen = i ? select_has_step(process, i - 1) : !process->select;
	}
}

void phases_fini(struct phases *phases)
{
	free(phases->segments);
	free(phases->steps);
	free(phases->phase_of);
	*phases = (struct phases){0};
}

enum phase phases_of_segment(const struct process *process, uint32_t segment)
{
	return segment < process->nr_segment_phases ? (enum phase)process->segment_phases[segment]
						    : PHASE_OTHERS;
}

bool phases_has_steps(const struct phases *phases)
{
	return phases->nr_steps > 1;
}

uint32_t phases_step(const struct phases *phases, uint64_t tick)
{
	return phases_has_steps(phases) ? (uint32_t)process_steps_begun(phases->process, tick) : 0;
}

/* ---- filling, backwards ---- */

static struct phase_segment *last_of(struct phases *phases)
{
	return phases->nr_segments ? &phases->segments[phases->nr_segments - 1] : NULL;
}

static void push(struct phases *phases, const struct phase_segment *segment)
{
	phases->segments = array_grow(phases->segments, phases->nr_segments, &phases->capacity,
		sizeof(*phases->segments));
	phases->segments[phases->nr_segments++] = *segment;
}

/*
 * Resumes the interrupted segment before the last one; also between two within it, if something of
 * its own was seen there.
 */
static void resume(struct phases *phases, enum op_class class, uint64_t begin, uint64_t end)
{
	struct phase_segment rest = phases->rest;
	bool lies_in_it = begin >= rest.begin;

	if (rest.class == OP_RANGE ||
		(lies_in_it && class == last_of(phases)->class && !phases->is_rest_seen)) {
		return;
	}
	rest.begin = lies_in_it ? end : rest.begin;
	rest.end = last_of(phases)->begin;
	phases->rest.class = lies_in_it ? phases->rest.class : (uint8_t)OP_RANGE;
	phases->is_rest_seen = false;
	if (rest.begin < rest.end) {
		push(phases, &rest);
	}
}

void phases_go_on(struct phases *phases, enum op_class class)
{
	phases->is_rest_seen |= phases->rest.class == class;
}

/* Joins a run of operators or autograd nodes with the gaps in it. */
static bool joins(const struct phase_segment *last, enum op_class class, uint32_t step)
{
	return last && last->class == class && last->step == step &&
	       (class == OP_OTHER || class == OP_BACKWARD || class == OP_REDUCTION);
}

/* Cuts the last segment at `end`; its rest comes before what follows. */
static void interrupt(struct phases *phases, uint64_t end)
{
	struct phase_segment *last = last_of(phases);

	phases->rest = *last;
	phases->rest.is_rest = true;
	phases->rest.gpu_ns = 0;
	phases->rest.communication_ns = 0;
	phases->rest.nr_activities = 0;
	phases->is_rest_seen = false;
	last->begin = end;
}

/* phases_step; mostly that of the last segment. */
static uint32_t find_step(struct phases *phases, uint64_t tick)
{
	const struct model_step *steps = phases->process->steps;
	const struct phase_segment *last = last_of(phases);

	if (last && last->step && last->step + 1 < phases->nr_steps &&
		steps[last->step - 1].tick <= tick && tick < steps[last->step].tick) {
		return last->step;
	}
	return phases_step(phases, tick);
}

/*
 * The number of a segment is its index while segments are added; keep_phases() keeps the answers by
 * these numbers, since phases_finish() moves the segments.
 */
uint32_t phases_add(struct phases *phases, enum op_class class, uint64_t begin, uint64_t end)
{
	uint32_t step = find_step(phases, begin);
	struct phase_segment *last;

	phases->has_loader |= class == OP_DATALOADER;
	phases->has_optimizer |= class == OP_OPTIMIZATION || class == OP_CLEARING;
	phases->has_backward |= class == OP_BACKWARD;
	phases->has_forward |= class == OP_FORWARD;
	phases->first = begin < phases->first ? begin : phases->first;
	phases->last = end > phases->last ? end : phases->last;
	resume(phases, class, begin, end);
	last = last_of(phases);
	if (joins(last, class, step)) {
		last->begin = begin < last->begin ? begin : last->begin;
		last->end = end > last->end ? end : last->end;
		return (uint32_t)(phases->nr_segments - 1);
	}
	if (last && last->class != class && last->begin <= begin && end <= last->end) {
		interrupt(phases, end);
	}
	push(phases, &(struct phase_segment){
			     .begin = begin, .end = end, .step = step, .class = (uint8_t) class});
	return (uint32_t)(phases->nr_segments - 1);
}

static void add_to_step(struct phase_step *step, enum phase phase, const struct phase_gpu *gpu)
{
	step->gpu_ns[phase] += gpu->ns;
	step->communication_ns[phase] += gpu->is_communication ? gpu->ns : 0;
	step->nr_activities += gpu->nr_activities;
}

void phases_add_gpu(
	struct phases *phases, uint32_t segment, uint64_t tick, const struct phase_gpu *gpu)
{
	uint64_t communication_ns = gpu->is_communication ? gpu->ns : 0;

	if (segment < phases->nr_segments) {
		phases->segments[segment].gpu_ns += gpu->ns;
		phases->segments[segment].communication_ns += communication_ns;
		phases->segments[segment].nr_activities += gpu->nr_activities;
	} else {
		add_to_step(&phases->steps[phases_step(phases, tick)], PHASE_OTHERS, gpu);
	}
}

void phases_add_graph_gpu(
	struct phases *phases, enum phase phase, uint64_t tick, const struct phase_gpu *gpu)
{
	struct phase_step *step = &phases->steps[phases_step(phases, tick)];

	add_to_step(step, phase, gpu);
	step->graph_ns[phase] += gpu->ns;
}

/* ---- in order ---- */

static void reverse(struct phases *phases)
{
	for (size_t i = 0, k = phases->nr_segments; i + 1 < k; i++) {
		struct phase_segment segment = phases->segments[i];

		phases->segments[i] = phases->segments[--k];
		phases->segments[k] = segment;
	}
	for (size_t i = 0; i < phases->nr_segments; i++) {
		phases->segments[i].place = (uint32_t)i;
	}
}

/*
 * Notes the phase of each segment by its number. A segment that took over others in
 * phase_runs_join() stands for all up to the next one. Numbers count from the last segment to the
 * first.
 */
static void keep_phases(struct phases *phases, size_t nr_all)
{
	phases->phase_of = mem_zeroed(nr_all + 1, sizeof(*phases->phase_of));
	phases->nr_phase_of = nr_all;
	for (size_t i = 0; i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];
		size_t end = i + 1 < phases->nr_segments ? segment[1].place : nr_all;

		for (size_t place = segment->place; place < end; place++) {
			phases->phase_of[nr_all - 1 - place] = segment->phase;
		}
	}
}

/*
 * Time before the loop belongs to no step: models are built, files opened. Only a loader or an
 * optimizer marks where it ends (loop.h); a run of operators may do so, but does not make a step.
 */
static void find_loop(struct phases *phases)
{
	if (phases->is_loop_known) {
		return;
	}
	phases->loop_tick = phases->first;
	for (size_t i = 0; i < phases->nr_segments; i++) {
		if (phases->segments[i].phase != PHASE_OTHERS) {
			phases->loop_tick = phases->segments[i].begin;
			return;
		}
	}
}

/* After all segments have been used for naming, drops those not selected. */
static void leave_chosen(struct phases *phases)
{
	size_t nr = 0;

	for (size_t i = 0; phases->process->select && i < phases->nr_segments; i++) {
		if (select_has_tick(phases->process, phases->segments[i].begin)) {
			phases->segments[nr++] = phases->segments[i];
		}
	}
	phases->nr_segments = phases->process->select ? nr : phases->nr_segments;
}

/* The selection comes last: names follow from neighbours, which may not be selected. */
void phases_finish(struct phases *phases)
{
	size_t nr_all;

	resume(phases, OP_RANGE, 0, 0);
	nr_all = phases->nr_segments;
	reverse(phases);
	phase_runs_join(phases);
	phase_runs_name(phases);
	keep_phases(phases, nr_all);
	for (size_t i = 0; i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];
		struct phase_step *step = &phases->steps[segment->step];

		phases->has_phases |= segment->phase != PHASE_DATALOADER;
		step->ticks[segment->phase] +=
			segment->phase == PHASE_OTHERS ? 0 : segment->end - segment->begin;
		step->gpu_ns[segment->phase] += segment->gpu_ns;
		step->communication_ns[segment->phase] += segment->communication_ns;
		step->nr_activities += segment->nr_activities;
	}
	find_loop(phases);
	leave_chosen(phases);
}

/* ---- results ---- */

/* Does the first row mark the begin of a step, and not only of recording? */
static bool is_first_exact(const struct phases *phases)
{
	return phases->process->steps[0].how == MODEL_STEP_TRACE;
}

bool phases_is_whole(const struct phases *phases, uint32_t step)
{
	if (!phases_has_steps(phases) || !phases->steps[step].is_chosen) {
		return phases->steps[step].is_chosen;
	}
	return step && step + 1 < phases->nr_steps && phases->steps[step].is_recorded &&
	       (step > 1 || phases->is_loop_known || is_first_exact(phases));
}

bool *phases_whole_rows(struct process *process)
{
	bool *is_whole = mem_zeroed(process->nr_steps + 1, sizeof(*is_whole));
	struct phases phases;

	phases_init(&phases, process);
	for (uint32_t step = 1; step < phases.nr_steps; step++) {
		is_whole[step - 1] = phases_is_whole(&phases, step) &&
				     process->steps[step].tick > process->steps[step - 1].tick;
	}
	phases_fini(&phases);
	return is_whole;
}

/* The ends of a step in ticks. */
static void find_ends(const struct phases *phases, uint32_t step, uint64_t *begin, uint64_t *end)
{
	*begin = phases->first;
	*end = phases->last;
	if (phases_has_steps(phases)) {
		*begin = phases->process->steps[step - 1].tick;
		*end = phases->process->steps[step].tick;
		if (step == 1 && !is_first_exact(phases) && phases->loop_tick > *begin &&
			phases->loop_tick < *end) {
			*begin = phases->loop_tick;
		}
	}
}

uint64_t phases_step_ticks(const struct phases *phases, uint32_t step)
{
	uint64_t begin, end;

	find_ends(phases, step, &begin, &end);
	return end > begin ? end - begin : 0;
}

uint64_t phases_step_ns(const struct phases *phases, uint32_t step)
{
	struct clock_map *clock = &phases->process->host_clock;
	uint64_t begin, end;

	find_ends(phases, step, &begin, &end);
	return end > begin ? clock_map_time(clock, end) - clock_map_time(clock, begin) : 0;
}

uint64_t phases_step_gpu_ns(const struct phases *phases, uint32_t step)
{
	uint64_t gpu_ns = 0;

	for (unsigned int i = 0; i < NR_PHASES; i++) {
		gpu_ns += phases->steps[step].gpu_ns[i];
	}
	return gpu_ns;
}

/* Intervals of time are in all processes; all other steps are those of the program. */
static bool has_marked_steps(const struct phases *phases)
{
	return phases_has_steps(phases) && phases->process->steps[1].how != GPROF_STEP_INTERVAL;
}

bool phases_has_loop(const struct phases *phases)
{
	return phases->has_loader || phases->has_optimizer || phases->has_backward ||
	       phases->has_forward || has_marked_steps(phases);
}

bool phases_is_training(const struct phases *phases)
{
	return phases->has_backward || phases->has_optimizer || phases->has_forward ||
	       (phases_has_steps(phases) && phases->process->steps[1].how == GPROF_STEP_OPTIMIZER);
}

const char *phases_remark(const struct phases *phases)
{
	if (phases->nr_segments && !phases_has_loop(phases)) {
		return "Nothing marks phases in this recording: all operators count as Others.";
	}
	if (phases->is_static) {
		return "Executor threads run this static program: its phases are unknown and count "
		       "as Others.";
	}
	if (phases->nr_unknown) {
		return "The optimizer records no range: time between two Backward phases may be "
		       "Optimization or Forward, and counts as Others.";
	}
	if (phases->has_backward && !phases->has_optimizer) {
		return "The optimizer records no range: Optimization is unknown and counts as "
		       "Others.";
	}
	return NULL;
}
