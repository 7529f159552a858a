/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that Chrome's format tells in two parts: a begin (phase B) waits, as the text it was, for
 * the end (phase E) of its thread; the last begun ends first. What an end says beside its time is
 * not read. Memory is that of the begins that wait, up to KINETO_PAIRS_BYTES and _MOST.
 */
#ifndef REPORT_KINETO_PAIR_H
#define REPORT_KINETO_PAIR_H

#include <stdbool.h>

#include "report/util/idmap.h"

#define KINETO_PAIRS_MOST  (1u << 20)
#define KINETO_PAIRS_BYTES (64u << 20)

struct kineto_begin {
	char *text; /* NULL: of no kind that is kept, there for its end alone */
	size_t nr_bytes;
	uint64_t order; /* see kineto_row */
};

struct kineto_pairs {
	struct idmap threads;
	size_t nr_waiting, nr_bytes;
};

void kineto_pairs_init(struct kineto_pairs *pairs);
void kineto_pairs_fini(struct kineto_pairs *pairs);

/* Copies the text, if there is one. False: no room, and its end will find nothing. */
bool kineto_pairs_begin(struct kineto_pairs *pairs, uint32_t thread, const char *text,
	size_t nr_bytes, uint64_t order);

/* What ends on the thread; its text is the caller's. False: nothing has begun. */
bool kineto_pairs_end(struct kineto_pairs *pairs, uint32_t thread, struct kineto_begin *begin);

/* Those with a text that still wait. */
uint64_t kineto_pairs_nr_open(const struct kineto_pairs *pairs);

#endif
