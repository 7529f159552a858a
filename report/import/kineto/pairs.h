/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs events that Chrome's format splits: a begin (phase B) waits as text for the end (phase E)
 * of its thread; the last one begun ends first. Of an end only the time is used.
 *
 * Memory is that of the waiting begins, at most KINETO_PAIRS_BYTES and KINETO_PAIRS_MAX.
 */
#ifndef REPORT_IMPORT_KINETO_PAIRS_H
#define REPORT_IMPORT_KINETO_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/idmap.h"

#define KINETO_PAIRS_MAX   (1u << 20)
#define KINETO_PAIRS_BYTES (64u << 20)

struct kineto_begin {
	char *text; /* NULL: of a kind that is not kept, waits only for its end */
	size_t nr_bytes;
	uint64_t order; /* see kineto_row */
};

struct kineto_pairs {
	struct idmap threads;
	size_t nr_waiting, nr_bytes;
};

void kineto_pairs_init(struct kineto_pairs *pairs);
void kineto_pairs_fini(struct kineto_pairs *pairs);

/* Copies the text, if there is one. False: there is no room, and its end will find nothing. */
bool kineto_pairs_begin(struct kineto_pairs *pairs, uint32_t thread, const char *text,
	size_t nr_bytes, uint64_t order);

/* Removes what ends on the thread; the caller frees its text. False: nothing has begun. */
bool kineto_pairs_end(struct kineto_pairs *pairs, uint32_t thread, struct kineto_begin *begin);

/* Returns how many begins with a text still wait. */
uint64_t kineto_pairs_nr_open(const struct kineto_pairs *pairs);

#endif
