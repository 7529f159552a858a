/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same few callers stand in most stacks, so their rules are kept by address, until the loader
 * has unloaded something. The descriptions may be unmapped at any time: the kernel copies them, in
 * pieces that are kept as well, as the search of a table and the entries that it finds lie in few
 * of these.
 *
 * A frame's stack pointer follows from the words that led to it. Its other registers are words of
 * the stack, of which only those count that a later step uses: functions keep numbers of their own
 * there that change from call to call.
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

/* The value of a register comes from a place as in struct stack_word, or from NO_SOURCE. */
#define NO_SOURCE UINT32_MAX

/* A frame that is being looked at. */
struct frame {
	uint64_t pc; /* of a caller, the last byte of the call */
	uint64_t registers[FRAME_NR_REGISTERS];
	uint32_t sources[FRAME_NR_REGISTERS];
	bool is_innermost; /* the registers from FRAME_RA on are known */
};

/* A stack that is being followed. */
struct walk {
	const struct stack_copy *copy;
	struct stack_words *words; /* or NULL */
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

/* Notes that the walk depends on a value. */
static void need(const struct walk *walk, uint32_t at, bool is_address, uint64_t value)
{
	struct stack_words *words = walk->words;

	if (!words || at == NO_SOURCE) {
		return;
	}
	if (words->nr == STACK_MAX_WORDS) {
		words->is_whole = false;
		return;
	}
	value = is_address ? value - walk->copy->registers[FRAME_SP] : stack_code_address(value);
	words->all[words->nr++] = (struct stack_word){at, is_address, value};
}

/* Reads a word of the stack; false if it is none of the copy. */
static bool read_word(const struct walk *walk, uint64_t address, uint64_t *word)
{
	const struct stack_copy *copy = walk->copy;
	uint64_t at = address - copy->registers[FRAME_SP]; /* of one below the copy, huge */

	if (at >= copy->nr_bytes || copy->nr_bytes - at < sizeof(*word)) {
		return false;
	}
	memcpy(word, copy->bytes + at, sizeof(*word));
	return true;
}

/* The same for one that the walk depends on. */
static bool use_word(const struct walk *walk, uint64_t address, bool is_address, uint64_t *word)
{
	if (!read_word(walk, address, word)) {
		return false;
	}
	need(walk, (uint32_t)(address - walk->copy->registers[FRAME_SP]), is_address, *word);
	return true;
}

static bool is_known(const struct frame *frame, uint8_t reg)
{
	return frame->is_innermost || reg < FRAME_RA;
}

/* The value of a register by which the walk goes on. */
static uint64_t use_register(const struct walk *walk, struct frame *frame, uint8_t reg)
{
	need(walk, frame->sources[reg], true, frame->registers[reg]);
	frame->sources[reg] = NO_SOURCE; /* once is enough */
	return frame->registers[reg];
}

static bool find_cfa(const struct walk *walk, struct frame *frame, const struct frame_place *place,
	uint64_t *cfa)
{
	if (place->kind == FRAME_UNKNOWN || !is_known(frame, place->reg)) {
		return false;
	}
	*cfa = use_register(walk, frame, place->reg) + (uint64_t)(int64_t)place->offset;
	return place->kind != FRAME_AT || use_word(walk, *cfa, true, cfa);
}

/* Finds the address of the word that has a register of the caller; false if it is in none. */
static bool find_place(const struct walk *walk, struct frame *frame,
	const struct frame_place *place, uint64_t cfa, uint64_t *address)
{
	*address = cfa + (uint64_t)(int64_t)place->offset;
	if (place->kind == FRAME_AT && is_known(frame, place->reg)) {
		*address += use_register(walk, frame, place->reg) - cfa;
		return true;
	}
	return place->kind == FRAME_AT_CFA;
}

static bool find_return(const struct walk *walk, struct frame *frame,
	const struct frame_place *place, uint64_t cfa, uint64_t *ra)
{
	uint64_t address;

	if (place->kind == FRAME_KEPT) {
		*ra = frame->registers[FRAME_RA];
		need(walk, frame->sources[FRAME_RA], false, *ra);
		return is_known(frame, FRAME_RA);
	}
	return find_place(walk, frame, place, cfa, &address) && use_word(walk, address, false, ra);
}

struct found {
	uint64_t value;
	uint32_t source;
};

/* A register of the caller. Where it is unknown, the stack goes on while no caller needs it. */
static struct found find_register(const struct walk *walk, struct frame *frame,
	const struct frame_place *place, enum frame_register reg, uint64_t cfa)
{
	struct found found = {frame->registers[reg], frame->sources[reg]};
	uint64_t address;

	if (place->kind == FRAME_KEPT) {
		return found;
	}
	if (!find_place(walk, frame, place, cfa, &address) ||
		!read_word(walk, address, &found.value)) {
		return (struct found){NOWHERE, NO_SOURCE};
	}
	found.source = (uint32_t)(address - walk->copy->registers[FRAME_SP]);
	return found;
}

static void set_register(struct frame *frame, enum frame_register reg, struct found found)
{
	frame->registers[reg] = found.value;
	frame->sources[reg] = found.source;
}

/* ENDS: the outermost frame has no caller. UNKNOWN: it is not described, or not in the copy. */
enum step { STEP_ON, STEP_ENDS, STEP_UNKNOWN };

/*
 * A frame takes room, but for one that keeps its caller's address in a register. Where a handler
 * of signals has a stack of its own, the interrupted one is none of the copy.
 */
static enum step step_by_rule(
	const struct walk *walk, struct frame *frame, const struct frame_rule *rule)
{
	uint64_t cfa, ra, least = frame->registers[FRAME_SP] + !frame->is_innermost;
	struct found fp, bx;

	if (!find_cfa(walk, frame, &rule->cfa, &cfa) || cfa < least) {
		return STEP_UNKNOWN;
	}
	if (rule->ra.kind == FRAME_UNKNOWN) {
		return STEP_ENDS;
	}
	if (!find_return(walk, frame, &rule->ra, cfa, &ra)) {
		return STEP_UNKNOWN;
	}
	fp = find_register(walk, frame, &rule->fp, FRAME_FP, cfa);
	bx = find_register(walk, frame, &rule->bx, FRAME_BX, cfa);
	ra = stack_code_address(ra);
	frame->pc = rule->is_signal ? ra : ra - 1;
	frame->registers[FRAME_SP] = cfa;
	set_register(frame, FRAME_FP, fp);
	set_register(frame, FRAME_BX, bx);
	return ra ? STEP_ON : STEP_ENDS;
}

/* A frame pointer points at the caller's, beside which is the return address; the outermost is 0.
 */
static enum step step_by_pointer(const struct walk *walk, struct frame *frame)
{
	uint64_t fp = use_register(walk, frame, FRAME_FP), ra;
	struct found caller_fp = {.source = (uint32_t)(fp - walk->copy->registers[FRAME_SP])};

	if (!fp && !frame->is_innermost) {
		return STEP_ENDS;
	}
	if (fp % sizeof(fp) != 0 || fp < frame->registers[FRAME_SP] ||
		!read_word(walk, fp, &caller_fp.value) ||
		!use_word(walk, fp + sizeof(fp), false, &ra)) {
		return STEP_UNKNOWN;
	}
	ra = stack_code_address(ra);
	frame->pc = ra - 1;
	frame->registers[FRAME_SP] = fp + 2 * sizeof(fp);
	set_register(frame, FRAME_FP, caller_fp);
	return ra ? STEP_ON : STEP_ENDS;
}

static void begin(struct frame *frame, const struct stack_copy *copy)
{
	*frame = (struct frame){.pc = copy->pc, .is_innermost = true};
	memcpy(frame->registers, copy->registers, sizeof(frame->registers));
	for (uint32_t reg = 0; reg < FRAME_NR_REGISTERS; reg++) {
		frame->sources[reg] = STACK_WORD_REGISTER + reg;
	}
	frame->sources[FRAME_SP] = NO_SOURCE;
}

uint32_t stack_walk(const struct stack_copy *copy, uint64_t *addresses, uint32_t most, bool *is_cut,
	struct stack_words *words)
{
	const struct walk walk = {copy, words};
	struct frame frame;
	enum step step = STEP_ON;
	uint32_t nr = 0;

	begin(&frame, copy);
	if (words) {
		words->nr = 0;
		words->is_whole = true;
	}
	forget_if_old();
	while (step == STEP_ON && nr < most) {
		bool is_code;
		const struct frame_rule *rule = find_rule(frame.pc, &is_code);

		if (!is_code && nr) {
			step = STEP_UNKNOWN; /* it went astray */
			break;
		}
		addresses[nr++] = frame.pc;
		step = rule ? step_by_rule(&walk, &frame, rule) : step_by_pointer(&walk, &frame);
		frame.is_innermost = false;
	}
	*is_cut = step != STEP_ENDS;
	return nr;
}
