/* SPDX-License-Identifier: Apache-2.0 */
/* What uthash lacks; its tables are used with a member `hh`. */
#ifndef REPORT_UTIL_HASH_H
#define REPORT_UTIL_HASH_H

#include <stdlib.h>
#include <uthash.h>

/* Empties a table, whose entries own nothing but themselves. `head`: a pointer, NULL afterwards. */
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
