/* SPDX-License-Identifier: Apache-2.0 */
/* uthash with a hash function for short keys, and additions to it. Tables use a member `hh`. */
#ifndef REPORT_UTIL_HASH_H
#define REPORT_UTIL_HASH_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Both halves of the product with a number whose bits are as if drawn: each bit of a word reaches
 * the lower bits, which uthash uses.
 */
static inline uint64_t hash_mix(uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)word * 0xd6e8feb86659fd93ull;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* FNV-1a, for keys that must be equal in all traces of a job. `hash` covers the bytes before these.
 */
#define HASH_FNV_BEGIN 0xcbf29ce484222325u

static inline uint64_t hash_fnv_add(uint64_t hash, const void *bytes, size_t nr_bytes)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < nr_bytes; i++) {
		hash = (hash ^ at[i]) * 0x100000001b3u;
	}
	return hash;
}

/* Most keys are one or two words: uthash's own function takes several times as long for them. */
static inline unsigned int hash_bytes(const void *key, size_t nr_bytes)
{
	const char *at = key;
	uint64_t hash = nr_bytes, word;

	for (; nr_bytes >= sizeof(word); nr_bytes -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = hash_mix(hash ^ word);
	}
	if (nr_bytes) {
		word = 0;
		memcpy(&word, at, nr_bytes);
		hash = hash_mix(hash ^ word);
	}
	return (unsigned int)hash;
}

#define HASH_FUNCTION(key, nr_bytes, hash) ((hash) = hash_bytes(key, nr_bytes))
#include <uthash.h>

#include "report/util/buf.h"

/*
 * Sets `entry` to the one of the table whose `member` has the bytes of the key at `wanted`, padding
 * included; adds one that is zero otherwise if there is none.
 */
#define hash_put(head, member, wanted, entry)                                              \
	do {                                                                               \
		_Static_assert(sizeof(*(wanted)) == sizeof((entry)->member), "other key"); \
		HASH_FIND(hh, head, wanted, sizeof((entry)->member), entry);               \
		if (!(entry)) {                                                            \
			(entry) = mem_zeroed(1, sizeof(*(entry)));                         \
			memcpy(&(entry)->member, wanted, sizeof((entry)->member));         \
			HASH_ADD(hh, head, member, sizeof((entry)->member), entry);        \
		}                                                                          \
	} while (0)

/*
 * Frees all entries of a table; the entries own no other memory. Sets `head`, a pointer, to NULL.
 */
#define hash_free(head)                                    \
	do {                                               \
		__typeof__(head) hash_entry, hash_next;    \
                                                           \
		HASH_ITER(hh, head, hash_entry, hash_next) \
		{                                          \
			HASH_DEL(head, hash_entry);        \
			free(hash_entry);                  \
		}                                          \
	} while (0)

#endif
