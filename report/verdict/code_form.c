/* SPDX-License-Identifier: Apache-2.0 */
/* Narrows step by step, so that a sentence keeps what it can. */
#include "report/verdict/code_form.h"

#include <string.h>

#include "report/util/string_pool.h"
#include "report/util/text.h"

/* The columns of a file or the like that a wait is for. */
#define OBJECT_WIDTH 32u

/*
 * A sentence that does not fit cuts a place down to so many columns; one that waits for an object
 * leaves that out first where even the number of the line would not remain.
 */
#define MIN_CODE_WIDTH	 12u
#define MIN_LINE_WIDTH	 20u
#define MIN_OBJECT_WIDTH 16u

const struct code_form code_form_widest = {.has_share = true,
	.has_function = true,
	.width = VERDICT_CODE_WIDTH,
	.object_width = OBJECT_WIDTH};

/* The number of a line is worth more than the name of its function. */
bool code_form_narrow(struct code_form *form)
{
	if (form->has_share && !form->keeps_share) {
		form->has_share = false;
	} else if (form->object_width > MIN_OBJECT_WIDTH) {
		form->object_width -= 4;
	} else if (form->has_function) {
		form->has_function = false;
	} else if (form->width > (form->object_width ? MIN_LINE_WIDTH : MIN_CODE_WIDTH)) {
		form->width--;
	} else if (form->object_width) {
		form->object_width = 0;
		form->width = VERDICT_CODE_WIDTH;
	} else if (form->has_share) {
		form->has_share = false;
	} else {
		return false;
	}
	return true;
}

/* Returns the bytes of "train.py(12)" in "train.py(12): step"; all where there is no such end. */
static size_t without_function(const char *place, size_t nr_bytes)
{
	static const char end[] = "): ";

	for (size_t i = nr_bytes; i >= strlen(end); i--) {
		if (!memcmp(place + i - strlen(end), end, strlen(end))) {
			return i - strlen(": ");
		}
	}
	return nr_bytes;
}

void code_form_add_line(uint32_t place, const struct code_form *form, struct buf *out)
{
	size_t nr_bytes;
	const char *text = string_pool_text(place, &nr_bytes);

	text_add_cut(out, text, form->has_function ? nr_bytes : without_function(text, nr_bytes),
		form->width);
}
