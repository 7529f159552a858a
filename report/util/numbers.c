/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of numbers in options, such as --steps 3,5-7 and --rank 0-3, and the way back for
 * messages: numbers that exist become a short list of spans.
 */
#include "report/util/numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report/util/sort.h"

void numbers_fini(struct numbers *numbers)
{
	free(numbers->spans);
	*numbers = (struct numbers){0};
}

/* strtoull would also accept signs and blanks. */
static bool parse_number(const char **at, uint64_t *number)
{
	char *end;

	if (**at < '0' || **at > '9') {
		return false;
	}
	errno = 0;
	*number = strtoull(*at, &end, 10);
	*at = end;
	return !errno;
}

static bool parse_last(struct numbers *numbers, const char **at)
{
	uint64_t nr;

	++*at;
	if (!parse_number(at, &nr) || !nr) {
		return false;
	}
	numbers->nr_last = nr > numbers->nr_last ? nr : numbers->nr_last;
	return true;
}

static bool parse_span(struct numbers *numbers, const char **at)
{
	struct number_span span;

	if (!parse_number(at, &span.first)) {
		return false;
	}
	span.last = span.first;
	if (**at == '-') {
		++*at;
		span.last = UINT64_MAX;
		if (**at && **at != ',' && !parse_number(at, &span.last)) {
			return false;
		}
	}
	numbers->spans = array_grow(
		numbers->spans, numbers->nr_spans, &numbers->capacity, sizeof(*numbers->spans));
	numbers->spans[numbers->nr_spans++] = span;
	return span.first <= span.last;
}

bool numbers_parse(struct numbers *numbers, const char *list, bool has_last)
{
	for (;;) {
		bool is_good = has_last && *list == '-' ? parse_last(numbers, &list)
							: parse_span(numbers, &list);

		if (!is_good || (*list && *list != ',')) {
			return false;
		}
		if (!*list) {
			return true;
		}
		list++;
	}
}

bool numbers_is_empty(const struct numbers *numbers)
{
	return !numbers->nr_spans && !numbers->nr_last;
}

bool numbers_has(const struct numbers *numbers, uint64_t number)
{
	for (size_t i = 0; i < numbers->nr_spans; i++) {
		if (number >= numbers->spans[i].first && number <= numbers->spans[i].last) {
			return true;
		}
	}
	return false;
}

void numbers_print_span(const struct number_span *span, struct buf *out)
{
	buf_printf(out, "%" PRIu64, span->first);
	if (span->last == UINT64_MAX) {
		buf_char(out, '-');
	} else if (span->last != span->first) {
		buf_printf(out, "-%" PRIu64, span->last);
	}
}

void numbers_print(uint64_t *array, size_t nr, size_t most, struct buf *out)
{
	size_t nr_spans = 0;

	if (nr) {
		qsort(array, nr, sizeof(*array), by_u64);
	}
	for (size_t i = 0; i < nr; nr_spans++) {
		uint64_t first = array[i], last = first;

		if (nr_spans == most) {
			buf_text(out, ",...");
			return;
		}
		while (i < nr && (array[i] == last || array[i] == last + 1)) {
			last = array[i++];
		}
		buf_text(out, nr_spans ? "," : "");
		buf_printf(out, "%" PRIu64, first);
		if (last != first) {
			buf_printf(out, "-%" PRIu64, last);
		}
	}
}
