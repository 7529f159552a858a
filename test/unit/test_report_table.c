/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of columns; rows that lie in others: their order, what is cut, how they are shown. */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "report/table/print.h"
#include "report/util/string_pool.h"
#include "test/unit/unit.h"

static const struct table_column columns[] = {
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME),
	TABLE_COLUMN("name", "Name", TABLE_TEXT),
};

static void add(struct table *table, uint8_t level, uint64_t total, const char *name)
{
	struct table_cell *cells = table_add_row(table);

	table_set_integer(&cells[0], total);
	table_set_string(&cells[1], name);
	table_set_level(table, level);
}

/* All names in their order, those within others after as many dots as they are deep. */
static const char *names_of(const struct table *table)
{
	static char text[256];

	text[0] = '\0';
	for (size_t i = 0; i < table->nr_rows; i++) {
		for (unsigned int k = 0; k < table_level(table, i); k++) {
			strcat(text, ".");
		}
		strcat(strcat(text, table_find_cell(table, i, "name")->text), " ");
	}
	return text;
}

static struct table *make(void)
{
	struct table *table = table_create("t", "T", columns, 2);

	add(table, 0, 10, "a");
	add(table, 1, 3, "a1");
	add(table, 2, 1, "a1x");
	add(table, 2, 2, "a1y");
	add(table, 1, 7, "a2");
	add(table, 0, 20, "b");
	add(table, 1, 100, "b1");
	add(table, 0, 15, "c");
	return table;
}

START_TEST(rows_stay_in_the_one_that_they_lie_in)
{
	struct table *table = make();

	ck_assert(table_sort(table, "total"));
	ck_assert_str_eq(names_of(table), "b .b1 c a .a2 .a1 ..a1y ..a1x ");
	ck_assert(table_sort(table, "name"));
	ck_assert_str_eq(names_of(table), "a .a1 ..a1x ..a1y .a2 b .b1 c ");
	table_destroy(table);
}
END_TEST

/* Behind those that are below 0, too. */
START_TEST(unknown_numbers_are_last)
{
	static const struct table_column parts[] = {TABLE_COLUMN("change", "Change", TABLE_NUMBER),
		TABLE_COLUMN("name", "Name", TABLE_TEXT)};
	static const char *const names[] = {"0", "u", "2", "v", "-3"};
	struct table *table = table_create("t", "T", parts, 2);

	for (size_t i = 0; i < 5; i++) {
		struct table_cell *cells = table_add_row(table);

		if (i % 2 == 0) {
			table_set_number(&cells[0], strtod(names[i], NULL));
		}
		table_set_string(&cells[1], names[i]);
	}
	ck_assert(table_sort(table, "change"));
	ck_assert_str_eq(names_of(table), "2 0 -3 u v ");
	ck_assert(table_sort_rising(table, "change"));
	ck_assert_str_eq(names_of(table), "-3 0 2 u v ");
	table_destroy(table);
}
END_TEST

START_TEST(the_top_rows_are_those_that_lie_in_none)
{
	struct table *table = make();

	table_sort(table, "total");
	table_cut(table, 2);
	ck_assert_str_eq(names_of(table), "b .b1 c ");
	ck_assert_uint_eq(table->nr_cut, 1);
	table_cut(table, 2);
	ck_assert_uint_eq(table->nr_cut, 1);
	table_destroy(table);
}
END_TEST

START_TEST(names_come_first_and_children_are_indented)
{
	struct table *table = make();
	struct table_style style = {.format = TABLE_TEXT_FORMAT};
	struct buf out = {0};

	table_print(table, &style, &out);
	buf_char(&out, '\0');
	ck_assert_ptr_nonnull(strstr(out.bytes, "\n      a1x           1\n"));
	ck_assert_ptr_nonnull(strstr(out.bytes, "\n  b                20\n"));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

/* Also where the key ends with the unit. */
START_TEST(openmetrics_have_their_unit_once_in_the_name)
{
	static const struct table_column shares[] = {TABLE_COLUMN("share_pct", "A", TABLE_PERCENT),
		TABLE_COLUMN("ratio_pct", "B", TABLE_PERCENT),
		TABLE_COLUMN("gpu_ratio_pct", "C", TABLE_PERCENT)};
	static const char *const lines[] = {"\ngprof_t_share_ratio 0.01\n",
		"\ngprof_t_ratio 0.02\n", "\ngprof_t_gpu_ratio 0.03\n"};
	struct table *table = table_create("t", "T", shares, 3);
	struct table_cell *cells = table_add_row(table);
	struct buf out = {0};

	for (unsigned int i = 0; i < 3; i++) {
		table_set_number(&cells[i], 1 + i);
	}
	table_print_openmetrics(table, &out);
	buf_char(&out, '\0');
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_ptr_nonnull(strstr(out.bytes, lines[i]));
	}
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

/* Levels that nothing leads to are those of what is there. */
START_TEST(levels_without_a_row_to_lie_in)
{
	struct table *table = table_create("t", "T", columns, 2);

	add(table, 3, 1, "a");
	add(table, 2, 2, "b");
	add(table, 3, 5, "c");
	ck_assert(table_sort(table, "total"));
	ck_assert_str_eq(names_of(table), "b .c a ");
	table_destroy(table);
}
END_TEST

static uint64_t seed = 5;

static uint32_t below(uint32_t n)
{
	return (uint32_t)(unit_random(&seed) % n);
}

/* Against the slow way: the path of values down to each row, compared one by one. */
START_TEST(random_trees)
{
	struct table *table = table_create("t", "T", columns, 2);
	uint64_t path[8] = {0};

	for (unsigned int i = 0; i < 500; i++) {
		char name[16];
		uint8_t level = i ? (uint8_t)below(table_level(table, i - 1) + 2) : 0;

		snprintf(name, sizeof(name), "%u", i);
		add(table, level > 5 ? 5 : level, below(50), name);
	}
	ck_assert(table_sort(table, "total"));
	ck_assert_uint_eq(table->nr_rows, 500);
	for (size_t i = 0; i < table->nr_rows; i++) {
		uint8_t level = table_level(table, i);
		uint64_t value = table_find_cell(table, i, "total_ns")->integer;

		if (i) {
			ck_assert_uint_le(level, table_level(table, i - 1) + 1u);
		}
		if (i && level <= table_level(table, i - 1)) {
			ck_assert_uint_le(value, path[level]); /* that of the one before */
		}
		path[level] = value;
	}
	table_destroy(table);
}
END_TEST

START_TEST(less_than_nothing_stays_less_in_json)
{
	static const struct table_column change[] = {
		TABLE_COLUMN("change_ns", "Change", TABLE_MEAN_TIME)};
	static const struct table_style style = {.format = TABLE_JSON};
	static const double values[] = {-35137333.3, -0.4, 0.6, 18446744073709551615.0};
	struct table *table = table_create("t", "T", change, 1);
	struct buf out = {0};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		table_set_number(&table_add_row(table)[0], values[i]);
	}
	table_set_integer(&table_add_row(table)[0], UINT64_MAX);
	table_print(table, &style, &out);
	buf_char(&out, '\0');
	ck_assert_ptr_nonnull(strstr(out.bytes, "{\"change_ns\": -35137333}"));
	ck_assert_ptr_nonnull(strstr(out.bytes, "{\"change_ns\": 0},\n      {\"change_ns\": 1}"));
	ck_assert_ptr_nonnull(strstr(out.bytes, "{\"change_ns\": 18446744073709551615}\n"));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

START_TEST(a_share_of_nothing_is_unknown)
{
	struct table_cell cell = {0};

	table_set_share(&cell, 3, 0);
	ck_assert(!cell.is_known);
	table_set_share(&cell, 3, 12);
	ck_assert(cell.is_known);
	ck_assert_double_eq(cell.number, 25);
}
END_TEST

/* As an empty buf has it. */
START_TEST(a_text_of_nothing_is_known)
{
	static const struct table_column one[] = {TABLE_COLUMN("text", "Text", TABLE_TEXT)};
	struct table *table = table_create("t", "T", one, 1);
	struct table_cell *cell = table_add_row(table);

	table_set_text(cell, NULL, 0);
	ck_assert(cell->is_known);
	ck_assert_str_eq(cell->text, "");
	table_destroy(table);
}
END_TEST

START_TEST(what_rounds_to_nothing_has_no_sign)
{
	static const struct table_column parts[] = {TABLE_COLUMN("of_pct", "Of", TABLE_PERCENT),
		TABLE_COLUMN("change_ns", "Change", TABLE_MEAN_TIME)};
	static const struct table_style style = {.format = TABLE_TEXT_FORMAT, .is_wide = true};
	struct table *table = table_create("t", "T", parts, 2);
	struct table_cell *cells = table_add_row(table);
	struct buf out = {0};

	table_set_number(&cells[0], -0.004);
	table_set_number(&cells[1], -0.01);
	cells = table_add_row(table);
	table_set_number(&cells[0], -0.006);
	table_set_number(&cells[1], -0.06);
	table_print(table, &style, &out);
	buf_char(&out, '\0');
	ck_assert_ptr_nonnull(strstr(out.bytes, " 0.00 "));
	ck_assert_ptr_nonnull(strstr(out.bytes, " 0.0\n"));
	ck_assert_ptr_nonnull(strstr(out.bytes, "-0.01 "));
	ck_assert_ptr_nonnull(strstr(out.bytes, "-0.1\n"));
	ck_assert_ptr_null(strstr(out.bytes, "-0.0\n"));
	ck_assert_ptr_null(strstr(out.bytes, "-0.00"));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

/* Rows name their columns themselves. */
START_TEST(json_of_no_rows_names_columns)
{
	static const struct table_style style = {.format = TABLE_JSON};
	struct table *table = table_create("t", "T", columns, 2);
	struct buf out = {0};

	table_print(table, &style, &out);
	buf_char(&out, '\0');
	ck_assert_ptr_nonnull(strstr(out.bytes, "\"columns\": [\"total_ns\", \"name\"],"));
	add(table, 0, 1, "a");
	out.nr_bytes = 0;
	table_print(table, &style, &out);
	buf_char(&out, '\0');
	ck_assert_ptr_null(strstr(out.bytes, "columns"));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

struct source_row {
	uint8_t small;
	uint32_t name;
	int64_t rank;
	uint64_t part, whole;
	double mean, all;
	const char *text;
};

static void set_twice(const void *member, struct table_cell *cell)
{
	table_set_integer(cell, 2 * *(const uint64_t *)member);
}

/* One column of that type with that source, of a row. */
static struct table_cell source_cell(struct table_column column, struct source_row row)
{
	struct table_cell cell = {0};

	table_fill(&column, 1, &row, &cell);
	free(cell.text); /* only its length counts */
	return cell;
}

#define SOURCE(type, ...) ((struct table_column)TABLE_COLUMN("key", "Title", type, __VA_ARGS__))
#define ROW(...)	  ((struct source_row){__VA_ARGS__})

static bool is_unknown(struct table_column column, struct source_row row)
{
	return !source_cell(column, row).is_known;
}

START_TEST(members_are_known_but_for_all_ones_nan_and_null)
{
	ck_assert_uint_eq(
		source_cell(SOURCE(TABLE_COUNT, TABLE_MEMBER(source_row, small)), ROW(.small = 3))
			.integer,
		3);
	ck_assert(source_cell(SOURCE(TABLE_TIME, TABLE_MEMBER(source_row, part)), ROW(.part = 0))
			  .is_known);
	ck_assert_double_eq(source_cell(SOURCE(TABLE_MEAN_TIME, TABLE_MEMBER(source_row, mean)),
				    ROW(.mean = 2.5))
				    .number,
		2.5);
	ck_assert_double_eq(
		source_cell(SOURCE(TABLE_MEAN_TIME, TABLE_MEMBER(source_row, part)), ROW(.part = 7))
			.number,
		7);
	ck_assert_uint_eq(
		source_cell(SOURCE(TABLE_TEXT, TABLE_MEMBER(source_row, text)), ROW(.text = "abc"))
			.nr_text,
		3);
	ck_assert(is_unknown(
		SOURCE(TABLE_COUNT, TABLE_MEMBER(source_row, small)), ROW(.small = UINT8_MAX)));
	ck_assert(is_unknown(
		SOURCE(TABLE_NAME, TABLE_MEMBER(source_row, name)), ROW(.name = UINT32_MAX)));
	ck_assert(is_unknown(SOURCE(TABLE_ID, TABLE_MEMBER(source_row, rank)), ROW(.rank = -1)));
	ck_assert(is_unknown(
		SOURCE(TABLE_TIME, TABLE_MEMBER(source_row, part)), ROW(.part = UINT64_MAX)));
	ck_assert(
		is_unknown(SOURCE(TABLE_NUMBER, TABLE_MEMBER(source_row, mean)), ROW(.mean = NAN)));
	ck_assert(
		is_unknown(SOURCE(TABLE_TEXT, TABLE_MEMBER(source_row, text)), ROW(.text = NULL)));
}
END_TEST

START_TEST(zeros_are_unknown_where_the_column_says_so)
{
	ck_assert_uint_eq(
		source_cell(SOURCE(TABLE_TIME, TABLE_NONZERO(source_row, part)), ROW(.part = 1))
			.integer,
		1);
	ck_assert(is_unknown(SOURCE(TABLE_TIME, TABLE_NONZERO(source_row, part)), ROW(.part = 0)));
	ck_assert(is_unknown(
		SOURCE(TABLE_TIME, TABLE_NONZERO(source_row, part)), ROW(.part = UINT64_MAX)));
	ck_assert(
		is_unknown(SOURCE(TABLE_NUMBER, TABLE_NONZERO(source_row, mean)), ROW(.mean = 0)));
	ck_assert(is_unknown(SOURCE(TABLE_TEXT, TABLE_NONZERO(source_row, name)), ROW(.name = 0)));
}
END_TEST

START_TEST(texts_are_of_the_string_pool_by_their_number)
{
	uint32_t name = string_pool_intern("a\0b", 3);

	ck_assert_uint_eq(
		source_cell(SOURCE(TABLE_TEXT, TABLE_MEMBER(source_row, name)), ROW(.name = name))
			.nr_text,
		3);
	ck_assert(source_cell(SOURCE(TABLE_TEXT, TABLE_MEMBER(source_row, name)), ROW(.name = 0))
			  .is_known);
}
END_TEST

START_TEST(shares_are_unknown_without_a_part_or_a_whole)
{
	ck_assert_double_eq(source_cell(SOURCE(TABLE_PERCENT, TABLE_SHARE(source_row, part, whole)),
				    ROW(.part = 1, .whole = 4))
				    .number,
		25);
	ck_assert_double_eq(source_cell(SOURCE(TABLE_PERCENT, TABLE_SHARE(source_row, mean, all)),
				    ROW(.mean = 1, .all = 0.5))
				    .number,
		200);
	ck_assert(is_unknown(SOURCE(TABLE_PERCENT, TABLE_SHARE(source_row, part, whole)),
		ROW(.part = 1, .whole = 0)));
	ck_assert(is_unknown(SOURCE(TABLE_PERCENT, TABLE_SHARE(source_row, part, all)),
		ROW(.part = UINT64_MAX, .all = 1)));
	ck_assert(is_unknown(SOURCE(TABLE_PERCENT, TABLE_SHARE(source_row, part, whole)),
		ROW(.whole = UINT64_MAX)));
}
END_TEST

START_TEST(members_are_unknown_where_another_one_is_0)
{
	const struct table_column column = SOURCE(TABLE_TIME, TABLE_IF(source_row, part, small));

	ck_assert_uint_eq(source_cell(column, ROW(.part = 7, .small = 1)).integer, 7);
	ck_assert(!is_unknown(column, ROW(.part = 0, .small = 1)));
	ck_assert(is_unknown(column, ROW(.part = 7, .small = 0)));
	ck_assert(is_unknown(column, ROW(.part = 7, .small = UINT8_MAX)));
}
END_TEST

START_TEST(means_and_rates_are_quotients)
{
	ck_assert_double_eq(
		source_cell(SOURCE(TABLE_MEAN_TIME, TABLE_MEAN(source_row, part, small)),
			ROW(.part = 7, .small = 2))
			.number,
		3.5);
	ck_assert_double_eq(
		source_cell(SOURCE(TABLE_RATE, TABLE_PER_SECOND(source_row, part, whole)),
			ROW(.part = 3, .whole = 1000))
			.number,
		3e6);
}
END_TEST

START_TEST(functions_set_cells_from_members)
{
	ck_assert_uint_eq(source_cell(SOURCE(TABLE_COUNT, TABLE_SET(source_row, whole, set_twice)),
				  ROW(.whole = 4))
				  .integer,
		8);
}
END_TEST

START_TEST(saturated_sums_are_known)
{
	ck_assert(!is_unknown(
		SOURCE(TABLE_COUNT, TABLE_SATURATED(source_row, part)), ROW(.part = UINT64_MAX)));
}
END_TEST

START_TEST(columns_without_a_source_are_left_alone)
{
	struct table *table = table_create("t", "T", columns, 2);
	struct table_cell *cells = table_add(table, &(struct source_row){.part = 1});

	ck_assert(!cells[0].is_known && !cells[1].is_known);
	table_set_wide(table, "total", true);
	table_set_wide(table, "nothing", true);
	ck_assert(table->columns[0].is_wide_only && !table->columns[1].is_wide_only);
	table_destroy(table);
}
END_TEST

UNIT_SUITE("report/table", members_are_known_but_for_all_ones_nan_and_null,
	zeros_are_unknown_where_the_column_says_so, texts_are_of_the_string_pool_by_their_number,
	shares_are_unknown_without_a_part_or_a_whole, members_are_unknown_where_another_one_is_0,
	means_and_rates_are_quotients, functions_set_cells_from_members, saturated_sums_are_known,
	columns_without_a_source_are_left_alone, what_rounds_to_nothing_has_no_sign,
	json_of_no_rows_names_columns, rows_stay_in_the_one_that_they_lie_in,
	unknown_numbers_are_last, the_top_rows_are_those_that_lie_in_none,
	names_come_first_and_children_are_indented, openmetrics_have_their_unit_once_in_the_name,
	levels_without_a_row_to_lie_in, random_trees, less_than_nothing_stays_less_in_json,
	a_share_of_nothing_is_unknown, a_text_of_nothing_is_known)
