/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the long calls of a process, and which of them are start-up; see long_calls.h. Few blocks
 * are decoded: the directory of a block bounds its durations.
 */
#include "report/budget/long_calls.h"

#include <stdlib.h>

#include "report/budget/call_state.h"
#include "report/util/buf.h"
#include "report/util/idset.h"
#include "report/util/sort.h"

/* Calls of the same kind take at least one in so many of each other's time. */
#define SAME_KIND 4u

/* A call that loads code may do so in so many steps without being a part of each step. */
#define MAX_LOADING_STEPS 2u

/* ---- the long ones ---- */

#define CALL_MASK COLS(api, begin, dur, call)

static bool may_be_long(const struct process *process, uint64_t ticks)
{
	/* Clocks of a block may run a little faster than their mean. */
	return clock_map_duration(&process->host_clock, ticks) >= LONG_CALLS_NS / 2;
}

/* A copy waits, or is as long as what it copies. */
static bool may_have(struct process *process, size_t block)
{
	unsigned int table = stream_block_table(process->stream, block);

	if (table < GPROF_TABLE_api || table > GPROF_TABLE_api_sync ||
		table == GPROF_TABLE_api_copy) {
		return false;
	}
	return may_be_long(process, stream_most(process->stream, block, COL_api_dur));
}

/* Is any call of the block long? The directory bounds only all of them together. */
static bool has_any(struct process *process, size_t block)
{
	struct batch batch;

	if (stream_load(process->stream, block, COLS(api, dur), 0, &batch)) {
		return false;
	}
	for (uint32_t i = 0; i < batch.nr_rows; i++) {
		if (may_be_long(process, batch.col[COL_api_dur][i])) {
			return true;
		}
	}
	return false;
}

static void add(struct long_calls *calls, const struct long_call *call)
{
	calls->items = array_grow(calls->items, calls->nr, &calls->capacity, sizeof(*calls->items));
	calls->items[calls->nr++] = *call;
}

static void add_batch(struct long_calls *calls, struct process *process, const uint32_t *step_of,
	const struct batch *batch)
{
	struct clock_map *clock = &process->host_clock;

	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint64_t begin = batch->col[COL_api_begin][i];
		uint64_t end = begin + batch->col[COL_api_dur][i];
		struct long_call call = {.begin = begin, .step = 1};
		enum call_kind kind;
		uint8_t api;

		if (!may_be_long(process, batch->col[COL_api_dur][i])) {
			continue;
		}
		call.ns = clock_map_time(clock, end) - clock_map_time(clock, begin);
		if (end < begin || call.ns < LONG_CALLS_NS) {
			continue;
		}
		call.name = process_call_name(process, (uint32_t)batch->col[COL_api_call][i], &api);
		kind = call_kind_of(call.name);
		if (kind == CALL_WAIT || api == GPROF_API_THREAD) {
			continue;
		}
		call.loads_code = kind == CALL_LOAD || batch->table == GPROF_TABLE_api_launch;
		if (step_of) {
			call.step = step_of[process_steps_begun(process, begin)];
		}
		add(calls, &call);
	}
}

/* ---- which are start-up ---- */

/* The calls of a kind that were looked at. */
struct kind {
	uint64_t begin;	      /* of the first, also before the first step */
	uint32_t first, last; /* steps; 0: in none */
	uint32_t nr;	      /* of steps */
	struct idset *steps;
};

static void add_to_kind(struct kind *kind, const struct long_call *call)
{
	kind->begin = call->begin < kind->begin ? call->begin : kind->begin;
	if (!call->step || idset_has(kind->steps, call->step)) {
		return;
	}
	idset_add(kind->steps, call->step);
	kind->nr++;
	kind->first = !kind->first || call->step < kind->first ? call->step : kind->first;
	kind->last = call->step > kind->last ? call->step : kind->last;
}

static bool is_startup(const struct kind *kind, const struct long_call *call, uint32_t nr_steps)
{
	if (nr_steps <= 1) {
		return call->loads_code || call->begin == kind->begin;
	}
	return kind->nr <= 1 || (call->loads_code && kind->nr <= MAX_LOADING_STEPS) ||
	       nr_steps - kind->last >= kind->last - kind->first + 1;
}

/* All have one name, the longest first: shorter and shorter ones join the kind. */
static void find_startup(struct long_call *calls, size_t nr, uint32_t nr_steps)
{
	struct kind kind = {.begin = UINT64_MAX, .steps = idset_create()};
	size_t nr_in = 0;

	for (size_t i = 0; i < nr; i++) {
		while (nr_in < nr && SAME_KIND * calls[nr_in].ns >= calls[i].ns) {
			add_to_kind(&kind, &calls[nr_in++]);
		}
		calls[i].is_startup = is_startup(&kind, &calls[i], nr_steps);
	}
	idset_destroy(kind.steps);
}

static int by_name(const void *a, const void *b)
{
	const struct long_call *x = a, *y = b;

	return ORDER(COMPARE(x->name, y->name), COMPARE(y->ns, x->ns));
}

static int by_begin(const void *a, const void *b)
{
	const struct long_call *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

void long_calls_find(struct long_calls *calls, struct process *process, const uint32_t *step_of,
	uint32_t nr_steps)
{
	size_t from = 0;

	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		struct batch batch;

		if (may_have(process, i) && has_any(process, i) &&
			!stream_load(process->stream, i, CALL_MASK, 0, &batch)) {
			add_batch(calls, process, step_of, &batch);
		}
	}
	if (!calls->nr) {
		return;
	}
	qsort(calls->items, calls->nr, sizeof(*calls->items), by_name);
	for (size_t i = 1; i <= calls->nr; i++) {
		if (i == calls->nr || calls->items[i].name != calls->items[from].name) {
			find_startup(calls->items + from, i - from, nr_steps);
			from = i;
		}
	}
	qsort(calls->items, calls->nr, sizeof(*calls->items), by_begin);
}

void long_calls_fini(struct long_calls *calls)
{
	free(calls->items);
	*calls = (struct long_calls){0};
}

bool long_calls_has_startup(const struct long_calls *calls, uint64_t begin, uint32_t name)
{
	size_t at;

	BISECT(at, 0, calls->nr, calls->items[at].begin < begin);
	for (; at < calls->nr && calls->items[at].begin == begin; at++) {
		if (calls->items[at].name == name) {
			return calls->items[at].is_startup;
		}
	}
	return false;
}
