/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators by type, and each single operator by the shapes of its inputs and the modules around
 * it, as on MindInsight's page of operators: those with the longest average first. Times are self
 * times, so that shares add up to 100 %.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/hash.h"
#include "report/stats/min_max_sum.h"
#include "report/analysis/view.h"

struct key {
	uint32_t name, shape; /* of string_pool.h; of a type its own, 0 */
	uint32_t full_name;   /* with the modules around it; of a type 0 */
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
	/* For the table. */
	uint64_t time_ns; /* on the device, of the CPU where there is none */
	double avg_ns;
	bool has_launched;
	UT_hash_handle hh;
};

#define NR_RECENT 256u

struct operator_types_view {
	struct view_input input;
	struct row *rows;	       /* types and singles */
	struct row *recent[NR_RECENT]; /* singles found last, by a hash of the key; or NULL */
	bool is_gpu;		       /* the current process has device records */
	bool has_gpu, lacks_gpu_times;
	double total_ns; /* of the table */
};

static void begin(void *context, struct process *process)
{
	struct operator_types_view *view = context;

	view->is_gpu = process_has_device_records(process, NULL);
	if (op_has_any(process)) {
		view->has_gpu |= view->is_gpu;
		view->lacks_gpu_times |= !view->is_gpu;
	}
}

static bool begins_with(const char *at, const char *end, const char *prefix)
{
	return (size_t)(end - at) > strlen(prefix) && !memcmp(at, prefix, strlen(prefix));
}

static bool ends_with(const char *at, const char *end, const char *suffix)
{
	size_t nr_bytes = strlen(suffix);

	return (size_t)(end - at) > nr_bytes && !memcmp(end - nr_bytes, suffix, nr_bytes);
}

/* Paddle: "conv2d dygraph", "pd_op.conv2d", and the nodes "Global_Conv2dGradNodeFinal". */
static void find_paddle_type(const char **at, const char **end)
{
	static const char *const marks[] = {" dygraph", " compute", " grad_node"};

	*at += begins_with(*at, *end, "pd_op.") ? strlen("pd_op.") : 0;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		*end -= ends_with(*at, *end, marks[i]) ? strlen(marks[i]) : 0;
	}
	if (begins_with(*at, *end, "Global_")) {
		*at += strlen("Global_");
		*end -= ends_with(*at, *end, "GradNodeFinal") ? strlen("Final") : 0;
	}
}

/*
 * "aten::add_" is of type add, "AddmmBackward0" of AddmmBackward, "conv2d_grad" of conv2d_grad:
 * without namespaces, the mark of operators that work in place, and the number of a node's
 * overload. "autograd::engine::evaluate_function: AddmmBackward0" is what the engine does around
 * the node, evaluate_function.
 */
static uint32_t type_of(const struct op *op)
{
	size_t nr_bytes;
	const char *at = string_pool_text(op->name, &nr_bytes), *end = at + nr_bytes, *digits;

	for (const char *c = at; c + 1 < end; c++) {
		if (c[0] == ':' && c[1] == ':') {
			at = c + 2;
		} else if (c[0] == ':' && c[1] == ' ') {
			end = c;
		}
	}
	if (op->framework == GPROF_FRAMEWORK_PADDLE) {
		find_paddle_type(&at, &end);
	}
	for (digits = end; digits > at && isdigit((unsigned char)digits[-1]); digits--) {
	}
	if (digits - at > 8 && memcmp(digits - 8, "Backward", 8) == 0) {
		end = digits;
	}
	end -= end - at > 1 && end[-1] == '_' && end[-2] != '_';
	return at < end ? string_pool_intern(at, (size_t)(end - at)) : op->name;
}

static struct row *find_row(struct operator_types_view *view, struct key key, bool *is_new)
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

static void add_gpu(struct row *row, const struct op *op)
{
	row->gpu_ns += op->gpu_self_ns;
	row->nr_activities += op->nr_activities;
}

static void add(struct row *row, uint64_t self_ns, const struct op *op)
{
	min_max_sum_add(&row->self, self_ns);
	add_gpu(row, op);
}

/* Few recur often: most are found without the hash table. */
static struct row **recent_of(struct operator_types_view *view, const struct key *key)
{
	uint64_t hash = (uint64_t)key->full_name << 32 | key->shape;

	return &view->recent[(hash * 0x9e3779b97f4a7c15ull >> 32) % NR_RECENT];
}

static struct row *find_single(struct operator_types_view *view, const struct op *op)
{
	struct key key = {.name = op->name,
		.shape = op->shape,
		.full_name = op_full_name(op),
		.is_single = true};
	struct row **recent = recent_of(view, &key), *row = *recent;
	bool is_new;

	if (row && row->key.name == key.name && row->key.shape == key.shape &&
		row->key.full_name == key.full_name) {
		return row;
	}
	row = *recent = find_row(view, key, &is_new);
	if (is_new) {
		row->type = type_of(op);
		row->of = find_row(view, (struct key){.name = row->type}, &is_new);
		row->of->type = row->type;
		row->of->nr_singles++;
	}
	return row;
}

/* Paddle marks phases by events of their own, which are no operators. */
static bool is_operator(const struct op *op)
{
	enum op_class class = op_class(op->name, op->framework, op->scope);

	return !op_is_module(op->framework, op->scope) && class != OP_RANGE &&
	       (op->framework != GPROF_FRAMEWORK_PADDLE || class == OP_OTHER);
}

/* Adds the launches of a part to its operator; the part's time is in the operator's self time. */
static void add_part(struct operator_types_view *view, const struct op *part)
{
	const struct op *op = part;
	struct row *row;

	while (op && op_is_part(op->framework, op->scope)) {
		op = op->parent;
	}
	if (op && part->nr_activities && is_operator(op)) {
		row = find_single(view, op);
		add_gpu(row, part);
		add_gpu(row->of, part);
	}
}

/* Adds the work that a graph's launch ran for an operator; it counts no call. */
static void on_replay(void *context, const struct op *op)
{
	struct operator_types_view *view = context;
	struct row *row;

	if (op_is_part(op->framework, op->scope)) {
		add_part(view, op);
	} else if (is_operator(op)) {
		row = find_single(view, op);
		add_gpu(row, op);
		add_gpu(row->of, op);
	}
}

static void on_op(void *context, const struct op *op)
{
	struct operator_types_view *view = context;
	uint64_t ticks = op->end - op->begin + op->part_ticks, self_ns;
	struct row *row;

	if (op_is_part(op->framework, op->scope)) {
		add_part(view, op);
		return;
	}
	if (!is_operator(op)) {
		return;
	}
	self_ns = clock_map_duration(&view->input.process->host_clock,
		ticks > op->child_ticks ? ticks - op->child_ticks : 0);
	row = find_single(view, op);
	add(row, self_ns, op);
	add(row->of, self_ns, op);
}

/* ---- the table ---- */

static uint64_t time_of(const struct operator_types_view *view, const struct row *row)
{
	return view->has_gpu ? row->gpu_ns : row->self.sum;
}

/* Both views may show a row. */
static void finish(const struct operator_types_view *view, struct row *row)
{
	row->time_ns = time_of(view, row);
	row->gpu_ns = view->has_gpu ? row->gpu_ns : UINT64_MAX;
	row->avg_ns = min_max_sum_mean(&row->self);
	row->has_launched = row->nr_activities != 0;
}

static const char *const sides[] = {"Host", "Device"};

static const struct table_column columns[] = {
	TABLE_COLUMN("share_pct", "% of GPU time", TABLE_PERCENT,
		.help = "self GPU time, else self CPU time, of that of all operators",
		TABLE_SHARE_OF_STATE(row, time_ns, operator_types_view, total_ns)),
	TABLE_COLUMN("total_ns", "Total", TABLE_TIME, .is_wide_only = true,
		.help = "self GPU time, else self CPU time", TABLE_MEMBER(row, time_ns)),
	TABLE_COLUMN("time_avg_ns", "Avg", TABLE_MEAN_TIME, .is_wide_only = true,
		.help = "total per call, the order of the rows", TABLE_MEAN(row, time_ns, self.nr)),
	TABLE_COLUMN("gpu_self_ns", "Self GPU", TABLE_TIME, .help = "launched by it directly",
		TABLE_WIDE_UNLESS(operator_types_view, has_gpu), TABLE_MEMBER(row, gpu_ns)),
	TABLE_COLUMN("gpu_avg_ns", "GPU avg", TABLE_MEAN_TIME, .is_minor = true,
		.help = "self GPU time per call", TABLE_WIDE_UNLESS(operator_types_view, has_gpu),
		TABLE_MEAN(row, gpu_ns, self.nr)),
	TABLE_COLUMN("self_ns", "Self CPU", TABLE_TIME, .help = "without operators inside it",
		TABLE_MEMBER(row, self.sum)),
	TABLE_COLUMN("calls", "Calls", TABLE_COUNT, TABLE_MEMBER(row, self.nr)),
	TABLE_COLUMN(
		"avg_ns", "CPU avg", TABLE_MEAN_TIME, .is_minor = true, TABLE_MEMBER(row, avg_ns)),
	TABLE_COLUMN(
		"max_ns", "CPU max", TABLE_TIME, .is_wide_only = true, TABLE_MEMBER(row, self.max)),
	TABLE_COLUMN(
		"min_ns", "CPU min", TABLE_TIME, .is_wide_only = true, TABLE_MEMBER(row, self.min)),
	TABLE_COLUMN("gpu_activities", "GPU activities", TABLE_COUNT, .is_minor = true,
		.help = "GPU activities launched", TABLE_WIDE_UNLESS(operator_types_view, has_gpu),
		TABLE_IF_STATE(row, nr_activities, operator_types_view, has_gpu)),
	TABLE_COLUMN("operators", "Operators", TABLE_COUNT, .help = "different operators",
		TABLE_NONZERO(row, nr_singles)),
	TABLE_COLUMN("side", "On", TABLE_TEXT,
		.help = "Device: it launches GPU activities; Host: it launches none",
		TABLE_NAMED(row, has_launched, sides), TABLE_WHOLE(row, key.is_single)),
	TABLE_COLUMN("type", "Type", TABLE_NAME, .is_name = true, .is_minor = true,
		TABLE_MEMBER(row, type)),
	TABLE_COLUMN("name", "Operator", TABLE_NAME, .is_wide_only = true,
		TABLE_IF(row, key.name, key.is_single)),
	TABLE_COLUMN("full_name", "Full name", TABLE_NAME, .is_name = true,
		.help = "the modules around it, from the outermost on (GPROF_PYTHON=modules), and "
			"its name",
		TABLE_IF(row, key.full_name, key.is_single)),
	TABLE_COLUMN(
		"shapes", "Inputs", TABLE_NAME, .is_major = true, TABLE_NONZERO(row, key.shape)),
};

static void choose_columns(
	const struct operator_types_view *view, bool is_single, struct table *table)
{
	struct table_column *shown = table->columns;

	shown[table_find_column(table, "share")].title =
		view->has_gpu ? "% of GPU time" : "% of self CPU time";
	shown[table_find_column(table, "type")].is_minor = is_single; /* the full name ends in it */
	table_set_wide(table, "operators", is_single);
	table_set_wide(table, "side", !is_single);
	table_set_wide(table, "full_name", !is_single);
	table_set_wide(table, "shapes", !is_single);
}

static void add_rows(struct operator_types_view *view, bool is_single, struct table *table)
{
	struct row *row;

	choose_columns(view, is_single, table);
	view->total_ns = 0;
	for (row = view->rows; row; row = row->hh.next) {
		finish(view, row);
		view->total_ns += row->key.is_single ? 0 : (double)row->time_ns;
	}
	for (row = view->rows; row; row = row->hh.next) {
		if (is_single == (row->key.is_single != 0)) {
			table_add(table, row);
		}
	}
	if (view->lacks_gpu_times && view->has_gpu) {
		table_note(table, "Some processes have no GPU activities.");
	}
	table_sort(table, "avg"); /* then those without time on a device */
	table_sort(table, "time_avg");
}

static void fill_types(void *state, struct table *table)
{
	struct operator_types_view *view = state;

	if (view->input.is_detailed) {
		table_set_title(table, "Single operators");
	}
	add_rows(view, view->input.is_detailed, table);
}

static void fill_singles(void *state, struct table *table)
{
	add_rows(state, true, table);
}

static void fini(void *state)
{
	struct operator_types_view *view = state;

	hash_free(view->rows);
}

#define ABOUT                                                                                 \
	"Times are self times, without the operators inside, so the shares add up to 100 %. " \
	"GPU time is that of the GPU activities that the operator itself launched, whenever " \
	"they ran. Rows are in the order of their average."

VIEW(operator_types, 70) = {
	.name = "operator-types",
	.subject = VIEW_ABOUT_HOST,
	.help = "operators by type; with --detail as single-operators",
	.about = ABOUT,
	.is_empty_hidden = true,
	.title = "Operator types",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct operator_types_view),
	.ops = {.begin = begin, .op = on_op, .replay = on_replay},
	.fill = fill_types,
	.fini = fini,
};

VIEW(single_operators, 71) = {
	.name = "single-operators",
	.subject = VIEW_ABOUT_HOST,
	.help = "each operator by its inputs and its place in the model, on device or host",
	.about = ABOUT,
	.is_empty_hidden = true,
	.title = "Single operators",
	VIEW_COLUMNS(columns),
	.shows = &view_operator_types,
	.fill = fill_singles,
};
