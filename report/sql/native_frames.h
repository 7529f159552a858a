/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of the native stacks that rows of events have as one text, as rows of a table of their
 * own: nsys's CUDA_CALLCHAINS and others are views of it (nsys_views.sql).
 */
#ifndef REPORT_SQL_NATIVE_FRAMES_H
#define REPORT_SQL_NATIVE_FRAMES_H

#include "report/model/model.h"

#define NATIVE_FRAMES_TABLE "native_frame"

/* Numbers of string_pool.h but for depth, which is 0 for the innermost frame. */
struct native_frames_row {
	uint32_t stack; /* its text, as in the column stack of events */
	uint32_t depth;
	uint32_t function;
	uint32_t file;	  /* 0: code in memory without a file */
	uint64_t address; /* in that file */
};

struct native_frames {
	struct native_frames_row *rows; /* by stack, then depth; each stack once */
	size_t nr, capacity;
};

/* Looks for the names of all frames, as native_stack.h does. The caller frees by _fini(). */
struct native_frames native_frames_make(struct process *const *processes, size_t nr_processes);
void native_frames_fini(struct native_frames *frames);

/* Returns the place of the first row of a stack, or of the next stack if it has none. */
size_t native_frames_find(const struct native_frames *frames, uint64_t stack);

#endif
