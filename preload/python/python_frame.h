/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python frames of a thread, read from the interpreter's memory: of the calling thread, or of
 * another one for python_thread.h.
 *
 * PyTorch, ctypes and most extensions release the GIL before they call hooked functions, so we
 * cannot call Python's functions: they count references. But the frames of a thread do not change
 * while it runs C code, and they keep their code objects, with names and line tables. So we only
 * read them. Their layout depends on the version, and python_start.c verifies it before use.
 *
 * Only the end of the interpreter frees the frames of a thread, and the thread that runs it does
 * that itself. Other threads read through the kernel, which fails if memory is gone.
 */
#ifndef PRELOAD_PYTHON_PYTHON_FRAME_H
#define PRELOAD_PYTHON_PYTHON_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define PYTHON_TEXT_BYTES 512u

/* The instruction that a frame is at, and what is needed to find its line. */
struct python_point {
	uintptr_t lines; /* bytes */
	uint32_t first_line;
	uint32_t offset; /* in the code, in bytes */
};

struct python_frame {
	uintptr_t at;
	uintptr_t next; /* the caller's frame, 0 for none */
	uintptr_t code; /* 0: not a frame of Python code, only on the way to the next */
	uintptr_t type; /* of the code object */
	uintptr_t file; /* str */
	uintptr_t name; /* str */
	struct python_point point;
};

/* Units of 1, 2 or 4 bytes, as in the str. In a long one "..." replaces the middle. */
struct python_text {
	unsigned char bytes[PYTHON_TEXT_BYTES];
	uint32_t nr_bytes;
	uint32_t unit_bytes;
	uint64_t nr_omitted; /* bytes that "..." replaces */
};

/* Selects the layout of an interpreter by Py_GetVersion's text; returns false if it is unknown. */
bool python_frame_init(const char *version);
#define PYTHON_UNKNOWN_VERSION "this version is not known (3.8 to 3.15 are, with the GIL)"

/* For python_frame_first_local(): where cells have their type, 0 if that is unknown. */
void python_frame_know_cells(uintptr_t type);

/* N of the layout's version 3.N. */
unsigned int python_frame_minor(void);

/* Do reads of the calling thread go straight to memory, and not through the kernel? What it was. */
bool python_frame_trust(bool is_trusted);

/*
 * From now on the calling thread, which must be the only one that does so, reads through the kernel
 * by whole pages and keeps some of them: frames and other objects lie close together, and what lies
 * in one page is of one moment. Not beside trusted reads.
 */
void python_pages_begin(void);
void python_pages_end(void);

/* Copies from the interpreter's memory; false if it cannot be read. Keeps errno. */
bool python_peek(void *to, uintptr_t from, uint32_t nr_bytes);

/* The innermost frame of a thread state, 0 if it runs no Python code. */
uintptr_t python_frame_top(const void *thread_state);

/* All of these return false if the memory cannot be what it should. */
bool python_frame_read(struct python_frame *frame, uintptr_t at);
bool python_text_read(struct python_text *text, uintptr_t str);

/* The object that the first local variable names, also if inner functions use it; 0 if none. */
uintptr_t python_frame_first_local(const struct python_frame *frame);

/* Reads the name of an object's type. *is_cut: the name is longer than `nr_bytes`. */
bool python_type_name(uintptr_t object, char *name, uint32_t nr_bytes, bool *is_cut);

/*
 * The dict of an object's attributes, 0 if it has none: from 3.11 on an object gets one when
 * somebody asks the interpreter for it, which this does not.
 */
uintptr_t python_dict(uintptr_t object);

/* Is it an object of exactly that type? */
bool python_has_type(uintptr_t object, uintptr_t type);

/* Returns the line of the point; 0 if unknown. */
uint32_t python_point_line(const struct python_point *point);

/*
 * Converts to UTF-8 with a final 0; `utf8` has room for 4 bytes per unit and one more. Returns its
 * length.
 */
uint32_t python_text_utf8(const struct python_text *text, char *utf8);
#define PYTHON_UTF8_BYTES (2 * PYTHON_TEXT_BYTES + 1)

#endif
