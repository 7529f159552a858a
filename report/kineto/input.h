/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a JSON trace in pieces, plain or gzipped (detected by content). A thread of its own
 * decompresses while the caller parses.
 *
 * Control bytes become blanks: Kineto writes names unescaped, and outside of texts JSON allows both
 * alike.
 *
 * Memory: NR_PIECES pieces, whatever the size of the file, and the used part of the room before
 * them.
 */
#ifndef REPORT_KINETO_INPUT_H
#define REPORT_KINETO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room before each piece for the reader, which puts the rest of the previous piece there. */
#define KINETO_INPUT_ROOM (8u << 20)

struct kineto_input;

/* Do these first bytes look like a trace: JSON or gzip? */
bool kineto_input_is_trace(const unsigned char *bytes, size_t nr_bytes);

/* The caller keeps fd, which is read by pread. Never fails. */
struct kineto_input *kineto_input_create(int fd);
void kineto_input_destroy(struct kineto_input *in);

/*
 * The next piece, valid until the second next call. The reader may write to KINETO_INPUT_ROOM bytes
 * before it. Returns 0 at the end.
 */
size_t kineto_input_next(struct kineto_input *in, char **bytes);

/*
 * Why the input ended early: a static text (such as "its gzip data are cut off"), or NULL. It reads
 * on to the end, so kineto_input_next has nothing afterwards.
 */
const char *kineto_input_problem(struct kineto_input *in);

#endif
