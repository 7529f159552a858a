/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two stacks join where the interpreter evaluates frames: of the native stack, what that
 * function has called belongs below Python's innermost frame, and the rest is what Python's frames
 * say better. A stack by call frame information that ends earlier says so by its outermost frame:
 * all others are below Python's. One by frame pointers may go astray where the interpreter has
 * none: then it does not lead to that function, and only its innermost frame is sure.
 */
#include "report/model/mixed_stack.h"

#include <string.h>

#include "report/model/py_stack.h"
#include "report/util/string_pool.h"

/* Up to 3.13 one function; from 3.14 on, by some compilers, one for each instruction. */
static bool evaluates_frames(uint32_t function)
{
	static const char *const prefixes[] = {"_PyEval_EvalFrameDefault", "_TAIL_CALL_"};
	const char *name = string_pool_text(function, NULL);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) {
			return true;
		}
	}
	return false;
}

static bool is_outer(uint32_t function)
{
	return !strcmp(string_pool_text(function, NULL), GPROF_NATIVE_STACK_OUTER);
}

/*
 * Sets whether all these frames are below Python's: the stack leads to the interpreter, whose
 * frames are left out then, or says that it ends before.
 */
static uint32_t add_native(struct process *process, uint32_t stack, struct mixed_frame *frames,
	bool stops_in_python, bool *is_joined)
{
	uint32_t nr = 0;

	*is_joined = false;
	do {
		struct native_frame frame = native_stack_frame(process, stack, &stack);

		if (stops_in_python &&
			(evaluates_frames(frame.function) || is_outer(frame.function))) {
			*is_joined = true;
			break;
		}
		frames[nr++] = (struct mixed_frame){.function = frame.function, .file = frame.file};
	} while (stack && nr < NATIVE_STACK_MAX_FRAMES);
	return nr;
}

static uint32_t name_code(struct process *process, uint32_t id)
{
	const struct model_py_code *code = idmap_get(&process->py_codes, id);

	return code ? py_frame_short_text(code->file, code->line, code->name)
		    : py_code_text(process, id);
}

static uint32_t add_python(struct process *process, uint32_t stack, struct mixed_frame *frames)
{
	uint32_t nr = 0;

	while (stack && nr < NATIVE_STACK_MAX_FRAMES) {
		const struct model_py_stack *at = idmap_get(&process->py_stacks, stack);

		if (!at) {
			break;
		}
		frames[nr++] = (struct mixed_frame){.function = name_code(process, at->code),
			.py_code = at->code,
			.line = at->line};
		stack = at->parent;
	}
	return nr;
}

uint32_t mixed_stack_frames(
	struct process *process, uint64_t id, struct mixed_frame frames[MIXED_STACK_MAX_FRAMES])
{
	bool has_python = mixed_stack_has_python(id), is_joined;
	uint32_t nr = 0;

	/* Where the kernel takes no samples, those of Python have no machine functions. */
	if (!has_python || (uint32_t)id) {
		nr = add_native(process, (uint32_t)id, frames, has_python, &is_joined);
	} else {
		is_joined = true;
	}
	if (has_python) {
		nr = is_joined || !nr ? nr : 1;
		nr += add_python(process, (uint32_t)(id >> 32), frames + nr);
	}
	return nr;
}

/*
 * Returns the innermost frame outside of Python's own library and of the framework; without one,
 * outside of the library, or else the innermost.
 */
static uint32_t python_place(struct process *process, uint64_t id)
{
	uint32_t place = 0, stack = (uint32_t)(id >> 32);
	bool is_framework = false;

	for (unsigned int nr = 0; stack && nr < NATIVE_STACK_MAX_FRAMES; nr++) {
		const struct model_py_stack *at = idmap_get(&process->py_stacks, stack);
		const struct model_py_code *code =
			at ? idmap_get(&process->py_codes, at->code) : NULL;
		bool is_own = code && !py_file_is_standard(code->file);
		bool is_last = is_own && !py_file_is_framework(code->file);

		if (code && (is_last || !place || (is_own && !is_framework))) {
			place = py_frame_short_text(code->file, at->line, code->name);
		}
		if (is_last) {
			break;
		}
		is_framework |= is_own;
		stack = at ? at->parent : 0;
	}
	return place;
}

bool mixed_stack_runs_framework(struct process *process, uint64_t id)
{
	uint32_t stack = mixed_stack_has_python(id) ? (uint32_t)(id >> 32) : 0;

	for (unsigned int nr = 0; stack && nr < NATIVE_STACK_MAX_FRAMES; nr++) {
		const struct model_py_stack *at = idmap_get(&process->py_stacks, stack);
		const struct model_py_code *code =
			at ? idmap_get(&process->py_codes, at->code) : NULL;

		if (code && !py_file_is_standard(code->file)) {
			return py_file_is_framework(code->file);
		}
		stack = at ? at->parent : 0;
	}
	return false;
}

uint32_t mixed_stack_place(struct process *process, uint64_t id)
{
	struct mixed_frame frames[MIXED_STACK_MAX_FRAMES];

	if (mixed_stack_lacks_python(id)) {
		return 0;
	}
	if (mixed_stack_has_python(id)) {
		return python_place(process, id);
	}
	mixed_stack_frames(process, id, frames);
	return frames[0].function;
}
