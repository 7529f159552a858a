/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a CUPTI record into a row of a batch. For the drain thread. */
#ifndef COLLECTOR_CUPTI_RECORD_H
#define COLLECTOR_CUPTI_RECORD_H

#include <stdbool.h>

#include "collector/cupti/cupti_abi.h"

/*
 * Reads as many fields as the loaded library's record of that kind has (cupti_record_bytes). Work
 * outside record windows is left out; work without times goes to table untimed.
 */
void record_take(const struct cupti_record *record);

/*
 * Does the record become an event of the stream? False for the overhead of profiling itself. Any
 * thread.
 */
bool record_is_event(const struct cupti_record *record);

/* Forgets all kernels; call it with dictionary_init, which invalidates their ids. */
void record_init(void);

/* Another buffer begins: names at known addresses must be compared again. */
void record_begin_buffer(void);

#endif
