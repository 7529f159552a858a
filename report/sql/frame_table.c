/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of frames, as a virtual table: the first question makes all rows, since the names of
 * frames are looked for in the files of a program.
 */
#include "report/sql/frame_table.h"

#ifdef REPORT_HAS_SQLITE

#include <stdlib.h>

#include "report/sql/native_frames.h"
#include "report/util/buf.h"

enum { PLAN_ALL, PLAN_STACK };

struct frame_table {
	sqlite3_vtab base;
	struct virtual_tables *tables;
	struct native_frames frames;
	bool is_made;
};

struct frame_cursor {
	sqlite3_vtab_cursor base;
	size_t place, end;
};

static int connect(sqlite3 *sqlite, void *aux, int argc, const char *const *argv,
	sqlite3_vtab **vtab, char **error)
{
	struct virtual_tables *tables = aux;
	struct frame_table *table;
	int rc;

	(void)argc;
	(void)argv;
	(void)error;
	tables->is_declaring = true;
	rc = sqlite3_declare_vtab(sqlite, "CREATE TABLE x(stack " VIRTUAL_TABLE_TEXT_ID
					  ", depth INTEGER, function " VIRTUAL_TABLE_TEXT_ID
					  ", file " VIRTUAL_TABLE_TEXT_ID ", address INTEGER)");
	tables->is_declaring = false;
	if (rc != SQLITE_OK) {
		return rc;
	}
	sqlite3_vtab_config(sqlite, SQLITE_VTAB_INNOCUOUS);
	table = mem_zeroed(1, sizeof(*table));
	table->tables = tables;
	*vtab = &table->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab)
{
	native_frames_fini(&((struct frame_table *)vtab)->frames);
	free(vtab);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	(void)vtab;
	info->idxNum = PLAN_ALL;
	info->estimatedCost = 1e6;
	for (int i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].usable && info->aConstraint[i].iColumn == 0 &&
			info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
			info->aConstraintUsage[i].argvIndex = 1;
			info->idxNum = PLAN_STACK;
			info->estimatedCost = 30;
			info->estimatedRows = 30;
			break;
		}
	}
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct frame_cursor *made = mem_zeroed(1, sizeof(*made));

	(void)vtab;
	*cursor = &made->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int nr_values,
	sqlite3_value **values)
{
	struct frame_cursor *cursor = (struct frame_cursor *)base;
	struct frame_table *table = (struct frame_table *)base->pVtab;
	const struct event_input *input = &table->tables->input;

	(void)plan;
	if (!table->is_made) {
		table->frames = native_frames_make(input->processes, input->nr_processes);
		table->is_made = true;
	}
	cursor->place = 0;
	cursor->end = table->frames.nr;
	if (number == PLAN_STACK) {
		int64_t stack = nr_values ? sqlite3_value_int64(values[0]) : 0;

		stack = stack < 0 ? 0 : stack;
		cursor->place = native_frames_find(&table->frames, (uint64_t)stack);
		cursor->end = native_frames_find(&table->frames, (uint64_t)stack + 1);
	}
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	((struct frame_cursor *)base)->place++;
	return SQLITE_OK;
}

static int is_end(sqlite3_vtab_cursor *base)
{
	const struct frame_cursor *cursor = (struct frame_cursor *)base;

	return cursor->place >= cursor->end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int c)
{
	const struct frame_table *table = (struct frame_table *)base->pVtab;
	const struct native_frames_row *row =
		&table->frames.rows[((struct frame_cursor *)base)->place];
	const uint64_t cells[] = {row->stack, row->depth, row->function, row->file, row->address};

	if (c >= 0 && c < 5 && (c != 3 || row->file)) {
		sqlite3_result_int64(context, (sqlite3_int64)cells[c]);
	}
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((struct frame_cursor *)base)->place + 1;
	return SQLITE_OK;
}

static const sqlite3_module module = {
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

int frame_table_add(sqlite3 *sqlite, struct virtual_tables *tables)
{
	return sqlite3_create_module_v2(sqlite, NATIVE_FRAMES_TABLE, &module, tables, NULL);
}

#endif
