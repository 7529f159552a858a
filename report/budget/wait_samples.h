/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a row of wait_sample says of a wait. The rows of a thread repeat a few of these, so readers
 * sum by it, and look names and frames up once for each.
 */
#ifndef REPORT_BUDGET_WAIT_SAMPLES_H
#define REPORT_BUDGET_WAIT_SAMPLES_H

#include "report/model/model.h"

/* Numbers of the stream; kind: enum gprof_os_kind. */
struct wait_key {
	uint32_t py_stack, call, object, kind;
	uint32_t holder_stack; /* where Python's lock is held; 0: unknown, or another wait */
};

/* The columns that wait_key_of needs, for struct scan_want. */
#define WAIT_KEY_COLUMNS COLS(wait_sample, py_stack, syscall, object, kind, holder_stack)

/* Returns that of a row of such a batch. */
struct wait_key wait_key_of(const struct batch *batch, uint32_t row);

/* "read"; of a wait for Python's lock that, whatever the call is. A number of string_pool.h. */
uint32_t wait_call_name(struct process *process, const struct wait_key *key);

/* What the thread waits for in one text, as "read of pipe"; a number of string_pool.h. */
uint32_t wait_text(struct process *process, const struct wait_key *key);

/* The file or the like that the call waits for, as a number of string_pool.h; 0: unknown. */
uint32_t wait_object_name(struct process *process, const struct wait_key *key);

/* The same; of Python's lock the line that holds it, as "data.py(9): decode". */
uint32_t wait_detail(struct process *process, const struct wait_key *key);

#endif
