/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: 40 bytes for each call and for each name, and 20 for each Python stack and kernel. A
 * module may be read twice; of calls at one line the first counts.
 */
#include "report/ops/compiled_code.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/idmap.h"
#include "report/util/string_pool.h"
#include "report/util/sort.h"

/* A damaged stream may have cycles of stacks. */
#define MAX_FRAMES 256u
/* Kernels that share a name; " or ..." stands for more. */
#define MAX_ALIKE 3u

struct compiled_code {
	const struct process *process;
	struct call {
		uint32_t name;
		struct compiled_work work;
	} * calls; /* by file and line */
	size_t nr_calls;
	struct idmap kernels; /* struct compiled_work, by name */
	struct idmap known;   /* struct known, by name of a kernel that was asked for */
	struct idmap stacks;  /* the same by Python stack */
};

struct known {
	const struct compiled_work *work; /* NULL: unknown */
	bool is_asked;
};

static int compare(const void *a, const void *b)
{
	const struct compiled_work *x = &((const struct call *)a)->work;
	const struct compiled_work *y = &((const struct call *)b)->work;

	return ORDER(COMPARE(x->file, y->file), COMPARE(x->line, y->line));
}

static void sort_calls(struct compiled_code *code)
{
	size_t nr = 0;

	qsort(code->calls, code->nr_calls, sizeof(*code->calls), compare);
	for (size_t i = 0; i < code->nr_calls; i++) {
		if (!nr || compare(&code->calls[nr - 1], &code->calls[i])) {
			code->calls[nr++] = code->calls[i];
		}
	}
	code->nr_calls = nr;
}

/* Adds the operators of another call of that name, if they differ from those so far. */
static uint32_t add_operators(uint32_t have, uint32_t more)
{
	static const char between[] = " or ", rest[] = "...";
	const char *text = string_pool_text(have, NULL), *new = string_pool_text(more, NULL);
	size_t nr_new = strlen(new);
	struct buf both = {0};
	unsigned int nr = 1;
	uint32_t id;

	for (const char *at = text; at; nr++) {
		const char *end = strstr(at, between);
		size_t nr_bytes = end ? (size_t)(end - at) : strlen(at);

		if (nr_bytes == nr_new && !memcmp(at, new, nr_new)) {
			return have;
		}
		at = end ? end + strlen(between) : NULL;
	}
	if (nr > MAX_ALIKE + 1) {
		return have;
	}
	buf_printf(&both, "%s%s%s", text, between, nr > MAX_ALIKE ? rest : new);
	id = string_pool_intern(both.bytes, both.nr_bytes);
	buf_fini(&both);
	return id;
}

static void add_kernel(struct compiled_code *code, const struct call *call)
{
	struct compiled_work *work = idmap_put(&code->kernels, call->name);

	if (!work->nr_calls) {
		*work = call->work;
		return;
	}
	work->nr_calls++;
	if (!work->operators || !call->work.operators) {
		work->operators = 0; /* of one of them they are unknown */
	} else if (work->operators != call->work.operators) {
		work->operators = add_operators(work->operators, call->work.operators);
	}
}

/* "addmm, relu" for "aten.addmm, aten.relu"; names of other kinds, such as prims.iota, stay. */
static uint32_t short_names(uint32_t operators)
{
	static const char kind[] = "aten.";
	const char *at = string_pool_text(operators, NULL);
	struct buf names = {0};
	uint32_t id;

	while (*at) {
		size_t nr_bytes;

		at += strncmp(at, kind, strlen(kind)) ? 0 : strlen(kind);
		nr_bytes = strcspn(at, ",");
		nr_bytes += strspn(at + nr_bytes, ", ");
		buf_add(&names, at, nr_bytes);
		at += nr_bytes;
	}
	id = string_pool_intern(names.bytes, names.nr_bytes);
	buf_fini(&names);
	return id;
}

struct compiled_code *compiled_code_create(const struct process *process)
{
	struct compiled_code *code;

	if (!process->nr_compiled_calls) {
		return NULL;
	}
	code = mem_zeroed(1, sizeof(*code));
	code->process = process;
	code->nr_calls = process->nr_compiled_calls;
	code->calls = mem_zeroed(code->nr_calls, sizeof(*code->calls));
	for (size_t i = 0; i < code->nr_calls; i++) {
		const struct model_compiled_call *call = &process->compiled_calls[i];

		code->calls[i] = (struct call){
			call->name, {call->operators ? short_names(call->operators) : 0,
					    call->nodes, call->file, call->line, 1}};
	}
	sort_calls(code);
	idmap_init(&code->kernels, sizeof(struct compiled_work));
	idmap_init(&code->known, sizeof(struct known));
	idmap_init(&code->stacks, sizeof(struct known));
	for (size_t i = 0; i < code->nr_calls; i++) {
		add_kernel(code, &code->calls[i]);
	}
	return code;
}

void compiled_code_destroy(struct compiled_code *code)
{
	if (code) {
		idmap_fini(&code->kernels);
		idmap_fini(&code->known);
		idmap_fini(&code->stacks);
		free(code->calls);
		free(code);
	}
}

static const struct compiled_work *look_for_line(
	const struct compiled_code *code, uint32_t py_stack)
{
	const struct model_py_stack *stack = idmap_get(&code->process->py_stacks, py_stack);

	for (unsigned int i = 0; stack && i < MAX_FRAMES; i++) {
		const struct model_py_code *function =
			idmap_get(&code->process->py_codes, stack->code);
		const struct call *call, key = {.work = {.file = function ? function->file : 0,
							.line = stack->line}};

		call = bsearch(&key, code->calls, code->nr_calls, sizeof(key), compare);
		if (call) {
			return &call->work;
		}
		stack = stack->parent ? idmap_get(&code->process->py_stacks, stack->parent) : NULL;
	}
	return NULL;
}

static const struct compiled_work *find_line(struct compiled_code *code, uint32_t py_stack)
{
	struct known *known = idmap_put(&code->stacks, py_stack);

	if (!known->is_asked) {
		known->is_asked = true;
		known->work = look_for_line(code, py_stack);
	}
	return known->work;
}

/* Triton before 2.2 adds what it knows of the arguments: triton_poi_fused_add_0_0d1d2de. */
static uint32_t without_arguments(uint32_t kernel)
{
	const char *text = string_pool_text(kernel, NULL), *end = strrchr(text, '_');
	bool is_longer =
		end && isdigit((unsigned char)end[1]) && !end[1 + strspn(end + 1, "0123456789dec")];

	return is_longer ? string_pool_intern(text, (size_t)(end - text)) : kernel;
}

static const struct compiled_work *find_kernel(struct compiled_code *code, uint32_t kernel)
{
	struct known *known = idmap_put(&code->known, kernel);

	if (!known->is_asked) {
		known->is_asked = true;
		known->work = idmap_get(&code->kernels, kernel);
		if (!known->work) {
			known->work = idmap_get(&code->kernels, without_arguments(kernel));
		}
	}
	return known->work;
}

const struct compiled_work *compiled_code_find(
	struct compiled_code *code, uint32_t kernel, uint32_t py_stack)
{
	const struct compiled_work *work = code && py_stack ? find_line(code, py_stack) : NULL;

	return work || !code ? work : find_kernel(code, kernel);
}
