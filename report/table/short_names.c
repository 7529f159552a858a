/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works in two parts. short_names_choose() finds for each name the shortest form of kernel_name.h
 * that no other name has. short_names_cut() then cuts the texts to a width, around the part in
 * which the most similar ones differ, and numbers those that are alike even then.
 */
#include "report/table/short_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/table/kernel_name.h"
#include "report/util/idmap.h"
#include "report/util/stack_text.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"
#include "report/util/sort.h"

/* Letters that stay before the part where two names differ. */
#define LETTERS_BEFORE 6u
/* Narrower columns have no room for such a part. */
#define MIN_AROUND 16u
#define MAX_PASSES 4

struct form {
	uint32_t name;
	enum kernel_name_form kind;
	bool is_alike;	 /* as another one, when last compared */
	bool is_stack;	 /* see stack_text.h */
	struct buf text; /* uncut */
	struct buf cut;
	size_t nr_common; /* with the most similar of those that were cut to the same text */
};

struct short_names {
	struct idmap forms; /* struct form by name */
	bool are_kernels, is_cut;
};

struct short_names *short_names_create(bool are_kernels)
{
	struct short_names *names = mem_zeroed(1, sizeof(*names));

	idmap_init(&names->forms, sizeof(struct form));
	names->are_kernels = are_kernels;
	return names;
}

static struct form *form_at(const struct short_names *names, size_t i)
{
	return idmap_at(&names->forms, i);
}

void short_names_destroy(struct short_names *names)
{
	for (size_t i = 0; names && i < names->forms.nr; i++) {
		buf_fini(&form_at(names, i)->text);
		buf_fini(&form_at(names, i)->cut);
	}
	if (names) {
		idmap_fini(&names->forms);
	}
	free(names);
}

static void set_text(struct form *form)
{
	size_t nr_bytes;
	const char *bytes = string_pool_shown(form->name, &nr_bytes);

	form->text.nr_bytes = 0;
	kernel_name_add(&form->text, bytes, nr_bytes, form->kind);
}

void short_names_add(struct short_names *names, uint32_t name)
{
	size_t nr = names->forms.nr;
	struct form *form = idmap_put(&names->forms, name);

	if (names->forms.nr > nr) {
		form->name = name;
		form->kind = names->are_kernels ? KERNEL_NAME_SHORT : KERNEL_NAME_FULL;
		set_text(form);
	}
}

/* ---- which are alike ---- */

static int compare_bufs(const struct buf *a, const struct buf *b)
{
	size_t nr = a->nr_bytes < b->nr_bytes ? a->nr_bytes : b->nr_bytes;

	return ORDER(nr ? memcmp(a->bytes, b->bytes, nr) : 0, COMPARE(a->nr_bytes, b->nr_bytes));
}

static int compare_texts(const void *a, const void *b)
{
	const struct form *x = *(struct form *const *)a, *y = *(struct form *const *)b;

	return ORDER(compare_bufs(&x->text, &y->text), COMPARE(x->name, y->name));
}

/* Sorts those that were cut to the same text by their whole texts. */
static int compare_cuts(const void *a, const void *b)
{
	const struct form *x = *(struct form *const *)a, *y = *(struct form *const *)b;

	return ORDER(compare_bufs(&x->cut, &y->cut), compare_texts(a, b));
}

static struct form **sorted(
	const struct short_names *names, int (*compare)(const void *, const void *))
{
	struct form **order = mem_zeroed(names->forms.nr + 1, sizeof(struct form *));

	for (size_t i = 0; i < names->forms.nr; i++) {
		order[i] = form_at(names, i);
	}
	qsort(order, names->forms.nr, sizeof(struct form *), compare);
	return order;
}

/* ---- forms ---- */

/* Makes forms longer that are the same as another one. False if none became longer. */
static bool lengthen(struct short_names *names)
{
	struct form **order = sorted(names, compare_texts);
	bool has_changed = false;

	for (size_t i = 0; i < names->forms.nr; i++) {
		order[i]->is_alike =
			(i && !compare_bufs(&order[i]->text, &order[i - 1]->text)) ||
			(order[i + 1] && !compare_bufs(&order[i]->text, &order[i + 1]->text));
	}
	for (size_t i = 0; i < names->forms.nr; i++) {
		if (order[i]->is_alike && order[i]->kind < KERNEL_NAME_FULL) {
			order[i]->kind++;
			set_text(order[i]);
			has_changed = true;
		}
	}
	free(order);
	return has_changed;
}

void short_names_choose(struct short_names *names)
{
	names->is_cut = false;
	while (lengthen(names)) {
	}
}

/* ---- cutting ---- */

static size_t common_bytes(const struct buf *a, const struct buf *b)
{
	size_t nr = 0;

	while (nr < a->nr_bytes && nr < b->nr_bytes && a->bytes[nr] == b->bytes[nr]) {
		nr++;
	}
	return nr;
}

/* Cuts around the position where the text differs from the most similar one. */
static void cut_around(struct form *form, size_t limit)
{
	size_t head = limit / 4, start = form->nr_common;

	if (form->is_stack) {
		return; /* its frames matter more */
	}
	start -= start < LETTERS_BEFORE ? start : LETTERS_BEFORE;
	/* No more is left out than is needed for the end to fit. */
	if (form->text.nr_bytes - start < limit - head - 3) {
		start = form->text.nr_bytes - (limit - head - 3);
	}
	while (start && ((unsigned char)form->text.bytes[start] & 0xc0) == 0x80) {
		start--; /* to the first byte of a character */
	}
	while (head && ((unsigned char)form->text.bytes[head] & 0xc0) == 0x80) {
		head--;
	}
	if (start <= head + 3) {
		return;
	}
	form->cut.nr_bytes = 0;
	text_add_shown(&form->cut, form->text.bytes, head, 0);
	buf_text(&form->cut, "...");
	text_add_shown(&form->cut, form->text.bytes + start, form->text.nr_bytes - start,
		limit - head - 3);
}

/* Finds the groups that were cut to the same text, and how far their texts are the same. */
static bool find_alike(struct form **order)
{
	bool has_any = false;

	for (size_t i = 0; order[i]; i++) {
		order[i]->nr_common = 0;
		order[i]->is_alike = false;
	}
	for (size_t i = 0; order[i] && order[i + 1]; i++) {
		struct form *a = order[i], *b = order[i + 1];

		if (!compare_bufs(&a->cut, &b->cut) && compare_bufs(&a->text, &b->text)) {
			size_t nr = common_bytes(&a->text, &b->text);

			a->is_alike = b->is_alike = has_any = true;
			a->nr_common = nr > a->nr_common ? nr : a->nr_common;
			b->nr_common = nr;
		}
	}
	return has_any;
}

/* The last resort: numbers those that are still alike. */
static void number_alike(struct form **order, size_t limit)
{
	size_t nr = 1;

	for (size_t i = 0; order[i]; i++) {
		char number[24];
		int length;

		length = order[i]->is_alike ? snprintf(number, sizeof(number), "#%zu", nr++) : 0;
		if (length && (size_t)length + 3 < limit) {
			order[i]->cut.nr_bytes = 0;
			stack_text_add_cut(&order[i]->cut, order[i]->text.bytes,
				order[i]->text.nr_bytes, limit - (size_t)length);
			buf_text(&order[i]->cut, number);
		}
	}
}

void short_names_cut(struct short_names *names, size_t limit)
{
	struct form **order;

	for (size_t i = 0; i < names->forms.nr; i++) {
		struct form *form = form_at(names, i);

		form->cut.nr_bytes = 0;
		stack_text_add_cut(&form->cut, form->text.bytes, form->text.nr_bytes, limit);
		form->is_stack = form->text.nr_bytes &&
				 memmem(form->text.bytes, form->text.nr_bytes, " <- ", 4) != NULL;
	}
	names->is_cut = true;
	order = sorted(names, compare_cuts);
	/* A new cut differs from one name, but may be the same as a third one's. */
	for (int pass = 0; pass < MAX_PASSES && limit >= MIN_AROUND && find_alike(order); pass++) {
		for (size_t i = 0; order[i]; i++) {
			if (order[i]->is_alike) {
				cut_around(order[i], limit);
			}
		}
		qsort(order, names->forms.nr, sizeof(struct form *), compare_cuts);
	}
	if (find_alike(order)) {
		number_alike(order, limit);
	}
	free(order);
}

const char *short_names_text(const struct short_names *names, uint32_t name, size_t *nr_bytes)
{
	const struct form *form = idmap_get(&names->forms, name);
	const struct buf *text = !form ? NULL : names->is_cut ? &form->cut : &form->text;

	*nr_bytes = text ? text->nr_bytes : 0;
	return *nr_bytes ? text->bytes : "";
}
