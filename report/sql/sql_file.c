/* SPDX-License-Identifier: Apache-2.0 */
/* Each file becomes a constant that ends in 0. */
#include "report/sql/sql_file.h"

/* The assembler includes them; report.mk names the folder. */
#define SQL_FILE(name)                                                                       \
	__asm__(".pushsection .rodata\n.globl sql_file_" #name "\n.hidden sql_file_" #name   \
		"\nsql_file_" #name ":\n.incbin \"" SQL_FOLDER "/" #name ".sql\"\n.byte 0\n" \
		".popsection\n")

SQL_FILE(tables);
SQL_FILE(nsys_views);
SQL_FILE(cuda_memcpy_async);
SQL_FILE(cuda_memcpy_sync);
SQL_FILE(cuda_memset_sync);
SQL_FILE(cuda_api_sync);
SQL_FILE(cuda_kern_exec_sum);
SQL_FILE(cuda_kern_exec_trace);
SQL_FILE(gpu_gaps);
SQL_FILE(gpu_time_util);
