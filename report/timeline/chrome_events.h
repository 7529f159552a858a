/* SPDX-License-Identifier: Apache-2.0 */
/* Events of Chrome JSON in Kineto's dialect: a slice as an event, and what it is made of. */
#ifndef REPORT_TIMELINE_CHROME_EVENTS_H
#define REPORT_TIMELINE_CHROME_EVENTS_H

#include "report/timeline/slice_args.h"

struct chrome_events {
	struct timeline *timeline;
	struct buf *out;
	struct timeline_sizes *sizes; /* NULL: not wanted */
	uint64_t event_at, event_ns;  /* of the event that is being written: its position in the
					 file, its time */
	uint64_t nr_events;
	struct arg_maker args;
	uint64_t *launches; /* hashed rows and times at which calls with arrows begin, as bits */
};

/* Around the events of a process. */
void chrome_events_enter(struct chrome_events *events);
void chrome_events_leave(struct chrome_events *events);

/*
 * Viewers bind an arrow to the last slice that stands before it in the file and begins at its time
 * or before. So a slice without a length that begins with a call that launches has to stand behind
 * the call and its arrow. chrome_note_launch() takes all slices of a process, before any is
 * written; chrome_may_take_arrow() then returns whether one is to be written after all others. Both
 * go by the slice's row.
 */
void chrome_note_launch(struct chrome_events *events, const struct slice *slice);
bool chrome_may_take_arrow(struct chrome_events *events, const struct slice *slice);

/* A slice of a thread or stream in its row, then the end of the flow of its launch. */
void chrome_add_slice(
	struct chrome_events *events, const struct slice *slice, uint32_t pid, uint32_t tid);

/* A slice without arguments: a step, or the span of what a range launched on a stream. */
void chrome_add_span(struct chrome_events *events, const char *category, const struct slice *span,
	uint32_t pid, uint32_t tid);

/* A value of a counter; name and unit are JSON texts. */
void chrome_add_count(struct chrome_events *events, const char *name, const char *unit,
	uint32_t pid, uint64_t ns, double value);

void chrome_add_alloc(
	struct chrome_events *events, const struct slice_alloc *alloc, bool has_totals);

/* CUPTI's overhead has rows beside those of processes, which are named when they are new. */
void chrome_add_overhead(struct chrome_events *events, const struct slice *slice, bool is_new);

/* From a forward operator to its autograd node; rows are tids. */
void chrome_add_autograd_flow(struct chrome_events *events, uint64_t nr,
	const struct slice_flow_end *from, const struct slice_flow_end *to);

/* `{"ph": "M", "name": what, ... "args": {`: the caller adds a member and two braces. */
void chrome_begin_meta(struct chrome_events *events, const char *what, uint32_t pid, uint32_t tid);

/* An instant for all processes; the caller adds a brace. */
void chrome_begin_global_instant(
	struct chrome_events *events, const char *name, uint32_t pid, uint32_t tid, uint64_t ns);

/* A text of string_pool.h as JSON with its quotes, made once. */
const char *chrome_text(uint32_t text);

#endif
