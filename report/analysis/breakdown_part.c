/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/breakdown_part.h"

#include <string.h>

#include "report/comm/host_collectives.h"
#include "report/model/kernel_class.h"

#define STEP_RANGE "ProfilerStep#"

const char *const breakdown_keys[NR_BREAKDOWN_PARTS] = {"kernel_ns", "memcpy_ns", "memset_ns",
	"communication_ns", "runtime_ns", "dataloader_ns", "cpu_exec_ns", "other_ns"};
const char *const breakdown_titles[NR_BREAKDOWN_PARTS] = {"Kernel", "Memcpy", "Memset",
	"Communication", "Runtime", "DataLoader", "CPU Exec", "Other"};

/* Steps themselves and modules are around operators, and are none. */
static bool is_around(const struct op *op)
{
	return op_is_module(op->framework, op->scope) ||
	       strncmp(string_pool_text(op->name, NULL), STEP_RANGE, sizeof(STEP_RANGE) - 1) == 0 ||
	       (op->framework == GPROF_FRAMEWORK_PADDLE && op->scope == OP_PADDLE_STEP);
}

enum breakdown_part breakdown_part_of_op(const struct op *op)
{
	if (is_around(op)) {
		return BREAKDOWN_OTHER;
	}
	if (host_collective_library_of(op->name)) {
		return BREAKDOWN_COMMUNICATION;
	}
	if (op_class(op->name, op->framework, op->scope) == OP_DATALOADER) {
		return BREAKDOWN_DATALOADER;
	}
	for (const struct op *outer = op->parent; outer; outer = outer->parent) {
		if (!is_around(outer)) {
			return BREAKDOWN_OTHER; /* that one covers it */
		}
	}
	return BREAKDOWN_CPU;
}

enum breakdown_part breakdown_part_of_record(
	const struct process *process, const struct op_record *record)
{
	switch (record->table) {
	case GPROF_TABLE_memcpy:
		return BREAKDOWN_MEMCPY;
	case GPROF_TABLE_memset:
		return BREAKDOWN_MEMSET;
	case GPROF_TABLE_kernel:
		return kernel_class_of(process_shape_name(process, record->shape)) ==
				       KERNEL_COMMUNICATION
			       ? BREAKDOWN_COMMUNICATION
			       : BREAKDOWN_KERNEL;
	default:
		return BREAKDOWN_KERNEL;
	}
}
