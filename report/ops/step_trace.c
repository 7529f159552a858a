/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/step_trace.h"

#include "report/util/buf.h"

static uint64_t clip(uint64_t tick, const struct step_trace *trace)
{
	tick = tick > trace->begin ? tick : trace->begin;
	return tick < trace->end ? tick : trace->end;
}

static void take(struct step_trace *trace, const struct phase_segment *segment)
{
	bool is_backward = segment->phase == PHASE_BACKWARD;
	uint64_t begin = clip(segment->begin, trace), end = clip(segment->end, trace);

	if (segment->phase != PHASE_FORWARD && !is_backward) {
		return;
	}
	trace->forward = !trace->is_known || begin < trace->forward ? begin : trace->forward;
	trace->backward = !trace->is_known || end > trace->backward ? end : trace->backward;
	trace->is_known = true;
}

struct step_trace *step_trace_create(const struct phases *phases)
{
	struct step_trace *traces = mem_zeroed(phases->nr_steps, sizeof(*traces));

	if (!phases_has_steps(phases)) {
		return traces;
	}
	for (uint32_t step = 1; step + 1 < phases->nr_steps; step++) {
		traces[step].end = phases->process->steps[step].tick;
		traces[step].begin = traces[step].end - phases_step_ticks(phases, step);
	}
	for (size_t i = 0; i < phases->nr_segments; i++) {
		const struct phase_segment *segment = &phases->segments[i];

		if (phases_is_whole(phases, segment->step)) {
			take(&traces[segment->step], segment);
		}
	}
	return traces;
}
