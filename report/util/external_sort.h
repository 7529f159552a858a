/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of one size in the order of their keys, for tables with a row for every event. Memory is
 * bounded: up to EXTERNAL_SORT_BYTES of records are sorted in memory, and what is more lies as
 * sorted runs in a file without a name, in $TMPDIR or /tmp, from which they are merged. Where there
 * is no room for that file they stay in memory, all of them.
 */
#ifndef REPORT_UTIL_EXTERNAL_SORT_H
#define REPORT_UTIL_EXTERNAL_SORT_H

#include <stddef.h>
#include <stdint.h>

#define EXTERNAL_SORT_BYTES (32u << 20)

/* Every record begins with it. */
struct external_sort_head {
	uint64_t key;	/* rising; set by the caller */
	uint64_t order; /* of adding, where keys are the same; set by external_sort_add */
};

struct external_sort;

/*
 * most: how many records matter, those with the lowest keys; the others are only counted. 0: all.
 * run_bytes: what is sorted in memory at a time, 0 for EXTERNAL_SORT_BYTES (tests have it small).
 */
struct external_sort *external_sort_create(size_t record_bytes, size_t most, size_t run_bytes);
void external_sort_destroy(struct external_sort *sorter);

/* Room for one more record, zeros but for its order; good until the next call. */
void *external_sort_add(struct external_sort *sorter);

/* Sorts; nothing may be added afterwards. */
void external_sort_finish(struct external_sort *sorter);

/* Records that were added, and of these how many there are to be had. */
size_t external_sort_nr_added(const struct external_sort *sorter);
size_t external_sort_nr(const struct external_sort *sorter);

/*
 * After external_sort_finish: the record at that place below external_sort_nr, good until the next
 * call. Places one after the other are cheap; a place before the last one begins again at the
 * first.
 */
const void *external_sort_at(struct external_sort *sorter, size_t place);

#endif
