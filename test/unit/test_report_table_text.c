/* SPDX-License-Identifier: Apache-2.0 */
/* Tables on terminals: widths, cuts, colours, bars. */
#include <stdlib.h>
#include <string.h>

#include "report/util/string_pool.h"
#include "report/table/figure_lines.h"
#include "report/table/print.h"
#include "report/util/text.h"
#include "test/unit/unit.h"

#define CJK "\xe4\xb8\xad\xe6\x96\x87"

static const char *taken(struct buf *out)
{
	buf_char(out, '\0');
	out->nr_bytes = 0;
	return out->bytes;
}

START_TEST(what_is_cut_in_the_middle_keeps_both_ends)
{
	struct buf out = {0};

	ck_assert_uint_eq(text_add_cut(&out, "abcdefghijkl", 12, 12), 12);
	ck_assert_str_eq(taken(&out), "abcdefghijkl");
	ck_assert_uint_eq(text_add_cut(&out, "abcdefghijklm", 13, 12), 12);
	ck_assert_str_eq(taken(&out), "abcde...jklm");
	ck_assert_uint_eq(text_add_cut(&out, "abcdefghijklm", 13, 0), 13);
	taken(&out);
	/* Two columns each: what is left over stays free. */
	ck_assert_uint_eq(text_add_cut(&out, CJK CJK CJK CJK, 24, 12), 11);
	ck_assert_str_eq(taken(&out), CJK "..." CJK);
	/* A mark goes with the letter that it marks. */
	ck_assert_uint_eq(text_add_cut(&out, "abcdefghij\xcc\x81klmn", 16, 12), 12);
	ck_assert_str_eq(taken(&out), "abcde...klmn");
	buf_fini(&out);
}
END_TEST

START_TEST(random_bytes_never_take_more_than_they_may)
{
	static const char *const pieces[] = {
		"a", CJK, "\xcc\x81", "\x1b", "\xff", "\xe2\x80\xae", "::", "<float>"};
	struct buf out = {0};
	uint64_t seed = 3;

	for (int i = 0; i < 20000; i++) {
		char text[256] = "";
		size_t max = 8 + unit_random(&seed) % 40, width;
		uint64_t nr = unit_random(&seed) % 20;

		for (uint64_t k = 0; k < nr; k++) {
			strcat(text, pieces[unit_random(&seed) % 8]);
		}
		width = text_add_cut(&out, text, strlen(text), max);
		ck_assert_uint_le(width, max);
		ck_assert_uint_eq(width, text_shown_width(out.bytes, out.nr_bytes));
		out.nr_bytes = 0;
	}
	buf_fini(&out);
}
END_TEST

static struct table *make_table(void)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("share_pct", "% of it", TABLE_PERCENT),
		TABLE_COLUMN("total_ns", "Total", TABLE_TIME),
		TABLE_COLUMN("place", "Place", TABLE_TEXT),
		TABLE_COLUMN("name", "Name", TABLE_TEXT),
	};
	static const char *const names[] = {"short",
		"void cutlass::Kernel<cutlass::gemm::GemmShape<128, 128, 32>, float, "
		"cutlass::layout::RowMajor>(cutlass::Params)",
		CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK CJK};
	struct table *table = table_create("t", "Title", columns, 4);

	for (unsigned int i = 0; i < 3; i++) {
		struct table_cell *cells = table_add_row(table);

		table_set_number(&cells[0], i == 0 ? 100 : i == 1 ? 45 : 0.1);
		table_set_integer(&cells[1], 1234567u * (i + 1));
		table_set_text(&cells[2], "a place that is not short either", 32);
		table_set_text(&cells[3], names[i], strlen(names[i]));
	}
	table_note(table,
		"a note that goes on and on with words, so that one line of a terminal is not "
		"enough for it, and then " CJK " some more");
	return table;
}

static size_t widest_line(const char *text)
{
	size_t widest = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");
		size_t width = text_shown_width(text, length);

		widest = width > widest ? width : widest;
		text += length + 1;
	}
	return widest;
}

START_TEST(lines_fit_into_the_terminal)
{
	struct table *table = make_table();
	struct buf out = {0};

	for (unsigned int width = 80; width < 300; width++) {
		struct table_style style = {.format = TABLE_TEXT_FORMAT, .width = width};
		const char *text;

		style.has_bars = width % 2;
		table_print(table, &style, &out);
		text = taken(&out);
		ck_assert_uint_le(widest_line(text), width);
		ck_assert_ptr_nonnull(strstr(text, "Params)"));
		ck_assert_ptr_nonnull(strstr(text, "so that"));
		ck_assert(strstr(text, "a place that is not short either") || width < 110);
	}
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

START_TEST(elsewhere_lines_have_80_columns_and_with_wide_all)
{
	struct table_style style = {.format = TABLE_TEXT_FORMAT};
	struct table *table = make_table();
	struct buf out = {0};
	const char *text;

	table_print(table, &style, &out);
	text = taken(&out);
	ck_assert_ptr_nonnull(strstr(text, "..."));
	ck_assert_uint_le(widest_line(text), 80);
	style.is_wide = true;
	style.width = 80;
	table_print(table, &style, &out);
	ck_assert_ptr_null(strstr(taken(&out), "..."));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

/* ---- columns that do not fit ---- */

static struct table *make_wide_table(void)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("share_pct", "% of the time of the operators", TABLE_PERCENT),
		TABLE_COLUMN("pid", "PID", TABLE_ID),
		TABLE_COLUMN("rank", "Rank", TABLE_COUNT),
		TABLE_COLUMN("min_ns", "Min", TABLE_TIME, .is_minor = true),
		TABLE_COLUMN("one_ns", "One", TABLE_TIME),
		TABLE_COLUMN("two_ns", "Two", TABLE_TIME),
		TABLE_COLUMN("three_ns", "Three", TABLE_TIME),
		TABLE_COLUMN("hidden_ns", "Hidden", TABLE_TIME, .is_wide_only = true),
		TABLE_COLUMN("name", "Name", TABLE_TEXT),
	};
	struct table *table = table_create("t", "Title", columns, 9);

	for (unsigned int i = 0; i < 3; i++) {
		struct table_cell *cells = table_add_row(table);

		table_set_number(&cells[0], 50 - i);
		table_set_integer(&cells[1], 4242);
		table_set_integer(&cells[2], 7);
		for (unsigned int c = 3; c < 8; c++) {
			table_set_integer(&cells[c], 1234567u * (i + c));
		}
		table_set_string(&cells[8], "a name that is longer than half of a line");
	}
	return table;
}

static const char *printed(struct table *table, unsigned int width, struct buf *out)
{
	struct table_style style = {.format = TABLE_TEXT_FORMAT, .width = width};
	const char *text;

	table_print(table, &style, out);
	text = taken(out);
	ck_assert_uint_le(widest_line(text), width);
	return text;
}

START_TEST(titles_wrap_before_columns_are_left_out)
{
	struct table *table = make_wide_table();
	struct buf out = {0};

	ck_assert_ptr_nonnull(strstr(
		printed(table, 140, &out), "  % of the time of the operators   PID  Rank  "));
	ck_assert_ptr_null(strstr(printed(table, 110, &out), "% of the time of the operators"));
	ck_assert_ptr_null(strstr(printed(table, 110, &out), "left out"));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

START_TEST(what_is_the_same_in_all_rows_goes_first_then_what_is_minor_then_the_last)
{
	struct table *table = make_wide_table();
	struct buf out = {0};

	ck_assert_ptr_nonnull(strstr(printed(table, 70, &out),
		"\n  Columns left out: PID = 4242, Rank = 7, Min (ms); --wide shows all\n"));
	ck_assert_ptr_nonnull(
		strstr(printed(table, 60, &out), "\n  Columns left out: PID = 4242, Rank = 7,"));
	ck_assert_ptr_nonnull(strstr(printed(table, 60, &out), "Three (ms); --wide shows all\n"));
	ck_assert_ptr_nonnull(strstr(printed(table, 60, &out), "  a name that "));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

START_TEST(the_name_and_what_tells_rows_apart_stay_longest)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Kind", TABLE_NAME, .is_wide_only = true),
		TABLE_COLUMN("total_ns", "Total", TABLE_TIME),
		TABLE_COLUMN("calls", "Calls", TABLE_COUNT),
		TABLE_COLUMN("inputs", "Inputs", TABLE_TEXT, .is_major = true),
		TABLE_COLUMN("full", "Full name", TABLE_TEXT, .is_name = true),
	};
	struct table *table = table_create("t", "Title", columns, 5);
	struct buf out = {0};

	for (unsigned int i = 0; i < 2; i++) {
		struct table_cell *cells = table_add_row(table);

		table_set_integer(&cells[1], 12345678u + i);
		table_set_integer(&cells[2], 1000000000000ull + i);
		table_set_string(&cells[3], i ? "float32[4,16]" : "float32[4,32]");
		table_set_string(&cells[4], "the same name of two operators");
	}
	ck_assert_ptr_nonnull(strstr(printed(table, 60, &out),
		"\n  the same name of two operators      12.346  float32[4,32]\n"));
	ck_assert_ptr_nonnull(strstr(printed(table, 60, &out), "Columns left out: Calls;"));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

START_TEST(the_column_that_rows_are_sorted_by_stays)
{
	struct table *table = make_wide_table();
	struct buf out = {0};

	ck_assert(table_sort(table, "three"));
	ck_assert_ptr_nonnull(strstr(printed(table, 60, &out), "Two (ms); --wide"));
	/* Even one that otherwise only --wide shows. */
	ck_assert_ptr_null(strstr(printed(table, 60, &out), "Hidden"));
	ck_assert(table_sort(table, "hidden"));
	ck_assert_ptr_nonnull(strstr(printed(table, 60, &out), "Hidden"));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

/* Adds the numbers to a table of two columns of the type and prints its header and its rows. */
static const char *printed_numbers(
	enum table_type type, const double (*rows)[2], unsigned int nr_rows, struct buf *out)
{
	const struct table_column columns[] = {
		TABLE_COLUMN("a", "A", type), TABLE_COLUMN("b", "B", type)};
	struct table *table = table_create("t", "T", columns, 2);

	for (unsigned int i = 0; i < nr_rows; i++) {
		struct table_cell *cells = table_add_row(table);

		table_set_number(&cells[0], rows[i][0]);
		table_set_number(&cells[1], rows[i][1]);
	}
	out->nr_bytes = 0;
	printed(table, 80, out);
	table_destroy(table);
	return out->bytes;
}

START_TEST(a_table_has_one_unit_unless_its_numbers_are_too_far_apart)
{
	/* Most of B are us: A has them, too. */
	static const double near[][2] = {{86855000, 482528}, {19753000, 12865}, {0, 640}};
	/* 40 s would take eight digits. */
	static const double far[][2] = {{40e9, 482528}, {1e9, 12865}};
	static const double sizes[][2] = {{5e9, 3e6}, {7e6, 2e6}};
	struct buf out = {0};

	ck_assert_str_eq(printed_numbers(TABLE_TIME, near, 3, &out),
		"T\n    A (us)   B (us)\n  86,855.0  482.528\n  19,753.0   12.865\n"
		"       0.0    0.640\n\n");
	ck_assert_str_eq(printed_numbers(TABLE_TIME, far, 2, &out),
		"T\n   A (s)   B (us)\n  40.000  482.528\n   1.000   12.865\n\n");
	ck_assert_str_eq(printed_numbers(TABLE_SIZE, sizes, 2, &out),
		"T\n     A (MB)  B (MB)\n  5,000.000   3.000\n      7.000   2.000\n\n");
	buf_fini(&out);
}
END_TEST

/* ---- names ---- */

#define COPY(lambda)                                                                           \
	"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::" \
	"direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() "        \
	"const::{lambda()#" lambda                                                             \
	"}::operator()() const::{lambda(float)#1}>(int)::{lambda(int)#1}>(int, char*)"

static struct table *make_kernels(const char *const *names, bool are_kernels)
{
	const struct table_column columns[] = {
		TABLE_COLUMN("share_pct", "%", TABLE_PERCENT),
		TABLE_COLUMN("name", "Kernel", TABLE_NAME, .is_kernel = are_kernels),
	};
	struct table *table = table_create("t", "T", columns, 2);

	for (; *names; names++) {
		struct table_cell *cells = table_add_row(table);

		table_set_number(&cells[0], 1);
		table_set_integer(&cells[1], string_pool_intern(*names, strlen(*names)));
	}
	return table;
}

START_TEST(kernel_names_are_as_short_as_they_differ)
{
	static const char *const names[] = {COPY("7"), COPY("14"),
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<"
		"float>, at::detail::Array<char*, 3> >(int, char)",
		"volta_sgemm_64x64_nt", "volta_sgemm_64x64_nn", "volta_sgemm_128x64_nn",
		"volta_sgemm_128x64_nn", NULL};
	struct table *table = make_kernels(names, true);
	struct table_style style = {.format = TABLE_CSV};
	struct buf out = {0};
	const char *text;

	text = printed(table, 60, &out);
	ck_assert_ptr_nonnull(strstr(text, "\n  elementwise<add> "));
	ck_assert_ptr_nonnull(strstr(text, "\n  gemm f32 64x64 nt "));
	ck_assert_ptr_nonnull(strstr(text, "\n  gemm f32 64x64 nn "));
	ck_assert_ptr_nonnull(strstr(text, "\n  gemm f32 128x64 "));
	/* Cut where they differ. */
	ck_assert_ptr_nonnull(strstr(text, "bda()#7}::"));
	ck_assert_ptr_nonnull(strstr(text, "bda()#14}::"));
	table_print(table, &style, &out);
	text = taken(&out);
	ck_assert_ptr_nonnull(strstr(text, COPY("14")));
	style = (struct table_style){.format = TABLE_TEXT_FORMAT, .is_wide = true};
	table_print(table, &style, &out);
	text = taken(&out);
	ck_assert_ptr_nonnull(strstr(text, COPY("14")));
	ck_assert_ptr_nonnull(strstr(text, "  volta_sgemm_64x64_nt\n"));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

/* No two of the lines between the header and the end are the same. */
static void check_lines_differ(const char *text)
{
	const char *lines[64];
	size_t nr = 0;

	for (; *text; text = strchr(text, '\n') + 1) {
		ck_assert_uint_lt(nr, 64);
		lines[nr++] = text;
	}
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < i; k++) {
			ck_assert(strncmp(lines[i], lines[k], strcspn(lines[i], "\n") + 1) != 0);
		}
	}
}

START_TEST(names_that_differ_anywhere_are_cut_to_texts_that_differ)
{
	struct buf out = {0};
	uint64_t seed = 5;

	for (int round = 0; round < 200; round++) {
		char texts[12][200];
		const char *names[13] = {NULL};
		struct table *table;

		/* The same letters but for some places. */
		for (unsigned int i = 0; i < 12; i++) {
			memset(texts[i], 'a', sizeof(texts[i]) - 1);
			texts[i][sizeof(texts[i]) - 1] = '\0';
			for (unsigned int k = 0; k < 4; k++) {
				texts[i][unit_random(&seed) % (sizeof(texts[i]) - 1)] =
					(char)('b' + i);
			}
			names[i] = texts[i];
		}
		table = make_kernels(names, false);
		check_lines_differ(printed(table, 40 + unit_random(&seed) % 60, &out));
		table_destroy(table);
	}
	buf_fini(&out);
}
END_TEST

START_TEST(sentences_wrap_in_the_last_column)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Name", TABLE_TEXT),
		TABLE_COLUMN("text", "What to do", TABLE_TEXT, .is_sentence = true),
	};
	static const char sentence[] = "a sentence that is longer than what is left of the line";
	struct table *table = table_create("t", "Title", columns, 2);
	struct table_cell *cells = table_add_row(table);
	struct buf out = {0};

	table_set_string(&cells[0], "a cause");
	table_set_string(&cells[1], sentence);
	cells = table_add_row(table);
	table_set_string(&cells[0], "blanks");
	table_set_string(&cells[1], "                                                          ");
	ck_assert_ptr_nonnull(
		strstr(printed(table, 42, &out), "\n  a cause  a sentence that is longer than\n"
						 "           what is left of the line\n"
						 "  blanks\n"));
	ck_assert_ptr_nonnull(strstr(printed(table, 80, &out), sentence));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

START_TEST(texts_stand_whole_below_a_row_that_is_too_long)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("cause", "Cause", TABLE_TEXT),
		TABLE_COLUMN(
			"sentence", "Finding", TABLE_TEXT, .is_sentence = true, .is_below = true),
		TABLE_COLUMN("saved_ns", "Saved", TABLE_TIME),
		TABLE_COLUMN("places", "Where", TABLE_TEXT, .is_below = true),
	};
	static const char long_word[] = "a_word_that_is_longer_than_any_line_that_it_can_have";
	struct table_style style = {.format = TABLE_MARKDOWN, .width = 40};
	struct table *table = table_create("t", "Title", columns, 4);
	struct buf out = {0};

	for (unsigned int i = 0; i < 2; i++) {
		struct table_cell *cells = table_add_row(table);

		table_set_string(&cells[0], i ? "none" : "launch");
		table_set_string(
			&cells[1], i ? "short" : "The GPU waits for the host to launch work");
		table_set_integer(&cells[2], 12 - i);
		table_set_string(&cells[3], i ? "" : long_word);
	}
	ck_assert_str_eq(printed(table, 40, &out), "Title\n"
						   "  Cause   Saved (ns)\n"
						   "  launch          12\n"
						   "    The GPU waits for the host to launch\n"
						   "    work\n"
						   "    Where:\n"
						   "    a_word_that_is_lo...that_it_can_have\n"
						   "  none            11\n"
						   "    short\n\n");
	ck_assert_ptr_nonnull(strstr(printed(table, 160, &out), "launch work          12  a_word"));
	table_print(table, &style, &out);
	ck_assert_ptr_nonnull(strstr(taken(&out), "| launch | The GPU waits"));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

/* As the findings of the first screen. */
START_TEST(a_sentence_wraps_below_its_label_and_not_before_a_unit)
{
	struct figure_lines lines = {.width = 30};

	figure_lines_add_sentence(
		&lines, "12. ", "it takes 123.45 ms a step (99.5 %); that is all");
	ck_assert_str_eq(
		taken(&lines.text), "12. it takes 123.45 ms a step\n    (99.5 %); that is all\n");
	lines.width = 29;
	figure_lines_add_sentence(&lines, "1. ", "it takes a little more: 12.3 ms of them");
	ck_assert_str_eq(taken(&lines.text), "1. it takes a little more:\n   12.3 ms of them\n");
	buf_fini(&lines.text);
}
END_TEST

START_TEST(other_formats_have_all_columns)
{
	static const enum table_format formats[] = {TABLE_CSV, TABLE_JSON, TABLE_MARKDOWN};
	struct table *table = make_wide_table();
	struct buf out = {0};

	for (int i = 0; i < 3; i++) {
		struct table_style style = {.format = formats[i], .width = 40};
		const char *text;

		table_print(table, &style, &out);
		text = taken(&out);
		ck_assert_ptr_null(strstr(text, "left out"));
		ck_assert(strstr(text, "Three") || strstr(text, "three_ns"));
		ck_assert_ptr_nonnull(strstr(text, "a name that is longer than half of a line"));
	}
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

START_TEST(bars_are_as_long_as_their_shares_and_columns_stay_aligned)
{
	struct table_style style = {
		.format = TABLE_TEXT_FORMAT, .has_bars = true, .is_utf8 = true, .is_wide = true};
	struct table *table = make_table();
	struct buf out = {0};
	const char *text;

	table_print(table, &style, &out);
	text = taken(&out);
	ck_assert_ptr_nonnull(
		strstr(text, " 100.00  \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588  "));
	ck_assert_ptr_nonnull(strstr(text, "  45.00  \u2588\u2588\u2588\u258b      "));
	ck_assert_ptr_nonnull(strstr(text, "   0.10            "));
	style.is_utf8 = false;
	table_print(table, &style, &out);
	text = taken(&out);
	ck_assert_ptr_nonnull(strstr(text, " 100.00  ########  "));
	ck_assert_ptr_nonnull(strstr(text, "  45.00  ####      "));
	buf_fini(&out);
	table_destroy(table);
}
END_TEST

/* Without what stands between ESC and m. */
static void strip(char *text)
{
	char *to = text;

	while (*text) {
		if (*text == '\x1b') {
			text = strchr(text, 'm') + 1;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

START_TEST(colours_change_nothing_but_colours)
{
	struct table_style style = {.format = TABLE_TEXT_FORMAT, .has_bars = true};
	struct table *table = make_table();
	struct buf plain = {0}, colored = {0};
	const char *text;

	table_print(table, &style, &plain);
	text = taken(&plain);
	ck_assert_ptr_null(strchr(text, '\x1b'));
	style.has_color = true;
	table_print(table, &style, &colored);
	taken(&colored);
	ck_assert_ptr_nonnull(strchr(colored.bytes, '\x1b'));
	strip(colored.bytes);
	ck_assert_str_eq(colored.bytes, text);
	buf_fini(&plain);
	buf_fini(&colored);
	table_destroy(table);
}
END_TEST

START_TEST(files_and_pipes_get_neither_unless_asked)
{
	struct table_style style = {.format = TABLE_TEXT_FORMAT};

	setenv("TERM", "xterm", 1);
	terminal_set(&style, "/tmp/x", TERMINAL_AUTO);
	ck_assert(!style.has_color && !style.has_bars && !style.width);
	terminal_set(&style, NULL, TERMINAL_ALWAYS);
	ck_assert(style.has_color && style.has_bars);
	terminal_set(&style, NULL, TERMINAL_NEVER);
	ck_assert(!style.has_color && !style.has_bars);
	style.format = TABLE_CSV;
	terminal_set(&style, NULL, TERMINAL_ALWAYS);
	ck_assert(!style.has_color && !style.has_bars);
}
END_TEST

UNIT_SUITE("report/table_text", what_is_cut_in_the_middle_keeps_both_ends,
	random_bytes_never_take_more_than_they_may, lines_fit_into_the_terminal,
	elsewhere_lines_have_80_columns_and_with_wide_all, titles_wrap_before_columns_are_left_out,
	what_is_the_same_in_all_rows_goes_first_then_what_is_minor_then_the_last,
	the_name_and_what_tells_rows_apart_stay_longest, the_column_that_rows_are_sorted_by_stays,
	a_table_has_one_unit_unless_its_numbers_are_too_far_apart,
	kernel_names_are_as_short_as_they_differ,
	names_that_differ_anywhere_are_cut_to_texts_that_differ, sentences_wrap_in_the_last_column,
	texts_stand_whole_below_a_row_that_is_too_long,
	a_sentence_wraps_below_its_label_and_not_before_a_unit, other_formats_have_all_columns,
	bars_are_as_long_as_their_shares_and_columns_stay_aligned,
	colours_change_nothing_but_colours, files_and_pipes_get_neither_unless_asked)
