/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that queries have beside SQLite's own, see database.h. */
#ifndef REPORT_SQL_FUNCTIONS_H
#define REPORT_SQL_FUNCTIONS_H

#include <sqlite3.h>

/* Returns an SQLite code. */
int functions_add(sqlite3 *sqlite);

#endif
