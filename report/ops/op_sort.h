/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of operators, calls, allocations and ranges, and a sort by their ends.
 *
 * Each thread and table wrote its rows in order, so the sort merges runs. It moves keys only; the
 * events stay where they are.
 */
#ifndef REPORT_OPS_OP_SORT_H
#define REPORT_OPS_OP_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op_event_kind {
	OP_EVENT_OP,
	OP_EVENT_CALL, /* a call with known activities or a Python stack; or any call */
	OP_EVENT_ALLOC,
	OP_EVENT_PUSH, /* of an NVTX range */
	OP_EVENT_POP,
	OP_EVENT_NO_CALL, /* activities whose call is not in the stream, in no order */
};

struct op_event {
	uint64_t begin, end; /* ticks */
	/* GPU time of a call in ns, bytes of an allocation, or domain of a range. */
	uint64_t value;
	union {
		uint64_t address; /* of an allocation; the name's id if is_unnamed */
		struct {
			uint32_t correlation; /* of a call */
			uint32_t records;     /* a list of op_load_want.records */
		};
	};
	uint32_t order; /* in which rows were written, among those loaded */
	uint32_t thread;
	union {
		uint32_t name; /* of string_pool.h; for a range the full name */
		uint32_t call; /* an id of the stream */
	};
	union {
		uint32_t shape; /* of string_pool.h */
		int32_t result; /* of a call */
	};
	uint32_t py_stack; /* 0: not recorded */
	uint32_t nr_activities;
	uint16_t depth;
	uint8_t kind; /* enum op_event_kind */
	union {
		uint8_t framework;
		bool is_communication; /* of a call: it launched communication only */
	};
	uint8_t scope; /* or the type of the device */
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
	struct op_sort_key *keys;  /* after op_sort_end, rising */
	struct op_sort_key *aside; /* buffer for the shorter of two runs */
	size_t *runs;		   /* where the runs that wait for a merge begin */
	size_t nr_keys, nr_runs, key_capacity, aside_capacity, run_capacity;
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

/* How many of the keys end at or before that time. */
size_t op_sort_up_to(const struct op_sort *sort, uint64_t end);

#endif
