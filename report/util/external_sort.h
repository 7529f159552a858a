/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of one size in the order of their keys, for tables with a row for every event. Memory is
 * bounded: up to SPOOL_BYTES of records are sorted in memory, and what is more lies as sorted runs
 * in a file without a name, in $TMPDIR or /tmp, from which they are merged. Where there is no room
 * for that file they stay in memory, all of them.
 */
#ifndef REPORT_UTIL_EXTERNAL_SORT_H
#define REPORT_UTIL_EXTERNAL_SORT_H

#include <stddef.h>
#include <stdint.h>

#define SPOOL_BYTES (32u << 20)

/* Every record begins with it. */
struct spool_head {
	uint64_t key;	/* rising; set by the caller */
	uint64_t order; /* of adding, where keys are the same; set by spool_add */
};

struct spool;

/*
 * most: how many records matter, those with the lowest keys; the others are only counted. 0: all.
 * run_bytes: what is sorted in memory at a time, 0 for SPOOL_BYTES (tests have it small).
 */
struct spool *spool_create(size_t record_bytes, size_t most, size_t run_bytes);
void spool_destroy(struct spool *spool);

/* Room for one more record, zeros but for its order; good until the next call. */
void *spool_add(struct spool *spool);

/* Sorts; nothing may be added afterwards. */
void spool_finish(struct spool *spool);

/* Records that were added, and of these how many there are to be had. */
size_t spool_nr_added(const struct spool *spool);
size_t spool_nr(const struct spool *spool);

/*
 * After spool_finish: the record at that place below spool_nr, good until the next call. Places one
 * after the other are cheap; a place before the last one begins again at the first.
 */
const void *spool_at(struct spool *spool, size_t place);

#endif
