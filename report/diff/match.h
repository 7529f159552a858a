/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thing of one side is which of the other, where names differ a little: other tile sizes or
 * template arguments, another number at the end, another name space. In this order:
 *
 *     equal    the same name
 *     shape    equal once template arguments, call arguments and numbers are left out; of several,
 *              those that took most are paired first
 *     similar  most words in common: 2 |A and B| / (|A| + |B|) of their words is 0.6 or more, the
 *              most similar pair first (of the DIFF_SIMILAR things that took most on each side)
 */
#ifndef REPORT_DIFF_MATCH_H
#define REPORT_DIFF_MATCH_H

#include <stddef.h>
#include <stdint.h>

#define DIFF_SIMILAR 256u

enum diff_match {
	DIFF_EQUAL,
	DIFF_SHAPE,
	DIFF_WORDS,
	DIFF_ALONE,
};

struct diff_name {
	uint32_t name; /* of names.h */
	double weight; /* how much it took */
};

struct diff_pair {
	size_t a, b; /* places in the arrays, SIZE_MAX: none */
	enum diff_match match;
};

/*
 * Pairs the names of both sides; each is in one pair. Names within a side must differ. Returns the
 * number of pairs, at most nr_a + nr_b, in *pairs, which the caller frees.
 */
size_t diff_match_names(const struct diff_name *a, size_t nr_a, const struct diff_name *b,
	size_t nr_b, struct diff_pair **pairs);

#endif
