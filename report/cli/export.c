/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cli/export.h"

#include <stdlib.h>
#include <string.h>

#include "report/model/api.h"
#include "report/model/time_axis.h"
#include "report/cli/export_steps.h"
#include "report/styles/nsys_reports.h"
#include "report/model/py_stack.h"
#include "report/model/ranges.h"
#include "report/model/scan.h"
#include "report/model/select.h"
#include "report/analysis/utilization.h"

/* What becomes of a column of the stream. */
enum role {
	ROLE_VALUE,
	ROLE_ID, /* 0: unknown */
	ROLE_HOST_TIME,
	ROLE_DEVICE_TIME,
	ROLE_HOST_SPAN,
	ROLE_DEVICE_SPAN,
	ROLE_STRING,
	ROLE_TEXT,
	ROLE_STEP,
	ROLE_THREAD,
	ROLE_CALL,
	ROLE_PLACE,
	ROLE_SHAPE,
	ROLE_OP_NAME,
	ROLE_OP_SHAPE,
	ROLE_PY_STACK,
	ROLE_PY_CODE,
	ROLE_METRIC,
	ROLE_DROPPED, /* what another one says, too */
};

/* Columns that name rows of other tables, and what they become; else the kind tells. */
static const struct {
	const char *name;
	enum role role;
	const char *columns; /* a text ends in $ */
} roles[] = {
	{"begin", ROLE_VALUE, "start_ns"}, {"time", ROLE_VALUE, "time_ns"},
	{"tick", ROLE_VALUE, "time_ns"}, {"dur", ROLE_VALUE, "dur_ns"}, {"step", ROLE_STEP, ""},
	{"thread", ROLE_THREAD, "tid"}, {"end_thread", ROLE_THREAD, "end_tid"},
	{"correlation", ROLE_ID, "correlation"}, {"call", ROLE_CALL, "name$ api$"},
	{"place", ROLE_PLACE, "device context stream"},
	{"shape", ROLE_SHAPE,
		"kernel_name$ mangled_name$ short_name$ grid_x grid_y grid_z block_x block_y "
		"block_z "
		"cluster_x cluster_y cluster_z registers static_shared_bytes dynamic_shared_bytes "
		"local_bytes"},
	{"op_name", ROLE_OP_NAME, "name$"}, {"op_shape", ROLE_OP_SHAPE, "shapes$"},
	{"py_stack", ROLE_PY_STACK, "python_stack$"}, {"py_code", ROLE_PY_CODE, "python_function$"},
	{"metric", ROLE_METRIC, "metric$"},
	{"rank", ROLE_VALUE, "comm_rank"}, /* of a communicator */
};

/* Tables that say what ids mean, which stands in the rows themselves, or are of the stream alone.
 */
static const uint8_t left_out[] = {GPROF_TABLE_schema, GPROF_TABLE_string, GPROF_TABLE_checkpoint,
	GPROF_TABLE_thread, GPROF_TABLE_call, GPROF_TABLE_ring_launch, GPROF_TABLE_function,
	GPROF_TABLE_shape, GPROF_TABLE_place, GPROF_TABLE_nvtx, GPROF_TABLE_context,
	GPROF_TABLE_stream, GPROF_TABLE_op_name, GPROF_TABLE_op_shape, GPROF_TABLE_py_file,
	GPROF_TABLE_py_code, GPROF_TABLE_py_stack};

#define ROLES (sizeof(roles) / sizeof(roles[0]))

struct plan {
	struct export_table table;
	enum role role[SCHEMA_COLUMNS];	 /* of each column of the stream */
	unsigned int at[SCHEMA_COLUMNS]; /* its first cell */
};

static struct plan plans[GPROF_NR_TABLES];
static unsigned int nr_plans;

/* Rows of table nvtx as whole ranges and marks. */
#define RANGES_NUMBER GPROF_TABLE_NONE
#define RANGES_NAMES  "pid rank step start_ns dur_ns tid name$ domain$ kind$"

/* ---- what the tables look like ---- */

static enum role role_of_kind(uint8_t kind, uint8_t kind_of_time)
{
	switch (kind) {
	case GPROF_KIND_TICK:
		return ROLE_HOST_TIME;
	case GPROF_KIND_DEVTIME:
		return ROLE_DEVICE_TIME;
	case GPROF_KIND_SPAN:
		return kind_of_time == GPROF_KIND_TICK ? ROLE_HOST_SPAN : ROLE_DEVICE_SPAN;
	case GPROF_KIND_STRING:
		return ROLE_STRING;
	case GPROF_KIND_TEXT:
		return ROLE_TEXT;
	default:
		return ROLE_VALUE;
	}
}

static void add_column(struct export_table *table, const char *name, enum export_type type)
{
	table->columns[table->nr_columns++] = (struct export_column){name, type};
}

/* Names behind each other, texts with a $. */
static void add_columns(struct export_table *table, const char *names)
{
	while (*names) {
		size_t nr = strcspn(names, " ");
		bool is_text = names[nr - 1] == '$';
		char *name = mem_zeroed(nr + 1, 1);

		memcpy(name, names, nr - is_text);
		add_column(table, name, is_text ? EXPORT_TEXT : EXPORT_INTEGER);
		names += nr + (names[nr] == ' ');
	}
}

static void plan_column(struct plan *plan, const struct schema_table *schema, unsigned int c)
{
	const struct schema_column *column = &schema->columns[c];
	enum role role = role_of_kind(column->kind, schema->columns[0].kind);
	const char *names = NULL;

	for (size_t i = 0; i < ROLES && !names; i++) {
		if (strcmp(roles[i].name, column->name) == 0) {
			names = roles[i].columns;
			role = roles[i].role == ROLE_VALUE ? role : roles[i].role;
		}
	}
	/* Operators that are too many for ids have their names here; ROLE_OP_NAME looks. */
	if (schema == schema_table(GPROF_TABLE_op) && c == COL_op_name) {
		role = ROLE_DROPPED;
		names = "";
	}
	plan->role[c] = role;
	plan->at[c] = plan->table.nr_columns;
	if (names) {
		add_columns(&plan->table, names);
	} else {
		add_column(&plan->table, column->name,
			role == ROLE_STRING || role == ROLE_TEXT ? EXPORT_TEXT : EXPORT_INTEGER);
	}
}

static void plan_table(unsigned int number, const struct schema_table *schema)
{
	struct plan *plan = &plans[nr_plans++];

	plan->table.name = schema->name;
	plan->table.number = number;
	add_columns(&plan->table, "pid rank step");
	for (unsigned int c = 0; c < schema->nr_columns; c++) {
		plan_column(plan, schema, c);
	}
}

static void make_plans(void)
{
	for (unsigned int number = 1; number < GPROF_NR_TABLES; number++) {
		if (schema_table(number) && !memchr(left_out, (int)number, sizeof(left_out))) {
			plan_table(number, schema_table(number));
		}
	}
	plans[nr_plans].table.name = "nvtx_range";
	plans[nr_plans].table.number = RANGES_NUMBER;
	add_columns(&plans[nr_plans++].table, RANGES_NAMES);
}

const struct export_table *export_table_at(unsigned int place)
{
	if (!nr_plans) {
		make_plans();
	}
	return place < nr_plans ? &plans[place].table : NULL;
}

/* ---- rows ---- */

struct exporter {
	const struct export_sink *sink;
	struct process **processes;
	uint64_t *base_ns;
	size_t place; /* of the process at hand */
	struct export_steps *steps;
	struct ranges *ranges;
	bool is_full; /* the sink takes no more */
};

static void set(struct export_cell *cell, uint64_t value)
{
	*cell = (struct export_cell){(int64_t)value, true};
}

static void set_known(struct export_cell *cell, uint64_t value, bool is_known)
{
	*cell = (struct export_cell){(int64_t)value, is_known};
}

static void set_shape(const struct process *process, uint64_t id, struct export_cell *cells)
{
	const struct model_shape *shape =
		id > UINT32_MAX ? NULL : idmap_get(&process->shapes, (uint32_t)id);
	const char *text;
	size_t nr_bytes, begin, end;

	if (!shape) {
		return;
	}
	text = string_pool_demangled(shape->name, &nr_bytes);
	nsys_base_name(text, nr_bytes, &begin, &end);
	set(&cells[2], string_pool_intern(text + begin, end - begin));
	text = string_pool_demangled(shape->name, &nr_bytes);
	set(&cells[0], string_pool_intern(text, nr_bytes));
	set(&cells[1], shape->name);
	for (unsigned int i = 0; i < 3 && shape->grid[0]; i++) {
		set(&cells[3 + i], shape->grid[i]);
		set(&cells[6 + i], shape->block[i]);
		set_known(&cells[9 + i], shape->cluster[i], shape->cluster[0] != 0);
	}
	if (shape->grid[0]) {
		set(&cells[12], shape->registers);
		/* Kineto's traces have the sum of both. */
		set_known(&cells[13], shape->static_shared_bytes, !process->stream->is_trace);
		set(&cells[14], shape->dynamic_shared_bytes);
		set(&cells[15], shape->local_bytes);
	}
}

static void set_place(const struct process *process, uint64_t id, struct export_cell *cells)
{
	struct model_place place = process_place(process, id);

	set_known(&cells[0], place.device, place.device != UINT32_MAX);
	set_known(&cells[1], place.context, place.context != UINT32_MAX);
	set_known(&cells[2], place.stream, place.stream != UINT32_MAX);
}

static void set_call(const struct process *process, uint64_t id, struct export_cell *cells)
{
	const char *name;
	uint8_t api;

	set(&cells[0], process_call_name(process, id, &api));
	name = api_name(api);
	set(&cells[1], string_pool_intern(name, strlen(name)));
}

static void set_name_of(const struct idmap *map, uint64_t id, struct export_cell *cell)
{
	const uint32_t *name = id && id <= UINT32_MAX ? idmap_get(map, (uint32_t)id) : NULL;

	set_known(cell, name ? *name : 0, name != NULL);
}

static void set_metric(uint64_t metric, struct export_cell *cell)
{
	const char *name = metric < usage_nr_metrics ? usage_metrics[metric].name : NULL;

	set_known(cell, name ? string_pool_intern(name, strlen(name)) : metric, name != NULL);
}

/* One column of a row that means the same in every table. */
static void set_cells(struct exporter *exporter, enum role role, const struct batch *b,
	unsigned int c, uint32_t i, struct export_cell *cells)
{
	struct process *process = exporter->processes[exporter->place];
	uint64_t base = exporter->base_ns[exporter->place], value = b->col[c] ? b->col[c][i] : 0;

	switch (role) {
	case ROLE_VALUE:
	case ROLE_DEVICE_SPAN:
		set(cells, value);
		break;
	case ROLE_ID:
		set_known(cells, value, value != 0);
		break;
	case ROLE_HOST_TIME:
		set(cells, time_axis_time(base, clock_map_time(&process->host_clock, value)));
		break;
	case ROLE_DEVICE_TIME:
		set(cells, time_axis_time(base, clock_map_time(&process->device_clock, value)));
		break;
	case ROLE_HOST_SPAN:
		set(cells, clock_map_duration(&process->host_clock, value));
		break;
	case ROLE_STRING:
		set_known(cells, process_string(process, value), value != 0);
		break;
	case ROLE_TEXT:
		set(cells, string_pool_intern(b->text[c][i].bytes, b->text[c][i].nr_bytes));
		break;
	case ROLE_THREAD:
		set_known(cells, process_tid(process, (uint32_t)value), value != 0);
		break;
	case ROLE_CALL:
		set_call(process, value, cells);
		break;
	case ROLE_PLACE:
		set_place(process, value, cells);
		break;
	case ROLE_SHAPE:
		set_shape(process, value, cells);
		break;
	case ROLE_OP_NAME:
		set_name_of(&process->op_names, value, cells);
		if (!value && b->table == GPROF_TABLE_op && b->col[COL_op_name][i]) {
			set(cells, process_string(process, b->col[COL_op_name][i]));
		}
		break;
	case ROLE_OP_SHAPE:
		set_name_of(&process->op_shapes, value, cells);
		break;
	case ROLE_PY_STACK:
		set_known(cells, value ? py_stack_text(process, (uint32_t)value) : 0, value != 0);
		break;
	case ROLE_PY_CODE:
		set_known(cells, value ? py_code_text(process, (uint32_t)value) : 0, value != 0);
		break;
	case ROLE_METRIC:
		set_metric(value, cells);
		break;
	case ROLE_STEP: /* export_steps.c has it, or it is set below */
	case ROLE_DROPPED:
		break;
	}
}

static const struct plan *plan_of(unsigned int table)
{
	for (unsigned int i = 0; i < nr_plans; i++) {
		if (plans[i].table.number == table) {
			return &plans[i];
		}
	}
	return NULL;
}

static void set_step(const struct exporter *exporter, const struct plan *plan,
	const struct batch *b, uint32_t i, struct export_cell *cells)
{
	const struct schema_table *schema = schema_table(b->table);
	uint64_t step;

	for (unsigned int c = 0; c < schema->nr_columns; c++) {
		if (plan->role[c] == ROLE_STEP) {
			set(&cells[EXPORT_STEP], b->col[c][i]);
			return;
		}
	}
	if (export_steps_find(exporter->steps, b, i, &step)) {
		set(&cells[EXPORT_STEP], step);
	}
}

static void set_first(const struct process *process, struct export_cell *cells)
{
	set(&cells[EXPORT_PID], process->pid);
	set_known(&cells[EXPORT_RANK], (uint64_t)process->rank, process->rank >= 0);
}

static void take_range(void *context, const struct range *range)
{
	static const char *const kinds[] = {[GPROF_NVTX_PUSH] = "push",
		[GPROF_NVTX_START] = "start",
		[GPROF_NVTX_MARK] = "mark"};
	struct exporter *exporter = context;
	struct process *process = exporter->processes[exporter->place];
	uint64_t base = exporter->base_ns[exporter->place], step;
	uint64_t ticks = range->end > range->begin ? range->end - range->begin : 0;
	struct export_cell cells[EXPORT_COLUMNS] = {{0}};
	const char *kind = kinds[range->op];

	set_first(process, cells);
	if (export_steps_at(exporter->steps, range->begin, &step)) {
		set(&cells[EXPORT_STEP], step);
	}
	set(&cells[3], time_axis_time(base, clock_map_time(&process->host_clock, range->begin)));
	set(&cells[4], clock_map_duration(&process->host_clock, ticks));
	set(&cells[5], process_tid(process, range->thread));
	set(&cells[6], range->name);
	set_known(&cells[7], range->domain, range->domain != 0);
	set(&cells[8], string_pool_intern(kind, strlen(kind)));
	if (!exporter->is_full) {
		exporter->is_full = !exporter->sink->row(
			exporter->sink->context, &plan_of(RANGES_NUMBER)->table, process, cells);
	}
}

static void take(void *context, struct process *process, const struct batch *b)
{
	struct exporter *exporter = context;
	const struct plan *plan = plan_of(b->table);
	unsigned int nr_columns = schema_table(b->table)->nr_columns;

	if (b->table == GPROF_TABLE_nvtx) {
		ranges_take(exporter->ranges, process, b, take_range, exporter);
		return;
	}
	for (uint32_t i = 0; i < b->nr_rows && !exporter->is_full; i++) {
		struct export_cell cells[EXPORT_COLUMNS] = {{0}};

		set_first(process, cells);
		set_step(exporter, plan, b, i, cells);
		for (unsigned int c = 0; c < nr_columns; c++) {
			set_cells(exporter, plan->role[c], b, c, i, &cells[plan->at[c]]);
		}
		exporter->is_full =
			!exporter->sink->row(exporter->sink->context, &plan->table, process, cells);
	}
}

bool export_run(struct process **processes, size_t nr_processes, const struct export_sink *sink)
{
	struct exporter exporter = {.sink = sink, .processes = processes};
	struct scan_want wants[GPROF_NR_TABLES];
	struct scan_view view = {.wants = wants, .take = take};
	struct scan scan = {&view, &exporter};

	for (unsigned int i = 0; export_table_at(i); i++) {
		unsigned int table = export_table_at(i)->number;

		wants[view.nr_wants++] =
			table == RANGES_NUMBER
				? (struct scan_want){GPROF_TABLE_nvtx, RANGES_MASK, 0}
				: (struct scan_want){
					  table, COL_ALL(schema_table(table)->nr_columns), 0};
	}
	exporter.base_ns = time_axis_create(processes, nr_processes);
	for (size_t i = 0; i < nr_processes && !exporter.is_full; i++) {
		exporter.place = i;
		exporter.steps = export_steps_create(processes[i]);
		exporter.ranges = ranges_create();
		scan_run(&processes[i], 1, &scan, 1);
		ranges_destroy(exporter.ranges);
		export_steps_destroy(exporter.steps);
	}
	free(exporter.base_ns);
	return !exporter.is_full;
}
