/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `layouts` has the offsets of each version. All reads pass through python_peek(): a thread that
 * holds the GIL copies directly (python_frame_trust), every other one through the kernel, perhaps
 * by pages. Texts are copied in the interpreter's form; python_text_utf8() converts them later.
 */
#include "preload/python/python_frame.h"

#include <stddef.h>
#include <string.h>

#include "collector/ring/safe_read.h"
#include "preload/base/utf8.h"
#include "preload/python/python_line.h"

#define END_BYTES   252u /* bytes kept at each end of a long text, around "..." */
#define FRAME_BYTES 112u
#define CODE_BYTES  144u
#define OWNER_C	    3u	/* from 3.12 on, frames of C code have this owner or a larger one */
#define TAG_BITS    3ul /* tags of references on the stack, from 3.14 on */

/* Offsets of fields, in bytes from the begin of their object; 0 if there is no such field. */
struct layout {
	unsigned int minor;		      /* of 3.x */
	uint32_t thread_cframe, cframe_frame; /* thread state -> (cframe ->) frame */
	uint32_t frame_back, frame_code, frame_at, frame_owner;
	uint32_t at_unit; /* frame_at is an index in units of so many bytes; 0: it is an address */
	uint32_t code_file, code_name, code_first_line, code_lines, code_bytecode;
	uint32_t ascii_bytes, compact_bytes; /* heads of the two kinds of str */
	enum python_lines lines;
	uint32_t frame_locals;
};

static const struct layout layouts[] = {
	{8, 24, 0, 24, 32, 104, 0, 1, 104, 112, 40, 120, 0, 48, 72, PYTHON_LINES_LNOTAB, 360},
	{9, 24, 0, 24, 32, 104, 0, 1, 104, 112, 40, 120, 0, 48, 72, PYTHON_LINES_LNOTAB, 360},
	{10, 24, 0, 24, 32, 96, 0, 2, 104, 112, 40, 120, 0, 48, 72, PYTHON_LINES_PAIRS, 352},
	{11, 56, 8, 48, 32, 56, 0, 0, 112, 120, 72, 136, 184, 48, 72, PYTHON_LINES_PLACES, 72},
	{12, 56, 0, 8, 0, 56, 70, 0, 112, 120, 68, 136, 192, 40, 56, PYTHON_LINES_PLACES, 72},
	{13, 72, 0, 8, 0, 56, 70, 0, 112, 120, 68, 136, 200, 40, 56, PYTHON_LINES_PLACES, 72},
	{14, 72, 0, 8, 0, 56, 74, 0, 112, 120, 68, 136, 208, 40, 56, PYTHON_LINES_PLACES, 80},
	{15, 72, 0, 8, 0, 56, 74, 0, 112, 120, 68, 136, 208, 40, 56, PYTHON_LINES_PLACES, 80},
};

/* The head of bytes (and of every object with a size), and of str up to its state. */
enum { SIZE_AT = 16, BYTES_AT = 32, STR_STATE_AT = 32, STR_HEAD_BYTES = 40 };

/* Offsets in objects, in types and in cells; further down, in code objects up to 3.10. */
enum { TYPE_AT = 8, TYPE_NAME_AT = 24, CELL_AT = 16 };
/*
 * Offsets in types: of their flags, and of the offset of the dict in their objects. MANAGED_DICT_AT
 * counts back from the object.
 */
enum { TYPE_FLAGS_AT = 168, TYPE_DICT_OFFSET_AT = 288, MANAGED_DICT_AT = 24 };
#define MANAGED_DICT (1u << 4) /* a flag from 3.11 on */
enum { CODE_NR_LOCALS = 28, CODE_CELL_NAMES = 88, CODE_CELL_ARGUMENTS = 96 };

static const struct layout *layout;
static uintptr_t cell_type;

static __thread bool is_trusted __attribute__((tls_model("initial-exec")));

/* A read by the kernel takes about as long for a page as for a word. */
#define PAGE_BYTES 4096u
#define NR_PAGES   32u

static struct pages {
	uint32_t nr; /* read since the begin; the newest NR_PAGES are there */
	uintptr_t at[NR_PAGES];
	unsigned char bytes[NR_PAGES][PAGE_BYTES];
} pages;

static __thread bool has_pages __attribute__((tls_model("initial-exec")));

/* Returns N of 3.N; 0 for any other version. */
static unsigned int minor_of(const char *version)
{
	unsigned int minor = 0;

	if (strncmp(version, "3.", 2)) {
		return 0;
	}
	for (version += 2; *version >= '0' && *version <= '9' && minor < 100; version++) {
		minor = minor * 10 + (unsigned int)(*version - '0');
	}
	return minor;
}

/* The drain may read frames meanwhile, by the same layout. */
bool python_frame_init(const char *version)
{
	const struct layout *found = NULL;

	/* Without the GIL objects are larger, and change while they are read. */
	if (sizeof(void *) != 8 || strstr(version, "free-threading")) {
		return false;
	}
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (minor_of(version) == layouts[i].minor) {
			found = &layouts[i];
		}
	}
	layout = found;
	return found != NULL;
}

void python_frame_know_cells(uintptr_t type)
{
	cell_type = type;
}

unsigned int python_frame_minor(void)
{
	return layout ? layout->minor : 0;
}

bool python_frame_trust(bool now)
{
	bool before = is_trusted;

	is_trusted = now;
	return before;
}

void python_pages_begin(void)
{
	pages.nr = 0;
	has_pages = true;
}

void python_pages_end(void)
{
	has_pages = false;
}

/* Returns the copy of the page at that address; NULL if it cannot be read. */
static const unsigned char *find_page(uintptr_t at)
{
	uint32_t nr = pages.nr < NR_PAGES ? pages.nr : NR_PAGES, place = pages.nr % NR_PAGES;

	for (uint32_t i = 0; i < nr; i++) {
		if (pages.at[i] == at) {
			return pages.bytes[i];
		}
	}
	pages.at[place] = 1; /* no page, if the read fails half-way */
	if (!safe_read(pages.bytes[place], at, PAGE_BYTES)) {
		return NULL;
	}
	pages.at[place] = at;
	pages.nr++;
	return pages.bytes[place];
}

static bool peek_pages(unsigned char *to, uintptr_t from, uint32_t nr_bytes)
{
	while (nr_bytes) {
		uint32_t offset = from % PAGE_BYTES, rest = PAGE_BYTES - offset;
		uint32_t nr = nr_bytes < rest ? nr_bytes : rest;
		const unsigned char *page = find_page(from - offset);

		if (!page) {
			return false;
		}
		memcpy(to, page + offset, nr);
		to += nr;
		from += nr;
		nr_bytes -= nr;
	}
	return true;
}

bool python_peek(void *to, uintptr_t from, uint32_t nr_bytes)
{
	if (is_trusted) {
		memcpy(to, (const void *)from, nr_bytes);
		return true;
	}
	return has_pages ? peek_pages(to, from, nr_bytes) : safe_read(to, from, nr_bytes);
}

static uintptr_t word(const unsigned char *bytes, uint32_t at)
{
	uintptr_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static uint32_t half(const unsigned char *bytes, uint32_t at)
{
	uint32_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static uintptr_t untagged(uintptr_t reference)
{
	return layout->minor >= 14 ? reference & ~TAG_BITS : reference;
}

uintptr_t python_frame_top(const void *thread_state)
{
	uintptr_t at;

	if (!python_peek(&at, (uintptr_t)thread_state + layout->thread_cframe, sizeof(at))) {
		return 0;
	}
	/* 3.11 and 3.12 have a structure in between. */
	if ((layout->minor == 11 || layout->minor == 12) && at &&
		!python_peek(&at, at + layout->cframe_frame, sizeof(at))) {
		return 0;
	}
	return at;
}

/* Returns the byte of its code that a frame is at; 0 before the first instruction. */
static uint32_t offset_of(const unsigned char *bytes, uintptr_t code)
{
	if (layout->at_unit) {
		int32_t index = (int32_t)half(bytes, layout->frame_at);

		return index < 0 ? 0 : (uint32_t)index * layout->at_unit;
	}
	return word(bytes, layout->frame_at) < code + layout->code_bytecode
		       ? 0
		       : (uint32_t)(word(bytes, layout->frame_at) - code - layout->code_bytecode);
}

/* A frame of C code, which there is from 3.12 on, has no code object: frame->code stays 0. */
bool python_frame_read(struct python_frame *frame, uintptr_t at)
{
	unsigned char bytes[FRAME_BYTES], code[CODE_BYTES];

	if (!python_peek(bytes, at, layout->frame_owner ? layout->frame_owner + 1 : FRAME_BYTES)) {
		return false;
	}
	*frame = (struct python_frame){.at = at, .next = word(bytes, layout->frame_back)};
	if (layout->frame_owner && bytes[layout->frame_owner] >= OWNER_C) {
		return true;
	}
	/* Up to 3.10 the list of free frames would seem to be callers. */
	if (layout->minor <= 10 && (intptr_t)word(bytes, 0) <= 0) {
		return false;
	}
	frame->code = untagged(word(bytes, layout->frame_code));
	frame->point.offset = offset_of(bytes, frame->code);
	if (!frame->code || !python_peek(code, frame->code, CODE_BYTES)) {
		return false;
	}
	frame->type = word(code, TYPE_AT);
	frame->file = word(code, layout->code_file);
	frame->name = word(code, layout->code_name);
	frame->point.lines = word(code, layout->code_lines);
	frame->point.first_line = half(code, layout->code_first_line);
	return true;
}

/* Reads both ends of a str at `at` that is longer than a text. */
static bool read_ends(struct python_text *text, uintptr_t at, uint64_t nr_bytes)
{
	uint32_t end = END_BYTES + 3 * text->unit_bytes;

	memset(text->bytes + END_BYTES, 0, end - END_BYTES);
	for (uint32_t i = END_BYTES; i < end; i += text->unit_bytes) {
		text->bytes[i] = '.';
	}
	text->nr_bytes = PYTHON_TEXT_BYTES;
	text->nr_omitted = nr_bytes - PYTHON_TEXT_BYTES;
	return python_peek(text->bytes, at, END_BYTES) &&
	       python_peek(text->bytes + end, at + text->nr_omitted + end, PYTHON_TEXT_BYTES - end);
}

/* Refuses a string that is not compact. A text that is too long keeps its two ends. */
bool python_text_read(struct python_text *text, uintptr_t str)
{
	unsigned char head[STR_HEAD_BYTES];
	uint32_t state;
	uint64_t nr_units;

	if (!python_peek(head, str, sizeof(head))) {
		return false;
	}
	/* interned:2, kind:3 (bytes of a unit), compact:1, ascii:1 */
	state = half(head, STR_STATE_AT);
	nr_units = word(head, SIZE_AT);
	text->unit_bytes = state >> 2 & 7u;
	if (!(state & 1u << 5) || nr_units > UINT32_MAX / 4 ||
		(text->unit_bytes != 1 && text->unit_bytes != 2 && text->unit_bytes != 4)) {
		return false;
	}
	text->nr_bytes = (uint32_t)nr_units * text->unit_bytes;
	text->nr_omitted = 0;
	str += state & 1u << 6 ? layout->ascii_bytes : layout->compact_bytes;
	if (text->nr_bytes > PYTHON_TEXT_BYTES) {
		return read_ends(text, str, text->nr_bytes);
	}
	return python_peek(text->bytes, str, text->nr_bytes);
}

static bool peek_word(uintptr_t *value, uintptr_t from)
{
	return python_peek(value, from, sizeof(*value));
}

/*
 * Up to 3.10 an argument that inner functions use is moved: the code's co_cell2arg maps its cells,
 * which follow the locals, to arguments.
 */
static uintptr_t first_cell(const struct python_frame *frame)
{
	uintptr_t names, arguments, argument, cell;
	unsigned char code[CODE_BYTES];
	uint64_t nr_cells;

	if (!python_peek(code, frame->code, CODE_BYTES)) {
		return 0;
	}
	names = word(code, CODE_CELL_NAMES);
	arguments = word(code, CODE_CELL_ARGUMENTS);
	if (!arguments || !peek_word(&nr_cells, names + SIZE_AT)) {
		return 0;
	}
	for (uint64_t i = 0; i < nr_cells; i++) {
		if (!peek_word(&argument, arguments + i * sizeof(argument))) {
			return 0;
		}
		if (!argument) {
			uintptr_t at = frame->at + layout->frame_locals;

			at += (half(code, CODE_NR_LOCALS) + i) * sizeof(cell);
			return peek_word(&cell, at) ? cell : 0;
		}
	}
	return 0;
}

uintptr_t python_frame_first_local(const struct python_frame *frame)
{
	uintptr_t object, type;

	if (!peek_word(&object, frame->at + layout->frame_locals)) {
		return 0;
	}
	object = untagged(object);
	if (!object && layout->minor <= 10) {
		object = first_cell(frame);
	}
	if (!object || !peek_word(&type, object + TYPE_AT)) {
		return 0;
	}
	if (type == cell_type && !peek_word(&object, object + CELL_AT)) {
		return 0;
	}
	return object;
}

bool python_type_name(uintptr_t object, char *name, uint32_t nr_bytes, bool *is_cut)
{
	uintptr_t type, at;

	*is_cut = false;
	if (!object || !peek_word(&type, object + TYPE_AT) ||
		!peek_word(&at, type + TYPE_NAME_AT)) {
		return false;
	}
	for (uint32_t i = 0; i < nr_bytes; i++) {
		if (!python_peek(name + i, at + i, 1)) {
			return false;
		}
		if (!name[i]) {
			return true;
		}
	}
	*is_cut = true;
	name[nr_bytes - 1] = 0;
	return true;
}

uintptr_t python_dict(uintptr_t object)
{
	uintptr_t type, flags, offset, dict;

	if (!object || !peek_word(&type, object + TYPE_AT) ||
		!peek_word(&flags, type + TYPE_FLAGS_AT)) {
		return 0;
	}
	if (layout->minor >= 11 && flags & MANAGED_DICT) {
		/* 3.12 marks the values of an object without a dict by the lowest bit. */
		return peek_word(&dict, object - MANAGED_DICT_AT) && !(dict & 1) ? dict : 0;
	}
	if (!peek_word(&offset, type + TYPE_DICT_OFFSET_AT) || (intptr_t)offset <= 0) {
		return 0;
	}
	return peek_word(&dict, object + offset) ? dict : 0;
}

bool python_has_type(uintptr_t object, uintptr_t type)
{
	uintptr_t found;

	return type && peek_word(&found, object + TYPE_AT) && found == type;
}

uint32_t python_point_line(const struct python_point *point)
{
	uint64_t nr_bytes;

	if (!peek_word(&nr_bytes, point->lines + SIZE_AT) || nr_bytes > UINT32_MAX) {
		return 0;
	}
	return python_line_find(layout->lines, point->lines + BYTES_AT, (uint32_t)nr_bytes,
		point->first_line, point->offset);
}

static uint32_t unit_at(const struct python_text *text, uint32_t at)
{
	uint32_t value = 0;

	memcpy(&value, text->bytes + at, text->unit_bytes);
	return value;
}

/* Halves of pairs stand for bytes that were no UTF-8; like what is no character, they become ?. */
uint32_t python_text_utf8(const struct python_text *text, char *utf8)
{
	char *out = utf8;

	for (uint32_t at = 0; at + text->unit_bytes <= text->nr_bytes; at += text->unit_bytes) {
		uint32_t c = unit_at(text, at);

		if (!c || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff) {
			c = '?';
		}
		out = utf8_put(out, c);
	}
	*out = 0;
	return (uint32_t)(out - utf8);
}
