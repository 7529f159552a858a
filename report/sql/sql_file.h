/* SPDX-License-Identifier: Apache-2.0 */
/* The files of this folder that end in .sql, as they are built into the program. */
#ifndef REPORT_SQL_SQL_FILE_H
#define REPORT_SQL_SQL_FILE_H

extern const char sql_file_tables[], sql_file_nsys_views[];

/*
 * Returns the views by nsys's names over tables whose column NAME has its texts' ids in the column
 * NAME + suffix. The caller frees it.
 */
char *nsys_views_sql(const char *suffix);

/* Reports of nsys's, see nsys_query.h. */
extern const char sql_file_cuda_memcpy_async[], sql_file_cuda_memcpy_sync[],
	sql_file_cuda_memset_sync[], sql_file_cuda_api_sync[], sql_file_cuda_kern_exec_sum[],
	sql_file_cuda_kern_exec_trace[], sql_file_gpu_gaps[], sql_file_gpu_time_util[];

#endif
