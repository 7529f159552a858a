/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files that take records share: reading one of any length, and the facts' takers. */
#ifndef COLLECTOR_CUPTI_RECORD_READ_H
#define COLLECTOR_CUPTI_RECORD_READ_H

#include <string.h>

#include "collector/cupti/cupti.h"

/*
 * A record as a struct of ours: in place where the library's layout is at least as long, else a
 * copy in which the tail fields that it lacks read as 0.
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

/* Records about what there is (record_fact.c), for the table in record_take. */
void record_take_device(const struct cupti_record *record);
void record_take_context(const struct cupti_record *record);
void record_take_stream(const struct cupti_record *record);

#endif
