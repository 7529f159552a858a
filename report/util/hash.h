/* SPDX-License-Identifier: Apache-2.0 */
/* Additions to uthash. Tables use a member `hh`. */
#ifndef REPORT_UTIL_HASH_H
#define REPORT_UTIL_HASH_H

#include <stdlib.h>
#include <uthash.h>

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
