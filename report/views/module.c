/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of torch.nn.Modules, as the tree in which they call each other. */
#include <stdlib.h>
#include <string.h>

#include "report/ops/flops.h"
#include "report/util/hash.h"
#include "report/stats/min_max_sum.h"
#include "report/analysis/view.h"
#include "report/util/sort.h"

/* Deeper ones are counted with the one at this depth: a row's level is one byte. */
#define MAX_DEPTH 250u

/* Recent modules and their rows: few are open at once. */
#define NR_RECENT 256u

/* The sums of a module alone, or with the modules inside it. */
struct sums {
	double flops;
	uint64_t nr_flops; /* operators that have any */
	uint64_t gpu_ns;
	uint64_t gpu_bytes, cpu_bytes; /* allocated */
	int64_t gpu_kept, cpu_kept;    /* allocated less freed */
};

/* Modules at the same place in the outermost one, or of the same name, in the same row. */
struct key {
	struct row *parent;
	uint32_t name; /* of string_pool.h: its place, or its class and number */
	uint32_t class;
};

struct row {
	struct key key;
	uint32_t number;	  /* of string_pool.h: "Linear_1", of the first one called */
	uint32_t depth, order;	  /* in which they were met */
	struct row *parent;	  /* of `key`, unless that one is not selected */
	uint8_t level;		  /* below these */
	struct min_max_sum times; /* ns */
	uint64_t self_ns;
	uint64_t nr_operators; /* called by it and by no module or operator in it */
	struct sums self, total;
	bool is_shown;
	/* For the table: */
	uint64_t time_ns, bytes, self_bytes;
	double kept_bytes;
	uint32_t path; /* of string_pool.h */
	UT_hash_handle hh;
};

/* The parts of the name of a module's operator. */
struct module_name {
	uint32_t name, class, number;
	bool has_place;
};

struct recent {
	const struct op *op;
	uint64_t begin;
	uint32_t name;
	struct row *row;
};

struct module_view {
	struct view_input input;
	struct row *rows;
	struct idmap names;		 /* struct module_name by the operator's name */
	struct recent recent[NR_RECENT]; /* of the process */
	uint64_t all_ns;		 /* of the outermost modules */
	bool has_gpu, has_places, has_flops, lacks_sizes, has_allocs, has_gpu_allocs, is_too_deep;
};

static void init(void *state)
{
	idmap_init(&((struct module_view *)state)->names, sizeof(struct module_name));
}

static void begin(void *context, struct process *process)
{
	struct module_view *view = context;

	view->has_gpu |= op_has_any(process) && process_has_device_records(process, NULL);
	memset(view->recent, 0, sizeof(view->recent));
}

static bool is_module(const struct op *op)
{
	return op->is & OP_IS_MODULE;
}

/* ---- rows ---- */

/* Behind the class and the number is the place in the outermost module, if it is known. */
static const struct module_name *read_name(struct module_view *view, uint32_t op_name)
{
	struct module_name *name = idmap_put(&view->names, op_name);

	if (!name->number) {
		size_t nr_bytes;
		const char *text = op_module_name(op_name, &nr_bytes), *place = text + nr_bytes;
		const char *number = memrchr(text, '_', nr_bytes);

		name->number = string_pool_intern(text, nr_bytes);
		name->class = string_pool_intern(text, number ? (size_t)(number - text) : nr_bytes);
		name->has_place = *place;
		name->name =
			*place ? string_pool_intern(place + 1, strlen(place + 1)) : name->number;
		view->has_places |= *place;
	}
	return name;
}

static struct row *find_row(
	struct module_view *view, struct row *parent, const struct module_name *name)
{
	struct key key = {.parent = parent, .name = name->name, .class = name->class};
	struct row *row;

	if (parent && parent->depth == MAX_DEPTH) {
		view->is_too_deep = true;
		return parent;
	}
	HASH_FIND(hh, view->rows, &key, sizeof(key), row);
	if (!row) {
		row = mem_zeroed(1, sizeof(*row));
		row->key = key;
		row->number = name->number;
		row->depth = parent ? parent->depth + 1 : 0;
		row->order = HASH_COUNT(view->rows);
		HASH_ADD(hh, view->rows, key, sizeof(row->key), row);
	}
	return row;
}

/* The row of the innermost module around an operator, or of the module that it is; NULL: none. */
static struct row *row_of(struct module_view *view, const struct op *op)
{
	struct recent *recent;
	struct row *parent;

	while (op && !is_module(op)) {
		op = op->parent;
	}
	if (!op) {
		return NULL;
	}
	recent = &view->recent[(uintptr_t)op / sizeof(*op) % NR_RECENT];
	if (recent->op != op || recent->begin != op->begin || recent->name != op->name) {
		parent = row_of(view, op->parent);
		*recent = (struct recent){
			op, op->begin, op->name, find_row(view, parent, read_name(view, op->name))};
	}
	return recent->row;
}

static void on_module(struct module_view *view, const struct op *op)
{
	const struct clock_map *clock = &view->input.process->host_clock;
	uint64_t ticks = op->end - op->begin;
	struct row *row = row_of(view, op);

	row->number = read_name(view, op->name)->number; /* the walk goes back in time */
	min_max_sum_add(&row->times, clock_map_duration(clock, ticks));
	row->self_ns +=
		clock_map_duration(clock, ticks > op->module_ticks ? ticks - op->module_ticks : 0);
	row->self.gpu_ns += op->gpu_total_ns - op->module_gpu_ns;
}

/* Adds the work that a graph's launch ran for a module or an operator; it counts no call. */
static void on_replay(void *context, const struct op *op)
{
	struct module_view *view = context;
	struct row *row = row_of(view, op);
	double flops;

	if (is_module(op)) {
		row->self.gpu_ns += op->gpu_total_ns - op->module_gpu_ns;
	} else if (row && flops_of_op(op, &flops)) {
		row->self.flops += flops;
		view->has_flops = true;
	}
}

static void on_op(void *context, const struct op *op)
{
	struct module_view *view = context;
	struct row *row;
	double flops;

	if (is_module(op)) {
		on_module(view, op);
		return;
	}
	row = row_of(view, op);
	row->nr_operators += is_module(op->parent);
	view->lacks_sizes |= flops_lack_size(op);
	if (flops_of_op(op, &flops)) {
		row->self.flops += flops;
		row->self.nr_flops++;
		view->has_flops = true;
	}
}

static void on_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	struct module_view *view = context;
	struct row *row =
		op && (op->is & (OP_IS_MODULE | OP_IS_IN_MODULE)) ? row_of(view, op) : NULL;
	bool is_gpu = alloc->device_type != 0;
	int64_t *kept;

	if (!row) {
		return;
	}
	view->has_allocs = true;
	view->has_gpu_allocs |= is_gpu;
	kept = is_gpu ? &row->self.gpu_kept : &row->self.cpu_kept;
	*kept = (int64_t)((uint64_t)*kept + (uint64_t)alloc->bytes);
	if (alloc->bytes > 0) {
		*(is_gpu ? &row->self.gpu_bytes : &row->self.cpu_bytes) += (uint64_t)alloc->bytes;
	}
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	TABLE_COLUMN("share_pct", "% of outermost", TABLE_PERCENT,
		.help = "GPU total, as a share of the outermost modules; without GPU times, CPU "
			"total",
		TABLE_SHARE_OF_STATE(row, time_ns, module_view, all_ns)),
	TABLE_COLUMN("total_ns", "CPU total", TABLE_TIME, TABLE_MEMBER(row, times.sum)),
	TABLE_COLUMN("self_ns", "Self CPU", TABLE_TIME, .is_minor = true,
		.help = "without modules inside it", TABLE_MEMBER(row, self_ns)),
	TABLE_COLUMN("gpu_total_ns", "GPU total", TABLE_TIME, .help = "launched inside it",
		TABLE_WIDE_UNLESS(module_view, has_gpu),
		TABLE_IF_STATE(row, total.gpu_ns, module_view, has_gpu)),
	TABLE_COLUMN("gpu_self_ns", "Self GPU", TABLE_TIME,
		.help = "launched inside it, in no module inside it",
		TABLE_WIDE_UNLESS(module_view, has_gpu),
		TABLE_IF_STATE(row, self.gpu_ns, module_view, has_gpu)),
	TABLE_COLUMN("flops", "FLOPs", TABLE_COUNT,
		.help = "floating-point operations inside it, of operators whose input shapes are "
			"known",
		TABLE_WIDE_UNLESS(module_view, has_flops),
		TABLE_IF(row, total.flops, total.nr_flops)),
	TABLE_COLUMN("self_flops", "Self FLOPs", TABLE_COUNT, .is_wide_only = true,
		.help = "in no module inside it", TABLE_IF(row, self.flops, total.nr_flops)),
	TABLE_COLUMN("allocated_bytes", "Allocated", TABLE_SIZE,
		.help = "memory allocated inside it: of GPUs; of the CPU if no module allocates "
			"any of a GPU",
		TABLE_WIDE_UNLESS(module_view, has_allocs),
		TABLE_IF_STATE(row, bytes, module_view, has_allocs)),
	TABLE_COLUMN("self_allocated_bytes", "Self allocated", TABLE_SIZE, .is_wide_only = true,
		.help = "in no module inside it",
		TABLE_IF_STATE(row, self_bytes, module_view, has_allocs)),
	TABLE_COLUMN("kept_bytes", "Kept", TABLE_MEAN_SIZE, .is_minor = true,
		.help = "allocated less freed inside it: outputs, and what Backward needs",
		TABLE_WIDE_UNLESS(module_view, has_allocs),
		TABLE_IF_STATE(row, kept_bytes, module_view, has_allocs)),
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, .is_minor = true, TABLE_MEMBER(row, times.nr)),
	TABLE_COLUMN("avg_ns", "CPU avg", TABLE_MEAN_TIME, .is_minor = true,
		TABLE_MEAN(row, times.sum, times.nr)),
	TABLE_COLUMN(
		"max_ns", "CPU max", TABLE_TIME, .is_minor = true, TABLE_MEMBER(row, times.max)),
	TABLE_COLUMN(
		"min_ns", "CPU min", TABLE_TIME, .is_minor = true, TABLE_MEMBER(row, times.min)),
	TABLE_COLUMN("operators", "Operators", TABLE_COUNT, .is_wide_only = true,
		.help = "operators inside it", TABLE_MEMBER(row, nr_operators)),
	TABLE_COLUMN("name", "Module", TABLE_NAME, .is_name = true,
		.help = "its place in the outermost module, as named_modules() has it; else its "
			"class and number",
		TABLE_MEMBER(row, key.name)),
	TABLE_COLUMN("class", "Class", TABLE_NAME, .is_major = true, TABLE_MEMBER(row, key.class),
		TABLE_WIDE_UNLESS(module_view, has_places)),
	TABLE_COLUMN("path", "Path", TABLE_NAME, .is_wide_only = true,
		.help = "classes and numbers of the modules around it, and its own",
		TABLE_MEMBER(row, path)),
};

static void add_path(struct buf *path, const struct row *row)
{
	if (row->key.parent) {
		add_path(path, row->key.parent);
		buf_text(path, "/");
	}
	buf_text(path, string_pool_text(row->number, NULL));
}

static uint64_t time_of(const struct module_view *view, const struct row *row)
{
	return view->has_gpu ? row->total.gpu_ns : row->times.sum;
}

static void finish(const struct module_view *view, struct row *row)
{
	bool is_gpu = view->has_gpu_allocs;
	struct buf path = {0};

	row->time_ns = time_of(view, row);
	row->bytes = is_gpu ? row->total.gpu_bytes : row->total.cpu_bytes;
	row->self_bytes = is_gpu ? row->self.gpu_bytes : row->self.cpu_bytes;
	row->kept_bytes = (double)(is_gpu ? row->total.gpu_kept : row->total.cpu_kept);
	add_path(&path, row);
	row->path = string_pool_intern(path.bytes, path.nr_bytes);
	buf_fini(&path);
}

static void add_sums(struct sums *sums, const struct sums *more)
{
	sums->flops += more->flops;
	sums->nr_flops += more->nr_flops;
	sums->gpu_ns += more->gpu_ns;
	sums->gpu_bytes += more->gpu_bytes;
	sums->cpu_bytes += more->cpu_bytes;
	sums->gpu_kept += more->gpu_kept;
	sums->cpu_kept += more->cpu_kept;
}

/*
 * Adds to each module what lies in it. A module comes after the one around it in `rows`, and those
 * that are not selected are left out: they have rows because of what lies in them.
 */
static struct row **sum_up(struct module_view *view, size_t *nr)
{
	size_t nr_all = HASH_COUNT(view->rows);
	struct row **rows = mem_zeroed(nr_all + 1, sizeof(struct row *));

	*nr = 0;
	for (struct row *row = view->rows; row; row = row->hh.next) {
		rows[row->order] = row;
		row->total = row->self;
	}
	for (size_t i = nr_all; i-- > 0;) {
		if (rows[i]->key.parent) {
			add_sums(&rows[rows[i]->key.parent->order]->total, &rows[i]->total);
		}
	}
	for (size_t i = 0; i < nr_all; i++) {
		struct row *parent = rows[i]->key.parent;

		rows[i]->parent = parent && !parent->times.nr ? parent->parent : parent;
		rows[i]->level = rows[i]->parent ? rows[i]->parent->level + 1 : 0;
		if (rows[i]->times.nr) {
			rows[(*nr)++] = rows[i];
		}
	}
	return rows;
}

/* The one with most GPU time first, then the one with most CPU time. */
static int by_time(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	return ORDER(COMPARE(y->total.gpu_ns, x->total.gpu_ns), COMPARE(y->times.sum, x->times.sum),
		COMPARE(x->order, y->order));
}

/* Those with the same parent stand together. */
/* The order of a row among parents; 0 stands for none. */
static uint32_t order_of(const struct row *parent)
{
	return parent ? 1 + parent->order : 0;
}

static int by_parent(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;

	return ORDER(COMPARE(order_of(x->parent), order_of(y->parent)), by_time(a, b));
}

/* The first `nr_wanted` by time, with the modules around them. Returns how many are left out. */
static size_t choose(struct row **rows, size_t nr, size_t nr_wanted)
{
	size_t nr_shown = 0;

	qsort(rows, nr, sizeof(struct row *), by_time);
	for (size_t i = 0; i < nr; i++) {
		for (struct row *row = rows[i];
			row && !row->is_shown && (!nr_wanted || i < nr_wanted); row = row->parent) {
			row->is_shown = true;
			nr_shown++;
		}
	}
	return nr - nr_shown;
}

struct tree {
	const struct module_view *view;
	struct row **rows; /* by_parent */
	size_t nr;
	struct table *table;
};

static size_t find_children(const struct tree *tree, const struct row *parent)
{
	size_t at;

	BISECT(at, 0, tree->nr, order_of(tree->rows[at]->parent) < order_of(parent));
	return at;
}

/* Those in a module, each with what lies in it. */
static void add_rows(const struct tree *tree, const struct row *parent)
{
	for (size_t i = find_children(tree, parent);
		i < tree->nr && tree->rows[i]->parent == parent; i++) {
		struct row *row = tree->rows[i];

		if (row->is_shown) {
			finish(tree->view, row);
			table_add(tree->table, row);
			table_set_level(tree->table, row->level);
			add_rows(tree, row);
		}
	}
}

static void fill_table(void *state, struct table *table)
{
	struct module_view *view = state;
	struct tree tree = {.view = view, .table = table};
	size_t nr;

	tree.rows = sum_up(view, &nr);
	tree.nr = nr;
	table->nr_cut = choose(tree.rows, nr, view->input.nr_rows);
	qsort(tree.rows, nr, sizeof(struct row *), by_parent);
	for (size_t i = 0; i < nr && !tree.rows[i]->parent; i++) {
		view->all_ns += time_of(view, tree.rows[i]);
	}
	add_rows(&tree, NULL);
	if (!nr) {
		table_note(table, "No modules were recorded; set GPROF_PYTHON=modules.");
	} else if (!view->has_places) {
		table_note(table, "The recording does not have the places of modules in their "
				  "model: names are classes and numbers.");
	}
	if (view->lacks_sizes) {
		table_note(table, FLOPS_NOTE);
	}
	if (view->is_too_deep) {
		table_note(table, "Modules deeper than %u are counted with the one at that depth.",
			MAX_DEPTH);
	}
	free(tree.rows);
}

static void fini(void *state)
{
	struct module_view *view = state;

	hash_free(view->rows);
	idmap_fini(&view->names);
}

VIEW(module, 360) = {
	.name = "module",
	.subject = VIEW_ABOUT_HOST,
	.help = "calls of PyTorch modules as a tree, with their times, FLOPs and memory",
	.about = "Rows are forward calls of modules, nested as they call each other. Self time "
		 "excludes the modules inside. GPU time is that of the GPU activities launched "
		 "inside the module, whenever they ran. With --top, the modules with most time "
		 "are kept.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Modules",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct module_view),
	.ops = {.begin = begin,
		.op = on_op,
		.replay = on_replay,
		.op_is = OP_IS_MODULE | OP_IS_IN_MODULE,
		.alloc = on_alloc,
		.has_allocs = op_has_modules},
	.init = init,
	.fill = fill_table,
	.fini = fini,
};
