/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by record.c and record_fact.c: reading a record of any length, and the handlers of facts.
 */
#ifndef COLLECTOR_CUPTI_RECORD_READ_H
#define COLLECTOR_CUPTI_RECORD_READ_H

#include <string.h>

#include "collector/cupti/cupti.h"

/*
 * Returns a record as our struct: in place if the library's layout is at least as long, else a copy
 * whose missing tail fields are 0.
 */
#define READ(type, record)          \
	struct type copy_of_record; \
	const struct type *const r = record_read(&copy_of_record, sizeof(copy_of_record), record)

static inline const void *record_read(void *copy, size_t bytes, const struct cupti_record *record)
{
	size_t has_bytes = cupti_record_bytes(record->kind);

	if (has_bytes >= bytes) {
		return record;
	}
	memcpy(copy, record, has_bytes);
	memset((char *)copy + has_bytes, 0, bytes - has_bytes);
	return copy;
}

/*
 * Handlers of records about devices, contexts and streams (record_fact.c), for the table in
 * record_take.
 */
void record_take_device(const struct cupti_record *record);
void record_take_context(const struct cupti_record *record);
void record_take_stream(const struct cupti_record *record);

#endif
