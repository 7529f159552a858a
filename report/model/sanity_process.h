/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is odd about one process: each appends its sentence, with the file, and returns true, or
 * returns false where nothing is.
 */
#ifndef REPORT_MODEL_SANITY_PROCESS_H
#define REPORT_MODEL_SANITY_PROCESS_H

#include "report/util/buf.h"
#include "report/model/model.h"

/* Steps that overlap or are not in order, clocks that jump. */
bool sanity_process_times(const struct process *process, struct buf *line);

/* Ends of steps that have no time. */
bool sanity_process_ends(const struct process *process, struct buf *line);

/* A trace of so many days that its times cannot be of one run. */
bool sanity_process_span(const struct process *process, struct buf *line);

/* A trace's work that begins before the call that launched it. */
bool sanity_process_early(const struct process *process, struct buf *line);

/* A trace's names that are not UTF-8. */
bool sanity_process_names(const struct process *process, struct buf *line);

/* Communicators that are of nobody else here, see stranger.h. */
bool sanity_process_stranger(const struct process *process, struct buf *line);

#endif
