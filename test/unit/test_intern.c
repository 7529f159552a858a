/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/format/intern.h"

#include <stdio.h>
#include <string.h>

#include "test/unit/unit.h"

static uint32_t find(struct intern *intern, const char *text, bool expect_new)
{
	bool is_new;
	const struct intern_entry *entry = intern_find(intern, text, strlen(text), &is_new);

	ck_assert_ptr_nonnull(entry);
	ck_assert_int_eq(is_new, expect_new);
	ck_assert_uint_eq(entry->nr_bytes, strlen(text));
	ck_assert_mem_eq(intern->arena + entry->at, text, strlen(text));
	return entry->id;
}

START_TEST(same_bytes_have_the_same_id_and_others_another)
{
	struct intern intern = {0};

	ck_assert_int_eq(intern_init(&intern, 16, 1024, 0), 0);
	ck_assert_uint_eq(find(&intern, "one", true), 1);
	ck_assert_uint_eq(find(&intern, "two", true), 2);
	ck_assert_uint_eq(find(&intern, "one", false), 1);
	ck_assert_uint_eq(find(&intern, "", true), 3);
	ck_assert_uint_eq(find(&intern, "", false), 3);
	ck_assert_uint_eq(find(&intern, "onetwo", true), 4);
}
END_TEST

START_TEST(bytes_with_zeros_are_told_apart_by_their_length)
{
	struct intern intern = {0};
	bool is_new;

	ck_assert_int_eq(intern_init(&intern, 16, 1024, 0), 0);
	ck_assert_uint_eq(intern_find(&intern, "a\0b", 3, &is_new)->id, 1);
	ck_assert_uint_eq(intern_find(&intern, "a\0c", 3, &is_new)->id, 2);
	ck_assert_uint_eq(intern_find(&intern, "a\0\0", 3, &is_new)->id, 3);
	ck_assert_uint_eq(intern_find(&intern, "a\0", 2, &is_new)->id, 4);
	ck_assert_uint_eq(intern_find(&intern, "a\0b", 3, &is_new)->id, 1);
}
END_TEST

START_TEST(full_table_forgets_all_and_never_uses_an_id_again)
{
	struct intern intern = {0};
	uint32_t last = 0;
	char text[32];

	ck_assert_int_eq(intern_init(&intern, 64, 1 << 20, 0), 0);
	for (int i = 0; i < 1000; i++) {
		uint32_t id;

		snprintf(text, sizeof(text), "thing %d", i);
		id = find(&intern, text, true);
		ck_assert_uint_gt(id, last);
		last = id;
		ck_assert_uint_eq(find(&intern, text, false), id);
	}
}
END_TEST

START_TEST(full_table_grows_first)
{
	struct intern intern = {0};
	char text[32];

	ck_assert_int_eq(intern_init(&intern, 64, 640, 4), 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1000; i++) {
			snprintf(text, sizeof(text), "text %d", i);
			ck_assert_uint_eq(find(&intern, text, !round), (uint32_t)i + 1);
		}
	}
	ck_assert_uint_eq(intern.nr_forgotten, 0);
	for (int i = 1000; i < 1200; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		ck_assert_uint_eq(find(&intern, text, true), (uint32_t)i + 1);
	}
	ck_assert_uint_eq(intern.nr_forgotten, 1);
	/* As in a forked child. */
	ck_assert_int_eq(intern_init(&intern, 64, 640, 4), 0);
	ck_assert_uint_eq(intern.nr_entries, 128);
	ck_assert_uint_eq(find(&intern, "text 1", true), 1);
}
END_TEST

START_TEST(full_arena_forgets_all_and_goes_on)
{
	struct intern intern = {0};
	char text[100];

	memset(text, 'x', sizeof(text));
	ck_assert_int_eq(intern_init(&intern, 64, 1000, 0), 0);
	for (char c = 'a'; c <= 'z'; c++) {
		bool is_new;
		const struct intern_entry *entry;

		text[0] = c;
		entry = intern_find(&intern, text, sizeof(text), &is_new);
		ck_assert_ptr_nonnull(entry);
		ck_assert(is_new);
		ck_assert_uint_le(entry->at + entry->nr_bytes, 1000);
		ck_assert_mem_eq(intern.arena + entry->at, text, sizeof(text));
	}
}
END_TEST

START_TEST(what_is_larger_than_the_arena_has_no_id)
{
	struct intern intern = {0};
	char text[101] = {0};
	bool is_new = true;

	ck_assert_int_eq(intern_init(&intern, 16, 100, 0), 0);
	ck_assert_ptr_null(intern_find(&intern, text, 101, &is_new));
	ck_assert(!is_new);
	ck_assert_ptr_nonnull(intern_find(&intern, text, 100, &is_new));
}
END_TEST

START_TEST(second_init_starts_ids_again)
{
	struct intern intern = {0};

	ck_assert_int_eq(intern_init(&intern, 16, 100, 0), 0);
	find(&intern, "one", true);
	find(&intern, "two", true);
	ck_assert_int_eq(intern_init(&intern, 16, 100, 0), 0);
	ck_assert_uint_eq(find(&intern, "two", true), 1);
}
END_TEST

UNIT_SUITE("intern", same_bytes_have_the_same_id_and_others_another,
	bytes_with_zeros_are_told_apart_by_their_length,
	full_table_forgets_all_and_never_uses_an_id_again, full_table_grows_first,
	full_arena_forgets_all_and_goes_on, what_is_larger_than_the_arena_has_no_id,
	second_init_starts_ids_again)
