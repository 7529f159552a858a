/* SPDX-License-Identifier: Apache-2.0 */
/* Ids and batches, as the drain thread uses them: into a real stream, and read back. */
#include "collector/stream/dictionary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "collector/stream/batch.h"
#include "collector/collector.h"
#include "collector/util/notice.h"
#include "collector/stream/stream.h"
#include "test/unit/unit.h"
#include "test/unit/written.h"

static struct decode_block *blocks;
static size_t nr_blocks;

static void finish(void)
{
	blocks = written_end(&nr_blocks);
}

static void add_overhead(uint32_t kind)
{
	struct gprof_row_overhead *row = batch_add(GPROF_TABLE_overhead);

	row->begin = row->dur = 1;
	row->overhead_kind = kind;
}

START_TEST(texts_are_defined_once_and_before_they_are_used)
{
	uint32_t one, two;

	written_begin();
	one = dictionary_text("one", 3);
	add_overhead(one);
	two = dictionary_text("two", 3);
	add_overhead(two);
	ck_assert_uint_eq(dictionary_text("one", 3), one);
	ck_assert_uint_eq(dictionary_text("", 0), 0);
	ck_assert_uint_eq(dictionary_text(NULL, 0), 0);
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_string), 2);
	ck_assert_str_eq(decode_string(blocks, nr_blocks, one), "one");
	ck_assert_str_eq(decode_string(blocks, nr_blocks, two), "two");
	ck_assert_uint_eq(blocks[0].header.table, GPROF_TABLE_string);
	ck_assert_uint_eq(stream_rows(), 2);
}
END_TEST

START_TEST(what_was_forgotten_is_defined_again)
{
	struct gprof_row_shape shape;
	uint32_t text, shape_id, place;

	memset(&shape, 0, sizeof(shape));
	shape.function = 7;
	written_begin();
	text = dictionary_text("one", 3);
	shape_id = dictionary_shape(&shape);
	place = dictionary_place(1, 2, 3);
	dictionary_forget();
	ck_assert_uint_gt(dictionary_text("one", 3), text);
	ck_assert_uint_gt(dictionary_shape(&shape), shape_id);
	ck_assert_uint_gt(dictionary_place(1, 2, 3), place);
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_string), 2);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_shape), 2);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_place), 2);
}
END_TEST

START_TEST(names_are_found_by_address_and_checked_by_text)
{
	char name[16] = "kernel_a";
	uint32_t first, second;

	written_begin();
	first = dictionary_name(name);
	ck_assert_uint_eq(dictionary_name(name), first);
	strcpy(name, "kernel_b"); /* a module was unloaded, and another took its place */
	dictionary_names_may_change();
	ck_assert_uint_eq(dictionary_name("kernel_a"), first);
	second = dictionary_name(name);
	ck_assert_uint_ne(second, first);
	ck_assert_uint_eq(dictionary_name("kernel_a"), first);
	ck_assert_uint_eq(dictionary_name(""), 0);
	ck_assert_uint_eq(dictionary_name(NULL), 0);
	finish();
	ck_assert_str_eq(decode_string(blocks, nr_blocks, second), "kernel_b");
}
END_TEST

START_TEST(text_beyond_the_limit_is_cut_and_counted)
{
	static char text[GPROF_TEXT_BYTES + 100];
	uint32_t id;

	memset(text, 'x', sizeof(text));
	written_begin();
	id = dictionary_text(text, sizeof(text));
	finish();
	ck_assert_uint_eq(strlen(decode_string(blocks, nr_blocks, id)), GPROF_TEXT_BYTES);
	ck_assert_uint_eq(loss_take(LOSS_TEXT), 1);
}
END_TEST

START_TEST(more_texts_than_the_table_holds_keep_their_ids_apart)
{
	enum { NR = 40000 };
	static uint32_t ids[NR];
	char text[64];

	written_begin();
	for (int i = 0; i < NR; i++) {
		int n = snprintf(text, sizeof(text), "a name that is number %d", i);

		ids[i] = dictionary_text(text, (uint64_t)n);
		add_overhead(ids[i]);
		ck_assert_uint_eq(ids[i], (uint32_t)i + 1);
	}
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_string), NR);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_overhead), NR);
	for (int i = 0; i < NR; i += 3777) {
		snprintf(text, sizeof(text), "a name that is number %d", i);
		ck_assert_str_eq(
			decode_text(blocks, nr_blocks, GPROF_TABLE_string, "text", (size_t)i),
			text);
	}
}
END_TEST

/* Every id that an overhead row names must have been defined in a block before it. */
START_TEST(no_block_names_an_id_that_a_later_one_defines)
{
	uint32_t defined = 0;
	char text[4000];

	written_begin();
	memset(text, 'y', sizeof(text));
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "%d", i);
		text[strlen(text)] = 'y';
		add_overhead(dictionary_text(text, i % 7 ? 20 : 3000));
	}
	finish();
	for (size_t b = 0; b < nr_blocks; b++) {
		for (uint32_t i = 0; i < blocks[b].header.nr_rows; i++) {
			if (blocks[b].header.table == GPROF_TABLE_string) {
				unsigned int c = decode_column(GPROF_TABLE_string, "id");

				defined = (uint32_t)blocks[b].columns[c].values[i];
			} else if (blocks[b].header.table == GPROF_TABLE_overhead) {
				unsigned int c =
					decode_column(GPROF_TABLE_overhead, "overhead_kind");

				ck_assert_uint_le(blocks[b].columns[c].values[i], defined);
			}
		}
	}
	ck_assert_uint_eq(defined, 3000);
}
END_TEST

START_TEST(shapes_and_places_are_defined_once)
{
	struct gprof_row_shape shape;
	uint32_t first, second;

	written_begin();
	memset(&shape, 0, sizeof(shape));
	shape.grid_x = 10;
	shape.block_x = 256;
	first = dictionary_shape(&shape);
	ck_assert_uint_eq(dictionary_shape(&shape), first);
	shape.block_x = 128;
	second = dictionary_shape(&shape);
	ck_assert_uint_ne(second, first);
	ck_assert_uint_eq(dictionary_place(0, 1, 7), dictionary_place(0, 1, 7));
	ck_assert_uint_ne(dictionary_place(0, 1, 7), dictionary_place(0, 7, 1));
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_shape), 2);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_place), 2);
	ck_assert_uint_eq(decode_value(blocks, nr_blocks, GPROF_TABLE_shape, "block_x", 1), 128);
	ck_assert_uint_eq(decode_value(blocks, nr_blocks, GPROF_TABLE_shape, "id", 0), first);
}
END_TEST

START_TEST(shapes_that_come_in_turns_are_defined_once)
{
	enum { NR = 100000 };
	struct gprof_row_shape shape;

	written_begin();
	memset(&shape, 0, sizeof(shape));
	for (uint32_t i = 0; i < 3 * NR; i++) {
		shape.grid_x = 1 + i % NR;
		ck_assert_uint_eq(dictionary_shape(&shape), 1 + i % NR);
	}
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_shape), NR);
}
END_TEST

/* A shape has the id of its kernel's name, which is another one afterwards. */
START_TEST(shapes_are_forgotten_with_their_names)
{
	enum { NR = 262144 };
	struct gprof_row_shape shape = {.grid_x = 10};
	uint32_t first;
	char text[64];

	written_begin();
	first = dictionary_shape(&shape);
	for (int i = 0; i <= NR; i++) {
		int n = snprintf(text, sizeof(text), "name %d", i);

		ck_assert_uint_eq(dictionary_shape(&shape), first);
		dictionary_text(text, (uint64_t)n);
	}
	ck_assert_uint_eq(dictionary_shape(&shape), first + 1);
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_shape), 2);
}
END_TEST

/* More names than the cache knows without a search. */
START_TEST(names_and_places_that_come_in_turns_are_defined_once)
{
	enum { NR = 5000 };
	static char names[NR][16];
	static uint32_t ids[NR], places[NR];

	written_begin();
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < NR; i++) {
			snprintf(names[i], sizeof(names[i]), "name %u", i);
			if (!round) {
				ids[i] = dictionary_name(names[i]);
				places[i] = dictionary_place(i % 9, i, i / 7);
			}
			ck_assert_uint_eq(dictionary_name(names[i]), ids[i]);
			ck_assert_uint_eq(dictionary_place(i % 9, i, i / 7), places[i]);
		}
	}
	finish();
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_string), NR);
	ck_assert_uint_eq(decode_rows(blocks, nr_blocks, GPROF_TABLE_place), NR);
	ck_assert_str_eq(decode_string(blocks, nr_blocks, ids[NR - 1]), names[NR - 1]);
}
END_TEST

START_TEST(rows_pointed_at_are_written_as_they_stand)
{
	struct gprof_row_api row = {.begin = 5, .dur = 9, .call = 3, .result = -1};

	written_begin();
	batch_point(GPROF_TABLE_api, &row);
	finish();
	ck_assert_uint_eq(decode_value(blocks, nr_blocks, GPROF_TABLE_api, "dur", 0), 4);
	ck_assert_uint_eq(
		decode_value(blocks, nr_blocks, GPROF_TABLE_api, "result", 0), UINT64_MAX);
}
END_TEST

START_TEST(child_drops_what_waits)
{
	written_begin();
	add_overhead(1);
	batch_forget();
	finish();
	ck_assert_uint_eq(nr_blocks, 0);
	ck_assert_uint_eq(stream_rows(), 0);
}
END_TEST

/* Texts until the first are forgotten. */
static void name_many(void)
{
	char name[32];

	for (int i = 0; i < 40000; i++) {
		dictionary_text(name, (uint64_t)snprintf(name, sizeof(name), "name %d", i));
	}
	dictionary_look();
}

START_TEST(notice_says_that_memory_is_short_and_not_that_there_are_many_names)
{
	struct rlimit before, none = {0, RLIM_INFINITY};
	struct notice notice;

	written_begin();
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
	none.rlim_max = before.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
	name_many();
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
	if (notice_take(&notice)) { /* qemu knows no such limit */
		ck_assert_str_eq(notice.cause, "no memory");
		ck_assert_ptr_nonnull(strstr(notice.text, "to remember more texts"));
	}
	finish();
}
END_TEST

UNIT_SUITE("dictionary", notice_says_that_memory_is_short_and_not_that_there_are_many_names,
	texts_are_defined_once_and_before_they_are_used, what_was_forgotten_is_defined_again,
	names_are_found_by_address_and_checked_by_text, text_beyond_the_limit_is_cut_and_counted,
	more_texts_than_the_table_holds_keep_their_ids_apart,
	no_block_names_an_id_that_a_later_one_defines, shapes_and_places_are_defined_once,
	shapes_that_come_in_turns_are_defined_once, shapes_are_forgotten_with_their_names,
	names_and_places_that_come_in_turns_are_defined_once,
	rows_pointed_at_are_written_as_they_stand, child_drops_what_waits)
