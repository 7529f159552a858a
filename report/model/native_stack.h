/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the frames of native stacks. The stream has addresses in files; the names come from
 * these files when they are first shown, if they are still there and their build IDs are the
 * recorded ones.
 */
#ifndef REPORT_MODEL_NATIVE_STACK_H
#define REPORT_MODEL_NATIVE_STACK_H

#include "report/model/model.h"

/* A damaged stream may have cycles. The recorder writes 127 frames at most. */
#define NATIVE_STACK_MAX_FRAMES 256u

struct native_frame {
	uint32_t function; /* of string_pool.h; without a symbol "libx.so+0x1234" */
	uint32_t file;	   /* of string_pool.h, without folders; 0: code in memory without a file */
};

/* The frame of the stack with that id, and that of its caller's stack, 0 for none. */
struct native_frame native_stack_frame(struct process *process, uint32_t stack, uint32_t *caller);

/* A killed process may name a stack that it had not written yet. */
static inline bool native_stack_is_known(struct process *process, uint32_t stack)
{
	return stack && idmap_get(&process->native_stacks, stack) != NULL;
}

/*
 * The function that a call was made for: the innermost one outside of NVIDIA's libraries, those of
 * C and C++, and Python's interpreter, a number of string_pool.h; 0 if there is none.
 */
uint32_t native_stack_site(struct process *process, uint32_t stack);

/*
 * The number in string_pool.h of the text of a stack, innermost frame first: "add <- run <- main".
 */
uint32_t native_stack_text(struct process *process, uint32_t stack);

#endif
