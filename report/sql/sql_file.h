/* SPDX-License-Identifier: Apache-2.0 */
/* The files of this folder that end in .sql, as they are built into the program. */
#ifndef REPORT_SQL_SQL_FILE_H
#define REPORT_SQL_SQL_FILE_H

extern const char sql_file_tables[], sql_file_nsys_views[];

#endif
