/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/mixed_stack.h"

#include <string.h>

#include "report/util/string_pool.h"
#include "test/unit/unit.h"

static struct process process;

static uint32_t intern(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

static void add_native(uint32_t id, uint32_t parent, const char *name)
{
	struct model_native_stack *stack = idmap_put(&process.native_stacks, id);

	*stack = (struct model_native_stack){.parent = parent, .name = intern(name)};
}

/* Of function `code` of train.py, at that line. */
static void add_python(uint32_t id, uint32_t parent, uint32_t code, uint32_t line)
{
	struct model_py_stack *stack = idmap_put(&process.py_stacks, id);

	*stack = (struct model_py_stack){.parent = parent, .code = code, .line = line};
}

static void add_code(uint32_t id, uint32_t line, const char *name)
{
	struct model_py_code *code = idmap_put(&process.py_codes, id);

	*code = (struct model_py_code){
		.file = intern("/home/train.py"), .name = intern(name), .line = line};
}

/* main calls run, which evaluates load, which calls decode. */
static void make(const char *evaluator)
{
	memset(&process, 0, sizeof(process));
	idmap_init(&process.native_stacks, sizeof(struct model_native_stack));
	idmap_init(&process.py_stacks, sizeof(struct model_py_stack));
	idmap_init(&process.py_codes, sizeof(struct model_py_code));
	add_native(1, 0, "main");
	add_native(2, 1, evaluator);
	add_native(3, 2, "call");
	add_native(4, 3, "decode");
	add_code(1, 1, "<module>");
	add_code(2, 10, "load");
	add_python(1, 0, 1, 30);
	add_python(2, 1, 2, 12);
}

static void fini(void)
{
	idmap_fini(&process.native_stacks);
	idmap_fini(&process.py_stacks);
	idmap_fini(&process.py_codes);
}

/* want: "decode <- call". */
static void check(uint64_t native, uint64_t python, const char *want)
{
	struct mixed_frame frames[MIXED_STACK_MAX_FRAMES];
	uint32_t nr = mixed_stack_frames(&process, mixed_stack_id(native, python), frames);
	char have[512] = "";

	for (uint32_t i = 0; i < nr; i++) {
		strcat(have, i ? " <- " : "");
		strcat(have, string_pool_text(frames[i].function, NULL));
	}
	ck_assert_str_eq(have, want);
}

START_TEST(machine_code_lies_below_the_python_frame_that_called_it)
{
	make("_PyEval_EvalFrameDefault");
	check(4, 2, "decode <- call <- train.py(10): load <- train.py(1): <module>");
	check(2, 2, "train.py(10): load <- train.py(1): <module>");
	fini();
	make("_TAIL_CALL_CALL_PY.llvm.123");
	check(4, 1, "decode <- call <- train.py(1): <module>");
	fini();
}
END_TEST

START_TEST(without_the_way_to_the_interpreter_only_the_innermost_function_counts)
{
	make("some_function");
	check(4, 2, "decode <- train.py(10): load <- train.py(1): <module>");
	fini();
}
END_TEST

START_TEST(machine_code_whose_outer_frames_are_unknown_is_below_python)
{
	make(GPROF_NATIVE_STACK_OUTER);
	check(4, 2, "decode <- call <- train.py(10): load <- train.py(1): <module>");
	check(4, 0, "decode <- call <- ...: outer frames <- main");
	fini();
}
END_TEST

START_TEST(without_python_frames_it_is_the_native_stack)
{
	make("_PyEval_EvalFrameDefault");
	check(4, 0, "decode <- call <- _PyEval_EvalFrameDefault <- main");
	check(4, GPROF_PY_STACK_NOT_READ, "decode <- call <- _PyEval_EvalFrameDefault <- main");
	check(1, 99, "main"); /* of a damaged stream */
	ck_assert(!mixed_stack_has_python(mixed_stack_id(4, 0)));
	ck_assert(!mixed_stack_has_python(mixed_stack_id(4, GPROF_PY_STACK_NOT_READ)));
	ck_assert(mixed_stack_lacks_python(mixed_stack_id(4, GPROF_PY_STACK_NOT_READ)));
	fini();
}
END_TEST

START_TEST(a_circle_ends)
{
	struct mixed_frame frames[MIXED_STACK_MAX_FRAMES];

	make("f");
	add_native(1, 4, "main");
	add_python(1, 2, 1, 30);
	ck_assert_uint_le(
		mixed_stack_frames(&process, mixed_stack_id(4, 2), frames), MIXED_STACK_MAX_FRAMES);
	ck_assert_uint_le(mixed_stack_frames(&process, mixed_stack_id(4, 0), frames),
		NATIVE_STACK_MAX_FRAMES);
	fini();
}
END_TEST

UNIT_SUITE("report/mixed_stack", machine_code_lies_below_the_python_frame_that_called_it,
	without_the_way_to_the_interpreter_only_the_innermost_function_counts,
	machine_code_whose_outer_frames_are_unknown_is_below_python,
	without_python_frames_it_is_the_native_stack, a_circle_ends)
