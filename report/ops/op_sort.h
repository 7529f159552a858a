/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts op_events in the order of their ends. What threads and tables wrote is in order by itself,
 * so runs are merged, and of keys: the events stay where they are.
 */
#ifndef REPORT_OPS_OP_SORT_H
#define REPORT_OPS_OP_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op_event_kind {
	OP_EVENT_OP,
	OP_EVENT_CALL, /* a call that device work is known of, or its Python stack; or any call */
	OP_EVENT_ALLOC,
	OP_EVENT_PUSH, /* of an NVTX range */
	OP_EVENT_POP,
	OP_EVENT_NO_CALL, /* device work whose launch is not in the stream, in no order */
};

struct op_event {
	uint64_t begin, end; /* ticks */
	/* A call's device time in ns, an allocation's bytes, a range's domain. */
	uint64_t value;
	union {
		uint64_t address; /* of an allocation; of what is unnamed, the name's id */
		struct {
			uint32_t correlation; /* of a call */
			uint32_t records;     /* a list of op_load_want.records */
		};
	};
	uint32_t order; /* as rows were written, of those that are loaded */
	uint32_t thread;
	union {
		uint32_t name; /* of names.h; a range's full name */
		uint32_t call; /* an id of the stream */
	};
	union {
		uint32_t shape; /* of names.h */
		int32_t result; /* of a call */
	};
	uint32_t py_stack; /* 0 not taken */
	uint32_t nr_activities;
	uint16_t depth;
	uint8_t kind; /* enum op_event_kind */
	union {
		uint8_t framework;
		bool is_communication; /* of a call: of devices, and nothing else */
	};
	uint8_t scope; /* or the type of the device */
	union {
		uint8_t device;
		uint8_t table; /* of a call */
	};
	bool is_async;	 /* ended on another thread */
	bool is_unnamed; /* while it is loaded: the stream does not have its name, see op_rows.h */
};

struct op_sort_key {
	uint64_t end;
	uint32_t place; /* of the event */
};

/* Starts with all zeros. */
struct op_sort {
	struct op_sort_key *keys;  /* after op_sort_end, rising */
	struct op_sort_key *aside; /* of the shorter of two runs */
	size_t *runs;		   /* where those begin that wait to be merged */
	size_t nr_keys, nr_runs, key_capacity, aside_capacity, run_capacity;
};

void op_sort_fini(struct op_sort *sort);

/*
 * Where ends are the same, operators come last, since the last is taken first, in the order in
 * which they were written: what encloses is written after what lies in it. Pushes and pops of
 * ranges stay as they were written, so one without a length pairs with itself. At most UINT32_MAX
 * events.
 *
 * op_sort_add takes those since the last time, best while they are in the cache; `events` may have
 * moved in between.
 */
void op_sort_begin(struct op_sort *sort);
void op_sort_add(struct op_sort *sort, const struct op_event *events, size_t nr_events);
void op_sort_end(struct op_sort *sort, const struct op_event *events);

/* How many of the keys have that end or an earlier one. */
size_t op_sort_up_to(const struct op_sort *sort, uint64_t end);

#endif
