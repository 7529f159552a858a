/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how long at least one event of a kind ran within the steps that count. Overview fills it
 * in both of its passes, hence three ways to add: forwards by begins, with a queue (busy.c);
 * backwards, with mirrored times (UINT64_MAX - t), so that the same code sees rising begins; and by
 * falling ends, where the union needs no memory at all, since its front only moves down.
 */
#include "report/ops/step_time.h"

#include "report/util/buf.h"
#include "report/util/sort.h"

/* So many intervals may wait before the first merge. */
#define FIRST_MERGE 65536u

/* ---- the steps ---- */

static uint64_t time_of(struct process *process, uint64_t tick, bool is_ns)
{
	return is_ns ? clock_map_time(&process->host_clock, tick) : tick;
}

/*
 * The first step is shorter than its row says where the loop begins later, so its begin is computed
 * back from its end.
 */
void step_span_init(struct step_span *span, struct process *process,
	const struct counted_steps *counted, bool is_ns)
{
	struct phases phases;

	*span = (struct step_span){0};
	phases_init(&phases, process);
	if (!phases_has_steps(&phases)) {
		intervals_add(&span->whole, 0, UINT64_MAX);
	}
	for (uint32_t step = 1; step + 1 < phases.nr_steps; step++) {
		uint64_t end = process->steps[step].tick;

		if (counted->counts[step]) {
			intervals_add(&span->whole,
				time_of(process, end - phases_step_ticks(&phases, step), is_ns),
				time_of(process, end, is_ns));
		}
	}
	intervals_merge(&span->whole);
	phases_fini(&phases);
}

void step_span_init_all(struct step_span *span)
{
	*span = (struct step_span){0};
	intervals_add(&span->whole, 0, UINT64_MAX);
}

void step_span_fini(struct step_span *span)
{
	intervals_fini(&span->whole);
}

/* ---- contents of steps ---- */

void step_time_fini(struct step_time *time)
{
	busy_fini(&time->busy);
	intervals_fini(&time->backward);
	*time = (struct step_time){0};
}

static size_t search_whole(const struct step_span *span, uint64_t begin)
{
	size_t at;

	BISECT(at, 0, span->whole.nr, span->whole.items[at].end <= begin);
	return at;
}

/* The first interval of steps that ends after `begin`: mostly that of the event before. */
static inline size_t find_whole(
	struct step_time *time, const struct step_span *span, uint64_t begin)
{
	const struct interval *whole = span->whole.items;
	size_t last = time->last_whole;

	if (last >= span->whole.nr || whole[last].end <= begin ||
		(last && whole[last - 1].end > begin)) {
		time->last_whole = search_whole(span, begin);
	}
	return time->last_whole;
}

/*
 * Calls `keep` with the parts that lie in whole steps. An event counts in the step in which it
 * begins; its time counts wherever it lies in whole steps.
 */
static inline void add(struct step_time *time, const struct step_span *span, uint64_t begin,
	uint64_t end, void (*keep)(struct step_time *time, uint64_t begin, uint64_t end))
{
	size_t i = find_whole(time, span, begin);

	time->nr += i < span->whole.nr && span->whole.items[i].begin <= begin;
	for (; i < span->whole.nr && span->whole.items[i].begin < end; i++) {
		const struct interval *whole = &span->whole.items[i];
		uint64_t from = begin > whole->begin ? begin : whole->begin;
		uint64_t to = end < whole->end ? end : whole->end;

		if (from < to) {
			keep(time, from, to);
		}
	}
}

static void keep_forward(struct step_time *time, uint64_t begin, uint64_t end)
{
	busy_add(&time->busy, begin, end);
}

void step_time_add(
	struct step_time *time, const struct step_span *span, uint64_t begin, uint64_t end)
{
	add(time, span, begin, end, keep_forward);
}

/* Merging at twice the size that the last merge left keeps the cost of sorting in proportion. */
static void keep_backward(struct step_time *time, uint64_t begin, uint64_t end)
{
	intervals_add(&time->backward, UINT64_MAX - end, UINT64_MAX - begin);
	if (time->backward.nr > FIRST_MERGE && time->backward.nr >= time->next_merge) {
		intervals_merge(&time->backward);
		time->next_merge = 2 * time->backward.nr;
	}
}

void step_time_add_backward(
	struct step_time *time, const struct step_span *span, uint64_t begin, uint64_t end)
{
	add(time, span, begin, end, keep_backward);
}

/* Times are mirrored, so that the union grows forwards. */
static void count_by_end(struct busy_sum *sum, uint64_t begin, uint64_t end)
{
	uint64_t from = UINT64_MAX - end, to = UINT64_MAX - begin;

	from = from > sum->until ? from : sum->until;
	if (to > from) {
		sum->busy_ns += to - from;
		sum->until = to;
	}
}

/* The parts are counted from the last one down, as ends must fall. */
void step_time_add_by_end(
	struct step_time *time, const struct step_span *span, uint64_t begin, uint64_t end)
{
	size_t first = find_whole(time, span, begin), last = first;

	time->nr += first < span->whole.nr && span->whole.items[first].begin <= begin;
	while (last < span->whole.nr && span->whole.items[last].begin < end) {
		last++;
	}
	while (last-- > first) {
		const struct interval *whole = &span->whole.items[last];

		count_by_end(&time->busy.sum, begin > whole->begin ? begin : whole->begin,
			end < whole->end ? end : whole->end);
	}
}

void step_time_advance(struct step_time *time, uint64_t until)
{
	busy_advance(&time->busy, until);
}

void step_time_finish(struct step_time *time)
{
	busy_finish(&time->busy);
	intervals_merge(&time->backward);
	time->time = time->busy.sum.busy_ns + intervals_length(&time->backward);
}

static uint64_t clip(uint64_t tick, const struct step_trace *trace)
{
	tick = tick > trace->begin ? tick : trace->begin;
	return tick < trace->end ? tick : trace->end;
}

static void add_segment(struct step_trace *trace, const struct phase_segment *segment)
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

/*
 * Segments are in order of time, but phases of autograd's threads may reach over a step's edge:
 * they are clipped to the step in which they began.
 */
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
			add_segment(&traces[segment->step], segment);
		}
	}
	return traces;
}
