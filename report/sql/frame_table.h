/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of native stacks as a table of queries: native_frame. */
#ifndef REPORT_SQL_FRAME_TABLE_H
#define REPORT_SQL_FRAME_TABLE_H

#ifdef REPORT_HAS_SQLITE

#include "report/sql/virtual_table.h"

/* Adds it to a connection. Returns an SQLite code. `tables` must outlive the connection. */
int frame_table_add(sqlite3 *sqlite, struct virtual_tables *tables);

#endif

#endif
