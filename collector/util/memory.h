/* SPDX-License-Identifier: Apache-2.0 */
/* Memory apart from the target's malloc: zeroed pages, touched only as they are used. */
#ifndef COLLECTOR_UTIL_MEMORY_H
#define COLLECTOR_UTIL_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>

/* Returns NULL if there is none; munmap releases it. */
static inline void *memory_map(size_t nr_bytes)
{
	void *map = mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

#endif
