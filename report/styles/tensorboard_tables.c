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
		TABLE_COLUMN("device", "GPU", TABLE_ID),
		TABLE_COLUMN("name", "Name", TABLE_NAME),
		TABLE_COLUMN("memory_bytes", "Memory", TABLE_SIZE),
		TABLE_COLUMN("capability", "Compute Capability", TABLE_TEXT),
		TABLE_COLUMN("utilization_pct", "GPU Utilization %", TABLE_PERCENT),
		TABLE_COLUMN("sm_efficiency_pct", "Est. SM Efficiency %", TABLE_PERCENT),
		TABLE_COLUMN("occupancy_pct", "Est. Achieved Occupancy %", TABLE_PERCENT),
		TABLE_COLUMN("tensor_pct", "Kernel Time using Tensor Cores %", TABLE_PERCENT),
		TABLE_COLUMN("unknown_tensor_pct", "(unknown %)", TABLE_PERCENT),
	};
	static const struct table_column steps[] = {
		TABLE_COLUMN("step", "Step", TABLE_TEXT),
		TABLE_COLUMN("total_ns", "Total", TABLE_MEAN_TIME, .is_wide_only = true),
		BREAKDOWN_COLUMNS,
	};

	PRINT_VIEW(pages, TENSORBOARD_STEPS, "Overview: Step Time Breakdown", steps);
	PRINT_VIEW(pages, TENSORBOARD_GPUS, "Overview: GPU Summary", gpus);
}

/* Both tables end with them. */
#define KERNEL_TIMES                                                               \
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT),                               \
		TABLE_COLUMN("total_ns", "Total Duration", TABLE_TIME),            \
		TABLE_COLUMN("avg_ns", "Mean Duration", TABLE_MEAN_TIME),          \
		TABLE_COLUMN("max_ns", "Max Duration", TABLE_TIME),                \
		TABLE_COLUMN("min_ns", "Min Duration", TABLE_TIME),                \
		TABLE_COLUMN("blocks_per_sm", "Mean Blocks Per SM", TABLE_NUMBER), \
		TABLE_COLUMN("occupancy_pct", "Mean Est. Achieved Occupancy (%)", TABLE_PERCENT)

void tensorboard_kernels(struct tensorboard *pages)
{
	static const struct table_column by_operator[] = {
		TABLE_COLUMN("name", "Name", TABLE_NAME),
		TABLE_COLUMN("operator", "Operator", TABLE_NAME),
		TABLE_COLUMN("grid", "Grid", TABLE_TEXT),
		TABLE_COLUMN("block", "Block", TABLE_TEXT),
		TABLE_COLUMN("registers", "Register Per Thread", TABLE_COUNT),
		TABLE_COLUMN("shared_bytes", "Shared Memory", TABLE_SIZE),
		TABLE_COLUMN("tensor_cores", "Kernel Uses Tensor Cores", TABLE_TEXT),
		TABLE_COLUMN("tensor_eligible", "Op is Tensor Cores eligible", TABLE_TEXT),
		KERNEL_TIMES,
	};
	static const struct table_column by_name[] = {
		TABLE_COLUMN("name", "Name", TABLE_NAME),
		TABLE_COLUMN("tensor_cores", "Tensor Cores Used", TABLE_TEXT),
		KERNEL_TIMES,
	};

	PRINT_VIEW(pages, TENSORBOARD_KERNELS_BY_OPERATOR, "Kernel: Name + Op Name", by_operator);
	PRINT_VIEW(pages, TENSORBOARD_KERNELS, "Kernel: Name", by_name);
}

void tensorboard_modules(struct tensorboard *pages)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("module", "Module Name", TABLE_NAME),
		TABLE_COLUMN("calls", "Occurences", TABLE_COUNT),
		TABLE_COLUMN("operators", "Operators", TABLE_COUNT),
		TABLE_COLUMN("total_ns", "Host Total Time", TABLE_TIME),
		TABLE_COLUMN("self_ns", "Host Self Time", TABLE_TIME),
		TABLE_COLUMN("gpu_total_ns", "Device Total Time", TABLE_TIME),
		TABLE_COLUMN("gpu_self_ns", "Device Self Time", TABLE_TIME),
	};

	PRINT_VIEW(pages, TENSORBOARD_MODULES, "Module", columns);
}

void tensorboard_distributed(struct tensorboard *pages)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("step", "Step", TABLE_ID),
		TABLE_COLUMN("computation_alone_ns", "Computation - Overlap", TABLE_TIME),
		TABLE_COLUMN("overlap_ns", "Overlap", TABLE_TIME),
		TABLE_COLUMN("communication_alone_ns", "Communication - Overlap", TABLE_TIME),
		TABLE_COLUMN("other_ns", "Other", TABLE_TIME),
	};

	PRINT_VIEW(pages, TENSORBOARD_OVERLAP, "Distributed: Computation/Communication Overview",
		columns);
	tensorboard_collectives(pages);
}
