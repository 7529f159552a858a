/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the operators, calls and activities of some steps in order, and answers what waited for
 * what. critical.c and replay_build.c make one for each step (or several steps together) that
 * step_events.c hands out, ask, and free it. There are two orders: items become stretches, so that
 * a thread is in exactly one of them at a time; records are sorted by stream and launch.
 *
 *   items       |------- op A -------|            nested, as recorded
 *                  |-call-|   |-B-|
 *   stretches   |A |call  |A  |B  |A |            the innermost at each time
 *
 * Questions go back in time, so each search starts where the last one ended and doubles its steps.
 */
#include "report/replay/dependencies.h"

#include <stdlib.h>
#include <string.h>

#include "report/ops/queue_depth.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

/* The search for an event gives up after so many others that were recorded later. */
#define EVENTS_BACK 4096u

/* ---- items and records in order ---- */

/* By thread and begin; what encloses before what lies in it. */
static inline int compare_items(const void *a, const void *b)
{
	const struct step_item *x = a, *y = b;

	return ORDER(COMPARE(x->thread, y->thread), COMPARE(x->begin, y->begin),
		COMPARE(y->end, x->end), (int)x->is_call - (int)y->is_call);
}

static int by_item(const void *a, const void *b)
{
	const struct step_item *const *x = a, *const *y = b;

	return compare_items(*x, *y);
}

/* By stream, in the order of launches; graphs' nodes as they began. A total order. */
static inline int compare_records(const void *a, const void *b)
{
	const struct step_activity *x = a, *y = b;

	return ORDER(COMPARE(x->stream, y->stream), COMPARE(x->call_begin, y->call_begin),
		COMPARE(x->correlation, y->correlation), COMPARE(x->begin, y->begin),
		COMPARE(x->end, y->end), COMPARE(x->name, y->name));
}

/*
 * Items and records come with those of each thread and of each stream from the last to the first,
 * which takes one pass; any other order is sorted. With more threads or streams, sorting takes less
 * than looking for each one's chain.
 */
#define MAX_CHAINS 64u

/* The items of one thread, or the records of one stream. */
struct chain {
	uint64_t key;
	uint32_t last; /* 1 + its index */
};

struct chains {
	struct chain chains[MAX_CHAINS];
	size_t nr, found;
	uint32_t *before; /* by index: 1 + that of the one before it in its chain, 0 none */
};

/* A new one has no last; NULL if there are too many. */
static struct chain *find_chain(struct chains *all, uint64_t key)
{
	for (size_t i = 0; i < all->nr; i++) {
		if (all->chains[i].key == key) {
			all->found = i;
			return &all->chains[i];
		}
	}
	if (all->nr == MAX_CHAINS) {
		return NULL;
	}
	all->found = all->nr++;
	all->chains[all->found] = (struct chain){.key = key};
	return &all->chains[all->found];
}

static inline struct chain *chain_of(struct chains *all, uint64_t key)
{
	struct chain *chain = &all->chains[all->found];

	return all->nr && chain->key == key ? chain : find_chain(all, key);
}

static int by_key(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;

	return COMPARE(x->key, y->key);
}

/* An array that becomes chains. */
struct chained {
	const void *all;
	size_t nr, size;
	uint64_t (*key_of)(const void *one);
	int (*compare)(const void *a, const void *b);
};

static inline uint64_t thread_of(const void *item)
{
	return ((const struct step_item *)item)->thread;
}

static inline uint64_t stream_of(const void *record)
{
	return ((const struct step_activity *)record)->stream;
}

/*
 * False if there are too many chains, or those of one come in any other order. Inlined for both
 * arrays, and with it what it calls.
 */
static inline __attribute__((always_inline)) bool make_chains(
	struct chains *chains, const struct chained *of)
{
	const char *all = of->all, *at = all;

	for (size_t i = 0; i < of->nr; i++, at += of->size) {
		struct chain *chain = chain_of(chains, of->key_of(at));

		if (!chain ||
			(chain->last && of->compare(all + (chain->last - 1) * of->size, at) <= 0)) {
			return false;
		}
		chains->before[i] = chain->last;
		chain->last = (uint32_t)i + 1;
	}
	qsort(chains->chains, chains->nr, sizeof(*chains->chains), by_key);
	return true;
}

/* Puts the chains behind each other, each from its first item that goes on after `from`. */
static size_t join_items(const struct chains *all, const struct step_item *items, uint64_t from,
	const struct step_item **joined)
{
	size_t nr = 0;

	for (size_t i = 0; i < all->nr; i++) {
		uint32_t place = all->chains[i].last;

		while (place && items[place - 1].end <= from) {
			place = all->before[place - 1];
		}
		for (; place; place = all->before[place - 1]) {
			joined[nr++] = &items[place - 1];
		}
	}
	return nr;
}

static size_t sort_items(
	const struct step_events *step, uint64_t from, const struct step_item **sorted)
{
	size_t nr = 0;

	for (size_t i = 0; i < step->nr_items; i++) {
		sorted[i] = &step->items[i];
	}
	natural_sort(sorted, step->nr_items, sizeof(struct step_item *), by_item);
	for (size_t i = 0; i < step->nr_items; i++) {
		bool is_first = !nr || sorted[nr - 1]->thread != sorted[i]->thread;

		if (!is_first || sorted[i]->end > from) {
			sorted[nr++] = sorted[i];
		}
	}
	return nr;
}

/* Leaves out what a thread did before its first item that goes on after `from`. */
static const struct step_item **items_in_order(
	const struct step_events *step, uint64_t from, size_t *nr_items)
{
	const struct step_item **order =
		mem_resize(NULL, step->nr_items, sizeof(struct step_item *));
	struct chains all = {.before = mem_resize(NULL, step->nr_items, sizeof(*all.before))};
	const struct chained items = {
		step->items, step->nr_items, sizeof(*step->items), thread_of, compare_items};

	*nr_items = make_chains(&all, &items) ? join_items(&all, step->items, from, order)
					      : sort_items(step, from, order);
	free(all.before);
	return order;
}

static void join_records(
	const struct chains *all, const struct step_activity *records, struct step_activity *joined)
{
	for (size_t i = 0; i < all->nr; i++) {
		for (uint32_t place = all->chains[i].last; place; place = all->before[place - 1]) {
			*joined++ = records[place - 1];
		}
	}
}

static struct step_activity *records_in_order(const struct step_events *step)
{
	struct step_activity *order = mem_resize(NULL, step->nr_records, sizeof(*order));
	struct chains all = {.before = mem_resize(NULL, step->nr_records, sizeof(*all.before))};
	const struct chained records = {step->records, step->nr_records, sizeof(*step->records),
		stream_of, compare_records};

	if (make_chains(&all, &records)) {
		join_records(&all, step->records, order);
	} else if (step->nr_records) {
		memcpy(order, step->records, step->nr_records * sizeof(*order));
		natural_sort(order, step->nr_records, sizeof(*order), compare_records);
	}
	free(all.before);
	return order;
}

/* ---- threads as a row of stretches ---- */

/* Makes the stretches of one timeline from items that come in order. */
struct maker {
	struct host_timeline *host;
	struct open_item { /* items that are open, the outermost first */
		const struct step_item *item;
		uint64_t end; /* not behind that of what it lies in */
	} * open;
	size_t nr_open, capacity;
	uint64_t now; /* stretches are made up to here */
	size_t first; /* of the thread */
};

/* The innermost open item goes on until `time`: it makes a stretch. */
static inline void go_on(struct maker *maker, uint64_t time)
{
	struct host_timeline *host = maker->host;

	if (time <= maker->now) {
		return;
	}
	if (maker->nr_open) {
		host->stretches = array_grow(host->stretches, host->nr_stretches, &host->capacity,
			sizeof(*host->stretches));
		host->stretches[host->nr_stretches++] = (struct host_stretch){
			maker->now, time, maker->open[maker->nr_open - 1].item};
	}
	maker->now = time;
}

static inline void close_until(struct maker *maker, uint64_t time)
{
	while (maker->nr_open && maker->open[maker->nr_open - 1].end <= time) {
		go_on(maker, maker->open[maker->nr_open - 1].end);
		maker->nr_open--;
	}
	go_on(maker, time);
}

/*
 * Opens an item, after all that end before it begins. Skips it if it ends by `from` and lies in
 * nothing that goes on. Its end is cut to that of the item around it, as clocks may differ by a
 * little.
 */
static inline void take_item(struct maker *maker, const struct step_item *item, uint64_t from)
{
	uint64_t end = item->end;

	if (item->begin >= end) {
		return;
	}
	close_until(maker, item->begin);
	if (!maker->nr_open && end <= from) {
		return;
	}
	if (maker->nr_open && maker->open[maker->nr_open - 1].end < end) {
		end = maker->open[maker->nr_open - 1].end;
	}
	maker->open =
		array_grow(maker->open, maker->nr_open, &maker->capacity, sizeof(*maker->open));
	maker->open[maker->nr_open++] = (struct open_item){item, end};
}

static void begin_thread(struct maker *maker)
{
	maker->now = 0;
	maker->first = maker->host->nr_stretches;
}

static void end_thread(struct maker *maker, uint32_t thread)
{
	struct host_timeline *host = maker->host;

	close_until(maker, UINT64_MAX);
	host->threads = array_grow(
		host->threads, host->nr_threads, &host->thread_capacity, sizeof(*host->threads));
	host->threads[host->nr_threads++] =
		(struct host_thread){thread, maker->first, host->nr_stretches, host->nr_stretches};
}

/* Makes the timeline of users' ranges, and that of all else, without what ends by `from`. */
static void make_timelines(struct dependencies *dependencies, uint64_t from)
{
	const struct step_item **items = dependencies->items;
	size_t nr_items = dependencies->nr_items;
	struct maker host = {.host = &dependencies->host};
	struct maker ranges = {.host = &dependencies->ranges};

	for (size_t i = 0; i < nr_items;) {
		uint32_t thread = items[i]->thread;

		begin_thread(&host);
		begin_thread(&ranges);
		for (; i < nr_items && items[i]->thread == thread; i++) {
			take_item(items[i]->is_range ? &ranges : &host, items[i], from);
		}
		end_thread(&host, thread);
		end_thread(&ranges, thread);
	}
	free(host.open);
	free(ranges.open);
}

static void host_timeline_fini(struct host_timeline *host)
{
	free(host->stretches);
	free(host->threads);
	*host = (struct host_timeline){0};
}

/* Doubles its steps from the last find on, then halves what is left. */
const struct host_stretch *host_timeline_search(
	const struct host_timeline *host, struct host_thread *thread, uint64_t time)
{
	size_t low = thread->first, high = thread->end, at;

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
	BISECT(at, low, high, host->stretches[at].begin < time);
	thread->found = at;
	return at > thread->first ? &host->stretches[at - 1] : NULL;
}

/* The same of a thread by its number. */
const struct host_stretch *host_timeline_find(
	struct host_timeline *host, uint32_t thread, uint64_t time)
{
	size_t at = host->found;

	if (at < host->nr_threads && host->threads[at].thread == thread) {
		return host_timeline_find_at(host, at, time);
	}
	BISECT(at, 0, host->nr_threads, host->threads[at].thread < thread);
	if (at == host->nr_threads || host->threads[at].thread != thread) {
		return NULL;
	}
	host->found = at;
	return host_timeline_find_at(host, at, time);
}

/* ---- what was launched before what ---- */

static inline bool is_before(const struct step_activity *record, uint64_t stream, uint64_t time)
{
	return record->stream < stream || (record->stream == stream && record->call_begin < time);
}

/*
 * The first record of a stream that was launched at `time` or later, or of a later stream. Looks
 * back from the one found last: a path goes back call by call.
 */
static size_t first_from(struct dependencies *dependencies, uint64_t stream, uint64_t time)
{
	const struct step_activity *records = dependencies->records;
	size_t found = dependencies->found, low = 0, high = dependencies->nr_records;

	if (found < high && !is_before(&records[found], stream, time)) {
		high = found;
	}
	for (size_t step = 1; found > low + step; step *= 2) {
		if (is_before(&records[found - step], stream, time)) {
			low = found - step + 1;
			break;
		}
		high = found - step;
	}
	BISECT(found, low, high, is_before(&records[found], stream, time));
	dependencies->found = found;
	return found;
}

/* The last one that was launched on a stream before `time`, NULL if there is none. */
static const struct step_activity *last_before(
	struct dependencies *dependencies, uint64_t stream, uint64_t time)
{
	const struct step_activity *records = dependencies->records;
	size_t i = first_from(dependencies, stream, time);

	return i > 0 && records[i - 1].stream == stream ? &records[i - 1] : NULL;
}

/* The last one of a stream with a lower correlation ID, NULL if there is none. */
static const struct step_activity *last_with_lower_id(
	struct dependencies *dependencies, uint64_t stream, uint64_t correlation)
{
	const struct step_activity *records = dependencies->records;
	size_t first = first_from(dependencies, stream, 0), at;
	size_t end = stream < UINT64_MAX ? first_from(dependencies, stream + 1, 0)
					 : dependencies->nr_records;

	BISECT(at, first, end, records[at].correlation < correlation);
	return at > first ? &records[at - 1] : NULL;
}

/* Counts the events of the process with a lower correlation ID. */
static size_t events_before(const struct step_events *step, uint64_t correlation)
{
	size_t at;

	BISECT(at, 0, step->nr_events, step->events[at].correlation < correlation);
	return at;
}

/* Returns the activity that an event stands for in a call: the event was last recorded after it. */
static const struct step_activity *behind_event(
	struct dependencies *dependencies, uint64_t event, uint64_t correlation)
{
	const struct step_events *step = dependencies->step;
	size_t nr = events_before(step, correlation);

	for (size_t i = nr; i > 0 && nr - i < EVENTS_BACK; i--) {
		const struct step_event *found = &step->events[i - 1];

		if (!found->is_wait && found->event == event) {
			return last_with_lower_id(dependencies, found->stream, found->correlation);
		}
	}
	return NULL;
}

/* ---- what a call waited for ---- */

static bool ended_in(const struct step_activity *record, const struct step_item *call)
{
	return record && record->end > call->begin && record->end <= call->end;
}

/* Returns what ended last in the call, of the last activities of all streams that it waits for. */
static const struct step_activity *last_of_streams(
	struct dependencies *dependencies, const struct step_item *call)
{
	const struct step_activity *last = NULL;

	for (size_t i = 0; i < dependencies->nr_records;) {
		uint64_t stream = dependencies->records[i].stream;
		const struct step_activity *record = last_before(dependencies, stream, call->begin);

		if ((call->role == CALL_WAITS_ALL || stream >> 32 == call->stream >> 32) &&
			ended_in(record, call) && (!last || record->end > last->end)) {
			last = record;
		}
		if (stream == UINT64_MAX) {
			break;
		}
		i = first_from(dependencies, stream + 1, 0);
	}
	return last;
}

/* Its own copy is of the same correlation ID. */
static const struct step_activity *own_of(
	struct dependencies *dependencies, const struct step_item *call)
{
	size_t first = first_from(dependencies, call->stream, call->begin);

	for (size_t i = first; i < dependencies->nr_records; i++) {
		const struct step_activity *record = &dependencies->records[i];

		if (record->stream != call->stream || record->call_begin > call->begin) {
			break;
		}
		if (record->correlation == call->correlation) {
			return record;
		}
	}
	return NULL;
}

/*
 * A launch waits for room in its queue if the activity that was QUEUE_DEPTH_FULL launches ahead had
 * not begun. It waits until an activity begins: the last one that began during the call.
 */
static struct awaited room_for(struct dependencies *dependencies, const struct step_item *call)
{
	const struct step_activity *records = dependencies->records;
	size_t i = first_from(dependencies, call->stream, call->begin);
	const struct step_activity *full =
		i >= QUEUE_DEPTH_FULL ? &records[i - QUEUE_DEPTH_FULL] : NULL;
	size_t first = i > 2 * QUEUE_DEPTH_FULL ? i - 2 * QUEUE_DEPTH_FULL : 0, at;
	const struct step_activity *record;

	if (!full || full->stream != call->stream || full->begin <= call->begin) {
		return (struct awaited){0};
	}
	/* The activities of a stream begin in the order of their launches. */
	BISECT(at, first, i, records[at].stream != call->stream || records[at].begin <= call->end);
	record = at > first ? &records[at - 1] : NULL;
	return record && record->stream == call->stream && record->begin > call->begin
		       ? (struct awaited){record, record->begin}
		       : (struct awaited){0};
}

/* A copy that does not wait for itself may still wait for room, as launches do. */
struct awaited dependencies_awaited(struct dependencies *dependencies, const struct step_item *call)
{
	const struct step_activity *record = NULL;

	switch (call->role) {
	case CALL_WAITS_ALL:
	case CALL_WAITS_CONTEXT:
		record = last_of_streams(dependencies, call);
		break;
	case CALL_WAITS_STREAM:
		record = last_before(dependencies, call->stream, call->begin);
		break;
	case CALL_WAITS_EVENT:
		record = behind_event(dependencies, call->event, call->correlation);
		break;
	case CALL_WAITS_OWN:
		record = own_of(dependencies, call);
		break;
	default:
		break;
	}
	if (ended_in(record, call)) {
		return (struct awaited){record, record->end};
	}
	if (call->role == CALL_WAITS_OWN || call->role == CALL_LAUNCHES) {
		return room_for(dependencies, call);
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

/*
 * Events that the stream waited for count from the activity before it on: earlier ones were that
 * activity's causes.
 */
void dependencies_find_causes(struct dependencies *dependencies, const struct step_activity *record)
{
	const struct step_events *step = dependencies->step;
	const struct step_activity *previous = NULL;
	size_t nr;

	dependencies->nr_causes = 0;
	if (record > dependencies->records && record[-1].stream == record->stream) {
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
			add_cause(dependencies,
				behind_event(dependencies, event->event, event->correlation));
		}
	}
}

/* ---- all ---- */

void dependencies_init(
	struct dependencies *dependencies, const struct step_events *step, uint64_t from)
{
	*dependencies = (struct dependencies){
		.step = step, .records = records_in_order(step), .nr_records = step->nr_records};
	dependencies->items = items_in_order(step, from, &dependencies->nr_items);
	make_timelines(dependencies, from);
}

void dependencies_fini(struct dependencies *dependencies)
{
	host_timeline_fini(&dependencies->host);
	host_timeline_fini(&dependencies->ranges);
	free(dependencies->items);
	free(dependencies->records);
	free(dependencies->causes);
}
