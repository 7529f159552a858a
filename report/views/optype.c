/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators by their type, as MindInsight's page of operators has them, and with details each
 * single one: a type with the shapes of its inputs. Times are their own (self), without what lies
 * in them, so that shares add up to 100 %.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/hash.h"
#include "report/table/min_max_sum.h"
#include "report/analysis/view.h"

struct key {
	uint32_t name, shape; /* of names.h; of a type its own, 0 */
	uint32_t is_single;
};

struct row {
	struct key key;
	struct min_max_sum self; /* ns, on the CPU */
	uint64_t gpu_ns;
	uint64_t nr_activities;
	uint32_t type;
	uint64_t nr_singles; /* of a type: different names and shapes */
	struct row *of;	     /* of a single one: its type's */
	UT_hash_handle hh;
};

struct optype_view {
	bool is_detailed;
	struct row *rows; /* types and singles */
	struct process *process;
	bool is_gpu; /* the process at hand has device records */
	bool has_gpu, lacks_gpu_times;
};

static void *create(const struct view_input *input)
{
	struct optype_view *view = mem_zeroed(1, sizeof(*view));

	view->is_detailed = input->is_detailed;
	return view;
}

static void begin(void *context, struct process *process)
{
	struct optype_view *view = context;
	const char *why;

	view->process = process;
	view->is_gpu = view_has_device_records(process, &why);
	if (op_has_any(process)) {
		view->has_gpu |= view->is_gpu;
		view->lacks_gpu_times |= !view->is_gpu;
	}
}

/*
 * "aten::add_" is of type add, "AddmmBackward0" of AddmmBackward, "conv2d_grad" of conv2d_grad:
 * without namespaces, the mark of operators that work in place, and the number of a node's
 * overload. "autograd::engine::evaluate_function: AddmmBackward0" is what the engine does around
 * the node, evaluate_function.
 */
static uint32_t type_of(uint32_t name)
{
	size_t nr_bytes;
	const char *at = string_pool_text(name, &nr_bytes), *end = at + nr_bytes, *digits;

	for (const char *c = at; c + 1 < end; c++) {
		if (c[0] == ':' && c[1] == ':') {
			at = c + 2;
		} else if (c[0] == ':' && c[1] == ' ') {
			end = c;
		}
	}
	for (digits = end; digits > at && isdigit((unsigned char)digits[-1]); digits--) {
	}
	if (digits - at > 8 && memcmp(digits - 8, "Backward", 8) == 0) {
		end = digits;
	}
	end -= end - at > 1 && end[-1] == '_' && end[-2] != '_';
	return at < end ? string_pool_intern(at, (size_t)(end - at)) : name;
}

static struct row *find_row(struct optype_view *view, struct key key, bool *is_new)
{
	struct row *row;

	HASH_FIND(hh, view->rows, &key, sizeof(key), row);
	*is_new = !row;
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = key;
		HASH_ADD(hh, view->rows, key, sizeof(key), row);
	}
	return row;
}

static void add(struct row *row, uint64_t self_ns, const struct op *op)
{
	min_max_sum_add(&row->self, self_ns);
	row->gpu_ns += op->gpu_self_ns;
	row->nr_activities += op->nr_activities;
}

static struct row *find_single(struct optype_view *view, const struct op *op)
{
	struct key key = {.name = op->name, .shape = op->shape, .is_single = true};
	bool is_new;
	struct row *row = find_row(view, key, &is_new);

	if (is_new) {
		row->type = type_of(op->name);
		row->of = find_row(view, (struct key){.name = row->type}, &is_new);
		row->of->type = row->type;
		row->of->nr_singles++;
	}
	return row;
}

static void take_op(void *context, const struct op *op)
{
	struct optype_view *view = context;
	uint64_t ticks = op->end - op->begin, self_ns;
	struct row *row;

	if (op_is_module(op->framework, op->scope) ||
		op_class(op->name, op->framework, op->scope) == OP_RANGE) {
		return; /* no operators */
	}
	self_ns = clock_map_duration(
		&view->process->host_clock, ticks > op->child_ticks ? ticks - op->child_ticks : 0);
	row = find_single(view, op);
	add(row, self_ns, op);
	add(row->of, self_ns, op);
}

/* ---- the table ---- */

enum column {
	SHARE,
	TIME, /* on the device, of the CPU where there is none */
	GPU,
	CPU,
	CALLS,
	AVG,
	MAX,
	MIN,
	WORKS,
	SINGLES,
	TYPE,
	NAME,
	SHAPE,
	NR_COLUMNS,
};

static uint64_t time_of(const struct optype_view *view, const struct row *row)
{
	return view->has_gpu ? row->gpu_ns : row->self.sum;
}

static void fill(const struct optype_view *view, const struct row *row, double total_ns,
	struct table_cell *cells)
{
	uint64_t ns = time_of(view, row);

	table_set_share(&cells[SHARE], ns, total_ns);
	table_set_integer(&cells[TIME], ns);
	if (view->has_gpu) {
		table_set_integer(&cells[GPU], row->gpu_ns);
		table_set_integer(&cells[WORKS], row->nr_activities);
	}
	table_set_integer(&cells[CPU], row->self.sum);
	table_set_integer(&cells[CALLS], row->self.nr);
	table_set_number(&cells[AVG], min_max_sum_mean(&row->self));
	table_set_integer(&cells[MAX], row->self.max);
	table_set_integer(&cells[MIN], row->self.min);
	table_set_integer(&cells[TYPE], row->type);
	if (row->key.is_single) {
		table_set_integer(&cells[NAME], row->key.name);
	} else {
		table_set_integer(&cells[SINGLES], row->nr_singles);
	}
	if (row->key.shape) {
		table_set_integer(&cells[SHAPE], row->key.shape);
	}
}

static void choose_columns(const struct optype_view *view, struct table_column *columns)
{
	static const struct table_column all[NR_COLUMNS] = {
		[SHARE] = {"share_pct", "% of GPU time", TABLE_PERCENT, false},
		[TIME] = {"total_ns", "Total", TABLE_TIME, true},
		[GPU] = {"gpu_self_ns", "Self GPU", TABLE_TIME, false},
		[CPU] = {"self_ns", "Self CPU", TABLE_TIME, false},
		[CALLS] = {"calls", "Calls", TABLE_COUNT, false},
		[AVG] = {"avg_ns", "CPU avg", TABLE_MEAN_TIME, false},
		[MAX] = {"max_ns", "CPU max", TABLE_TIME, true},
		[MIN] = {"min_ns", "CPU min", TABLE_TIME, true},
		[WORKS] = {"works", "GPU works", TABLE_COUNT, false},
		[SINGLES] = {"operators", "Operators", TABLE_COUNT, false},
		[TYPE] = {"type", "Type", TABLE_NAME, false},
		[NAME] = {"name", "Operator", TABLE_NAME, false},
		[SHAPE] = {"shapes", "Inputs", TABLE_NAME, false},
	};

	memcpy(columns, all, sizeof(all));
	columns[GPU].is_wide_only = columns[WORKS].is_wide_only = !view->has_gpu;
	columns[SHARE].title = view->has_gpu ? "% of GPU time" : "% of self CPU time";
	columns[SINGLES].is_wide_only = view->is_detailed;
	columns[NAME].is_wide_only = columns[SHAPE].is_wide_only = !view->is_detailed;
}

static struct table *make_table(void *context)
{
	static struct table_column columns[NR_COLUMNS];
	struct optype_view *view = context;
	struct table *table;
	double total_ns = 0;
	struct row *row;

	choose_columns(view, columns);
	table = table_create("optype", view->is_detailed ? "Single operators" : "Operator types",
		columns, NR_COLUMNS);
	for (row = view->rows; row; row = row->hh.next) {
		total_ns += row->key.is_single ? 0 : (double)time_of(view, row);
	}
	for (row = view->rows; row; row = row->hh.next) {
		if (view->is_detailed == (row->key.is_single != 0)) {
			fill(view, row, total_ns, table_add_row(table));
		}
	}
	if (table->nr_rows) {
		table_note(table, "%s of each is its own, without operators that lie in it%s%s",
			view->has_gpu ? "time" : "time on the CPU",
			view->has_gpu ? "; GPU: sum of what it launched itself, whenever that ran"
				      : "",
			view->has_gpu && view->lacks_gpu_times
				? "; some processes have no device records"
				: "");
	}
	table_sort(table, "self"); /* then those without time on a device */
	table_sort(table, "total");
	return table;
}

static void destroy(void *context)
{
	struct optype_view *view = context;

	hash_free(view->rows);
	free(view);
}

const struct view_class view_optype = {
	.name = "optype",
	.help = "types of operators; with --detail each operator with its inputs",
	.is_default = false,
	.is_empty_hidden = true,
	.ops = {.begin = begin, .op = take_op},
	.create = create,
	.table = make_table,
	.destroy = destroy,
};
