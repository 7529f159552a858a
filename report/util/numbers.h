/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of numbers in options: 3, 3-7, 3-, and where it makes sense -2 for the last two. */
#ifndef REPORT_UTIL_NUMBERS_H
#define REPORT_UTIL_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/buf.h"

struct number_span {
	uint64_t first, last; /* both included */
};

/* Zero-initialized, it contains no number. */
struct numbers {
	struct number_span *spans; /* as the user gave them */
	size_t nr_spans, capacity;
	uint64_t nr_last; /* the largest N of all -N */
};

void numbers_fini(struct numbers *numbers);

/*
 * Adds a list such as 0,3-5,9-. has_last allows -N. False if the list is invalid; part of it may
 * have been added by then.
 */
bool numbers_parse(struct numbers *numbers, const char *list, bool has_last);

/* True if nothing was added. */
bool numbers_is_empty(const struct numbers *numbers);

/* Ignores -N, as this function does not know the last number. */
bool numbers_has(const struct numbers *numbers, uint64_t number);

/* Prints 3, 3-7 or 3-, as the user gave it. */
void numbers_print_span(const struct number_span *span, struct buf *out);

/* Sorts `array` and prints it as a list of at most `most` spans. */
void numbers_print(uint64_t *array, size_t nr, size_t most, struct buf *out);

#endif
