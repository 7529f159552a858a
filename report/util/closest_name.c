/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the name that the user probably meant, for messages about unknown commands, options, views
 * and columns: the one with the smallest edit distance, if that is small enough.
 */
#include "report/util/closest_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define MAX_LETTERS 64u /* of a name; no longer one is close to any */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance; `costs` is one row of its table, of the first letters of `to`. */
static size_t distance(const char *from, const char *to)
{
	size_t nr_to = strlen(to);
	size_t costs[MAX_LETTERS + 1];

	for (size_t i = 0; i <= nr_to; i++) {
		costs[i] = i;
	}
	for (size_t row = 1; *from; row++, from++) {
		size_t diagonal = costs[0];

		costs[0] = row;
		for (size_t i = 0; i < nr_to; i++) {
			bool is_other =
				tolower((unsigned char)*from) != tolower((unsigned char)to[i]);
			size_t replaced = diagonal + is_other;

			diagonal = costs[i + 1];
			costs[i + 1] = least(replaced, least(costs[i], diagonal) + 1);
		}
	}
	return costs[nr_to];
}

const char *closest_name(const char *text, const char *const *names)
{
	size_t limit = strlen(text) / 3 + 2; /* below this one */
	const char *closest = NULL;

	for (size_t i = 0; strlen(text) <= MAX_LETTERS && names[i]; i++) {
		size_t nr = strlen(names[i]) <= MAX_LETTERS ? distance(text, names[i]) : limit;

		if (nr < limit) {
			limit = nr;
			closest = names[i];
		}
	}
	return closest;
}
