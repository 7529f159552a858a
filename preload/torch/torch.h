/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's operators, without any Python: libtorch exports its observer interface, which calls two
 * C functions at the begin and end of every at::RecordFunction.
 *
 *     torch.c               finds libtorch, registers
 *     torch_change.c        makes forks wait while its list of observers changes
 *     torch_try.c           verifies assumptions about its layout
 *     torch_op.c            the two functions: rows of table op
 *     torch_shape.c         shapes and types of inputs
 *     hooks_torch_memory.c  reports of its allocators
 *     hooks_torch_compile.c stages of torch.compile
 *     live_blocks.c         the CPU allocator's blocks in use
 */
#ifndef PRELOAD_TORCH_TORCH_H
#define PRELOAD_TORCH_TORCH_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"
#include "preload/base/elf.h"

/* at::RecordScope; the same in every version from 1.9 on. */
enum torch_scope {
	TORCH_SCOPE_FUNCTION = 0,
	TORCH_SCOPE_BACKWARD = 1,
	TORCH_SCOPE_USER = 7,
	TORCH_NR_SCOPES = 10,
};

/* The layout of at::RecordFunction in the libtorch of this process; found by trying it out. */
struct torch_layout {
	const char *(*name)(const void *fn); /* at::RecordFunction::name() const */
	uint64_t (*current_thread)(void);    /* at::RecordFunction::currentThreadId() */
	uint32_t sequence_at;		     /* int64_t, -1 for none */
	uint32_t scope_at;		     /* uint8_t, enum torch_scope */
	uint32_t forward_thread_at;	     /* uint64_t, torch's number of the thread */
};

extern struct torch_layout torch_layout __attribute__((visibility("hidden")));

/*
 * If libtorch is mapped and was not examined before: attaches. Cheap if nothing was mapped since
 * the last time. Takes the loader's lock, so only where the target has just taken it, or may.
 */
void torch_look(void);

/* The same for dlopen, which takes that lock itself: also sees a second PyTorch. */
void torch_look_again(void);

/*
 * From the constructor: a libtorch that the program is linked with, usually initialised before us.
 */
void torch_look_first(void);

/* If that one was not initialised then. Takes no lock of the loader. */
void torch_look_late(void);

/*
 * When the program starts a thread: if dlopen was called, and PyTorch is not attached. Only takes
 * the lock of the loader's list of objects, which the loader never holds while it runs
 * constructors, so the caller may hold any lock that those take.
 */
void torch_look_opened(void);

/*
 * The program exits: a libtorch whose operators were not recorded is a notice. Takes the lock of
 * the loader's list, too.
 */
void torch_report_missed(void);

/*
 * Around a change of PyTorch's list of observers, and in the fork handlers. False: another thread
 * forks or changes it now; torch_change_begin waits for that up to a second.
 */
bool torch_change_try(void);
bool torch_change_begin(void);
void torch_change_end(void);
void torch_change_before_fork(void);
void torch_change_after_fork(bool is_child);

/*
 * Switches the operators' callbacks off while no window is open, unless another thread forks: then
 * the next call does. Returns true if they were off. The drain thread.
 */
bool torch_set_enabled(bool is_wanted);

/* In the parent and the child after a fork. */
void torch_after_fork(bool is_child);

/*
 * The two functions of at::RecordFunctionCallback. The first returns a std::unique_ptr, so C++
 * passes the address of the result: on x86-64 as the first argument, on aarch64 in x8.
 * TORCH_BEGIN(name) is the head of such a function.
 */
typedef void **torch_begin_fn(void **context, const void *fn);
torch_begin_fn torch_op_begin;
/* With needs_inputs; not for ranges: some callers pass inputs with them, as gloo does. */
torch_begin_fn torch_op_begin_shapes;
void torch_op_end(const void *fn, void *context);

/*
 * A range of PyTorch that is no at::RecordFunction begins and ends in this thread, as a user's
 * range does: a row of table op. `object` identifies it meanwhile. Nothing happens where PyTorch's
 * operators are not recorded. A range that ends without a name is dropped.
 */
void torch_range_begin(const void *object);
void torch_range_end(const void *object, const char *name);

#if defined(__aarch64__)
#define TORCH_BEGIN(name)                                                       \
	__attribute__((used, visibility("hidden"))) torch_begin_fn name##_in_c; \
	__asm__(".pushsection .text\n"                                          \
		".hidden " #name "\n"                                           \
		".globl " #name "\n"                                            \
		".type " #name ", @function\n" #name ":\n"                      \
		"	.cfi_startproc\n"                                             \
		"	mov x1, x0\n"                                                 \
		"	mov x0, x8\n"                                                 \
		"	b " #name "_in_c\n"                                     \
		"	.cfi_endproc\n"                                               \
		".size " #name ", . - " #name "\n"                              \
		".popsection\n");                                               \
	void **name##_in_c(void **context, const void *fn)
#else
#define TORCH_BEGIN(name) void **name(void **context, const void *fn)
#endif

/* The functions of a libtorch, while it is tried out: callbacks of our own, with inputs. */
struct torch_functions;
torch_begin_fn torch_try_begin, torch_shape_begin;
uint64_t torch_add_try(const struct torch_functions *f, torch_begin_fn *begin);
void torch_remove(const struct torch_functions *f, uint64_t handle);

/* Finds out how inputs are read; NULL, or why they cannot be. Then, while an operator begins: */
const char *torch_shape_try(const struct elf *libtorch, const struct torch_functions *torch);
uint32_t torch_shape_id(const void *fn);

#endif
