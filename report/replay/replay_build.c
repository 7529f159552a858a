/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the graph of a step for the replay, from what step_events.c gathered and dependencies.c
 * ordered. prediction.c calls replay_create() for each step. A stretch of a thread becomes a node,
 * a call that waits two, the gaps of a thread between stretches become nodes unless it waits there
 * for another thread, and each activity becomes one.
 *
 *   thread 1   |--op--|....|-launch-|....|--- sync ---|      .... gap: a node of host work
 *   nodes      operator host call    host  call | wait       own 3 us, then the return
 *   stream 1                    |====k1====|==k2==|
 *   nodes                        kernel     kernel           cause of k1: launch; of wait: k2
 *
 * Numbers of nodes count from 1; 0 is none. Times stay as recorded here; replay.c changes them.
 */
#include <stdlib.h>
#include <string.h>

#include "report/replay/dependencies.h"
#include "report/replay/replay_graph.h"
#include "report/model/kernel_class.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

/* The time that a call costs before it waits. The rest of its time until that ends is waiting. */
#define OWN_NS 3000u

#define OVERLAP_NS 5000u

/*
 * A collective of the host wakes the thread that waits for it before it notes its end. So the wait
 * may be over before that, by such a part of the wait.
 */
#define OVERRUN_PART 8u

/*
 * So many activities back on a stream the search goes for one that ended before another one
 * began.
 */
#define NR_BACK 64u

/* ---- the host ---- */

/* The facts of an item, together with those of the items around it. */
struct item_facts {
	uint32_t outer; /* 1 + item */
	uint32_t scales;
	bool is_in_loader;
};

/* A collective of the host. */
struct host_collective_span {
	uint64_t begin, end;
	uint32_t node;
};

struct build {
	struct replay_graph *graph;
	const struct step_events *step;
	const struct replay_names *names;
	struct dependencies dependencies;
	struct item_facts *items;
	/* 1 + the nodes of each stretch, the first and the last; 0: not in the graph */
	uint32_t *first_of, *last_of;
	uint32_t *node_of;		     /* 1 + the node of each activity */
	const struct step_activity **waited; /* by node: what a wait is for */
	size_t waited_capacity;
	struct host_collective_span *collectives; /* of the host, by their ends */
	size_t nr_collectives, collective_capacity;
	/* nodes of the current thread since its last launch */
	uint32_t *since;
	size_t nr_since, since_capacity;
	bool has_launched;
};

static uint32_t add_node(struct build *build, uint8_t kind, uint64_t begin, uint64_t end)
{
	struct replay_graph *graph = build->graph;
	struct node *node;

	graph->nodes =
		array_grow(graph->nodes, graph->nr_nodes, &graph->capacity, sizeof(*graph->nodes));
	build->waited = array_grow(build->waited, graph->nr_nodes, &build->waited_capacity,
		sizeof(const struct step_activity *));
	build->waited[graph->nr_nodes] = NULL;
	node = &graph->nodes[graph->nr_nodes++];
	*node = (struct node){.begin = begin, .end = end, .kind = kind};
	return (uint32_t)graph->nr_nodes;
}

static struct node *node_at(const struct build *build, uint32_t place)
{
	return &build->graph->nodes[place - 1];
}

/* Goes through the items by thread and begin, what encloses first. */
static void find_facts(struct build *build)
{
	const struct dependencies *dependencies = &build->dependencies;
	const struct step_events *step = build->step;
	uint32_t outer = 0;

	build->items = mem_zeroed(step->nr_items + 1, sizeof(*build->items));
	for (size_t i = 0; i < dependencies->nr_items; i++) {
		const struct step_item *item = dependencies->items[i];
		size_t place = (size_t)(item - step->items);
		struct item_facts *facts = &build->items[place];

		while (outer && (step->items[outer - 1].thread != item->thread ||
					step->items[outer - 1].end <= item->begin)) {
			outer = build->items[outer - 1].outer;
		}
		if (outer) {
			*facts = build->items[outer - 1];
		}
		facts->outer = outer;
		facts->is_in_loader |= item->is_loader;
		if (build->names) {
			facts->scales |= build->names->scales_of(build->names->context, item->name,
				item->is_os	? REPLAY_ITEM_OS_CALL
				: item->is_call ? REPLAY_ITEM_CALL
						: REPLAY_ITEM_OPERATOR);
		}
		outer = (uint32_t)place + 1;
	}
}

static void set_facts(struct build *build, struct node *node, const struct step_item *item)
{
	const struct item_facts *facts = &build->items[item - build->step->items];

	node->scales = facts->scales;
	if (facts->is_in_loader) {
		node->flags |= IS_IN_LOADER;
		node->kind = REPLAY_LOADER;
	}
}

/* A call that waited is two nodes: until it could do no more, and its return. */
static void add_stretch(struct build *build, size_t place)
{
	const struct host_stretch *stretch = &build->dependencies.host.stretches[place];
	const struct step_item *item = stretch->item;
	struct awaited awaited = {0};
	uint64_t own_end = stretch->end;
	uint32_t node;

	if (item->is_call) {
		awaited = dependencies_awaited(&build->dependencies, item);
	}
	if (awaited.record && (awaited.time <= stretch->begin || awaited.time > stretch->end)) {
		awaited.record = NULL;
	}
	if (awaited.record) {
		own_end = stretch->begin + OWN_NS < awaited.time ? stretch->begin + OWN_NS
								 : awaited.time;
	}
	node = add_node(
		build, item->is_call ? REPLAY_CALL : REPLAY_OPERATOR, stretch->begin, own_end);
	set_facts(build, node_at(build, node), item);
	build->first_of[place] = build->last_of[place] = node;
	if (awaited.record) {
		uint32_t wait = add_node(build, REPLAY_WAIT, awaited.time, stretch->end);

		set_facts(build, node_at(build, wait), item);
		node_at(build, wait)->after = node;
		node_at(build, wait)->flags |= item->role == CALL_WAITS_OWN  ? WAITS_FOR_COPY
					       : item->role == CALL_LAUNCHES ? 0
									     : WAITS_FOR_WORK;
		node_at(build, wait)->flags |=
			awaited.time == awaited.record->end ? 0 : IS_FROM_BEGIN;
		build->waited[wait - 1] = awaited.record;
		build->last_of[place] = wait;
	}
}

/*
 * Returns when the loop's thread has done its part. A recording without steps may end with an
 * activity, for which nobody waits.
 */
static uint64_t end_of_host(const struct step_events *step)
{
	uint64_t last_item = 0, last_record = 0;

	if (!step->is_recording) {
		return step->end;
	}
	for (size_t i = 0; i < step->nr_items; i++) {
		last_item = step->items[i].end > last_item ? step->items[i].end : last_item;
	}
	for (size_t i = 0; i < step->nr_records; i++) {
		last_record =
			step->records[i].end > last_record ? step->records[i].end : last_record;
	}
	return last_record < step->end ? step->end : last_item;
}

static bool is_in_window(const struct build *build, const struct host_stretch *stretch)
{
	return stretch->begin >= build->step->complete_from && stretch->begin < build->step->end;
}

static void add_stretches(struct build *build)
{
	const struct host_timeline *host = &build->dependencies.host;

	build->first_of = mem_zeroed(host->nr_stretches + 1, sizeof(*build->first_of));
	build->last_of = mem_zeroed(host->nr_stretches + 1, sizeof(*build->last_of));
	for (size_t i = 0; i < host->nr_stretches; i++) {
		if (is_in_window(build, &host->stretches[i])) {
			add_stretch(build, i);
		}
	}
}

/*
 * Returns the last node of what a thread did in a gap of another one, but for waits for work; busy:
 * how long it did it.
 */
static uint32_t work_in_gap(
	const struct build *build, size_t thread, uint64_t begin, uint64_t end, uint64_t *busy)
{
	const struct host_timeline *host = &build->dependencies.host;
	const struct host_stretch *stretch = host_timeline_find_at(host, thread, end);
	const struct host_stretch *first;
	uint32_t last = 0;

	*busy = 0;
	if (!stretch) {
		return 0;
	}
	first = &host->stretches[host->threads[thread].first];
	for (; stretch >= first && stretch->begin >= begin; stretch--) {
		if (stretch->end > end || stretch->item->is_waiting) {
			continue;
		}
		last = last ? last : build->last_of[stretch - host->stretches];
		*busy += stretch->end - stretch->begin;
	}
	return last;
}

/*
 * Returns the last node of another thread that fills at least half of a gap of the loop's thread,
 * which waits for it; 0: the gap is work.
 */
static uint32_t joined(const struct build *build, size_t thread, uint64_t begin, uint64_t end)
{
	const struct host_timeline *host = &build->dependencies.host;
	uint32_t found = 0;

	for (size_t i = 0; i < host->nr_threads; i++) {
		uint64_t busy;
		uint32_t last = i == thread ? 0 : work_in_gap(build, i, begin, end, &busy);

		if (last && busy >= (end - begin) / 2 &&
			(!found || node_at(build, last)->end > node_at(build, found)->end)) {
			found = last;
		}
	}
	return found;
}

/*
 * Returns what the loop's thread did last in a gap of another thread, which it thereby woke; 0:
 * nothing.
 */
static uint32_t handed_over(struct build *build, uint64_t begin, uint64_t end)
{
	struct host_timeline *host = &build->dependencies.host;
	const struct host_stretch *stretch = host_timeline_find(host, build->step->thread, end);

	if (stretch && stretch->end > end) {
		stretch =
			stretch > host->stretches && stretch[-1].item->thread == build->step->thread
				? stretch - 1
				: NULL;
	}
	return stretch && stretch->end > begin ? build->last_of[stretch - host->stretches] : 0;
}

/* Launches and what lies between them; a wait, a batch or a new step begins another run. */
static void follow_launches(struct build *build, uint32_t place, const struct step_item *item)
{
	struct node *node = node_at(build, place);

	if (node->kind == REPLAY_WAIT || node->kind == REPLAY_LOADER ||
		(item && item->is_call && item->role >= CALL_WAITS_ALL &&
			item->role <= CALL_WAITS_OWN)) {
		build->has_launched = false;
		build->nr_since = 0;
		return;
	}
	build->since = array_grow(
		build->since, build->nr_since, &build->since_capacity, sizeof(*build->since));
	build->since[build->nr_since++] = place;
	if (!item || item->role != CALL_LAUNCHES) {
		return;
	}
	for (size_t i = 0; build->has_launched && i < build->nr_since; i++) {
		node_at(build, build->since[i])->flags |= IS_BETWEEN_LAUNCHES;
	}
	build->has_launched = true;
	build->nr_since = 0;
}

/* Remembers in what the loop's thread was when the step began and ended; nodes come in order. */
static void on_loop(struct build *build, uint32_t place)
{
	struct part *part = build->graph->parts;
	uint64_t begin = node_at(build, place)->begin;

	part->at_begin = begin < part->begin ? place : part->at_begin;
	part->at_end = begin < part->end ? place : part->at_end;
}

/* Work of a thread, in a range of the user or in none. */
static uint32_t add_work(struct build *build, uint32_t thread, uint32_t after, uint64_t begin,
	uint64_t end, const struct host_stretch *range)
{
	uint32_t place = add_node(build, REPLAY_HOST, begin, end);

	if (range) {
		set_facts(build, node_at(build, place), range->item);
	}
	node_at(build, place)->after = after;
	follow_launches(build, place, NULL);
	if (thread == build->step->thread) {
		on_loop(build, place);
	}
	return place;
}

/*
 * The work of a thread between two of its stretches. Ranges of the user that a change concerns have
 * nodes of their own.
 */
static uint32_t add_gap(
	struct build *build, uint32_t thread, uint32_t after, uint64_t begin, uint64_t end)
{
	struct host_timeline *ranges = &build->dependencies.ranges;
	const struct host_stretch *last = host_timeline_find(ranges, thread, end), *range = last;

	while (range && range > ranges->stretches && range[-1].item->thread == thread &&
		range[-1].end > begin) {
		range--;
	}
	for (; range && range <= last; range++) {
		uint64_t from = range->begin > begin ? range->begin : begin;
		uint64_t to = range->end < end ? range->end : end;

		if (from >= to || !build->items[range->item - build->step->items].scales) {
			continue;
		}
		after = from > begin ? add_work(build, thread, after, begin, from, NULL) : after;
		after = add_work(build, thread, after, from, to, range);
		begin = to;
	}
	return begin < end ? add_work(build, thread, after, begin, end, NULL) : after;
}

static void set_cause(struct build *build, uint32_t place, uint32_t cause)
{
	struct node *node = node_at(build, place), *other = node_at(build, cause);
	uint64_t delay;

	if (other->end > node->begin) { /* a collective, of which the end was noted late */
		other->end = node->begin > other->begin ? node->begin : other->begin;
	}
	delay = node->begin > other->end ? node->begin - other->end : 0;
	node->cause = cause;
	node->cause_delay = delay < UINT32_MAX ? (uint32_t)delay : UINT32_MAX;
}

/* ---- collectives of the host ---- */

/*
 * Begins as long after what the loop's thread was in as recorded, unless the one before it on its
 * thread was in the way.
 */
static void link_collective(struct build *build, uint32_t place, uint64_t begin)
{
	struct host_timeline *host = &build->dependencies.host;
	const struct host_stretch *caller =
		host_timeline_find(host, build->step->thread, begin + 1);
	struct node *node = node_at(build, place);
	uint32_t cause = 0;
	uint64_t delay;

	if (caller) {
		bool is_in = caller->end >= begin;

		cause = (is_in ? build->first_of : build->last_of)[caller - host->stretches];
		node->flags |= is_in ? IS_FROM_BEGIN : 0;
	}
	if (!cause) {
		node->flags |= IS_FIXED;
		return;
	}
	delay = begin - (node->flags & IS_FROM_BEGIN ? node_at(build, cause)->begin
						     : node_at(build, cause)->end);
	if (node->after && !(node->flags & IS_FROM_BEGIN) &&
		begin - node_at(build, node->after)->end <= REPLAY_DELAY_MAX_NS) {
		delay = 0;
	}
	node->cause = cause;
	node->cause_delay = delay < UINT32_MAX ? (uint32_t)delay : UINT32_MAX;
}

static int by_end(const void *a, const void *b)
{
	const struct host_collective_span *x = a, *y = b;

	return COMPARE(x->end, y->end);
}

/* Items come by thread, so `before` is the collective before it on the same thread. */
static void add_collectives(struct build *build)
{
	const struct dependencies *dependencies = &build->dependencies;
	const struct replay_names *names = build->names;
	const struct step_item *before = NULL;
	uint32_t place = 0;

	for (size_t i = 0; i < dependencies->nr_items; i++) {
		const struct step_item *item = dependencies->items[i];
		bool is_next;

		if (!item->is_collective || item->begin < build->step->complete_from ||
			item->begin >= build->step->end) {
			continue;
		}
		is_next = before && before->thread == item->thread && before->end <= item->begin;
		before = item;
		place = add_node(build, REPLAY_COLLECTIVE, item->begin, item->end);
		node_at(build, place)->after = is_next ? place - 1 : 0;
		node_at(build, place)->flags |= IS_ON_HOST;
		node_at(build, place)->scales = build->items[item - build->step->items].scales;
		if (names && names->of_host_collective) {
			node_at(build, place)->collective =
				names->of_host_collective(names->context, item->begin);
		}
		link_collective(build, place, item->begin);
		build->collectives = array_grow(build->collectives, build->nr_collectives,
			&build->collective_capacity, sizeof(*build->collectives));
		build->collectives[build->nr_collectives++] =
			(struct host_collective_span){item->begin, item->end, place};
	}
	if (build->nr_collectives) {
		qsort(build->collectives, build->nr_collectives, sizeof(*build->collectives),
			by_end);
	}
}

/* Counts the collectives that end by then. */
static size_t collectives_until(const struct build *build, uint64_t end)
{
	size_t at;

	BISECT(at, 0, build->nr_collectives, build->collectives[at].end <= end);
	return at;
}

/* The collective that a thread waits for in a gap; 0: none. */
static uint32_t collective_in_gap(const struct build *build, uint64_t begin, uint64_t end)
{
	uint64_t until = end, filled = 0;
	uint32_t last = 0;

	for (size_t i = collectives_until(build, end + (end - begin) / OVERRUN_PART);
		i-- > 0 && build->collectives[i].end > begin;) {
		const struct host_collective_span *span = &build->collectives[i];
		uint64_t from = span->begin > begin ? span->begin : begin;
		uint64_t to = span->end < until ? span->end : until;

		if (span->begin >= end) {
			continue;
		}
		last = last ? last : span->node;
		filled += to > from ? to - from : 0;
		until = from < until ? from : until;
	}
	return filled && filled >= (end - begin) / 2 ? last : 0;
}

/* ---- a thread ---- */

/*
 * Returns what the gap of a thread before one of its stretches waits for; 0: it is work. The loop's
 * thread looks for a collective first, any other thread for what woke it.
 */
static uint32_t cause_of_gap(struct build *build, size_t thread, uint64_t begin, uint64_t end)
{
	bool is_loop = build->dependencies.host.threads[thread].thread == build->step->thread;
	uint32_t found =
		is_loop ? collective_in_gap(build, begin, end) : handed_over(build, begin, end);

	if (found) {
		return found;
	}
	return is_loop ? joined(build, thread, begin, end) : collective_in_gap(build, begin, end);
}

/*
 * Puts the nodes of a thread behind each other, from the first stretch that is complete to the
 * last. Between two stretches lies either a wait for another thread (cause) or work (add_gap).
 * `before` is the last node of the thread so far, 0 at its start: what another thread than the
 * loop's did before its first stretch is unknown, so it has no gap there. A run of launches ends
 * where the step begins.
 */
static void link_thread(struct build *build, size_t thread)
{
	struct host_timeline *host = &build->dependencies.host;
	uint32_t number = host->threads[thread].thread, before = 0;
	bool is_loop = number == build->step->thread;
	uint64_t now = build->step->complete_from, end = build->graph->parts[0].end;

	build->has_launched = false;
	build->nr_since = 0;
	for (size_t i = host->threads[thread].first; i < host->threads[thread].end; i++) {
		const struct host_stretch *stretch = &host->stretches[i];
		uint32_t first = build->first_of[i], cause;

		if (!first) {
			continue;
		}
		if (now < build->step->begin && stretch->begin >= build->step->begin) {
			build->has_launched = false;
			build->nr_since = 0;
		}
		cause = stretch->begin > now ? cause_of_gap(build, thread, now, stretch->begin) : 0;
		if (cause) {
			set_cause(build, first, cause);
		} else if (stretch->begin > now && (before || is_loop)) {
			before = add_gap(build, number, before, now, stretch->begin);
		}
		node_at(build, first)->after = before;
		follow_launches(build, first, stretch->item);
		before = build->last_of[i];
		if (before != first) {
			follow_launches(build, before, stretch->item);
		}
		if (is_loop) {
			on_loop(build, first);
			on_loop(build, before);
		}
		now = stretch->end;
	}
	if (is_loop && now < end && !joined(build, thread, now, end)) {
		add_gap(build, number, before, now, end);
	}
}

/* ---- devices ---- */

static uint8_t kind_of(const struct step_activity *activity)
{
	return activity->is_copy					 ? REPLAY_COPY
	       : kernel_class_of(activity->name) == KERNEL_COMMUNICATION ? REPLAY_COLLECTIVE
									 : REPLAY_KERNEL;
}

/* 1 + the node of the call, from its first part or to its last; 0: not in the graph. */
static uint32_t call_node(struct build *build, const struct step_activity *activity, bool is_end)
{
	struct host_timeline *host = &build->dependencies.host;
	const struct host_stretch *stretch = host_timeline_find(
		host, activity->thread, is_end ? activity->call_end : activity->call_begin + 1);

	if (!stretch || stretch->end < activity->call_begin) {
		return 0;
	}
	return (is_end ? build->last_of : build->first_of)[stretch - host->stretches];
}

/* Returns the factors of the operators that captured a graph's node: none of them is around its
 * launch. */
static uint32_t captured_scales(const struct build *build, const struct step_activity *activity)
{
	uint32_t scales = 0;

	for (uint32_t i = activity->captured; i; i = build->step->captured[i - 1].outer) {
		scales |= build->names->scales_of(build->names->context,
			build->step->captured[i - 1].name, REPLAY_ITEM_OPERATOR);
	}
	return scales;
}

/*
 * Leaves out what had ended before the window, and what later steps launched. An activity that
 * began before its launching call returned waits for the call's begin, else for its end.
 */
static void add_activities(struct build *build)
{
	const struct step_events *step = build->step;

	build->node_of = mem_zeroed(build->dependencies.nr_records + 1, sizeof(*build->node_of));
	for (size_t i = 0; i < build->dependencies.nr_records; i++) {
		const struct step_activity *activity = &build->dependencies.records[i];
		bool is_before = activity->call_begin < step->complete_from;
		uint32_t place, call;
		struct node *node;

		if ((is_before && activity->end <= step->complete_from) ||
			activity->call_begin >= step->end) {
			continue;
		}
		place = add_node(build, kind_of(activity), activity->begin, activity->end);
		node = node_at(build, place);
		build->node_of[i] = place;
		node->device = (uint16_t)activity->device;
		node->flags |= activity->call_begin < step->begin ? IS_OF_EARLIER_STEP : 0;
		node->flags |= activity->begin < activity->call_end ? IS_FROM_BEGIN : 0;
		call = is_before
			       ? 0
			       : call_node(build, activity, activity->begin >= activity->call_end);
		node->cause = call;
		node->flags |= call ? 0 : IS_FIXED;
		if (build->names) {
			node->scales = build->names->scales_of(
				build->names->context, activity->name, REPLAY_ITEM_ACTIVITY);
			node->scales |= captured_scales(build, activity);
			node->scales |= call ? node_at(build, call)->scales : 0;
			node->collective = build->names->of_collective(
				build->names->context, activity->correlation);
		}
	}
}

/* Nothing waits for them. What they keep the device busy for, the step needs. */
static void add_lone(struct build *build)
{
	const struct step_events *step = build->step;

	for (size_t i = 0; i < step->nr_lone; i++) {
		const struct step_activity *activity = &step->lone[i];
		struct node *node;

		if (activity->end <= step->begin || activity->begin >= step->end) {
			continue;
		}
		node = node_at(
			build, add_node(build, kind_of(activity), activity->begin, activity->end));
		node->device = (uint16_t)activity->device;
		node->flags = IS_FIXED | IS_LONE;
		if (build->names) {
			node->scales = build->names->scales_of(
				build->names->context, activity->name, REPLAY_ITEM_ACTIVITY);
		}
	}
}

/*
 * An activity may begin a little before the one before it ends: by programmatic dependent launch,
 * or because clocks were fitted to each other.
 */
static uint64_t overlap_of(const struct step_activity *activity)
{
	uint64_t share = (activity->end - activity->begin) / 100;

	return share > OVERLAP_NS ? share : OVERLAP_NS;
}

/*
 * Returns what lies before it on its stream. Nodes of a graph may overlap: of these, the last that
 * had ended.
 */
static uint32_t before_on_stream(const struct build *build, size_t place)
{
	const struct step_activity *activity = &build->dependencies.records[place];

	for (size_t i = place, k = 0; i-- > 0 && k < NR_BACK; k++) {
		const struct step_activity *other = &build->dependencies.records[i];

		if (other->stream != activity->stream) {
			break;
		}
		if (other->end <= activity->begin + overlap_of(other)) {
			return build->node_of[i];
		}
	}
	return 0;
}

static void link_activity(struct build *build, size_t place)
{
	struct replay_graph *graph = build->graph;
	const struct step_activity *activity = &build->dependencies.records[place];
	struct node *node = node_at(build, build->node_of[place]);

	node->after = before_on_stream(build, place);
	node->first_event = (uint32_t)graph->nr_events;
	dependencies_find_causes(&build->dependencies, activity);
	for (size_t i = 0; i < build->dependencies.nr_causes; i++) {
		const struct step_activity *cause = build->dependencies.causes[i];
		uint32_t other = build->node_of[cause - build->dependencies.records];

		if (cause->stream == activity->stream || !other || cause->end > activity->begin) {
			continue;
		}
		graph->events = array_grow(graph->events, graph->nr_events, &graph->event_capacity,
			sizeof(*graph->events));
		graph->events[graph->nr_events++] = other;
		node->nr_events++;
	}
}

static void link_waits(struct build *build)
{
	for (size_t i = 0; i < build->graph->nr_nodes; i++) {
		if (build->waited[i]) {
			build->graph->nodes[i].cause =
				build->node_of[build->waited[i] - build->dependencies.records];
		}
	}
}

/* A process whose loop's thread is in nothing that was recorded. */
static void add_empty_loop(struct build *build)
{
	const struct step_events *step = build->step;

	if (!build->graph->parts[0].at_end) {
		add_gap(build, step->thread, 0, step->complete_from, build->graph->parts[0].end);
	}
}

/* ---- all ---- */

static void measure(struct replay_graph *graph)
{
	struct part *part = graph->parts;
	struct span span = {part->begin, part->end, 0};

	replay_add_ends(graph, NULL, &span);
	part->from = span.begin;
	part->to = span.end;
}

/* A node for each stretch and activity, and for the gaps between some stretches. */
static void make_room(struct build *build)
{
	size_t nr_stretches = build->dependencies.host.nr_stretches;
	struct replay_graph *graph = build->graph;

	graph->capacity = nr_stretches + nr_stretches / 4 + build->dependencies.nr_records + 1;
	graph->nodes = mem_resize(NULL, graph->capacity, sizeof(*graph->nodes));
	build->waited_capacity = graph->capacity;
	build->waited = mem_resize(NULL, graph->capacity, sizeof(const struct step_activity *));
}

static void build_nodes(struct build *build)
{
	size_t nr_threads = build->dependencies.host.nr_threads;

	make_room(build);
	find_facts(build);
	add_stretches(build);
	add_collectives(build);
	for (size_t i = 0; i < nr_threads; i++) {
		link_thread(build, i);
	}
	add_empty_loop(build);
	add_activities(build);
	for (size_t i = 0; i < build->dependencies.nr_records; i++) {
		if (build->node_of[i]) {
			link_activity(build, i);
		}
	}
	link_waits(build);
	add_lone(build);
}

/*
 * Delays come before merging, because they are of single events. The order comes last, and is of
 * the nodes that are left.
 */
struct replay_graph *replay_create(struct step_events *step, const struct replay_names *names)
{
	struct replay_graph *graph = mem_zeroed(1, sizeof(*graph));
	struct build build = {.graph = graph, .step = step, .names = names};

	graph->parts = mem_zeroed(1, sizeof(*graph->parts));
	graph->nr_parts = 1;
	graph->parts[0].begin = step->begin;
	graph->parts[0].end = end_of_host(step);
	dependencies_init(&build.dependencies, step, step->complete_from);
	build_nodes(&build);
	replay_set_delays(graph);
	measure(graph);
	replay_merge(graph, names && names->has_no_limits);
	replay_order(graph);
	replay_make_room(graph);
	dependencies_fini(&build.dependencies);
	free(build.items);
	free(build.first_of);
	free(build.last_of);
	free(build.node_of);
	free(build.waited);
	free(build.since);
	free(build.collectives);
	return graph;
}
