/* SPDX-License-Identifier: Apache-2.0 */
#include "report/reduce/reduced_view.h"

#include <string.h>

const struct reduced_view_class reduced_views[] = {
	{"steps", reduced_steps_table, 0, NULL, NULL},
	{"distributed", reduced_distributed_table, 0, reduced_distributed_each,
		"distributed_over_processes"},
	{"breakdown", reduced_breakdown_table, 0, reduced_breakdown_each,
		"breakdown_over_processes"},
	{"memory", reduced_memory_table, 0, reduced_memory_each, "memory_over_processes"},
	{"operator", reduced_rows_table, REDUCED_OPERATOR, NULL, NULL},
	{"kernel", reduced_rows_table, REDUCED_KERNEL, NULL, NULL},
	{"collectives", reduced_rows_table, REDUCED_COLLECTIVE, NULL, NULL},
	{"communication", reduced_communication_table, REDUCED_NCCL, NULL, NULL},
	{"memcpy", reduced_rows_table, REDUCED_MEMCPY, NULL, NULL},
	{"memset", reduced_rows_table, REDUCED_MEMSET, NULL, NULL},
	{"api", reduced_rows_table, REDUCED_API, NULL, NULL},
	{"nvtx", reduced_rows_table, REDUCED_NVTX, NULL, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

const struct reduced_view_class *reduced_view_find(const char *name)
{
	for (const struct reduced_view_class *class = reduced_views; class->name; class ++) {
		if (strcmp(class->name, name) == 0) {
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
