/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/dependencies.h"

#include <stdlib.h>
#include <string.h>

#include "report/ops/queue_depth.h"
#include "report/util/buf.h"
#include "report/util/natural_sort.h"

/* An event that was recorded before so many others is not looked for. */
#define EVENTS_BACK 4096u

/* ---- threads as a row of stretches ---- */

/* Items that are open, the outermost first. */
struct open {
	struct open_item {
		const struct step_item *item;
		uint64_t end; /* not behind that of what it lies in */
	} * items;
	size_t nr, capacity;
	uint64_t now; /* stretches are made up to here */
};

/* By thread and begin; what encloses before what lies in it. */
static int host_order(const void *a, const void *b)
{
	const struct step_item *x = a, *y = b;

	if (x->thread != y->thread) {
		return x->thread < y->thread ? -1 : 1;
	}
	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	if (x->end != y->end) {
		return x->end > y->end ? -1 : 1;
	}
	return (int)x->is_call - (int)y->is_call;
}

/* What is open goes on until `time`. */
static void go_on(struct host_timeline *host, struct open *open, uint64_t time)
{
	if (open->nr && time > open->now) {
		host->stretches = array_grow(host->stretches, host->nr_stretches, &host->capacity,
			sizeof(*host->stretches));
		host->stretches[host->nr_stretches++] =
			(struct host_stretch){open->now, time, open->items[open->nr - 1].item};
	}
	open->now = time > open->now ? time : open->now;
}

static void close_until(struct host_timeline *host, struct open *open, uint64_t time)
{
	while (open->nr && open->items[open->nr - 1].end <= time) {
		go_on(host, open, open->items[open->nr - 1].end);
		open->nr--;
	}
	go_on(host, open, time);
}

static void make_thread(struct host_timeline *host, struct open *open,
	const struct step_item *items, size_t nr_items, uint64_t from, bool is_range)
{
	size_t first = host->nr_stretches;

	open->now = 0;
	for (size_t i = 0; i < nr_items; i++) {
		uint64_t end = items[i].end;

		if (items[i].begin >= end || items[i].is_range != is_range) {
			continue;
		}
		close_until(host, open, items[i].begin);
		if (!open->nr && end <= from) {
			continue;
		}
		if (open->nr && open->items[open->nr - 1].end < end) {
			end = open->items[open->nr - 1].end;
		}
		open->items =
			array_grow(open->items, open->nr, &open->capacity, sizeof(*open->items));
		open->items[open->nr++] = (struct open_item){&items[i], end};
	}
	close_until(host, open, UINT64_MAX);
	host->threads = array_grow(
		host->threads, host->nr_threads, &host->thread_capacity, sizeof(*host->threads));
	host->threads[host->nr_threads++] = (struct host_thread){
		nr_items ? items[0].thread : 0, first, host->nr_stretches, first};
}

/*
 * Of the users' ranges alone, or of all else, but for what ends by `from`. Items are in the order
 * above and must stay.
 */
static void host_timeline_make(
	struct host_timeline *host, const struct step_events *step, uint64_t from, bool is_range)
{
	const struct step_item *items = step->items;
	size_t nr_items = step->nr_items;
	struct open open = {0};

	for (size_t i = 0, end; i < nr_items; i = end) {
		for (end = i; end < nr_items && items[end].thread == items[i].thread; end++) {
		}
		make_thread(host, &open, items + i, end - i, from, is_range);
	}
	free(open.items);
}

static void host_timeline_fini(struct host_timeline *host)
{
	free(host->stretches);
	free(host->threads);
	*host = (struct host_timeline){0};
}

/* The last stretch of threads[i] that begins before `time`, NULL if there is none. */
const struct host_stretch *host_timeline_find_at(
	const struct host_timeline *host, size_t i, uint64_t time)
{
	struct host_thread *thread = &host->threads[i];
	size_t low = thread->first, high = thread->end;

	if (thread->found < high && host->stretches[thread->found].begin >= time) {
		high = thread->found;
	}
	for (size_t step = 1; thread->found > low + step; step *= 2) {
		if (host->stretches[thread->found - step].begin < time) {
			low = thread->found - step + 1;
			break;
		}
		high = thread->found - step;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (host->stretches[middle].begin < time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	thread->found = low;
	return low > thread->first ? &host->stretches[low - 1] : NULL;
}

/* The same of a thread by its number. */
const struct host_stretch *host_timeline_find(
	struct host_timeline *host, uint32_t thread, uint64_t time)
{
	size_t low = 0, high = host->nr_threads;

	if (host->found < high && host->threads[host->found].thread == thread) {
		return host_timeline_find_at(host, host->found, time);
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (host->threads[middle].thread < thread) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low == host->nr_threads || host->threads[low].thread != thread) {
		return NULL;
	}
	host->found = low;
	return host_timeline_find_at(host, low, time);
}

/* ---- what was launched before what ---- */

/* By stream, in the order of launches; graphs' nodes as they began. A total order. */
static int by_launch(const void *a, const void *b)
{
	const struct step_activity *x = a, *y = b;
	const uint64_t keys[][2] = {{x->correlation, y->correlation}, {x->begin, y->begin},
		{x->end, y->end}, {x->name, y->name}};

	if (x->stream != y->stream) {
		return x->stream < y->stream ? -1 : 1;
	}
	if (x->call_begin != y->call_begin) {
		return x->call_begin < y->call_begin ? -1 : 1;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i][0] != keys[i][1]) {
			return keys[i][0] < keys[i][1] ? -1 : 1;
		}
	}
	return 0;
}

/* The first record of a stream that was launched at `time` or later, or of a later stream. */
static size_t first_from(const struct step_events *step, uint64_t stream, uint64_t time)
{
	size_t low = 0, high = step->nr_records;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct step_activity *record = &step->records[middle];

		if (record->stream < stream ||
			(record->stream == stream && record->call_begin < time)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* The last one that was launched on a stream before `time`, NULL if there is none. */
static const struct step_activity *last_before(
	const struct step_events *step, uint64_t stream, uint64_t time)
{
	size_t i = first_from(step, stream, time);

	return i > 0 && step->records[i - 1].stream == stream ? &step->records[i - 1] : NULL;
}

/* The last one of a stream with a lower correlation id, NULL if there is none. */
static const struct step_activity *last_with_lower_id(
	const struct step_events *step, uint64_t stream, uint32_t correlation)
{
	size_t first = first_from(step, stream, 0), low = first;
	size_t high = stream < UINT64_MAX ? first_from(step, stream + 1, 0) : step->nr_records;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (step->records[middle].correlation < correlation) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low > first ? &step->records[low - 1] : NULL;
}

/* How many events of the process have a lower correlation id. */
static size_t events_before(const struct step_events *step, uint32_t correlation)
{
	size_t low = 0, high = step->nr_events;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (step->events[middle].correlation < correlation) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* What an event stands for in a call: it was recorded last after that activity. */
static const struct step_activity *behind_event(
	const struct step_events *step, uint32_t event, uint32_t correlation)
{
	size_t nr = events_before(step, correlation);

	for (size_t i = nr; i > 0 && nr - i < EVENTS_BACK; i--) {
		const struct step_event *found = &step->events[i - 1];

		if (!found->is_wait && found->event == event) {
			return last_with_lower_id(step, found->stream, found->correlation);
		}
	}
	return NULL;
}

/* ---- what a call waited for ---- */

static bool ended_in(const struct step_activity *record, const struct step_item *call)
{
	return record && record->end > call->begin && record->end <= call->end;
}

/* Of several streams, what ended last in the call. */
static const struct step_activity *last_of_streams(
	const struct dependencies *dependencies, const struct step_item *call)
{
	const struct step_events *step = dependencies->step;
	const struct step_activity *last = NULL;

	for (size_t i = 0; i < step->nr_records;) {
		uint64_t stream = step->records[i].stream;
		const struct step_activity *record = last_before(step, stream, call->begin);

		if ((call->role == CALL_WAITS_ALL || stream >> 32 == call->stream >> 32) &&
			ended_in(record, call) && (!last || record->end > last->end)) {
			last = record;
		}
		if (stream == UINT64_MAX) {
			break;
		}
		i = first_from(step, stream + 1, 0);
	}
	return last;
}

/* Its own copy is of the same correlation id. */
static const struct step_activity *own_of(
	const struct step_events *step, const struct step_item *call)
{
	for (size_t i = first_from(step, call->stream, call->begin); i < step->nr_records; i++) {
		const struct step_activity *record = &step->records[i];

		if (record->stream != call->stream || record->call_begin > call->begin) {
			break;
		}
		if (record->correlation == call->correlation) {
			return record;
		}
	}
	return NULL;
}

/* Room in the queue: what began last in the call, of what the queue held. */
static struct awaited room_for(const struct step_events *step, const struct step_item *call)
{
	size_t i = first_from(step, call->stream, call->begin);
	const struct step_activity *full =
		i >= QUEUE_DEPTH_FULL ? &step->records[i - QUEUE_DEPTH_FULL] : NULL;

	if (!full || full->stream != call->stream || full->begin <= call->begin) {
		return (struct awaited){0};
	}
	for (size_t k = 0; k < 2 * QUEUE_DEPTH_FULL && i-- > 0; k++) {
		const struct step_activity *record = &step->records[i];

		if (record->stream != call->stream || record->begin <= call->begin) {
			break;
		}
		if (record->begin <= call->end) {
			return (struct awaited){record, record->begin};
		}
	}
	return (struct awaited){0};
}

struct awaited dependencies_awaited(
	const struct dependencies *dependencies, const struct step_item *call)
{
	const struct step_activity *record = NULL;

	switch (call->role) {
	case CALL_WAITS_ALL:
	case CALL_WAITS_CONTEXT:
		record = last_of_streams(dependencies, call);
		break;
	case CALL_WAITS_STREAM:
		record = last_before(dependencies->step, call->stream, call->begin);
		break;
	case CALL_WAITS_EVENT:
		record = behind_event(dependencies->step, call->event, call->correlation);
		break;
	case CALL_WAITS_OWN:
		record = own_of(dependencies->step, call);
		break;
	default:
		break;
	}
	if (ended_in(record, call)) {
		return (struct awaited){record, record->end};
	}
	if (call->role == CALL_WAITS_OWN || call->role == CALL_LAUNCHES) {
		return room_for(dependencies->step, call);
	}
	return (struct awaited){0};
}

/* ---- what a record waited for ---- */

static void add_cause(struct dependencies *dependencies, const struct step_activity *record)
{
	if (record) {
		dependencies->causes = array_grow(dependencies->causes, dependencies->nr_causes,
			&dependencies->cause_capacity, sizeof(const struct step_activity *));
		dependencies->causes[dependencies->nr_causes++] = record;
	}
}

void dependencies_find_causes(struct dependencies *dependencies, const struct step_activity *record)
{
	const struct step_events *step = dependencies->step;
	const struct step_activity *previous = NULL;
	size_t nr;

	dependencies->nr_causes = 0;
	if (record > step->records && record[-1].stream == record->stream) {
		previous = &record[-1];
	}
	add_cause(dependencies, previous);
	nr = events_before(step, record->correlation);
	for (size_t i = nr; i > 0 && nr - i < EVENTS_BACK; i--) {
		const struct step_event *event = &step->events[i - 1];

		if (previous && event->correlation < previous->correlation) {
			break;
		}
		if (event->is_wait && event->stream == record->stream) {
			add_cause(
				dependencies, behind_event(step, event->event, event->correlation));
		}
	}
}

/* ---- items in order ---- */

struct thread_items {
	uint64_t begin; /* of the first that goes on behind a time */
	uint32_t thread;
	size_t nr, place; /* so many, and where the next one goes */
};

struct all_threads {
	struct thread_items *threads;
	size_t nr, capacity, last;
	uint64_t begin; /* the least of theirs */
};

static struct thread_items *thread_of(struct all_threads *all, const struct step_item *item)
{
	if (all->nr && all->threads[all->last].thread == item->thread) {
		return &all->threads[all->last];
	}
	for (all->last = 0; all->last < all->nr; all->last++) {
		if (all->threads[all->last].thread == item->thread) {
			return &all->threads[all->last];
		}
	}
	all->threads = array_grow(all->threads, all->nr, &all->capacity, sizeof(*all->threads));
	all->threads[all->nr] = (struct thread_items){.begin = UINT64_MAX, .thread = item->thread};
	return &all->threads[all->nr++];
}

static void find_threads(struct all_threads *all, const struct step_events *step, uint64_t from)
{
	*all = (struct all_threads){.begin = UINT64_MAX};
	for (size_t i = 0; i < step->nr_items; i++) {
		const struct step_item *item = &step->items[i];

		if (item->end > from) {
			struct thread_items *of = thread_of(all, item);

			of->begin = item->begin < of->begin ? item->begin : of->begin;
			all->begin = of->begin < all->begin ? of->begin : all->begin;
		}
	}
}

/* Would make_thread make nothing of it? It ends by `from`, and so does all that it lies in. */
static bool is_left_out(struct all_threads *all, const struct step_item *item, uint64_t from)
{
	return item->end <= from &&
	       (item->begin < all->begin || item->begin < thread_of(all, item)->begin);
}

static int by_thread(const void *a, const void *b)
{
	const struct thread_items *x = a, *y = b;

	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Places the items of each thread behind each other, and then what is left out. */
static void spread_items(struct all_threads *all, struct step_item *items, size_t nr, uint64_t from)
{
	struct step_item *spread = mem_resize(NULL, nr + 1, sizeof(*spread));
	size_t place = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!is_left_out(all, &items[i], from)) {
			thread_of(all, &items[i])->nr++;
		}
	}
	qsort(all->threads, all->nr, sizeof(*all->threads), by_thread);
	for (size_t i = 0; i < all->nr; i++) {
		all->threads[i].place = place;
		place += all->threads[i].nr;
	}
	for (size_t i = 0; i < nr; i++) {
		const struct step_item *item = &items[i];

		spread[is_left_out(all, item, from) ? place++ : thread_of(all, item)->place++] =
			*item;
	}
	memcpy(items, spread, nr * sizeof(*items));
	free(spread);
}

/*
 * Sorts the items, and leaves out what make_thread makes nothing of. A thread's items come from
 * the last begin to the first, as one run for natural_sort.
 */
static void sort_items(struct step_events *step, uint64_t from)
{
	size_t end = step->nr_items, first = 0;
	struct all_threads all;

	find_threads(&all, step, from);
	while (end && is_left_out(&all, &step->items[end - 1], from)) {
		end--;
	}
	if (all.nr) {
		spread_items(&all, step->items, end, from);
	}
	for (size_t i = 0; i < all.nr; i++) {
		natural_sort(
			step->items + first, all.threads[i].nr, sizeof(*step->items), host_order);
		first += all.threads[i].nr;
	}
	step->nr_items = first;
	free(all.threads);
}

/* ---- all ---- */

void dependencies_init(struct dependencies *dependencies, struct step_events *step, uint64_t from)
{
	*dependencies = (struct dependencies){.step = step};
	sort_items(step, from);
	natural_sort(step->records, step->nr_records, sizeof(*step->records), by_launch);
	host_timeline_make(&dependencies->host, step, from, false);
	host_timeline_make(&dependencies->ranges, step, from, true);
}

void dependencies_fini(struct dependencies *dependencies)
{
	host_timeline_fini(&dependencies->host);
	host_timeline_fini(&dependencies->ranges);
	free(dependencies->causes);
}
