/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels by name, operator and launch: which operators and shapes fill the device badly. The rows
 * are those of the kernel page of PyTorch's TensorBoard plugin. Memory grows with the number of
 * different launches.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/hash.h"
#include "report/model/kernel_class.h"
#include "report/model/occupancy.h"
#include "report/analysis/kernel_times.h"
#include "report/analysis/view.h"
#include "report/gpu/kernel_counters.h"

struct key {
	uint32_t name, operator; /* of string_pool.h */
	uint32_t full_name;	 /* of the operator, with --detail; else 0 */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t registers, static_bytes, dynamic_bytes;
};

struct row {
	struct key key;
	bool is_eligible;
	struct kernel_times times;
	struct occupancy_mean mean;
	struct counted_kernels measured;
	/* For the table. */
	bool has_shape;
	uint64_t shared_bytes;
	enum tensor_use tensor_use;
	double blocks, occupancy_pct;
	uint32_t limit; /* of string_pool.h; 0: none */
	UT_hash_handle hh;
};

struct kernel_operator_view {
	struct view_input input;
	struct row *rows;
	struct kernel_counters counters;
	struct occupancy_device device; /* of the number device_id */
	uint32_t device_id;
	double total_ns;
	bool has_graphs;
};

static void init(void *state)
{
	struct kernel_operator_view *view = state;

	kernel_counters_init(&view->counters);
	view->counters.keeps_kernels = true;
	kernel_counters_look(&view->counters, view->input.processes, view->input.nr_processes);
}

static void begin(void *context, struct process *process)
{
	struct kernel_operator_view *view = context;

	(void)process;
	view->device_id = UINT32_MAX;
}

static uint32_t intern(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

/*
 * The name of the innermost operator around a launch, beyond modules and users' ranges; in round
 * brackets that there is none, or why none is known.
 */
static uint32_t view_operator_of(
	const struct op_record *record, const struct op_call *call, const struct op *op)
{
	op = op_operator_around(op);
	return op ? op_row_name(op->name) : intern(op_record_lacks_op(record, call != NULL));
}

static struct key make_key(const struct kernel_operator_view *view, const struct op_record *record,
	const struct model_shape *shape)
{
	struct key key = {.name = op_record_name(view->input.process, record)};

	if (shape) {
		memcpy(key.grid, shape->grid, sizeof(key.grid));
		memcpy(key.block, shape->block, sizeof(key.block));
		memcpy(key.cluster, shape->cluster, sizeof(key.cluster));
		key.registers = shape->registers;
		key.static_bytes = shape->static_shared_bytes;
		key.dynamic_bytes = shape->dynamic_shared_bytes;
	}
	return key;
}

static void add_occupancy(struct kernel_operator_view *view, struct row *row,
	const struct op_record *record, const struct model_shape *shape)
{
	uint32_t device = process_place(view->input.process, record->place).device;
	struct occupancy occupancy;

	if (device != view->device_id) {
		view->device_id = device;
		view->device = occupancy_device(view->input.process, device);
	}
	if (occupancy_compute(&view->device, shape, &occupancy)) {
		occupancy_mean_add(
			&row->mean, &occupancy, (double)(record->end_ns - record->begin_ns));
	}
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct kernel_operator_view *view = context;
	const struct model_shape *shape = NULL;
	struct row *row;
	struct key key;

	if (!gprof_table_is(record->table, GPROF_IS_COMPUTING)) {
		return;
	}
	if (record->table == GPROF_TABLE_kernel) {
		shape = idmap_get(&view->input.process->shapes, record->shape);
	}
	key = make_key(view, record, shape);
	key.operator= view_operator_of(record, call, op);
	op = op_operator_around(op);
	key.full_name = !view->input.is_detailed ? 0 : op ? op_full_name(op) : key.operator;
	HASH_FIND(hh, view->rows, &key, sizeof(key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = key;
		row->is_eligible = tensor_is_eligible(key.operator);
		HASH_ADD(hh, view->rows, key, sizeof(key), row);
	}
	kernel_times_add(&row->times, record);
	view->has_graphs |= record->graph_node != 0;
	if (!kernel_times_is_timed(record)) {
		return;
	}
	view->total_ns += (double)(record->end_ns - record->begin_ns);
	if (record->table == GPROF_TABLE_kernel) {
		counted_kernels_add(&row->measured, record->end_ns - record->begin_ns,
			kernel_counters_of_record(&view->counters, view->input.process, record));
	}
	if (shape) {
		add_occupancy(view, row, record, shape);
	}
}

/* ---- the table ---- */

static void set_size(const void *member, struct table_cell *cell)
{
	const uint32_t *size = member;
	char text[48];

	if (size[0]) {
		snprintf(text, sizeof(text), "[%u, %u, %u]", size[0], size[1], size[2]);
		table_set_string(cell, text);
	}
}

static const char *const no_yes[] = {"no", "yes"};

static const struct table_column columns[] = {
	KERNEL_TIMES_COLUMNS(row, times, kernel_operator_view),
	TABLE_COLUMN(
		"grid", "Grid", TABLE_TEXT, .is_major = true, TABLE_SET(row, key.grid, set_size)),
	TABLE_COLUMN("block", "Block", TABLE_TEXT, .is_minor = true,
		TABLE_SET(row, key.block, set_size)),
	TABLE_COLUMN("registers", "Registers per thread", TABLE_COUNT, .is_wide_only = true,
		TABLE_IF(row, key.registers, has_shape)),
	TABLE_COLUMN("shared_bytes", "Shared memory", TABLE_SIZE, .is_wide_only = true,
		.help = "shared memory per block", TABLE_IF(row, shared_bytes, has_shape)),
	TABLE_COLUMN("tensor_cores", "Tensor cores", TABLE_TEXT, .is_minor = true,
		.help = "whether the name is that of a tensor core kernel",
		TABLE_NAMED(row, tensor_use, tensor_use_names)),
	TABLE_COLUMN("tensor_eligible", "Tensor cores possible", TABLE_TEXT, .is_wide_only = true,
		.help = "whether the operator could use tensor cores",
		TABLE_NAMED(row, is_eligible, no_yes)),
	TABLE_COLUMN("blocks_per_sm", "Blocks per SM", TABLE_NUMBER, .is_minor = true,
		.help = "mean blocks of the grid per multiprocessor", TABLE_MEMBER(row, blocks)),
	TABLE_COLUMN("occupancy_pct", "Est. achieved occupancy %", TABLE_PERCENT, .is_minor = true,
		.help = "estimated achieved occupancy", TABLE_MEMBER(row, occupancy_pct)),
	TABLE_COLUMN("limit", "Limit", TABLE_NAME, .is_minor = true,
		.help = "what limits the occupancy; GRID: the grid has no more blocks",
		TABLE_NONZERO(row, limit)),
	COUNTER_MEASURED_OCCUPANCY(row, measured, kernel_operator_view, counters),
	COUNTER_MEASURED_TENSOR(row, measured, kernel_operator_view, counters),
	COUNTER_MEASURED_SHARE(row, measured, kernel_operator_view, counters),
	TABLE_COLUMN("operator", "Operator", TABLE_NAME, .is_major = true,
		.help = "innermost operator around the launch", TABLE_MEMBER(row, key.operator)),
	TABLE_COLUMN("full_name", "Full name", TABLE_NAME,
		.help = "with --detail: the modules around the operator (GPROF_PYTHON=modules), "
			"and its name",
		TABLE_WIDE_UNLESS(kernel_operator_view, input.is_detailed),
		TABLE_NONZERO(row, key.full_name)),
	TABLE_COLUMN("name", "Kernel", TABLE_NAME, .is_kernel = true, TABLE_MEMBER(row, key.name)),
};

static void finish(const struct kernel_operator_view *view, struct row *row)
{
	uint8_t limits = occupancy_mean_limits(&row->mean);

	kernel_times_finish(&row->times);
	row->has_shape = row->key.grid[0] != 0;
	row->shared_bytes = (uint64_t)row->key.static_bytes + row->key.dynamic_bytes;
	row->tensor_use = tensor_use_of(row->key.name);
	row->limit = limits ? occupancy_limit_name(limits) : 0;
	if (!occupancy_mean_blocks(&row->mean, &row->blocks)) {
		row->blocks = NAN;
	}
	if (!occupancy_mean_percent(&row->mean, view->input.is_of_plugin, &row->occupancy_pct)) {
		row->occupancy_pct = NAN;
	}
}

static void fill_table(void *state, struct table *table)
{
	struct kernel_operator_view *view = state;

	table_set_wide(table, "operator", view->input.is_detailed);
	for (struct row *row = view->rows; row; row = row->hh.next) {
		finish(view, row);
		table_add(table, row);
	}
	view_note_devices(table, &view->input, "");
	table_sort(table, "total");
}

static void fini(void *state)
{
	struct kernel_operator_view *view = state;

	hash_free(view->rows);
	kernel_counters_fini(&view->counters);
}

VIEW(kernel_operator, 250) = {
	.name = "kernel-operator",
	.subject = VIEW_ABOUT_GPU,
	.help = "kernels by operator and launch configuration; with --detail also by place in the "
		"model",
	.about =
		"The achieved occupancy is an estimate, not a measurement: the warps of the launch "
		"that a multiprocessor holds at once on average, as a share of its maximum. "
		"Measured columns are from hardware counters (GPROF_METRICS=pm), as in the view "
		"utilization-kernels.",
	.title = "Kernels by operator and launch configuration",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct kernel_operator_view),
	.ops = {.begin = begin, .record = on_record},
	.parts = {{.scan = &kernel_counters_scan,
		.offset = offsetof(struct kernel_operator_view, counters),
		.needs_scan = kernel_counters_needs_scan,
		.is_scan_rare = true}},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
