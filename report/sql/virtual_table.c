/* SPDX-License-Identifier: Apache-2.0 */
/*
 * best_index() plans a scan, whose bounds let streams and blocks be passed over, or look-ups in an
 * index by equal values. The plan reaches the cursor as a text (idxStr). SQLite checks conditions
 * again, so a bound may be too wide, but never too narrow. Only for texts in an index it does not:
 * they are looked up by their numbers, which is exact, and a join with StringIds has the number.
 */
#ifdef REPORT_HAS_SQLITE

#include "report/sql/virtual_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/text.h"

struct table_aux {
	struct virtual_tables *tables;
	const struct event_table *table; /* NULL: StringIds */
};

struct virtual_table {
	sqlite3_vtab base;
	struct virtual_tables *tables;
	const struct event_table *table;
};

/* ---- tables of events: the plan ---- */

enum plan {
	PLAN_SCAN,
	PLAN_INDEX,
};

/*
 * Bounds of a plan in idxStr: the columns, then a letter for each argument, with the number of its
 * column.
 */
#define PLAN_TEXT_BYTES 256u
#define MAX_ARGUMENTS	16

static int connect(sqlite3 *sqlite, void *aux, int argc, const char *const *argv,
	sqlite3_vtab **vtab, char **error)
{
	const struct table_aux *from = aux;
	struct virtual_table *table;
	struct buf sql = {0};
	int rc;

	(void)argc;
	(void)argv;
	(void)error;
	if (from->table) {
		buf_text(&sql, "CREATE TABLE x(");
		for (unsigned int c = 0; event_table_all(from->table) >> c; c++) {
			static const char *const types[] = {[EVENT_COLUMN_INTEGER] = "INTEGER",
				[EVENT_COLUMN_TEXT] = "TEXT",
				[EVENT_COLUMN_TEXT_ID] = VIRTUAL_TABLE_TEXT_ID};

			buf_printf(&sql, "%s\"%s\" %s%s", c ? ", " : "",
				from->table->columns[c].name, types[from->table->columns[c].type],
				c < from->table->nr_columns ? "" : " HIDDEN");
		}
		buf_text(&sql, ")");
	} else {
		buf_text(&sql, "CREATE TABLE x(id INTEGER PRIMARY KEY, value TEXT)");
	}
	buf_char(&sql, '\0');
	from->tables->is_declaring = true;
	rc = sqlite3_declare_vtab(sqlite, sql.bytes);
	from->tables->is_declaring = false;
	buf_fini(&sql);
	if (rc != SQLITE_OK) {
		return rc;
	}
	sqlite3_vtab_config(sqlite, SQLITE_VTAB_INNOCUOUS);
	table = mem_zeroed(1, sizeof(*table));
	table->tables = from->tables;
	table->table = from->table;
	*vtab = &table->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* The other side, if it is a value that stands in the statement: then one pass finds its rows. */
static sqlite3_value *constant_of(sqlite3_index_info *info, int constraint)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	sqlite3_value *value;

	return sqlite3_vtab_rhs_value(info, constraint, &value) == SQLITE_OK ? value : NULL;
#else
	(void)info;
	(void)constraint;
	return NULL;
#endif
}

struct planning {
	const struct virtual_table *table;
	sqlite3_index_info *info;
	unsigned int keys[EVENT_INDEX_KEYS];
	int constraints[EVENT_INDEX_KEYS];
	unsigned int nr_keys, nr_constant;
};

static bool is_text(const struct virtual_table *table, int column)
{
	return column >= 0 && table->table->columns[column].type == EVENT_COLUMN_TEXT;
}

/* Does it ask for equal values? Texts have equal numbers only if they are equal byte by byte. */
static bool is_equality(const struct planning *planning, int i)
{
	const struct sqlite3_index_constraint *constraint = &planning->info->aConstraint[i];

	return constraint->usable && constraint->iColumn >= 0 &&
	       constraint->op == SQLITE_INDEX_CONSTRAINT_EQ &&
	       (!is_text(planning->table, constraint->iColumn) ||
		       !strcmp(sqlite3_vtab_collation(planning->info, i), "BINARY"));
}

static void find_keys(struct planning *planning)
{
	for (int i = 0; i < planning->info->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &planning->info->aConstraint[i];
		bool is_new = true;

		if (!is_equality(planning, i)) {
			continue;
		}
		for (unsigned int k = 0; k < planning->nr_keys; k++) {
			is_new = is_new && planning->keys[k] != (unsigned int)constraint->iColumn;
		}
		if (is_new && planning->nr_keys < EVENT_INDEX_KEYS) {
			planning->keys[planning->nr_keys] = (unsigned int)constraint->iColumn;
			planning->constraints[planning->nr_keys++] = i;
			planning->nr_constant += constant_of(planning->info, i) != NULL;
		}
	}
}

/* Returns the letter of a constraint that lets streams or blocks be passed over, 0 for others. */
static char bound_of(
	const struct event_table *table, const struct sqlite3_index_constraint *constraint)
{
	bool is_equal = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
	bool is_time = table->time_column && constraint->iColumn == (int)table->time_column;

	if (is_equal && constraint->iColumn == EVENT_PID) {
		return 'p';
	}
	if (is_equal && constraint->iColumn == EVENT_RANK) {
		return 'r';
	}
	if (is_time && (constraint->op == SQLITE_INDEX_CONSTRAINT_GT ||
			       constraint->op == SQLITE_INDEX_CONSTRAINT_GE)) {
		return '>';
	}
	if (is_time && (constraint->op == SQLITE_INDEX_CONSTRAINT_LT ||
			       constraint->op == SQLITE_INDEX_CONSTRAINT_LE)) {
		return '<';
	}
	return is_time && is_equal ? '=' : 0;
}

/* Does the same for a constraint on the table's time alone. */
static char time_bound_of(const struct planning *planning, int i)
{
	const struct sqlite3_index_constraint *constraint = &planning->info->aConstraint[i];
	char letter = constraint->usable ? bound_of(planning->table->table, constraint) : 0;

	return letter == '<' || letter == '>' ? letter : 0;
}

/* Is it bounded in time by columns of another table? */
static bool has_moving_bound(const struct planning *planning)
{
	for (int i = 0; i < planning->info->nConstraint; i++) {
		if (time_bound_of(planning, i) && !constant_of(planning->info, i)) {
			return true;
		}
	}
	return false;
}

/* Guesses how many of nr_rows have one value of a column, by what the column is. */
static double guess_rows(const struct planning *planning, unsigned int column, double nr_rows)
{
	const char *name = planning->table->table->columns[column].name;

	if (strcmp(name, "correlation") == 0 || strcmp(name, "id") == 0) {
		return 1;
	}
	if (column == EVENT_PID || column == EVENT_RANK || strcmp(name, "process") == 0) {
		return nr_rows / (double)planning->table->tables->input.nr_processes;
	}
	return nr_rows / (strcmp(name, "tid") == 0 ? 2 : 20);
}

static void plan_index(struct planning *planning, char *text, double nr_rows)
{
	sqlite3_index_info *info = planning->info;
	double nr_found = nr_rows;
	int nr_arguments = 0, nr_bounds = 0;

	for (unsigned int k = 0; k < planning->nr_keys; k++) {
		size_t length = strlen(text);

		info->aConstraintUsage[planning->constraints[k]].argvIndex = ++nr_arguments;
		/* To SQLite no text is equal to a number of StringIds. */
		info->aConstraintUsage[planning->constraints[k]].omit =
			is_text(planning->table, (int)planning->keys[k]);
		snprintf(text + length, PLAN_TEXT_BYTES - length, " k%u", planning->keys[k]);
		nr_found = guess_rows(planning, planning->keys[k], nr_found);
	}
	for (int i = 0; i < info->nConstraint && nr_arguments < MAX_ARGUMENTS; i++) {
		char letter = time_bound_of(planning, i);

		if (letter) {
			size_t length = strlen(text);

			info->aConstraintUsage[i].argvIndex = ++nr_arguments;
			snprintf(text + length, PLAN_TEXT_BYTES - length, " %c%d", letter,
				info->aConstraint[i].iColumn);
			/* From one side half of all, from both a short time. */
			nr_found /= nr_bounds++ ? 1000 : 2;
		}
	}
	info->idxNum = PLAN_INDEX;
	info->estimatedRows = (sqlite3_int64)nr_found + 1;
	/* A look-up is cheap; that the table is read once for all of them is not seen here. */
	info->estimatedCost = 20 + nr_found;
}

/* A scan passes over rows with another text than that of the first such condition. */
static char text_bound_of(const struct planning *planning, int i, bool has_text)
{
	return !has_text && is_equality(planning, i) && constant_of(planning->info, i) &&
			       is_text(planning->table, planning->info->aConstraint[i].iColumn)
		       ? 't'
		       : 0;
}

static void plan_scan(struct planning *planning, char *text, double nr_rows)
{
	sqlite3_index_info *info = planning->info;
	int nr_arguments = 0, nr_columns = __builtin_popcountll(info->colUsed);
	bool has_text = false;

	info->estimatedCost = 1000 + nr_rows * (1 + 0.2 * nr_columns);
	info->estimatedRows = (sqlite3_int64)nr_rows + 1;
	for (int i = 0; i < info->nConstraint && nr_arguments < MAX_ARGUMENTS; i++) {
		size_t length = strlen(text);
		char letter = info->aConstraint[i].usable
				      ? bound_of(planning->table->table, &info->aConstraint[i])
				      : 0;

		letter = letter ? letter : text_bound_of(planning, i, has_text);
		has_text |= letter == 't';
		if (letter) {
			info->aConstraintUsage[i].argvIndex = ++nr_arguments;
			snprintf(text + length, PLAN_TEXT_BYTES - length, " %c%d", letter,
				info->aConstraint[i].iColumn);
			info->estimatedCost /= 2;
			info->estimatedRows = info->estimatedRows / 2 + 1;
		}
	}
	for (unsigned int k = 0; k < planning->nr_keys; k++) {
		info->estimatedRows = info->estimatedRows / 10 + 1;
	}
	info->idxNum = PLAN_SCAN;
}

/*
 * A text is equal to no number, so a comparison of the two would silently find nothing, or
 * everything. Both functions return whether a condition asks for that, and say how it is written.
 */
static bool is_id_with_text(sqlite3_vtab *vtab, unsigned int column, sqlite3_value *value)
{
	const struct event_table *table = ((struct virtual_table *)vtab)->table;
	const char *name = table->columns[column].name;

	if (table->columns[column].type != EVENT_COLUMN_TEXT_ID ||
		sqlite3_value_type(value) != SQLITE_TEXT) {
		return false;
	}
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s.%s is the number of a text: compare %.*s", table->name,
		name, (int)(strlen(name) - strlen("_id")), name);
	return true;
}

static bool is_text_with_number(sqlite3_vtab *vtab, unsigned int column, sqlite3_value *value)
{
	const struct event_table *table = ((struct virtual_table *)vtab)->table;
	const char *name = table->columns[column].name;
	int type = sqlite3_value_type(value);

	if (table->columns[column].type != EVENT_COLUMN_TEXT ||
		(type != SQLITE_INTEGER && type != SQLITE_FLOAT)) {
		return false;
	}
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf(
		"%s.%s is a text: compare its number, %s_id", table->name, name, name);
	return true;
}

static bool has_mixed_texts(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	for (int i = 0; i < info->nConstraint; i++) {
		sqlite3_value *value = constant_of(info, i);
		int column = info->aConstraint[i].iColumn;

		if (value && column >= 0 &&
			(is_id_with_text(vtab, (unsigned int)column, value) ||
				is_text_with_number(vtab, (unsigned int)column, value))) {
			return true;
		}
	}
	return false;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	struct planning planning = {.table = (struct virtual_table *)vtab, .info = info};
	const struct event_table *table = planning.table->table;
	double nr_rows = (double)event_scan_nr_rows(&planning.table->tables->input, table);
	char text[PLAN_TEXT_BYTES];

	if (has_mixed_texts(vtab, info)) {
		return SQLITE_ERROR;
	}
	find_keys(&planning);
	snprintf(text, sizeof(text), "%llx", (unsigned long long)info->colUsed);
	if (planning.nr_keys > planning.nr_constant || has_moving_bound(&planning)) {
		plan_index(&planning, text, nr_rows);
	} else {
		plan_scan(&planning, text, nr_rows);
	}
	info->idxStr = sqlite3_mprintf("%s", text);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- tables of events: cursors ---- */

struct cursor {
	sqlite3_vtab_cursor base;
	struct event_scan scan;
	const struct event_index *index; /* NULL: a scan */
	int64_t keys[EVENT_INDEX_KEYS];
	unsigned int text_column; /* rows of a scan with another text are passed over; 0: none */
	int64_t text;
	size_t place, end; /* in the order of the index */
	size_t row;	   /* of the current block */
	bool is_end;
};

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct cursor *made = mem_zeroed(1, sizeof(*made));

	(void)vtab;
	*cursor = &made->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	event_scan_end(&cursor->scan);
	free(cursor);
	return SQLITE_OK;
}

/* False where no whole number can be equal to it. */
static bool whole_number(sqlite3_value *value, int64_t *number)
{
	double real;

	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		*number = sqlite3_value_int64(value);
		return true;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		*number = real > -9.2e18 && real < 9.2e18 ? (int64_t)real : 0;
		return (double)*number == real;
	default:
		return false;
	}
}

/*
 * The number of a text that a query compares a column with, or of which it has the number, as a
 * join with StringIds does. Returns false if no text has it.
 */
static bool text_id(sqlite3_value *value, int64_t *id)
{
	if (sqlite3_value_type(value) == SQLITE_TEXT) {
		const char *bytes = (const char *)sqlite3_value_text(value);

		*id = string_pool_intern(bytes ? bytes : "", (size_t)sqlite3_value_bytes(value));
		return true;
	}
	return whole_number(value, id) && *id >= 0 && *id < string_pool_nr();
}

/* The same for an index, which has texts as they are shown. */
static bool text_key(const struct virtual_table *table, sqlite3_value *value, int64_t *key)
{
	if (!text_id(value, key)) {
		return false;
	}
	if (sqlite3_value_type(value) != SQLITE_TEXT) {
		*key = event_reader_shown(table->tables->input.reader, (uint32_t)*key);
	}
	return true;
}

/* A bound of time, made wider where it is no whole number. */
static void take_time_bound(struct event_bounds *bounds, char letter, sqlite3_value *value)
{
	double real = sqlite3_value_double(value);
	bool is_integer = sqlite3_value_numeric_type(value) == SQLITE_INTEGER;
	int64_t ns;

	if (!is_integer && sqlite3_value_numeric_type(value) != SQLITE_FLOAT) {
		return; /* SQLite compares it as it does */
	}
	if (!is_integer && (real < -9e18 || real > 9e18)) {
		return;
	}
	ns = is_integer ? sqlite3_value_int64(value) : (int64_t)real;
	if (letter != '<' && ns - 1 > bounds->first_ns && ns > INT64_MIN + 1) {
		bounds->first_ns = ns - 1;
	}
	if (letter != '>' && ns < INT64_MAX - 1 && ns + 1 < bounds->last_ns) {
		bounds->last_ns = ns + 1;
	}
}

/* Reads a letter of the plan and its column. */
static char next_argument(const char **plan, unsigned int *column)
{
	char letter = (*plan)[1], *end;

	*column = (unsigned int)strtoul(*plan + 2, &end, 10);
	*plan = end;
	return letter;
}

static bool take_bounds(struct cursor *cursor, const char *plan, sqlite3_value **values,
	struct event_bounds *bounds)
{
	for (; *plan; values++) {
		unsigned int column;
		char letter = next_argument(&plan, &column);

		switch (letter) {
		case 't':
			cursor->text_column = column;
			if (!text_id(*values, &cursor->text)) {
				return false;
			}
			break;
		case 'p':
			bounds->has_pid = true;
			if (!whole_number(*values, &bounds->pid)) {
				return false;
			}
			break;
		case 'r':
			bounds->has_rank = true;
			if (!whole_number(*values, &bounds->rank)) {
				return false;
			}
			break;
		default:
			take_time_bound(bounds, letter, *values);
			break;
		}
	}
	return true;
}

static bool has_other_text(const struct cursor *cursor)
{
	const struct event_cells *cells = &cursor->scan.cells;
	unsigned int c = cursor->text_column;

	return c &&
	       !(cells->known[c][cursor->row] && cells->values[c][cursor->row] == cursor->text);
}

/* Moves to the first row that counts, from `row` on. */
static void find_row(struct cursor *cursor)
{
	while (!cursor->is_end) {
		while (cursor->row < cursor->scan.cells.nr && has_other_text(cursor)) {
			cursor->row++;
		}
		if (cursor->row < cursor->scan.cells.nr) {
			return;
		}
		cursor->row = 0;
		cursor->is_end = !event_scan_next(&cursor->scan);
	}
}

static int filter_scan(struct cursor *cursor, const struct virtual_table *table, uint64_t columns,
	const char *plan, sqlite3_value **values)
{
	struct event_bounds bounds = {.first_ns = INT64_MIN, .last_ns = INT64_MAX};

	event_scan_end(&cursor->scan);
	cursor->text_column = 0;
	cursor->row = 0;
	cursor->is_end = !take_bounds(cursor, plan, values, &bounds);
	if (!cursor->is_end) {
		columns |= cursor->text_column ? 1ull << cursor->text_column : 0;
		event_scan_begin(
			&cursor->scan, &table->tables->input, table->table, columns, &bounds);
		find_row(cursor);
	}
	return SQLITE_OK;
}

/* The index also needs the columns that it is sorted by: the keys and the time. */
static int filter_index(struct cursor *cursor, const struct virtual_table *table, uint64_t columns,
	const char *plan, sqlite3_value **values)
{
	struct event_bounds bounds = {.first_ns = INT64_MIN, .last_ns = INT64_MAX};
	struct event_index_of of = {.table = table->table, .columns = columns};

	cursor->is_end = false;
	for (; *plan; values++) {
		unsigned int column;
		char letter = next_argument(&plan, &column);

		if (letter == 'k') {
			int64_t *key = &cursor->keys[of.nr_keys];

			of.keys[of.nr_keys++] = column;
			of.columns |= 1ull << column;
			if (is_id_with_text(cursor->base.pVtab, column, *values)) {
				return SQLITE_ERROR;
			}
			/* A key that is no whole number, and no text, equals nothing. */
			if (!is_text(table, (int)column)) {
				cursor->is_end |= !whole_number(*values, key);
			} else {
				cursor->is_end |= !text_key(table, *values, key);
			}
		} else {
			of.has_time = true;
			of.columns |= 1ull << table->table->time_column;
			cursor->is_end |= sqlite3_value_type(*values) == SQLITE_NULL;
			take_time_bound(&bounds, letter, *values);
		}
	}
	if (cursor->is_end) {
		return SQLITE_OK;
	}
	cursor->index = event_index_find(&table->tables->indexes, &table->tables->input, &of);
	if (!cursor->index) {
		cursor->base.pVtab->zErrMsg = sqlite3_mprintf(
			"the table %s has too many rows for a join", table->table->name);
		return SQLITE_ERROR;
	}
	event_index_look_up(cursor->index, cursor->keys, &bounds, &cursor->place, &cursor->end);
	cursor->is_end = cursor->place >= cursor->end;
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int nr_values,
	sqlite3_value **values)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct virtual_table *table = (struct virtual_table *)base->pVtab;
	char *end;
	uint64_t columns = strtoull(plan, &end, 16) & event_table_all(table->table);

	(void)nr_values;
	cursor->index = NULL;
	return number == PLAN_INDEX ? filter_index(cursor, table, columns, end, values)
				    : filter_scan(cursor, table, columns, end, values);
}

static int next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	if (cursor->index) {
		cursor->is_end = ++cursor->place >= cursor->end;
	} else {
		cursor->row++;
		find_row(cursor);
	}
	return SQLITE_OK;
}

static int is_end(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->is_end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int c)
{
	const struct cursor *cursor = (struct cursor *)base;
	const struct event_cells *cells =
		cursor->index ? &cursor->index->cells : &cursor->scan.cells;
	size_t row = cursor->index ? cursor->index->order[cursor->place] : cursor->row, nr_bytes;
	const char *text;

	if (c < 0 || c >= (int)EVENT_COLUMNS || !cells->values[c] || !cells->known[c][row]) {
		return SQLITE_OK;
	}
	if (is_text((struct virtual_table *)base->pVtab, c)) {
		text = string_pool_text((uint32_t)cells->values[c][row], &nr_bytes);
		sqlite3_result_text(context, text, (int)nr_bytes, SQLITE_STATIC);
	} else {
		sqlite3_result_int64(context, cells->values[c][row]);
	}
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	const struct cursor *cursor = (struct cursor *)base;

	*id = cursor->index ? event_index_rowid(cursor->index, cursor->index->order[cursor->place])
			    : cursor->scan.first_rowid + (sqlite3_int64)cursor->row;
	return SQLITE_OK;
}

static const sqlite3_module event_module = {
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = is_end,
	.xColumn = column,
	.xRowid = rowid,
};

/* ---- texts ---- */

struct strings_cursor {
	sqlite3_vtab_cursor base;
	uint32_t name, last;
};

void virtual_table_set_text(sqlite3_context *context, uint32_t name)
{
	struct buf shown = {0};
	const char *text;
	size_t nr_bytes;

	text = string_pool_text(name, &nr_bytes);
	text_add_shown(&shown, text, nr_bytes, 0);
	sqlite3_result_text(
		context, shown.nr_bytes ? shown.bytes : "", (int)shown.nr_bytes, SQLITE_TRANSIENT);
	buf_fini(&shown);
}

static int strings_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	(void)vtab;
	info->idxNum = PLAN_SCAN;
	info->estimatedCost = 1e9; /* it reads all texts first */
	info->estimatedRows = 100000;
	for (int i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].usable && info->aConstraint[i].iColumn <= 0 &&
			info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
			info->aConstraintUsage[i].argvIndex = 1;
			info->aConstraintUsage[i].omit = 1;
			info->idxNum = PLAN_INDEX;
			info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
			info->estimatedCost = 1;
			info->estimatedRows = 1;
			break;
		}
	}
	return SQLITE_OK;
}

static int strings_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct strings_cursor *made = mem_zeroed(1, sizeof(*made));

	(void)vtab;
	*cursor = &made->base;
	return SQLITE_OK;
}

static int strings_close(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

/* A scan shows all texts, so the first one makes them all; a look-up by id needs no other. */
static int strings_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int nr_values,
	sqlite3_value **values)
{
	struct strings_cursor *cursor = (struct strings_cursor *)base;
	struct virtual_tables *tables = ((struct virtual_table *)base->pVtab)->tables;
	int64_t id;

	(void)plan;
	if (number == PLAN_SCAN && !tables->has_all_texts) {
		event_reader_intern_all(tables->input.reader);
		tables->has_all_texts = true;
	}
	*cursor = (struct strings_cursor){.base = cursor->base, .last = string_pool_nr()};
	if (number == PLAN_INDEX) {
		bool is_there = nr_values == 1 && text_id(values[0], &id) && id < string_pool_nr();

		cursor->name = is_there ? (uint32_t)id : 0;
		cursor->last = is_there ? (uint32_t)id + 1 : 0;
	}
	return SQLITE_OK;
}

static int strings_next(sqlite3_vtab_cursor *base)
{
	((struct strings_cursor *)base)->name++;
	return SQLITE_OK;
}

static int strings_is_end(sqlite3_vtab_cursor *base)
{
	const struct strings_cursor *cursor = (struct strings_cursor *)base;

	return cursor->name >= cursor->last;
}

static int strings_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int c)
{
	const struct strings_cursor *cursor = (struct strings_cursor *)base;

	if (c == 0) {
		sqlite3_result_int64(context, cursor->name);
	} else {
		virtual_table_set_text(context, cursor->name);
	}
	return SQLITE_OK;
}

static int strings_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = ((struct strings_cursor *)base)->name;
	return SQLITE_OK;
}

static const sqlite3_module strings_module = {
	.xConnect = connect,
	.xBestIndex = strings_best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = strings_open,
	.xClose = strings_close,
	.xFilter = strings_filter,
	.xNext = strings_next,
	.xEof = strings_is_end,
	.xColumn = strings_column,
	.xRowid = strings_rowid,
};

/* ---- all of them ---- */

static int add(sqlite3 *sqlite, struct virtual_tables *tables, const struct event_table *table)
{
	struct table_aux *aux = mem_zeroed(1, sizeof(*aux));

	*aux = (struct table_aux){tables, table};
	return sqlite3_create_module_v2(sqlite, table ? table->name : "StringIds",
		table ? &event_module : &strings_module, aux, free);
}

int virtual_tables_add(sqlite3 *sqlite, struct virtual_tables *tables)
{
	const struct event_table *table;
	int rc = add(sqlite, tables, NULL);

	for (unsigned int i = 0; rc == SQLITE_OK && (table = event_table_at(i)); i++) {
		rc = add(sqlite, tables, table);
	}
	return rc;
}

#endif
