/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NUMA: the nodes of the host with their CPUs, as facts, and on which of them the process's memory
 * lies, by looks at some of its pages. On a host with one node there is nothing to look at. For the
 * drain thread, but for numa_init.
 */
#ifndef COLLECTOR_SAMPLE_NUMA_H
#define COLLECTOR_SAMPLE_NUMA_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/format/format.h"

/* At the start: adds the facts. No pinned memory is known. */
void numa_init(void);

/* The process allocated, pinned or freed pinned memory. */
void numa_saw(const struct gprof_row_api_alloc *call);

/*
 * Looks at pages if that is due at now_ns (CLOCK_MONOTONIC), each ten seconds at the most, and
 * passes their numbers to add(metric, node, pages).
 */
void numa_take(uint64_t now_ns, void (*add)(uint8_t metric, uint8_t node, uint64_t pages));

/* ---- for the tests ---- */

/* The number of nodes with CPUs; calls add(key, value) for it, and for each of them. root: "", or a
 * folder in place of /. */
unsigned int numa_find_nodes(const char *root, void (*add)(const char *key, const char *value));

/*
 * Counts pages by their node; counts[NUMA_UNKNOWN] has those of which the kernel does not say it. A
 * page that the process never touched counts there.
 */
#define NUMA_UNKNOWN 255u
#define NUMA_NR	     256u
void numa_count(void *const *pages, unsigned int nr, uint32_t counts[NUMA_NR]);

/* Adds the numbers of pages of pinned memory that a look finds on each node. */
void numa_look_at_pinned(void (*add)(uint8_t metric, uint8_t node, uint64_t pages));

/* A line of /proc/PID/maps: false unless it is memory that the process may write. */
bool numa_read_map(const char *line, uint64_t *begin, uint64_t *end);

#endif
