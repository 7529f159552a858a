/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FNV-1a. Communicators have such hashes as keys, which must be equal on all ranks of a job. For
 * tables of a process there is a quicker one, of words.
 */
#ifndef COLLECTOR_UTIL_HASH_H
#define COLLECTOR_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_BEGIN 0xcbf29ce484222325u

/* `hash` covers the bytes before these. */
static inline uint64_t hash_add(uint64_t hash, const void *bytes, size_t nr_bytes)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < nr_bytes; i++) {
		hash = (hash ^ at[i]) * 0x100000001b3u;
	}
	return hash;
}

static inline uint64_t hash_text(const char *text)
{
	return hash_add(HASH_BEGIN, text, strlen(text));
}

static inline uint64_t hash_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0xd6e8feb86659fd93u;
	return hash ^ hash >> 32;
}

#endif
