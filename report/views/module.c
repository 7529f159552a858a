/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of torch.nn.Modules, as the tree in which they call each other. */
#include <stdlib.h>
#include <string.h>

#include "report/util/hash.h"
#include "report/stats/min_max_sum.h"
#include "report/analysis/view.h"

/* Deeper ones are counted with the one at this depth. */
#define MOST_DEPTH 64u

struct row {
	uint32_t path;	 /* of string_pool.h: "Net_0/Sequential_0/Linear_1" */
	uint32_t parent; /* path of the one that it lies in, 0 if in none */
	uint32_t depth;
	uint32_t order;		  /* in which they were met */
	struct min_max_sum times; /* ns */
	uint64_t self_ns, gpu_total_ns, gpu_self_ns;
	uint64_t nr_operators; /* called by it and by no module or operator in it */
	uint32_t attribute;    /* of string_pool.h: "layers.1.fc"; 0: not recorded */
	UT_hash_handle hh;
};

struct module_view {
	struct view_input input;
	struct row *rows;
	struct process *process;
	bool has_gpu, has_attributes;
};

static void begin(void *context, struct process *process)
{
	struct module_view *view = context;

	view->process = process;
	view->has_gpu |= op_has_any(process) && view_has_device_records(process, NULL);
}

static bool is_module(const struct op *op)
{
	return op->is & OP_IS_MODULE;
}

static void add_name(struct buf *path, const struct op *op)
{
	size_t nr_bytes;
	const char *name = op_module_name(op->name, &nr_bytes);

	buf_text(path, path->nr_bytes ? "/" : "");
	buf_add(path, name, nr_bytes);
}

/* Behind the name is its place in the outermost module. */
static void add_attribute(struct module_view *view, struct row *row, const struct op *op)
{
	size_t nr_bytes;
	const char *attribute = op_module_name(op->name, &nr_bytes) + nr_bytes;

	if (*attribute && row->parent && !row->attribute) {
		row->attribute = string_pool_intern(attribute + 1, strlen(attribute + 1));
		view->has_attributes = true;
	}
}

/* Its modules from the outermost one on; *parent is the path without the last. */
static uint32_t find_path(const struct op *op, uint32_t *parent, uint32_t *depth)
{
	const struct op *modules[MOST_DEPTH];
	struct buf path = {0};
	uint32_t nr = 0, name;

	for (; op; op = op->parent) {
		if (is_module(op) && nr < MOST_DEPTH) {
			modules[nr++] = op;
		}
	}
	*depth = nr - 1;
	*parent = 0;
	while (nr > 0) {
		if (nr == 1 && path.nr_bytes) {
			*parent = string_pool_intern(path.bytes, path.nr_bytes);
		}
		add_name(&path, modules[--nr]);
	}
	name = string_pool_intern(path.bytes, path.nr_bytes);
	buf_fini(&path);
	return name;
}

static struct row *find_row(struct module_view *view, const struct op *module)
{
	uint32_t parent, depth, path = find_path(module, &parent, &depth);
	struct row *row;

	HASH_FIND(hh, view->rows, &path, sizeof(path), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->path = path;
		row->parent = parent;
		row->depth = depth;
		row->order = HASH_COUNT(view->rows);
		HASH_ADD(hh, view->rows, path, sizeof(path), row);
	}
	return row;
}

static void on_op(void *context, const struct op *op)
{
	struct module_view *view = context;
	const struct clock_map *clock = &view->process->host_clock;
	uint64_t ticks = op->end - op->begin;
	struct row *row;

	if (!is_module(op)) {
		if (op->parent && is_module(op->parent)) {
			find_row(view, op->parent)->nr_operators++;
		}
		return;
	}
	row = find_row(view, op);
	add_attribute(view, row, op);
	min_max_sum_add(&row->times, clock_map_duration(clock, ticks));
	row->self_ns +=
		clock_map_duration(clock, ticks > op->module_ticks ? ticks - op->module_ticks : 0);
	row->gpu_total_ns += op->gpu_total_ns;
	row->gpu_self_ns += op->gpu_total_ns - op->module_gpu_ns;
}

/* ---- the table ---- */

enum column {
	SHARE,
	TOTAL,
	SELF,
	CALLS,
	AVG,
	MAX,
	MIN,
	GPU_TOTAL,
	GPU_SELF,
	OPERATORS,
	MODULE,
	ATTRIBUTE,
	PATH,
};

/* Its own name, two blanks further in for each module around it. */
static uint32_t indented(const struct row *row)
{
	const char *path = string_pool_text(row->path, NULL), *base = strrchr(path, '/');
	struct buf text = {0};
	uint32_t name;

	buf_pad(&text, ' ', 2 * (size_t)row->depth);
	buf_text(&text, base ? base + 1 : path);
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

static void fill(const struct module_view *view, const struct row *row, double all_ns,
	struct table_cell *cells)
{
	table_set_share(&cells[SHARE], (double)row->times.sum, all_ns);
	table_set_number(&cells[AVG], min_max_sum_mean(&row->times));
	if (view->has_gpu) {
		table_set_integer(&cells[GPU_TOTAL], row->gpu_total_ns);
		table_set_integer(&cells[GPU_SELF], row->gpu_self_ns);
	}
	table_set_integer(&cells[MODULE], indented(row));
	if (row->attribute) {
		table_set_integer(&cells[ATTRIBUTE], row->attribute);
	}
}

/* Those with the same parent stand together, the longest first. */
static int by_parent(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	if (x->parent != y->parent) {
		return x->parent < y->parent ? -1 : 1;
	}
	if (x->times.sum != y->times.sum) {
		return x->times.sum > y->times.sum ? -1 : 1;
	}
	return x->order < y->order ? -1 : x->order > y->order;
}

/* In that order, NULL behind the last. What lies in a module that is not chosen lies in none. */
static struct row **sort_rows(struct module_view *view, size_t *nr)
{
	struct row **rows = mem_zeroed(HASH_COUNT(view->rows) + 1, sizeof(struct row *));

	*nr = 0;
	for (struct row *row = view->rows; row; row = row->hh.next) {
		struct row *parent;

		HASH_FIND(hh, view->rows, &row->parent, sizeof(row->parent), parent);
		row->parent = parent ? row->parent : 0;
		rows[(*nr)++] = row;
	}
	qsort(rows, *nr, sizeof(struct row *), by_parent);
	return rows;
}

static size_t find_parent(struct row *const *rows, size_t nr, uint32_t parent)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle]->parent < parent) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Those in a module, each with what lies in it. */
static void add_rows(const struct module_view *view, struct row *const *rows, size_t nr,
	uint32_t parent, double all_ns, struct table *table)
{
	for (size_t i = find_parent(rows, nr, parent); i < nr && rows[i]->parent == parent; i++) {
		fill(view, rows[i], all_ns, table_add(table, rows[i]));
		if (rows[i]->path) { /* one without a name would hold itself */
			add_rows(view, rows, nr, rows[i]->path, all_ns, table);
		}
	}
}

static const struct table_column columns[] = {
	[SHARE] = TABLE_COLUMN("share_pct", "% of outermost", TABLE_PERCENT,
		.help = "CPU total, as a share of the outermost modules"),
	[TOTAL] = TABLE_COLUMN("total_ns", "CPU total", TABLE_TIME, TABLE_MEMBER(row, times.sum)),
	[SELF] = TABLE_COLUMN("self_ns", "Self CPU", TABLE_TIME,
		.help = "without modules inside it", TABLE_MEMBER(row, self_ns)),
	[CALLS] = TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(row, times.nr)),
	[AVG] = TABLE_COLUMN("avg_ns", "CPU avg", TABLE_MEAN_TIME, .is_minor = true),
	[MAX] = TABLE_COLUMN(
		"max_ns", "CPU max", TABLE_TIME, .is_minor = true, TABLE_MEMBER(row, times.max)),
	[MIN] = TABLE_COLUMN(
		"min_ns", "CPU min", TABLE_TIME, .is_minor = true, TABLE_MEMBER(row, times.min)),
	[GPU_TOTAL] =
		TABLE_COLUMN("gpu_total_ns", "GPU total", TABLE_TIME, .help = "launched inside it"),
	[GPU_SELF] = TABLE_COLUMN("gpu_self_ns", "Self GPU", TABLE_TIME,
		.help = "launched inside it, in no module inside it"),
	[OPERATORS] = TABLE_COLUMN("operators", "Operators", TABLE_COUNT, .is_wide_only = true,
		.help = "operators inside it", TABLE_MEMBER(row, nr_operators)),
	[MODULE] = TABLE_COLUMN("module", "Module", TABLE_NAME, .is_name = true),
	[ATTRIBUTE] = TABLE_COLUMN("attribute", "Attribute", TABLE_NAME,
		.help = "where it is in the outermost module, as named_modules() has it"),
	[PATH] = TABLE_COLUMN("path", "Path", TABLE_NAME, .is_wide_only = true,
		.help = "modules around it", TABLE_MEMBER(row, path)),
};

static void fill_table(void *state, struct table *table)
{
	struct module_view *view = state;
	struct row **rows;
	double all_ns = 0;
	size_t nr;

	table->columns[GPU_TOTAL].is_wide_only = table->columns[GPU_SELF].is_wide_only =
		!view->has_gpu;
	table->columns[ATTRIBUTE].is_wide_only = !view->has_attributes;
	rows = sort_rows(view, &nr);
	for (size_t i = 0; i < nr && !rows[i]->parent; i++) {
		all_ns += (double)rows[i]->times.sum;
	}
	if (!view->rows) {
		table_note(table, "No modules were recorded; set GPROF_PYTHON=modules.");
	}
	add_rows(view, rows, nr, 0, all_ns, table);
	free(rows);
}

static void fini(void *state)
{
	struct module_view *view = state;

	hash_free(view->rows);
}

VIEW(module, 360) = {
	.name = "module",
	.help = "forward calls of PyTorch modules, nested as they call each other",
	.about =
		"Rows are forward calls of modules. Self time excludes the modules inside. GPU "
		"time is that of the GPU activities launched inside the module, whenever they ran.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Modules",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct module_view),
	.ops = {.begin = begin, .op = on_op, .op_is = OP_IS_MODULE | OP_IS_IN_MODULE},
	.fill = fill_table,
	.fini = fini,
};
