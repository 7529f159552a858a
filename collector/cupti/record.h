/* SPDX-License-Identifier: Apache-2.0 */
/* One CUPTI record into one row of a batch. The drain thread's own. */
#ifndef COLLECTOR_CUPTI_RECORD_H
#define COLLECTOR_CUPTI_RECORD_H

#include <stdbool.h>

#include "collector/cupti/cupti_abi.h"

/*
 * Reads as many fields as the loaded library's record of that kind has (cupti_record_bytes). Work
 * outside record windows is left out; work without times goes to table untimed.
 */
void record_take(const struct cupti_record *record);

/* Does an event of the stream come of it? Any thread. Not of what profiling itself has cost. */
bool record_is_event(const struct cupti_record *record);

/* Forgets what is known of kernels; with dictionary_init, whose ids that is. */
void record_init(void);

/* Another buffer begins: names at known addresses are compared again. */
void record_begin_buffer(void);

#endif
