/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of TensorBoard's that are columns of our views' tables. */
#include <string.h>

#include "report/analysis/breakdown.h"
#include "report/styles/tensorboard.h"

static void copy_cell(
	const struct table_column *column, const struct table_cell *from, struct table_cell *to)
{
	if (!from || !from->is_known) {
		return;
	}
	switch (column->type) {
	case TABLE_TEXT:
		if (strncmp(column->key, "tensor", 6) == 0) {
			tensorboard_set_answer(to, from->text);
		} else {
			table_set_text(to, from->text, from->nr_text);
		}
		break;
	case TABLE_MEAN_TIME:
	case TABLE_MEAN_SIZE:
	case TABLE_RATE:
	case TABLE_PERCENT:
	case TABLE_NUMBER:
		table_set_number(to, from->number);
		break;
	default:
		table_set_integer(to, from->integer);
		break;
	}
}

/* Prints the columns of a view's table that have those keys, and destroys it. */
static void print_view(struct tensorboard *pages, struct table *from, const char *title,
	const struct table_column *columns, unsigned int nr_columns)
{
	struct table *table = table_create(from->key, title, columns, nr_columns);

	for (size_t row = 0; row < from->nr_rows; row++) {
		struct table_cell *cells = table_add_row(table);

		for (unsigned int i = 0; i < nr_columns; i++) {
			copy_cell(
				&columns[i], table_find_cell(from, row, columns[i].key), &cells[i]);
		}
	}
	if (from->note) {
		table_note(table, "%s", from->note);
	}
	tensorboard_print(pages, table);
	table_destroy(from);
}

#define PRINT_VIEW(pages, source, title, columns)                                                 \
	print_view(pages, view_table(tensorboard_sources[source], (pages)->views[source]), title, \
		columns, sizeof(columns) / sizeof((columns)[0]))

void tensorboard_overview(struct tensorboard *pages)
{
	static const struct table_column gpus[] = {
		{"device", "GPU", TABLE_ID, false},
		{"name", "Name", TABLE_NAME, false},
		{"memory_bytes", "Memory", TABLE_SIZE, false},
		{"capability", "Compute Capability", TABLE_TEXT, false},
		{"utilization_pct", "GPU Utilization %", TABLE_PERCENT, false},
		{"sm_efficiency_pct", "Est. SM Efficiency %", TABLE_PERCENT, false},
		{"occupancy_pct", "Est. Achieved Occupancy %", TABLE_PERCENT, false},
		{"tensor_pct", "Kernel Time using Tensor Cores %", TABLE_PERCENT, false},
		{"unknown_tensor_pct", "(unknown %)", TABLE_PERCENT, false},
	};
	static const struct table_column steps[] = {
		{"step", "Step", TABLE_TEXT, false},
		{"total_ns", "Total", TABLE_MEAN_TIME, true},
		BREAKDOWN_COLUMNS,
	};

	PRINT_VIEW(pages, TENSORBOARD_STEPS, "Overview: Step Time Breakdown", steps);
	PRINT_VIEW(pages, TENSORBOARD_GPUS, "Overview: GPU Summary", gpus);
}

/* Both tables end with them. */
#define KERNEL_TIMES                                                                               \
	{"calls", "Calls", TABLE_COUNT, false}, {"total_ns", "Total Duration", TABLE_TIME, false}, \
		{"avg_ns", "Mean Duration", TABLE_MEAN_TIME, false},                               \
		{"max_ns", "Max Duration", TABLE_TIME, false},                                     \
		{"min_ns", "Min Duration", TABLE_TIME, false},                                     \
		{"blocks_per_sm", "Mean Blocks Per SM", TABLE_NUMBER, false},                      \
	{                                                                                          \
		"occupancy_pct", "Mean Est. Achieved Occupancy (%)", TABLE_PERCENT, false          \
	}

void tensorboard_kernels(struct tensorboard *pages)
{
	static const struct table_column by_operator[] = {
		{"name", "Name", TABLE_NAME, false},
		{"operator", "Operator", TABLE_NAME, false},
		{"grid", "Grid", TABLE_TEXT, false},
		{"block", "Block", TABLE_TEXT, false},
		{"registers", "Register Per Thread", TABLE_COUNT, false},
		{"shared_bytes", "Shared Memory", TABLE_SIZE, false},
		{"tensor_cores", "Kernel Uses Tensor Cores", TABLE_TEXT, false},
		{"tensor_eligible", "Op is Tensor Cores eligible", TABLE_TEXT, false},
		KERNEL_TIMES,
	};
	static const struct table_column by_name[] = {
		{"name", "Name", TABLE_NAME, false},
		{"tensor_cores", "Tensor Cores Used", TABLE_TEXT, false},
		KERNEL_TIMES,
	};

	PRINT_VIEW(pages, TENSORBOARD_KERNELS_BY_OPERATOR, "Kernel: Name + Op Name", by_operator);
	PRINT_VIEW(pages, TENSORBOARD_KERNELS, "Kernel: Name", by_name);
}

void tensorboard_modules(struct tensorboard *pages)
{
	static const struct table_column columns[] = {
		{"module", "Module Name", TABLE_NAME, false},
		{"calls", "Occurences", TABLE_COUNT, false},
		{"operators", "Operators", TABLE_COUNT, false},
		{"total_ns", "Host Total Time", TABLE_TIME, false},
		{"self_ns", "Host Self Time", TABLE_TIME, false},
		{"gpu_total_ns", "Device Total Time", TABLE_TIME, false},
		{"gpu_self_ns", "Device Self Time", TABLE_TIME, false},
	};

	PRINT_VIEW(pages, TENSORBOARD_MODULES, "Module", columns);
}

void tensorboard_distributed(struct tensorboard *pages)
{
	static const struct table_column columns[] = {
		{"step", "Step", TABLE_ID, false},
		{"computation_alone_ns", "Computation - Overlap", TABLE_TIME, false},
		{"overlap_ns", "Overlap", TABLE_TIME, false},
		{"communication_alone_ns", "Communication - Overlap", TABLE_TIME, false},
		{"other_ns", "Other", TABLE_TIME, false},
	};

	PRINT_VIEW(pages, TENSORBOARD_OVERLAP, "Distributed: Computation/Communication Overview",
		columns);
	tensorboard_collectives(pages);
}
