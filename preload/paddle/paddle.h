/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paddle's operators, without any Python. Paddle marks everything with phi::RecordEvent objects,
 * which its libraries make and end whether or not its profiler runs, and reports every allocation
 * and free to RecordMemEvent.
 *
 *     hooks_paddle.c   replaces these functions, and calls the real ones
 *     paddle.c         rows of the tables op and alloc
 *     paddle_step.c    detects steps of an optimizer from the operators that it runs
 *     paddle_python.c  makes Paddle mark its ranges in Python, with GPROF_PADDLE=ranges
 *
 * The mangled names of the functions contain the types of all arguments. Paddle's numbers for kinds
 * of events and of memory, and the layout of a place, are verified before use.
 */
#ifndef PRELOAD_PADDLE_PADDLE_H
#define PRELOAD_PADDLE_PADDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/hook/hook.h"
#include "preload/python/op_name.h"
#include "preload/python/op_stack.h"

/* phi::TracerEventType; the same from Paddle 2.3 on, later versions have more. */
enum paddle_type {
	PADDLE_OPERATOR = 0,
	PADDLE_DATALOADER = 1,
	PADDLE_USER = 7,
	PADDLE_INNER = 8,
	PADDLE_OPTIMIZATION = 11,
	PADDLE_DYNAMIC_LAUNCH = 15,
	PADDLE_STATIC_LAUNCH = 16,
	PADDLE_NR_TYPES = 32, /* no version has that many */
};

/* phi::TracerMemEventType */
enum paddle_memory_type {
	PADDLE_ALLOCATE = 0,
	PADDLE_FREE = 1,
	PADDLE_RESERVED_ALLOCATE = 2,
	PADDLE_RESERVED_FREE = 3,
	PADDLE_NR_MEMORY_TYPES,
};

/* phi::Place, as far as it is read. */
struct paddle_place {
	int8_t device;
	int8_t kind; /* phi::AllocationType */
};

/* Events of a higher level are details that Paddle's own profiler hides too. */
#define PADDLE_LEVEL 1u

/* Steps are detected from this range; PyTorch marks its fetches in the same way. */
#define PADDLE_FETCH "enumerate(DataLoader)#paddle.__next__"

/* Around a whole run of a static program; a PADDLE_USER. */
#define PADDLE_EXECUTOR "StandaloneExecutor::run"

/* Events that matter also while nothing is recorded, since they mark steps. */
static inline bool paddle_marks_steps(uint32_t type, const char *name)
{
	return type == PADDLE_OPERATOR || type == PADDLE_DATALOADER ||
	       type == PADDLE_OPTIMIZATION ||
	       (type == PADDLE_USER && name[0] == PADDLE_EXECUTOR[0]);
}

/* An event begins. Any thread; `name` need not stay. */
void paddle_begin_slow(const void *event, const char *name, uint32_t type);

static inline void paddle_begin(const void *event, const char *name, uint32_t type, uint32_t level)
{
	if (((hook_mode() & (COLLECTOR_RECORD | COLLECTOR_COLD)) ||
		    paddle_marks_steps(type, name)) &&
		level <= PADDLE_LEVEL) {
		paddle_begin_slow(event, name, type);
	}
}

/* An event ends, perhaps on another thread; it may have been ended before. */
void paddle_end_slow(const void *event);

static inline void paddle_end(const void *event)
{
	const struct op_stack *stack = op_stack_have(&ring_tls);

	if ((stack && op_stack_load(&stack->depth)) || (hook_mode() & COLLECTOR_RECORD)) {
		paddle_end_slow(event);
	}
}

/* Are operators recorded now? Paddle makes the events in them, infer_shape and compute, only then.
 */
bool paddle_is_recording(void);

/* Around a fetch from a data loader. */
uint64_t paddle_fetch_begin(void);
void paddle_fetch_end(uint64_t begin);

void paddle_memory(
	const void *address, const struct paddle_place *place, uint64_t nr_bytes, uint32_t type);

/* The process ends, on this thread: writes what an optimizer has done. */
void paddle_stop(void);

/* A row of a range that ended. */
void paddle_emit(struct ring_tls *self, const struct op_ended *ended);

/* The id of a name, never 0: names beyond the first OP_NAME_MAX share one. */
uint32_t paddle_name(const char *text);

/*
 * An event of that name begins: with GPROF_PADDLE=ranges, acts at the first event in which Python
 * is callable.
 */
void paddle_python_try(const char *name);

/* ---- paddle_step.c: all on the thread that owns the stack ---- */

/* An event of that name begins, before it is pushed. */
void paddle_step_begin(struct op_stack *stack, const char *text, uint32_t name, uint32_t type);

/*
 * An event ends (or NULL: a fetch begins). The top of the stack may hold the run of an optimizer's
 * operators; if the event contains the run, the run is over.
 */
void paddle_step_before_end(struct op_stack *stack, const void *event);
void paddle_step_end(struct op_stack *stack, const struct op_ended *ended);

/* In a forked child, where ids of names start again. */
void paddle_forget(void);

/* If an optimizer is at work, it has ended. */
void paddle_step_finish(struct op_stack *stack);

#endif
