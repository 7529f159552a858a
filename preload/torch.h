/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's operators, without any Python: libtorch exports its observer interface, so two C
 * functions are called at the begin and end of every at::RecordFunction.
 *
 *     torch.c        finds libtorch, tries out what is assumed of it, registers
 *     torch_op.c     the two functions: rows of table op
 *     torch_name.c   names to ids: each text goes into the stream once
 *     torch_shape.c  shapes and types of inputs
 *
 * Its allocator's reports are taken in wrap_torch_memory.c.
 */
#ifndef PRELOAD_TORCH_H
#define PRELOAD_TORCH_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"
#include "preload/elf.h"

/* at::RecordScope; the same in every version from 1.9 on. */
enum torch_scope {
	TORCH_SCOPE_FUNCTION = 0,
	TORCH_SCOPE_BACKWARD = 1,
	TORCH_SCOPE_USER = 7,
	TORCH_NR_SCOPES = 10,
};

/* What is known of at::RecordFunction in the libtorch of this process; found by trying it out. */
struct torch_layout {
	const char *(*name)(const void *fn); /* at::RecordFunction::name() const */
	uint64_t (*current_thread)(void);    /* at::RecordFunction::currentThreadId() */
	uint32_t sequence_at;		     /* int64_t, -1 for none */
	uint32_t scope_at;		     /* uint8_t, enum torch_scope */
	uint32_t forward_thread_at;	     /* uint64_t, torch's number of the thread */
};

extern struct torch_layout torch_layout __attribute__((visibility("hidden")));

/*
 * If libtorch is mapped and was not looked at before: attaches. Cheap when nothing was mapped since
 * the last look. Takes the loader's lock, so only where the host itself just took it, or may.
 */
void torch_look(void);

/* The same for dlopen, which takes that lock itself: sees a second PyTorch too. */
void torch_look_again(void);

/* What the recorder tells this door, see collector_set_door. */
extern const struct collector_door torch_door;

/* at::RecordFunctionCallback's two functions, see torch_op.c. */
void **torch_op_begin(void **context, const void *fn);
void **torch_op_begin_shapes(void **context, const void *fn); /* with needs_inputs */
void torch_op_end(const void *fn, void *context);

/* The functions of a libtorch, while it is tried out: callbacks of our own, with inputs. */
struct torch_functions;
uint64_t torch_add_try(const struct torch_functions *f,
	void **(*begin)(void **context, const void *fn),
	void (*end)(const void *fn, void *context));
void torch_remove(const struct torch_functions *f, uint64_t handle);

/* Finds out how inputs are read; NULL, or why they cannot be. Then, while an operator begins: */
const char *torch_shape_try(const struct elf *libtorch, const struct torch_functions *torch);
uint32_t torch_shape_id(const void *fn);

/* In a forked child, whose rings begin anew. */
void torch_op_forget(void);

/*
 * The id of a name for op rows, or of a shape; new ones are written to the stream at once. 0 if
 * there are too many (TORCH_MAX_NAMES of a table, or 4 MB of text): a row must carry the text of
 * its name then. Any thread, no lock.
 */
enum torch_table { TORCH_NAMES_TABLE, TORCH_SHAPES_TABLE, TORCH_NR_TABLES };
#define TORCH_MAX_NAMES 32768u
uint32_t torch_intern(enum torch_table table, const char *text);
void torch_name_forget(void);

#endif
