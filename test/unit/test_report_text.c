/* SPDX-License-Identifier: Apache-2.0 */
#include "report/util/text.h"

#include <string.h>

#include "report/util/string_pool.h"
#include "report/table/print.h"
#include "test/unit/unit.h"

static const char *taken(struct buf *out)
{
	buf_char(out, '\0');
	out->nr_bytes = 0;
	return out->bytes;
}

START_TEST(terminal_escapes_and_marks_that_turn_text_around_are_shown_not_sent)
{
	struct buf out = {0};
	const char *text = "a\x1b[2J\r\n\x7f\xc2\x9b"
			   "b\xe2\x80\xae";

	text_add_shown(&out, text, strlen(text), 0);
	ck_assert_str_eq(taken(&out), "a\\x1b[2J\\x0d\\x0a\\x7f\\x9b"
				      "b\\u{202e}");
	buf_fini(&out);
}
END_TEST

START_TEST(broken_utf8_is_shown_byte_by_byte_and_good_utf8_kept)
{
	struct buf out = {0};
	const char *text = "\xff\xc3(\xed\xa0\x80\xf0\x9f\x98\x80\xe4\xb8\xad\xc0\xaf";

	text_add_shown(&out, text, strlen(text), 0);
	ck_assert_str_eq(
		taken(&out), "\\xff\\xc3(\\xed\\xa0\\x80\xf0\x9f\x98\x80\xe4\xb8\xad\\xc0\\xaf");
	text_add_json(&out, "\xff\"\\\n\xe4\xb8\xad", 7);
	ck_assert_str_eq(taken(&out), "\"\xef\xbf\xbd\\\"\\\\\\u000a\xe4\xb8\xad\"");
	/* A character that the end cuts. */
	text_add_shown(&out, "\xe4\xb8\xad", 2, 0);
	ck_assert_str_eq(taken(&out), "\\xe4\\xb8");
	buf_fini(&out);
}
END_TEST

START_TEST(a_shell_takes_any_text_as_one_word)
{
	struct buf out = {0};

	text_add_shell_word(&out, "/data/run-1,a+b@c:d_%=.x");
	ck_assert_str_eq(taken(&out), "/data/run-1,a+b@c:d_%=.x");
	text_add_shell_word(&out, "it's $HOME");
	ck_assert_str_eq(taken(&out), "'it'\\''s $HOME'");
	text_add_shell_word(&out, "");
	ck_assert_str_eq(taken(&out), "''");
	buf_fini(&out);
}
END_TEST

START_TEST(names_are_cut_to_columns_of_the_terminal_with_dots)
{
	struct buf out = {0};

	ck_assert_uint_eq(text_add_shown(&out, "abcdefgh", 8, 8), 8);
	ck_assert_str_eq(taken(&out), "abcdefgh");
	ck_assert_uint_eq(text_add_shown(&out, "abcdefghi", 9, 8), 8);
	ck_assert_str_eq(taken(&out), "abcde...");
	/* Characters that are two columns wide. */
	ck_assert_uint_eq(
		text_add_shown(&out, "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 12, 8), 8);
	taken(&out);
	ck_assert_uint_eq(text_add_shown(&out,
				  "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad"
				  "a",
				  13, 8),
		7);
	ck_assert_str_eq(taken(&out), "\xe4\xb8\xad\xe4\xb8\xad...");
	buf_fini(&out);
}
END_TEST

START_TEST(spreadsheets_get_no_formulas)
{
	struct buf out = {0};

	text_add_csv(&out, "=1+1", 4);
	ck_assert_str_eq(taken(&out), "\"'=1+1\"");
	text_add_csv(&out, "a\"b,c", 5);
	ck_assert_str_eq(taken(&out), "\"a\"\"b,c\"");
	text_add_csv(&out, "", 0);
	ck_assert_str_eq(taken(&out), "\"\"");
	text_add_markdown(&out, "a|b<c>", 6);
	ck_assert_str_eq(taken(&out), "a\\|b&lt;c>");
	buf_fini(&out);
}
END_TEST

/* What the texts become in CSV, Markdown and JSON. */
START_TEST(no_name_breaks_a_format)
{
	static const struct {
		const char *text, *csv, *markdown, *json;
	} names[] = {
		{"+1", "\"'+1\"", "+1", "\"+1\""},
		{"-1", "\"'-1\"", "-1", "\"-1\""},
		{"@SUM(A1)", "\"'@SUM(A1)\"", "@SUM(A1)", "\"@SUM(A1)\""},
		{"\t=1", "\"'\\x09=1\"", "\\x09=1", "\"\\u0009=1\""},
		{"\n=1", "\"'\\x0a=1\"", "\\x0a=1", "\"\\u000a=1\""},
		{"\r", "\"'\\x0d\"", "\\x0d", "\"\\u000d\""},
		{"\xef\xbc\x9d"
		 "1",
			"\"'\xef\xbc\x9d"
			"1\"",
			"\xef\xbc\x9d"
			"1",
			"\"\xef\xbc\x9d"
			"1\""},
		{"a=1", "\"a=1\"", "a=1", "\"a=1\""},
		{"\x1b[31m", "\"\\x1b[31m\"", "\\x1b\\[31m", "\"\\u001b[31m\""},
		{"\xc2\x9b"
		 "31m",
			"\"\\x9b31m\"", "\\x9b31m", "\"\\u009b31m\""},
		{"a\x08\x7f", "\"a\\x08\\x7f\"", "a\\x08\\x7f", "\"a\\u0008\\u007f\""},
		{"\xff", "\"\\xff\"", "\\xff", "\"\xef\xbf\xbd\""},
		{"\xe2\x80\xae", "\"\\u{202e}\"", "\\u{202e}", "\"\\u202e\""},
		{"\"\\", "\"\"\"\\\"", "\"\\\\", "\"\\\"\\\\\""},
		{"T&&, a & b", "\"T&&, a & b\"", "T&&, a & b", "\"T&&, a & b\""},
		{"&#124;&lt;", "\"&#124;&lt;\"", "&amp;#124;&amp;lt;", "\"&#124;&lt;\""},
		{"~~a~~ $b$", "\"~~a~~ $b$\"", "\\~\\~a\\~\\~ \\$b\\$", "\"~~a~~ $b$\""},
	};
	struct buf out = {0};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		text_add_csv(&out, names[i].text, strlen(names[i].text));
		ck_assert_str_eq(taken(&out), names[i].csv);
		text_add_markdown(&out, names[i].text, strlen(names[i].text));
		ck_assert_str_eq(taken(&out), names[i].markdown);
		text_add_json(&out, names[i].text, strlen(names[i].text));
		ck_assert_str_eq(taken(&out), names[i].json);
	}
	buf_fini(&out);
}
END_TEST

static void print(struct table *table, enum table_format format, struct buf *out)
{
	const struct table_style style = {.format = format};

	table_print(table, &style, out);
}

/* Notes repeat what streams say of themselves. */
START_TEST(no_note_breaks_a_format)
{
	static const struct table_column columns[] = {TABLE_COLUMN("pid", "PID", TABLE_ID)};
	struct table *table = table_create("t", "Title", columns, 1);
	struct buf out = {0};

	table_note(table, "a=1,=2;  \"+3\", -4, b<i>|\x1b[2J");
	print(table, TABLE_CSV, &out);
	ck_assert_str_eq(
		taken(&out), "# Title\n# a=1,'=2;  \"'+3\", '-4, b<i>|\\x1b[2J\n\"PID\"\n\n");
	print(table, TABLE_MARKDOWN, &out);
	ck_assert_str_eq(
		taken(&out), "### Title\n\nnone\n\na=1,=2;  \"+3\", -4, b&lt;i>\\|\\x1b\\[2J\n\n");
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

/* One line each, below the rows; a newline within one ends no note. An unknown number is no blank.
 */
START_TEST(notes_stand_below_the_table)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("pid", "PID", TABLE_ID), TABLE_COLUMN("calls", "Calls", TABLE_COUNT)};
	struct table *table = table_create("t", "Title", columns, 2);
	struct buf out = {0};

	table_add_row(table);
	table_note(table, "One is %s.", "cut\nin two");
	table_note(table,
		"The other is so long that it takes more than the %u columns that a line of text "
		"has.",
		80);
	print(table, TABLE_TEXT_FORMAT, &out);
	ck_assert_str_eq(taken(&out),
		"Title\n  PID  Calls\n         n/a\n  One is cut in two.\n"
		"  The other is so long that it takes more than the 80 columns "
		"that a line of\n  text has.\n\n");
	print(table, TABLE_MARKDOWN, &out);
	ck_assert_ptr_nonnull(strstr(taken(&out), "n/a |\n\nOne is cut in two.\nThe other is"));
	print(table, TABLE_CSV, &out);
	ck_assert_ptr_nonnull(strstr(taken(&out), "# One is cut in two.\n# The other is"));
	ck_assert_ptr_nonnull(strstr(out.bytes, "\n,\n"));
	print(table, TABLE_JSON, &out);
	ck_assert_ptr_nonnull(strstr(taken(&out), "\"note\": \"One is cut in two. The other is"));
	ck_assert_ptr_nonnull(strstr(out.bytes, "\"calls\": null"));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

START_TEST(cxx_names_become_readable_and_others_stay)
{
	uint32_t gemm = string_pool_intern("_Z4gemmIfEvPKT_", 15);
	uint32_t plain = string_pool_intern("main", 4);
	uint32_t broken = string_pool_intern("_Z4gemmIfEvPKT_\0junk", 20);

	ck_assert_str_eq(string_pool_demangled(gemm, NULL), "void gemm<float>(float const*)");
	ck_assert_str_eq(string_pool_text(gemm, NULL), "_Z4gemmIfEvPKT_");
	ck_assert_str_eq(string_pool_demangled(plain, NULL), "main");
	ck_assert_uint_eq(string_pool_intern("main", 4), plain);
	ck_assert_uint_ne(broken, gemm);
	ck_assert_uint_eq(string_pool_intern("", 0), 0);
	ck_assert_str_eq(string_pool_shown(123456, NULL), "");
}
END_TEST

START_TEST(a_name_that_would_unfold_without_end_stays_as_it_is)
{
	/* Each level names the one before twice: 2^40 characters if it were printed. */
	struct buf name = {0};
	uint32_t number;

	buf_text(&name, "_Z1f");
	for (int i = 0; i < 40; i++) {
		buf_text(&name, "1aI");
	}
	buf_text(&name, "i");
	for (int i = 0; i < 40; i++) {
		buf_printf(&name, "S%c_E", i < 10 ? '0' + i : 'A' + i - 10);
	}
	number = string_pool_intern(name.bytes, name.nr_bytes);
	ck_assert_uint_le(strlen(string_pool_demangled(number, NULL)), 65536);
	buf_fini(&name);
}
END_TEST

START_TEST(numbers_keep_their_unit_and_five_digits)
{
	struct buf out = {0};

	table_add_auto_time(&out, 302);
	ck_assert_str_eq(taken(&out), "302ns");
	table_add_auto_time(&out, 44725);
	ck_assert_str_eq(taken(&out), "44.725us");
	table_add_auto_time(&out, 9630500);
	ck_assert_str_eq(taken(&out), "9.6305ms");
	table_add_auto_time(&out, 682280000);
	ck_assert_str_eq(taken(&out), "682.28ms");
	table_add_auto_time(&out, 12.5e9);
	ck_assert_str_eq(taken(&out), "12.500s");
	buf_fini(&out);
}
END_TEST

START_TEST(lines_never_end_between_a_number_and_its_unit)
{
	struct buf out = {0};

	text_wrap(&out, "the saving is (67.8 %), not more", "", 18);
	ck_assert_str_eq(taken(&out), "the saving is\n(67.8 %), not more\n");
	text_wrap(&out, "busy for 6.144 ms, 10 x REGS", "  ", 15);
	ck_assert_str_eq(taken(&out), "  busy for\n  6.144 ms,\n  10 x REGS\n");
	text_wrap(&out, "at 3.90 GFLOP/s of step 5 steps", "", 15);
	ck_assert_str_eq(taken(&out), "at 3.90 GFLOP/s\nof step 5 steps\n");
	text_wrap(&out, "number 5 small x 7 %", "", 8);
	ck_assert_str_eq(taken(&out), "number 5\nsmall x\n7 %\n");
	buf_fini(&out);
}
END_TEST

UNIT_SUITE("report/text", terminal_escapes_and_marks_that_turn_text_around_are_shown_not_sent,
	broken_utf8_is_shown_byte_by_byte_and_good_utf8_kept, a_shell_takes_any_text_as_one_word,
	names_are_cut_to_columns_of_the_terminal_with_dots, spreadsheets_get_no_formulas,
	no_name_breaks_a_format, no_note_breaks_a_format, notes_stand_below_the_table,
	cxx_names_become_readable_and_others_stay,
	a_name_that_would_unfold_without_end_stays_as_it_is,
	numbers_keep_their_unit_and_five_digits, lines_never_end_between_a_number_and_its_unit)
