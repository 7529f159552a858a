/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables follow from the format's schema: each column of the stream has a role, by its name or
 * its kind, and becomes one or more columns of the table. event_reader_convert() turns a batch into
 * cells: integers, which for texts are ids of string_pool.h.
 */
#include "report/sql/event.h"

#include <stdlib.h>
#include <string.h>

#include "report/gpu/utilization.h"
#include "report/model/api.h"
#include "report/model/native_stack.h"
#include "report/model/py_stack.h"
#include "report/model/select.h"
#include "report/model/time_axis.h"
#include "report/styles/nsys_reports.h"
#include "report/util/text.h"

/* The roles say what becomes of a column of the stream. */
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
	ROLE_FIRST, /* pid, rank, step */
	ROLE_NATIVE_STACK,
	ROLE_PROCESS,
	ROLE_HOST_END,
	ROLE_DEVICE_END,
};

/* Columns that name rows of other tables, and what they become; else the kind decides. */
static const struct {
	const char *name;
	enum role role;
	const char *columns; /* a text ends in $ */
} roles[] = {
	{"begin", ROLE_VALUE, "start_ns"}, {"time", ROLE_VALUE, "time_ns"},
	{"call_begin", ROLE_VALUE, "call_start_ns"}, {"tick", ROLE_VALUE, "time_ns"},
	{"dur", ROLE_VALUE, "dur_ns"}, {"step", ROLE_STEP, ""}, {"thread", ROLE_THREAD, "tid"},
	{"end_thread", ROLE_THREAD, "end_tid"}, {"correlation", ROLE_ID, "correlation"},
	{"call", ROLE_CALL, "name$ api$"}, {"place", ROLE_PLACE, "device context stream"},
	{"shape", ROLE_SHAPE,
		"kernel_name$ mangled_name$ short_name$ grid_x grid_y grid_z block_x block_y "
		"block_z "
		"cluster_x cluster_y cluster_z registers static_shared_bytes dynamic_shared_bytes "
		"local_bytes"},
	{"op_name", ROLE_OP_NAME, "name$"}, {"op_shape", ROLE_OP_SHAPE, "shapes$"},
	{"py_stack", ROLE_PY_STACK, "python_stack$"}, {"py_code", ROLE_PY_CODE, "python_function$"},
	{"holder_stack", ROLE_PY_STACK, "holder_stack$"},
	{"native_stack", ROLE_NATIVE_STACK, "stack$"}, {"metric", ROLE_METRIC, "metric$"},
	{"rank", ROLE_VALUE, "comm_rank"}, /* of a communicator */
};

/* Tables that say what ids mean, which stands in the rows themselves, or are of the stream alone.
 */
static const uint8_t left_out[] = {GPROF_TABLE_schema, GPROF_TABLE_string, GPROF_TABLE_checkpoint,
	GPROF_TABLE_thread, GPROF_TABLE_call, GPROF_TABLE_ring_launch, GPROF_TABLE_function,
	GPROF_TABLE_shape, GPROF_TABLE_place, GPROF_TABLE_nvtx, GPROF_TABLE_context,
	GPROF_TABLE_stream, GPROF_TABLE_op_name, GPROF_TABLE_op_shape, GPROF_TABLE_py_file,
	GPROF_TABLE_py_code, GPROF_TABLE_py_stack, GPROF_TABLE_code_file, GPROF_TABLE_native_stack};

#define ROLES (sizeof(roles) / sizeof(roles[0]))

#define RANGES_NAMES "pid rank step start_ns dur_ns tid name$ domain$ kind$"

static struct event_table tables[GPROF_NR_TABLES];
static unsigned int nr_tables;

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

/* Adds a column for each of the names, which have blanks between; texts end in $. */
static void add_columns(
	struct event_table *table, const char *names, enum role role, unsigned int source)
{
	for (uint8_t part = 0; *names; part++) {
		size_t nr = strcspn(names, " ");
		bool is_text = names[nr - 1] == '$';
		char *name = mem_zeroed(nr + 1, 1);

		memcpy(name, names, nr - is_text);
		table->columns[table->nr_columns++] = (struct event_column){.name = name,
			.type = is_text ? EVENT_COLUMN_TEXT : EVENT_COLUMN_INTEGER,
			.role = (uint8_t)role,
			.source = (uint8_t)source,
			.part = part};
		names += nr + (names[nr] == ' ');
	}
}

static void add_column(struct event_table *table, const struct schema_table *schema, unsigned int c)
{
	const struct schema_column *column = &schema->columns[c];
	enum role role = role_of_kind(column->kind, schema->columns[0].kind);
	struct buf own = {0};
	const char *names = NULL;

	for (size_t i = 0; i < ROLES && !names; i++) {
		if (strcmp(roles[i].name, column->name) == 0) {
			names = roles[i].columns;
			role = roles[i].role == ROLE_VALUE ? role : roles[i].role;
		}
	}
	if (role == ROLE_STEP) {
		table->columns[EVENT_STEP].role = ROLE_STEP;
		table->columns[EVENT_STEP].source = (uint8_t)c;
	}
	/* Operators that are too many for ids have their names here; ROLE_OP_NAME looks. */
	if (schema == schema_table(GPROF_TABLE_op) && c == COL_op_name) {
		return;
	}
	/* `name` is that of the function. */
	if (schema == schema_table(GPROF_TABLE_os_call) && c == COL_os_call_name) {
		names = "path$";
	}
	if (c == 0 && (role == ROLE_HOST_TIME || role == ROLE_DEVICE_TIME)) {
		table->time_column = table->nr_columns;
	}
	if (!names) {
		bool is_text = role == ROLE_STRING || role == ROLE_TEXT;

		buf_printf(&own, "%s%s", column->name, is_text ? "$" : "");
		buf_char(&own, '\0');
		names = own.bytes;
	}
	add_columns(table, names, role, c);
	buf_fini(&own);
}

/* Hides the columns from nr_columns on, and behind them adds one for each text before them. */
static void hide(struct event_table *table, unsigned int nr_columns)
{
	for (unsigned int c = 0; c < nr_columns; c++) {
		struct event_column id = table->columns[c];
		struct buf name = {0};

		if (id.type == EVENT_COLUMN_TEXT) {
			buf_printf(&name, "%s_id", id.name);
			buf_char(&name, '\0');
			id.name = name.bytes;
			id.type = EVENT_COLUMN_TEXT_ID;
			table->columns[table->nr_columns++] = id;
		}
	}
	table->nr_hidden = table->nr_columns - nr_columns;
	table->nr_columns = nr_columns;
}

static void add_hidden(struct event_table *table, const struct schema_table *schema)
{
	unsigned int nr_columns = table->nr_columns;
	bool is_host = schema->columns[0].kind == GPROF_KIND_TICK;

	add_columns(table, "process", ROLE_PROCESS, 0);
	if (schema->columns[1].kind == GPROF_KIND_SPAN) {
		add_columns(table, "end_ns", is_host ? ROLE_HOST_END : ROLE_DEVICE_END, 0);
	}
	hide(table, nr_columns);
}

static void make_tables(void)
{
	struct event_table *table;

	for (unsigned int number = 1; number < GPROF_NR_TABLES; number++) {
		const struct schema_table *schema = schema_table(number);

		if (!schema || memchr(left_out, (int)number, sizeof(left_out))) {
			continue;
		}
		table = &tables[nr_tables++];
		table->name = schema->name;
		table->what = schema->what;
		table->number = table->source = number;
		add_columns(table, "pid rank step", ROLE_FIRST, 0);
		for (unsigned int c = 0; c < schema->nr_columns; c++) {
			add_column(table, schema, c);
		}
		add_hidden(table, schema);
	}
	table = &tables[nr_tables++];
	table->name = "nvtx_range";
	table->what = "an NVTX range that ended, or a mark";
	table->number = GPROF_TABLE_NONE;
	table->source = GPROF_TABLE_nvtx;
	table->time_column = EVENT_NR_FIRST;
	add_columns(table, RANGES_NAMES " process end_ns", ROLE_FIRST, 0);
	hide(table, table->nr_columns - 2);
}

const struct event_table *event_table_at(unsigned int place)
{
	if (!nr_tables) {
		make_tables();
	}
	return place < nr_tables ? &tables[place] : NULL;
}

/* Returns the column by which the step of a row is found, -1 where it has none. */
static int step_source(const struct event_table *table)
{
	unsigned int column;

	if (table->columns[EVENT_STEP].role == ROLE_STEP) {
		return table->columns[EVENT_STEP].source;
	}
	return select_rule_of(table->source, &column) == SELECT_ALL ? -1 : (int)column;
}

/* An end is the sum of begin and duration, so it needs the column of the duration, too. */
uint32_t event_table_mask(const struct event_table *table, uint64_t columns)
{
	uint32_t mask = 0;

	if (table->number == GPROF_TABLE_NONE) {
		return RANGES_MASK;
	}
	if ((columns >> EVENT_STEP & 1) && step_source(table) >= 0) {
		mask |= COL_BIT(step_source(table));
	}
	for (unsigned int c = EVENT_NR_FIRST; c < table->nr_columns + table->nr_hidden; c++) {
		if (columns >> c & 1) {
			bool is_end = table->columns[c].role == ROLE_HOST_END ||
				      table->columns[c].role == ROLE_DEVICE_END;

			mask |= COL_BIT(table->columns[c].source) | (is_end ? COL_BIT(1) : 0);
			if (table->columns[c].role == ROLE_OP_NAME &&
				table->source == GPROF_TABLE_op) {
				mask |= COLS(op, name);
			}
		}
	}
	return mask;
}

/* ---- rows ---- */

void event_cells_fini(struct event_cells *rows)
{
	for (unsigned int c = 0; c < EVENT_COLUMNS; c++) {
		free(rows->values[c]);
		free(rows->known[c]);
	}
	*rows = (struct event_cells){0};
}

void event_cells_reserve(struct event_cells *rows, uint64_t columns, size_t nr_rows)
{
	for (unsigned int c = 0; c < EVENT_COLUMNS; c++) {
		if ((columns >> c & 1) && rows->capacities[c] < nr_rows) {
			rows->values[c] = mem_resize(rows->values[c], nr_rows, sizeof(int64_t));
			rows->known[c] = mem_resize(rows->known[c], nr_rows, sizeof(bool));
			rows->capacities[c] = nr_rows;
		}
	}
}

/* The texts that a kernel's name becomes. */
struct kernel_names {
	uint32_t demangled, base;
	bool is_made;
};

struct event_reader {
	struct process *const *processes;
	size_t nr_processes;
	struct event_steps **steps; /* of each process, made when they are needed */
	struct idmap kernels;	    /* struct kernel_names, by the mangled name */
	uint32_t *shown;	    /* 1 + the number of what is shown, by number; 0: not known */
	size_t nr_shown;
};

struct event_reader *event_reader_create(struct process *const *processes, size_t nr_processes)
{
	struct event_reader *reader = mem_zeroed(1, sizeof(*reader));

	reader->processes = processes;
	reader->nr_processes = nr_processes;
	reader->steps = mem_zeroed(nr_processes, sizeof(*reader->steps));
	idmap_init(&reader->kernels, sizeof(struct kernel_names));
	return reader;
}

void event_reader_destroy(struct event_reader *reader)
{
	for (size_t i = 0; i < reader->nr_processes; i++) {
		event_reader_forget(reader, i);
	}
	idmap_fini(&reader->kernels);
	free(reader->steps);
	free(reader->shown);
	free(reader);
}

void event_reader_forget(struct event_reader *reader, size_t process)
{
	if (reader->steps[process]) {
		event_steps_destroy(reader->steps[process]);
		reader->steps[process] = NULL;
	}
}

int64_t event_reader_time(const struct event_reader *reader, size_t process, uint64_t ns)
{
	return (int64_t)time_axis_time(reader->processes[process], ns);
}

struct cell {
	int64_t value;
	bool is_known;
};

static struct cell known(uint64_t value)
{
	return (struct cell){(int64_t)value, true};
}

static struct cell known_if(uint64_t value, bool is_known)
{
	return (struct cell){is_known ? (int64_t)value : 0, is_known};
}

static struct cell text_cell(const char *text)
{
	return known(string_pool_intern(text, strlen(text)));
}

/* ---- kernels ---- */

static const struct kernel_names *kernel_names(struct event_reader *reader, uint32_t name)
{
	struct kernel_names *names = idmap_put(&reader->kernels, name);
	size_t nr_bytes, begin, end;
	const char *text;

	if (!names->is_made) {
		text = string_pool_demangled(name, &nr_bytes);
		nsys_base_name(text, nr_bytes, &begin, &end);
		names->base = string_pool_intern(text + begin, end - begin);
		names->demangled = string_pool_intern(text, nr_bytes);
		names->is_made = true;
	}
	return names;
}

/* part: the position of the column among the names of ROLE_SHAPE in `roles`. */
static struct cell shape_cell(
	struct event_reader *reader, size_t place, uint64_t id, unsigned int part, bool is_kernel)
{
	const struct process *process = reader->processes[place];
	const struct model_shape *shape =
		id > UINT32_MAX ? NULL : idmap_get(&process->shapes, (uint32_t)id);
	bool has_launch = shape && shape->grid[0];

	if (!shape) { /* a kernel's name is then "(unknown kernel N)", as everywhere */
		return part < 3 && is_kernel ? known(process_shape_name(process, id))
					     : known_if(0, false);
	}
	switch (part) {
	case 0:
		return known(kernel_names(reader, shape->name)->demangled);
	case 1:
		return known(shape->name);
	case 2:
		return known(kernel_names(reader, shape->name)->base);
	case 3:
	case 4:
	case 5:
		return known_if(shape->grid[part - 3], has_launch);
	case 6:
	case 7:
	case 8:
		return known_if(shape->block[part - 6], has_launch);
	case 9:
	case 10:
	case 11:
		return known_if(shape->cluster[part - 9], has_launch && shape->cluster[0]);
	case 12:
		return known_if(shape->registers, has_launch);
	case 13:
		/* Kineto's traces have the sum of both. */
		return known_if(
			shape->static_shared_bytes, has_launch && !process->stream->is_bare);
	case 14:
		return known_if(shape->dynamic_shared_bytes, has_launch);
	default:
		return known_if(shape->local_bytes, has_launch);
	}
}

/* ---- other columns ---- */

static struct cell place_cell(const struct process *process, uint64_t id, unsigned int part)
{
	struct model_place place = process_place(process, id);
	uint32_t value = part == 0 ? place.device : part == 1 ? place.context : place.stream;

	return known_if(value, value != UINT32_MAX);
}

static struct cell call_cell(const struct process *process, uint64_t id, unsigned int part)
{
	uint8_t api;
	uint32_t name = process_call_name(process, id, &api);

	return part ? text_cell(api_name(api)) : known(name);
}

static struct cell name_cell(const struct idmap *map, uint64_t id)
{
	const uint32_t *name = id && id <= UINT32_MAX ? idmap_get(map, (uint32_t)id) : NULL;

	return known_if(name ? *name : 0, name != NULL);
}

static struct cell op_name_cell(
	const struct process *process, const struct batch *b, uint64_t id, uint32_t i)
{
	if (!id && b->table == GPROF_TABLE_op && b->col[COL_op_name][i]) {
		return known(process_string(process, b->col[COL_op_name][i]));
	}
	return name_cell(&process->op_names, id);
}

static struct cell metric_cell(uint64_t metric)
{
	const char *key = metric < usage_nr_metrics ? usage_metrics[metric].key : NULL;

	return key ? text_cell(key) : known_if(0, false);
}

/* Traces do not have what was passed to calls, and some not their results either. */
static bool is_unknown_of_trace(
	const struct stream *stream, unsigned int table, unsigned int source)
{
	bool is_result = source == COL_api_result && stream->is_bare;

	switch (table) {
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
	case GPROF_TABLE_api_sync:
		return is_result || source >= GPROF_NR_API_COLUMNS;
	case GPROF_TABLE_api:
	case GPROF_TABLE_api_launch:
		return is_result;
	default:
		return false;
	}
}

/* A cell that is not known is NULL in a query, which differs from 0. */
static struct cell convert_cell(struct event_reader *reader, size_t place,
	const struct event_column *column, const struct batch *b, uint32_t i)
{
	struct process *process = reader->processes[place];
	uint64_t value = b->col[column->source] ? b->col[column->source][i] : 0;

	if (process->stream->is_trace && column->role != ROLE_NATIVE_STACK &&
		is_unknown_of_trace(process->stream, b->table, column->source)) {
		return known_if(0, false);
	}
	switch ((enum role)column->role) {
	case ROLE_VALUE:
	case ROLE_DEVICE_SPAN:
		return known(value);
	case ROLE_ID:
		return known_if(value, value != 0);
	case ROLE_HOST_TIME:
		if (b->table == GPROF_TABLE_step && value == process->first_row_tick) {
			value = process->steps[0].tick;
		}
		return known(time_axis_time(process, clock_map_time(&process->host_clock, value)));
	case ROLE_DEVICE_TIME:
		return known(
			time_axis_time(process, clock_map_time(&process->device_clock, value)));
	case ROLE_HOST_SPAN:
		return known(clock_map_duration(&process->host_clock, value));
	case ROLE_STRING:
		return known_if(process_string(process, value), value != 0);
	case ROLE_TEXT:
		return known(string_pool_intern(
			b->text[column->source][i].bytes, b->text[column->source][i].nr_bytes));
	case ROLE_THREAD:
		return known_if(process_tid(process, (uint32_t)value), value != 0);
	case ROLE_CALL:
		return call_cell(process, value, column->part);
	case ROLE_PLACE:
		return place_cell(process, value, column->part);
	case ROLE_SHAPE:
		return shape_cell(
			reader, place, value, column->part, b->table == GPROF_TABLE_kernel);
	case ROLE_OP_NAME:
		return op_name_cell(process, b, value, i);
	case ROLE_OP_SHAPE:
		return name_cell(&process->op_shapes, value);
	case ROLE_PY_STACK:
		return value && value != GPROF_PY_STACK_NOT_READ
			       ? known(py_stack_text(process, (uint32_t)value))
			       : known_if(0, false);
	case ROLE_PY_CODE:
		return known_if(value ? py_code_text(process, (uint32_t)value) : 0, value != 0);
	case ROLE_NATIVE_STACK:
		return native_stack_is_known(process, (uint32_t)value)
			       ? known(native_stack_text(process, (uint32_t)value))
			       : known_if(0, false);
	case ROLE_METRIC:
		return metric_cell(value);
	case ROLE_HOST_END:
		return known(time_axis_time(
			process, clock_map_time(&process->host_clock, value + b->col[1][i])));
	case ROLE_DEVICE_END:
		return known(
			time_axis_time(process, clock_map_time(&process->device_clock, value)) +
			b->col[1][i]);
	case ROLE_PROCESS:
		return known(place);
	case ROLE_STEP:
	case ROLE_FIRST:
		break;
	}
	return known_if(0, false);
}

void event_reader_prepare(struct event_reader *reader, size_t place,
	const struct event_table *table, uint64_t columns)
{
	if (!(columns >> EVENT_STEP & 1) || step_source(table) < 0) {
		return;
	}
	if (!reader->steps[place]) {
		reader->steps[place] = event_steps_create(reader->processes[place]);
	}
	event_steps_prepare(reader->steps[place], table->source);
}

static void convert_step(struct event_reader *reader, size_t place, const struct event_table *table,
	const struct batch *b, struct event_cells *rows)
{
	bool is_own = table->columns[EVENT_STEP].role == ROLE_STEP;
	int source = step_source(table);

	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t step = 0;
		bool is_known = is_own;

		if (is_own) {
			step = b->col[source][i];
		} else if (source >= 0) {
			is_known = event_steps_find(reader->steps[place], b, i, &step);
		}
		rows->values[EVENT_STEP][i] = (int64_t)step;
		rows->known[EVENT_STEP][i] = is_known;
	}
}

static void convert_constant(struct event_cells *rows, unsigned int c, struct cell cell)
{
	for (size_t i = 0; i < rows->nr; i++) {
		rows->values[c][i] = cell.value;
		rows->known[c][i] = cell.is_known;
	}
}

/* ---- NVTX ranges ---- */

struct range_rows {
	struct event_reader *reader;
	size_t place;
	uint64_t columns;
	struct event_cells *rows;
};

static void set_range(struct range_rows *context, unsigned int c, struct cell cell)
{
	if (context->columns >> c & 1) {
		context->rows->values[c][context->rows->nr] = cell.value;
		context->rows->known[c][context->rows->nr] = cell.is_known;
	}
}

#define RANGES_TEXT 6u
#define RANGES_ID   11u

static void set_text(struct range_rows *context, unsigned int c, struct cell cell)
{
	set_range(context, c, cell);
	set_range(context, c - RANGES_TEXT + RANGES_ID, cell);
}

/*
 * The numbers of columns are the positions in RANGES_NAMES; behind these are process, end_ns and
 * the numbers of the three texts.
 */
static void take_range(void *argument, const struct range *range)
{
	static const char *const kinds[] = {[GPROF_NVTX_PUSH] = "push",
		[GPROF_NVTX_START] = "start",
		[GPROF_NVTX_MARK] = "mark"};
	struct range_rows *context = argument;
	struct process *process = context->reader->processes[context->place];
	uint64_t step = 0;
	uint64_t ticks = range->end > range->begin ? range->end - range->begin : 0;
	uint64_t begin = clock_map_time(&process->host_clock, range->begin);
	bool has_step = (context->columns >> EVENT_STEP & 1) &&
			event_steps_at(context->reader->steps[context->place], range->begin, &step);

	set_range(context, EVENT_STEP, known_if(step, has_step));
	set_range(context, 3, known(time_axis_time(process, begin)));
	set_range(context, 4, known(clock_map_duration(&process->host_clock, ticks)));
	set_range(context, 5, known(process_tid(process, range->thread)));
	set_text(context, 6, known(range->name));
	set_text(context, 7, known_if(range->domain, range->domain != 0));
	set_text(context, 8, text_cell(kinds[range->op]));
	set_range(context, 9, known(context->place));
	set_range(context, 10,
		known(time_axis_time(process, clock_map_time(&process->host_clock, range->end))));
	context->rows->nr++;
}

void event_reader_convert(struct event_reader *reader, size_t place,
	const struct event_table *table, uint64_t columns, const struct batch *batch,
	struct event_cells *rows)
{
	const struct process *process = reader->processes[place];

	event_cells_reserve(rows, columns, batch->nr_rows);
	rows->nr = batch->nr_rows;
	if (table->number == GPROF_TABLE_NONE) {
		struct range_rows context = {reader, place, columns, rows};

		rows->nr = 0;
		ranges_add_batch(rows->ranges, process, batch, take_range, &context);
	} else if (columns >> EVENT_STEP & 1) {
		convert_step(reader, place, table, batch, rows);
	}
	if (columns >> EVENT_PID & 1) {
		convert_constant(rows, EVENT_PID, known(process->pid));
	}
	if (columns >> EVENT_RANK & 1) {
		convert_constant(
			rows, EVENT_RANK, known_if((uint64_t)process->rank, process->rank >= 0));
	}
	for (unsigned int c = EVENT_NR_FIRST;
		c < table->nr_columns + table->nr_hidden && table->number != GPROF_TABLE_NONE;
		c++) {
		for (uint32_t i = 0; (columns >> c & 1) && i < batch->nr_rows; i++) {
			struct cell cell =
				convert_cell(reader, place, &table->columns[c], batch, i);

			rows->values[c][i] = cell.value;
			rows->known[c][i] = cell.is_known;
		}
	}
}

/* ---- texts ---- */

static uint32_t find_shown(uint32_t name)
{
	struct buf shown = {0};
	const char *text;
	size_t nr_bytes;

	text = string_pool_text(name, &nr_bytes);
	text_add_shown(&shown, text, nr_bytes, 0);
	if (shown.nr_bytes != nr_bytes || (nr_bytes && memcmp(shown.bytes, text, nr_bytes))) {
		name = string_pool_intern(shown.bytes, shown.nr_bytes);
	}
	buf_fini(&shown);
	return name;
}

uint32_t event_reader_shown(struct event_reader *reader, uint32_t name)
{
	if (name >= reader->nr_shown) {
		size_t nr = (size_t)name * 2 + 1024;

		reader->shown = mem_resize(reader->shown, nr, sizeof(*reader->shown));
		memset(reader->shown + reader->nr_shown, 0,
			(nr - reader->nr_shown) * sizeof(*reader->shown));
		reader->nr_shown = nr;
	}
	if (!reader->shown[name]) {
		reader->shown[name] = find_shown(name) + 1;
	}
	return reader->shown[name] - 1;
}

static void intern_texts(struct process *process, unsigned int table)
{
	const struct schema_table *schema = schema_table(table);
	uint32_t mask = 0;

	for (unsigned int c = 0; c < schema->nr_columns; c++) {
		mask |= schema->columns[c].kind == GPROF_KIND_TEXT ? COL_BIT(c) : 0;
	}
	for (size_t block = 0; mask && block < process->stream->nr_blocks; block++) {
		struct batch b;

		if (stream_block_table(process->stream, block) != table ||
			stream_load(process->stream, block, mask, 0, &b)) {
			continue;
		}
		for (unsigned int c = 0; c < schema->nr_columns; c++) {
			for (uint32_t i = 0; (mask & COL_BIT(c)) && i < b.nr_rows; i++) {
				string_pool_intern(b.text[c][i].bytes, b.text[c][i].nr_bytes);
			}
		}
	}
}

/* Stacks and functions of Python are put together from others, so they are made one by one. */
static void intern_python(struct process *process)
{
	for (uint32_t id = 1; id < process->py_stacks.nr_near; id++) {
		py_stack_text(process, id);
	}
	for (uint32_t id = 1; id < process->py_codes.nr_near; id++) {
		py_code_text(process, id);
	}
}

/* Likewise those of machine code. */
static void intern_native(struct process *process)
{
	for (uint32_t id = 1; id < process->native_stacks.nr_near; id++) {
		native_stack_text(process, id);
	}
}

void event_reader_intern_all(struct event_reader *reader)
{
	for (size_t place = 0; place < reader->nr_processes; place++) {
		struct process *process = reader->processes[place];
		const struct event_table *table;

		for (size_t i = 0; i < process->shapes.nr; i++) {
			const struct model_shape *shape = idmap_at(&process->shapes, i);

			kernel_names(reader, shape->name);
		}
		for (unsigned int i = 0; (table = event_table_at(i)); i++) {
			intern_texts(process, table->source);
		}
		intern_python(process);
		intern_native(process);
	}
	for (unsigned int api = 0; api <= GPROF_API_NCCL; api++) {
		text_cell(api_name(api));
	}
	for (unsigned int metric = 0; metric < usage_nr_metrics; metric++) {
		metric_cell(metric);
	}
}
