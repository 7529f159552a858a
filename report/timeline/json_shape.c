/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/json_shape.h"

#include "report/util/idmap.h"
#include "report/kineto/event.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"

static bool take(const char **at, const char *end, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(end - *at) < length || memcmp(*at, word, length)) {
		return false;
	}
	*at += length;
	return true;
}

/* "[64,3]", which is JSON as it is. */
static bool take_sizes(struct buf *dims, const char **at, const char *end)
{
	const char *close = memchr(*at, ']', (size_t)(end - *at));

	if (!close || strspn(*at + 1, "0123456789,") != (size_t)(close - *at - 1)) {
		return false;
	}
	buf_add(dims, *at, (size_t)(close + 1 - *at));
	*at = close + 1;
	return true;
}

static bool take_input(struct buf *dims, struct buf *types, const char **at, const char *end)
{
	const char *begin = *at, *open, *type;

	if (take(at, end, "scalar")) {
		buf_text(dims, "[]");
		buf_text(types, "\"Scalar\"");
		return true;
	}
	open = memchr(begin, '[', (size_t)(end - begin));
	type = !open ? NULL
	       : open == begin + 1 && *begin == '?'
		       ? ""
		       : kineto_shape_type(begin, (size_t)(open - begin));
	if (!type) {
		return false;
	}
	text_add_json(types, type, strlen(type));
	*at = open;
	return take_sizes(dims, at, end);
}

static bool take_inputs(struct buf *dims, struct buf *types, const char *at, size_t nr_bytes)
{
	const char *end = at + nr_bytes;

	while (take_input(dims, types, &at, end)) {
		if (at == end) {
			return true;
		}
		if (!take(&at, end, ", ")) {
			return false;
		}
		buf_text(dims, ", ");
		buf_text(types, ", ");
	}
	return false;
}

static char *make_text(uint32_t name)
{
	struct buf text = {0}, dims = {0}, types = {0};
	size_t nr_bytes;
	const char *bytes = string_pool_text(name, &nr_bytes);

	if (take_inputs(&dims, &types, bytes, nr_bytes)) {
		buf_text(&text, "\"Input Dims\": [");
		buf_add(&text, dims.bytes, dims.nr_bytes);
		buf_text(&text, "], \"Input type\": [");
		buf_add(&text, types.bytes, types.nr_bytes);
		buf_char(&text, ']');
	} else {
		buf_text(&text, "\"Inputs\": ");
		text_add_json(&text, bytes, nr_bytes);
	}
	buf_char(&text, '\0');
	buf_fini(&dims);
	buf_fini(&types);
	return text.bytes;
}

const char *timeline_shape_text(uint32_t name)
{
	static struct idmap made; /* char *, by name */
	char **text;

	if (!made.element_bytes) {
		idmap_init(&made, sizeof(char *));
	}
	text = idmap_put(&made, name);
	if (!*text) {
		*text = make_text(name);
	}
	return *text;
}
