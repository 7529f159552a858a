/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of nsys's that are queries: the table of a report is what NAME.sql of this folder gives.
 * The query names each of its columns "key|T|Title", T being the type: T a time, M a time that is
 * no whole number, S bytes, P a percentage, I an integer that names something, C a count, X text.
 * Beside the functions of database.h it has raw(id), a text as it was recorded, kernel_text(id), a
 * kernel's name in the form that the report's arguments choose, memory_kind(n), the name of a kind
 * of memory, and known_tid(process, tid), NULL where the system's number of the thread is not
 * known.
 */
#ifndef REPORT_SQL_NSYS_QUERY_H
#define REPORT_SQL_NSYS_QUERY_H

#include "report/styles/nsys_reports.h"

/*
 * The table of a report with .is_query, sorted by the column with that key (NULL: as the query has
 * it). Ends the program with a sentence where the query fails, which it does only without room.
 */
struct table *nsys_query_table(const struct nsys_ask *ask, const char *sort,
	struct process **processes, size_t nr_processes);

#endif
