/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `reduce` keeps of streams, so small that those of a large job can be put together, and such
 * that it adds up: of the same streams it is the same, byte for byte in a file, in whatever parts
 * and order they came. Two things:
 *
 * rows, of all processes together: an operator, kernel, copy, call by its name, NCCL's operations
 * by communicator, with exact calls, sum and extremes, the sketch of its times, the sketch of what
 * each process spent in it, and which one spent least and most. All rows are kept. Memory: by how
 * many different things there are, not by processes.
 *
 * processes, each for itself: who it is, what is missing of it, what its steps were made of in sum,
 * its peaks of memory, and the times of its steps. Memory: as many bytes as in the file, some 40 a
 * step, and some 220 besides.
 */
#ifndef REPORT_REDUCE_REDUCED_H
#define REPORT_REDUCE_REDUCED_H

#include "report/analysis/breakdown.h"
#include "report/analysis/memory.h"
#include "report/analysis/view.h"
#include "report/util/hash.h"
#include "report/table/sketch.h"

/* In files: append, and never take away. */
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

/* Texts are numbers of names.h. */
struct reduced_key {
	uint32_t view, kind; /* kind: as in the keyed rows of the view */
	uint32_t name;
};

/* A process among all, in the order of its rank (-1 unknown) and of "host:pid". */
struct reduced_who {
	int64_t rank;
	uint32_t name;
};

struct reduced_extreme {
	uint64_t ns;
	struct reduced_who who; /* the first one in their order */
};

struct reduced_row {
	struct reduced_key key;
	struct sketch times; /* ns */
	uint64_t failed, untimed;
	uint64_t sums[VIEW_MERGE_SUMS];
	uint64_t nr_processes; /* that have it */
	/* Of those that have times of it. */
	struct reduced_extreme least, most;
	struct sketch of_processes; /* ns in it of each; empty with any of a file of version 1 */
	UT_hash_handle hh;
};

/* Is known what each process spent in it? */
static inline bool reduced_row_has_each(const struct reduced_row *row)
{
	return row->of_processes.group.count != 0;
}

/* Of a step of a process: times in ns, UINT64_MAX unknown. */
enum reduced_time {
	REDUCED_DURATION,
	REDUCED_DATALOADER, /* phases, as in the view `steps` */
	REDUCED_FORWARD,
	REDUCED_BACKWARD,
	REDUCED_OPTIMIZATION,
	REDUCED_OTHERS,
	REDUCED_GPU,
	REDUCED_COMPUTATION, /* as in the view `distributed`, the sum over the devices */
	REDUCED_COMMUNICATION,
	REDUCED_OVERLAP,
	REDUCED_IDLE, /* neither computation nor communication */
	NR_REDUCED_TIMES,
};

struct reduced_step {
	uint64_t step;
	uint64_t ns[NR_REDUCED_TIMES];
};

/* Of a process; UINT64_MAX unknown, as all are in files of version 1. In files: append. */
enum reduced_fact {
	REDUCED_BREAKDOWN,					/* enum breakdown_sum */
	REDUCED_MEMORY = REDUCED_BREAKDOWN + NR_BREAKDOWN_SUMS, /* enum memory_peak */
	NR_REDUCED_FACTS = REDUCED_MEMORY + NR_MEMORY_PEAKS,
};

_Static_assert(NR_REDUCED_FACTS == 14 && VIEW_MERGE_SUMS == 4, "as many as in files of version 2");

enum reduced_state {
	REDUCED_COMPLETE,
	REDUCED_INCOMPLETE,
	REDUCED_UNFINISHED,
	NR_REDUCED_STATES,
};

/* A process with all that is known of it. Texts are numbers of names.h. */
struct reduced_process {
	int64_t rank, world; /* -1 unknown */
	uint32_t host, command;
	uint32_t pid;
	uint64_t start_ns, stream_id; /* of its stream: with the three above who it is */
	uint64_t duration_ns;	      /* UINT64_MAX unknown */
	uint64_t nr_events, missing;
	uint8_t state;	       /* enum reduced_state */
	bool is_without_works; /* no record of work on a device */
	uint64_t facts[NR_REDUCED_FACTS];
	struct reduced_step *steps;
	size_t nr_steps;
};

/* One of many, as bytes. */
struct reduced_packed {
	struct reduced_process who; /* with nr_steps, but without steps */
	char *bytes;
	size_t nr_bytes;
};

/* Starts with all zeros. */
struct reduced {
	struct reduced_row *rows;
	struct reduced_packed *processes;
	size_t nr_processes, capacity;
};

void reduced_fini(struct reduced *reduced);

/* The row with that key, made if there is none. */
struct reduced_row *reduced_row(
	struct reduced *reduced, enum reduced_view view, uint32_t kind, uint32_t name);

/* Adds the one process that all rows so far are of: it becomes their extremes. */
void reduced_add_process(struct reduced *reduced, const struct reduced_process *process);

/*
 * Adds everything of another one, which is empty then. Returns 0, or -EEXIST after err_set and
 * without having changed either, if a process is in both: it would count twice.
 */
int reduced_merge(struct reduced *into, struct reduced *from);

/* reduce.c: makes it of one process, into an empty one. */
void reduce_process(struct reduced *reduced, struct process *process);

/* In the order of ranks, hosts and pids. */
void reduced_sort(struct reduced *reduced);

/* A process unpacked; reduced_process_fini frees its steps. */
struct reduced_process reduced_process(const struct reduced *reduced, size_t i);
void reduced_process_fini(struct reduced_process *process);

/* The bytes of a file; sorts. `out` empties itself as it fills, see buf.h. */
void reduced_write(struct reduced *reduced, struct buf *out);

/*
 * Reads a file, or bytes of one, into an empty one. Returns 0, or a negative number after err_set,
 * and is empty then: of a damaged file nothing is believed, as its sums cannot be checked one by
 * one.
 */
int reduced_read(struct reduced *reduced, const char *path);
int reduced_read_bytes(struct reduced *reduced, const char *bytes, size_t nr_bytes);

/* A process among all. */
struct reduced_who reduced_who_of(const struct reduced_process *process);

/* A process as bytes of a file, and back from those of a version; false if they make no sense. */
#define REDUCED_VERSION 2u
void reduced_pack_process(const struct reduced_process *process, struct buf *out);
bool reduced_unpack_process(
	struct reduced_process *process, struct unpack *from, unsigned int version);

/* By rank, host, pid, start and id of the stream. */
int reduced_compare(const struct reduced_process *a, const struct reduced_process *b);

#endif
