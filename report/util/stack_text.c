/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortens a Python stack: frames of the program's own code are those outside of site-packages and
 * the standard library; the innermost of them stays, then the frames that it called.
 */
#include "report/util/stack_text.h"

#include <stdbool.h>
#include <string.h>

#include "report/util/text.h"

#define ARROW	    " <- "
#define ARROW_CHARS 4u
#define MANY	    " <- ... <- "
#define MANY_CHARS  11u
/* The function at the inner end has at least so much room. */
#define MIN_INNER 8u

struct frame {
	const char *bytes;
	size_t nr;
};

/* The frame at that position, up to the next arrow; false behind the last one. */
static bool next_frame(const char **at, const char *end, struct frame *frame)
{
	const char *arrow;

	if (*at >= end) {
		return false;
	}
	arrow = memmem(*at, (size_t)(end - *at), ARROW, ARROW_CHARS);
	frame->bytes = *at;
	frame->nr = (size_t)((arrow ? arrow : end) - *at);
	*at = arrow ? arrow + ARROW_CHARS : end;
	return true;
}

static bool has(const struct frame *frame, const char *part)
{
	return memmem(frame->bytes, frame->nr, part, strlen(part)) != NULL;
}

static bool is_file(const struct frame *frame, const char *name)
{
	size_t nr = strlen(name);

	return frame->nr > nr && memcmp(frame->bytes, name, nr) == 0 && frame->bytes[nr] == '(';
}

/* Packages are shown from their folder on, and traces have modules of Python without one. */
static bool is_own(const struct frame *frame)
{
	static const char *const of_python[] = {"contextlib.py", "functools.py", "queue.py",
		"runpy.py", "selectors.py", "threading.py", NULL};
	const char *slash = memchr(frame->bytes, '/', frame->nr);

	if (!has(frame, ".py(") || *frame->bytes == '<' || has(frame, "-packages/") ||
		has(frame, "/lib/python") || (slash && slash != frame->bytes)) {
		return false;
	}
	for (size_t i = 0; of_python[i]; i++) {
		if (is_file(frame, of_python[i])) {
			return false;
		}
	}
	return true;
}

static size_t width_of(const struct frame *frame)
{
	return text_shown_width(frame->bytes, frame->nr);
}

/* "conv.py(443): forward": without folders. */
static struct frame base_of(const struct frame *frame)
{
	const char *colon = memmem(frame->bytes, frame->nr, "): ", 3);
	size_t nr_file = colon ? (size_t)(colon - frame->bytes) : frame->nr;
	const char *slash = memrchr(frame->bytes, '/', nr_file);
	size_t nr_left = slash ? (size_t)(slash + 1 - frame->bytes) : 0;

	return (struct frame){frame->bytes + nr_left, frame->nr - nr_left};
}

/* "conv.py(443)". */
static struct frame place_of(const struct frame *frame)
{
	struct frame base = base_of(frame);
	const char *colon = memmem(base.bytes, base.nr, "): ", 3);

	return (struct frame){base.bytes, colon ? (size_t)(colon + 1 - base.bytes) : base.nr};
}

/* "forward". */
static struct frame function_of(const struct frame *frame)
{
	const char *colon = memmem(frame->bytes, frame->nr, "): ", 3);
	size_t nr_left = colon ? (size_t)(colon + 3 - frame->bytes) : 0;

	return (struct frame){frame->bytes + nr_left, frame->nr - nr_left};
}

/* The longest form that fits; else the shortest one is cut. */
static size_t add_frame(struct buf *out, const struct frame *frame, size_t max_width)
{
	const struct frame forms[] = {*frame, base_of(frame), place_of(frame)};
	size_t nr = sizeof(forms) / sizeof(forms[0]), i = 0;

	while (i + 1 < nr && width_of(&forms[i]) > max_width) {
		i++;
	}
	return text_add_cut(out, forms[i].bytes, forms[i].nr, max_width);
}

/* "forward <- train.py(12): step", where whole frames have no room. */
static size_t add_pair(
	struct buf *out, const struct frame *inner, const struct frame *own, size_t max_width)
{
	struct frame function = function_of(inner);
	size_t width = width_of(&function), most = max_width / 3;
	size_t used;

	most = most < MIN_INNER ? MIN_INNER : most;
	used = text_add_cut(out, function.bytes, function.nr, width < most ? width : most);
	buf_text(out, ARROW);
	used += ARROW_CHARS;
	return used + add_frame(out, own, max_width - used);
}

size_t stack_text_add_cut(struct buf *out, const char *bytes, size_t nr_bytes, size_t max_width)
{
	const char *at = bytes, *end = bytes + nr_bytes;
	struct frame frame, first = {0}, own = {0};
	size_t used = 0, needed;

	if (!max_width || text_shown_width(bytes, nr_bytes) <= max_width ||
		max_width < 2 * MIN_INNER + ARROW_CHARS ||
		!memmem(bytes, nr_bytes, ARROW, ARROW_CHARS)) {
		return text_add_cut(out, bytes, nr_bytes, max_width);
	}
	/* Without own code the outermost frame stands for it. */
	while (next_frame(&at, end, &frame)) {
		first = first.bytes ? first : frame;
		own = frame;
		if (is_own(&frame)) {
			break;
		}
	}
	if (own.bytes == first.bytes) {
		return add_frame(out, &own, max_width);
	}
	needed = MANY_CHARS + width_of(&own);
	if (width_of(&first) + needed > max_width) {
		return add_pair(out, &first, &own, max_width);
	}
	/* As many of the inner frames as fit. */
	for (at = bytes; next_frame(&at, end, &frame) && frame.bytes != own.bytes;) {
		size_t width = width_of(&frame) + (used ? ARROW_CHARS : 0);

		if (used + width + needed > max_width) {
			break;
		}
		buf_text(out, used ? ARROW : "");
		text_add_shown(out, frame.bytes, frame.nr, 0);
		used += width;
	}
	buf_text(out, frame.bytes == own.bytes ? ARROW : MANY);
	used += frame.bytes == own.bytes ? ARROW_CHARS : MANY_CHARS;
	return used + text_add_shown(out, own.bytes, own.nr, 0);
}
