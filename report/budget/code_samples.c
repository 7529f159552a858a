/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the samples of the loop's thread by the part of the budget that they lie in. The sweep
 * of the budget opens samples stretch by stretch, from the last to the first, and closes them once
 * it knows whether their gap counts.
 */
#include "report/budget/code_samples.h"

#include <stdlib.h>

#include "report/budget/loader_stage.h"
#include "report/model/scan.h"
#include "report/ops/loop.h"
#include "report/util/buf.h"

struct code_stack {
	uint64_t stack;
	struct code_sum sums[NR_CODE_PARTS];
};

/* What the thread was found waiting for has a number, as a stack has, with its kind above. */
struct code_wait {
	struct wait_key key;
	uint64_t number;
	UT_hash_handle hh;
};

static bool is_for_gil(uint64_t wait)
{
	return wait >> 32 == GPROF_OS_GIL;
}

/* ---- reading ---- */

/* Also where its frames could not be read: such samples have no place, but their time counts. */
static bool runs_python(uint64_t stack)
{
	return mixed_stack_has_python(stack) || mixed_stack_lacks_python(stack);
}

static void add_cpu_samples(
	struct code_samples *samples, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct timed_sample sample = timed_sample_of(process, b, i);
		bool is_own = sample.task == samples->task;

		if (is_own || (samples->has_others && runs_python(sample.stack))) {
			timed_samples_add(
				is_own ? &samples->own.samples : &samples->others.samples, &sample);
		}
	}
}

static uint64_t number_of(struct code_samples *samples, const struct wait_key *key)
{
	struct code_wait *wait;

	hash_put(samples->numbered, key, key, wait);
	if (!wait->number) {
		wait->number = (uint64_t)key->kind << 32 | HASH_COUNT(samples->numbered);
	}
	return wait->number;
}

static void add_waits(struct code_samples *samples, struct process *process, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		const struct wait_key key = wait_key_of(b, i);

		if (b->col[COL_wait_sample_task][i] == samples->task) {
			samples->nr_gil += key.kind == GPROF_OS_GIL;
			samples->nr_held += key.holder_stack != 0;
			timed_samples_add(&samples->waits.samples,
				&(struct timed_sample){
					.time_ns = clock_map_time(&process->host_clock,
						b->col[COL_wait_sample_time][i]),
					.stack = number_of(samples, &key),
					.cpu_ns = b->col[COL_wait_sample_ns][i],
					.task = samples->task,
				});
		}
	}
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	if (b->table == GPROF_TABLE_cpu_sample) {
		add_cpu_samples(context, process, b);
	} else {
		add_waits(context, process, b);
	}
}

static const struct scan_want wants[] = {
	{GPROF_TABLE_cpu_sample, TIMED_SAMPLE_COLUMNS, 0},
	{GPROF_TABLE_wait_sample, COLS(wait_sample, time, ns, task) | WAIT_KEY_COLUMNS, 0},
};

static const struct scan_view scan_view = {.wants = wants, .nr_wants = 2, .on_batch = on_batch};

static void sort(struct code_times *times)
{
	timed_samples_sort(&times->samples);
	times->at = times->samples.nr;
}

static bool has_rows(struct process *process, unsigned int number)
{
	const struct stream_table *table = stream_table(process->stream, number);

	return table && table->nr_rows;
}

struct code_samples *code_samples_create(struct process *process)
{
	struct code_samples *samples;
	bool has_samples = has_rows(process, GPROF_TABLE_cpu_sample) ||
			   has_rows(process, GPROF_TABLE_wait_sample);
	uint32_t thread = has_samples ? loop_thread(process) : 0;

	if (!thread) {
		return NULL;
	}
	samples = mem_zeroed(1, sizeof(*samples));
	samples->process = process;
	samples->task = process_tid(process, thread);
	samples->has_others = has_rows(process, GPROF_TABLE_os_call) ||
			      has_rows(process, GPROF_TABLE_wait_sample);
	scan_run(&process, 1, &(const struct scan){&scan_view, samples}, 1);
	if (!samples->own.samples.nr && !samples->others.samples.nr && !samples->waits.samples.nr) {
		free(samples);
		return NULL;
	}
	samples->period_ns = samples->own.samples.nr ? samples->own.samples.all[0].cpu_ns : 0;
	sort(&samples->own);
	sort(&samples->others);
	sort(&samples->waits);
	counted_steps_init(&samples->counted, process, false);
	idmap_init(&samples->stacks, sizeof(struct code_stack));
	idmap_init(&samples->wait_sums, sizeof(struct code_stack));
	return samples;
}

void code_samples_destroy(struct code_samples *samples)
{
	if (samples) {
		counted_steps_fini(&samples->counted);
		idmap_fini(&samples->stacks);
		idmap_fini(&samples->wait_sums);
		hash_free(samples->numbered);
		free(samples->open);
		code_samples_end(samples);
		free(samples);
	}
}

void code_samples_end(struct code_samples *samples)
{
	timed_samples_fini(&samples->own.samples);
	timed_samples_fini(&samples->others.samples);
	timed_samples_fini(&samples->waits.samples);
	samples->own.at = samples->others.at = samples->waits.at = 0;
}

uint64_t code_samples_period_ns(const struct code_samples *samples)
{
	return samples->period_ns;
}

bool code_samples_have_holders(const struct code_samples *samples)
{
	return samples->nr_held >= CODE_PLACE_MIN_SAMPLES &&
	       2 * samples->nr_held >= samples->nr_gil;
}

/* ---- counting ---- */

static void open_times(struct code_samples *samples, struct code_times *times, enum code_part part,
	uint64_t begin_ns, uint64_t end_ns)
{
	const struct timed_sample *all = times->samples.all;

	while (times->at && all[times->at - 1].time_ns >= end_ns) {
		times->at--;
	}
	while (times->at && all[times->at - 1].time_ns >= begin_ns) {
		samples->open = array_grow(samples->open, samples->nr_open, &samples->open_capacity,
			sizeof(*samples->open));
		samples->open[samples->nr_open++] =
			(struct code_open){&all[--times->at], part, times == &samples->waits};
	}
}

void code_samples_open(
	struct code_samples *samples, enum code_part part, uint64_t begin_ns, uint64_t end_ns)
{
	size_t first, last;

	bool has_holders = code_samples_have_holders(samples);

	if (part == CODE_GIL) {
		open_times(samples, has_holders ? &samples->waits : &samples->others, part,
			begin_ns, end_ns);
		return;
	}
	open_times(samples, &samples->own, part, begin_ns, end_ns);
	first = samples->nr_open;
	open_times(samples, &samples->waits, part, begin_ns, end_ns);
	last = samples->nr_open;
	for (size_t i = first; i < last && !has_holders; i++) {
		const struct timed_sample *wait = samples->open[i].sample;

		if (is_for_gil(wait->stack)) {
			open_times(samples, &samples->others, CODE_GIL,
				wait->time_ns - wait->cpu_ns, wait->time_ns);
		}
	}
}

static void count(struct code_samples *samples, const struct code_open *open)
{
	const struct timed_sample *sample = open->sample;
	struct idmap *sums = open->is_wait ? &samples->wait_sums : &samples->stacks;
	struct code_stack *stack = idmap_put(sums, sample->stack);

	stack->stack = sample->stack;
	stack->sums[open->part].nr++;
	stack->sums[open->part].ns += sample->cpu_ns;
}

void code_samples_close(struct code_samples *samples, uint32_t step, bool is_drained)
{
	for (size_t i = 0; i < samples->nr_open && samples->counted.counts[step]; i++) {
		if (is_drained && samples->open[i].part == CODE_USER) {
			samples->open[i].part = CODE_AFTER_WAIT;
		}
		count(samples, &samples->open[i]);
	}
	samples->nr_open = 0;
}

/* ---- sums ---- */

static void add(struct code_sum *sum, const struct code_sum *more)
{
	sum->nr += more->nr;
	sum->ns += more->ns;
}

static void add_place(struct process *process, enum code_part part, uint64_t stack,
	const struct code_sum *more, struct idmap *sums)
{
	bool has_python = mixed_stack_has_python(stack);
	uint32_t own = part == CODE_LOADER && has_python
			       ? loader_stage_own_line(process, (uint32_t)(stack >> 32))
			       : 0;
	uint32_t place = own ? own : mixed_stack_place(process, stack);
	struct code_place *sum = place ? idmap_put(sums, place) : NULL;

	if (sum) {
		sum->place = place;
		sum->nr_python +=
			has_python && !mixed_stack_runs_framework(process, stack) ? more->nr : 0;
		add(&sum->sum, more);
	}
}

/* Where the lock is held meanwhile, whatever part of the budget the waits are in. */
static void sum_holders(
	const struct code_samples *samples, struct idmap *sums, struct code_sum *all)
{
	for (const struct code_wait *wait = samples->numbered; wait; wait = wait->hh.next) {
		const struct code_stack *of = idmap_get(&samples->wait_sums, wait->number);
		struct code_sum sum = {0};

		for (size_t part = 0; of && part < NR_CODE_PARTS; part++) {
			add(&sum, &of->sums[part]);
		}
		if (wait->key.holder_stack && sum.nr) {
			add(all, &sum);
			add_place(samples->process, CODE_GIL,
				mixed_stack_id(0, wait->key.holder_stack), &sum, sums);
		}
	}
}

void code_samples_sum(const struct code_samples *samples, enum code_part part, struct idmap *sums,
	struct code_sum *all)
{
	if (part == CODE_GIL && code_samples_have_holders(samples)) {
		sum_holders(samples, sums, all);
		return;
	}
	for (size_t i = 0; i < samples->stacks.nr; i++) {
		const struct code_stack *stack = idmap_at(&samples->stacks, i);

		if (stack->sums[part].nr) {
			add(all, &stack->sums[part]);
			add_place(samples->process, part, stack->stack, &stack->sums[part], sums);
		}
	}
}

static void add_wait(struct process *process, const struct wait_key *wait,
	const struct code_sum *sum, struct wait_place **places)
{
	uint64_t stack = mixed_stack_id(0, wait->py_stack);
	const struct wait_place_key key = {
		mixed_stack_has_python(stack) ? mixed_stack_place(process, stack) : 0,
		wait_call_name(process, wait), wait_object_name(process, wait), wait->kind,
		!wait->py_stack};
	struct wait_place *place;

	hash_put(*places, key, &key, place);
	add(&place->sum, sum);
}

void code_samples_sum_waits(
	const struct code_samples *samples, enum code_part part, struct wait_place **places)
{
	for (const struct code_wait *wait = samples->numbered; wait; wait = wait->hh.next) {
		const struct code_stack *sums = idmap_get(&samples->wait_sums, wait->number);

		if (sums && sums->sums[part].nr) {
			add_wait(samples->process, &wait->key, &sums->sums[part], places);
		}
	}
}

/* ---- of one thread, or of all ---- */

struct thread_stacks {
	uint32_t task;	     /* 0: all threads, while they ran Python */
	struct idmap stacks; /* struct code_stack, with one sum; of the process that is read */
	void (*each)(
		void *context, struct process *process, uint64_t stack, const struct code_sum *sum);
	void *context;
};

static void take_thread(void *context, struct process *process, const struct batch *b)
{
	struct thread_stacks *thread = context;

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct timed_sample sample = timed_sample_of(process, b, i);

		if (thread->task ? sample.task == thread->task
				 : mixed_stack_has_python(sample.stack)) {
			struct code_stack *stack = idmap_put(&thread->stacks, sample.stack);

			stack->stack = sample.stack;
			add(&stack->sums[0], &(struct code_sum){1, sample.cpu_ns});
		}
	}
}

static void end_process(void *context, struct process *process)
{
	struct thread_stacks *thread = context;

	for (size_t i = 0; i < thread->stacks.nr; i++) {
		const struct code_stack *stack = idmap_at(&thread->stacks, i);

		thread->each(thread->context, process, stack->stack, &stack->sums[0]);
	}
	idmap_fini(&thread->stacks);
	idmap_init(&thread->stacks, sizeof(struct code_stack));
}

static void read_threads(struct process *const *processes, size_t nr_processes,
	const struct scan_view *view, struct thread_stacks thread)
{
	idmap_init(&thread.stacks, sizeof(struct code_stack));
	scan_run(processes, nr_processes, &(const struct scan){view, &thread}, 1);
	idmap_fini(&thread.stacks);
}

struct python_sums {
	struct idmap *sums; /* struct code_place */
	struct code_sum *all;
};

static void add_python(
	void *context, struct process *process, uint64_t stack, const struct code_sum *sum)
{
	const struct python_sums *python = context;

	add(python->all, sum);
	add_place(process, CODE_USER, stack, sum, python->sums);
}

static const struct scan_view python_view = {
	.wants = wants, .nr_wants = 1, .on_batch = take_thread, .end = end_process};

void code_samples_sum_python(struct process *const *processes, size_t nr_processes,
	struct idmap *sums, struct code_sum *all)
{
	struct python_sums python = {sums, all};

	*all = (struct code_sum){0};
	read_threads(processes, nr_processes, &python_view,
		(struct thread_stacks){.each = add_python, .context = &python});
}

static const struct scan_view thread_view = {.wants = wants,
	.nr_wants = 1,
	.on_batch = take_thread,
	.end = end_process,
	.ignores_selection = true};

void code_samples_each_of_thread(struct process *process, uint32_t task,
	void (*each)(
		void *context, struct process *process, uint64_t stack, const struct code_sum *sum),
	void *context)
{
	read_threads(&process, 1, &thread_view,
		(struct thread_stacks){.task = task, .each = each, .context = context});
}

/* Waits that look alike, so that names are looked up once for each. */
struct alike_waits {
	struct wait_key key;
	struct code_sum sum;
	UT_hash_handle hh;
};

struct thread_waits {
	uint32_t task;
	struct alike_waits *sums;
};

static void take_waits(void *context, struct process *process, const struct batch *b)
{
	struct thread_waits *thread = context;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		if (b->col[COL_wait_sample_task][i] == thread->task) {
			const struct wait_key key = wait_key_of(b, i);
			struct alike_waits *alike;

			hash_put(thread->sums, key, &key, alike);
			add(&alike->sum, &(struct code_sum){1, b->col[COL_wait_sample_ns][i]});
		}
	}
}

static const struct scan_view waits_view = {
	.wants = &wants[1], .nr_wants = 1, .on_batch = take_waits, .ignores_selection = true};

void code_samples_sum_thread_waits(
	struct process *process, uint32_t task, struct wait_place **places)
{
	struct thread_waits thread = {.task = task};

	scan_run(&process, 1, &(const struct scan){&waits_view, &thread}, 1);
	for (const struct alike_waits *alike = thread.sums; alike; alike = alike->hh.next) {
		add_wait(process, &alike->key, &alike->sum, places);
	}
	hash_free(thread.sums);
}
