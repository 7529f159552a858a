/* SPDX-License-Identifier: Apache-2.0 */
/* Additions to uthash. Tables use a member `hh`. */
#ifndef REPORT_UTIL_HASH_H
#define REPORT_UTIL_HASH_H

#include <stdlib.h>
#include <string.h>
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
