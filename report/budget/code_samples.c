/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the CPU samples of the loop's thread by the part of the budget that they lie in. The sweep
 * of the budget opens samples stretch by stretch, from the last to the first, and closes them once
 * it knows whether their gap counts.
 */
#include "report/budget/code_samples.h"

#include <stdlib.h>

#include "report/model/mixed_stack.h"
#include "report/model/py_stack.h"
#include "report/model/scan.h"
#include "report/ops/loop.h"
#include "report/util/buf.h"

struct code_stack {
	uint64_t stack;
	struct code_sum sums[NR_CODE_PARTS];
};

/* ---- reading ---- */

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct code_samples *samples = context;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (b->col[COL_cpu_sample_task][i] != samples->task) {
			continue;
		}
		samples->all = array_grow(
			samples->all, samples->nr, &samples->capacity, sizeof(*samples->all));
		samples->all[samples->nr++] = (struct code_sample){
			.time_ns = clock_map_time(
				&process->host_clock, b->col[COL_cpu_sample_time][i]),
			.stack = mixed_stack_id(b->col[COL_cpu_sample_native_stack][i],
				b->col[COL_cpu_sample_py_stack][i]),
			.cpu_ns = b->col[COL_cpu_sample_ns][i],
		};
	}
}

static const struct scan_want want = {GPROF_TABLE_cpu_sample,
	COL_BIT(COL_cpu_sample_time) | COL_BIT(COL_cpu_sample_ns) | COL_BIT(COL_cpu_sample_task) |
		COL_BIT(COL_cpu_sample_native_stack) | COL_BIT(COL_cpu_sample_py_stack),
	0};

static const struct scan_view scan_view = {.wants = &want, .nr_wants = 1, .on_batch = on_batch};

static int by_time(const void *a, const void *b)
{
	const struct code_sample *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

struct code_samples *code_samples_create(struct process *process)
{
	const struct stream_table *table = stream_table(process->stream, GPROF_TABLE_cpu_sample);
	struct code_samples *samples;
	uint32_t thread = table && table->nr_rows ? loop_thread(process) : 0;

	if (!thread) {
		return NULL;
	}
	samples = mem_zeroed(1, sizeof(*samples));
	samples->process = process;
	samples->task = process_tid(process, thread);
	scan_run(&process, 1, &(const struct scan){&scan_view, samples}, 1);
	if (!samples->nr) {
		free(samples);
		return NULL;
	}
	qsort(samples->all, samples->nr, sizeof(*samples->all), by_time);
	samples->at = samples->nr;
	counted_steps_init(&samples->counted, process, false);
	idmap_init(&samples->stacks, sizeof(struct code_stack));
	return samples;
}

void code_samples_destroy(struct code_samples *samples)
{
	if (samples) {
		counted_steps_fini(&samples->counted);
		idmap_fini(&samples->stacks);
		free(samples->open);
		free(samples->all);
		free(samples);
	}
}

/* ---- counting ---- */

void code_samples_open(
	struct code_samples *samples, enum code_part part, uint64_t begin_ns, uint64_t end_ns)
{
	while (samples->at && samples->all[samples->at - 1].time_ns >= end_ns) {
		samples->at--;
	}
	while (samples->at && samples->all[samples->at - 1].time_ns >= begin_ns) {
		samples->open = array_grow(samples->open, samples->nr_open, &samples->open_capacity,
			sizeof(*samples->open));
		samples->open[samples->nr_open++] = (struct code_open){--samples->at, part};
	}
}

static void count(struct code_samples *samples, const struct code_open *open)
{
	const struct code_sample *sample = &samples->all[open->sample];
	struct code_stack *stack = idmap_put(&samples->stacks, sample->stack);

	stack->stack = sample->stack;
	stack->sums[open->part].nr++;
	stack->sums[open->part].cpu_ns += sample->cpu_ns;
}

void code_samples_close(struct code_samples *samples, uint32_t step, bool is_drained)
{
	for (size_t i = 0; i < samples->nr_open && samples->counted.counts[step]; i++) {
		if (!is_drained || samples->open[i].part == CODE_LOADER) {
			count(samples, &samples->open[i]);
		}
	}
	samples->nr_open = 0;
}

/* ---- sums ---- */

/* Where Python's code was, also while machine code ran that it had called; 0: unknown. */
static uint32_t python_place(struct process *process, uint64_t stack)
{
	const struct model_py_stack *at = idmap_get(&process->py_stacks, stack >> 32);
	const struct model_py_code *code = at ? idmap_get(&process->py_codes, at->code) : NULL;

	return code ? py_frame_short_text(code->file, at->line, code->name) : 0;
}

static uint32_t place_of(struct process *process, uint64_t stack)
{
	struct mixed_frame frames[MIXED_STACK_MAX_FRAMES];

	if (mixed_stack_lacks_python(stack)) {
		return 0;
	}
	if (mixed_stack_has_python(stack)) {
		return python_place(process, stack);
	}
	mixed_stack_frames(process, stack, frames);
	return frames[0].function;
}

static void add(struct code_sum *sum, const struct code_sum *more)
{
	sum->nr += more->nr;
	sum->cpu_ns += more->cpu_ns;
}

void code_samples_sum(const struct code_samples *samples, enum code_part part, struct idmap *sums,
	struct code_sum *all)
{
	for (size_t i = 0; i < samples->stacks.nr; i++) {
		const struct code_stack *stack = idmap_at(&samples->stacks, i);
		uint32_t place;

		if (!stack->sums[part].nr) {
			continue;
		}
		add(all, &stack->sums[part]);
		place = place_of(samples->process, stack->stack);
		if (place) {
			struct code_place *sum = idmap_put(sums, place);

			sum->place = place;
			sum->is_python = mixed_stack_has_python(stack->stack);
			add(&sum->sum, &stack->sums[part]);
		}
	}
}
