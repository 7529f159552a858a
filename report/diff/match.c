/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs the names of both sides, for a section (table.c) whose sums are complete: another version
 * of a library names its kernels a little differently, and without pairs each of them would be one
 * that is gone and one that is new.
 *
 * Three rounds, from sure to likely; each takes only names that the ones before it left. Names that
 * took most are paired first, because they are what a reader looks at.
 */
#include "report/diff/diff.h"

#include <ctype.h>
#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/string_pool.h"
#include "report/util/sort.h"

#define MIN_ALIKE 0.6
#define MAX_WORDS 48u

/* A name that has no partner after the first round. */
struct lone {
	size_t place; /* index in the array of its side */
	double weight;
	uint32_t shape; /* of string_pool.h: the name without what often changes */
	uint32_t words[MAX_WORDS];
	unsigned int nr_words;
	bool is_taken;
};

struct matching {
	struct diff_pair *pairs;
	size_t nr_pairs;
	struct lone *of_a, *of_b;
	size_t nr_a, nr_b;
};

static void add_pair(struct matching *matching, size_t a, size_t b, enum diff_match match)
{
	matching->pairs[matching->nr_pairs++] = (struct diff_pair){a, b, match};
}

/* ---- names ---- */

/* Opens or closes arguments; `<` of an operator is too rare in names to matter. */
static int depth_change(char c)
{
	return (c == '<' || c == '(') - (c == '>' || c == ')');
}

static uint32_t shape_of(const char *name, size_t nr_bytes)
{
	struct buf out = {0};
	int depth = 0;
	uint32_t shape;

	for (size_t i = 0; i < nr_bytes; i++) {
		int change = depth_change(name[i]);

		/* "(anonymous namespace)::f" must not end at its first byte. */
		if (change && !(depth == 0 && change < 0)) {
			depth += change;
		} else if (depth == 0 && isdigit((unsigned char)name[i])) {
			if (!out.nr_bytes || out.bytes[out.nr_bytes - 1] != '#') {
				buf_char(&out, '#');
			}
		} else if (depth == 0) {
			buf_char(&out, name[i]);
		}
	}
	shape = string_pool_intern(out.nr_bytes ? out.bytes : "", out.nr_bytes);
	buf_fini(&out);
	return shape;
}

static int compare_words(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return COMPARE(x, y);
}

/* Finds the words of the name, sorted, each once; numbers are none. */
static void find_words(struct lone *lone, const char *name, size_t nr_bytes)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_bytes && lone->nr_words < MAX_WORDS;) {
		size_t begin = i;

		while (i < nr_bytes && isalnum((unsigned char)name[i])) {
			i++;
		}
		if (i > begin && !isdigit((unsigned char)name[begin])) {
			lone->words[lone->nr_words++] = string_pool_intern(name + begin, i - begin);
		}
		i += i == begin;
	}
	qsort(lone->words, lone->nr_words, sizeof(lone->words[0]), compare_words);
	for (unsigned int i = 0; i < lone->nr_words; i++) {
		if (!nr || lone->words[nr - 1] != lone->words[i]) {
			lone->words[nr++] = lone->words[i];
		}
	}
	lone->nr_words = (unsigned int)nr;
}

static double likeness(const struct lone *a, const struct lone *b)
{
	unsigned int i = 0, k = 0, common = 0;

	while (i < a->nr_words && k < b->nr_words) {
		uint32_t x = a->words[i], y = b->words[k];

		common += x == y;
		i += x <= y;
		k += y <= x;
	}
	return a->nr_words + b->nr_words ? 2.0 * common / (a->nr_words + b->nr_words) : 0;
}

static int compare_lone(const void *a, const void *b)
{
	const struct lone *x = a, *y = b;

	return ORDER(COMPARE(y->weight, x->weight), COMPARE(x->place, y->place));
}

/* The names of one run, and which of them have a partner. */
struct side {
	const struct diff_name *names;
	size_t nr;
	bool *is_paired;
};

static struct lone *make_lone(const struct side *side, size_t *nr_lone)
{
	struct lone *lone = mem_zeroed(side->nr, sizeof(*lone));

	*nr_lone = 0;
	for (size_t i = 0; i < side->nr; i++) {
		size_t nr_bytes;
		const char *text;

		if (side->is_paired[i]) {
			continue;
		}
		text = string_pool_demangled(side->names[i].name, &nr_bytes);
		lone[*nr_lone].place = i;
		lone[*nr_lone].weight = side->names[i].weight;
		lone[*nr_lone].shape = shape_of(text, nr_bytes);
		find_words(&lone[*nr_lone], text, nr_bytes);
		(*nr_lone)++;
	}
	qsort(lone, *nr_lone, sizeof(*lone), compare_lone);
	return lone;
}

/* ---- matching ---- */

/*
 * First round. Names differ within a side, so a table by the name's number finds the partner: it
 * has the index in b, plus 1.
 */
static void match_equal(struct matching *matching, struct side *a, struct side *b)
{
	uint32_t most = 0;
	size_t *place;

	for (size_t i = 0; i < b->nr; i++) {
		most = b->names[i].name > most ? b->names[i].name : most;
	}
	place = mem_zeroed((size_t)most + 1, sizeof(*place));
	for (size_t i = 0; i < b->nr; i++) {
		place[b->names[i].name] = i + 1;
	}
	for (size_t i = 0; i < a->nr; i++) {
		if (a->names[i].name <= most && place[a->names[i].name]) {
			size_t other = place[a->names[i].name] - 1;

			add_pair(matching, i, other, DIFF_EQUAL);
			a->is_paired[i] = true;
			b->is_paired[other] = true;
		}
	}
	free(place);
}

static void take(struct matching *matching, struct lone *a, struct lone *b, enum diff_match match)
{
	a->is_taken = true;
	b->is_taken = true;
	add_pair(matching, a->place, b->place, match);
}

/* Second round. Both lists are sorted by what names took. */
static void match_shapes(struct matching *matching)
{
	for (size_t i = 0; i < matching->nr_a; i++) {
		for (size_t k = 0; k < matching->nr_b; k++) {
			if (!matching->of_b[k].is_taken &&
				matching->of_b[k].shape == matching->of_a[i].shape) {
				take(matching, &matching->of_a[i], &matching->of_b[k], DIFF_SHAPE);
				break;
			}
		}
	}
}

static size_t at_most(size_t nr)
{
	return nr < DIFF_SIMILAR ? nr : DIFF_SIMILAR;
}

/* Two names that might mean the same. */
struct likely {
	double alike;
	size_t a, b; /* in of_a and of_b */
};

static int compare_likely(const void *a, const void *b)
{
	const struct likely *x = a, *y = b;

	return ORDER(COMPARE(y->alike, x->alike), COMPARE(x->a, y->a), COMPARE(x->b, y->b));
}

/*
 * Third round. All likely pairs are found first: in the order of names, one could take the partner
 * of a name that is more alike. This compares each name with each, hence the bound.
 */
static void match_words(struct matching *matching)
{
	size_t nr_a = at_most(matching->nr_a), nr_b = at_most(matching->nr_b), nr = 0;
	struct likely *likely = mem_zeroed(nr_a * nr_b + 1, sizeof(*likely));

	for (size_t i = 0; i < nr_a; i++) {
		for (size_t k = 0; !matching->of_a[i].is_taken && k < nr_b; k++) {
			double alike = likeness(&matching->of_a[i], &matching->of_b[k]);

			if (!matching->of_b[k].is_taken && alike >= MIN_ALIKE) {
				likely[nr++] = (struct likely){alike, i, k};
			}
		}
	}
	qsort(likely, nr, sizeof(*likely), compare_likely);
	for (size_t i = 0; i < nr; i++) {
		struct lone *a = &matching->of_a[likely[i].a], *b = &matching->of_b[likely[i].b];

		if (!a->is_taken && !b->is_taken) {
			take(matching, a, b, DIFF_WORDS);
		}
	}
	free(likely);
}

static void add_alone(struct matching *matching)
{
	for (size_t i = 0; i < matching->nr_a; i++) {
		if (!matching->of_a[i].is_taken) {
			add_pair(matching, matching->of_a[i].place, SIZE_MAX, DIFF_ALONE);
		}
	}
	for (size_t i = 0; i < matching->nr_b; i++) {
		if (!matching->of_b[i].is_taken) {
			add_pair(matching, SIZE_MAX, matching->of_b[i].place, DIFF_ALONE);
		}
	}
}

size_t diff_match_names(const struct diff_name *a, size_t nr_a, const struct diff_name *b,
	size_t nr_b, struct diff_pair **pairs)
{
	struct matching matching = {.pairs = mem_zeroed(nr_a + nr_b + 1, sizeof(**pairs))};
	struct side of_a = {a, nr_a, mem_zeroed(nr_a + 1, sizeof(bool))};
	struct side of_b = {b, nr_b, mem_zeroed(nr_b + 1, sizeof(bool))};

	match_equal(&matching, &of_a, &of_b);
	matching.of_a = make_lone(&of_a, &matching.nr_a);
	matching.of_b = make_lone(&of_b, &matching.nr_b);
	match_shapes(&matching);
	match_words(&matching);
	add_alone(&matching);
	free(matching.of_a);
	free(matching.of_b);
	free(of_a.is_paired);
	free(of_b.is_paired);
	*pairs = matching.pairs;
	return matching.nr_pairs;
}
