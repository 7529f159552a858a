/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that code of torch.compile launched, with the ATen operators and source nodes that each
 * stands for (compiled_code.h). Memory grows with the number of different kernels and lines.
 */
#include <string.h>

#include "report/analysis/kernel_times.h"
#include "report/analysis/view.h"
#include "report/ops/compiled_code.h"
#include "report/util/buf.h"
#include "report/util/hash.h"

/* All numbers of string_pool.h. */
struct key {
	uint32_t name, operators, nodes, file;
	uint32_t line, nr_calls;
};

struct row {
	struct key key;
	struct kernel_times times;
	uint32_t at; /* for the table */
	UT_hash_handle hh;
};

struct compiled_kernels_view {
	struct view_input input;
	struct row *rows;
	struct compiled_code *code; /* of the process; NULL: none */
	double total_ns;	    /* of all kernels */
	bool has_graphs;
};

static void begin(void *context, struct process *process)
{
	struct compiled_kernels_view *view = context;

	compiled_code_destroy(view->code);
	view->code = compiled_code_create(process);
}

static void on_record(void *context, const struct op_record *record, const struct op_call *call,
	const struct op *op)
{
	struct compiled_kernels_view *view = context;
	const struct compiled_work *work;
	struct row *row;
	struct key key;

	(void)op;
	if (record->table != GPROF_TABLE_kernel) {
		return;
	}
	if (kernel_times_is_timed(record)) {
		view->total_ns += (double)(record->end_ns - record->begin_ns);
	}
	key.name = op_record_name(view->input.process, record);
	work = compiled_code_find(view->code, key.name, call ? call->py_stack : 0);
	if (!work) {
		return;
	}
	key = (struct key){
		key.name, work->operators, work->nodes, work->file, work->line, work->nr_calls};
	hash_put(view->rows, key, &key, row);
	kernel_times_add(&row->times, record);
	view->has_graphs |= record->graph_node != 0;
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	KERNEL_TIMES_COLUMNS(row, times, compiled_kernels_view,
		.help = "of all kernels, also those of other code"),
	TABLE_COLUMN("lines", "Lines", TABLE_COUNT, .is_minor = true,
		.help = "lines of generated code that call it", TABLE_MEMBER(row, key.nr_calls)),
	TABLE_COLUMN("at", "First line", TABLE_NAME, .is_wide_only = true,
		.help = "the first of these lines", TABLE_MEMBER(row, at)),
	TABLE_COLUMN("nodes", "Source nodes", TABLE_NAME,
		.help = "nodes of the traced program that the first line stands for",
		TABLE_NONZERO(row, key.nodes)),
	TABLE_COLUMN("operators", "ATen operators", TABLE_NAME, .is_major = true,
		.help = "that the kernel replaces; `A or B`: kernels of several graphs have this "
			"name",
		TABLE_NONZERO(row, key.operators)),
	TABLE_COLUMN("name", "Kernel", TABLE_NAME, .is_kernel = true, TABLE_MEMBER(row, key.name)),
};

static uint32_t line_text(const struct key *key)
{
	struct buf text = {0};
	uint32_t id;

	buf_printf(&text, "%s(%u)", string_pool_text(key->file, NULL), key->line);
	id = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return id;
}

static void fill_table(void *state, struct table *table)
{
	struct compiled_kernels_view *view = state;

	for (struct row *row = view->rows; row; row = row->hh.next) {
		kernel_times_finish(&row->times);
		row->at = line_text(&row->key);
		table_add(table, row);
	}
	table_sort(table, "total");
}

static void fini(void *state)
{
	struct compiled_kernels_view *view = state;

	compiled_code_destroy(view->code);
	hash_free(view->rows);
}

VIEW(compiled_kernels, 252) = {
	.name = "compiled-kernels",
	.subject = VIEW_ABOUT_GPU,
	.help = "kernels of torch.compile with the operators that each replaces",
	.about = "The comments of the modules that Inductor generates name the operators. Kernels "
		 "of "
		 "libraries (cuBLAS) have them where the Python stack of the launch is recorded "
		 "(GPROF_PYTHON=stacks).",
	.is_empty_hidden = true,
	.title = "Kernels of torch.compile",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct compiled_kernels_view),
	.ops = {.begin = begin, .record = on_record},
	.fill = fill_table,
	.fini = fini,
};
