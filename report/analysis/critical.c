/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/critical.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/ops/queue_depth.h"

/* ---- threads as a row of stretches ---- */

/* Each stretch of a thread is in one operator or call: the innermost. */
struct critical_stretch {
	uint64_t begin, end;
	const struct critical_item *item;
};

struct critical_thread {
	uint32_t thread;
	size_t first, end; /* of its stretches */
};

struct critical_host {
	struct critical_stretch *stretches; /* by thread, rising */
	size_t nr_stretches, capacity;
	struct critical_thread *threads;
	size_t nr_threads, thread_capacity;
};

/* Items that are open, the outermost first. */
struct open {
	struct open_item {
		const struct critical_item *item;
		uint64_t end; /* not behind that of what it lies in */
	} * items;
	size_t nr, capacity;
	uint64_t now; /* stretches are made up to here */
};

/* By thread and begin; what encloses before what lies in it. */
static int critical_host_order(const void *a, const void *b)
{
	const struct critical_item *x = a, *y = b;

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
static void go_on(struct critical_host *host, struct open *open, uint64_t time)
{
	if (open->nr && time > open->now) {
		host->stretches = array_grow(host->stretches, host->nr_stretches, &host->capacity,
			sizeof(*host->stretches));
		host->stretches[host->nr_stretches++] =
			(struct critical_stretch){open->now, time, open->items[open->nr - 1].item};
	}
	open->now = time > open->now ? time : open->now;
}

static void close_until(struct critical_host *host, struct open *open, uint64_t time)
{
	while (open->nr && open->items[open->nr - 1].end <= time) {
		go_on(host, open, open->items[open->nr - 1].end);
		open->nr--;
	}
	go_on(host, open, time);
}

static void make_thread(struct critical_host *host, struct open *open,
	const struct critical_item *items, size_t nr_items, bool is_range)
{
	size_t first = host->nr_stretches;

	open->now = 0;
	for (size_t i = 0; i < nr_items; i++) {
		uint64_t end = items[i].end;

		if (items[i].begin >= end || items[i].is_range != is_range) {
			continue;
		}
		close_until(host, open, items[i].begin);
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
	host->threads[host->nr_threads++] =
		(struct critical_thread){nr_items ? items[0].thread : 0, first, host->nr_stretches};
}

/* Of the users' ranges alone, or of all else. Items are in the order above and must stay. */
static void critical_host_make(struct critical_host *host, const struct critical_item *items,
	size_t nr_items, bool is_range)
{
	struct open open = {0};

	for (size_t i = 0, end; i < nr_items; i = end) {
		for (end = i; end < nr_items && items[end].thread == items[i].thread; end++) {
		}
		make_thread(host, &open, items + i, end - i, is_range);
	}
	free(open.items);
}

static void critical_host_fini(struct critical_host *host)
{
	free(host->stretches);
	free(host->threads);
	*host = (struct critical_host){0};
}

/* The last stretch of threads[i] that begins before `time`, NULL if there is none. */
static const struct critical_stretch *critical_host_find_at(
	const struct critical_host *host, size_t i, uint64_t time)
{
	size_t low = host->threads[i].first, high = host->threads[i].end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (host->stretches[middle].begin < time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low > host->threads[i].first ? &host->stretches[low - 1] : NULL;
}

/* The same of a thread by its number. */
static const struct critical_stretch *critical_host_find(
	const struct critical_host *host, uint32_t thread, uint64_t time)
{
	size_t low = 0, high = host->nr_threads;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (host->threads[middle].thread < thread) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < host->nr_threads && host->threads[low].thread == thread
		       ? critical_host_find_at(host, low, time)
		       : NULL;
}

/* ---- the path ---- */

const char *const critical_kind_names[NR_CRITICAL_KINDS] = {
	[CRITICAL_OPERATOR] = "operator",
	[CRITICAL_HOST] = "host, no operator",
	[CRITICAL_CALL] = "API call",
	[CRITICAL_RETURN] = "return of a wait",
	[CRITICAL_LAUNCH] = "launch delay",
	[CRITICAL_STREAM] = "stream delay",
	[CRITICAL_KERNEL] = "kernel",
	[CRITICAL_COPY] = "copy",
};

struct path {
	const struct critical_step *step;
	struct critical_host host;	    /* operators and calls */
	struct critical_host ranges;	    /* of users */
	const struct critical_item **marks; /* calls that record events or make streams wait */
	size_t nr_marks, mark_capacity;
	uint64_t now;
	uint32_t thread;		      /* on it, if not on a device */
	const struct critical_record *record; /* on it, unless NULL */
	void (*take)(void *context, enum critical_kind kind, uint32_t name, uint64_t begin,
		uint64_t end);
	void *context;
};

/* The piece from `begin` until now, which moves there. */
static void go_back(struct path *path, enum critical_kind kind, uint32_t name, uint64_t begin)
{
	begin = begin > path->step->begin ? begin : path->step->begin;
	if (begin < path->now) {
		path->take(path->context, kind, name, begin, path->now);
		path->now = begin;
	}
}

/* ---- what was launched before what ---- */

/* By stream, in the order of launches; graphs' nodes as they began. A total order. */
static int by_launch(const void *a, const void *b)
{
	const struct critical_record *x = a, *y = b;
	const uint64_t keys[][2] = {{x->stream, y->stream}, {x->call_begin, y->call_begin},
		{x->correlation, y->correlation}, {x->begin, y->begin}, {x->end, y->end},
		{x->name, y->name}};

	for (size_t i = 0; i < 6; i++) {
		if (keys[i][0] != keys[i][1]) {
			return keys[i][0] < keys[i][1] ? -1 : 1;
		}
	}
	return 0;
}

/* The first record of a stream that was launched at `time` or later, or of a later stream. */
static size_t first_from(const struct critical_step *step, uint64_t stream, uint64_t time)
{
	size_t low = 0, high = step->nr_records;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct critical_record *record = &step->records[middle];

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
static const struct critical_record *last_before(
	const struct critical_step *step, uint64_t stream, uint64_t time)
{
	size_t i = first_from(step, stream, time);

	return i > 0 && step->records[i - 1].stream == stream ? &step->records[i - 1] : NULL;
}

/* The last marks before `time`: marks[i - 1] and those before it. */
static size_t marks_before(const struct path *path, uint64_t time)
{
	size_t low = 0, high = path->nr_marks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (path->marks[middle]->begin < time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* What an event stands for that is asked for at `time`: it was recorded last after that record. */
static const struct critical_record *behind_event(
	const struct path *path, uint32_t event, uint64_t time)
{
	for (size_t i = marks_before(path, time); i-- > 0;) {
		const struct critical_item *mark = path->marks[i];

		if (mark->role == CRITICAL_RECORDS_EVENT && mark->event == event) {
			return last_before(path->step, mark->stream, mark->begin);
		}
	}
	return NULL;
}

/* ---- what a call waited for ---- */

struct awaited {
	const struct critical_record *record; /* NULL: nothing */
	uint64_t time;			      /* of its end, or of its begin */
};

static bool ended_in(const struct critical_record *record, const struct critical_item *call)
{
	return record && record->end > call->begin && record->end <= call->end;
}

/* Of several streams, what ended last in the call. */
static const struct critical_record *last_of_streams(
	const struct path *path, const struct critical_item *call)
{
	const struct critical_step *step = path->step;
	const struct critical_record *last = NULL;

	for (size_t i = 0; i < step->nr_records;) {
		uint64_t stream = step->records[i].stream;
		const struct critical_record *record = last_before(step, stream, call->begin);

		if ((call->role == CRITICAL_WAITS_ALL || stream >> 32 == call->stream >> 32) &&
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
static const struct critical_record *own_of(
	const struct critical_step *step, const struct critical_item *call)
{
	for (size_t i = first_from(step, call->stream, call->begin); i < step->nr_records; i++) {
		const struct critical_record *record = &step->records[i];

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
static struct awaited room_for(const struct critical_step *step, const struct critical_item *call)
{
	size_t i = first_from(step, call->stream, call->begin);
	const struct critical_record *full =
		i >= QUEUE_DEPTH_FULL ? &step->records[i - QUEUE_DEPTH_FULL] : NULL;

	if (!full || full->stream != call->stream || full->begin <= call->begin) {
		return (struct awaited){0};
	}
	for (size_t k = 0; k < 2 * QUEUE_DEPTH_FULL && i-- > 0; k++) {
		const struct critical_record *record = &step->records[i];

		if (record->stream != call->stream || record->begin <= call->begin) {
			break;
		}
		if (record->begin <= call->end) {
			return (struct awaited){record, record->begin};
		}
	}
	return (struct awaited){0};
}

static struct awaited find_awaited(const struct path *path, const struct critical_item *call)
{
	const struct critical_record *record = NULL;

	switch (call->role) {
	case CRITICAL_WAITS_ALL:
	case CRITICAL_WAITS_CONTEXT:
		record = last_of_streams(path, call);
		break;
	case CRITICAL_WAITS_STREAM:
		record = last_before(path->step, call->stream, call->begin);
		break;
	case CRITICAL_WAITS_EVENT:
		record = behind_event(path, call->event, call->begin);
		break;
	case CRITICAL_WAITS_OWN:
		record = own_of(path->step, call);
		break;
	default:
		break;
	}
	if (ended_in(record, call)) {
		return (struct awaited){record, record->end};
	}
	if (call->role == CRITICAL_WAITS_OWN || call->role == CRITICAL_LAUNCHES) {
		return room_for(path->step, call);
	}
	return (struct awaited){0};
}

/* ---- on the host ---- */

static bool is_in(const struct critical_stretch *stretch, uint64_t now)
{
	return stretch && stretch->end >= now;
}

/* No thread is in anything since `last`: the range of the loop's thread, if it is in one. */
static void go_back_in_range(struct path *path, uint64_t last)
{
	const struct critical_stretch *range =
		critical_host_find(&path->ranges, path->step->thread, path->now);
	uint32_t name = 0;

	if (is_in(range, path->now)) {
		name = range->item->name;
		last = range->begin > last ? range->begin : last;
	} else if (range) {
		last = range->end > last ? range->end : last;
	}
	go_back(path, CRITICAL_HOST, name, last);
}

/* The thread is in nothing: another one that is in something, or back to the last that was. */
static void leave_thread(struct path *path)
{
	const struct critical_host *host = &path->host;
	const struct critical_stretch *stretch =
		critical_host_find(host, path->step->thread, path->now);
	uint64_t last = path->step->begin;

	path->thread = path->step->thread;
	if (is_in(stretch, path->now)) {
		return;
	}
	for (size_t i = 0; i < host->nr_threads; i++) {
		stretch = critical_host_find_at(host, i, path->now);
		if (is_in(stretch, path->now)) {
			path->thread = host->threads[i].thread;
			return;
		}
		last = stretch && stretch->end > last ? stretch->end : last;
	}
	go_back_in_range(path, last);
}

static void go_on_host(struct path *path)
{
	const struct critical_stretch *stretch =
		critical_host_find(&path->host, path->thread, path->now);
	struct awaited awaited = {0};

	if (!is_in(stretch, path->now)) {
		leave_thread(path);
		return;
	}
	if (stretch->item->is_call) {
		awaited = find_awaited(path, stretch->item);
	}
	if (awaited.record && awaited.time < path->now && awaited.time >= stretch->begin) {
		go_back(path, CRITICAL_RETURN, stretch->item->name, awaited.time);
		path->record = awaited.record;
		return;
	}
	go_back(path, stretch->item->is_call ? CRITICAL_CALL : CRITICAL_OPERATOR,
		stretch->item->name, stretch->begin);
}

/* ---- on a device ---- */

/* What let a record begin: NULL is its launch. */
struct cause {
	const struct critical_record *record;
	uint64_t end; /* not behind its begin */
};

static void consider(struct cause *cause, const struct critical_record *record, uint64_t begin)
{
	uint64_t end = record && record->end < begin ? record->end : begin;

	if (record && end > cause->end) {
		*cause = (struct cause){record, end};
	}
}

/* Events that the stream waits for since `previous` was launched on it. */
static void consider_events(const struct path *path, struct cause *cause,
	const struct critical_record *record, const struct critical_record *previous)
{
	uint64_t since = previous ? previous->call_begin : 0;

	for (size_t i = marks_before(path, record->call_begin);
		i-- > 0 && path->marks[i]->begin >= since;) {
		const struct critical_item *mark = path->marks[i];

		if (mark->role == CRITICAL_STREAM_WAITS && mark->stream == record->stream) {
			consider(cause, behind_event(path, mark->event, mark->begin), path->now);
		}
	}
}

static void go_on_device(struct path *path)
{
	const struct critical_record *record = path->record;
	const struct critical_record *previous = NULL;
	struct cause cause = {0};

	go_back(path, record->is_copy ? CRITICAL_COPY : CRITICAL_KERNEL, record->name,
		record->begin);
	cause.end = record->call_end < path->now ? record->call_end : path->now;
	if (record > path->step->records && record[-1].stream == record->stream) {
		previous = &record[-1];
	}
	consider(&cause, previous, path->now);
	consider_events(path, &cause, record, previous);
	go_back(path, cause.record ? CRITICAL_STREAM : CRITICAL_LAUNCH, record->name, cause.end);
	path->record = cause.record;
	path->thread = record->thread;
}

/* ---- all ---- */

static int by_begin(const void *a, const void *b)
{
	const struct critical_item *const *x = a, *const *y = b;

	if ((*x)->begin != (*y)->begin) {
		return (*x)->begin < (*y)->begin ? -1 : 1;
	}
	return *x < *y ? -1 : *x > *y;
}

static void find_marks(struct path *path)
{
	for (size_t i = 0; i < path->step->nr_items; i++) {
		const struct critical_item *item = &path->step->items[i];

		if (item->role == CRITICAL_RECORDS_EVENT || item->role == CRITICAL_STREAM_WAITS) {
			path->marks = array_grow(path->marks, path->nr_marks, &path->mark_capacity,
				sizeof(const struct critical_item *));
			path->marks[path->nr_marks++] = item;
		}
	}
	if (path->nr_marks) {
		qsort(path->marks, path->nr_marks, sizeof(const struct critical_item *), by_begin);
	}
}

void critical_run(struct critical_step *step,
	void (*take)(void *context, enum critical_kind kind, uint32_t name, uint64_t begin,
		uint64_t end),
	void *context)
{
	struct path path = {.step = step,
		.now = step->end,
		.thread = step->thread,
		.take = take,
		.context = context};

	if (step->nr_items) {
		qsort(step->items, step->nr_items, sizeof(*step->items), critical_host_order);
	}
	if (step->nr_records) {
		qsort(step->records, step->nr_records, sizeof(*step->records), by_launch);
	}
	critical_host_make(&path.host, step->items, step->nr_items, false);
	critical_host_make(&path.ranges, step->items, step->nr_items, true);
	find_marks(&path);
	while (path.now > step->begin) {
		if (path.record) {
			go_on_device(&path);
		} else {
			go_on_host(&path);
		}
	}
	critical_host_fini(&path.host);
	critical_host_fini(&path.ranges);
	free(path.marks);
}
