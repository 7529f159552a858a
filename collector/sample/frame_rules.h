/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame information: where a function has left its caller's address and registers, which
 * compilers describe in .eh_frame for each instruction, for x86-64 and aarch64. Of the registers
 * only those count that a stack can be followed by. Trusts no byte of it: a wrong rule ends a
 * stack, and each loop is bounded. Pure, but for what `read` does.
 */
#ifndef COLLECTOR_SAMPLE_FRAME_RULES_H
#define COLLECTOR_SAMPLE_FRAME_RULES_H

#include <stdbool.h>
#include <stdint.h>

/* A longer description of one function is not read. */
#define FRAME_RULES_MAX_BYTES 65536u

enum frame_register {
	FRAME_SP, /* rsp; sp */
	FRAME_FP, /* rbp; x29 */
	FRAME_BX, /* rbx, by which the loader and some compilers find their frames */
	FRAME_RA, /* the caller's address: in no register of x86-64; x30 */
	/* Compilers keep in them where the caller of an aligned frame is, at a function's two ends.
	 */
	FRAME_R10,
	FRAME_R13,
	FRAME_NR_REGISTERS,
};

enum frame_place_kind {
	FRAME_UNKNOWN, /* or nowhere: the outermost function has no caller */
	FRAME_KEPT,    /* still in its register */
	FRAME_AT_CFA,  /* in memory, at that offset from the canonical frame address */
	FRAME_AT,      /* at that offset from a register */
	FRAME_IS,      /* the CFA is a register plus the offset */
};

struct frame_place {
	uint8_t kind, reg;
	int32_t offset;
};

/*
 * How to get from a frame to its caller's. The CFA, that address of the frame that the function
 * keeps, is the caller's stack pointer: a register and an offset (FRAME_IS) or in memory there
 * (FRAME_AT).
 */
struct frame_rule {
	struct frame_place cfa, ra, fp, bx;
	bool is_signal; /* the caller was interrupted: its address is no return address */
};

/* Copies memory of the process; false where it is unreadable. */
typedef bool (*frame_reader)(void *to, uint64_t from, uint32_t nr_bytes);

/*
 * The rule at an instruction of an object whose .eh_frame_hdr has these bytes. Returns false if
 * the object says nothing of the instruction. If it says what is not understood, the CFA is
 * unknown.
 */
bool frame_rules_find(struct frame_rule *rule, uint64_t header, uint64_t nr_header_bytes,
	uint64_t pc, frame_reader read);

#endif
