/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the process ends, as its own last calls tell: a mark in the header of the ring file, which
 * outlives the process, and from there the facts of a stream that is closed. Any thread, signal
 * handlers too; no lock, no allocation, no system call but getpid; errno is kept.
 */
#ifndef COLLECTOR_RING_ENDING_H
#define COLLECTOR_RING_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"

/* The calling process begins to record. */
void ending_begin(void);

/* It has rings now, with this header; what was marked before goes there. */
void ending_set_header(struct gprof_rings_header *header);

/* In a forked child: what was begun is the parent's. */
void ending_forget(void);

/*
 * Was it begun by this very process? Not in a child that shares memory with it (vfork) or has a
 * copy (a bare clone), which must neither mark nor stop the recorder.
 */
bool ending_is_ours(void);

/* The process ends now, or so it believes: a later mark replaces this one. */
void ending_mark(enum gprof_end_kind kind, int code);

/* The exec failed, and the process goes on. */
void ending_unmark(void);

/* What was marked; GPROF_END_UNKNOWN if nothing. */
enum gprof_end_kind ending_kind(int *code);

/* In one word, as `end.how` has it. */
const char *ending_word(enum gprof_end_kind kind);

/* How long the host may be kept for the last events to be written, in ns. */
uint64_t ending_patience_ns(void);

#endif
