/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI numbers calls with 32 bits, which a long job uses up many times. Streams have these ids in
 * 64 bits: the number that ends with the 32 bits and is nearest to the newest one at that time.
 */
#ifndef COLLECTOR_FORMAT_CORRELATION_H
#define COLLECTOR_FORMAT_CORRELATION_H

#include <stdint.h>

/* Negative: older than the first one that was seen. */
static inline int64_t correlation_nearest(uint64_t newest, uint32_t id)
{
	return (int64_t)(newest + (uint64_t)(int64_t)(int32_t)(id - (uint32_t)newest));
}

/* As a stream has it: 0 is no id. Below 2^31 of `newest`, which may be 0, ids remain as they are.
 */
static inline uint64_t correlation_unwrap(uint64_t newest, uint32_t id)
{
	int64_t nearest = correlation_nearest(newest, id);

	return id && nearest > 0 ? (uint64_t)nearest : id;
}

#endif
