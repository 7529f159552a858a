/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's correlation IDs have 32 bits and wrap many times in a long job. Streams have 64 bits: the
 * number with the same low 32 bits that is nearest to the newest ID at that time.
 */
#ifndef COLLECTOR_FORMAT_CORRELATION_H
#define COLLECTOR_FORMAT_CORRELATION_H

#include <stdint.h>

/* Returns the nearest number; it is negative if the ID is older than the first one seen. */
static inline int64_t correlation_nearest(uint64_t newest, uint32_t id)
{
	return (int64_t)(newest + (uint64_t)(int64_t)(int32_t)(id - (uint32_t)newest));
}

/* Returns the ID as a stream has it; 0 is none. IDs do not change while `newest` is below 2^31. */
static inline uint64_t correlation_unwrap(uint64_t newest, uint32_t id)
{
	int64_t nearest = correlation_nearest(newest, id);

	return id && nearest > 0 ? (uint64_t)nearest : id;
}

#endif
