/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that op_walk.c joins, from the last to the first by their ends, over all threads. Blocks
 * come in groups (FORMAT.md, checkpoints) that hold a prefix of what each thread did; so one group
 * is in memory at a time, and what may still be later than something of the group before it.
 */
#ifndef REPORT_OPS_OP_LOAD_H
#define REPORT_OPS_OP_LOAD_H

#include "report/model/model.h"
#include "report/ops/op_records.h"

enum op_event_kind {
	OP_EVENT_OP,
	OP_EVENT_WORK, /* a call that device work is known of, or its Python stack; or any call */
	OP_EVENT_ALLOC,
	OP_EVENT_PUSH, /* of an NVTX range */
	OP_EVENT_POP,
	OP_EVENT_LONE, /* device work whose launch is not in the stream, in no order */
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
	uint32_t nr_works;
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

/* What costs something, and is handed out to those alone who want it. */
struct op_load_want {
	bool has_ranges;
	bool has_allocs;
	bool has_calls;		    /* all of them; else those that work or a stack is known of */
	struct op_records *records; /* NULL, or where records stand, for the caller to take out */
	uint64_t group_rows;	    /* in memory at a time, 0 for OP_GROUPS_ROWS; tests */
};

/*
 * Nothing is handed out for a process without ops, allocations and Python stacks, unless ranges,
 * calls or records are wanted. Records wait until their call is read, which was before the work:
 * those kept at once are what was launched later than that. It is known beforehand which calls
 * there are (a bit each), so no record waits in vain.
 */
void op_load_run(struct process *process, const struct op_load_want *want,
	void (*take)(void *context, const struct op_event *event), void *context);

/* For the progress. */
uint64_t op_load_nr_rows(const struct process *process, const struct op_load_want *want);

#endif
