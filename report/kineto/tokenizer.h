/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a JSON trace into what is parsed at once: the members of the outer object and the events of
 * `traceEvents` (or of the bare array that Chrome also takes). So memory is bounded by the largest
 * of them, and a bad one is left out alone: then the next place where an event may begin is taken.
 */
#ifndef REPORT_KINETO_TOKENIZER_H
#define REPORT_KINETO_TOKENIZER_H

#include "report/kineto/input.h"

enum kineto_kind {
	KINETO_END,
	KINETO_MEMBER, /* of the outer object */
	KINETO_EVENT,
};

struct kineto_part {
	enum kineto_kind kind;
	const char *key; /* of a member, as it stands there */
	size_t nr_key;
	const char *bytes; /* good until the next part is taken */
	size_t nr_bytes;
};

struct kineto_tokenizer {
	struct kineto_input *in;
	char *at, *end;	   /* what is left of the piece at hand */
	char *part, *next; /* of the last part: where it begins, and what comes after it */
	uint64_t offset;   /* in the text, of `end` */
	uint8_t state;
	bool is_array; /* the outer thing */
	bool is_guess; /* the end of the last event was found by its indentation */
	bool is_input_ended;
	uint64_t nr_bad;     /* parts that were left out */
	uint64_t nr_large;   /* of those: larger than KINETO_INPUT_ROOM */
	uint64_t cut_offset; /* where a text ends too early; 0: it does not */
	bool is_cut;
};

void kineto_tokenizer_init(struct kineto_tokenizer *split, struct kineto_input *in);

/* The next part; KINETO_END at the end, also where the text ends too early (is_cut). */
void kineto_tokenizer_next(struct kineto_tokenizer *split, struct kineto_part *part);

/*
 * The last event is not one. Returns true if it ends elsewhere, and then the part is what to try
 * instead. Else it is counted, and kineto_tokenizer_next goes on behind it.
 */
bool kineto_tokenizer_retry(struct kineto_tokenizer *split, struct kineto_part *part);

#endif
