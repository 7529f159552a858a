/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of a process that did not end its stream (FORMAT.md, "Checkpoints and rings"): rows
 * that were committed but not yet written. They are turned into batches of the same tables and
 * columns as blocks have: raw clocks become ticks, ends become durations, inline texts become rows
 * of table `string`, and ring_launch rows become rows of `shape` and `api_launch`.
 */
#ifndef REPORT_STREAM_RINGS_H
#define REPORT_STREAM_RINGS_H

#include "report/stream/types.h"

/*
 * Reads the ring file and appends its rows to the stream; blocks behind the last checkpoint are
 * left out. Returns 0, or negative with err_set: not there, not a ring file, or of another stream.
 */
int rings_attach(struct stream *stream, const char *path);

/* Looks for the ring file beside an unfinished stream. Returns 0, or as rings_attach. */
int rings_attach_beside(struct stream *stream);

/* The same in /dev/shm, where rings are if it has room. */
int rings_attach_shared(struct stream *stream);

/*
 * The process has ended, and its rings were found in /dev/shm: moves them beside the stream, where
 * they survive the machine, and the memory is free again. If it cannot, they stay.
 */
void rings_keep(struct stream *stream);

#endif
