/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .eh_frame_hdr has a sorted table, by which the description of a function (FDE) is found without
 * a look at the others. It refers to the description that several functions share (CIE). Both are
 * programs: each instruction changes a rule, or goes on to a later address. What holds at an
 * address is what they have set until there (the LSB's "Exception Frames", DWARF 5, 6.4).
 *
 *   .eh_frame_hdr --find_fde()--> FDE --read_cie()--> CIE --run()--> row --> struct frame_rule
 */
#include "collector/sample/frame_rules.h"

#include <stddef.h>
#include <string.h>

#define HEADER_BYTES 12u
#define ENTRY_BYTES  8u
/* Compilers nest one deep. */
#define MAX_REMEMBERED	 4u
#define MAX_OPERANDS	 8u
#define MAX_AUGMENTATION 8u

/* How pointers are written: the low digit is the format, the high one what is added. */
enum { ABSOLUTE = 0x00, RELATIVE_TO_PC = 0x10, RELATIVE_TO_HEADER = 0x30, OMITTED = 0xff };
enum { POINTER = 0, ULEB128, UDATA2, UDATA4, UDATA8, SLEB128 = 9, SDATA2, SDATA4, SDATA8 };

#define AUGMENTATION_DATA 'z'

/* Numbers of registers in DWARF (the System V ABI's x86-64 supplement, the ABI of aarch64). */
#ifdef __aarch64__
#define DWARF_RA       30u
#define RA_IS_REGISTER true
static const uint8_t dwarf_numbers[FRAME_NR_REGISTERS] = {31, 29, 0xff, DWARF_RA, 0xff, 0xff};
#else
#define DWARF_RA       16u
#define RA_IS_REGISTER false
static const uint8_t dwarf_numbers[FRAME_NR_REGISTERS] = {7, 6, 3, DWARF_RA, 10, 13};
#endif

/* Bytes of the process that are read one after the other. */
struct cursor {
	frame_reader read;
	uint64_t at, end;
	bool is_bad; /* ran out of bytes, or they are unreadable: all that is read is 0 */
};

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* addresses in FDEs have it */
	bool has_data, is_signal;
	struct cursor program;
};

/* The rules at an address: how to find the CFA, and where the registers up to FRAME_RA are. */
struct row {
	struct frame_place cfa, saved[FRAME_RA + 1];
};

struct machine {
	const struct cie *cie;
	struct cursor code;
	uint64_t at, pc;
	struct row now, first; /* first: after the CIE alone */
	struct row remembered[MAX_REMEMBERED];
	uint32_t nr_remembered;
};

/* ---- bytes ---- */

static uint64_t take(struct cursor *cursor, uint32_t nr_bytes)
{
	uint64_t value = 0;

	if (cursor->is_bad || cursor->end - cursor->at < nr_bytes ||
		!cursor->read(&value, cursor->at, nr_bytes)) {
		cursor->is_bad = true;
		return 0;
	}
	cursor->at += nr_bytes;
	return value;
}

static int64_t take_signed(struct cursor *cursor, uint32_t nr_bytes)
{
	uint32_t nr_above = 64 - 8 * nr_bytes;

	return (int64_t)(take(cursor, nr_bytes) << nr_above) >> nr_above;
}

static uint64_t take_leb(struct cursor *cursor, bool is_signed)
{
	uint64_t value = 0, byte;
	uint32_t shift = 0;

	do {
		byte = take(cursor, 1);
		value |= shift < 64 ? (byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64) {
		value |= UINT64_MAX << shift;
	}
	return value;
}

static uint64_t take_uleb(struct cursor *cursor)
{
	return take_leb(cursor, false);
}

static int64_t take_sleb(struct cursor *cursor)
{
	return (int64_t)take_leb(cursor, true);
}

static void skip(struct cursor *cursor, uint64_t nr_bytes)
{
	if (cursor->end - cursor->at < nr_bytes) {
		cursor->is_bad = true;
	} else {
		cursor->at += nr_bytes;
	}
}

static uint64_t take_pointer(struct cursor *cursor, uint8_t encoding)
{
	uint64_t from = cursor->at, value = 0;

	switch (encoding & 0x0f) {
	case POINTER:
	case UDATA8:
	case SDATA8:
		value = take(cursor, 8);
		break;
	case UDATA4:
		value = take(cursor, 4);
		break;
	case UDATA2:
		value = take(cursor, 2);
		break;
	case SDATA4:
		value = (uint64_t)take_signed(cursor, 4);
		break;
	case SDATA2:
		value = (uint64_t)take_signed(cursor, 2);
		break;
	case ULEB128:
		value = take_uleb(cursor);
		break;
	case SLEB128:
		value = (uint64_t)take_sleb(cursor);
		break;
	default:
		cursor->is_bad = true;
		break;
	}
	if ((encoding & 0xf0) == RELATIVE_TO_PC) {
		value += from;
	} else if ((encoding & 0xf0) != ABSOLUTE) {
		cursor->is_bad = true; /* indirect, or relative to what nobody uses */
	}
	return value;
}

/* ---- descriptions ---- */

/* The content of a CIE or FDE; bad where there is none, or in the form of 4 GB and more. */
static struct cursor open_entry(uint64_t at, frame_reader read)
{
	struct cursor cursor = {.read = read, .at = at, .end = at + 4};
	uint64_t nr_bytes = take(&cursor, 4);

	cursor.end = cursor.at + nr_bytes;
	cursor.is_bad |= nr_bytes < 4 || nr_bytes > FRAME_RULES_MAX_BYTES;
	return cursor;
}

/* One of "zR", "zPLR", "zRS" ...: each letter says what the data have. */
static void take_augmentation(struct cursor *cursor, struct cie *cie, const char *letters)
{
	for (; *letters && !cursor->is_bad; letters++) {
		switch (*letters) {
		case 'R':
			cie->encoding = (uint8_t)take(cursor, 1);
			break;
		case 'P':
			/* Where the function of C++ is does not matter: only its length. */
			take_pointer(cursor, (uint8_t)(take(cursor, 1) & 0x0f));
			break;
		case 'L':
			skip(cursor, 1);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* the second key signs return addresses */
		case 'G': /* memory tags */
			break;
		default:
			cursor->is_bad = true;
			break;
		}
	}
}

static bool read_cie(struct cie *cie, uint64_t at, frame_reader read)
{
	struct cursor cursor = open_entry(at, read);
	char letters[MAX_AUGMENTATION] = "";
	uint64_t id = take(&cursor, 4), version = take(&cursor, 1), data_end;

	for (uint32_t i = 0; i == 0 || letters[i - 1]; i++) {
		if (i == MAX_AUGMENTATION) {
			return false;
		}
		letters[i] = (char)take(&cursor, 1);
	}
	*cie = (struct cie){.code_align = take_uleb(&cursor), .encoding = ABSOLUTE | POINTER};
	cie->data_align = take_sleb(&cursor);
	if (id || (version != 1 && version != 3) ||
		(version == 1 ? take(&cursor, 1) : take_uleb(&cursor)) != DWARF_RA) {
		return false;
	}
	if (letters[0] == AUGMENTATION_DATA) {
		cie->has_data = true;
		data_end = take_uleb(&cursor);
		data_end += cursor.at;
		take_augmentation(&cursor, cie, letters + 1);
		cursor.is_bad |= data_end < cursor.at || data_end > cursor.end;
		cursor.at = data_end;
	} else if (letters[0]) {
		return false;
	}
	cie->program = cursor;
	return !cursor.is_bad;
}

/* Returns the address of the FDE that the table has for `pc`, 0 if it has none. */
static uint64_t find_fde(uint64_t header, uint64_t nr_header_bytes, uint64_t pc, frame_reader read)
{
	static const uint8_t usual[] = {
		1, RELATIVE_TO_PC | SDATA4, UDATA4, RELATIVE_TO_HEADER | SDATA4};
	struct {
		uint8_t encodings[sizeof(usual)];
		int32_t eh_frame;
		uint32_t nr_entries;
	} head;
	struct {
		int32_t begin, fde;
	} entry = {0};
	uint64_t low = 0, high;

	if (nr_header_bytes < HEADER_BYTES || !read(&head, header, HEADER_BYTES) ||
		memcmp(head.encodings, usual, sizeof(usual)) != 0) {
		return 0;
	}
	high = (nr_header_bytes - HEADER_BYTES) / ENTRY_BYTES;
	high = head.nr_entries < high ? head.nr_entries : high;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!read(&entry, header + HEADER_BYTES + middle * ENTRY_BYTES, ENTRY_BYTES)) {
			return 0;
		}
		if (header + (uint64_t)(int64_t)entry.begin <= pc) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (!low || !read(&entry, header + HEADER_BYTES + (low - 1) * ENTRY_BYTES, ENTRY_BYTES)) {
		return 0;
	}
	return header + (uint64_t)(int64_t)entry.fde;
}

/* ---- expressions ---- */

/* A number, or a register plus a number; is_memory: the word that lies at that address. */
struct value {
	bool has_register, is_memory;
	uint8_t reg;
	uint64_t number;
};

static uint8_t register_of(uint64_t dwarf_number)
{
	for (uint8_t i = 0; i < FRAME_NR_REGISTERS; i++) {
		if (dwarf_numbers[i] == dwarf_number) {
			return i;
		}
	}
	return FRAME_NR_REGISTERS;
}

enum {
	OP_DEREF = 0x06,
	OP_AND = 0x1a,
	OP_PLUS = 0x22,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
};

/* Applies `op` to two numbers; only a sum may have a register, on its left side. */
static bool combine(uint8_t op, struct value *left, const struct value *right)
{
	if (left->is_memory || right->is_memory || right->has_register ||
		(left->has_register && op != OP_PLUS)) {
		return false;
	}
	switch (op) {
	case OP_PLUS:
		left->number += right->number;
		return true;
	case OP_AND:
		left->number &= right->number;
		return true;
	case OP_SHL:
		left->number = right->number < 64 ? left->number << right->number : 0;
		return true;
	case OP_GE:
		left->number = (int64_t)left->number >= (int64_t)right->number;
		return true;
	default:
		return false;
	}
}

/* x86-64 has a register for the instruction's address, whose value is known: `pc`. */
static bool push_register(struct value *value, uint64_t number, int64_t offset, uint64_t pc)
{
	uint8_t reg = register_of(number);

	*value = (struct value){.has_register = true, .reg = reg, .number = (uint64_t)offset};
	if (number == DWARF_RA && !RA_IS_REGISTER) {
		*value = (struct value){.number = pc + (uint64_t)offset};
	}
	return reg < FRAME_NR_REGISTERS;
}

/*
 * Compilers and linkers write few of them: a register and an offset, memory there (aligned frames,
 * signals), and in the PLT an offset that depends on the address. Others are unknown.
 */
static struct value evaluate(struct cursor *code, uint64_t pc)
{
	static const struct value unknown = {.has_register = true, .reg = FRAME_NR_REGISTERS};
	uint64_t nr_bytes = take_uleb(code);
	struct value values[MAX_OPERANDS] = {{0}};
	struct cursor rest = *code;
	uint32_t nr = 0;
	bool is_known = true;

	skip(code, nr_bytes);
	rest.end = code->at;
	while (is_known && !code->is_bad && !rest.is_bad && rest.at < rest.end) {
		uint8_t op = (uint8_t)take(&rest, 1);

		if (op >= OP_LIT0 && op <= OP_LIT31 && nr < MAX_OPERANDS) {
			values[nr++] = (struct value){.number = op - OP_LIT0};
		} else if (op >= OP_BREG0 && op <= OP_BREG31 && nr < MAX_OPERANDS) {
			is_known =
				push_register(&values[nr++], op - OP_BREG0, take_sleb(&rest), pc);
		} else if (op == OP_DEREF && nr) {
			is_known = values[nr - 1].has_register && !values[nr - 1].is_memory;
			values[nr - 1].is_memory = true;
		} else if (nr >= 2) {
			nr--;
			is_known = combine(op, &values[nr - 1], &values[nr]);
		} else {
			is_known = false;
		}
	}
	return is_known && nr == 1 && !rest.is_bad ? values[0] : unknown;
}

/* ---- programs ---- */

static bool fits(int64_t offset)
{
	return offset >= INT32_MIN && offset <= INT32_MAX;
}

/* Keeps the offset also of a register that nobody follows, whose number is FRAME_NR_REGISTERS. */
static struct frame_place make_place(
	struct machine *machine, uint8_t kind, uint8_t reg, int64_t offset)
{
	machine->code.is_bad |= !fits(offset);
	return (struct frame_place){kind, reg, (int32_t)offset};
}

static void set_cfa(struct machine *machine, uint64_t dwarf_number, int64_t offset)
{
	machine->now.cfa = make_place(machine, FRAME_IS, register_of(dwarf_number), offset);
}

static void set_saved(struct machine *machine, uint64_t dwarf_number, struct frame_place place)
{
	uint8_t reg = register_of(dwarf_number);

	if (reg <= FRAME_RA) {
		machine->now.saved[reg] = place;
	}
}

static void set_offset(struct machine *machine, uint64_t dwarf_number, int64_t factor)
{
	int64_t offset;

	if (__builtin_mul_overflow(factor, machine->cie->data_align, &offset)) {
		machine->code.is_bad = true;
		return;
	}
	set_saved(machine, dwarf_number, make_place(machine, FRAME_AT_CFA, 0, offset));
}

static void set_kind(struct machine *machine, uint64_t dwarf_number, uint8_t kind)
{
	set_saved(machine, dwarf_number, (struct frame_place){.kind = kind});
}

static void restore(struct machine *machine, uint64_t dwarf_number)
{
	uint8_t reg = register_of(dwarf_number);

	if (reg <= FRAME_RA) {
		machine->now.saved[reg] = machine->first.saved[reg];
	}
}

/* Changes the offset of a register; a CFA that an expression has set has none. */
static void set_cfa_offset(struct machine *machine, int64_t offset)
{
	struct frame_place *cfa = &machine->now.cfa;

	machine->code.is_bad |= cfa->kind != FRAME_IS;
	*cfa = make_place(machine, FRAME_IS, cfa->reg, offset);
}

static void advance(struct machine *machine, uint64_t delta)
{
	machine->at += delta * machine->cie->code_align;
}

static int64_t scaled(struct machine *machine, int64_t factor)
{
	int64_t offset = 0;

	machine->code.is_bad |= __builtin_mul_overflow(factor, machine->cie->data_align, &offset);
	return offset;
}

static void remember(struct machine *machine)
{
	if (machine->nr_remembered == MAX_REMEMBERED) {
		machine->code.is_bad = true;
	} else {
		machine->remembered[machine->nr_remembered++] = machine->now;
	}
}

static void recall(struct machine *machine)
{
	if (machine->nr_remembered) {
		machine->now = machine->remembered[--machine->nr_remembered];
	} else {
		machine->code.is_bad = true;
	}
}

static void set_cfa_expression(struct machine *machine)
{
	struct value value = evaluate(&machine->code, machine->pc);
	uint8_t reg = value.has_register ? value.reg : FRAME_NR_REGISTERS;

	machine->now.cfa = make_place(
		machine, value.is_memory ? FRAME_AT : FRAME_IS, reg, (int64_t)value.number);
}

/* The expression is the address at which the register is. */
static void set_expression(struct machine *machine, uint64_t dwarf_number)
{
	struct value value = evaluate(&machine->code, machine->pc);
	bool is_place = value.has_register && !value.is_memory;

	set_saved(machine, dwarf_number,
		make_place(machine, FRAME_AT, is_place ? value.reg : FRAME_NR_REGISTERS,
			(int64_t)value.number));
}

enum {
	CFA_NOP,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_NEGATE_RA_STATE = 0x2d, /* aarch64 signs the address from here on, or no longer does */
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	CFA_ADVANCE_LOC = 0x40, /* these three have an operand in their low bits */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
};

/* Changes the CFA. */
static void run_cfa(struct machine *machine, uint8_t op)
{
	struct cursor *code = &machine->code;
	uint64_t reg = op == CFA_DEF_CFA || op == CFA_DEF_CFA_SF ? take_uleb(code) : 0;

	switch (op) {
	case CFA_DEF_CFA:
		set_cfa(machine, reg, (int64_t)take_uleb(code));
		break;
	case CFA_DEF_CFA_SF:
		set_cfa(machine, reg, scaled(machine, take_sleb(code)));
		break;
	case CFA_DEF_CFA_REGISTER:
		set_cfa(machine, take_uleb(code), machine->now.cfa.offset);
		break;
	case CFA_DEF_CFA_OFFSET:
		set_cfa_offset(machine, (int64_t)take_uleb(code));
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(machine, scaled(machine, take_sleb(code)));
		break;
	default:
		set_cfa_expression(machine);
		break;
	}
}

/* Changes where a register is. */
static void run_register(struct machine *machine, uint8_t op)
{
	struct cursor *code = &machine->code;
	uint64_t reg = take_uleb(code);

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_offset(machine, reg, (int64_t)take_uleb(code));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		set_offset(machine, reg, take_sleb(code));
		break;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_offset(machine, reg, (int64_t)(0 - take_uleb(code)));
		break;
	case CFA_RESTORE_EXTENDED:
		restore(machine, reg);
		break;
	case CFA_SAME_VALUE:
		set_kind(machine, reg, FRAME_KEPT);
		break;
	case CFA_EXPRESSION:
		set_expression(machine, reg);
		break;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		take_uleb(code); /* as long if it is signed */
		set_kind(machine, reg, FRAME_UNKNOWN);
		break;
	case CFA_VAL_EXPRESSION:
		skip(code, take_uleb(code));
		set_kind(machine, reg, FRAME_UNKNOWN);
		break;
	case CFA_UNDEFINED:
		set_kind(machine, reg, FRAME_UNKNOWN);
		break;
	default:
		code->is_bad = true;
		break;
	}
}

static void run_instruction(struct machine *machine)
{
	struct cursor *code = &machine->code;
	uint8_t op = (uint8_t)take(code, 1), operand = op & 0x3f;

	switch (op & 0xc0 ? op & 0xc0 : op) {
	case CFA_ADVANCE_LOC:
		advance(machine, operand);
		break;
	case CFA_OFFSET:
		set_offset(machine, operand, (int64_t)take_uleb(code));
		break;
	case CFA_RESTORE:
		restore(machine, operand);
		break;
	case CFA_NOP:
	case CFA_NEGATE_RA_STATE:
		break;
	case CFA_SET_LOC:
		machine->at = take_pointer(code, machine->cie->encoding);
		break;
	case CFA_ADVANCE_LOC1:
		advance(machine, take(code, 1));
		break;
	case CFA_ADVANCE_LOC2:
		advance(machine, take(code, 2));
		break;
	case CFA_ADVANCE_LOC4:
		advance(machine, take(code, 4));
		break;
	case CFA_REMEMBER_STATE:
		remember(machine);
		break;
	case CFA_RESTORE_STATE:
		recall(machine);
		break;
	case CFA_GNU_ARGS_SIZE:
		take_uleb(code);
		break;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_EXPRESSION:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_OFFSET_SF:
		run_cfa(machine, op);
		break;
	default:
		run_register(machine, op);
		break;
	}
}

/* Runs instructions up to the address. Each takes a byte at least, so the loop ends. */
static bool run(struct machine *machine, const struct cursor *program)
{
	machine->code = *program;
	while (machine->at <= machine->pc && machine->code.at < machine->code.end) {
		run_instruction(machine);
		if (machine->code.is_bad) {
			return false;
		}
	}
	return true;
}

/* The caller's stack pointer is the CFA. Of an interrupted function it lies where the CFA does. */
static bool is_sp_cfa(const struct row *row)
{
	const struct frame_place *sp = &row->saved[FRAME_SP], *cfa = &row->cfa;

	return sp->kind == FRAME_KEPT || (sp->kind == FRAME_AT && cfa->kind == FRAME_AT &&
						 sp->reg == cfa->reg && sp->offset == cfa->offset);
}

static bool find_row(const struct cie *cie, const struct cursor *program, uint64_t begin,
	uint64_t pc, struct row *row)
{
	struct machine machine = {.cie = cie, .at = begin, .pc = pc};

	for (uint32_t i = 0; i < FRAME_RA; i++) {
		machine.now.saved[i].kind = FRAME_KEPT;
	}
	machine.now.saved[FRAME_RA].kind = RA_IS_REGISTER ? FRAME_KEPT : FRAME_UNKNOWN;
	if (!run(&machine, &cie->program)) {
		return false;
	}
	machine.first = machine.now;
	machine.at = begin;
	if (!run(&machine, program)) {
		return false;
	}
	*row = machine.now;
	return is_sp_cfa(row);
}

static struct frame_place known(struct frame_place place)
{
	return place.reg < FRAME_NR_REGISTERS ? place : (struct frame_place){0};
}

bool frame_rules_find(struct frame_rule *rule, uint64_t header, uint64_t nr_header_bytes,
	uint64_t pc, frame_reader read)
{
	uint64_t at = find_fde(header, nr_header_bytes, pc, read), id_at, id, begin, length,
		 nr_data;
	struct cursor fde;
	struct cie cie;
	struct row row;

	memset(rule, 0, sizeof(*rule));
	if (!at) {
		return false;
	}
	fde = open_entry(at, read);
	id_at = fde.at;
	id = take(&fde, 4);
	if (fde.is_bad || !id || !read_cie(&cie, id_at - id, read)) {
		return true;
	}
	begin = take_pointer(&fde, cie.encoding);
	length = take_pointer(&fde, cie.encoding & 0x0f);
	if (!fde.is_bad && pc - begin >= length) {
		return false; /* between two functions */
	}
	if (cie.has_data) {
		nr_data = take_uleb(&fde);
		skip(&fde, nr_data);
	}
	if (!fde.is_bad && find_row(&cie, &fde, begin, pc, &row)) {
		*rule = (struct frame_rule){.cfa = known(row.cfa),
			.ra = known(row.saved[FRAME_RA]),
			.fp = known(row.saved[FRAME_FP]),
			.bx = known(row.saved[FRAME_BX]),
			.is_signal = cie.is_signal};
	}
	return true;
}
