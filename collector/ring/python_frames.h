/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of a language whose interpreter a source can read from another thread: of threads that
 * hang, and of those that run. All functions are for the drain thread.
 */
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
 * may be inconsistent.
 */
typedef const struct python_frames *(*python_frames_reader)(uint32_t tid, uintptr_t self);

/* A source sets it, at any time; NULL if there is none. */
extern _Atomic(python_frames_reader) python_frames_read __attribute__((visibility("hidden")));

/* ---- of threads that run ---- */

#define PYTHON_STACK_MAX 128u

/* Where a frame is, as addresses of objects of the interpreter, which may be gone by now. */
struct python_point_at {
	uintptr_t code, file, name, lines;
	uint32_t first_line; /* where the function begins */
	uint32_t offset;     /* bytes from its first instruction to the current one */
};

struct python_stack {
	struct python_point_at frames[PYTHON_STACK_MAX]; /* the innermost first */
	uint32_t nr;
	bool is_cut; /* there are more, on the outside */
};

/* The names of a frame, valid until the next call. */
struct python_names {
	const char *file, *function;
	uint32_t line; /* where the instruction stands; 0 if that is unknown */
};

enum python_read {
	PYTHON_READ_STACK, /* perhaps of 0 frames */
	PYTHON_READ_TORN,  /* it changed too much meanwhile */
	PYTHON_READ_GONE,  /* the state is not that thread's any more */
};

enum python_held {
	PYTHON_LOCK_UNKNOWN, /* the lock was not found */
	PYTHON_LOCK_FREE,
	PYTHON_LOCK_HELD,
};

struct python_sampler {
	/* Are the interpreter's threads known by now? It may begin later than the recorder. */
	bool (*find)(void);
	/* Calls on_thread for each thread of the interpreter, with its kernel id and its state. */
	void (*each_thread)(
		void (*on_thread)(void *context, uint32_t tid, uintptr_t state), void *context);
	/*
	 * Reads the stack of a thread, which may run meanwhile: frames that begin and end within
	 * some microseconds may stand beside others that they were not called by.
	 */
	enum python_read (*read)(uint32_t tid, uintptr_t state, struct python_stack *stack);
	/* Returns false if there is no such function at those addresses any more. */
	bool (*name)(const struct python_point_at *at, struct python_names *names);
	/* Is it the address by which threads wait for the interpreter's lock? */
	bool (*is_lock)(uint64_t address);
	/*
	 * Who holds the interpreter's lock? *tid: the kernel id of that thread, 0 if nobody holds
	 * it or the thread is not known. *state: its state.
	 */
	enum python_held (*holder)(uint32_t *tid, uintptr_t *state);
};

/* A source sets it, at any time; NULL if there is none. */
extern _Atomic(const struct python_sampler *) python_sampler __attribute__((visibility("hidden")));

#endif
