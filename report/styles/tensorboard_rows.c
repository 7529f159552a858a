/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of TensorBoard's whose rows no view of ours shows: operators, memory, collectives. */
#include <inttypes.h>
#include <stdio.h>

#include "report/model/kernel_class.h"
#include "report/analysis/op_average.h"
#include "report/analysis/op_memory.h"
#include "report/styles/tensorboard.h"

/* As the plugin, calls and totals are of operators that lie in none of the same name. */
void tensorboard_operators(struct tensorboard *pages)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Name", TABLE_NAME),
		TABLE_COLUMN("calls", "Calls", TABLE_COUNT),
		TABLE_COLUMN("device_self_ns", "Device Self Duration", TABLE_TIME),
		TABLE_COLUMN("device_total_ns", "Device Total Duration", TABLE_TIME),
		TABLE_COLUMN("host_self_ns", "Host Self Duration", TABLE_TIME),
		TABLE_COLUMN("host_total_ns", "Host Total Duration", TABLE_TIME),
		TABLE_COLUMN("tensor_eligible", "Tensor Cores Eligible", TABLE_TEXT),
		TABLE_COLUMN("tensor_self_pct", "Tensor Cores Self (%)", TABLE_PERCENT),
		TABLE_COLUMN("tensor_total_pct", "Tensor Cores Total (%)", TABLE_PERCENT),
	};
	struct table *table =
		table_create("operator", "Operator", columns, sizeof(columns) / sizeof(columns[0]));
	const struct op_average **rows;
	size_t nr;

	rows = op_average_rows(pages->views[TENSORBOARD_AVERAGES], &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct op_average *row = rows[i];
		struct table_cell *cells;

		if (row->key.kind != OP_AVERAGE_OP || !row->is_operator) {
			continue;
		}
		cells = table_add_row(table);
		table_set_integer(&cells[0], row->key.name);
		table_set_integer(&cells[1], row->outer_calls);
		table_set_integer(&cells[2], row->device_self_ns);
		table_set_integer(&cells[3], row->outer_device_ns);
		table_set_integer(&cells[4], row->self_ns);
		table_set_integer(&cells[5], row->outer_ns);
		tensorboard_set_answer(&cells[6], tensor_is_eligible(row->key.name) ? "yes" : "no");
		table_set_share(&cells[7], row->tensor_self_ns, row->device_self_ns);
		table_set_share(&cells[8], row->outer_tensor_ns, row->outer_device_ns);
	}
	table_sort(table, "host_self");
	table_sort(table, "device_self");
	tensorboard_print(pages, table);
}

static void print_memory_of(struct tensorboard *pages, uint32_t device)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Operator Name", TABLE_NAME),
		TABLE_COLUMN("calls", "Calls", TABLE_COUNT),
		TABLE_COLUMN("increase_kb", "Size Increase (KB)", TABLE_NUMBER),
		TABLE_COLUMN("self_increase_kb", "Self Size Increase (KB)", TABLE_NUMBER),
		TABLE_COLUMN("allocations", "Allocation Count", TABLE_COUNT),
		TABLE_COLUMN("self_allocations", "Self Allocation Count", TABLE_COUNT),
		TABLE_COLUMN("size_kb", "Allocation Size (KB)", TABLE_NUMBER),
		TABLE_COLUMN("self_size_kb", "Self Allocation Size (KB)", TABLE_NUMBER),
	};
	const struct op_memory **rows;
	struct table *table;
	char title[64];
	size_t nr;

	snprintf(title, sizeof(title), "Memory View: %s",
		string_pool_text(op_memory_device_name(device), NULL));
	table = table_create("memory", title, columns, sizeof(columns) / sizeof(columns[0]));
	rows = op_memory_rows(pages->views[TENSORBOARD_MEMORY], &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct op_memory *row = rows[i];
		struct table_cell *cells;

		if (row->key.device != device) {
			continue;
		}
		cells = table_add_row(table);
		table_set_integer(&cells[0], row->key.name);
		table_set_integer(&cells[1], row->calls);
		table_set_number(&cells[2], (double)row->total.increase / 1024);
		table_set_number(&cells[3], (double)row->self.increase / 1024);
		table_set_integer(&cells[4], row->total.count);
		table_set_integer(&cells[5], row->self.count);
		table_set_number(&cells[6], (double)row->total.bytes / 1024);
		table_set_number(&cells[7], (double)row->self.bytes / 1024);
	}
	table_sort(table, "self_increase_kb");
	tensorboard_print(pages, table);
}

static void print_blocks(struct tensorboard *pages)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("device", "Device", TABLE_NAME),
		TABLE_COLUMN("name", "Operator", TABLE_NAME),
		TABLE_COLUMN("size_kb", "Size (KB)", TABLE_NUMBER),
		TABLE_COLUMN("allocation_ns", "Allocation Time", TABLE_TIME),
		TABLE_COLUMN("release_ns", "Release Time", TABLE_TIME),
		TABLE_COLUMN("duration_ns", "Duration", TABLE_TIME),
	};
	struct table *table = table_create(
		"memory_events", "Memory Events", columns, sizeof(columns) / sizeof(columns[0]));
	struct allocations *all = op_memory_blocks(pages->views[TENSORBOARD_MEMORY]);
	const struct allocation *blocks;
	size_t nr;

	blocks = allocations_sorted(all, &nr);
	for (size_t i = 0; i < nr; i++) {
		struct table_cell *cells = table_add_row(table);
		bool is_asked = blocks[i].alloc_ns != BLOCK_UNSEEN;
		bool is_freed = blocks[i].free_ns != BLOCK_UNSEEN;

		table_set_integer(&cells[0], op_memory_device_name(blocks[i].device));
		table_set_integer(&cells[1], blocks[i].name);
		table_set_number(&cells[2], (double)blocks[i].bytes / 1024);
		if (is_asked) {
			table_set_integer(&cells[3], blocks[i].alloc_ns);
		}
		if (is_freed) {
			table_set_integer(&cells[4], blocks[i].free_ns);
		}
		if (is_asked && is_freed && blocks[i].free_ns >= blocks[i].alloc_ns) {
			table_set_integer(&cells[5], blocks[i].free_ns - blocks[i].alloc_ns);
		}
	}
	if (all->nr_all > nr) {
		table_note(table, "The table has the %zu largest of %" PRIu64 " blocks.", nr,
			all->nr_all);
	}
	tensorboard_print(pages, table);
}

/* A table of operators for each device that memory was asked of, and one of single blocks. */
void tensorboard_memory(struct tensorboard *pages)
{
	const struct op_memory **rows;
	size_t nr;

	rows = op_memory_rows(pages->views[TENSORBOARD_MEMORY], &nr);
	for (size_t i = 0; i < nr; i++) {
		bool is_first = true;

		rows = op_memory_rows(pages->views[TENSORBOARD_MEMORY], &nr);
		for (size_t k = 0; k < i; k++) {
			is_first &= rows[k]->key.device != rows[i]->key.device;
		}
		if (is_first) {
			print_memory_of(pages, rows[i]->key.device);
		}
	}
	print_blocks(pages);
}

void tensorboard_collectives(struct tensorboard *pages)
{
	static const struct table_column columns[] = {
		TABLE_COLUMN("name", "Name", TABLE_NAME),
		TABLE_COLUMN("calls", "Calls", TABLE_COUNT),
		TABLE_COLUMN("total_ns", "Total Latency", TABLE_TIME),
		TABLE_COLUMN("avg_ns", "Avg Latency", TABLE_MEAN_TIME),
	};
	struct table *table = table_create("communication", "Distributed: Communication Operations",
		columns, sizeof(columns) / sizeof(columns[0]));
	const struct op_average **rows;
	size_t nr;

	rows = op_average_rows(pages->views[TENSORBOARD_AVERAGES], &nr);
	for (size_t i = 0; i < nr; i++) {
		struct table_cell *cells;

		if (rows[i]->key.kind != OP_AVERAGE_DEVICE ||
			kernel_class_of(rows[i]->key.name) != KERNEL_COMMUNICATION) {
			continue;
		}
		cells = table_add_row(table);
		table_set_integer(&cells[0], rows[i]->key.name);
		table_set_integer(&cells[1], rows[i]->calls);
		table_set_integer(&cells[2], rows[i]->device_total_ns);
		table_set_number(
			&cells[3], (double)rows[i]->device_total_ns / (double)rows[i]->calls);
	}
	table_note(table, "Sizes and waiting times are unknown.");
	table_sort(table, "total");
	tensorboard_print(pages, table);
}
