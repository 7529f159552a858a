/* SPDX-License-Identifier: Apache-2.0 */
/* The budget of a step in the parts that TensorBoard's plugin for PyTorch has. */
#include <string.h>

#include "report/budget/budget.h"

/* Returns the plugin's part for a state of the host. The plugin takes ranges for operators. */
static enum budget_plugin_part plugin_part_of(unsigned int state)
{
	switch (state) {
	case HOST_LOADER:
		return BUDGET_PLUGIN_DATALOADER;
	case HOST_COMPILATION:
	case HOST_OPERATOR:
	case HOST_RANGE:
		return BUDGET_PLUGIN_CPU;
	case HOST_GIL:
	case HOST_GC:
	case HOST_OS:
	case HOST_USER:
		return BUDGET_PLUGIN_OTHER;
	default:
		return BUDGET_PLUGIN_RUNTIME;
	}
}

void budget_plugin_parts(const struct budget_step *step, uint64_t ns[NR_BUDGET_PLUGIN_PARTS])
{
	memset(ns, 0, NR_BUDGET_PLUGIN_PARTS * sizeof(*ns));
	ns[BUDGET_PLUGIN_KERNEL] = step->ns[BUDGET_COMPUTING];
	ns[BUDGET_PLUGIN_MEMCPY] =
		step->ns[BUDGET_UPLOAD] + step->ns[BUDGET_DOWNLOAD] + step->ns[BUDGET_COPY];
	ns[BUDGET_PLUGIN_MEMSET] = step->ns[BUDGET_SET];
	ns[BUDGET_PLUGIN_COMMUNICATION] = budget_communication(step->ns);
	for (unsigned int i = 0; i <= NR_HOST_STATES; i++) {
		ns[plugin_part_of(i)] += step->ns[BUDGET_HOST + i] + step->late_ns[i];
	}
}
