/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the events of a process for op_walk.c, over all threads, from the last end to the first.
 *
 * Blocks come in groups (FORMAT.md, checkpoints) that hold a prefix of what each thread did. So
 * memory holds one group, and the events that may still precede something of the group before it.
 */
#ifndef REPORT_OPS_OP_LOAD_H
#define REPORT_OPS_OP_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/model.h"
#include "report/ops/op_launch.h"
#include "report/util/sort.h"

/*
 * Events of operators, calls, allocations and ranges, and a sort by their ends.
 *
 * Each thread and table wrote its rows in order, so the sort merges runs. It moves keys only; the
 * events stay where they are.
 */

enum op_event_kind {
	OP_EVENT_OP,
	OP_EVENT_CALL, /* a call with known activities or a Python stack; or any call */
	OP_EVENT_ALLOC,
	OP_EVENT_PUSH, /* of an NVTX range */
	OP_EVENT_POP,
	OP_EVENT_NODE,	     /* a node of a graph was created; copies have no events */
	OP_EVENT_COLLECTION, /* of Python's garbage */
	OP_EVENT_NO_CALL,    /* activities whose call is not in the stream, in no order */
};

struct op_event {
	uint64_t begin, end; /* ticks */
	/*
	 * GPU time of a call in ns, bytes of an allocation, domain of a range, ID of a node, or
	 * objects that a collection freed.
	 */
	uint64_t value;
	/* For a call: op_call.handle, if records are wanted. For a collection: objects that it
	 * left. */
	uint64_t handle;
	union {
		uint64_t address;     /* of an allocation; the name's ID if is_unnamed */
		uint64_t correlation; /* of a call */
	};
	uint32_t order; /* in which rows were written, among those loaded */
	uint32_t thread;
	union {
		uint32_t name;	  /* of string_pool.h; for a range the full name */
		uint32_t records; /* of a call: a list of op_load_want.records */
	};
	union {
		uint32_t shape; /* of string_pool.h */
		int32_t result; /* of a call */
	};
	uint32_t py_stack, native_stack; /* 0: not recorded */
	uint32_t nr_activities;
	union {
		uint16_t depth;
		uint16_t call; /* an id of the stream, 0: unknown */
	};
	uint8_t kind; /* enum op_event_kind */
	union {
		uint8_t framework;
		bool is_communication; /* of a call: it launched communication only */
	};
	uint8_t scope; /* or the type of the device, or the generation of a collection */
	union {
		uint8_t device;
		uint8_t table; /* of a call */
	};
	bool is_async;	 /* ended on another thread */
	bool is_unnamed; /* while loading: the name is not interned yet */
};

struct op_sort_key {
	uint64_t end;
	uint32_t place; /* of the event */
};

/* Starts with all zeros. */
struct op_sort {
	struct op_sort_key *keys; /* after op_sort_end, rising */
	size_t key_capacity;
	struct run_sort runs;
};

void op_sort_fini(struct op_sort *sort);

/*
 * Sorts by end. At equal ends operators come last in the order of writing: the last is handed out
 * first, and an enclosing operator is written after what it contains. Pushes and pops keep the
 * order of writing, so that an empty range matches itself. At most UINT32_MAX events.
 *
 * op_sort_add adds the events since the last call, best while they are in the cache. `events` may
 * move between calls.
 */
void op_sort_begin(struct op_sort *sort);
void op_sort_add(struct op_sort *sort, const struct op_event *events, size_t nr_events);
void op_sort_end(struct op_sort *sort, const struct op_event *events);

/* Returns how many of the keys end at or before that time. */
size_t op_sort_up_to(const struct op_sort *sort, uint64_t end);

/* ---- groups of blocks ---- */

/*
 * Groups of a stream's blocks. Checkpoints close them, so each holds a prefix of what every thread
 * did since the group before.
 *
 * A group of more than OP_GROUPS_ROWS rows is split, to bound memory. That happens if the recorder
 * was delayed or the stream has no checkpoints. Memory also holds what threads and tables lag
 * behind each other.
 */

#define OP_GROUPS_ROWS (1u << 20)

struct op_group {
	size_t first, end;	/* blocks */
	uint64_t last_tick;	/* of host events in it and in earlier groups */
	size_t activities_from; /* activities of its calls are in this group or later ones */
};

/* Zero-initialized. */
struct op_groups {
	struct op_group *items;
	size_t nr, capacity;
};

/*
 * host_tables: a bit for each table whose ticks matter. Finds at least one group. None has more
 * than most_rows, unless a single block has.
 *
 * An activity may be written about one checkpoint before its call. Between splits the rising
 * correlation IDs decide.
 */
void op_groups_find(struct op_groups *groups, struct process *process, table_set host_tables,
	uint64_t most_rows);
void op_groups_fini(struct op_groups *groups);

/* ---- the load ---- */

/* Options that cost something, so only what a view wants is loaded. */
struct op_load_want {
	bool has_ranges;
	bool has_allocs;
	bool has_nodes;
	bool has_collections;
	bool has_calls;		    /* all calls; else those with activities or a stack */
	struct op_records *records; /* NULL, or the records of calls, which the caller removes */
	uint64_t group_rows;	    /* in memory at a time, 0 for OP_GROUPS_ROWS; for tests */
};

/*
 * Calls on_event for each event. It does nothing for a process without operators, allocations and
 * Python stacks, unless ranges, calls or records are wanted.
 *
 * A record is kept until its call is read, which started before the activity: kept are those
 * launched later than the current event. Records without a call never wait, because the calls are
 * known in advance (a bit each).
 */
void op_load_run(struct process *process, const struct op_load_want *want,
	void (*on_event)(void *context, const struct op_event *event), void *context);

/* For progress reports. */
uint64_t op_load_nr_rows(const struct process *process, const struct op_load_want *want);

#endif
