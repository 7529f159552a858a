/* SPDX-License-Identifier: Apache-2.0 */
/* The call frame information of an object, from .eh_frame_hdr on: the rules of its functions. */
#include <stdlib.h>
#include <string.h>

#include "collector/sample/frame_rules.h"
#include "test/fuzz/fuzz.h"

/* Where the bytes lie; code lies below them, as in objects. */
#define AT	   0x7f0000400000u
#define HEAD_BYTES 12u
#define MAX_TRIED  64u

static struct {
	const uint8_t *bytes;
	size_t nr_bytes;
} input;

static bool read_input(void *to, uint64_t from, uint32_t nr_bytes)
{
	uint64_t at = from - AT;

	if (at > input.nr_bytes || input.nr_bytes - at < nr_bytes) {
		return false;
	}
	memcpy(to, input.bytes + at, nr_bytes);
	return true;
}

static void try_at(uint64_t pc)
{
	struct frame_rule rule;

	if (!frame_rules_find(&rule, AT, input.nr_bytes, pc, read_input)) {
		return;
	}
	if (rule.cfa.reg >= FRAME_NR_REGISTERS || rule.ra.reg >= FRAME_NR_REGISTERS ||
		rule.fp.reg >= FRAME_NR_REGISTERS || rule.bx.reg >= FRAME_NR_REGISTERS) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nr_bytes)
{
	static const uint8_t into[] = {0, 1, 4, 16, 64};
	int32_t begin;

	input.bytes = bytes;
	input.nr_bytes = nr_bytes;
	for (uint32_t i = 0; i < MAX_TRIED; i++) {
		if (!read_input(&begin, AT + HEAD_BYTES + 8 * i, sizeof(begin))) {
			break;
		}
		for (size_t at = 0; at < sizeof(into); at++) {
			try_at(AT + (uint64_t)(int64_t)begin + into[at]);
		}
	}
	return 0;
}
