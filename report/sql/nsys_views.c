/* SPDX-License-Identifier: Apache-2.0 */
/* Names the columns of ids in nsys_views.sql: the tables of a query have others than a database. */
#include "report/sql/sql_file.h"

#include "report/util/buf.h"

char *nsys_views_sql(const char *suffix)
{
	struct buf sql = {0};

	for (const char *at = sql_file_nsys_views; *at; at++) {
		if (*at == '$') {
			buf_text(&sql, suffix);
		} else {
			buf_char(&sql, *at);
		}
	}
	buf_char(&sql, '\0');
	return sql.bytes;
}
