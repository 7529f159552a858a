/* SPDX-License-Identifier: Apache-2.0 */
/* Memory apart from the target's malloc: zeroed pages, touched only as they are used. */
#ifndef COLLECTOR_UTIL_MEMORY_H
#define COLLECTOR_UTIL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns NULL if there is none; munmap releases it. Any thread; keeps errno. */
void *memory_map(size_t nr_bytes);

/*
 * Returns what *at points to; the first thread that asks maps it. NULL if there is no memory. Any
 * thread; keeps errno.
 */
void *memory_map_once(void *_Atomic *at, size_t nr_bytes);

/* The same for a file, which all processes that map it share. Returns NULL with errno set. */
void *memory_map_file(int fd, size_t nr_bytes);

/*
 * Takes the page faults of that memory, by atomic accesses that change nothing: other threads may
 * write there meanwhile.
 */
void memory_touch(void *memory, size_t nr_bytes);

/*
 * Huge pages would make 2 MB of each piece of the library's variables that is touched, where the
 * system uses them for everything. Once, before the target's main.
 */
void memory_keep_variables_small(void);

#endif
