/* SPDX-License-Identifier: Apache-2.0 */
#ifdef REPORT_HAS_SQLITE

#include "report/sql/functions.h"

#include <math.h>
#include <stdlib.h>

#include "report/sql/virtual_table.h"
#include "report/util/buf.h"

#define SAFE (SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS)

static void string_of(sqlite3_context *context, int argc, sqlite3_value **values)
{
	int64_t id = sqlite3_value_int64(values[0]);

	(void)argc;
	if (sqlite3_value_type(values[0]) == SQLITE_INTEGER && id >= 0 && id < string_pool_nr()) {
		virtual_table_set_text(context, (uint32_t)id);
	}
}

/* ---- ranks ---- */

struct values {
	double *items;
	size_t nr, capacity;
	double percent;
};

static bool is_number(sqlite3_value *value)
{
	int type = sqlite3_value_numeric_type(value);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void add_value(sqlite3_context *context, int argc, sqlite3_value **arguments)
{
	struct values *values = sqlite3_aggregate_context(context, sizeof(*values));

	if (!values || !is_number(arguments[0])) {
		return;
	}
	values->percent = argc > 1 ? sqlite3_value_double(arguments[1]) : 50;
	values->items =
		array_grow(values->items, values->nr, &values->capacity, sizeof(*values->items));
	values->items[values->nr++] = sqlite3_value_double(arguments[0]);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts what was added; NULL where that is nothing. */
static struct values *sorted_values(sqlite3_context *context)
{
	struct values *values = sqlite3_aggregate_context(context, 0);

	if (!values || !values->nr) {
		return NULL;
	}
	qsort(values->items, values->nr, sizeof(*values->items), by_value);
	return values;
}

static void free_values(sqlite3_context *context)
{
	struct values *values = sqlite3_aggregate_context(context, 0);

	if (values) {
		free(values->items);
	}
}

static void median(sqlite3_context *context)
{
	const struct values *values = sorted_values(context);

	if (values) {
		double low = values->items[(values->nr - 1) / 2];
		double high = values->items[values->nr / 2];

		sqlite3_result_double(context, low + (high - low) / 2);
	}
	free_values(context);
}

static void percentile(sqlite3_context *context)
{
	const struct values *values = sorted_values(context);

	if (values && !(values->percent >= 0 && values->percent <= 100)) {
		sqlite3_result_error(context, "percentile(x, p): p is from 0 to 100", -1);
	} else if (values) {
		double rank = ceil(values->percent / 100 * (double)values->nr);

		sqlite3_result_double(context, values->items[rank > 1 ? (size_t)rank - 1 : 0]);
	}
	free_values(context);
}

/* ---- deviation ---- */

/* In integers as long as all are: values close together and far from zero cancel. */
struct sums {
	uint64_t nr;
	bool is_real, is_beyond; /* the integers' sums do not hold */
	__int128 sum, squares;
	long double mean, deviation; /* Welford's */
};

static void add_to_sums(sqlite3_context *context, int argc, sqlite3_value **arguments)
{
	/* SQLite's memory is aligned for 8 bytes, and these want 16. */
	struct sums **place = sqlite3_aggregate_context(context, sizeof(*place));
	struct sums *sums;
	long double value, before;
	int64_t integer;

	(void)argc;
	if (!place || !is_number(arguments[0])) {
		return;
	}
	sums = *place = *place ? *place : mem_zeroed(1, sizeof(**place));
	sums->is_real |= sqlite3_value_numeric_type(arguments[0]) == SQLITE_FLOAT;
	integer = sqlite3_value_int64(arguments[0]);
	sums->is_beyond |=
		__builtin_add_overflow(sums->sum, integer, &sums->sum) ||
		__builtin_add_overflow(sums->squares, (__int128)integer * integer, &sums->squares);
	value = sums->is_real ? (long double)sqlite3_value_double(arguments[0])
			      : (long double)integer;
	sums->nr++;
	before = value - sums->mean;
	sums->mean += before / (long double)sums->nr;
	sums->deviation += before * (value - sums->mean);
}

static void deviation(sqlite3_context *context)
{
	struct sums **place = sqlite3_aggregate_context(context, 0);
	struct sums *sums = place ? *place : NULL;
	long double n, variance;
	__int128 squares, square;

	if (!sums) {
		return;
	}
	n = (long double)sums->nr;
	if (sums->nr < 2) {
		variance = 0;
	} else if (!sums->is_real && !sums->is_beyond &&
		   !__builtin_mul_overflow(sums->squares, (__int128)sums->nr, &squares) &&
		   !__builtin_mul_overflow(sums->sum, sums->sum, &square)) {
		variance = squares > square ? (long double)(squares - square) / n / (n - 1) : 0;
	} else {
		variance = sums->deviation / (n - 1);
	}
	sqlite3_result_double(context, variance > 0 ? (double)sqrtl(variance) : 0);
	free(sums);
}

int functions_add(sqlite3 *sqlite)
{
	int rc = sqlite3_create_function(
		sqlite, "string", 1, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, string_of, NULL, NULL);

	if (rc == SQLITE_OK) {
		rc = sqlite3_create_function(
			sqlite, "median", 1, SAFE, NULL, NULL, add_value, median);
	}
	if (rc == SQLITE_OK) {
		rc = sqlite3_create_function(
			sqlite, "percentile", 2, SAFE, NULL, NULL, add_value, percentile);
	}
	if (rc == SQLITE_OK) {
		rc = sqlite3_create_function(
			sqlite, "stddev", 1, SAFE, NULL, NULL, add_to_sums, deviation);
	}
	return rc;
}

#endif
