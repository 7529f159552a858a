/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What torch.compile, JAX and others compiled: each compilation with its step, the version of the
 * code that came of it, and its longest stage. Stages are ranges that they mark themselves; they
 * nest, and the own time of one leaves out the stages in it. Compilers that mark none are known by
 * samples (compile_samples.h).
 *
 * The walk goes back in time, and a range comes after what it contains. So the code that runs next
 * in the thread, "Torch-Compiled Region: 0/2", is known before what compiled it, and with
 * GPROF_TORCH=shapes the inputs of its CompiledFunction.
 *
 * Memory: 72 bytes for each compilation; for each thread that compiles 600, and 16 for each name of
 * a stage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/view.h"
#include "report/budget/compile_samples.h"
#include "report/model/time_axis.h"
#include "report/ops/op_walk.h"
#include "report/util/buf.h"
#include "report/util/idmap.h"
#include "report/util/string_pool.h"

/* Stages do not lie as deep; further in they would count as a part of the one around them. */
#define MAX_DEPTH 64u

struct compilation {
	struct process *process;
	uint64_t begin_ns, ns, stage_ns;
	uint32_t name, stage, code, inputs; /* of string_pool.h; the last two may be 0: unknown */
	uint32_t place;			    /* of its step, as in phase_segment; 0: in none */
	uint32_t line, nr_samples;	    /* by samples alone; 0: unknown, and none */
	uint8_t compiler;		    /* enum op_compiler */
	/* For the table. */
	uint64_t start_ns, step;
	struct buf changes;
};

/* All stages of a name in a compilation, without those in them. */
struct stage {
	uint32_t name;
	uint64_t ns;
};

/* The compilation of a thread that is being read. */
struct compiling {
	uint64_t nested_ns[MAX_DEPTH]; /* by depth: of the stages directly in the next one there */
	struct idmap stages;	       /* struct stage, by name */
	uint32_t code, inputs;	       /* of what ran next */
	uint32_t region_inputs;	       /* of the code that is being read */
	bool is_known;
};

/* Which optional columns have a value in any row: only those are shown. */
struct contents {
	bool has_rank, has_step, has_code, has_inputs, has_samples;
	bool has_torch_ranges;
	unsigned int compilers; /* bits of enum op_compiler */
};

struct compilations_view {
	struct view_input input;
	struct compilation *items;
	size_t nr, capacity;
	size_t first;	      /* of that process */
	struct idmap threads; /* struct compiling, of that process by thread */
	uint64_t error_ns;    /* as in compile_samples, of all processes */
	struct contents contents;
};

/* ---- reading ---- */

static void add_item(struct compilations_view *view, const struct compilation *item)
{
	view->items = array_grow(view->items, view->nr, &view->capacity, sizeof(*view->items));
	view->items[view->nr++] = *item;
}

/* The part of compiled code that autograd knows: its inputs are those of the code. */
static bool is_function(uint32_t name)
{
	return !strcmp(string_pool_text(name, NULL), "CompiledFunction");
}

static bool wants(uint32_t name, uint8_t framework, uint8_t scope)
{
	return op_is_compiled(name, framework, scope) ||
	       op_is_compilation(name, framework, scope) ||
	       (framework == GPROF_FRAMEWORK_TORCH && is_function(name));
}

static struct compiling *thread_of(struct compilations_view *view, uint32_t thread)
{
	struct compiling *compiling = idmap_put(&view->threads, thread);

	if (!compiling->is_known) {
		compiling->is_known = true;
		idmap_init(&compiling->stages, sizeof(struct stage));
	}
	return compiling;
}

/* Returns how many stages are around one. */
static size_t depth_of(const struct op *op)
{
	size_t depth = 0;

	for (op = op->parent; op; op = op->parent) {
		depth += op_is_compilation(op->name, op->framework, op->scope);
	}
	return depth;
}

/* "0/2" of "Torch-Compiled Region: 0/2"; 0: it has no number, as in PyTorch 2.3. */
static uint32_t code_of(uint32_t name)
{
	const char *text = string_pool_text(name, NULL) + strlen(OP_COMPILED_PREFIX);

	text += strspn(text, ": ");
	return *text ? string_pool_intern(text, strlen(text)) : 0;
}

/* A name without " (dynamo_timed)", or "pytorch.wait_counter.": a stage may be there by both. */
static uint32_t stage_of(uint32_t name)
{
	const char *text = string_pool_text(name, NULL), *end = strrchr(text, ' ');
	size_t nr_prefix = strlen(OP_COUNTED_PREFIX);

	text += strncmp(text, OP_COUNTED_PREFIX, nr_prefix) == 0 ? nr_prefix : 0;
	return string_pool_intern(text, end ? (size_t)(end - text) : strlen(text));
}

static void find_longest_stage(const struct idmap *stages, struct compilation *item)
{
	for (size_t i = 0; i < stages->nr; i++) {
		const struct stage *stage = idmap_at(stages, i);

		if (!item->stage || stage->ns > item->stage_ns) {
			item->stage = stage->name;
			item->stage_ns = stage->ns;
		}
	}
}

/* The function of JAX that is compiled: "step" of the "PjitFunction(step)" around; 0: none is
 * known. */
static uint32_t jax_code_of(const struct op *op)
{
	static const char prefix[] = "PjitFunction(";

	for (op = op->parent; op; op = op->parent) {
		const char *text = string_pool_text(op->name, NULL);

		if (strncmp(text, prefix, sizeof(prefix) - 1) == 0) {
			text += sizeof(prefix) - 1;
			return string_pool_intern(text, strcspn(text, ")"));
		}
	}
	return 0;
}

/* The code that autograd compiles is that of its own operator. */
static void add_compilation(struct compilations_view *view, struct compiling *compiling,
	const struct op *op, uint64_t ns)
{
	struct process *process = view->input.process;
	bool is_whole = !(op->is & OP_IS_COVERED);
	enum op_compiler compiler = op_compiler(op->name, op->framework, op->scope);
	bool is_jax = compiler == OP_COMPILER_JAX;
	struct compilation item = {.process = process,
		.begin_ns = clock_map_time(&process->host_clock, op->begin),
		.ns = ns,
		.compiler = (uint8_t)compiler,
		.name = op->name,
		.code = is_jax	   ? jax_code_of(op)
			: is_whole ? compiling->code
				   : 0,
		.inputs = is_whole ? compiling->inputs : 0,
		.place = process->nr_steps > 1 ? (uint32_t)process_steps_begun(process, op->begin)
					       : 0};

	find_longest_stage(&compiling->stages, &item);
	add_item(view, &item);
	if (is_whole) {
		compiling->code = compiling->inputs = 0;
	}
	idmap_fini(&compiling->stages);
	idmap_init(&compiling->stages, sizeof(struct stage));
}

static void begin(void *context, struct process *process)
{
	struct compilations_view *view = context;

	(void)process;
	view->first = view->nr;
	idmap_init(&view->threads, sizeof(struct compiling));
}

static void on_op(void *context, const struct op *op)
{
	struct compilations_view *view = context;
	struct compiling *compiling;
	struct clock_map *clock = &view->input.process->host_clock;
	struct stage *stage;
	size_t depth;
	uint64_t ns;

	/* Beside too many other views it gets all operators. */
	if (!wants(op->name, op->framework, op->scope)) {
		return;
	}
	compiling = thread_of(view, op->thread);
	if (is_function(op->name)) {
		compiling->region_inputs = op->shape;
		return;
	}
	if (op_is_compiled(op->name, op->framework, op->scope)) {
		compiling->code = code_of(op->name);
		compiling->inputs = compiling->region_inputs;
		compiling->region_inputs = 0;
		return;
	}
	depth = depth_of(op);
	if (depth >= MAX_DEPTH) {
		return;
	}
	ns = clock_map_time(clock, op->end) - clock_map_time(clock, op->begin);
	stage = idmap_put(&compiling->stages, stage_of(op->name));
	stage->name = stage_of(op->name);
	stage->ns += ns > compiling->nested_ns[depth] ? ns - compiling->nested_ns[depth] : 0;
	compiling->nested_ns[depth] = 0;
	if (depth) {
		compiling->nested_ns[depth - 1] += ns;
	} else {
		add_compilation(view, compiling, op, ns);
	}
}

static int by_falling_begin(const void *a, const void *b)
{
	const struct compilation *x = a, *y = b;

	return (x->begin_ns < y->begin_ns) - (x->begin_ns > y->begin_ns);
}

static void add_sampled(struct compilations_view *view, struct process *process)
{
	struct compile_samples sampled;

	compile_samples_find(&sampled, process);
	for (size_t i = 0; i < sampled.nr; i++) {
		const struct sampled_compilation *of = &sampled.items[i];
		const char *name = op_compiler_texts[of->compiler].title;

		add_item(view, &(struct compilation){.process = process,
				       .begin_ns = of->begin_ns,
				       .ns = of->end_ns - of->begin_ns,
				       .name = string_pool_intern(name, strlen(name)),
				       .stage = of->stage,
				       .stage_ns = of->stage_ns,
				       .place = of->step,
				       .line = of->line,
				       .nr_samples = of->nr,
				       .compiler = of->compiler});
	}
	if (sampled.nr) {
		qsort(&view->items[view->first], view->nr - view->first, sizeof(*view->items),
			by_falling_begin);
	}
	view->error_ns = sampled.error_ns > view->error_ns ? sampled.error_ns : view->error_ns;
	compile_samples_fini(&sampled);
}

static void end(void *context, struct process *process, const struct phases *phases)
{
	struct compilations_view *view = context;

	(void)phases;
	add_sampled(view, process);
	for (size_t i = 0; i < view->threads.nr; i++) {
		struct compiling *compiling = idmap_at(&view->threads, i);

		idmap_fini(&compiling->stages);
	}
	idmap_fini(&view->threads);
}

/* ---- why it was compiled again ---- */

/*
 * Returns the code of the version before that one, 0 if it is the first, or of JAX, which has no
 * numbers.
 */
static uint32_t code_before(uint32_t code)
{
	const char *text = string_pool_text(code, NULL), *version = strchr(text, '/');
	unsigned long number = version ? strtoul(version + 1, NULL, 10) : 0;
	char before[64];

	if (!number) {
		return 0;
	}
	snprintf(before, sizeof(before), "%.*s/%lu",
		(int)(version - text < 32 ? version - text : 32), text, number - 1);
	return string_pool_intern(before, strlen(before));
}

/* Inputs are separated by ", ", which is not within one. Returns the length of the first. */
static size_t input_bytes(const char *inputs)
{
	const char *end = strstr(inputs, ", ");

	return end ? (size_t)(end - inputs) : strlen(inputs);
}

static const char *next_input(const char *input, size_t nr_bytes)
{
	return input[nr_bytes] ? input + nr_bytes + 2 : input + nr_bytes;
}

/* Appends as "[16,64] -> [24,64]", with types where these differ; empty: there is no such input. */
static void add_change(
	const char *before, size_t nr_before, const char *now, size_t nr_now, struct buf *out)
{
	size_t nr_type = strcspn(now, "[");
	bool is_size = nr_type < nr_now && nr_type < nr_before && !memcmp(before, now, nr_type + 1);

	nr_type = is_size ? nr_type : 0;
	buf_text(out, out->nr_bytes ? ", " : "");
	buf_add(out, nr_before ? before + nr_type : "none", nr_before ? nr_before - nr_type : 4);
	buf_text(out, " -> ");
	buf_add(out, nr_now ? now + nr_type : "none", nr_now ? nr_now - nr_type : 4);
}

/* Appends each input that differs. */
static void add_changes(const char *before, const char *now, struct buf *out)
{
	while (*before || *now) {
		size_t nr_before = input_bytes(before), nr_now = input_bytes(now);

		if (nr_before != nr_now || memcmp(before, now, nr_now) != 0) {
			add_change(before, nr_before, now, nr_now, out);
		}
		before = next_input(before, nr_before);
		now = next_input(now, nr_now);
	}
}

/* `inputs` has those of the compilations of the process so far, uint32_t by code. */
static void find_changes(struct compilation *item, struct idmap *inputs)
{
	uint32_t code = item->inputs ? code_before(item->code) : 0;
	const uint32_t *before = code ? idmap_get(inputs, code) : NULL;

	if (before) {
		add_changes(string_pool_text(*before, NULL), string_pool_text(item->inputs, NULL),
			&item->changes);
	}
	if (item->code && item->inputs) {
		*(uint32_t *)idmap_put(inputs, item->code) = item->inputs;
	}
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	TABLE_COLUMN("pid", "PID", TABLE_ID, VIEW_PID(compilation, process)),
	TABLE_COLUMN("rank", "Rank", TABLE_ID,
		TABLE_WIDE_UNLESS(compilations_view, contents.has_rank),
		VIEW_RANK(compilation, process)),
	TABLE_COLUMN("name", "Compilation", TABLE_NAME, .is_name = true,
		.help = "as the framework names it", TABLE_MEMBER(compilation, name)),
	TABLE_COLUMN("code", "Code", TABLE_NAME,
		.help = "that came of it. PyTorch numbers it: 0/2 is version 2 of code 0, "
			"which PyTorch had compiled before (0/0 is the first one); unknown "
			"for a backward pass. Of JAX: the function",
		TABLE_NONZERO(compilation, code)),
	TABLE_COLUMN("line", "Called at", TABLE_NAME,
		.help = "by samples: the line of the program that called what was compiled",
		TABLE_WIDE_UNLESS(compilations_view, contents.has_samples),
		TABLE_IF(compilation, line, line)),
	TABLE_COLUMN("step", "Step", TABLE_ID, .help = "in which it began",
		TABLE_WIDE_UNLESS(compilations_view, contents.has_step),
		TABLE_MEMBER(compilation, step)),
	TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME, .is_major = true,
		TABLE_MEMBER(compilation, ns)),
	TABLE_COLUMN("samples", "Samples", TABLE_COUNT,
		.help = "by which it is known; its times are estimates. None: ranges measure it",
		TABLE_WIDE_UNLESS(compilations_view, contents.has_samples),
		TABLE_IF(compilation, nr_samples, nr_samples)),
	TABLE_COLUMN("start_ns", "Start", TABLE_TIME, .is_minor = true,
		.help = "since the start of the recording", TABLE_MEMBER(compilation, start_ns)),
	TABLE_COLUMN("changes", "Changed inputs", TABLE_TEXT,
		.help = "of the code, since the version before; with GPROF_TORCH=shapes, if "
			"autograd records it",
		TABLE_WIDE_UNLESS(compilations_view, contents.has_inputs),
		TABLE_BUF(compilation, changes)),
	TABLE_COLUMN("stage", "Longest stage", TABLE_NAME,
		.help = "in it, without the stages in that one", TABLE_MEMBER(compilation, stage)),
	TABLE_COLUMN("stage_ns", "Stage time", TABLE_TIME, .is_minor = true,
		.help = "of all its stages of that name", TABLE_MEMBER(compilation, stage_ns)),
};

static void note_reasons(struct table *table, const struct contents *contents)
{
	for (unsigned int i = 0; i < NR_OP_COMPILERS; i++) {
		const struct op_compiler_text *text = &op_compiler_texts[i];

		if (contents->compilers >> i & 1 && text->reason[0]) {
			table_note(table, "%s says why %s again.%s", text->reason, text->does,
				i == OP_COMPILER_TORCH && contents->has_torch_ranges &&
						!contents->has_inputs
					? " With GPROF_TORCH=shapes, inputs that changed are here."
					: "");
		}
	}
}

static void add_notes(
	const struct compilations_view *view, struct table *table, const struct contents *contents)
{
	if (!table->nr_rows) {
		table_note(table, "None was recorded.");
	}
	note_reasons(table, contents);
	if (contents->has_samples) {
		table_note(table,
			"Those with samples are estimates: both ends are up to about %.0f ms off, "
			"and "
			"fewer than %u samples are none.",
			(double)view->error_ns / 1e6, COMPILE_MIN_SAMPLES);
	}
}

static void note_contents(struct contents *contents, const struct compilation *item)
{
	contents->has_rank |= item->process->rank >= 0;
	contents->has_step |= item->place > 0;
	contents->has_code |= item->code != 0;
	contents->has_inputs |= item->inputs != 0;
	contents->has_samples |= item->nr_samples != 0;
	contents->has_torch_ranges |= item->compiler == OP_COMPILER_TORCH && !item->nr_samples;
	contents->compilers |= 1u << item->compiler;
}

static void add_row(struct table *table, struct compilation *item)
{
	item->start_ns = time_axis_time(item->process, item->begin_ns);
	item->step = item->place ? item->process->steps[item->place - 1].step : UINT64_MAX;
	item->name = item->nr_samples ? item->name : stage_of(item->name);
	table_add(table, item);
	buf_fini(&item->changes);
}

static void fill(void *state, struct table *table)
{
	struct compilations_view *view = state;
	const struct contents *contents = &view->contents;
	struct idmap of_codes;

	idmap_init(&of_codes, sizeof(uint32_t));
	for (size_t i = view->nr; i-- > 0;) {
		struct compilation *item = &view->items[i];

		if (i + 1 < view->nr && item->process != view->items[i + 1].process) {
			idmap_fini(&of_codes);
			idmap_init(&of_codes, sizeof(uint32_t));
		}
		find_changes(item, &of_codes);
		note_contents(&view->contents, item);
		add_row(table, item);
	}
	idmap_fini(&of_codes);
	table_set_state(table, view);
	table_set_wide(table, "code", contents->has_samples && !contents->has_code);
	add_notes(view, table, contents);
}

static void fini(void *state)
{
	free(((struct compilations_view *)state)->items);
}

VIEW(compilations, 319) = {
	.name = "compilations",
	.subject = VIEW_ABOUT_HOST,
	.help = "what torch.compile, JAX, Triton and others compiled, when, and the longest stage",
	.about =
		"A compilation is the outermost of the stages that PyTorch or JAX marks. "
		"Files that its pool of processes or threads compiles are none: the loop waits for "
		"them in a stage. Of compilers that mark none, one is at least 3 samples of a "
		"thread in a row that are in the compiler, called from one line.",
	.is_empty_hidden = true,
	.title = "Compilations",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct compilations_view),
	.ops = {.begin = begin,
		.op = on_op,
		.op_wants = wants,
		.has_ops = op_has_compilations,
		.end = end},
	.fill = fill,
	.fini = fini,
};
