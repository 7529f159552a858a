/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function is known by the addresses of its objects: names are read once for each. Python may use
 * the memory of a function that is gone for another one, but then hardly its name's, its file's and
 * its table's of lines as well. A stack is its innermost frame, and the id of its caller's stack.
 * If the stream may lack definitions (dictionary_forget), all are made anew, by new ids.
 */
#include "collector/sample/python_sample.h"

#include <stdatomic.h>
#include <string.h>

#include "collector/format/format.h"
#include "collector/format/intern.h"
#include "collector/sample/compiled_code.h"
#include "collector/sample/task_list.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"
#include "collector/util/clock.h"
#include "collector/util/notice.h"

/* Our ids follow it. Those of preload/python/python_stack.c are smaller. */
#define FIRST_ID (1u << 20)

/* Doublings of them, up to 65,536 files, 262,144 functions and 1,048,576 stacks. */
#define NR_FILES    512u
#define NR_CODES    8192u
#define NR_STACKS   32768u
#define MORE_FILES  7u
#define MORE_CODES  5u
#define MORE_STACKS 5u

/* Samples of a thread in one look; later ones stand for the rest. */
#define MAX_AT_ONCE 100u
/* After so many without one a thread that is only ready for a CPU has them, too. */
#define LATE_PERIODS 10u

_Atomic(const struct python_sampler *) python_sampler;

struct code_key {
	uintptr_t code, file, name, lines;
	uint64_t first_line;
};

struct stack_key {
	uint32_t parent, code;
	uint64_t offset;
};

static struct python_sample_state {
	struct intern files; /* by their id in table string */
	struct intern codes;
	struct intern stacks;
	uint32_t era; /* dictionary_era() when the ids were made */
} state;

int python_sample_init(void)
{
	int rc = intern_init(&state.files, NR_FILES, NR_FILES * sizeof(uint32_t), MORE_FILES);

	state.era = dictionary_era();
	if (!rc) {
		rc = intern_init(
			&state.codes, NR_CODES, NR_CODES * sizeof(struct code_key), MORE_CODES);
	}
	return rc ? rc
		  : intern_init(&state.stacks, NR_STACKS, NR_STACKS * sizeof(struct stack_key),
			    MORE_STACKS);
}

void python_sample_fini(void)
{
	intern_fini(&state.files);
	intern_fini(&state.codes);
	intern_fini(&state.stacks);
	memset(&state, 0, sizeof(state));
}

static void forget(void)
{
	intern_forget(&state.files);
	intern_forget(&state.codes);
	intern_forget(&state.stacks);
	state.era = dictionary_era();
}

/* Nothing is lost then, as in dictionary_look. */
static void look_at_room(void)
{
	static atomic_uint told_in;

	if ((state.codes.nr_forgotten || state.stacks.nr_forgotten) && notice_is_first(&told_in)) {
		notice_add("many names", 0,
			"the program has over 1,048,576 Python stacks or 262,144 functions, more "
			"than gprof remembers, or memory is short; nothing is lost, but they are "
			"defined again and again, and the file grows faster. Lower GPROF_CPU_HZ");
	}
}

static uint32_t text_id(const char *text)
{
	return dictionary_text(text, strlen(text));
}

static uint32_t file_id(const char *path)
{
	uint32_t name = text_id(path);
	const struct intern_entry *entry;
	struct gprof_row_py_file *row;
	uint32_t id;
	bool is_new;

	entry = intern_find(&state.files, &name, sizeof(name), &is_new);
	id = FIRST_ID + entry->id;
	if (is_new) {
		row = batch_add(GPROF_TABLE_py_file);
		row->id = id;
		row->name = name;
		compiled_code_look(path);
	}
	return id;
}

static void add_code(uint32_t id, uint32_t first_line, const struct python_names *names)
{
	uint32_t file = file_id(names->file), name = text_id(names->function);
	struct gprof_row_py_code *row = batch_add(GPROF_TABLE_py_code);

	row->id = id;
	row->py_file = file;
	row->line = first_line;
	row->name = name;
}

static void add_stack(uint32_t id, const struct stack_key *key, uint32_t line)
{
	struct gprof_row_py_stack *row = batch_add(GPROF_TABLE_py_stack);

	row->id = id;
	row->parent = key->parent;
	row->py_code = key->code;
	row->line = line;
	look_at_room();
}

/*
 * The id of the stack of a frame that was called from `parent`; 0 if it cannot be named, and then
 * all ids are made anew, as those of this one are in the tables.
 */
static uint32_t frame_id(
	const struct python_sampler *sampler, uint32_t parent, const struct python_point_at *at)
{
	struct code_key code = {at->code, at->file, at->name, at->lines, at->first_line};
	struct python_names names = {"...", "outer frames", 0};
	bool is_new_code, is_new_stack;
	struct stack_key stack;
	uint32_t id;

	stack = (struct stack_key){parent,
		FIRST_ID + intern_find(&state.codes, &code, sizeof(code), &is_new_code)->id,
		at->offset};
	id = FIRST_ID + intern_find(&state.stacks, &stack, sizeof(stack), &is_new_stack)->id;
	if ((is_new_code || is_new_stack) && at->code && !sampler->name(at, &names)) {
		forget();
		return 0;
	}
	if (is_new_code) {
		add_code(stack.code, at->first_line, &names);
	}
	if (is_new_stack) {
		add_stack(id, &stack, names.line);
	}
	return id;
}

uint32_t python_sample_add(const struct python_sampler *sampler, const struct python_stack *stack)
{
	static const struct python_point_at outer;
	uint32_t id = 0;

	if (state.era != dictionary_era()) {
		forget();
	}
	if (stack->is_cut) {
		id = frame_id(sampler, 0, &outer);
	}
	for (uint32_t i = stack->nr; i > 0; i--) {
		id = frame_id(sampler, id, &stack->frames[i - 1]);
		if (!id) {
			return GPROF_PY_STACK_NOT_READ;
		}
	}
	return id;
}

uint32_t python_sample_at(const struct python_sampler *sampler, const struct python_moment *moment,
	uint64_t sample_ns, uint64_t late_ns)
{
	if (!moment->is_read || sample_ns > moment->ns || moment->ns - sample_ns > late_ns) {
		return GPROF_PY_STACK_NOT_READ;
	}
	return python_sample_add(sampler, &moment->stack);
}

/*
 * Threads often lose their CPU at the end of a system call, so their lines would have too large a
 * share if all that are ready counted. Where this one has the only CPU, nothing else helps.
 */
static bool is_late(const struct python_looked *looked, uint64_t owed_ns)
{
	return owed_ns >= LATE_PERIODS * looked->period_ns && task_is_ready(looked->tid);
}

/*
 * What it runs now stands for the CPU time that it has used since it was last seen running. One
 * that waits now has it stand for later: the line that waits did not use it.
 */
uint64_t python_sample_look(const struct python_sampler *sampler,
	const struct python_looked *looked, struct python_moment *moment)
{
	uint64_t before_ns = clock_thread_cpu_ns(looked->tid);
	uint64_t owed_ns = before_ns - *looked->cpu_ns, nr = 0;
	enum python_read result;

	if (before_ns <= *looked->cpu_ns) {
		return 0;
	}
	result = sampler->read(looked->tid, *looked->python, &moment->stack);
	moment->is_read = result == PYTHON_READ_STACK;
	if (!looked->is_wanted) {
		*looked->cpu_ns = before_ns;
	} else if (clock_thread_cpu_ns(looked->tid) > before_ns || is_late(looked, owed_ns)) {
		nr = owed_ns / looked->period_ns;
		nr = nr < MAX_AT_ONCE ? nr : MAX_AT_ONCE;
		*looked->cpu_ns += nr * looked->period_ns;
	}
	if (result == PYTHON_READ_GONE) {
		*looked->python = 0;
	}
	return nr;
}
