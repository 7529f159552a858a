/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists that tie summaries to views: which views `reduce` runs, where each time of a step comes
 * from, and by which function `summary` shows each view of a summary.
 *
 * The order of reduced_classes and reduced_times is that of files (enum reduced_view, enum
 * reduced_time): append, never move. The order of reduced_views is that of the screen, and is free.
 */
#include "report/reduce/reduced_view.h"

const struct view_class *const reduced_classes[NR_REDUCED_CLASSES] = {
	[REDUCED_OPERATOR] = &view_operator,
	[REDUCED_KERNEL] = &view_kernel,
	[REDUCED_COLLECTIVE] = &view_collectives,
	[REDUCED_MEMCPY] = &view_memcpy,
	[REDUCED_MEMSET] = &view_memset,
	[REDUCED_API] = &view_api,
	[REDUCED_NVTX] = &view_nvtx,
	[REDUCED_NCCL] = &view_communication,
	[NR_REDUCED_VIEWS] = &view_steps,
	&view_distributed,
	&view_breakdown,
	&view_memory_curve,
	&view_budget,
};

const struct reduced_time_column reduced_times[NR_REDUCED_TIMES] = {
	[REDUCED_DURATION] = {&view_steps, "duration_ns", false, NULL, NULL},
	[REDUCED_DATALOADER] = {&view_steps, "dataloader_ns", true, NULL, NULL},
	[REDUCED_FORWARD] = {&view_steps, "forward_ns", true, NULL, NULL},
	[REDUCED_BACKWARD] = {&view_steps, "backward_ns", true, NULL, NULL},
	[REDUCED_OPTIMIZATION] = {&view_steps, "optimization_ns", true, NULL, NULL},
	[REDUCED_OTHERS] = {&view_steps, "others_ns", true, NULL, NULL},
	[REDUCED_GPU] = {&view_steps, "gpu_ns", true, NULL, NULL},
	[REDUCED_COMPUTATION] = {&view_distributed, "computation_ns", false, NULL, NULL},
	[REDUCED_COMMUNICATION] = {&view_distributed, "communication_ns", false, NULL, NULL},
	[REDUCED_OVERLAP] = {&view_distributed, "overlap_ns", false, NULL, NULL},
	[REDUCED_IDLE] = {&view_distributed, "other_ns", false, "idle_ns", "Neither"},
};

const struct reduced_view_class reduced_views[] = {
	{&view_headline, reduced_headline_table, 0, NULL, NULL},
	{&view_steps, reduced_steps_table, 0, NULL, NULL},
	{&view_distributed, reduced_distributed_table, 0, reduced_distributed_each,
		"distributed_over_processes"},
	{&view_breakdown, reduced_breakdown_table, 0, reduced_breakdown_table,
		"breakdown_over_processes"},
	{&view_memory, reduced_memory_table, 0, reduced_memory_table, "memory_over_processes"},
	{&view_operator, reduced_rows_table, REDUCED_OPERATOR, NULL, NULL},
	{&view_kernel, reduced_rows_table, REDUCED_KERNEL, NULL, NULL},
	{&view_collectives, reduced_rows_table, REDUCED_COLLECTIVE, NULL, NULL},
	{&view_communication, reduced_rows_table, REDUCED_NCCL, NULL, NULL},
	{&view_memcpy, reduced_rows_table, REDUCED_MEMCPY, NULL, NULL},
	{&view_memset, reduced_rows_table, REDUCED_MEMSET, NULL, NULL},
	{&view_api, reduced_rows_table, REDUCED_API, NULL, NULL},
	{&view_nvtx, reduced_rows_table, REDUCED_NVTX, NULL, NULL},
	{NULL, NULL, 0, NULL, NULL},
};
const size_t reduced_nr_views = sizeof(reduced_views) / sizeof(reduced_views[0]) - 1;

const struct reduced_view_class *reduced_view_find(const struct view_class *view)
{
	for (const struct reduced_view_class *class = reduced_views; class->view; class ++) {
		if (class->view == view) {
			return class;
		}
	}
	return NULL;
}

struct table *reduced_view_aside(struct reduced *reduced, const struct reduced_view_class *class)
{
	return class->over_key && reduced->nr_processes > 1
		       ? reduced_over_table(reduced, class, class->over_key)
		       : NULL;
}
