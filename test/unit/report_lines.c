/* SPDX-License-Identifier: Apache-2.0 */
#include "test/unit/report_lines.h"

#include <string.h>

#include "test/unit/report_streams.h"

void lines_add(struct gen *gen, const struct line *line, uint32_t number)
{
	struct gprof_row_op *op;
	uint32_t name = gen_op_name(gen, line->name);

	if (line->kernel_ns) {
		struct gprof_row_api_launch *call = gen_row(gen, GPROF_TABLE_api_launch);
		struct gprof_row_kernel *kernel = gen_row(gen, GPROF_TABLE_kernel);

		call->begin = call->dur = (line->begin + line->end) / 2;
		call->thread = line->thread;
		call->correlation = kernel->correlation = number + 1;
		kernel->begin = 1000000;
		kernel->dur = kernel->begin + line->kernel_ns;
	}
	op = gen_row(gen, GPROF_TABLE_op);
	op->begin = line->begin;
	op->dur = line->end;
	op->thread = line->thread;
	op->end_thread = line->end_thread ? line->end_thread : line->thread;
	op->op_name = name;
	op->depth = line->depth;
	op->scope = line->scope ? (uint8_t)(line->scope - '0') : 0;
}

/* What ends the steps: the optimizer, where there is one. */
static uint8_t rule_of(const struct line *lines, size_t nr_lines)
{
	for (size_t i = 0; i < nr_lines; i++) {
		if (strncmp(lines[i].name, "Optimizer.", 10) == 0) {
			return GPROF_STEP_OPTIMIZER;
		}
	}
	return GPROF_STEP_DATALOADER;
}

const char *lines_write(const struct line *lines, size_t nr_lines, const uint64_t *steps)
{
	const char *path = streams_path("lines.gprof");
	struct gen *gen = gen_open(path);

	for (size_t i = 0; i < nr_lines; i++) {
		lines_add(gen, &lines[i], (uint32_t)i);
	}
	for (size_t i = 0; steps && (!i || steps[i]); i++) {
		struct gprof_row_step *row = gen_row(gen, GPROF_TABLE_step);

		row->time = steps[i];
		row->step = i;
		row->how = rule_of(lines, nr_lines);
	}
	gen_close(gen, "exit");
	return path;
}
