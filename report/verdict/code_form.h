/* SPDX-License-Identifier: Apache-2.0 */
/* How wide a sentence writes a place in the code, so that it fits two lines of a terminal. */
#ifndef REPORT_VERDICT_CODE_FORM_H
#define REPORT_VERDICT_CODE_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "report/util/buf.h"

/* Columns of a name in a sentence, which fits two lines of a terminal with its label. */
#define VERDICT_NAME_WIDTH 32u
/* Columns of a place in the code: a file, a line and a function. */
#define VERDICT_CODE_WIDTH 36u

/* How a sentence names the first place: with its share, and names in so many columns. */
struct code_form {
	bool has_share;
	bool keeps_share;	   /* omits the share last, since it shows how small the place is */
	bool has_function;	   /* behind its line, where code_form_add_line writes it */
	unsigned int width;	   /* columns for the place */
	unsigned int object_width; /* columns for what it waits for; 0: leaves that out */
};

extern const struct code_form code_form_widest;

/* Says less, or cuts names further; returns false if there is no more to leave out. */
bool code_form_narrow(struct code_form *form);

/*
 * Appends a place, a number of string_pool.h, as the form has it: without the function, if need be,
 * before the file is cut.
 */
void code_form_add_line(uint32_t place, const struct code_form *form, struct buf *out);

#endif
