/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of phases and of walks share: operators as lines of a test, and streams of them.
 */
#ifndef TEST_UNIT_REPORT_LINES_H
#define TEST_UNIT_REPORT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "test/gen/gen.h"

/* Ticks are ns. Listed by their ends, as rows of a thread come. scope: '0' function, '7' user. */
struct line {
	uint32_t thread, begin, end;
	uint16_t depth;
	const char *name;
	char scope;
	uint32_t kernel_ns; /* one launch in its middle, whose kernel runs long after everything */
	uint32_t end_thread;
};

#define LINE(t, b, e, d, n, ...)                                                      \
	{                                                                             \
		.thread = t, .begin = b, .end = e, .depth = d, .name = n, __VA_ARGS__ \
	}

/* The number, from 0, tells its launch from those of others. */
void lines_add(struct gen *gen, const struct line *line, uint32_t number);

/* A stream of the lines; steps: ticks where they begin, the list ends with 0; NULL: none. */
const char *lines_write(const struct line *lines, size_t nr_lines, const uint64_t *steps);

#endif
