/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.c and rows.c name frames by text; here these become rows py_file, py_code and py_stack,
 * each written when its intern table does not know it yet. A "Call stack" is one text for many
 * operators, so its stack is also kept by the whole text.
 */
#include "report/import/kineto/rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"

#define NR_THINGS  65536u
#define TEXT_BYTES (16u << 20)
#define MAX_DEPTH  128u /* as in the recorder; outer frames are left out */

struct frame {
	const char *file, *name;
	size_t nr_file, nr_name;
	uint32_t line;
};

void kineto_python_fini(struct kineto_python *python)
{
	intern_fini(&python->files);
	intern_fini(&python->codes);
	intern_fini(&python->stacks);
	intern_fini(&python->texts);
	free(python->text_stacks);
	*python = (struct kineto_python){0};
}

static bool init(struct kineto_python *python)
{
	const size_t key_bytes = 3 * sizeof(uint32_t);

	return python->files.entries ||
	       (!intern_init(&python->files, NR_THINGS, NR_THINGS * sizeof(uint32_t), 0) &&
		       !intern_init(&python->codes, NR_THINGS, NR_THINGS * key_bytes, 0) &&
		       !intern_init(&python->stacks, 4 * NR_THINGS, 4 * NR_THINGS * key_bytes, 0) &&
		       !intern_init(&python->texts, NR_THINGS, TEXT_BYTES, 0));
}

/* Parses "file(line): name"; any other text is a name without a file. */
static struct frame parse(const char *text, size_t nr_bytes)
{
	struct frame frame = {.name = text, .nr_name = nr_bytes};
	const char *end = memmem(text, nr_bytes, "): ", 3), *digit = end;
	uint64_t line = 0, scale = 1;

	while (digit && digit > text && digit[-1] >= '0' && digit[-1] <= '9' &&
		scale < 1000000000) {
		line += (uint64_t)(*--digit - '0') * scale;
		scale *= 10;
	}
	if (!end || digit == end || digit <= text || digit[-1] != '(') {
		return frame;
	}
	frame.file = text;
	frame.nr_file = (size_t)(digit - 1 - text);
	frame.line = (uint32_t)line;
	frame.name = end + 3;
	frame.nr_name = nr_bytes - (size_t)(frame.name - text);
	return frame;
}

static uint32_t file_id(
	struct kineto_python *python, struct import_out *out, const struct frame *frame)
{
	uint32_t name = import_out_string(out, frame->file, frame->nr_file);
	const struct intern_entry *entry;
	bool is_new;

	if (!name) {
		return 0;
	}
	entry = intern_find(&python->files, &name, sizeof(name), &is_new);
	if (is_new) {
		struct gprof_row_py_file *row = import_out_row(out, GPROF_TABLE_py_file);

		row->id = entry->id;
		row->name = name;
	}
	return entry->id;
}

static uint32_t code_id(struct kineto_python *python, struct import_out *out,
	const struct frame *frame, uint32_t line)
{
	const uint32_t key[3] = {file_id(python, out, frame),
		import_out_string(out, frame->name, frame->nr_name), line};
	bool is_new;
	const struct intern_entry *entry = intern_find(&python->codes, key, sizeof(key), &is_new);

	if (is_new) {
		struct gprof_row_py_code *row = import_out_row(out, GPROF_TABLE_py_code);

		row->id = entry->id;
		row->py_file = key[0];
		row->name = key[1];
		row->line = line;
	}
	return entry->id;
}

uint32_t kineto_python_code(
	struct kineto_python *python, struct import_out *out, const char *name, size_t nr_bytes)
{
	struct frame frame = parse(name, nr_bytes);

	return init(python) ? code_id(python, out, &frame, frame.line) : 0;
}

uint32_t kineto_python_stack(struct kineto_python *python, struct import_out *out, uint32_t parent,
	uint32_t code, uint32_t line)
{
	const uint32_t key[3] = {parent, code, line};
	const struct intern_entry *entry;
	bool is_new;

	if (!init(python)) {
		return 0;
	}
	entry = intern_find(&python->stacks, key, sizeof(key), &is_new);
	if (is_new) {
		struct gprof_row_py_stack *row = import_out_row(out, GPROF_TABLE_py_stack);

		row->id = entry->id;
		row->parent = parent;
		row->py_code = code;
		row->line = line;
	}
	return entry->id;
}

/*
 * The text begins with the innermost frame, but a stack's row names its caller's row: so the frames
 * are read first and then added from the outermost.
 */
static uint32_t make_stack(
	struct kineto_python *python, struct import_out *out, const char *text, size_t nr_bytes)
{
	struct frame frames[MAX_DEPTH];
	const char *end = text + nr_bytes;
	uint32_t stack = 0;
	size_t nr = 0;

	while (text < end && nr < MAX_DEPTH) {
		const char *next = memchr(text, ';', (size_t)(end - text));

		next = next ? next : end;
		while (text < next && (*text == '\r' || *text == '\n')) {
			text++; /* Ascend's stacks have a line for each frame */
		}
		if (next > text) {
			frames[nr++] = parse(text, (size_t)(next - text));
		}
		text = next + 1;
	}
	while (nr-- > 0) {
		stack = kineto_python_stack(
			python, out, stack, code_id(python, out, &frames[nr], 0), frames[nr].line);
	}
	return stack;
}

/* The texts' ids rise even when the table forgets its texts, so text_stacks stays valid. */
uint32_t kineto_python_text(
	struct kineto_python *python, struct import_out *out, const char *text, size_t nr_bytes)
{
	const struct intern_entry *entry;
	uint32_t id, stack;
	bool is_new;

	if (!nr_bytes || !init(python)) {
		return 0;
	}
	entry = intern_find(&python->texts, text, nr_bytes, &is_new);
	if (!entry) {
		return 0;
	}
	if (!is_new) {
		return python->text_stacks[entry->id];
	}
	id = entry->id;
	while (python->capacity <= id) {
		python->text_stacks = array_grow(python->text_stacks, python->capacity,
			&python->capacity, sizeof(*python->text_stacks));
	}
	stack = make_stack(python, out, text, nr_bytes);
	python->text_stacks[id] = stack;
	return stack;
}
