/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paddle marks an optimizer's step only while its own profiler is used (the type Optimization).
 * Otherwise its operators reveal it: consecutive operators of an optimizer are its step. The step
 * is over when something else begins; until then it is on the stack, so that the operators nest in
 * it. A second run without gradients in between (parameter groups with some computation for each)
 * is no separate step.
 *
 * In static mode, threads of an executor run the operators; a run of the executor that contains
 * operators of an optimizer is the optimizer's step.
 */
#include <string.h>

#include "preload/paddle/paddle.h"

#define STEP_PREFIX   "Optimizer.step#"
#define STATIC_PREFIX "pd_op."

/* The operators that update parameters; in dynamic mode their names end in _. */
#define OPTIMIZERS(O)             \
	O(sgd)                    \
	O(momentum)               \
	O(merged_momentum)        \
	O(adam)                   \
	O(adamw)                  \
	O(merged_adam)            \
	O(fused_adam)             \
	O(adamax)                 \
	O(adagrad)                \
	O(decayed_adagrad)        \
	O(adadelta)               \
	O(rmsprop)                \
	O(rprop)                  \
	O(radam)                  \
	O(nadam)                  \
	O(asgd)                   \
	O(lamb)                   \
	O(distributed_fused_lamb) \
	O(lars_momentum)          \
	O(ftrl)                   \
	O(dpsgd)

static const struct {
	const char *range;
	uint32_t nr_bytes; /* of the operator's name */
} optimizers[] = {
#define O(name) {STEP_PREFIX #name, sizeof(#name) - 1},
	OPTIMIZERS(O)
#undef O
};

#define NR_OPTIMIZERS ((uint32_t)(sizeof(optimizers) / sizeof(optimizers[0])))
/* Marks other than 1 + the index of an optimizer. */
#define MARK_EXECUTOR 253u
#define MARK_NONE     254u
#define MARK_GRADIENT 255u
_Static_assert(sizeof(optimizers) / sizeof(optimizers[0]) < MARK_EXECUTOR,
	"a byte holds the index of any optimizer");

/* By ids of names: the meaning, 0 if not determined yet. */
static _Atomic uint8_t marks[OP_NAME_MAX + 1];

/* Runs of executors that have begun and not ended, and the optimizer whose operators were in them.
 */
static _Atomic uint32_t nr_executing, static_optimizer;

static bool begins_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* An optimizer's operator that changes its input has an underscore behind its name. */
static uint8_t find_mark(const char *text)
{
	uint32_t nr_bytes;

	if (!strcmp(text, PADDLE_EXECUTOR)) {
		return MARK_EXECUTOR;
	}
	text += begins_with(text, STATIC_PREFIX) ? strlen(STATIC_PREFIX) : 0;
	nr_bytes = (uint32_t)strcspn(text, " ");
	if (begins_with(text, "Global_") || !strcmp(text, "backward") ||
		(nr_bytes > 5 && !memcmp(text + nr_bytes - 5, "_grad", 5))) {
		return MARK_GRADIENT;
	}
	if (nr_bytes && text[nr_bytes - 1] == '_') {
		nr_bytes--;
	}
	for (uint32_t i = 0; i < NR_OPTIMIZERS; i++) {
		if (nr_bytes == optimizers[i].nr_bytes &&
			!memcmp(text, optimizers[i].range + strlen(STEP_PREFIX), nr_bytes)) {
			return (uint8_t)(i + 1);
		}
	}
	return MARK_NONE;
}

static uint8_t mark_of(const char *text, uint32_t name)
{
	uint8_t mark = atomic_load_explicit(&marks[name], memory_order_relaxed);

	if (__builtin_expect(!mark, 0)) {
		mark = find_mark(text);
		atomic_store_explicit(&marks[name], mark, memory_order_relaxed);
	}
	return mark;
}

void paddle_forget(void)
{
	memset((void *)marks, 0, sizeof(marks));
	atomic_store(&nr_executing, 0);
}

static bool is_on_top(struct op_stack *stack)
{
	const struct op_frame *top = op_stack_top(stack);

	return top && top->object == &stack->run;
}

static void write_step(struct op_run *run, uint32_t optimizer, uint64_t begin, uint64_t end)
{
	collector_range(optimizer ? optimizers[optimizer - 1].range : STEP_PREFIX, begin, end);
	run->written = optimizer;
	run->has_gradient = false;
}

void paddle_step_finish(struct op_stack *stack)
{
	struct op_run *run = &stack->run;

	if (!run->optimizer) {
		return;
	}
	if (run->has_frame) {
		struct op_ended ended = op_stack_pop(stack, run);

		ended.end = run->end;
		if (ended.begin && paddle_is_recording()) {
			paddle_emit(&ring_tls, &ended);
		}
	}
	if (run->has_gradient || run->optimizer != run->written) {
		write_step(run, run->optimizer, run->begin, run->end);
	}
	run->optimizer = 0;
	run->has_frame = false;
}

static void start(struct op_stack *stack, uint32_t optimizer)
{
	struct op_run *run = &stack->run;
	struct op_frame *frame = NULL;

	run->optimizer = optimizer;
	if (paddle_is_recording()) {
		uint32_t name = paddle_name(optimizers[optimizer - 1].range);

		frame = op_stack_push(stack, run);
		if (frame) {
			frame->name = name;
			frame->scope = PADDLE_OPTIMIZATION;
			frame->shape = 0;
		}
	}
	run->has_frame = frame != NULL;
	run->begin = frame ? frame->begin : clock_raw();
	run->end = run->begin;
}

/* An operator of an optimizer begins. */
static void take_update(struct op_stack *stack, uint32_t optimizer)
{
	struct op_run *run = &stack->run;

	if (run->nr_marked) {
		run->marked = optimizer; /* to be written with the range that Paddle marks */
	} else if (run->optimizer == optimizer) {
		run->end = clock_raw();
	} else {
		paddle_step_finish(stack);
		start(stack, optimizer);
	}
}

void paddle_step_begin(struct op_stack *stack, const char *text, uint32_t name, uint32_t type)
{
	struct op_run *run = &stack->run;
	uint8_t mark = mark_of(text, name);

	if (!op_stack_load(&stack->depth)) {
		run->nr_marked = 0;
	}
	if (type == PADDLE_OPTIMIZATION) {
		if (!run->nr_marked++) {
			paddle_step_finish(stack);
			run->marked = 0;
		}
	} else if (mark == MARK_EXECUTOR) {
		if (!atomic_fetch_add(&nr_executing, 1)) {
			atomic_store(&static_optimizer, 0);
		}
	} else if (atomic_load_explicit(&nr_executing, memory_order_relaxed)) {
		if (mark < MARK_EXECUTOR) {
			atomic_store(&static_optimizer, mark);
		}
	} else if (mark < MARK_EXECUTOR) {
		take_update(stack, mark);
	} else if (!run->nr_marked) {
		/* The ranges that such an operator opens itself do not end it. */
		if (run->optimizer && (!run->has_frame || is_on_top(stack))) {
			paddle_step_finish(stack);
		}
		run->has_gradient |= mark == MARK_GRADIENT;
	}
}

void paddle_step_before_end(struct op_stack *stack, const void *event)
{
	if (stack->run.optimizer && (!stack->run.has_frame || is_on_top(stack)) &&
		(!event || op_stack_has(stack, event))) {
		paddle_step_finish(stack);
	}
}

/* If several run at once, the last to end decides. */
static void end_executor(struct op_run *run, const struct op_ended *ended)
{
	uint32_t optimizer = atomic_load(&static_optimizer);

	if (atomic_load(&nr_executing) && atomic_fetch_sub(&nr_executing, 1) == 1 && optimizer) {
		write_step(run, optimizer, ended->begin, ended->end);
	}
}

void paddle_step_end(struct op_stack *stack, const struct op_ended *ended)
{
	struct op_run *run = &stack->run;

	if (ended->scope == PADDLE_USER &&
		atomic_load_explicit(&marks[ended->name], memory_order_relaxed) == MARK_EXECUTOR) {
		end_executor(run, ended);
	} else if (ended->scope == PADDLE_DATALOADER) {
		collector_range(PADDLE_FETCH, ended->begin, ended->end);
	} else if (ended->scope == PADDLE_OPTIMIZATION && run->nr_marked) {
		if (!--run->nr_marked) {
			write_step(run, run->marked, ended->begin, ended->end);
		}
	} else if (run->optimizer && run->has_frame && is_on_top(stack)) {
		run->end = ended->end;
	}
}
