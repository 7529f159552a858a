/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts records of one size by their keys, for tables with a row per event.
 *
 * It sorts up to EXTERNAL_SORT_BYTES in memory, with two keys of 16 bytes per record aside. More
 * records go as sorted runs into a temporary file ($TMPDIR or /tmp) and are merged from there, each
 * through a window of 64 KB. If that file cannot grow, all further records stay in memory.
 */
#ifndef REPORT_UTIL_EXTERNAL_SORT_H
#define REPORT_UTIL_EXTERNAL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXTERNAL_SORT_BYTES (32u << 20)

/* The start of every record. */
struct external_sort_head {
	uint64_t key;	/* sorts rising; set by the caller */
	uint64_t order; /* order of equal keys; set by external_sort_add */
};

struct external_sort;

/*
 * most: how many records with the lowest keys to keep; the others are only counted. 0 keeps all.
 *
 * run_bytes: how much to sort in memory at a time; 0 is EXTERNAL_SORT_BYTES. Tests use small runs.
 */
struct external_sort *external_sort_create(size_t record_bytes, size_t most, size_t run_bytes);
void external_sort_destroy(struct external_sort *sorter);

/* A uint64_t behind the head sorts records whose key and order are equal. Before the first record.
 */
void external_sort_break_ties(struct external_sort *sorter);

/* The same, but keys fall; order and tie rise as ever. Before the first record. */
void external_sort_fall(struct external_sort *sorter);

/*
 * Instead of external_sort_at: `take` gets the records in order as soon as no earlier one can come,
 * from within the calls below. So the file is not needed where records come nearly in order. Before
 * the first record; with `most` 0, and rising keys.
 */
void external_sort_hand_out(struct external_sort *sorter,
	void (*take)(void *context, const void *record), void *context);

/* Later records have no lower keys. Hands out the others when memory is full. */
void external_sort_no_earlier(struct external_sort *sorter, uint64_t key);

/* Likewise, and hands out all lower ones at once. */
void external_sort_release(struct external_sort *sorter, uint64_t key);

/* Room for one more record, zeroed but for its order. Valid until the next call. */
void *external_sort_add(struct external_sort *sorter);

/* Sorts the records. Add none afterwards. */
void external_sort_finish(struct external_sort *sorter);

/* The number of records that were added, and of those that are kept. */
size_t external_sort_nr_added(const struct external_sort *sorter);
size_t external_sort_nr(const struct external_sort *sorter);

/*
 * The record at an index below external_sort_nr, after external_sort_finish. Valid until the next
 * call. Rising indices are cheap; a lower one starts again at the first record.
 */
const void *external_sort_at(struct external_sort *sorter, size_t place);

/*
 * After external_sort_finish: `change` gets each record in order and may change all of it;
 * then `use` gets the changed ones from the last to the first. False if the file has no room for
 * the changed ones; then `use` gets none.
 */
bool external_sort_rewrite(struct external_sort *sorter,
	void (*change)(void *context, void *record), void (*use)(void *context, const void *record),
	void *context);

#endif
