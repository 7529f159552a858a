/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sample/frame_rules.h"

#include <string.h>

#include "test/unit/unit.h"

/* Numbers of registers in DWARF. */
#ifdef __aarch64__
enum { FP = 29, RA = 30, SP = 31, OTHER = 19 };
#else
enum { FP = 6, RA = 16, SP = 7, OTHER = 12 };
#endif

/* An object's bytes at an address: the head of .eh_frame_hdr, a CIE, and an FDE. */
#define AT	  0x400000u
#define EH_FRAME  0x100u
#define CODE	  (AT + 0x1000u)
#define NR_CODE	  100u
#define IMAGE_END 0x400u

static uint8_t image[IMAGE_END];
static uint32_t nr_bytes;

static bool read_image(void *to, uint64_t from, uint32_t nr)
{
	if (from < AT || from - AT > sizeof(image) || sizeof(image) - (from - AT) < nr) {
		return false;
	}
	memcpy(to, image + (from - AT), nr);
	return true;
}

static void put(const void *bytes, uint32_t nr)
{
	ck_assert_uint_le(nr_bytes + nr, sizeof(image));
	memcpy(image + nr_bytes, bytes, nr);
	nr_bytes += nr;
}

static void put_number(uint32_t number)
{
	put(&number, sizeof(number));
}

/* Begins a CIE or FDE; returns where its length belongs. */
static uint32_t begin_entry(void)
{
	put_number(0);
	return nr_bytes - 4;
}

static void end_entry(uint32_t at)
{
	uint32_t length;

	while (nr_bytes % 4) {
		put("", 1); /* nothing to do */
	}
	length = nr_bytes - at - 4;
	memcpy(image + at, &length, sizeof(length));
}

struct program {
	const uint8_t *bytes;
	uint32_t nr;
};

#define PROGRAM(...) \
	((struct program){(const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})})

/* At its first instruction a function's CFA is sp + 16, at -8 from which is its caller's address.
 */
static const uint8_t first[] = {0x0c, SP, 16, 0x80 | RA, 1};

static void make(const char *augmentation, struct program program)
{
	static const uint8_t encodings[] = {1, 0x1b, 0x03, 0x3b};
	uint32_t cie, fde, length;

	memset(image, 0, sizeof(image));
	nr_bytes = EH_FRAME;
	cie = begin_entry();
	put_number(0);
	put("\1", 1);
	put(augmentation, (uint32_t)strlen(augmentation) + 1);
	put((const uint8_t[]){1, 0x78, RA}, 3); /* factors 1 and -8 */
	put((const uint8_t[]){1, 0x1b}, 2);	/* addresses relative to themselves, of 4 bytes */
	put(first, sizeof(first));
	end_entry(cie);
	fde = begin_entry();
	put_number(nr_bytes - cie);
	put_number(CODE - (AT + nr_bytes));
	put_number(NR_CODE);
	put("", 1); /* no more data */
	put(program.bytes, program.nr);
	end_entry(fde);
	put_number(0);
	length = nr_bytes;
	nr_bytes = 0;
	put(encodings, sizeof(encodings));
	put_number(EH_FRAME - 4);
	put_number(1);
	put_number(CODE - AT);
	put_number(fde);
	nr_bytes = length;
}

static bool find(struct frame_rule *rule, uint64_t pc)
{
	return frame_rules_find(rule, AT, 20, pc, read_image);
}

static struct frame_rule rule_at(uint64_t at)
{
	struct frame_rule rule;

	ck_assert(find(&rule, CODE + at));
	return rule;
}

static void check_place(struct frame_place have, uint8_t kind, uint8_t reg, int32_t offset)
{
	ck_assert_uint_eq(have.kind, kind);
	if (kind == FRAME_AT || kind == FRAME_IS) {
		ck_assert_uint_eq(have.reg, reg);
	}
	if (kind != FRAME_KEPT && kind != FRAME_UNKNOWN) {
		ck_assert_int_eq(have.offset, offset);
	}
}

START_TEST(rules_change_from_instruction_to_instruction)
{
	struct frame_rule rule;

	make("zR",
		PROGRAM(0x41, 0x0e, 32, 0x80 | FP, 2, 0x02, 3, 0x0d, FP, 0x03, 10, 0, 0x0c, SP, 8));
	rule = rule_at(0);
	check_place(rule.cfa, FRAME_IS, FRAME_SP, 16);
	check_place(rule.ra, FRAME_AT_CFA, 0, -8);
	check_place(rule.fp, FRAME_KEPT, 0, 0);
	ck_assert(!rule.is_signal);
	for (uint64_t at = 1; at < 4; at++) {
		rule = rule_at(at);
		check_place(rule.cfa, FRAME_IS, FRAME_SP, 32);
		check_place(rule.fp, FRAME_AT_CFA, 0, -16);
	}
	check_place(rule_at(4).cfa, FRAME_IS, FRAME_FP, 32);
	check_place(rule_at(13).cfa, FRAME_IS, FRAME_FP, 32);
	check_place(rule_at(14).cfa, FRAME_IS, FRAME_SP, 8);
	check_place(rule_at(NR_CODE - 1).cfa, FRAME_IS, FRAME_SP, 8);
}
END_TEST

START_TEST(an_early_return_restores_what_held_before)
{
	make("zR", PROGRAM(0x0a, 0x41, 0x0e, 64, 0x80 | FP, 3, 0x80 | RA, 2, 0x41, 0x0b, 0x41, 0x0e,
			   24, 0x80 | FP, 3, 0x41, 0xc0 | FP, 0x41, 0x07, RA));
	check_place(rule_at(1).cfa, FRAME_IS, FRAME_SP, 64);
	check_place(rule_at(1).ra, FRAME_AT_CFA, 0, -16);
	check_place(rule_at(2).cfa, FRAME_IS, FRAME_SP, 16);
	check_place(rule_at(2).ra, FRAME_AT_CFA, 0, -8);
	check_place(rule_at(2).fp, FRAME_KEPT, 0, 0);
	check_place(rule_at(3).fp, FRAME_AT_CFA, 0, -24);
	check_place(rule_at(4).fp, FRAME_KEPT, 0, 0);
	check_place(rule_at(4).ra, FRAME_AT_CFA, 0, -8);
	check_place(rule_at(5).ra, FRAME_UNKNOWN, 0, 0); /* the outermost */
}
END_TEST

START_TEST(other_registers_change_nothing)
{
	make("zR",
		PROGRAM(0x80 | OTHER, 2, 0x05, 40, 3, 0xc0 | OTHER, 0x08, OTHER, 0x09, OTHER, OTHER,
			0x14, OTHER, 2, 0x16, OTHER, 2, 0x70, 0, 0x2e, 32, 0x2d, 0x41, 0x0e, 48));
	check_place(rule_at(0).cfa, FRAME_IS, FRAME_SP, 16);
	check_place(rule_at(0).ra, FRAME_AT_CFA, 0, -8);
	check_place(rule_at(1).cfa, FRAME_IS, FRAME_SP, 48);
}
END_TEST

/* The caller's stack pointer lies in memory at fp - 16, and the caller's fp at fp itself. */
START_TEST(an_aligned_frame_is_found_by_its_frame_pointer)
{
	struct frame_rule rule;

	make("zR", PROGRAM(0x0f, 3, 0x70 | FP, 0x70, 0x06, 0x10, FP, 2, 0x70 | FP, 0));
#ifndef __aarch64__ /* its frame pointer has a larger number than 15 */
	rule = rule_at(0);
	check_place(rule.cfa, FRAME_AT, FRAME_FP, -16);
	check_place(rule.fp, FRAME_AT, FRAME_FP, 0);
	check_place(rule.ra, FRAME_AT_CFA, 0, -8);
#endif
	make("zRS", PROGRAM(0x0f, 4, (uint8_t)(0x70 + SP), 0xa0, 1, 0x06, 0x10, RA, 3,
			    (uint8_t)(0x70 + SP), 0xa8, 1));
	rule = rule_at(0);
	check_place(rule.cfa, FRAME_AT, FRAME_SP, 160);
	check_place(rule.ra, FRAME_AT, FRAME_SP, 168);
	ck_assert(rule.is_signal);
	make("zRS", PROGRAM(0x0f, 4, (uint8_t)(0x70 + SP), 0xa0, 1, 0x06, 0x10, SP, 3,
			    (uint8_t)(0x70 + SP), 0xa0, 1));
	check_place(rule_at(0).cfa, FRAME_AT, FRAME_SP, 160);
	make("zRS", PROGRAM(0x0f, 4, (uint8_t)(0x70 + SP), 0xa0, 1, 0x06, 0x10, SP, 3,
			    (uint8_t)(0x70 + SP), 0xa8, 1));
	check_place(rule_at(0).cfa, FRAME_UNKNOWN, 0, 0);
}
END_TEST

#ifndef __aarch64__
/* sp + 8, and 8 more from the byte on where an entry has pushed a number. */
START_TEST(the_plt_depends_on_the_address)
{
	make("zR", PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	check_place(rule_at(0).cfa, FRAME_IS, FRAME_SP, 8);
	check_place(rule_at(10).cfa, FRAME_IS, FRAME_SP, 8);
	check_place(rule_at(11).cfa, FRAME_IS, FRAME_SP, 16);
	check_place(rule_at(16).cfa, FRAME_IS, FRAME_SP, 8);
}
END_TEST
#endif

START_TEST(what_is_not_understood_is_unknown)
{
	const struct program programs[] = {PROGRAM(0x3f, 1), /* no such instruction */
		PROGRAM(0x0f, 2, 0x70 + SP, 0), PROGRAM(0x0f, 3, 0x97, 1, 2), PROGRAM(0x0f, 0),
		PROGRAM(0x0f, 1, 0x06), PROGRAM(0x0f, 2, 0x30, 0x06), PROGRAM(0x0c, OTHER, 8),
		PROGRAM(0x0b), PROGRAM(0x0a, 0x0a, 0x0a, 0x0a, 0x0a), PROGRAM(0x0f, 0xff, 0x7f),
		PROGRAM(0x14, SP, 0), PROGRAM(0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f),
		PROGRAM(0x01, 0, 0)};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		make("zR", programs[i]);
		if (i != 1) {
			ck_assert_msg(rule_at(0).cfa.kind == FRAME_UNKNOWN, "program %zu", i);
		} else {
			check_place(rule_at(0).cfa, FRAME_IS, FRAME_SP, 0);
		}
	}
	make("zX", PROGRAM(0));
	check_place(rule_at(0).cfa, FRAME_UNKNOWN, 0, 0);
	make("eh", PROGRAM(0));
	check_place(rule_at(0).cfa, FRAME_UNKNOWN, 0, 0);
}
END_TEST

/* Its offset holds also for the one that follows it. */
START_TEST(a_register_that_does_not_count_may_be_the_cfa_for_a_while)
{
	make("zR", PROGRAM(0x0c, OTHER, 8, 0x41, 0x0e, 48, 0x41, 0x0d, FP));
	check_place(rule_at(0).cfa, FRAME_UNKNOWN, 0, 0);
	check_place(rule_at(1).cfa, FRAME_UNKNOWN, 0, 0);
	check_place(rule_at(2).cfa, FRAME_IS, FRAME_FP, 48);
}
END_TEST

START_TEST(code_between_functions_is_not_described)
{
	struct frame_rule rule;

	make("zR", PROGRAM(0));
	ck_assert(find(&rule, CODE + NR_CODE - 1));
	ck_assert(!find(&rule, CODE + NR_CODE));
	ck_assert(!find(&rule, CODE - 1));
	ck_assert(!find(&rule, 0));
	ck_assert(!find(&rule, UINT64_MAX));
	ck_assert(!frame_rules_find(&rule, AT, 19, CODE, read_image)); /* no whole entry */
	ck_assert(!frame_rules_find(&rule, AT, 0, CODE, read_image));
	ck_assert(!frame_rules_find(&rule, 8, 20, CODE, read_image));
	image[3] = 0x1b; /* a table in another form */
	ck_assert(!find(&rule, CODE));
}
END_TEST

/* However the bytes are, the result is a valid rule. */
static void check_form(const struct frame_rule *rule)
{
	ck_assert(rule->cfa.kind == FRAME_UNKNOWN || rule->cfa.kind == FRAME_IS ||
		  rule->cfa.kind == FRAME_AT);
	ck_assert_uint_lt(rule->cfa.reg, FRAME_NR_REGISTERS);
	ck_assert_uint_lt(rule->ra.reg, FRAME_NR_REGISTERS);
	ck_assert_uint_lt(rule->fp.reg, FRAME_NR_REGISTERS);
	ck_assert_uint_ne(rule->ra.kind, FRAME_IS);
	ck_assert_uint_ne(rule->fp.kind, FRAME_IS);
}

START_TEST(hostile_bytes_end_and_keep_the_form)
{
	const struct program program = PROGRAM(0x0a, 0x41, 0x0e, 64, 0x80 | FP, 3, 0x41, 0x0f, 3,
		0x70 + 7, 0x70, 0x06, 0x41, 0x0b, 0x41, 0x10, FP, 2, 0x77, 8, 0x02, 3, 0x0d, FP);
	uint64_t seed = 42;
	struct frame_rule rule;

	for (uint32_t i = 0; i < 300000 / (UNIT_IS_SLOW ? 10 : 1); i++) {
		make("zRS", program);
		for (uint64_t nr = 1 + unit_below(&seed, 6); nr; nr--) {
			uint32_t at = (uint32_t)unit_below(&seed, nr_bytes - EH_FRAME + 20);

			at = at < 20 ? at : at - 20 + EH_FRAME;
			image[at] = (uint8_t)unit_random(&seed);
		}
		frame_rules_find(
			&rule, AT, unit_below(&seed, 64), CODE + unit_below(&seed, 20), read_image);
		check_form(&rule);
	}
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {rules_change_from_instruction_to_instruction,
		an_early_return_restores_what_held_before, other_registers_change_nothing,
		an_aligned_frame_is_found_by_its_frame_pointer,
#ifndef __aarch64__
		the_plt_depends_on_the_address,
#endif
		what_is_not_understood_is_unknown,
		a_register_that_does_not_count_may_be_the_cfa_for_a_while,
		code_between_functions_is_not_described, hostile_bytes_end_and_keep_the_form};

	return unit_make("frame_rules", tests, sizeof(tests) / sizeof(tests[0]));
}
