/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of Python stacks, with whole paths, summed by frame_sums.h. */
#include "report/model/python_lines.h"

#include <string.h>

#include "report/model/mixed_stack.h"
#include "report/model/py_stack.h"
#include "report/util/buf.h"
#include "report/util/string_pool.h"

static void begin(void *context, struct process *process)
{
	struct python_lines *lines = context;

	(void)process;
	frame_sums_begin(&lines->sums);
}

static void on_batch(void *context, struct process *process, const struct batch *b)
{
	struct python_lines *lines = context;

	(void)process;
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t stack = mixed_stack_id(0, b->col[COL_cpu_sample_py_stack][i]);

		if (!mixed_stack_has_python(stack)) {
			lines->nr_unread += mixed_stack_lacks_python(stack);
			lines->nr_other += !mixed_stack_lacks_python(stack);
			continue;
		}
		frame_sums_count(&lines->sums, stack >> 32, b->col[COL_cpu_sample_ns][i]);
		lines->nr++;
	}
}

uint32_t python_line_path(const struct process *process, uint32_t file)
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

static void add_stack(
	struct frame_sums *sums, struct process *process, const struct frame_samples *samples)
{
	uint32_t stack = (uint32_t)samples->stack;

	for (uint32_t i = 0; stack && i < NATIVE_STACK_MAX_FRAMES; i++) {
		const struct model_py_stack *at = idmap_get(&process->py_stacks, stack);
		const struct model_py_code *code =
			at ? idmap_get(&process->py_codes, at->code) : NULL;

		if (!code) {
			break;
		}
		frame_sums_add(sums,
			&(struct frame_key){
				code->name, python_line_path(process, code->file), at->line},
			samples, i == 0);
		stack = at->parent;
	}
}

static void end(void *context, struct process *process)
{
	frame_sums_end(&((struct python_lines *)context)->sums, process, add_stack);
}

static const struct scan_want want = {GPROF_TABLE_cpu_sample, COLS(cpu_sample, ns, py_stack), 0};

const struct scan_view python_lines_scan = {
	.wants = &want, .nr_wants = 1, .begin = begin, .on_batch = on_batch, .end = end};

void python_lines_fini(struct python_lines *lines)
{
	frame_sums_fini(&lines->sums);
}

uint32_t python_line_text(const struct frame_sum *line)
{
	return py_frame_short_text(line->key.file, line->key.line, line->key.function);
}
