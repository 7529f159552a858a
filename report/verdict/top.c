/* SPDX-License-Identifier: Apache-2.0 */
/* Moves what is smaller one place on; the last item falls out. */
#include "report/verdict/top.h"

#include <stdint.h>
#include <string.h>

static uint64_t number_of(const void *item, size_t number_at)
{
	uint64_t number;

	memcpy(&number, (const char *)item + number_at, sizeof(number));
	return number;
}

void top_add(void *top, size_t nr, size_t nr_bytes, const void *item, size_t number_at)
{
	char *items = top;
	size_t at = nr;

	while (at &&
		number_of(item, number_at) > number_of(items + (at - 1) * nr_bytes, number_at)) {
		at--;
	}
	if (at < nr) {
		memmove(items + (at + 1) * nr_bytes, items + at * nr_bytes,
			(nr - at - 1) * nr_bytes);
		memcpy(items + at * nr_bytes, item, nr_bytes);
	}
}
