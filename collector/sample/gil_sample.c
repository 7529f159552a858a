/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks come at times of gprof's own, so the share of looks that find a thread with the lock is the
 * share of time for which it had it.
 */
#include "collector/sample/gil_sample.h"

#include <string.h>

#include "collector/format/format.h"
#include "collector/sample/python_sample.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"

/* Every second look at waits: a look costs some 20 us, and shares need no more. */
#define PERIOD_NS 35000000u

static struct python_stack stack;
static uint64_t looked_ns; /* CLOCK_MONOTONIC; 0: the next look is the first one */

enum python_held gil_holder_find(const struct python_sampler *python, struct gil_holder *holder)
{
	uintptr_t state, again_state;
	uint32_t again_tid;
	enum python_held held = python->holder(&holder->tid, &state);
	enum python_read result;

	holder->py_stack = GPROF_PY_STACK_NOT_READ;
	holder->is_sure = false;
	if (held != PYTHON_LOCK_HELD || !holder->tid) {
		return held;
	}
	result = python->read(holder->tid, state, &stack);
	holder->is_sure = python->holder(&again_tid, &again_state) == held && again_state == state;
	if (holder->is_sure && result == PYTHON_READ_STACK) {
		holder->py_stack = python_sample_add(python, &stack);
	}
	return held;
}

static void add_row(bool is_held, const struct gil_holder *holder, const struct clock_anchor *now,
	const char *(*name_of)(uint32_t tid))
{
	const char *text = holder->tid ? name_of(holder->tid) : "";
	uint32_t name = *text ? dictionary_text(text, strlen(text)) : 0;
	struct gprof_row_gil_sample *row = batch_add(GPROF_TABLE_gil_sample);

	row->time = clock_raw_before(now, now->monotonic_ns);
	row->ns = now->monotonic_ns - looked_ns;
	row->is_held = is_held;
	row->task = holder->tid;
	row->name = name;
	row->py_stack = holder->py_stack;
}

void gil_sample_look(const struct python_sampler *python, const struct clock_anchor *now,
	const char *(*name_of)(uint32_t tid))
{
	struct gil_holder holder;
	enum python_held held;

	if (python && looked_ns && now->monotonic_ns - looked_ns < PERIOD_NS) {
		return;
	}
	held = python ? gil_holder_find(python, &holder) : PYTHON_LOCK_UNKNOWN;
	if (held == PYTHON_LOCK_FREE) {
		holder = (struct gil_holder){0};
	}
	if (held != PYTHON_LOCK_UNKNOWN && looked_ns) {
		add_row(held == PYTHON_LOCK_HELD, &holder, now, name_of);
	}
	looked_ns = held == PYTHON_LOCK_UNKNOWN ? 0 : now->monotonic_ns;
}

void gil_sample_stop(void)
{
	looked_ns = 0;
}
