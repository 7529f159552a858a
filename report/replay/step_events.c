/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers steps for the critical path and the replay. A view's scan calls step_loader_mark() for
 * records of waits and events; its walk then brings operators, calls and activities from the last
 * end to the first. A step is handed out when enough of the time before it is in memory, since its
 * activities may have been launched earlier.
 *
 *   time      ...| far ........ | near | step that comes next | steps that are done, dropped
 *                       ^ position: the walk has come to here
 *   handed out when position < near, and STEP_EVENTS_BEFORE launches lie before the step;
 *   or when position < far
 *
 * Streams of calls are known by CUPTI's records, else by the handles of calls (resolve_handles).
 */
#include "report/replay/step_events.h"

#include <stdlib.h>
#include <string.h>

#include "report/comm/host_collectives.h"
#include "report/model/api.h"
#include "report/model/os_kind.h"
#include "report/util/buf.h"
#include "report/gpu/gpu_activities.h"
#include "report/ops/loop.h"
#include "report/util/sort.h"

#define NR_CALLS 65536u
/* cudaStreamPerThread; its keys have a bit that no address has. */
#define PER_THREAD_HANDLE 2u
#define THREAD_KEY	  (1ull << 63)

/* The stream or event that a call was about. */
struct mark {
	uint64_t stream;
	uint64_t event;
	uint8_t role; /* enum call_role */
};

struct step_marks {
	const struct process *process;
	struct idmap by_call; /* struct mark, by correlation: calls that wait */
	struct step_event *events;
	size_t nr_events, event_capacity;
	bool has_events; /* some are recorded */
	bool has_cupti;	 /* it has CUPTI's records of synchronisations or events */
};

/* An activity's launch: with which handle, and on which stream it ran. */
struct step_handle {
	uint64_t handle, stream;
	uint64_t correlation;
};

/* ---- marks ---- */

static struct step_marks *marks_of(struct step_loader *load, const struct process *process)
{
	struct step_marks *marks = load->nr_marks ? &load->marks[load->nr_marks - 1] : NULL;

	if (!marks || marks->process != process) {
		load->marks = array_grow(
			load->marks, load->nr_marks, &load->mark_capacity, sizeof(*load->marks));
		marks = &load->marks[load->nr_marks++];
		*marks = (struct step_marks){.process = process};
		idmap_init(&marks->by_call, sizeof(struct mark));
	}
	return marks;
}

static uint64_t stream_of(const struct process *process, uint64_t place)
{
	struct model_place found = process_place(process, place);

	return step_stream(found.context, found.stream);
}

static uint8_t role_of(uint64_t type)
{
	switch (type) {
	case API_SYNC_EVENT:
		return CALL_WAITS_EVENT;
	case API_SYNC_STREAM:
		return CALL_WAITS_STREAM;
	case API_SYNC_CONTEXT:
		return CALL_WAITS_CONTEXT;
	default:
		return CALL_WAITS_ALL;
	}
}

static void add_event(struct step_marks *marks, const struct step_event *event)
{
	marks->events = array_grow(
		marks->events, marks->nr_events, &marks->event_capacity, sizeof(*marks->events));
	marks->events[marks->nr_events++] = *event;
	marks->has_events |= !event->is_wait;
}

/*
 * The key of a handle: 1 is the default stream, whichever way it was named; 2 is another stream in
 * each thread. 0 is no key.
 */
static uint64_t key_of(uint64_t handle, uint32_t thread)
{
	if (handle == PER_THREAD_HANDLE) {
		return THREAD_KEY | thread;
	}
	return handle ? handle : 1;
}

static bool is_named(const struct process *process, uint32_t call, const char *part)
{
	return strstr(string_pool_text(process_call_name(process, call, NULL), NULL), part) != NULL;
}

/* Calls that say which event they are about. */
static void mark_calls(struct step_marks *marks, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t id = b->col[COL_api_correlation][i];

		if (b->col[COL_api_event][i] && id && id <= UINT32_MAX) {
			const struct step_event event = {
				.handle = key_of(b->col[COL_api_stream][i],
					(uint32_t)b->col[COL_api_thread][i]),
				.event = b->col[COL_api_event][i],
				.correlation = id,
				.is_wait = is_named(
					process, (uint32_t)b->col[COL_api_call][i], "WaitEvent")};

			add_event(marks, &event);
		}
	}
}

/*
 * CUPTI's synchronisation records include waits of streams for events, which are no waits of the
 * host.
 */
static void mark_records(struct step_marks *marks, struct process *process, const struct batch *b)
{
	bool is_event = b->table == GPROF_TABLE_event;

	marks->has_cupti = true;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t id = b->col[is_event ? COL_event_correlation : COL_sync_correlation][i];
		uint64_t place = b->col[is_event ? COL_event_place : COL_sync_place][i];
		uint64_t type = is_event ? 0 : b->col[COL_sync_type][i];
		struct step_event event = {.stream = stream_of(process, place),
			.event = b->col[is_event ? COL_event_event : COL_sync_event][i],
			.correlation = id,
			.is_wait = !is_event};

		if (!id || id > UINT32_MAX) {
			continue;
		}
		if (is_event || type == API_SYNC_STREAM_WAITS) {
			add_event(marks, &event);
		} else {
			*(struct mark *)idmap_put(&marks->by_call, event.correlation) =
				(struct mark){event.stream, event.event, role_of(type)};
		}
	}
}

void step_loader_mark(struct step_loader *load, struct process *process, const struct batch *b)
{
	struct step_marks *marks = marks_of(load, process);

	if (b->table == GPROF_TABLE_api) {
		mark_calls(marks, process, b);
	} else {
		mark_records(marks, process, b);
	}
}

static int by_correlation(const void *a, const void *b)
{
	const struct step_event *x = a, *y = b;

	return COMPARE(x->correlation, y->correlation);
}

/* CUPTI's records say more than handles. */
static void drop_handles(struct step_marks *marks)
{
	size_t nr = 0;

	marks->has_events = false;
	for (size_t i = 0; i < marks->nr_events; i++) {
		if (!marks->events[i].handle) {
			marks->events[nr++] = marks->events[i];
			marks->has_events |= !marks->events[i].is_wait;
		}
	}
	marks->nr_events = nr;
}

static void sort_events(struct step_marks *marks)
{
	if (marks->has_cupti) {
		drop_handles(marks);
	}
	if (marks->nr_events) {
		qsort(marks->events, marks->nr_events, sizeof(*marks->events), by_correlation);
	}
}

static uint8_t role_by_name(const struct process *process, uint32_t call)
{
	if (!is_named(process, call, "Synchronize")) {
		return CALL_PLAIN;
	}
	return is_named(process, call, "Stream")  ? CALL_WAITS_STREAM
	       : is_named(process, call, "Event") ? CALL_WAITS_EVENT
						  : CALL_WAITS_ALL;
}

static uint8_t role_of_call(struct step_loader *load, uint32_t call)
{
	if (call >= NR_CALLS) {
		return role_by_name(load->process, call);
	}
	if (!load->call_roles[call]) {
		load->call_roles[call] = (uint8_t)(1 + role_by_name(load->process, call));
	}
	return load->call_roles[call] - 1;
}

/*
 * Sets the role where CUPTI has no record of it: by the call's name, and its handle if that was
 * recorded.
 */
static void set_role_by_call(
	struct step_loader *load, struct step_item *item, const struct op_call *call)
{
	bool has_handle = call->table == GPROF_TABLE_api_sync && !load->process->stream->is_trace &&
			  !(load->of_process && load->of_process->has_cupti);

	if (call->table != GPROF_TABLE_api_sync && call->table != GPROF_TABLE_api) {
		return;
	}
	item->role = role_of_call(load, call->call);
	if (item->role == CALL_WAITS_STREAM && has_handle) {
		item->handle = key_of(call->handle, call->thread);
	} else if (item->role == CALL_WAITS_EVENT && has_handle) {
		item->event = call->handle;
	} else if (item->role != CALL_PLAIN) {
		item->role = CALL_WAITS_ALL;
	}
}

static void set_role(struct step_loader *load, struct step_item *item, const struct op_call *call)
{
	const struct step_marks *marks = load->of_process;
	const struct mark *mark =
		marks && call->correlation ? idmap_get(&marks->by_call, call->correlation) : NULL;

	if (mark) {
		item->role = mark->role;
		item->stream = mark->stream;
		item->event = mark->event;
	} else {
		set_role_by_call(load, item, call);
	}
	if (item->role == CALL_WAITS_EVENT && !(marks && marks->has_events)) {
		item->role = CALL_WAITS_ALL;
	}
}

/* ---- streams of handles ---- */

static int by_handle(const void *a, const void *b)
{
	const struct step_handle *x = a, *y = b;

	return ORDER(COMPARE(x->handle, y->handle), COMPARE(x->correlation, y->correlation));
}

static void find_handles(struct step_loader *load)
{
	load->nr_handles = 0;
	for (size_t i = 0; i < load->nr_records; i++) {
		const struct step_activity *record = &load->records[i];

		if (record->handle) {
			load->handles = array_grow(load->handles, load->nr_handles,
				&load->handle_capacity, sizeof(*load->handles));
			load->handles[load->nr_handles++] = (struct step_handle){
				record->handle, record->stream, record->correlation};
		}
	}
	if (load->nr_handles) {
		qsort(load->handles, load->nr_handles, sizeof(*load->handles), by_handle);
	}
}

/*
 * Returns the stream of the last activity that was launched with the handle before the call, or
 * else of the next one; no stream if there is none.
 */
static uint64_t stream_of_handle(
	const struct step_loader *load, uint64_t handle, uint64_t correlation)
{
	const struct step_handle wanted = {.handle = handle, .correlation = correlation};
	size_t at;

	BISECT(at, 0, load->nr_handles, by_handle(&load->handles[at], &wanted) < 0);
	if (at > 0 && load->handles[at - 1].handle == handle) {
		return load->handles[at - 1].stream;
	}
	return at < load->nr_handles && load->handles[at].handle == handle
		       ? load->handles[at].stream
		       : UINT64_MAX;
}

/* The first event from a correlation ID on. */
static size_t events_from(const struct step_marks *marks, uint64_t correlation)
{
	size_t at;

	BISECT(at, 0, marks->nr_events, marks->events[at].correlation < correlation);
	return at;
}

/* Finds the streams of handles, for the calls in memory and for the events near their records. */
static void resolve_handles(struct step_loader *load)
{
	struct step_marks *marks = load->of_process;
	uint64_t first = UINT64_MAX, last = 0;

	find_handles(load);
	for (size_t i = 0; i < load->nr_items; i++) {
		struct step_item *item = &load->items[i];

		if (item->handle) {
			item->stream = stream_of_handle(load, item->handle, item->correlation);
			/* A launch without a hook has no handle. */
			item->role =
				item->stream == UINT64_MAX ? CALL_WAITS_ALL : CALL_WAITS_STREAM;
		}
	}
	for (size_t i = 0; i < load->nr_records; i++) {
		uint64_t id = load->records[i].correlation;

		first = id < first ? id : first;
		last = id > last ? id : last;
	}
	for (size_t i = marks ? events_from(marks, first) : 0;
		marks && i < marks->nr_events && marks->events[i].correlation <= last; i++) {
		struct step_event *event = &marks->events[i];

		if (event->handle) {
			event->stream = stream_of_handle(load, event->handle, event->correlation);
		}
	}
}

/* ---- steps ---- */

static uint64_t time_of(struct step_loader *load, uint64_t tick)
{
	return clock_map_time(&load->process->host_clock, tick);
}

/* The begin of the step with that index, ns; 0 behind the last row. */
static uint64_t begin_of(struct step_loader *load, size_t place)
{
	return place < load->process->nr_steps ? time_of(load, load->process->steps[place].tick)
					       : 0;
}

/*
 * Does anything lie in the step? Items come by falling ends, so it looks from where the last step
 * had its own.
 */
static bool has_any(struct step_loader *load, const struct step_events *step)
{
	for (size_t k = 0, i = load->found; k < load->nr_items; k++, i++) {
		i = i < load->nr_items ? i : 0;
		if (load->items[i].begin < step->end && load->items[i].end > step->begin) {
			load->found = i;
			return true;
		}
	}
	return false;
}

/* The begin of the earliest step of which all is in memory; at most that of the step itself. */
static uint64_t complete_from(struct step_loader *load, const struct step_events *step)
{
	uint64_t from = step->begin;

	for (size_t place = load->next; place-- > 0;) {
		uint64_t begin = begin_of(load, place);

		if (begin < load->position) {
			break;
		}
		if (!model_step_is_gap(&load->process->steps[place])) {
			from = begin;
		}
	}
	return from;
}

/* Puts a step that has anything in it to those that are ready. */
static void add_ready(struct step_loader *load, struct step_events *step)
{
	if (step->end > load->too_many) {
		load->nr_too_long++;
	} else if (!has_any(load, step)) {
		load->nr_empty++;
	} else {
		step->complete_from = complete_from(load, step);
		load->nr_steps++;
		load->ready[load->nr_ready++] = *step;
	}
}

static void take_ready(struct step_loader *load)
{
	if (load->nr_ready) {
		resolve_handles(load);
	}
	for (size_t i = 0; i < load->nr_ready; i++) {
		struct step_events *step = &load->ready[i];

		step->items = load->items;
		step->nr_items = load->nr_items;
		step->records = load->records;
		step->nr_records = load->nr_records;
		step->lone = load->lone;
		step->nr_lone = load->nr_kept_lone;
		step->events = load->of_process ? load->of_process->events : NULL;
		step->nr_events = load->of_process ? load->of_process->nr_events : 0;
		step->captured = load->captured;
	}
	if (load->nr_ready) {
		load->take(load->context, load->ready, load->nr_ready);
		load->nr_ready = 0;
	}
}

/* Drops all that began in the steps that are done, or later: nobody needs it any more. */
static void drop_from(struct step_loader *load, uint64_t begin)
{
	size_t nr = 0;

	for (size_t i = 0; i < load->nr_items; i++) {
		if (load->items[i].begin < begin) {
			load->items[nr++] = load->items[i];
		}
	}
	load->nr_items = nr;
	nr = 0;
	for (size_t i = 0; i < load->nr_records; i++) {
		if (load->records[i].call_begin < begin) {
			load->records[nr++] = load->records[i];
		}
	}
	load->nr_records = nr;
	nr = 0;
	for (size_t i = 0; i < load->nr_kept_lone; i++) {
		if (load->lone[i].begin < begin) {
			load->lone[nr++] = load->lone[i];
		}
	}
	load->nr_kept_lone = nr;
	load->found = load->nr_not_before = 0;
}

static bool is_wanted(const struct step_loader *load, size_t place)
{
	return load->counted.counts[place + 1] &&
	       (!load->wants || load->wants(load->context, load->process->steps[place].step));
}

/* The first step begins with the loop. */
static uint64_t begin_tick(const struct step_loader *load, size_t place)
{
	uint64_t begin = load->process->steps[place].tick;
	uint64_t loop = place ? UINT64_MAX : loop_begin(load->process);

	return loop != UINT64_MAX && loop > begin ? loop : begin;
}

/*
 * Takes the next step, up to the start of the one after it. Both ends are times, as those of its
 * events and of the budget are: a duration may differ from them by a few ns in a long step, since
 * it goes by the mean rate of the clock.
 */
static void take_next(struct step_loader *load)
{
	const struct process *process = load->process;
	size_t place = --load->next;
	const struct model_step *at = &process->steps[place];
	uint64_t begin = begin_tick(load, place);
	struct step_events step = {.begin = time_of(load, begin),
		.number = at->step,
		.thread = loop_step_thread(load->process, place)};

	step.end = step.begin;
	if (place + 1 < process->nr_steps && at[1].tick > begin) {
		step.end = time_of(load, at[1].tick);
	}
	if (step.end > step.begin) {
		add_ready(load, &step);
	}
}

/* The next step that is wanted. */
static void find_next(struct step_loader *load)
{
	while (load->next && !is_wanted(load, load->next - 1)) {
		load->next--;
	}
	load->until = load->next ? load->process->steps[load->next].tick : 0;
}

/* Takes what is ready; what the next step does not need goes. */
static void flush(struct step_loader *load)
{
	take_ready(load);
	drop_from(load, load->next ? begin_of(load, load->next) : 0);
}

static bool is_enough(const struct step_loader *load)
{
	return !load->is_together || load->nr_ready == STEP_EVENTS_STEPS ||
	       load->nr_records >= STEP_EVENTS_TOGETHER;
}

/* The begin of the step before that index; the time between two steps is none. */
static uint64_t begin_before(struct step_loader *load, size_t place)
{
	while (place > 0 && model_step_is_gap(&load->process->steps[place - 1])) {
		place--;
	}
	return place ? begin_of(load, place - 1) : 0;
}

static void count_before(struct step_loader *load)
{
	while (load->nr_not_before < load->nr_records &&
		load->records[load->nr_not_before].call_begin >= load->begin) {
		load->nr_not_before++;
	}
	for (size_t i = load->nr_not_before; i < load->nr_records; i++) {
		load->nr_before += load->records[i].call_begin < load->begin;
	}
}

/* Sets how far back the walk must be before the next step can be handed out. */
static void aim(struct step_loader *load)
{
	size_t place = load->next - 1;

	load->begin = load->near = load->far = load->nr_before = 0;
	if (!load->next) {
		return;
	}
	load->begin = begin_of(load, place);
	load->near = begin_before(load, place);
	load->far = place >= STEP_EVENTS_STEPS ? begin_of(load, place - STEP_EVENTS_STEPS) : 0;
	count_before(load);
}

/* The walk has come to `end`: hands out all steps that have enough before them. */
static void reach(struct step_loader *load, uint64_t end)
{
	load->position = end;
	while (load->next && end < load->near &&
		(load->nr_before >= STEP_EVENTS_BEFORE || end < load->far)) {
		take_next(load);
		find_next(load);
		if (is_enough(load)) {
			flush(load);
		}
		aim(load);
	}
}

/*
 * If a step alone needs too much, all that is in memory is dropped, and steps that end after this
 * point have no path; earlier ones still do.
 */
static void check_room(struct step_loader *load, uint64_t end)
{
	size_t most = load->most_events ? load->most_events : STEP_EVENTS_MAX;

	if (load->nr_items <= most && load->nr_records <= most) {
		return;
	}
	flush(load);
	if (load->nr_items > most || load->nr_records > most) {
		load->nr_items = load->found = 0;
		load->nr_records = load->nr_not_before = 0;
		load->too_many = end;
	}
}

/* ---- the pass ---- */

void step_loader_begin(struct step_loader *load, struct process *process)
{
	load->process = process;
	counted_steps_fini(&load->counted);
	counted_steps_init(&load->counted, process, false);
	load->nr_items = load->found = 0;
	load->nr_records = load->nr_not_before = load->nr_kept_lone = 0;
	load->nr_captured = 0;
	load->next = process->nr_steps > 1 ? process->nr_steps - 1 : 0;
	load->until = UINT64_MAX;
	load->seen_begin = load->seen_end = 0;
	load->too_many = UINT64_MAX;
	load->of_process = NULL;
	free(load->call_roles);
	load->call_roles = mem_zeroed(NR_CALLS, sizeof(*load->call_roles));
	if (process->nr_steps > 1) {
		find_next(load);
	}
	aim(load);
	for (size_t i = 0; i < load->nr_marks; i++) {
		if (load->marks[i].process == process) {
			load->of_process = &load->marks[i];
			sort_events(&load->marks[i]);
		}
	}
}

static void see(struct step_loader *load, uint64_t begin, uint64_t end)
{
	load->seen_begin = !load->seen_begin || begin < load->seen_begin ? begin : load->seen_begin;
	load->seen_end = end > load->seen_end ? end : load->seen_end;
}

void step_loader_range(struct step_loader *load, const struct op_range *range)
{
	see(load, time_of(load, range->begin), time_of(load, range->end));
}

static struct step_item *add_item(struct step_loader *load, uint64_t begin, uint64_t end)
{
	check_room(load, end);
	load->items =
		array_grow(load->items, load->nr_items, &load->item_capacity, sizeof(*load->items));
	load->items[load->nr_items] = (struct step_item){.begin = begin, .end = end};
	return &load->items[load->nr_items++];
}

void step_loader_add_op(struct step_loader *load, const struct op *op)
{
	uint64_t begin, end;
	enum op_class class;
	struct step_item *item;

	if (op_is_step(op->name, op->framework, op->scope)) {
		return;
	}
	begin = time_of(load, op->begin);
	end = time_of(load, op->end);
	see(load, begin, end);
	class = op_class(op->name, op->framework, op->scope);
	item = add_item(load, begin, end);
	item->thread = op->thread;
	item->name = op->name;
	item->is_range = class == OP_RANGE;
	item->is_loader = class == OP_DATALOADER;
	item->is_collective =
		class == OP_RANGE && host_collective_library_of(op->name) != HOST_COLLECTIVE_NONE;
	/* It is complete: the walk has come to its begin, also where nothing calls CUDA. */
	reach(load, begin);
}

/* The walk is at its end: what lies in it comes later. */
void step_loader_add_collection(struct step_loader *load, const struct op *op)
{
	uint64_t begin = time_of(load, op->begin), end = time_of(load, op->end);
	struct step_item *item;

	reach(load, end);
	item = add_item(load, begin, end);
	item->thread = op->thread;
	item->name = op->name;
}

void step_loader_add_call(struct step_loader *load, const struct op_call *call)
{
	uint64_t begin, end;
	struct step_item *item;
	uint8_t api;

	begin = time_of(load, call->begin);
	end = time_of(load, call->end);
	reach(load, end);
	item = add_item(load, begin, end);
	item->is_call = true;
	item->thread = call->thread;
	item->name = process_call_name(load->process, call->call, &api);
	item->is_os = api == GPROF_API_THREAD;
	item->is_waiting = item->is_os && os_kind_waits(os_kind_of(item->name));
	item->correlation = call->correlation;
	set_role(load, item, call);
	if (!item->is_os) {
		see(load, begin, end);
	}
}

static bool has_stream_handle(const struct process *process, const struct op_call *call)
{
	return !process->stream->is_trace &&
	       (call->table == GPROF_TABLE_api_launch || call->table == GPROF_TABLE_api_copy ||
		       call->table == GPROF_TABLE_api_set);
}

/*
 * Returns 1 + the index of a captured operator, 0 for one that is not in a capture: what is around
 * the launch is an item of the step.
 */
static uint32_t captured_of(struct step_loader *load, const struct op *op)
{
	uint32_t outer;

	if (!op || !op_is_replay(op)) {
		return 0;
	}
	while (load->nr_captured < op->copy) {
		load->captured = array_grow(load->captured, load->nr_captured,
			&load->captured_capacity, sizeof(*load->captured));
		load->captured[load->nr_captured++] = (struct step_captured){0};
	}
	if (!load->captured[op->copy - 1].name) {
		outer = captured_of(load, op->parent);
		load->captured[op->copy - 1] = (struct step_captured){op->name, outer};
	}
	return op->copy;
}

/*
 * The record comes right behind its call, which is the last item: a plain call that launched is now
 * known to launch, and on which stream.
 */
void step_loader_add_record(struct step_loader *load, const struct op_record *record,
	const struct op_call *call, const struct op *op)
{
	struct step_item *item = load->nr_items ? &load->items[load->nr_items - 1] : NULL;
	struct step_activity *added;

	load->records = array_grow(
		load->records, load->nr_records, &load->record_capacity, sizeof(*load->records));
	added = &load->records[load->nr_records++];
	*added = (struct step_activity){.begin = record->begin_ns,
		.end = record->end_ns < record->begin_ns ? record->begin_ns : record->end_ns,
		.call_begin = time_of(load, call->begin),
		.call_end = time_of(load, call->end),
		.stream = stream_of(load->process, record->place),
		.handle = has_stream_handle(load->process, call)
				  ? key_of(call->handle, call->thread)
				  : 0,
		.thread = call->thread,
		.correlation = record->correlation,
		.name = op_record_name(load->process, record),
		.device = process_place(load->process, record->place).device,
		.captured = captured_of(load, op),
		.is_copy = gprof_table_is(record->table, GPROF_IS_COPYING)};
	see(load, added->begin, added->end);
	load->nr_before += added->call_begin < load->begin;
	if (item && item->is_call && item->correlation == call->correlation &&
		item->role == CALL_PLAIN) {
		item->role = call->table == GPROF_TABLE_api_copy ? CALL_WAITS_OWN : CALL_LAUNCHES;
		item->stream = added->stream;
	}
}

/* Those of steps that are done come no more; too many are not kept. */
void step_loader_add_lone(struct step_loader *load, const struct op_record *record)
{
	size_t most = load->most_events ? load->most_events : STEP_EVENTS_MAX;

	if (!record->is_timed || load->nr_kept_lone == most || !load->until ||
		(load->until != UINT64_MAX && record->begin_ns >= time_of(load, load->until))) {
		return;
	}
	load->lone = array_grow(
		load->lone, load->nr_kept_lone, &load->lone_capacity, sizeof(*load->lone));
	see(load, record->begin_ns, record->end_ns);
	load->lone[load->nr_kept_lone++] = (struct step_activity){.begin = record->begin_ns,
		.end = record->end_ns < record->begin_ns ? record->begin_ns : record->end_ns,
		.name = op_record_name(load->process, record),
		.device = process_place(load->process, record->place).device,
		.is_copy = gprof_table_is(record->table, GPROF_IS_COPYING)};
}

/*
 * Does the item say better than `last` (NULL: none) which thread ends a recording? A thread that
 * waits for work may be the last one.
 */
static bool ends_later(const struct step_item *item, const struct step_item *last)
{
	return !last ||
	       (item->is_waiting != last->is_waiting ? last->is_waiting : item->end > last->end);
}

/*
 * The one step of a process that has none: all of the recording, as in the headline. Exports of
 * Nsight Systems count from what was seen, since their first and last events may be calls of the
 * system.
 */
static void take_all(struct step_loader *load)
{
	struct step_events step = {.begin = load->process->first_ns, .is_recording = true};
	const struct step_item *last = NULL;

	for (size_t i = 0; i < load->nr_items; i++) {
		const struct step_item *item = &load->items[i];

		step.begin = item->begin < step.begin ? item->begin : step.begin;
		step.end = item->end > step.end ? item->end : step.end;
		last = ends_later(item, last) ? item : last;
	}
	step.thread = last ? last->thread : 0;
	/* Nobody waits for the last activities. */
	for (size_t i = 0; i < load->nr_records && load->nr_items; i++) {
		step.end = load->records[i].end > step.end ? load->records[i].end : step.end;
	}
	step.end =
		step.end && load->process->last_ns > step.end ? load->process->last_ns : step.end;
	if (load->seen_end && strcmp(process_source(load->process), "nsys") == 0) {
		step.begin = load->seen_begin > step.begin ? load->seen_begin : step.begin;
		step.end = load->seen_end < step.end ? load->seen_end : step.end;
	}
	if (step.end > step.begin) {
		add_ready(load, &step);
		take_ready(load);
	}
}

void step_loader_end(struct step_loader *load)
{
	load->position = 0;
	while (load->next) {
		take_next(load);
		find_next(load);
		if (is_enough(load)) {
			flush(load);
		}
	}
	if (load->process->nr_steps < 2) {
		take_all(load);
	} else {
		flush(load);
	}
}

void step_loader_fini(struct step_loader *load)
{
	for (size_t i = 0; i < load->nr_marks; i++) {
		idmap_fini(&load->marks[i].by_call);
		free(load->marks[i].events);
	}
	free(load->marks);
	counted_steps_fini(&load->counted);
	free(load->call_roles);
	free(load->handles);
	free(load->items);
	free(load->records);
	free(load->lone);
	free(load->captured);
}
