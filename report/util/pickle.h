/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Python's pickle format, protocol 4, of numbers, texts, lists and dictionaries: what
 * `pickle.load` and the unpickler of PyTorch's memory viewer both read. The format is documented in
 * CPython's Lib/pickletools.py. A text, or a value that recurs, is written once and referred to
 * afterwards.
 *
 *     {"a": [1, 2]}      PROTO 4  }  (  "a"  ]  (  1  2  e  u  .
 *                                 |  |             |        |  |
 *                                 |  MARK          MARK     |  SETITEMS, ends the dictionary
 *                                 EMPTY_DICT                APPENDS, ends the list
 */
#ifndef REPORT_UTIL_PICKLE_H
#define REPORT_UTIL_PICKLE_H

#include "report/util/buf.h"
#include "report/util/idmap.h"

/* Lists within lists. */
#define PICKLE_MAX_DEPTH 8u

struct pickle {
	struct buf *out;
	struct idmap texts; /* uint32_t: 1 + the memo's number, by number of string_pool.h */
	uint32_t nr_memos;
	size_t nr_items[PICKLE_MAX_DEPTH]; /* so far, of each list that is open */
	unsigned int depth;
	struct buf text;
};

void pickle_begin(struct pickle *pickle, struct buf *out);
/* Ends the value and frees what was kept. */
void pickle_end(struct pickle *pickle);

void pickle_number(struct pickle *pickle, uint64_t value);
void pickle_false(struct pickle *pickle);
/* A text of string_pool.h. What is no UTF-8, or controls a terminal, is escaped. */
void pickle_name(struct pickle *pickle, uint32_t name);
/* A key of a dictionary, or another constant. */
void pickle_text(struct pickle *pickle, const char *text);

void pickle_dict_begin(struct pickle *pickle);
void pickle_dict_end(struct pickle *pickle);

/*
 * A list: call pickle_item before each element. It comes in parts of a thousand elements, since a
 * viewer in JavaScript passes a part as arguments of one call.
 */
void pickle_list_begin(struct pickle *pickle);
void pickle_item(struct pickle *pickle);
void pickle_list_end(struct pickle *pickle);

/* Gives the value that was just written a number, for pickle_again. */
uint32_t pickle_keep(struct pickle *pickle);
void pickle_again(struct pickle *pickle, uint32_t memo);

#endif
