/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes read as a file of the user's, as the commands read it. */
#ifndef TEST_FUZZ_FUZZ_INPUT_H
#define TEST_FUZZ_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "report/session/summary.h"

struct reduced;

/*
 * Opens the bytes; if they can be read, every block is verified (`on_bad` gets what is broken)
 * and `print` gets the process, and a number by which it may choose what to do with it.
 */
void fuzz_input_read(const uint8_t *bytes, size_t nr_bytes,
	void (*on_bad)(
		void *stream, const char *column, uint64_t offset, enum decode_status status),
	void (*print)(struct cmd_input *input, uint32_t choice));

/* For fuzz_input_read(): what is broken was to be expected. */
void fuzz_input_ignore_bad(
	void *stream, const char *column, uint64_t offset, enum decode_status status);

/* Prints all views into nothing, in a style and a format. */
void fuzz_input_print(
	const struct cmd_input *input, const struct summary_style *style, enum table_format format);

/* Reads a trace of another profiler: the stream that it becomes must be sound. Prints all views. */
void fuzz_input_read_trace(const uint8_t *bytes, size_t nr_bytes);

/* Prints a summary in all tables that it has, in every format. */
void fuzz_input_print_reduced(struct reduced *reduced);

/* Writes a summary, which must read the same again. */
void fuzz_input_reduced_written(struct reduced *reduced);

/* For buf_init(): nothing is kept. */
int fuzz_input_drop(void *context, const char *bytes, size_t nr_bytes);

#endif
