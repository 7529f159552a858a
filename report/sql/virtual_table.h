/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of events, and of texts, as virtual tables of SQLite. A query decodes the columns that it
 * uses of the blocks that it may need; a join by equal values goes through an index (event.h)
 * that the first look-up makes.
 */
#ifndef REPORT_SQL_VIRTUAL_TABLE_H
#define REPORT_SQL_VIRTUAL_TABLE_H

#include <sqlite3.h>

#include "report/sql/event.h"

/* State that all virtual tables of a connection share; it must outlive the connection. */
struct virtual_tables {
	struct event_input input;
	struct event_indexes indexes; /* of the statement that runs */
	bool has_all_texts;
	bool is_declaring; /* SQLite calls its authorizer for that, too */
};

/* Adds them all to a connection. Returns an SQLite code. */
int virtual_tables_add(sqlite3 *sqlite, struct virtual_tables *tables);

/*
 * The declared type of a column of ids of texts: NAME_id of a table, and what nsys's views have.
 * Queries compute with the numbers; where a column of a result is one, it shows the texts.
 */
#define VIRTUAL_TABLE_TEXT_ID "STRING"

/* A text of string_pool.h as queries see it. */
void virtual_table_set_text(sqlite3_context *context, uint32_t name);

#endif
