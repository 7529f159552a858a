/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the open begins of each thread on a stack of its own: a trace nests them within a thread. A
 * begin that finds no room is counted instead, so that the ends of others still find theirs.
 */
#include "report/import/kineto/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

/* The open begins of a thread, the innermost last. */
struct begins {
	struct kineto_begin *items;
	size_t nr, capacity;
	uint64_t nr_refused; /* begins within the last item that found no room */
};

void kineto_pairs_init(struct kineto_pairs *pairs)
{
	*pairs = (struct kineto_pairs){0};
	idmap_init(&pairs->threads, sizeof(struct begins));
}

void kineto_pairs_fini(struct kineto_pairs *pairs)
{
	for (size_t i = 0; i < pairs->threads.nr; i++) {
		struct begins *begins = idmap_at(&pairs->threads, i);

		for (size_t k = 0; k < begins->nr; k++) {
			free(begins->items[k].text);
		}
		free(begins->items);
	}
	idmap_fini(&pairs->threads);
}

/*
 * Once a begin of a thread is refused, so are all within it: ends then take the refused ones first,
 * and each of the others still finds its own begin.
 */
bool kineto_pairs_begin(struct kineto_pairs *pairs, uint32_t thread, const char *text,
	size_t nr_bytes, uint64_t order)
{
	struct begins *begins = idmap_put(&pairs->threads, thread);
	struct kineto_begin begin = {.nr_bytes = text ? nr_bytes : 0, .order = order};

	if (begins->nr_refused || pairs->nr_waiting >= KINETO_PAIRS_MAX ||
		begin.nr_bytes > KINETO_PAIRS_BYTES - pairs->nr_bytes) {
		begins->nr_refused++;
		return false;
	}
	if (text) {
		begin.text = mem_resize(NULL, nr_bytes + 1, 1);
		memcpy(begin.text, text, nr_bytes);
		begin.text[nr_bytes] = 0;
	}
	begins->items =
		array_grow(begins->items, begins->nr, &begins->capacity, sizeof(*begins->items));
	begins->items[begins->nr++] = begin;
	pairs->nr_waiting++;
	pairs->nr_bytes += begin.nr_bytes;
	return true;
}

bool kineto_pairs_end(struct kineto_pairs *pairs, uint32_t thread, struct kineto_begin *begin)
{
	struct begins *begins = idmap_get(&pairs->threads, thread);

	if (!begins || (!begins->nr && !begins->nr_refused)) {
		return false;
	}
	if (begins->nr_refused) {
		begins->nr_refused--; /* its begin was counted */
		*begin = (struct kineto_begin){0};
		return true;
	}
	*begin = begins->items[--begins->nr];
	pairs->nr_waiting--;
	pairs->nr_bytes -= begin->nr_bytes;
	return true;
}

uint64_t kineto_pairs_nr_open(const struct kineto_pairs *pairs)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < pairs->threads.nr; i++) {
		const struct begins *begins = idmap_at(&pairs->threads, i);

		for (size_t k = 0; k < begins->nr; k++) {
			nr += begins->items[k].text != NULL;
		}
	}
	return nr;
}
