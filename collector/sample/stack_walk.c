/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same few callers stand in most stacks, so their rules are kept by address, until the loader
 * has unloaded something. The descriptions may be unmapped at any time: the kernel copies them, in
 * pieces that are kept as well, as the search of a table and the entries that it finds lie in few
 * of these.
 *
 * Code without a description (of a just-in-time compiler, or written by hand) has perhaps a frame
 * pointer, which counts if it points into the copy.
 */
#include "collector/sample/stack_walk.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/ring/safe_read.h"
#include "collector/sample/code_map.h"
#include "collector/util/memory.h"

#define NR_RULES    4096u
#define NR_PIECES   64u
#define PIECE_BYTES 4096u
#define NO_PIECE    UINT64_MAX
/* The hash of an address: its upper bits, times 2^64 divided by the golden ratio. */
#define HASH_FACTOR 0x9e3779b97f4a7c15u

struct known_rule {
	uint64_t pc; /* 0: none */
	bool is_described;
	struct frame_rule rule;
};

struct piece {
	uint64_t address;
	uint8_t bytes[PIECE_BYTES];
};

static struct stack_walk_state {
	struct stack_walk_memory {
		struct known_rule rules[NR_RULES];
		struct piece pieces[NR_PIECES];
	} * memory;
	uint32_t era; /* code_map_era() of what it has, 0: nothing */
	frame_reader read;
} state;

/* A register that is unknown, but not 0, which ends a chain of frame pointers: it points nowhere.
 */
#define NOWHERE 1u

/* A frame that is being looked at. */
struct frame {
	uint64_t pc; /* of a caller, the last byte of the call */
	uint64_t registers[FRAME_NR_REGISTERS];
	bool is_innermost; /* the registers from FRAME_RA on are known */
};

bool stack_walk_init(void)
{
	if (!state.memory) {
		state.memory = memory_map(sizeof(*state.memory));
	}
	state.read = safe_read;
	return state.memory && safe_read_works();
}

void stack_walk_read_by(frame_reader read)
{
	state.read = read;
}

void stack_walk_fini(void)
{
	struct stack_walk_memory *memory = state.memory;

	memset(&state, 0, sizeof(state));
	if (memory) {
		munmap(memory, sizeof(*memory));
	}
}

static void forget_if_old(void)
{
	if (state.era == code_map_era()) {
		return;
	}
	for (uint32_t i = 0; i < NR_RULES; i++) {
		state.memory->rules[i].pc = 0;
	}
	for (uint32_t i = 0; i < NR_PIECES; i++) {
		state.memory->pieces[i].address = NO_PIECE;
	}
	state.era = code_map_era();
}

/* ---- descriptions ---- */

static const uint8_t *find_piece(uint64_t address)
{
	struct piece *piece = &state.memory->pieces[address / PIECE_BYTES % NR_PIECES];

	if (piece->address != address) {
		piece->address = NO_PIECE;
		if (!state.read(piece->bytes, address, PIECE_BYTES)) {
			return NULL;
		}
		piece->address = address;
	}
	return piece->bytes;
}

static bool read_described(void *to, uint64_t from, uint32_t nr_bytes)
{
	while (nr_bytes) {
		uint32_t at = (uint32_t)(from % PIECE_BYTES), nr = PIECE_BYTES - at;
		const uint8_t *bytes = find_piece(from - at);

		if (!bytes) {
			return false;
		}
		nr = nr < nr_bytes ? nr : nr_bytes;
		memcpy(to, bytes + at, nr);
		to = (char *)to + nr;
		from += nr;
		nr_bytes -= nr;
	}
	return true;
}

/* NULL: there is no code, or it is not described. */
static const struct frame_rule *find_rule(uint64_t pc, bool *is_code)
{
	struct known_rule *known =
		&state.memory->rules[pc * HASH_FACTOR / (UINT64_MAX / NR_RULES + 1)];
	struct code_frames frames;

	*is_code = true;
	if (known->pc != pc || !pc) {
		*is_code = code_map_frames(pc, &frames);
		if (!frames.nr_bytes) {
			return NULL; /* perhaps an object that is not known yet */
		}
		known->pc = pc;
		known->is_described = frame_rules_find(
			&known->rule, frames.header, frames.nr_bytes, pc, read_described);
	}
	return known->is_described ? &known->rule : NULL;
}

/* ---- frames ---- */

/* Reads a word of the stack; false if it is none of the copy. */
static bool read_word(const struct stack_copy *copy, uint64_t address, uint64_t *word)
{
	uint64_t at = address - copy->registers[FRAME_SP]; /* of one below the copy, huge */

	if (at >= copy->nr_bytes || copy->nr_bytes - at < sizeof(*word)) {
		return false;
	}
	memcpy(word, copy->bytes + at, sizeof(*word));
	return true;
}

static bool is_known(const struct frame *frame, uint8_t reg)
{
	return frame->is_innermost || reg < FRAME_RA;
}

/* A signature of a return address (of pointer authentication) is in its upper bits. */
static uint64_t plain_address(uint64_t address)
{
#ifdef __aarch64__
	return address & 0xffffffffffffu;
#else
	return address;
#endif
}

static bool find_cfa(const struct stack_copy *copy, const struct frame *frame,
	const struct frame_place *place, uint64_t *cfa)
{
	if (place->kind == FRAME_UNKNOWN || !is_known(frame, place->reg)) {
		return false;
	}
	*cfa = frame->registers[place->reg] + (uint64_t)(int64_t)place->offset;
	return place->kind != FRAME_AT || read_word(copy, *cfa, cfa);
}

/* Finds what the caller has in register `reg`. */
static bool find_value(const struct stack_copy *copy, const struct frame *frame,
	const struct frame_place *place, enum frame_register reg, uint64_t cfa, uint64_t *value)
{
	uint64_t offset = (uint64_t)(int64_t)place->offset;

	switch (place->kind) {
	case FRAME_KEPT:
		*value = frame->registers[reg];
		return is_known(frame, (uint8_t)reg);
	case FRAME_AT:
		return is_known(frame, place->reg) &&
		       read_word(copy, frame->registers[place->reg] + offset, value);
	case FRAME_AT_CFA:
		return read_word(copy, cfa + offset, value);
	default:
		return false;
	}
}

/* ENDS: the outermost frame has no caller. UNKNOWN: it is not described, or not in the copy. */
enum step { STEP_ON, STEP_ENDS, STEP_UNKNOWN };

/*
 * A frame takes room, but for one that keeps its caller's address in a register. Where a handler
 * of signals has a stack of its own, the interrupted one is none of the copy.
 */
static enum step step_by_rule(
	const struct stack_copy *copy, struct frame *frame, const struct frame_rule *rule)
{
	uint64_t cfa, ra, fp, bx, least = frame->registers[FRAME_SP] + !frame->is_innermost;

	if (!find_cfa(copy, frame, &rule->cfa, &cfa) || cfa < least) {
		return STEP_UNKNOWN;
	}
	if (rule->ra.kind == FRAME_UNKNOWN) {
		return STEP_ENDS;
	}
	if (!find_value(copy, frame, &rule->ra, FRAME_RA, cfa, &ra)) {
		return STEP_UNKNOWN;
	}
	/* Without these the stack goes on as long as no caller needs them. */
	if (!find_value(copy, frame, &rule->fp, FRAME_FP, cfa, &fp)) {
		fp = NOWHERE;
	}
	if (!find_value(copy, frame, &rule->bx, FRAME_BX, cfa, &bx)) {
		bx = NOWHERE;
	}
	ra = plain_address(ra);
	frame->pc = rule->is_signal ? ra : ra - 1;
	frame->registers[FRAME_SP] = cfa;
	frame->registers[FRAME_FP] = fp;
	frame->registers[FRAME_BX] = bx;
	return ra ? STEP_ON : STEP_ENDS;
}

/* A frame pointer points at the caller's, beside which is the return address; the outermost is 0.
 */
static enum step step_by_pointer(const struct stack_copy *copy, struct frame *frame)
{
	uint64_t fp = frame->registers[FRAME_FP], caller_fp, ra;

	if (!fp && !frame->is_innermost) {
		return STEP_ENDS;
	}
	if (fp % sizeof(fp) != 0 || fp < frame->registers[FRAME_SP] ||
		!read_word(copy, fp, &caller_fp) || !read_word(copy, fp + sizeof(fp), &ra)) {
		return STEP_UNKNOWN;
	}
	ra = plain_address(ra);
	frame->pc = ra - 1;
	frame->registers[FRAME_SP] = fp + 2 * sizeof(fp);
	frame->registers[FRAME_FP] = caller_fp;
	return ra ? STEP_ON : STEP_ENDS;
}

uint32_t stack_walk(const struct stack_copy *copy, uint64_t *addresses, uint32_t most, bool *is_cut)
{
	struct frame frame = {.pc = copy->pc, .is_innermost = true};
	enum step step = STEP_ON;
	uint32_t nr = 0;

	memcpy(frame.registers, copy->registers, sizeof(frame.registers));
	forget_if_old();
	while (step == STEP_ON && nr < most) {
		bool is_code;
		const struct frame_rule *rule = find_rule(frame.pc, &is_code);

		if (!is_code && nr) {
			step = STEP_UNKNOWN; /* it went astray */
			break;
		}
		addresses[nr++] = frame.pc;
		step = rule ? step_by_rule(copy, &frame, rule) : step_by_pointer(copy, &frame);
		frame.is_innermost = false;
	}
	*is_cut = step != STEP_ENDS;
	return nr;
}
