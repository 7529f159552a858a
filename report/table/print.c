/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of a table share a unit for times, one for sizes and one for rates, chosen by most of
 * them (common_unit). A column whose numbers would be unreadable in it has its own (share_unit).
 * CSV has the smallest unit, unless --unit names one, and JSON the exact numbers.
 */
#include "report/table/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/text.h"

static const struct table_unit time_units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
static const struct table_unit size_units[] = {{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}};
static const struct table_unit rate_units[] = {
	{"GB/s", 1e9}, {"MB/s", 1e6}, {"KB/s", 1e3}, {"B/s", 1}};

#define NR_UNITS 4u
/* A column has the unit of its table unless it has a number of so many units ... */
#define MAX_UNITS 1e7
/* ... or its typical number is less than this many. */
#define MIN_TYPICAL 0.01
/* Numbers have three decimals, but one if they are so large. */
#define FEW_DECIMALS 1e4
#define NR_DECADES   20u

const struct table_unit *table_time_unit(const char *name)
{
	unsigned int k = 0;

	while (k < NR_UNITS - 1 && (!name || strcmp(time_units[k].name, name) != 0)) {
		k++;
	}
	return &time_units[k];
}

/* The units of a type from the largest on, NULL if it has none. */
static const struct table_unit *units_of(enum table_type type)
{
	switch (type) {
	case TABLE_TIME:
	case TABLE_MEAN_TIME:
		return time_units;
	case TABLE_SIZE:
	case TABLE_MEAN_SIZE:
		return size_units;
	case TABLE_RATE:
		return rate_units;
	default:
		return NULL;
	}
}

/* Statistics of the numbers of a column that are not 0. */
struct magnitudes {
	double most;
	size_t nr, decades[NR_DECADES]; /* how many have as many digits */
};

static void add_magnitude(struct magnitudes *magnitudes, double number)
{
	unsigned int decade = 0;

	number = fabs(number);
	magnitudes->most = fmax(magnitudes->most, number);
	if (number <= 0) {
		return;
	}
	for (; number >= 10 && decade < NR_DECADES - 1; number /= 10) {
		decade++;
	}
	magnitudes->decades[decade]++;
	magnitudes->nr++;
}

/* Returns the power of ten below the median. */
static double typical(const struct magnitudes *magnitudes)
{
	size_t below = 0;
	double power = 1;

	for (unsigned int k = 0; k < NR_DECADES; k++, power *= 10) {
		below += magnitudes->decades[k];
		if (2 * below >= magnitudes->nr) {
			break;
		}
	}
	return power;
}

/* Returns the largest unit of which most numbers of the column have at least one. */
static unsigned int fine_unit(const struct magnitudes *magnitudes, const struct table_unit *units)
{
	unsigned int k = 0;

	while (k < NR_UNITS - 1 && typical(magnitudes) < units[k].factor) {
		k++;
	}
	return k;
}

/* Returns a unit for one column alone, by its largest number. */
static unsigned int own_unit(const struct magnitudes *magnitudes, const struct table_unit *units)
{
	unsigned int k = 0;

	while (k < NR_UNITS - 1 && magnitudes->most < 10 * units[k].factor) {
		k++;
	}
	return k;
}

/* Returns the unit that fits most of the columns that are shown; of two the smaller one. */
static unsigned int common_unit(const struct table *table, const struct table_style *style,
	const struct magnitudes *magnitudes, const struct table_unit *units)
{
	unsigned int nr[NR_UNITS] = {0}, nr_columns = 0, below = 0, k = 0;
	double most = 0;

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		const struct table_column *column = &table->columns[c];

		if (units_of(column->type) == units && magnitudes[c].nr &&
			(style->is_wide || !column->is_wide_only)) {
			nr[fine_unit(&magnitudes[c], units)]++;
			nr_columns++;
			most = fmax(most, magnitudes[c].most);
		}
	}
	for (; k < NR_UNITS - 1; k++) {
		below += nr[k];
		if (2 * below > nr_columns) {
			break;
		}
	}
	/* Three decimals show what is less. */
	return k == NR_UNITS - 1 && most >= units[k - 1].factor ? k - 1 : k;
}

/* Sets the scales of the columns with these units. */
static void share_unit(const struct table *table, const struct table_style *style,
	const struct magnitudes *magnitudes, const struct table_unit *units,
	struct table_scale *scales)
{
	unsigned int common = common_unit(table, style, magnitudes, units);

	for (unsigned int c = 0; c < table->nr_columns; c++) {
		const struct magnitudes *of = &magnitudes[c];
		double factor = units[common].factor;

		if (units_of(table->columns[c].type) != units) {
			continue;
		}
		scales[c].unit = &units[common];
		if (of->most >= MAX_UNITS * factor) {
			scales[c].unit = &units[own_unit(of, units)];
		} else if (of->nr && typical(of) < MIN_TYPICAL * factor) {
			scales[c].unit = &units[fine_unit(of, units)];
		}
		factor = scales[c].unit->factor;
		scales[c].decimals =
			of->most >= FEW_DECIMALS * factor || typical(of) >= 1e3 * factor ? 1 : 3;
	}
}

static void measure(const struct table *table, struct magnitudes *magnitudes)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			if (units_of(table->columns[c].type)) {
				add_magnitude(&magnitudes[c], cells[c].number);
			}
		}
	}
}

void table_find_scales(
	const struct table *table, const struct table_style *style, struct table_scale *scales)
{
	struct magnitudes *magnitudes = NULL;

	if (style->format != TABLE_CSV) {
		magnitudes = mem_zeroed(table->nr_columns, sizeof(*magnitudes));
		measure(table, magnitudes);
		share_unit(table, style, magnitudes, time_units, scales);
		share_unit(table, style, magnitudes, size_units, scales);
		share_unit(table, style, magnitudes, rate_units, scales);
		free(magnitudes);
	}
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		const struct table_unit *units = units_of(table->columns[c].type);

		if (units == time_units && (style->unit || !magnitudes)) {
			scales[c] = (struct table_scale){table_time_unit(style->unit), 3};
		} else if (!magnitudes) {
			scales[c] = (struct table_scale){units ? &units[NR_UNITS - 1] : NULL, 3};
		}
	}
}

/* Adds the digits in groups of three. */
static void add_separated(struct buf *out, const char *digits, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0) {
			buf_char(out, ',');
		}
		buf_char(out, digits[i]);
	}
}

static void add_count(struct buf *out, uint64_t value, bool separate)
{
	char digits[24];

	if (!separate) {
		buf_uint(out, value);
		return;
	}
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	add_separated(out, digits, strlen(digits));
}

static void add_decimal(struct buf *out, double value, unsigned int decimals, bool separate)
{
	char digits[344]; /* of any double */
	size_t sign;

	snprintf(digits, sizeof(digits), "%.*f", (int)decimals, value);
	/* A number that rounds to 0 loses its sign. */
	if (*digits == '-' && !digits[1 + strspn(digits + 1, "0.")]) {
		memmove(digits, digits + 1, strlen(digits));
	}
	sign = *digits == '-';
	if (!separate) {
		buf_text(out, digits);
		return;
	}
	buf_add(out, digits, sign);
	add_separated(out, digits + sign, strcspn(digits + sign, "."));
	buf_text(out, digits + sign + strcspn(digits + sign, "."));
}

void table_add_number(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct table_scale *scale, bool separate)
{
	if (!cell->is_known) {
		return;
	}
	if (column->type == TABLE_DIGITS) {
		buf_add(out, cell->text, cell->nr_text);
	} else if (column->type == TABLE_COUNT || column->type == TABLE_ID) {
		add_count(out, cell->integer, separate && column->type == TABLE_COUNT);
	} else if (column->is_p && separate && cell->number < 0.01) {
		buf_text(out, "< 0.01");
	} else if (column->is_p && !separate) {
		buf_printf(out, "%.3g", cell->number);
	} else if (column->type == TABLE_PERCENT || column->type == TABLE_NUMBER) {
		add_decimal(out, cell->number, 2, false);
	} else if (scale->unit->factor > 1) {
		add_decimal(out, cell->number / scale->unit->factor, scale->decimals, separate);
	} else if (column->type == TABLE_MEAN_TIME || column->type == TABLE_MEAN_SIZE) {
		add_decimal(out, cell->number, 1, separate);
	} else {
		add_count(out, cell->integer, separate);
	}
}

void table_add_title(
	struct buf *out, const struct table_column *column, const struct table_unit *unit)
{
	buf_text(out, column->title);
	if (unit) {
		buf_printf(out, " (%s)", unit->name);
	}
}

/* ---- CSV and JSON ---- */

static void print_csv(const struct table *table, const struct table_style *style, struct buf *out)
{
	struct table_scale *scales = mem_zeroed(table->nr_columns, sizeof(*scales));

	table_find_scales(table, style, scales);
	if (!style->is_plain) {
		buf_printf(out, "# %s\n", table->title);
	}
	for (const char *note = style->is_plain ? NULL : table->note; note;
		note = table_next_note(note)) {
		buf_text(out, "# ");
		text_add_csv_remark(out, note, table_note_length(note));
		buf_char(out, '\n');
	}
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		buf_text(out, c ? ",\"" : "\"");
		table_add_title(out, &table->columns[c], scales[c].unit);
		buf_char(out, '"');
	}
	buf_char(out, '\n');
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		for (unsigned int c = 0; c < table->nr_columns; c++) {
			const struct table_column *column = &table->columns[c];
			const struct table_cell *cell = &cells[c];
			size_t nr_bytes;

			buf_text(out, c ? "," : "");
			if (table_is_text(column)) {
				const char *bytes = table_cell_text(column, cell, &nr_bytes);

				text_add_csv(out, bytes, nr_bytes);
			} else {
				table_add_number(out, column, cell, &scales[c], false);
			}
		}
		buf_char(out, '\n');
		buf_flush_if_large(out);
	}
	buf_text(out, style->is_plain ? "" : "\n");
	free(scales);
}

static void add_json_value(
	struct buf *out, const struct table_column *column, const struct table_cell *cell)
{
	size_t nr_bytes;
	const char *bytes;

	if (table_is_text(column)) {
		bytes = table_cell_text(column, cell, &nr_bytes);
		text_add_json(out, bytes, nr_bytes);
	} else if (!cell->is_known) {
		buf_text(out, "null");
	} else if (column->type == TABLE_DIGITS) {
		buf_add(out, cell->text, cell->nr_text);
	} else if (column->is_p) {
		buf_printf(out, "%.3g", cell->number);
	} else if (column->type == TABLE_PERCENT || column->type == TABLE_NUMBER) {
		buf_printf(out, "%.3f", cell->number);
	} else {
		/* A difference may be negative, which the integer of a cell cannot hold. */
		buf_text(out, cell->number <= -0.5 ? "-" : "");
		buf_uint(out, cell->number <= -0.5
				      ? (uint64_t)(0.5 - fmax(cell->number, -0x1.fffffffffffffp63))
				      : cell->integer);
	}
}

static void print_json_columns(const struct table *table, struct buf *out)
{
	buf_text(out, ",\n    \"columns\": [");
	for (unsigned int c = 0; c < table->nr_columns; c++) {
		buf_text(out, c ? ", " : "");
		text_add_json(out, table->columns[c].key, strlen(table->columns[c].key));
	}
	buf_text(out, "]");
}

static void print_json(const struct table *table, struct buf *out)
{
	buf_printf(out, "  \"%s\": {\n    \"title\": ", table->key);
	text_add_json(out, table->title, strlen(table->title));
	if (table->note) {
		struct buf text = {0};

		table_add_notes(&text, table);
		buf_text(out, ",\n    \"note\": ");
		text_add_json(out, text.bytes, text.nr_bytes);
		buf_fini(&text);
	}
	if (table->nr_cut) {
		buf_printf(out, ",\n    \"rows_left_out\": %zu", table->nr_cut);
	}
	if (!table->nr_rows) {
		print_json_columns(table, out); /* rows would name them */
	}
	buf_text(out, ",\n    \"rows\": [");
	for (size_t row = 0; row < table->nr_rows; row++) {
		const struct table_cell *cells = table_row(table, row);

		buf_text(out, row ? ",\n      {" : "\n      {");
		for (unsigned int c = 0; c < table->nr_columns; c++) {
			buf_printf(out, "%s\"%s\": ", c ? ", " : "", table->columns[c].key);
			add_json_value(out, &table->columns[c], &cells[c]);
		}
		buf_char(out, '}');
		buf_flush_if_large(out);
	}
	buf_text(out, table->nr_rows ? "\n    ]\n  }" : "]\n  }");
}

void table_add_auto_time(struct buf *out, double ns)
{
	const struct table_unit *unit = &time_units[3];
	double value;

	for (int k = 0; k < 3; k++) {
		if (ns >= time_units[k].factor) {
			unit = &time_units[k];
			break;
		}
	}
	value = ns / unit->factor;
	if (unit->factor <= 1) {
		buf_printf(out, "%.0fns", value);
	} else {
		int decimals = value < 10 ? 4 : value < 100 ? 3 : value < 1000 ? 2 : 0;

		buf_printf(out, "%.*f%s", decimals, value, unit->name);
	}
}

void table_print(const struct table *table, const struct table_style *style, struct buf *out)
{
	switch (style->format) {
	case TABLE_CSV:
		print_csv(table, style, out);
		break;
	case TABLE_JSON:
		print_json(table, out);
		break;
	case TABLE_OPENMETRICS:
		table_print_openmetrics(table, out);
		break;
	case TABLE_MARKDOWN:
	case TABLE_TEXT_FORMAT:
		table_print_text(table, style, out);
		break;
	}
}
