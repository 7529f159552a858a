/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/phase_runs.h"

/*
 * After the last autograd node the reducer waits for the other processes, and then takes the
 * gradients over: all that is one Backward.
 */
void phase_runs_join(struct phases *phases)
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
			all[at - 1].nr_works += all[k].nr_works;
		}
		all[at - 1].end = all[nr - 1].end;
		nr = at;
	}
	phases->nr_segments = nr;
}

/* What comes at or after that place, but for other operators and gradients that are cleared. */
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
 * A run that ends before segment `end`, and what came before it: OP_RANGE if nothing. Gradients are
 * cleared before Forward or after it. Where batches come from a loader, what lies between the
 * optimizer's step and the clearing, with no batch in between, is no Forward: that comes then.
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
	return before == OP_RANGE && after == OP_RANGE ? PHASE_FORWARD : PHASE_OTHERS;
}

void phase_runs_name(struct phases *phases)
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
