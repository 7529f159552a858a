/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a job: what `reduce` keeps of its streams. Summaries add up. Summaries of the same
 * streams are the same file, byte for byte, however the streams were divided and ordered. A summary
 * has:
 *
 * rows of all processes together: operators, kernels, copies and calls by name, NCCL's operations
 * by communicator. A row has exact counts, sum and extremes, a sketch of its times, a sketch of the
 * time that each process spent in it, and the processes that spent least and most. Memory grows
 * with the number of different names, not of processes.
 *
 * processes, one by one: identity, losses, the breakdown of the steps added up, peaks of memory and
 * the times of each step. Memory: the bytes of the file, about 40 a step and 220 besides.
 */
#ifndef REPORT_REDUCE_REDUCED_H
#define REPORT_REDUCE_REDUCED_H

#include "report/budget/budget.h"
#include "report/memory/memory.h"
#include "report/analysis/view.h"
#include "report/util/hash.h"
#include "report/stats/sketch.h"

/* Numbers in files: append, never remove. */
enum reduced_view {
	REDUCED_OPERATOR,
	REDUCED_KERNEL,
	REDUCED_COLLECTIVE,
	REDUCED_MEMCPY,
	REDUCED_MEMSET,
	REDUCED_API,
	REDUCED_NVTX,
	REDUCED_NCCL, /* from version 2 on */
	NR_REDUCED_VIEWS,
};

struct reduced_key {
	uint32_t view, kind; /* kind: as in the keyed rows of the view */
	uint32_t name;	     /* of string_pool.h */
};

/* Identifies a process. The order is that of ranks, then of names. */
struct reduced_who {
	int64_t rank;  /* -1: unknown */
	uint32_t name; /* "host:pid", of string_pool.h */
};

struct reduced_extreme {
	uint64_t ns;
	struct reduced_who who; /* of several the first */
};

struct reduced_row {
	struct reduced_key key;
	struct sketch times; /* ns */
	uint64_t failed, untimed;
	uint64_t sums[VIEW_MERGE_SUMS];
	uint64_t nr_processes; /* with or without times */
	/* These are of the processes with times: */
	struct reduced_extreme least, most;
	struct sketch of_processes; /* ns of each; empty if any is of a file of version 1 */
	UT_hash_handle hh;
};

/* Are the times of each process known? */
static inline bool reduced_row_has_each(const struct reduced_row *row)
{
	return row->of_processes.group.count != 0;
}

/* The times of a step; see reduced_times. Numbers in files: append. */
enum reduced_time {
	REDUCED_DURATION,
	REDUCED_DATALOADER,
	REDUCED_FORWARD,
	REDUCED_BACKWARD,
	REDUCED_OPTIMIZATION,
	REDUCED_OTHERS,
	REDUCED_GPU,
	REDUCED_COMPUTATION, /* from here on the sum over the devices */
	REDUCED_COMMUNICATION,
	REDUCED_OVERLAP,
	REDUCED_IDLE, /* neither computation nor communication */
	NR_REDUCED_TIMES,
};

struct reduced_step {
	uint64_t step;
	uint64_t ns[NR_REDUCED_TIMES]; /* UINT64_MAX: unknown */
};

/* Facts of a process; all unknown in files of version 1. Numbers in files: append. */
enum reduced_fact {
	REDUCED_BUDGET,					  /* enum budget_sum */
	REDUCED_MEMORY = REDUCED_BUDGET + NR_BUDGET_SUMS, /* enum memory_peak */
	REDUCED_PARTS = REDUCED_MEMORY + NR_MEMORY_PEAKS, /* budget_lone_part; from version 3 on */
	REDUCED_LAUNCHES = REDUCED_PARTS + NR_BUDGET_LONE_PARTS, /* from version 4 on */
	/*
	 * ns of budget_later_parts: Python's lock from version 5 on, compilations from 6 on,
	 * transfers and waits for ranks from 7 on
	 */
	REDUCED_LATER_PARTS = REDUCED_LAUNCHES + NR_BUDGET_LAUNCHES,
	NR_REDUCED_FACTS = REDUCED_LATER_PARTS + NR_BUDGET_LATER_PARTS,
	NR_REDUCED_FACTS_6 = REDUCED_LATER_PARTS + 2,
	NR_REDUCED_FACTS_5 = REDUCED_LATER_PARTS + 1,
	NR_REDUCED_FACTS_4 = REDUCED_LATER_PARTS,
	/* In files of version 3, which know neither of unknown time nor of garbage collection */
	NR_REDUCED_FACTS_3 = REDUCED_LAUNCHES - 2,
};

_Static_assert(REDUCED_PARTS == 14 && VIEW_MERGE_SUMS == 4, "as many as in files of version 2");
_Static_assert(NR_REDUCED_FACTS_3 - REDUCED_PARTS == 19, "as many as in files of version 3");
_Static_assert(NR_REDUCED_FACTS_4 - REDUCED_PARTS == 25, "as many as in files of version 4");
_Static_assert(NR_REDUCED_FACTS_5 - REDUCED_PARTS == 26, "as many as in files of version 5");
_Static_assert(NR_REDUCED_FACTS_6 - REDUCED_PARTS == 27, "as many as in files of version 6");
_Static_assert(BUDGET_UNKNOWN == NR_BUDGET_PARTS - 1, "a last one, which version 3 lacks");
_Static_assert(NR_REDUCED_FACTS <= 63, "a file has a bit for each");

enum reduced_state {
	REDUCED_COMPLETE,
	REDUCED_INCOMPLETE,
	REDUCED_UNFINISHED,
	NR_REDUCED_STATES,
};

/* Texts are numbers of string_pool.h. */
struct reduced_process {
	int64_t rank, world; /* -1 unknown */
	uint32_t host, command;
	uint32_t pid;
	uint64_t start_ns, stream_id; /* of its stream; rank, host, pid and these identify it */
	uint64_t duration_ns;	      /* UINT64_MAX unknown */
	uint64_t nr_events, missing;
	uint8_t state;			  /* enum reduced_state */
	bool has_no_devices;		  /* no record of a GPU activity */
	uint64_t facts[NR_REDUCED_FACTS]; /* UINT64_MAX: unknown */
	struct reduced_step *steps;
	size_t nr_steps;
};

/* A process whose steps are packed. */
struct reduced_packed {
	struct reduced_process who; /* without `steps` */
	char *bytes;		    /* all of it, as in a file */
	size_t nr_bytes;
};

/* Starts with all zeros. */
struct reduced {
	struct reduced_row *rows;
	struct reduced_packed *processes;
	size_t nr_processes, capacity;
};

void reduced_fini(struct reduced *reduced);

/* Finds the row with that key, or makes it. */
struct reduced_row *reduced_row(
	struct reduced *reduced, enum reduced_view view, uint32_t kind, uint32_t name);

/* Adds the process that all rows so far belong to; it becomes their least and most. */
void reduced_add_process(struct reduced *reduced, const struct reduced_process *process);

/*
 * Moves everything of another summary into this one. A process that is in both would count twice:
 * then neither changes, and the result is -EEXIST after err_set, else 0.
 */
int reduced_merge(struct reduced *into, struct reduced *from);

/* reduce.c: makes the summary of one process in an empty one. */
void reduce_process(struct reduced *reduced, struct process *process);

/* Sorts the processes by rank, host and pid. */
void reduced_sort(struct reduced *reduced);

/* Unpacks a process; reduced_process_fini frees its steps. */
struct reduced_process reduced_process(const struct reduced *reduced, size_t i);
void reduced_process_fini(struct reduced_process *process);

/* Sorts, and writes a file. `out` empties itself as it fills, see buf.h. */
void reduced_write(struct reduced *reduced, struct buf *out);

/*
 * Reads a file, or its bytes, into an empty summary. Returns 0, or a negative number after err_set.
 * A damaged file leaves the summary empty, because its sums cannot be checked one by one.
 */
int reduced_read(struct reduced *reduced, const char *path);
int reduced_read_bytes(struct reduced *reduced, const char *bytes, size_t nr_bytes);

/* Interns "host:pid". */
struct reduced_who reduced_who_of(const struct reduced_process *process);

/* A process as in a file. Reading knows all versions and returns false for invalid bytes. */
#define REDUCED_VERSION 7u
void reduced_pack_process(const struct reduced_process *process, struct buf *out);
bool reduced_unpack_process(
	struct reduced_process *process, struct unpack *from, unsigned int version);

/* Returns the counts of its launches: none in files before version 4. */
struct budget_launches reduced_launches(const struct reduced_process *process);

/*
 * Says by index which of the process's steps count, as counted_steps.h has it: the whole ones, but
 * for those that warm up and outliers; is_all: these, too. Only whole steps have phases; where none
 * has, the first one began before the recording, unless the budget counts it. The caller frees the
 * array.
 */
bool *reduced_counted_steps(const struct reduced_process *process, bool is_all);

/* By rank, host, pid, start and stream id. */
int reduced_compare(const struct reduced_process *a, const struct reduced_process *b);

#endif
