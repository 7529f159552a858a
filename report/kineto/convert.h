/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_KINETO_CONVERT_H
#define REPORT_KINETO_CONVERT_H

#include <stdbool.h>

#include "report/kineto/event.h"
#include "report/kineto/out.h"
#include "report/util/idmap.h"
#include "report/kineto/nccl.h"
#include "report/kineto/rows.h"

/* ---- threads ---- */

/* The threads and processes that a trace tells of: by pid and tid, which are numbers or texts. */

struct kineto_thread;

struct kineto_threads {
	struct kineto_thread *by_key;
	struct kineto_thread *last; /* most events are of the one before */
	uint32_t nr_ids;
};

/* Zeroed is empty. */
void kineto_threads_fini(struct kineto_threads *threads);

/* The id of the event's thread, made if it is new; counts from 1. */
uint32_t kineto_threads_id(struct kineto_threads *threads, const struct kineto_json *json,
	const struct kineto_event *event);

/* The event is metadata: takes the name of a thread or of a process from it. */
void kineto_threads_name(
	struct kineto_threads *threads, struct kineto_json *json, const struct kineto_event *event);

/*
 * Writes rows of those threads that have an id. Returns the pid of the first of them, 0 for none,
 * and what its process is called (of `threads`, "" for nothing).
 */
uint32_t kineto_threads_write(
	struct kineto_threads *threads, struct kineto_out *out, const char **name);

/* ---- begins and ends ---- */

/*
 * Events that Chrome's format tells in two parts: a begin (phase B) waits, as the text it was, for
 * the end (phase E) of its thread; the last begun ends first. What an end says beside its time is
 * not read. Memory is that of the begins that wait, up to KINETO_PAIRS_BYTES and _MOST.
 */

#define KINETO_PAIRS_MOST  (1u << 20)
#define KINETO_PAIRS_BYTES (64u << 20)

struct kineto_begin {
	char *text; /* NULL: of no kind that is kept, there for its end alone */
	size_t nr_bytes;
	uint64_t order; /* see kineto_row */
};

struct kineto_pairs {
	struct idmap threads;
	size_t nr_waiting, nr_bytes;
};

void kineto_pairs_init(struct kineto_pairs *pairs);
void kineto_pairs_fini(struct kineto_pairs *pairs);

/* Copies the text, if there is one. False: no room, and its end will find nothing. */
bool kineto_pairs_begin(struct kineto_pairs *pairs, uint32_t thread, const char *text,
	size_t nr_bytes, uint64_t order);

/* What ends on the thread; its text is the caller's. False: nothing has begun. */
bool kineto_pairs_end(struct kineto_pairs *pairs, uint32_t thread, struct kineto_begin *begin);

/* Those with a text that still wait. */
uint64_t kineto_pairs_nr_open(const struct kineto_pairs *pairs);

/* ---- all events ---- */

/* Events of a trace to rows: what is kept of each kind, and what is counted because it is not. */

/* ProfilerStep#N */
struct kineto_step {
	uint64_t begin, end, number;
	uint32_t thread;
	size_t order;
};

struct kineto_convert {
	struct kineto_out *out;
	struct kineto_json json;
	struct kineto_threads threads;
	struct kineto_rows rows;
	struct kineto_shapes shapes;
	struct kineto_python python;
	struct kineto_pairs pairs;
	struct kineto_nccl nccl;
	uint64_t pair_order; /* of the row of the pair at hand, 0: of none */
	struct kineto_step *steps;
	size_t nr_steps, step_capacity;
	uint64_t nr_other_steps, nr_overlapping_steps; /* found as they are written */
	uint8_t *call_tables; /* by the id of the string; 0: not looked at */
	size_t nr_call_tables;
	uint64_t first_ns, last_ns;		    /* of what was kept; first > last: nothing */
	uint64_t nr_flows, nr_gpu_ranges, nr_other; /* whole, but nothing that we keep */
	uint64_t nr_pairs; /* begins without an end and ends without a begin, of kinds that we keep
			    */
	uint64_t nr_incomplete; /* without begin, duration or name */
};

void kineto_convert_init(struct kineto_convert *convert, struct kineto_out *out);
void kineto_convert_fini(struct kineto_convert *convert);

/* The event that convert->json has taken apart. False: it is none. */
bool kineto_convert_event(struct kineto_convert *convert);

#endif
