/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of numbers as options take them: 3, 3-7, 3-, and where it makes sense -2, the last two. */
#ifndef REPORT_UTIL_NUMBERS_H
#define REPORT_UTIL_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/buf.h"

struct number_span {
	uint64_t first, last; /* both are in it */
};

/* Starts with all zeros: no number is in it. */
struct numbers {
	struct number_span *spans; /* as they were given */
	size_t nr_spans, capacity;
	uint64_t nr_last; /* the most that any -N asks for */
};

void numbers_fini(struct numbers *numbers);

/*
 * Adds a list like 0,3-5,9-; has_last: -N may stand in it. False if it is none; then part of it may
 * have been added.
 */
bool numbers_parse(struct numbers *numbers, const char *list, bool has_last);

/* True if nothing was added. */
bool numbers_is_empty(const struct numbers *numbers);

/* What -N is of is not known here. */
bool numbers_has(const struct numbers *numbers, uint64_t number);

/* As it was given: 3, 3-7 or 3-. */
void numbers_print_span(const struct number_span *span, struct buf *out);

/* Sorts `array` and prints it as a list; behind `most` spans it is cut. */
void numbers_print(uint64_t *array, size_t nr, size_t most, struct buf *out);

#endif
