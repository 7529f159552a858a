/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paddle's operators, without any Python: Paddle marks everything with phi::RecordEvent objects,
 * made and ended across its libraries whether or not its profiler runs, and tells
 * RecordMemEvent of all that its allocators give and take back.
 *
 *     hooks_paddle.c  stands in for these functions, and goes on to the real ones
 *     paddle.c       rows of the tables op and alloc
 *     paddle_step.c  what an optimizer does, from the operators that it runs
 *     paddle_python.c  makes Paddle mark what it marks in Python, where that is wanted
 *
 * The mangled names of the functions tell the types of all arguments; numbers that Paddle gives to
 * kinds of events, kinds of memory, and where a place keeps its own are looked at before use.
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

/* Events of a higher level are details that Paddle's own profiler does not see either. */
#define PADDLE_LEVEL 1u

/* Around all that a static program runs at once; a PADDLE_USER. */
#define PADDLE_EXECUTOR "StandaloneExecutor::run"

/* Of these also the begin and end count while nothing is recorded: they tell steps. */
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

/* The process ends, on this thread: what an optimizer has done is told. */
void paddle_stop(void);

/* A row of a range that ended. */
void paddle_emit(struct ring_tls *self, const struct op_ended *ended);

/* The id of a name, never 0: those beyond the first OP_NAME_MAX have one in common. */
uint32_t paddle_name(const char *text);

/* An event of that name begins: where GPROF_PADDLE=ranges, the first time that Python can be asked.
 */
void paddle_python_try(const char *name);

/* ---- paddle_step.c: all on the thread whose stack it is ---- */

/* An event of that name begins, before it is pushed. */
void paddle_step_begin(struct op_stack *stack, const char *text, uint32_t name, uint32_t type);

/*
 * An event ends (or NULL: a fetch begins) on a stack on whose top there may be the run of an
 * optimizer's operators; if the event is one that the run lies in, the run is over.
 */
void paddle_step_before_end(struct op_stack *stack, const void *event);
void paddle_step_end(struct op_stack *stack, const struct op_ended *ended);

/* In a forked child, where ids of names begin anew. */
void paddle_forget(void);

/* If an optimizer is at work, it has ended. */
void paddle_step_finish(struct op_stack *stack);

#endif
