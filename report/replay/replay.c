/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs graphs again. replay_build.c has made them, one for each process and step; prediction.c
 * calls replay_run() for each change. Nodes stand in an order in which each comes after all that it
 * waits for (replay_order), so a run is one loop over them:
 *
 *   begin = the latest of  end(after) + after_delay      the node before it on its thread or stream
 *                          end(cause) + cause_delay      its launch, or what a call waits for
 *                          end(event) + event_delay      each event that its stream waits for
 *   end   = begin + recorded duration * factors          0 if the change takes it out
 *
 *   thread   [op   ][launch]....[op   ][sync|return]          | own part, then the wait's return
 *                      `cause            cause-'
 *   stream             `--delay--[kernel 1][kernel 2]         kernel 2 is `after` kernel 1
 *
 * replay_join() puts the graphs of several ranks together. A collective becomes an arrival on each
 * rank, one meeting, and a transfer on each rank:
 *
 *   rank 0   ...[arrival]--.          .--[transfer]...
 *                           >-meeting-<                      as late as the last arrival
 *   rank 1   ......[arrival]'          `-[transfer]...
 */
#include "report/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "report/replay/replay_graph.h"
#include "report/util/buf.h"
#include "report/util/idmap.h"
#include "report/util/sort.h"
#include "report/util/rounding.h"

const char *const replay_kind_names[NR_REPLAY_KINDS] = {
	[REPLAY_HOST] = "host code",
	[REPLAY_OPERATOR] = "operators",
	[REPLAY_LOADER] = "data loading",
	[REPLAY_CALL] = "API calls",
	[REPLAY_WAIT] = "waits",
	[REPLAY_DELAY] = "launch delays",
	[REPLAY_KERNEL] = "kernels",
	[REPLAY_COLLECTIVE] = "collectives",
	[REPLAY_COPY] = "copies",
	[REPLAY_BUSY] = "GPU busy time",
};

/* ---- order ---- */

/* The nodes that wait for each node, by index. */
struct followers {
	size_t *first; /* of each node, and behind the last */
	uint32_t *places;
	uint32_t *nr_open; /* what a node still waits for */
};

#define MAX_CAUSES 2

static size_t causes_of(const struct replay_graph *graph, size_t place, uint32_t *causes)
{
	const struct node *node = &graph->nodes[place];
	size_t nr = 0;

	causes[nr] = node->after;
	nr += node->after != 0;
	causes[nr] = node->cause;
	nr += node->cause != 0;
	return nr;
}

static uint32_t event_of(const struct replay_graph *graph, size_t place, uint32_t i)
{
	return graph->events[graph->nodes[place].first_event + i];
}

/*
 * Numbers of nodes count from 1. first[number] counts the followers of a node; the sums make it
 * where they end, and place_followers() counts down to where they start.
 */
static void count_followers(const struct replay_graph *graph, struct followers *followers)
{
	uint32_t causes[MAX_CAUSES];

	for (size_t i = 0; i < graph->nr_nodes; i++) {
		size_t nr = causes_of(graph, i, causes);

		for (size_t k = 0; k < nr; k++) {
			followers->first[causes[k]]++;
			followers->nr_open[i]++;
		}
		for (uint32_t k = 0; k < graph->nodes[i].nr_events; k++) {
			uint32_t event = event_of(graph, i, k);

			followers->first[event] += event != 0;
			followers->nr_open[i] += event != 0;
		}
	}
	for (size_t i = 0; i < graph->nr_nodes; i++) {
		followers->first[i + 1] += followers->first[i];
	}
	followers->first[graph->nr_nodes + 1] = followers->first[graph->nr_nodes];
}

/* From the last to the first, so that first[] ends where it should. */
static void place_followers(const struct replay_graph *graph, struct followers *followers)
{
	uint32_t causes[MAX_CAUSES];

	followers->places =
		mem_resize(NULL, followers->first[graph->nr_nodes] + 1, sizeof(uint32_t));
	for (size_t i = graph->nr_nodes; i-- > 0;) {
		size_t nr = causes_of(graph, i, causes);

		for (size_t k = 0; k < nr; k++) {
			followers->places[--followers->first[causes[k]]] = (uint32_t)i;
		}
		for (uint32_t k = 0; k < graph->nodes[i].nr_events; k++) {
			uint32_t event = event_of(graph, i, k);

			if (event) {
				followers->places[--followers->first[event]] = (uint32_t)i;
			}
		}
	}
}

/*
 * Finds an order in which each node comes after all that it waits for: order[i] is the index of the
 * i-th. Clocks may contradict each other; then some nodes wait in a circle and come last, in their
 * own order.
 */
static void find_order(const struct replay_graph *graph, uint32_t *order)
{
	size_t nr_nodes = graph->nr_nodes, nr = 0;
	struct followers followers = {
		.first = mem_zeroed(nr_nodes + 2, sizeof(size_t)),
		.nr_open = mem_zeroed(nr_nodes + 1, sizeof(uint32_t)),
	};

	count_followers(graph, &followers);
	place_followers(graph, &followers);
	for (size_t i = 0; i < nr_nodes; i++) {
		if (!followers.nr_open[i]) {
			order[nr++] = (uint32_t)i;
		}
	}
	for (size_t done = 0; done < nr; done++) {
		size_t place = order[done] + 1;

		for (size_t k = followers.first[place]; k < followers.first[place + 1]; k++) {
			if (!--followers.nr_open[followers.places[k]]) {
				order[nr++] = followers.places[k];
			}
		}
	}
	for (size_t i = 0; nr < nr_nodes && i < nr_nodes; i++) {
		if (followers.nr_open[i]) {
			order[nr++] = (uint32_t)i;
		}
	}
	free(followers.first);
	free(followers.places);
	free(followers.nr_open);
}

/* New numbers; what would come after what waits for it is forgotten. */
static uint32_t moved(const uint32_t *new_place, uint32_t place, size_t self)
{
	return place && new_place[place - 1] < self ? new_place[place - 1] + 1 : 0;
}

/*
 * Puts nodes into their order and renumbers all links. A link to a node that comes later in the
 * order is dropped: the nodes wait for each other in a loop.
 */
void replay_order(struct replay_graph *graph)
{
	size_t nr = graph->nr_nodes;
	struct node *nodes = mem_resize(NULL, nr + 1, sizeof(*nodes));
	uint32_t *order = mem_resize(NULL, nr + 1, sizeof(*order));
	uint32_t *new_place = mem_resize(NULL, nr + 1, sizeof(*new_place));

	find_order(graph, order);
	for (size_t i = 0; i < nr; i++) {
		nodes[i] = graph->nodes[order[i]];
		new_place[order[i]] = (uint32_t)i;
	}
	for (size_t i = 0; i < nr; i++) {
		nodes[i].after = moved(new_place, nodes[i].after, i);
		nodes[i].cause = moved(new_place, nodes[i].cause, i);
		for (uint32_t k = 0; k < nodes[i].nr_events; k++) {
			uint32_t *event = &graph->events[nodes[i].first_event + k];

			*event = moved(new_place, *event, i);
		}
	}
	for (size_t i = 0; i < graph->nr_parts; i++) {
		struct part *part = &graph->parts[i];

		part->at_begin = moved(new_place, part->at_begin, nr);
		part->at_end = moved(new_place, part->at_end, nr);
	}
	free(graph->nodes);
	free(order);
	free(new_place);
	graph->nodes = nodes;
}

void replay_add_ends(const struct replay_graph *graph, const uint64_t *ends, struct span *spans)
{
	for (size_t i = 0; i < graph->nr_nodes; i++) {
		const struct node *node = &graph->nodes[i];
		struct span *span = &spans[node->part];
		uint64_t end = ends ? ends[i] : node->end;

		if (!replay_is_on_device(node) || (node->flags & IS_LONE)) {
			continue;
		}
		if ((node->flags & IS_OF_EARLIER_STEP) && end > span->begin) {
			span->begin = end;
		}
		if (end > span->end) {
			span->end = end;
			span->last = (uint32_t)i + 1;
		}
	}
}

void replay_destroy(struct replay_graph *graph)
{
	free(graph->nodes);
	free(graph->events);
	free(graph->parts);
	free(graph->begins);
	free(graph->arrivals);
	free(graph->ends);
	free(graph->binding);
	free(graph->work);
	free(graph);
}

/* ---- several processes ---- */

/* A collective that the joined processes carry out together. */
struct meeting {
	uint32_t nr_members, nr_wanted;
	uint32_t first; /* of its nodes in struct joining */
};

struct joining {
	struct replay_graph *graph;
	struct idmap meetings; /* struct meeting, by collective */
	uint32_t *members;     /* the nodes of each meeting, by index */
	uint32_t *ends;	       /* by node: 1 + the node that its followers wait for now */
};

static uint32_t shifted(uint32_t place, size_t by)
{
	return place ? place + (uint32_t)by : 0;
}

/* Appends the nodes of `from`, as another part. */
static void append(struct replay_graph *graph, const struct replay_graph *from)
{
	size_t nr = graph->nr_nodes, nr_events = graph->nr_events;

	for (size_t i = 0; i < from->nr_nodes; i++) {
		struct node node = from->nodes[i];

		node.after = shifted(node.after, nr);
		node.cause = shifted(node.cause, nr);
		node.first_event += (uint32_t)nr_events;
		node.part = (uint32_t)graph->nr_parts;
		graph->nodes = array_grow(
			graph->nodes, graph->nr_nodes, &graph->capacity, sizeof(*graph->nodes));
		graph->nodes[graph->nr_nodes++] = node;
	}
	for (size_t i = 0; i < from->nr_events; i++) {
		graph->events = array_grow(graph->events, graph->nr_events, &graph->event_capacity,
			sizeof(*graph->events));
		graph->events[graph->nr_events++] = shifted(from->events[i], nr);
	}
	graph->parts[graph->nr_parts] = from->parts[0];
	graph->parts[graph->nr_parts].at_begin = shifted(from->parts[0].at_begin, nr);
	graph->parts[graph->nr_parts].at_end = shifted(from->parts[0].at_end, nr);
	graph->nr_parts++;
}

/*
 * Two rounds: the first counts the members of each collective, the second puts them beside each
 * other.
 */
static void find_members(struct joining *joining, const struct replay_names *names)
{
	struct replay_graph *graph = joining->graph;
	uint32_t nr = 0;

	for (size_t i = 0; i < graph->nr_nodes; i++) {
		uint32_t collective = graph->nodes[i].collective;

		if (collective) {
			((struct meeting *)idmap_put(&joining->meetings, collective))->nr_members++;
		}
	}
	joining->members = mem_zeroed(graph->nr_nodes + 1, sizeof(uint32_t));
	for (size_t i = 0; i < graph->nr_nodes; i++) {
		uint32_t collective = graph->nodes[i].collective;
		struct meeting *meeting =
			collective ? idmap_get(&joining->meetings, collective) : NULL;

		if (meeting && !meeting->nr_wanted) {
			meeting->nr_wanted = names->ranks_of(names->context, collective);
			meeting->first = nr;
			nr += meeting->nr_members;
			meeting->nr_members = 0;
		}
		if (meeting) {
			joining->members[meeting->first + meeting->nr_members++] = (uint32_t)i;
		}
	}
}

static uint32_t add_joined(struct replay_graph *graph, struct node node)
{
	graph->nodes =
		array_grow(graph->nodes, graph->nr_nodes, &graph->capacity, sizeof(*graph->nodes));
	graph->nodes[graph->nr_nodes++] = node;
	return (uint32_t)graph->nr_nodes;
}

/*
 * Turns the nodes of a collective into arrivals and adds the meeting and the transfers. An arrival
 * has no duration: the wait for later ranks is what lies between it and the meeting.
 */
static void meet(struct joining *joining, const struct meeting *meeting)
{
	struct replay_graph *graph = joining->graph;
	const uint32_t *members = &joining->members[meeting->first];
	struct node all = {.kind = REPLAY_COLLECTIVE,
		.flags = IS_RENDEZVOUS,
		.first_event = (uint32_t)graph->nr_events,
		.nr_events = meeting->nr_members,
		.part = graph->nodes[members[0]].part};
	uint32_t place;

	for (uint32_t i = 0; i < meeting->nr_members; i++) {
		const struct node *member = &graph->nodes[members[i]];

		all.begin = member->begin > all.begin ? member->begin : all.begin;
		graph->events = array_grow(graph->events, graph->nr_events, &graph->event_capacity,
			sizeof(*graph->events));
		graph->events[graph->nr_events++] = members[i] + 1;
	}
	all.end = all.begin;
	place = add_joined(graph, all);
	for (uint32_t i = 0; i < meeting->nr_members; i++) {
		struct node transfer = graph->nodes[members[i]];

		transfer.begin = all.begin < transfer.end ? all.begin : transfer.end;
		transfer.after = transfer.nr_events = 0;
		transfer.flags &= IS_OF_EARLIER_STEP | IS_ON_HOST;
		transfer.cause = place;
		transfer.cause_delay = 0;
		joining->ends[members[i]] = add_joined(graph, transfer);
		graph->nodes[members[i]].end = graph->nodes[members[i]].begin;
		graph->nodes[members[i]].flags |= IS_ARRIVAL;
	}
}

static uint32_t new_end(const struct joining *joining, uint32_t place, size_t nr)
{
	return place && place <= nr && joining->ends[place - 1] ? joining->ends[place - 1] : place;
}

/* Nodes that waited for a member wait for the end of its transfer from now on. */
static void move_waits(struct joining *joining, size_t nr_nodes, size_t nr_events)
{
	struct replay_graph *graph = joining->graph;

	for (size_t i = 0; i < nr_nodes; i++) {
		struct node *node = &graph->nodes[i];

		node->after = new_end(joining, node->after, nr_nodes);
		if (!(node->flags & IS_FROM_BEGIN)) {
			node->cause = new_end(joining, node->cause, nr_nodes);
		}
	}
	for (size_t i = 0; i < nr_events; i++) {
		graph->events[i] = new_end(joining, graph->events[i], nr_nodes);
	}
}

/*
 * A collective of which a rank is missing is not joined: on each rank it stays as it was
 * measured.
 */
struct replay_graph *replay_join(
	struct replay_graph *const *graphs, size_t nr_graphs, const struct replay_names *names)
{
	struct joining joining = {.graph = mem_zeroed(1, sizeof(struct replay_graph))};
	struct replay_graph *graph = joining.graph;
	size_t nr_nodes, nr_events;
	uint32_t most = 0;

	graph->parts = mem_zeroed(nr_graphs, sizeof(*graph->parts));
	for (size_t i = 0; i < nr_graphs; i++) {
		append(graph, graphs[i]);
	}
	nr_nodes = graph->nr_nodes;
	nr_events = graph->nr_events;
	joining.ends = mem_zeroed(nr_nodes + 1, sizeof(uint32_t));
	idmap_init(&joining.meetings, sizeof(struct meeting));
	find_members(&joining, names);
	for (size_t i = 0; i < joining.meetings.nr; i++) {
		const struct meeting *meeting = idmap_at(&joining.meetings, i);

		if (meeting->nr_members == meeting->nr_wanted && meeting->nr_members > 1) {
			meet(&joining, meeting);
			most = meeting->nr_members > most ? meeting->nr_members : most;
		}
	}
	move_waits(&joining, nr_nodes, nr_events);
	replay_order(graph);
	replay_make_room(graph);
	graph->arrivals = mem_zeroed(most + 1, sizeof(*graph->arrivals));
	idmap_fini(&joining.meetings);
	free(joining.members);
	free(joining.ends);
	return graph;
}

uint64_t replay_measured_ns(const struct replay_graph *graph, size_t part)
{
	return replay_since(graph->parts[part].from, graph->parts[part].to);
}

uint64_t replay_unexplained_ns(const struct replay_graph *graph, size_t part)
{
	return graph->parts[part].unexplained_ns;
}

/* ---- what the devices need ---- */

/* By what a change multiplies the duration of a node. */
static double factor_of(const struct node *node, const struct replay_change *change)
{
	uint32_t scales = node->scales & change->scales;
	double factor = 1;

	if (node->no_duration & change->removals) {
		return 0;
	}
	for (unsigned int i = 0; scales && i < REPLAY_SCALES; i++) {
		if (scales & 1u << i) {
			factor *= change->factors[i];
		}
	}
	return factor;
}

/* By part, device and begin. */
static int by_begin(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	return ORDER(COMPARE(x->part, y->part), COMPARE(x->device, y->device),
		COMPARE(x->begin, y->begin));
}

/* The activities, as far as they lie in the recorded step. */
static void find_work(struct replay_graph *graph)
{
	size_t capacity = 0;

	for (size_t i = 0; i < graph->nr_nodes; i++) {
		const struct node *node = &graph->nodes[i];
		const struct part *part = &graph->parts[node->part];
		uint64_t begin = node->begin > part->from ? node->begin : part->from;
		uint64_t end = node->end < part->to ? node->end : part->to;

		if (!replay_is_on_device(node) || begin >= end) {
			continue;
		}
		graph->work =
			array_grow(graph->work, graph->nr_work, &capacity, sizeof(*graph->work));
		graph->work[graph->nr_work++] =
			(struct work){begin, end, (uint32_t)i, node->part, node->device};
	}
	natural_sort(graph->work, graph->nr_work, sizeof(*graph->work), by_begin);
}

/* The share of an activity's time that a change leaves, 0 to 1. */
static double share_left(const struct replay_graph *graph, const struct work *work,
	const struct replay_change *change)
{
	double factor = factor_of(&graph->nodes[work->place], change);

	return factor < 1 ? factor : 1;
}

/*
 * Returns how long any activity runs of which at least `share` is left; *less: the next smaller
 * share.
 */
static uint64_t busy_ns(const struct replay_graph *graph, size_t first, size_t end,
	const struct replay_change *change, double share, double *less)
{
	uint64_t busy = 0, until = 0;

	*less = 0;
	for (size_t i = first; i < end; i++) {
		const struct work *work = &graph->work[i];
		double left = share_left(graph, work, change);

		if (left < share) {
			*less = left > *less ? left : *less;
		} else if (work->end > until) {
			busy += work->end - (work->begin > until ? work->begin : until);
			until = work->end;
		}
	}
	return busy;
}

/*
 * The least time that a device needs. At each moment, as much of the time is left as of the
 * activity of which most is left. So it adds up, from the largest share to the smallest, the time
 * in which activities with at least that share ran.
 */
static uint64_t device_least_ns(const struct replay_graph *graph, size_t first, size_t end,
	const struct replay_change *change)
{
	double share = 1, less, ns = 0;

	do {
		ns += (double)busy_ns(graph, first, end, change, share, &less) * (share - less);
		share = less;
	} while (share > 0);
	return (uint64_t)ns;
}

/*
 * Sets the time that the devices of each part need with the activities that the change leaves, ns:
 * the time in which any of them ran, so that streams overlap no more than they did.
 */
static void set_least_ns(
	struct replay_graph *graph, const struct replay_change *change, uint64_t *least_ns)
{
	const struct work *work;

	if (!graph->work) {
		find_work(graph);
	}
	work = graph->work;
	for (size_t i = 0; i < graph->nr_parts; i++) {
		least_ns[i] = 0;
	}
	for (size_t first = 0, end; first < graph->nr_work; first = end) {
		uint32_t part = work[first].part;
		uint64_t ns;

		for (end = first + 1; end < graph->nr_work && work[end].part == part &&
				      work[end].device == work[first].device;
			end++) {
		}
		ns = device_least_ns(graph, first, end, change);
		least_ns[part] = ns > least_ns[part] ? ns : least_ns[part];
	}
}

/* ---- a run ---- */

/*
 * A wait that is taken out neither takes time nor waits for its cause: one of both alone would
 * still keep what comes behind it.
 */
static void set_removals(struct node *node)
{
	if (node->flags & IS_IN_LOADER) {
		node->no_duration |= 1u << REPLAY_NO_LOADER;
		node->no_cause |= 1u << REPLAY_NO_LOADER;
	}
	if (node->flags & WAITS_FOR_WORK) {
		node->no_duration |= 1u << REPLAY_NO_SYNC;
		node->no_cause |= 1u << REPLAY_NO_SYNC;
	}
	if (node->flags & WAITS_FOR_COPY) {
		node->no_duration |= 1u << REPLAY_NO_COPIES;
		node->no_cause |= 1u << REPLAY_NO_COPIES;
	}
	if (node->kind == REPLAY_COPY) {
		node->no_duration |= 1u << REPLAY_NO_COPIES;
	}
	if (node->kind == REPLAY_COLLECTIVE) {
		node->no_duration |= 1u << REPLAY_NO_COMM;
	}
	if (node->flags & IS_BETWEEN_LAUNCHES) {
		node->no_duration |= 1u << REPLAY_NO_LAUNCHES;
	}
}

/* Notes on each node, and in sum, which changes can concern it. */
static void find_removals(struct replay_graph *graph)
{
	for (size_t i = 0; i < graph->nr_nodes; i++) {
		struct node *node = &graph->nodes[i];

		node->no_duration = node->no_cause = 0;
		set_removals(node);
		graph->scales |= node->scales;
		graph->removals |= node->no_duration | (node->cause ? node->no_cause : 0u);
		graph->removals |= node->after_delay > 0 ? 1u << REPLAY_NO_GAPS : 0;
		graph->removals |= node->flags & IS_RENDEZVOUS ? 1u << REPLAY_NO_STRAGGLERS : 0;
	}
}

void replay_make_room(struct replay_graph *graph)
{
	graph->begins = mem_resize(NULL, graph->nr_nodes + 1, sizeof(*graph->begins));
	graph->ends = mem_resize(NULL, graph->nr_nodes + 1, sizeof(*graph->ends));
	graph->binding = mem_resize(NULL, graph->nr_nodes + 1, sizeof(*graph->binding));
	find_removals(graph);
}

bool replay_has(const struct replay_graph *graph, const struct replay_change *change)
{
	return (graph->scales & change->scales) || (graph->removals & change->removals);
}

static bool is_removed(const struct node *node, uint32_t removals)
{
	return node->no_duration & removals;
}

/* Does it still wait for its cause, in addition to the node before it? */
static bool has_cause(const struct node *node, uint32_t removals)
{
	return node->cause && !(node->no_cause & removals);
}

struct latest {
	uint64_t time;
	uint32_t binding;
};

static void consider(struct latest *latest, uint64_t time, uint32_t place)
{
	if (!latest->binding || time > latest->time) {
		*latest = (struct latest){time, place};
	}
}

/* A collective begins when the last rank has come; without stragglers, when half of them have. */
static struct latest rendezvous(
	struct replay_graph *graph, const struct node *node, uint32_t removals)
{
	const uint32_t *places = &graph->events[node->first_event];
	struct latest latest = {0};
	size_t nr = 0;

	for (uint32_t i = 0; i < node->nr_events; i++) {
		if (places[i]) {
			graph->arrivals[nr++] = graph->begins[places[i] - 1];
			consider(&latest, graph->begins[places[i] - 1], places[i]);
		}
	}
	if (!nr || !(removals & 1u << REPLAY_NO_STRAGGLERS)) {
		return latest;
	}
	qsort(graph->arrivals, nr, sizeof(*graph->arrivals), by_u64);
	latest.time = graph->arrivals[(nr - 1) / 2];
	for (uint32_t i = 0; i < node->nr_events; i++) {
		if (places[i] && graph->begins[places[i] - 1] == latest.time) {
			latest.binding = places[i];
		}
	}
	return latest;
}

/* The delay after what lies before on the stream; without gaps at most 0. */
static uint64_t after_gap(const struct replay_graph *graph, const struct node *node, bool has_gap)
{
	uint64_t end = graph->ends[node->after - 1];
	int64_t delay = has_gap || node->after_delay < 0 ? node->after_delay : 0;

	return delay < 0 && (uint64_t)-delay > end ? 0 : end + (uint64_t)delay;
}

/*
 * `latest` starts at the recorded begin, which stays only for nodes that wait for nothing in the
 * graph.
 */
static void run_node(struct replay_graph *graph, const struct replay_change *change, size_t place)
{
	const struct node *node = &graph->nodes[place];
	struct latest latest = {node->begin, 0};
	uint64_t duration = node->end - node->begin;
	bool has_gap = !(change->removals & 1u << REPLAY_NO_GAPS) &&
		       !(node->kind == REPLAY_COPY && is_removed(node, change->removals));

	if (node->after && !(node->flags & IS_FIXED)) {
		consider(&latest, after_gap(graph, node, has_gap), node->after);
	}
	if (has_cause(node, change->removals)) {
		const uint64_t *times = node->flags & IS_FROM_BEGIN ? graph->begins : graph->ends;

		consider(&latest, times[node->cause - 1] + node->cause_delay, node->cause);
	}
	if (node->flags & IS_RENDEZVOUS) {
		latest = rendezvous(graph, node, change->removals);
	}
	for (uint32_t i = 0; !(node->flags & IS_RENDEZVOUS) && i < node->nr_events; i++) {
		uint32_t event = graph->events[node->first_event + i];

		if (event) {
			consider(&latest, graph->ends[event - 1] + node->event_delay, event);
		}
	}
	if ((node->flags & (IS_ARRIVAL | IS_RENDEZVOUS)) || is_removed(node, change->removals)) {
		duration = 0;
	} else if (node->scales & change->scales) {
		duration = whole_part((double)duration * factor_of(node, change));
	}
	graph->begins[place] = latest.time;
	graph->ends[place] = latest.time + duration;
	graph->binding[place] = latest.binding;
}

/*
 * Returns when the replayed loop's thread comes to the point at which it was at `time`: in the
 * middle of a node in proportion to its length.
 */
static uint64_t host_at(const struct replay_graph *graph, uint32_t at, uint64_t time)
{
	const struct node *node;
	uint64_t begin, end;

	if (!at) {
		return time;
	}
	node = &graph->nodes[at - 1];
	begin = graph->begins[at - 1];
	end = graph->ends[at - 1];
	if (time >= node->end) {
		return end + (time - node->end);
	}
	return begin + whole_part((double)(end - begin) * (double)(time - node->begin) /
				  (double)(node->end - node->begin));
}

/*
 * Adds up the kinds of nodes along the critical path: from the last node, along what came last of
 * what each waited for, back to the end of the step before.
 */
static void find_limits(
	const struct replay_graph *graph, const struct span *span, struct replay_result *result)
{
	uint64_t now = span->end;

	for (uint32_t place = span->last; place && now > span->begin;
		place = graph->binding[place - 1]) {
		uint64_t begin = graph->begins[place - 1], end = graph->ends[place - 1];
		const struct node *node = &graph->nodes[place - 1];

		begin = begin > span->begin ? begin : span->begin;
		end = end < now ? end : now;
		if (end > begin || end < now) {
			end = end > span->begin ? end : span->begin;
			result->limits[REPLAY_DELAY] += now - end;
			result->limits[node->kind] += end > begin ? end - begin : 0;
		}
		now = begin < now ? begin : now;
	}
}

/* A step never takes less than its devices need: see set_least_ns. */
void replay_run(struct replay_graph *graph, const struct replay_change *change,
	struct replay_result *results)
{
	static const struct replay_change none = {0};
	struct span *spans = mem_zeroed(graph->nr_parts, sizeof(*spans));
	uint64_t *least_ns = mem_zeroed(graph->nr_parts, sizeof(*least_ns));

	change = change ? change : &none;
	for (size_t i = 0; i < graph->nr_nodes; i++) {
		run_node(graph, change, i);
	}
	for (size_t i = 0; i < graph->nr_parts; i++) {
		const struct part *part = &graph->parts[i];

		spans[i] = (struct span){host_at(graph, part->at_begin, part->begin),
			host_at(graph, part->at_end, part->end), part->at_end};
	}
	replay_add_ends(graph, graph->ends, spans);
	set_least_ns(graph, change, least_ns);
	for (size_t i = 0; i < graph->nr_parts; i++) {
		results[i] = (struct replay_result){
			.step_ns = replay_since(spans[i].begin, spans[i].end),
			.least_ns = least_ns[i]};
		if (results[i].step_ns < least_ns[i]) {
			results[i].step_ns = results[i].limits[REPLAY_BUSY] = least_ns[i];
		} else {
			find_limits(graph, &spans[i], &results[i]);
		}
	}
	free(spans);
	free(least_ns);
}
