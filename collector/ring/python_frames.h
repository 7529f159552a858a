/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of a language whose interpreter a door knows how to read from outside of the thread. */
#ifndef COLLECTOR_RING_PYTHON_FRAMES_H
#define COLLECTOR_RING_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#define PYTHON_FRAMES_MAX 32u

struct python_frames {
	struct {
		const char *file, *function;
		uint32_t line;	  /* 0: unknown */
	} all[PYTHON_FRAMES_MAX]; /* the innermost first */
	uint32_t nr;
	uint32_t nr_more; /* on the outside */
	bool has_rest;	  /* and further ones, which are not counted */
};

/*
 * The frames of a thread by the kernel's id of it; self: where its ring_tls lies, 0 if that is not
 * known. Good until the next call; NULL: none are known. Of a thread that ran meanwhile they may be
 * of several moments. The drain thread's.
 */
typedef const struct python_frames *(*python_frames_reader)(uint32_t tid, uintptr_t self);

/* Set by a door, at any time; NULL: there is none. */
extern _Atomic(python_frames_reader) python_frames_read __attribute__((visibility("hidden")));

#endif
