/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a JSON trace, plain or gzipped (told by content), in pieces. gunzip runs on a thread
 * of its own beside whoever parses. Control bytes are blanks by then: Kineto writes names
 * unescaped, and outside of texts JSON allows blanks wherever it allows those.
 *
 * Memory: NR_PIECES pieces, whatever the size of the file; of the room before them what is used.
 */
#ifndef REPORT_KINETO_INPUT_H
#define REPORT_KINETO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What lies before each piece for the reader's use: the rest of the piece before, to be joined. */
#define KINETO_INPUT_ROOM (8u << 20)

struct kineto_input;

/* Does a file that begins with these bytes look like a trace: JSON or gzip? */
bool kineto_input_is_trace(const unsigned char *bytes, size_t nr_bytes);

/* fd stays the caller's and is read by pread. Never fails. */
struct kineto_input *kineto_input_create(int fd);
void kineto_input_destroy(struct kineto_input *in);

/*
 * The next piece, good until the call after the next; KINETO_INPUT_ROOM bytes before it are
 * writable and the reader's. Returns 0 at the end.
 */
size_t kineto_input_next(struct kineto_input *in, char **bytes);

/*
 * Why it ended early: static text (as "its gzip data are cut off"), or NULL. Reads on to the end;
 * nothing is to be had from kineto_input_next afterwards.
 */
const char *kineto_input_problem(struct kineto_input *in);

#endif
