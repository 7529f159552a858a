/* SPDX-License-Identifier: Apache-2.0 */
/* Samples are first counted by stack, so that each stack is walked once. */
#include "report/model/python_lines.h"

#include <string.h>

#include "report/model/mixed_stack.h"
#include "report/model/py_stack.h"
#include "report/util/buf.h"
#include "report/util/string_pool.h"

struct samples {
	uint32_t stack;
	uint64_t nr, ns;
};

static void begin(void *context, struct process *process)
{
	struct python_lines *lines = context;

	(void)process;
	idmap_init(&lines->stacks, sizeof(struct samples));
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct python_lines *lines = context;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t stack = mixed_stack_id(0, b->col[COL_cpu_sample_py_stack][i]);
		struct samples *samples;

		if (!mixed_stack_has_python(stack)) {
			lines->nr_unread += mixed_stack_lacks_python(stack);
			lines->nr_other += !mixed_stack_lacks_python(stack);
			continue;
		}
		samples = idmap_put(&lines->stacks, stack >> 32);
		samples->stack = (uint32_t)(stack >> 32);
		samples->nr++;
		samples->ns += b->col[COL_cpu_sample_ns][i];
		lines->nr++;
	}
}

/* The path of the program may be relative, and that of the same file in its children is not. */
static uint32_t full_path(const struct process *process, uint32_t file)
{
	const char *path = string_pool_text(file, NULL);
	const char *directory = process_fact(process, "process.directory", "");
	struct buf whole = {0};
	uint32_t number;

	if (!*path || *path == '/' || *path == '<' || !*directory) {
		return file;
	}
	buf_printf(&whole, "%s/%s", directory, path);
	number = string_pool_intern(whole.bytes, whole.nr_bytes);
	buf_fini(&whole);
	return number;
}

static void add_frame(struct python_lines *lines, struct python_line_key key,
	const struct samples *samples, bool is_self)
{
	struct python_line *line;

	hash_put(lines->all, key, &key, line);
	if (is_self) {
		line->nr_self += samples->nr;
		line->self_ns += samples->ns;
	}
	if (line->last_stack != lines->nr_stacks) {
		line->last_stack = lines->nr_stacks;
		line->nr_total += samples->nr;
		line->total_ns += samples->ns;
	}
}

static void add_stack(
	struct python_lines *lines, const struct process *process, const struct samples *samples)
{
	uint32_t stack = samples->stack;

	lines->nr_stacks++;
	for (uint32_t i = 0; stack && i < NATIVE_STACK_MAX_FRAMES; i++) {
		const struct model_py_stack *at = idmap_get(&process->py_stacks, stack);
		const struct model_py_code *code =
			at ? idmap_get(&process->py_codes, at->code) : NULL;

		if (!code) {
			break;
		}
		add_frame(lines,
			(struct python_line_key){
				code->name, full_path(process, code->file), at->line},
			samples, i == 0);
		stack = at->parent;
	}
}

static void end(void *context, struct process *process)
{
	struct python_lines *lines = context;

	for (size_t i = 0; i < lines->stacks.nr; i++) {
		add_stack(lines, process, idmap_at(&lines->stacks, i));
	}
	idmap_fini(&lines->stacks);
}

static const struct scan_want want = {
	GPROF_TABLE_cpu_sample, COL_BIT(COL_cpu_sample_ns) | COL_BIT(COL_cpu_sample_py_stack), 0};

const struct scan_view python_lines_scan = {
	.wants = &want, .nr_wants = 1, .begin = begin, .on_batch = on_batch, .end = end};

void python_lines_fini(struct python_lines *lines)
{
	hash_free(lines->all);
}

uint32_t python_line_text(const struct python_line *line)
{
	return py_frame_short_text(line->key.file, line->key.line, line->key.function);
}
