/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets how long each activity of the graph waits after what it waited for: as recorded where that
 * is short, else the median of its kind. replay_create() calls it while the nodes still have their
 * recorded times. Only the cause that ended last shows its true delay: the others had ended before,
 * so their delay is unknown, and the median serves, but never more than there was time.
 *
 *   launch   [call]......................
 *   stream   [kernel 1      ]..[kernel 2]     after: 2 us is the delay; cause: median, not 22 us
 */
#include <stdlib.h>
#include <string.h>

#include "report/replay/replay_graph.h"
#include "report/util/buf.h"

/* Since when an activity could have begun, by each of what it waits for; UINT64_MAX: none. */
struct slack {
	uint64_t after, cause, event;
};

static struct slack slack_of(const struct replay_graph *graph, const struct node *node)
{
	struct slack slack = {UINT64_MAX, UINT64_MAX, UINT64_MAX};

	if (node->after) {
		slack.after = replay_since(graph->nodes[node->after - 1].end, node->begin);
	}
	if (node->cause) {
		const struct node *cause = &graph->nodes[node->cause - 1];

		slack.cause = replay_since(
			node->flags & IS_FROM_BEGIN ? cause->begin : cause->end, node->begin);
	}
	for (uint32_t i = 0; i < node->nr_events; i++) {
		uint32_t event = graph->events[node->first_event + i];
		uint64_t ns =
			event ? replay_since(graph->nodes[event - 1].end, node->begin) : UINT64_MAX;

		slack.event = ns < slack.event ? ns : slack.event;
	}
	return slack;
}

struct delays {
	uint64_t *ns;
	size_t nr, capacity;
};

/* Delays up to REPLAY_DELAY_MAX_NS have so many upper parts, and lower parts of so many bits. */
#define LOW_BITS 8u
#define NR_HIGH	 ((REPLAY_DELAY_MAX_NS >> LOW_BITS) + 1)

/*
 * Returns the first index at which so many and one more have been counted; *rank: the rest
 * there.
 */
static size_t find_rank(const uint32_t *counts, size_t *rank)
{
	size_t i = 0;

	for (; counts[i] <= *rank; i++) {
		*rank -= counts[i];
	}
	return i;
}

/* Counts the upper parts, then the lower parts of those with the median's upper part. */
static uint64_t take_median(struct delays *delays)
{
	uint32_t high[NR_HIGH] = {0}, low[1u << LOW_BITS] = {0};
	size_t rank, found;

	if (!delays->nr) {
		return 0;
	}
	rank = (delays->nr - 1) / 2;
	for (size_t i = 0; i < delays->nr; i++) {
		high[delays->ns[i] >> LOW_BITS]++;
	}
	found = find_rank(high, &rank);
	for (size_t i = 0; i < delays->nr; i++) {
		if (delays->ns[i] >> LOW_BITS == found) {
			low[delays->ns[i] & ((1u << LOW_BITS) - 1)]++;
		}
	}
	free(delays->ns);
	return found << LOW_BITS | find_rank(low, &rank);
}

/* Names what came last of all that an activity waits for. */
enum { BY_AFTER, BY_END_OF_CALL, BY_BEGIN_OF_CALL, BY_EVENT, NR_BY };

static unsigned int last_of(const struct slack *slack, const struct node *node, uint64_t *ns)
{
	unsigned int by = node->flags & IS_FROM_BEGIN ? BY_BEGIN_OF_CALL : BY_END_OF_CALL;

	*ns = slack->cause;
	if (slack->after < *ns) {
		*ns = slack->after;
		by = BY_AFTER;
	}
	if (slack->event < *ns) {
		*ns = slack->event;
		by = BY_EVENT;
	}
	return by;
}

static bool is_free(const struct node *node)
{
	return replay_is_on_device(node) && !(node->flags & IS_FIXED);
}

static void find_medians(const struct replay_graph *graph, uint64_t *medians)
{
	struct delays delays[NR_BY] = {0};

	for (size_t i = 0; i < graph->nr_nodes; i++) {
		const struct node *node = &graph->nodes[i];
		uint64_t ns;

		if (is_free(node)) {
			struct slack slack = slack_of(graph, node);
			struct delays *of = &delays[last_of(&slack, node, &ns)];

			if (ns <= REPLAY_DELAY_MAX_NS) {
				of->ns = array_grow(of->ns, of->nr, &of->capacity, sizeof(*of->ns));
				of->ns[of->nr++] = ns;
			}
		}
	}
	for (unsigned int i = 0; i < NR_BY; i++) {
		medians[i] = take_median(&delays[i]);
	}
}

static uint32_t at_most(uint64_t slack, uint64_t most)
{
	return (uint32_t)(slack < most ? slack : most);
}

/*
 * A delay that is too long is counted as unexplained, less the median that the replay uses
 * instead.
 */
void replay_set_delays(struct replay_graph *graph)
{
	uint64_t medians[NR_BY];

	find_medians(graph, medians);
	for (size_t i = 0; i < graph->nr_nodes; i++) {
		struct node *node = &graph->nodes[i];
		uint64_t most[NR_BY], ns;
		struct slack slack;
		unsigned int by;

		if (!is_free(node)) {
			continue;
		}
		slack = slack_of(graph, node);
		by = last_of(&slack, node, &ns);
		memcpy(most, medians, sizeof(most));
		if (ns <= REPLAY_DELAY_MAX_NS) {
			most[by] = ns;
		} else if (!(node->flags & IS_OF_EARLIER_STEP)) {
			graph->parts[0].unexplained_ns += ns - most[by];
		}
		node->after_delay = (int32_t)at_most(slack.after, most[BY_AFTER]);
		if (node->after && graph->nodes[node->after - 1].end > node->begin) {
			uint64_t overlap = graph->nodes[node->after - 1].end - node->begin;

			node->after_delay = -(int32_t)at_most(overlap, INT32_MAX);
		}
		node->cause_delay = at_most(slack.cause,
			most[node->flags & IS_FROM_BEGIN ? BY_BEGIN_OF_CALL : BY_END_OF_CALL]);
		node->event_delay = at_most(slack.event, most[BY_EVENT]);
	}
}
