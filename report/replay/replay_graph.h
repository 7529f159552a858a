/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of replay.h: replay_build.c builds it, replay_delays.c adds the delays of activities,
 * replay_merge.c makes it smaller, and replay.c joins and runs it.
 */
#ifndef REPORT_REPLAY_REPLAY_GRAPH_H
#define REPORT_REPLAY_REPLAY_GRAPH_H

#include "report/replay/replay.h"

enum {
	IS_FIXED = 1,	   /* begins as recorded: nothing is known that it waited for */
	IS_FROM_BEGIN = 2, /* waits for the begin of its cause, not for the end */
	IS_IN_LOADER = 4,
	IS_BETWEEN_LAUNCHES = 8, /* or a launch that is not the first one */
	WAITS_FOR_WORK = 16,	 /* a call that synchronises */
	WAITS_FOR_COPY = 32,	 /* its own */
	IS_OF_EARLIER_STEP = 64, /* an activity that was launched before the step */
	/* A collective of several ranks: each arrives, they meet, and each transfers. */
	IS_ARRIVAL = 128,
	IS_RENDEZVOUS = 256,
	IS_ON_HOST = 512, /* a collective that no device runs */
	IS_LONE = 1024,	  /* nothing is known of its launch: of no step, but the device was busy */
};

struct node {
	uint64_t begin, end;   /* recorded, ns */
	uint32_t after, cause; /* 1 + node: before it on its thread or stream; what else */
	uint32_t first_event, nr_events; /* more causes, in struct replay_graph */
	int32_t after_delay;		 /* ns; less than 0: it begins before that ends */
	uint32_t cause_delay, event_delay;
	uint32_t scales;
	uint32_t part;	     /* of a joined graph: whose it is */
	uint32_t collective; /* 1 + its number; 0: none, or not joined */
	uint16_t flags;
	uint8_t kind;
	/*
	 * The removals, as bits, that take out its duration, and those that take out its waiting
	 * for its cause.
	 */
	uint8_t no_duration, no_cause;
	uint16_t device; /* of an activity: the low bits of its number */
};

_Static_assert(NR_REPLAY_REMOVALS <= 8, "no_duration, no_cause");

/* The step of one process. */
struct part {
	uint64_t begin, end;
	uint32_t at_begin, at_end; /* 1 + what the loop's thread was in last before; 0: nothing */
	uint64_t from, to;	   /* recorded: the ends of the step before and of the step */
	uint64_t unexplained_ns;
};

/* An activity, as far as it lies in the recorded step. */
struct work {
	uint64_t begin, end;
	uint32_t place; /* of its node */
	uint32_t part;
	uint16_t device;
};

struct replay_graph {
	struct node *nodes; /* what waits comes after what it waits for */
	size_t nr_nodes, capacity;
	uint32_t *events; /* 1 + node */
	size_t nr_events, event_capacity;
	struct part *parts;
	size_t nr_parts;
	uint32_t scales, removals; /* that concern any node: bits */
	struct work *work;	   /* by part, device and begin */
	size_t nr_work;
	/* of a run */
	uint64_t *begins, *ends;
	uint64_t *arrivals; /* of one collective */
	uint32_t *binding;  /* 1 + what came last of what the node waited for */
};

/* A span of time from the end of the step before to the end of the step. */
struct span {
	uint64_t begin, end;
	uint32_t last; /* 1 + the node that ended last */
};

/* Returns how long after `time` something began; 0 if it did not. */
static inline uint64_t replay_since(uint64_t time, uint64_t begin)
{
	return begin > time ? begin - time : 0;
}

/* Does a device run it? */
static inline bool replay_is_on_device(const struct node *node)
{
	return node->kind >= REPLAY_KERNEL && !(node->flags & IS_ON_HOST);
}

/* Sets the delays of all activities, and what of the recorded ones is unexplained. */
void replay_set_delays(struct replay_graph *graph);

/* Puts what is waited for before what waits. */
void replay_order(struct replay_graph *graph);

/*
 * Joins what a thread does from one launch or wait to the next, if no change concerns only a part
 * of it and nothing waits for what is in its middle. is_any_kind: also of different kinds.
 */
void replay_merge(struct replay_graph *graph, bool is_any_kind);

/* Room for a run. */
void replay_make_room(struct replay_graph *graph);

/* Extends the spans of the parts to the ends of their activities; ends: NULL for the recorded. */
void replay_add_ends(const struct replay_graph *graph, const uint64_t *ends, struct span *spans);

#endif
