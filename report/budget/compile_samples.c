/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the samples in a compiler and, in a second pass, those near them, sorts them by thread and
 * time, and joins those of a compiler that follow each other. Many samples have the same stack,
 * which is looked at once.
 */
#include "report/budget/compile_samples.h"

#include <stdlib.h>
#include <string.h>

#include "report/model/mixed_stack.h"
#include "report/model/py_stack.h"
#include "report/model/scan.h"
#include "report/util/buf.h"
#include "report/util/sort.h"
#include "report/util/string_pool.h"

/* A damaged stream may have cycles of stacks. */
#define MAX_FRAMES 256u

/*
 * Two samples may be apart by so many periods. A thread that is looked at while it waits has no
 * samples only where it lacks a CPU; any other one may wait for something else. Between them it may
 * have run for so many periods without its frames being read.
 */
#define MAX_GAP_PERIODS	       2u
#define MAX_GAP_PERIODS_LOOKED 100u
#define MAX_UNREAD_PERIODS     10u
#define MAX_GAP_NS	       (2 * MAX_GAP_PERIODS_LOOKED * (uint64_t)COMPILE_WAIT_PERIOD_NS)

struct frame {
	const char *path, *function, *stage;
	enum op_compiler compiler;
	bool is_native;
};

static const struct frame frames[] = {
#define COMPILER_FRAME(compiler, stage, path, function) \
	{path, function, stage, OP_COMPILER_##compiler, false},
#define COMPILER_NATIVE(compiler, stage, file, function) \
	{file, function, stage, OP_COMPILER_##compiler, true},
#include "report/ops/compiler.def"
};

#define NR_FRAMES (sizeof(frames) / sizeof(frames[0]))

/* ---- stacks ---- */

/* Values of model_py_code.compiler: 1 is none, others are 2 + the index of the frame. */
enum { CODE_NONE = 1, CODE_FRAMES = 2 };

static bool ends_with(const char *path, const char *end)
{
	size_t nr_bytes = strlen(path), nr_end = strlen(end);

	return nr_bytes >= nr_end && !strcmp(path + nr_bytes - nr_end, end);
}

static uint16_t find_frame(const struct model_py_code *code)
{
	const char *path = code->file ? string_pool_text(code->file, NULL) : "";
	const char *function = string_pool_text(code->name, NULL);

	for (uint16_t i = 0; i < NR_FRAMES; i++) {
		if (!frames[i].is_native && !strcmp(function, frames[i].function) &&
			ends_with(path, frames[i].path)) {
			return (uint16_t)(CODE_FRAMES + i);
		}
	}
	return CODE_NONE;
}

/* NULL: the function is none of a compiler. Rules compare texts: each is looked at once. */
static const struct frame *frame_of(struct model_py_code *code)
{
	if (!code->compiler) {
		code->compiler = find_frame(code);
	}
	return code->compiler == CODE_NONE ? NULL : &frames[code->compiler - CODE_FRAMES];
}

/* Is it a file, or if `function` is given a function of one, that a rule names? Else NULL. */
static const struct frame *native_rule(const struct model_code_file *file, const char *function)
{
	const char *path = file ? string_pool_text(file->path, NULL) : "", *slash;

	slash = strrchr(path, '/');
	for (size_t i = 0; i < NR_FRAMES; i++) {
		const struct frame *frame = &frames[i];

		if (frame->is_native &&
			!strncmp(slash ? slash + 1 : path, frame->path, strlen(frame->path)) &&
			(!function || strstr(function, frame->function))) {
			return frame;
		}
	}
	return NULL;
}

static bool has_native(struct process *process)
{
	for (size_t i = 0; i < process->code_files.nr; i++) {
		if (native_rule(idmap_at(&process->code_files, i), NULL)) {
			return true;
		}
	}
	return false;
}

/* The innermost frame of a stack that a rule names. Symbols of other files are not read for it. */
static const struct frame *find_native(struct process *process, uint32_t number)
{
	const struct model_native_stack *stack = idmap_get(&process->native_stacks, number);
	const struct frame *found = NULL;

	for (unsigned int i = 0; stack && !found && i < NATIVE_STACK_MAX_FRAMES; i++) {
		uint32_t parent = stack->parent, caller, code_file = stack->code_file;

		if (native_rule(idmap_get(&process->code_files, code_file), NULL)) {
			uint32_t name = native_stack_frame(process, number, &caller).function;

			found = native_rule(idmap_get(&process->code_files, code_file),
				string_pool_text(name, NULL));
		}
		number = parent;
		stack = idmap_get(&process->native_stacks, parent);
	}
	return found;
}

static bool has_frames(struct process *process)
{
	for (size_t i = 0; i < process->py_codes.nr; i++) {
		if (frame_of(idmap_at(&process->py_codes, i))) {
			return true;
		}
	}
	return false;
}

/* A stack, as far as it shows a compiler; texts are numbers of string_pool.h. */
struct compile_stack {
	const struct frame *stage; /* the innermost frame of a compiler; NULL: there is none */
	uint32_t line;
	uint8_t compiler; /* enum op_compiler, of the outermost such frame */
	bool is_known;
};

/* Does it stand for frames further out than the recorder keeps? */
static bool is_omitted(const struct model_py_code *code)
{
	return !code->file || !strcmp(string_pool_text(code->file, NULL), "...");
}

/*
 * The line is the innermost one of the program around the outermost frame of the compiler: what the
 * compiler calls to trace it is the program's, too. Where a package runs the whole program, it is
 * the outermost line.
 */
static struct compile_stack read_stack(
	struct process *process, uint32_t number, const struct frame *native)
{
	const struct model_py_stack *stack = idmap_get(&process->py_stacks, number), *at = NULL;
	struct compile_stack found = {.stage = native,
		.compiler = native ? (uint8_t)native->compiler : OP_COMPILER_NONE,
		.is_known = true};
	const struct model_py_code *called_by = NULL; /* at line at->line */

	for (unsigned int i = 0; stack && i < MAX_FRAMES; i++) {
		struct model_py_code *code = idmap_get(&process->py_codes, stack->code);
		const struct frame *frame = code ? frame_of(code) : NULL;

		if (frame) {
			found.stage = found.stage ? found.stage : frame;
			found.compiler = (uint8_t)frame->compiler;
			called_by = NULL;
		} else if (found.stage && code && !is_omitted(code) &&
			   (!called_by || py_file_is_library(called_by->file))) {
			called_by = code;
			at = stack;
		}
		stack = stack->parent ? idmap_get(&process->py_stacks, stack->parent) : NULL;
	}
	if (called_by) {
		found.line = py_frame_short_text(called_by->file, at->line, called_by->name);
	}
	return found;
}

/* ---- reading ---- */

struct sample {
	uint64_t tick, ns;
	uint32_t task, stack, native; /* native: 0 unless a rule may name a frame of it */
	bool is_wait;
};

/* How a thread is sampled. */
struct sampling {
	uint64_t period_ns; /* 0: not known yet */
	bool is_looked_at;  /* while it waits */
};

/* Two passes over the samples: compiling ones first, then those near them, which are few. */
struct finder {
	struct process *process;
	struct compile_samples *found;
	struct sample *samples;
	size_t nr_samples, sample_capacity, capacity;
	size_t nr_compiling;  /* of the samples, by task and time; 0 in the first pass */
	struct idmap stacks;  /* struct compile_stack, as mixed_stack.h numbers them */
	struct idmap threads; /* struct sampling, by task */
	bool leaves_torch;    /* its ranges are exact */
	bool has_native;
};

static const struct compile_stack *stack_of(struct finder *finder, const struct sample *sample)
{
	struct process *process = finder->process;
	struct compile_stack *stack =
		idmap_put(&finder->stacks, mixed_stack_id(sample->native, sample->stack));

	if (!stack->is_known) {
		*stack = read_stack(process, sample->stack,
			sample->native ? find_native(process, sample->native) : NULL);
		if (finder->leaves_torch && stack->compiler == OP_COMPILER_TORCH) {
			*stack = (struct compile_stack){.is_known = true};
		}
	}
	return stack;
}

static int by_task(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return ORDER(COMPARE(x->task, y->task), COMPARE(x->tick, y->tick));
}

static bool is_near(
	const struct finder *finder, const struct sample *sample, const struct sample *other)
{
	uint64_t a = clock_map_time(&finder->process->host_clock, sample->tick);
	uint64_t b = clock_map_time(&finder->process->host_clock, other->tick);

	return sample->task == other->task && (a > b ? a - b : b - a) <= MAX_GAP_NS;
}

/* A sample further from compiling ones neither begins nor ends a compilation. */
static bool is_near_compiling(const struct finder *finder, const struct sample *sample)
{
	size_t next;

	BISECT(next, 0, finder->nr_compiling, by_task(&finder->samples[next], sample) < 0);
	return (next < finder->nr_compiling && is_near(finder, sample, &finder->samples[next])) ||
	       (next && is_near(finder, sample, &finder->samples[next - 1]));
}

/* The shortest sample shows the period: some that the recorder itself takes stand for more. */
static void note_sampling(struct finder *finder, const struct sample *sample)
{
	struct sampling *sampling = idmap_put(&finder->threads, sample->task);

	if (!sampling->period_ns) {
		sampling->period_ns = COMPILE_WAIT_PERIOD_NS;
	}
	sampling->is_looked_at |= sample->is_wait;
	if (!sample->is_wait && sample->ns < sampling->period_ns) {
		sampling->period_ns = sample->ns;
	}
}

static bool is_kept(struct finder *finder, const struct sample *sample)
{
	bool is_compiling =
		sample->stack != GPROF_PY_STACK_NOT_READ && stack_of(finder, sample)->stage;

	if (!finder->nr_compiling) {
		note_sampling(finder, sample);
		return is_compiling;
	}
	return !is_compiling && is_near_compiling(finder, sample);
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct finder *finder = context;
	bool is_wait = b->table == GPROF_TABLE_wait_sample;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct sample sample = {.is_wait = is_wait};

		sample.stack = (uint32_t)b->col[is_wait ? COL_wait_sample_py_stack
							: COL_cpu_sample_py_stack][i];
		if (!is_wait && finder->has_native) {
			sample.native = (uint32_t)b->col[COL_cpu_sample_native_stack][i];
		}
		if (!sample.stack && !sample.native) {
			continue; /* the thread does not run Python */
		}
		sample.tick = b->col[is_wait ? COL_wait_sample_time : COL_cpu_sample_time][i];
		sample.ns = b->col[is_wait ? COL_wait_sample_ns : COL_cpu_sample_ns][i];
		sample.task =
			(uint32_t)b->col[is_wait ? COL_wait_sample_task : COL_cpu_sample_task][i];
		if (is_kept(finder, &sample)) {
			finder->samples = array_grow(finder->samples, finder->nr_samples,
				&finder->sample_capacity, sizeof(sample));
			finder->samples[finder->nr_samples++] = sample;
		}
	}
}

static const struct scan_want wants[] = {
	{GPROF_TABLE_cpu_sample, COLS(cpu_sample, time, ns, task, native_stack, py_stack), 0},
	{GPROF_TABLE_wait_sample, COLS(wait_sample, time, ns, task, py_stack), 0},
};

static const struct scan_view scan_view = {.wants = wants, .nr_wants = 2, .on_batch = on_batch};

static int by_end(const void *a, const void *b)
{
	const struct sampled_compilation *x = a, *y = b;

	return COMPARE(x->end, y->end);
}

static void scan_samples(struct finder *finder)
{
	scan_run(&finder->process, 1, &(const struct scan){&scan_view, finder}, 1);
	if (finder->nr_samples) {
		qsort(finder->samples, finder->nr_samples, sizeof(*finder->samples), by_task);
	}
}

/* ---- joining ---- */

/* The samples of a compilation so far. */
struct run {
	struct sampled_compilation item; /* nr 0: there are none */
	uint64_t stage_ns[NR_FRAMES];
	uint64_t unread_ns; /* since the last one */
};

static void begin_run(struct finder *finder, struct run *run, const struct compile_stack *stack,
	const struct sample *sample, uint64_t time_ns, uint64_t after_ns)
{
	const struct process *process = finder->process;
	const uint32_t *thread = idmap_get(&process->thread_of, sample->task);
	size_t step = process_steps_begun(process, sample->tick);
	uint64_t begin_ns = time_ns > sample->ns ? time_ns - sample->ns : 0;

	if (step) {
		uint64_t step_ns =
			clock_map_time(&finder->process->host_clock, process->steps[step - 1].tick);

		after_ns = after_ns > step_ns ? after_ns : step_ns;
	}
	memset(run, 0, sizeof(*run));
	run->item =
		(struct sampled_compilation){.begin_ns = begin_ns > after_ns ? begin_ns : after_ns,
			.thread = thread ? *thread : 0,
			.step = process->nr_steps > 1 ? (uint32_t)step : 0,
			.line = stack->line,
			.compiler = stack->compiler};
}

static void end_run(struct finder *finder, struct run *run)
{
	struct compile_samples *found = finder->found;
	size_t most = 0;

	if (run->item.nr >= COMPILE_MIN_SAMPLES) {
		for (size_t i = 1; i < NR_FRAMES; i++) {
			most = run->stage_ns[i] > run->stage_ns[most] ? i : most;
		}
		run->item.stage_ns = run->stage_ns[most];
		run->item.stage =
			string_pool_intern(frames[most].stage, strlen(frames[most].stage));
		found->items = array_grow(
			found->items, found->nr, &finder->capacity, sizeof(*found->items));
		found->items[found->nr++] = run->item;
	}
	run->item.nr = 0;
}

/* How far apart the samples of a compilation may be, and how long what is unread between them. */
struct most {
	uint64_t gap_ns, unread_ns;
};

/* Does the run go on with that sample of its thread? */
static bool goes_on(const struct run *run, const struct compile_stack *stack,
	const struct sample *sample, uint64_t time_ns, const struct most *most)
{
	return stack->stage && stack->compiler == run->item.compiler &&
	       stack->line == run->item.line &&
	       time_ns <= run->item.end_ns + sample->ns + most->gap_ns &&
	       run->unread_ns <= most->unread_ns;
}

/* A stage counts by its name: several functions may be at work in one. */
static void add_sample(struct compile_samples *found, struct run *run,
	const struct compile_stack *stack, const struct sample *sample, uint64_t time_ns)
{
	uint64_t error_ns = sample->is_wait ? COMPILE_WAIT_PERIOD_NS : sample->ns;
	size_t first = 0;

	while (strcmp(frames[first].stage, stack->stage->stage) != 0) {
		first++;
	}
	run->stage_ns[first] += sample->ns;
	run->unread_ns = 0;
	run->item.nr++;
	run->item.end = sample->tick;
	run->item.end_ns = time_ns;
	found->error_ns = error_ns > found->error_ns ? error_ns : found->error_ns;
}

static struct most most_of(const struct sampling *sampling)
{
	return (struct most){
		.gap_ns = sampling->period_ns *
			  (sampling->is_looked_at ? MAX_GAP_PERIODS_LOOKED : MAX_GAP_PERIODS),
		.unread_ns = sampling->period_ns * MAX_UNREAD_PERIODS};
}

static void find_in_thread(struct finder *finder, const struct sample *samples, size_t nr)
{
	const struct most most = most_of(idmap_get(&finder->threads, samples->task));
	uint64_t before_ns = 0;
	struct run run = {.item = {.nr = 0}};

	for (size_t i = 0; i < nr; i++) {
		const struct sample *sample = &samples[i];
		uint64_t time_ns = clock_map_time(&finder->process->host_clock, sample->tick);
		const struct compile_stack *stack;

		if (sample->stack == GPROF_PY_STACK_NOT_READ) {
			run.unread_ns += sample->ns;
			continue;
		}
		stack = stack_of(finder, sample);
		if (run.item.nr && !goes_on(&run, stack, sample, time_ns, &most)) {
			end_run(finder, &run);
		}
		if (stack->stage) {
			if (!run.item.nr) {
				begin_run(finder, &run, stack, sample, time_ns, before_ns);
			}
			add_sample(finder->found, &run, stack, sample, time_ns);
		}
		before_ns = time_ns;
	}
	end_run(finder, &run);
}

void compile_samples_find(struct compile_samples *samples, struct process *process)
{
	struct finder finder = {.process = process, .found = samples};
	size_t from = 0;

	*samples = (struct compile_samples){0};
	finder.has_native = has_native(process);
	if (!finder.has_native && !has_frames(process)) {
		return;
	}
	finder.leaves_torch = op_has_compilations(process);
	idmap_init(&finder.stacks, sizeof(struct compile_stack));
	idmap_init(&finder.threads, sizeof(struct sampling));
	scan_samples(&finder);
	finder.nr_compiling = finder.nr_samples;
	if (finder.nr_compiling) {
		scan_samples(&finder);
	}
	for (size_t i = 1; i <= finder.nr_samples; i++) {
		if (i == finder.nr_samples || finder.samples[i].task != finder.samples[from].task) {
			find_in_thread(&finder, &finder.samples[from], i - from);
			from = i;
		}
	}
	if (samples->nr) {
		qsort(samples->items, samples->nr, sizeof(*samples->items), by_end);
	}
	idmap_fini(&finder.stacks);
	idmap_fini(&finder.threads);
	free(finder.samples);
}

void compile_samples_fini(struct compile_samples *samples)
{
	free(samples->items);
	*samples = (struct compile_samples){0};
}

uint32_t sampled_compilation_text(const struct sampled_compilation *item)
{
	struct buf text = {0};
	uint32_t number;

	buf_text(&text, op_compiler_texts[item->compiler].title);
	if (item->line) {
		buf_printf(&text, " at %s", string_pool_text(item->line, NULL));
	}
	number = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return number;
}
