/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread has a stack of open operators and ranges, of which a call notes the innermost of both
 * kinds. An activity then extends the span of the range that its call noted, of all ranges around
 * that, and of the step.
 */
#include "report/timeline/chrome_launches.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/sort.h"

/* An operator or range of a thread. */
struct open {
	uint64_t begin_ns, end_ns;
	uint32_t number; /* of an operator; 0: a range */
	uint32_t name;	 /* of a range */
	uint32_t range;	 /* its index + 1; 0: it has launched nothing yet */
};

/* Those that the last slice lies in, the innermost last; below it some may be over. */
struct open_thread {
	struct open *open;
	size_t nr, capacity;
};

void chrome_launches_init(struct chrome_launches *launches, const struct idset *launched)
{
	*launches = (struct chrome_launches){.launched = launched};
	idmap_init(&launches->threads, sizeof(struct open_thread));
	idmap_init(&launches->calls, sizeof(struct chrome_launch));
}

void chrome_launches_fini(struct chrome_launches *launches)
{
	for (size_t i = 0; i < launches->threads.nr; i++) {
		free(((struct open_thread *)idmap_at(&launches->threads, i))->open);
	}
	idmap_fini(&launches->threads);
	idmap_fini(&launches->calls);
	free(launches->ranges);
	free(launches->steps);
	free(launches->spans);
}

/* ---- the host ---- */

static struct open_thread *thread_at(
	struct chrome_launches *launches, uint32_t tid, uint64_t begin_ns)
{
	struct open_thread *thread = idmap_put(&launches->threads, tid);

	while (thread->nr && thread->open[thread->nr - 1].end_ns <= begin_ns) {
		thread->nr--;
	}
	return thread;
}

static void add_open(struct chrome_launches *launches, uint32_t tid, const struct open *open)
{
	struct open_thread *thread = thread_at(launches, tid, open->begin_ns);

	thread->open =
		array_grow(thread->open, thread->nr, &thread->capacity, sizeof(*thread->open));
	thread->open[thread->nr++] = *open;
}

void chrome_launches_add_op(struct chrome_launches *launches, uint32_t tid, uint32_t number,
	uint64_t begin_ns, uint64_t end_ns)
{
	add_open(launches, tid,
		&(struct open){.begin_ns = begin_ns, .end_ns = end_ns, .number = number});
}

void chrome_launches_add_range(struct chrome_launches *launches, uint32_t tid, uint32_t name,
	uint64_t begin_ns, uint64_t end_ns)
{
	add_open(launches, tid,
		&(struct open){.begin_ns = begin_ns, .end_ns = end_ns, .name = name});
}

static uint32_t add_range(struct chrome_launches *launches, uint32_t name, uint64_t begin_ns,
	uint64_t end_ns, uint32_t outer)
{
	launches->ranges = array_grow(launches->ranges, launches->nr_ranges,
		&launches->range_capacity, sizeof(*launches->ranges));
	launches->ranges[launches->nr_ranges] = (struct chrome_range){
		.begin_ns = begin_ns, .end_ns = end_ns, .name = name, .outer = outer};
	return (uint32_t)launches->nr_ranges++;
}

void chrome_launches_add_step(
	struct chrome_launches *launches, uint32_t name, uint64_t begin_ns, uint64_t end_ns)
{
	launches->steps = array_grow(launches->steps, launches->nr_steps, &launches->step_capacity,
		sizeof(*launches->steps));
	launches->steps[launches->nr_steps++] = add_range(launches, name, begin_ns, end_ns, 0);
}

/*
 * Returns the innermost range. Ranges of several domains need not nest, so outer ones may be over.
 */
static uint32_t innermost_range(
	struct chrome_launches *launches, struct open_thread *thread, uint64_t ns)
{
	uint32_t range = 0;

	for (size_t i = 0; i < thread->nr; i++) {
		struct open *open = &thread->open[i];

		if (open->number || open->end_ns <= ns) {
			continue;
		}
		if (!open->range) {
			open->range = 1 + add_range(launches, open->name, open->begin_ns,
						  open->end_ns, range);
		}
		range = open->range;
	}
	return range;
}

static uint32_t innermost_op(const struct open_thread *thread, uint64_t ns)
{
	for (size_t i = thread->nr; i-- > 0;) {
		if (thread->open[i].number && thread->open[i].end_ns > ns) {
			return thread->open[i].number;
		}
	}
	return 0;
}

void chrome_launches_add_call(
	struct chrome_launches *launches, uint32_t tid, uint64_t correlation, uint64_t begin_ns)
{
	struct open_thread *thread = thread_at(launches, tid, begin_ns);
	struct chrome_launch *call;

	if (idmap_find(&launches->calls, correlation) >= 0) {
		return; /* a call of the runtime may contain the driver's */
	}
	call = idmap_put(&launches->calls, correlation);
	call->begin_ns = begin_ns;
	call->op = innermost_op(thread, begin_ns);
	call->range = idset_has(launches->launched, correlation)
			      ? innermost_range(launches, thread, begin_ns)
			      : 0;
}

const struct chrome_launch *chrome_launches_find(
	const struct chrome_launches *launches, uint64_t correlation)
{
	return correlation ? idmap_get(&launches->calls, correlation) : NULL;
}

/* ---- activities ---- */

static struct chrome_span *span_of(
	struct chrome_launches *launches, uint32_t range, const struct model_place *place)
{
	struct chrome_span *span;

	for (uint32_t next = launches->ranges[range].spans; next; next = span->next) {
		span = &launches->spans[next - 1];
		if (span->device == place->device && span->stream == place->stream) {
			return span;
		}
	}
	launches->spans = array_grow(launches->spans, launches->nr_spans, &launches->span_capacity,
		sizeof(*launches->spans));
	span = &launches->spans[launches->nr_spans++];
	*span = (struct chrome_span){.device = place->device,
		.stream = place->stream,
		.range = range,
		.next = launches->ranges[range].spans,
		.begin_ns = UINT64_MAX};
	launches->ranges[range].spans = (uint32_t)launches->nr_spans;
	return span;
}

static void extend(struct chrome_launches *launches, uint32_t range,
	const struct model_place *place, uint64_t begin_ns, uint64_t end_ns)
{
	struct chrome_span *span = span_of(launches, range, place);

	span->begin_ns = begin_ns < span->begin_ns ? begin_ns : span->begin_ns;
	span->end_ns = end_ns > span->end_ns ? end_ns : span->end_ns;
}

/* Returns the last step that begins until then, or the first one. */
static size_t step_at(const struct chrome_launches *launches, uint64_t ns)
{
	size_t at;

	BISECT(at, 1, launches->nr_steps, launches->ranges[launches->steps[at]].begin_ns <= ns);
	return at - 1;
}

static bool is_in(const struct chrome_range *range, uint64_t ns)
{
	return range->begin_ns <= ns && ns < range->end_ns;
}

void chrome_launches_extend(struct chrome_launches *launches, const struct chrome_launch *launch,
	const struct model_place *place, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ns = launch->begin_ns;

	for (uint32_t next = launch->range; next; next = launches->ranges[next - 1].outer) {
		if (is_in(&launches->ranges[next - 1], ns)) {
			extend(launches, next - 1, place, begin_ns, end_ns);
		}
	}
	if (launches->nr_steps) {
		uint32_t step = launches->steps[step_at(launches, ns)];

		if (is_in(&launches->ranges[step], ns)) {
			extend(launches, step, place, begin_ns, end_ns);
		}
	}
}

static int by_stream(const void *a, const void *b)
{
	const struct chrome_span *x = a, *y = b;

	return ORDER(COMPARE(x->device, y->device), COMPARE(x->stream, y->stream),
		COMPARE(x->begin_ns, y->begin_ns), COMPARE(y->end_ns, x->end_ns),
		COMPARE(x->range, y->range));
}

void chrome_launches_sort(struct chrome_launches *launches)
{
	if (launches->nr_spans) {
		qsort(launches->spans, launches->nr_spans, sizeof(*launches->spans), by_stream);
	}
}
