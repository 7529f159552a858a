/* SPDX-License-Identifier: Apache-2.0 */
/* One function an opcode, or a group of them that differ in size alone; see pickle.h. */
#include "report/util/pickle.h"

#include "report/util/string_pool.h"
#include "report/util/text.h"

/* The opcodes, by their names in CPython's Lib/pickletools.py. */
enum opcode {
	MARK = '(',
	STOP = '.',
	BININT = 'J',
	BININT1 = 'K',
	BININT2 = 'M',
	BINUNICODE = 'X',
	EMPTY_LIST = ']',
	EMPTY_DICT = '}',
	APPENDS = 'e',
	BINGET = 'h',
	LONG_BINGET = 'j',
	BINPUT = 'q',
	LONG_BINPUT = 'r',
	SETITEMS = 'u',
	PROTO = 0x80,
	NEWFALSE = 0x89,
	LONG1 = 0x8a,
	SHORT_BINUNICODE = 0x8c,
};

/* Elements of a list that are appended at once, as CPython's pickler has it. */
#define PART_OF_LIST 1000u

static void add_op(struct pickle *pickle, enum opcode opcode)
{
	buf_char(pickle->out, (char)opcode);
}

/* Bytes, the lowest first. */
static void add_bytes(struct pickle *pickle, uint64_t value, unsigned int nr_bytes)
{
	for (unsigned int i = 0; i < nr_bytes; i++) {
		buf_char(pickle->out, (char)(value >> 8 * i));
	}
}

void pickle_begin(struct pickle *pickle, struct buf *out)
{
	*pickle = (struct pickle){.out = out};
	idmap_init(&pickle->texts, sizeof(uint32_t));
	add_op(pickle, PROTO);
	buf_char(out, 4);
}

void pickle_end(struct pickle *pickle)
{
	add_op(pickle, STOP);
	idmap_fini(&pickle->texts);
	buf_fini(&pickle->text);
}

void pickle_number(struct pickle *pickle, uint64_t value)
{
	unsigned int nr_bytes = 1;

	if (value <= UINT8_MAX) {
		add_op(pickle, BININT1);
	} else if (value <= UINT16_MAX) {
		add_op(pickle, BININT2);
		nr_bytes = 2;
	} else if (value <= INT32_MAX) {
		add_op(pickle, BININT);
		nr_bytes = 4;
	} else {
		/* Signed: the highest bit of the last byte must be clear. */
		while (nr_bytes < 8 && value >> (8 * nr_bytes - 1)) {
			nr_bytes++;
		}
		add_op(pickle, LONG1);
		buf_char(pickle->out, (char)(nr_bytes + (value >> 63)));
		add_bytes(pickle, value, nr_bytes);
		add_bytes(pickle, 0, (unsigned int)(value >> 63));
		return;
	}
	add_bytes(pickle, value, nr_bytes);
}

void pickle_false(struct pickle *pickle)
{
	add_op(pickle, NEWFALSE);
}

static void add_text(struct pickle *pickle, const char *text, size_t nr_bytes)
{
	if (nr_bytes <= UINT8_MAX) {
		add_op(pickle, SHORT_BINUNICODE);
		add_bytes(pickle, nr_bytes, 1);
	} else {
		add_op(pickle, BINUNICODE);
		add_bytes(pickle, nr_bytes, 4);
	}
	buf_add(pickle->out, text, nr_bytes);
}

uint32_t pickle_keep(struct pickle *pickle)
{
	uint32_t memo = pickle->nr_memos++;

	add_op(pickle, memo <= UINT8_MAX ? BINPUT : LONG_BINPUT);
	add_bytes(pickle, memo, memo <= UINT8_MAX ? 1 : 4);
	return memo;
}

void pickle_again(struct pickle *pickle, uint32_t memo)
{
	add_op(pickle, memo <= UINT8_MAX ? BINGET : LONG_BINGET);
	add_bytes(pickle, memo, memo <= UINT8_MAX ? 1 : 4);
}

void pickle_name(struct pickle *pickle, uint32_t name)
{
	uint32_t *memo = idmap_put(&pickle->texts, name);
	size_t nr_bytes;
	const char *bytes;

	if (*memo) {
		pickle_again(pickle, *memo - 1);
		return;
	}
	bytes = string_pool_shown(name, &nr_bytes);
	pickle->text.nr_bytes = 0;
	text_add_shown(&pickle->text, bytes, nr_bytes, 0);
	add_text(pickle, pickle->text.bytes, pickle->text.nr_bytes);
	*memo = 1 + pickle_keep(pickle);
}

void pickle_text(struct pickle *pickle, const char *text)
{
	pickle_name(pickle, string_pool_intern(text, strlen(text)));
}

void pickle_dict_begin(struct pickle *pickle)
{
	add_op(pickle, EMPTY_DICT);
	add_op(pickle, MARK);
}

void pickle_dict_end(struct pickle *pickle)
{
	add_op(pickle, SETITEMS);
}

void pickle_list_begin(struct pickle *pickle)
{
	add_op(pickle, EMPTY_LIST);
	add_op(pickle, MARK);
	pickle->nr_items[pickle->depth++ % PICKLE_MAX_DEPTH] = 0;
}

void pickle_item(struct pickle *pickle)
{
	size_t *nr = &pickle->nr_items[(pickle->depth - 1) % PICKLE_MAX_DEPTH];

	if (*nr && *nr % PART_OF_LIST == 0) {
		add_op(pickle, APPENDS);
		add_op(pickle, MARK);
	}
	++*nr;
}

void pickle_list_end(struct pickle *pickle)
{
	add_op(pickle, APPENDS);
	pickle->depth--;
}
