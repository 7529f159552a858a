/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a stack by call frame information (frame_rules.h), where functions keep no frame
 * pointers: in a copy of its innermost bytes, with the registers of that moment. For the drain
 * thread.
 */
#ifndef COLLECTOR_SAMPLE_STACK_WALK_H
#define COLLECTOR_SAMPLE_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/ring/stack_recipes.h"
#include "collector/sample/frame_rules.h"

_Static_assert(STACK_NR_REGISTERS == FRAME_RA + 1, "numbers of enum frame_register");

struct stack_copy {
	uint64_t pc;
	uint64_t registers[FRAME_NR_REGISTERS];
	const uint8_t *bytes; /* from the stack pointer on */
	uint64_t nr_bytes;
};

/*
 * Does the system let gprof read descriptions of frames, and is there memory for those that it
 * keeps? To be called before the first walk. In a forked child, uses the parent's memory again.
 */
bool stack_walk_init(void);

/*
 * Finds the frames, the innermost first: in callers, the last byte of the call. Returns how many
 * there are, `most` at most. is_cut: they do not lead to the outermost one, as it lies beyond the
 * copy, a frame between is not described, or they are too many. words: NULL if they are not wanted.
 */
uint32_t stack_walk(const struct stack_copy *copy, uint64_t *addresses, uint32_t most, bool *is_cut,
	struct stack_words *words);

/* Releases the memory. */
void stack_walk_fini(void);

/* ---- for the tests ---- */

/* Reads descriptions in that way, where the system lets no process read its own memory. */
void stack_walk_read_by(frame_reader read);

#endif
