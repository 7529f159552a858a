/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of a language whose interpreter a source can read from another thread. */
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
 * Reads the frames of the thread with that kernel id; `self` is the address of its ring_tls, 0 if
 * unknown. Valid until the next call; NULL if unknown. Frames of a thread that ran during the read
 * may be inconsistent. For the drain thread.
 */
typedef const struct python_frames *(*python_frames_reader)(uint32_t tid, uintptr_t self);

/* A source sets it, at any time; NULL if there is none. */
extern _Atomic(python_frames_reader) python_frames_read __attribute__((visibility("hidden")));

#endif
