/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovers rows from the rings of a process that did not end its stream: committed, but not written
 * yet (FORMAT.md, "Checkpoints and rings").
 *
 * They become batches of the same tables and columns as blocks: raw clocks become ticks, ends
 * become durations, inline texts become rows of `string`, and ring_launch rows become rows of
 * `shape` and `api_launch`.
 */
#ifndef REPORT_STREAM_RINGS_H
#define REPORT_STREAM_RINGS_H

#include "report/stream/types.h"

/*
 * Looks for the ring file beside an unfinished stream and appends its rows to the stream. Leaves
 * out blocks after the last checkpoint that the rings repeat. Returns 0, or negative with err_set
 * if there is no such file, it is no ring file, or it belongs to another stream.
 */
int rings_attach_beside(struct stream *stream);

/* Looks in /dev/shm, where the recorder puts rings if it has room. */
int rings_attach_shared(struct stream *stream);

/*
 * Moves rings from /dev/shm beside the stream after the process has ended, where they survive a
 * reboot and free the memory. If that fails, they stay.
 */
void rings_keep(struct stream *stream);

#endif
