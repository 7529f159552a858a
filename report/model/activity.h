/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is common to the GPU activities of all tables with GPROF_IS_ACTIVITY: names and columns. The
 * columns that all of them have stand at the same numbers (GPROF_COLUMNS_WORK_COMMON), so the names
 * of kernel's columns serve for all; likewise memcpy's `bytes` for those with GPROF_IS_COPYING.
 */
#ifndef REPORT_MODEL_ACTIVITY_H
#define REPORT_MODEL_ACTIVITY_H

#include "report/model/copy_kind.h"

_Static_assert((int)COL_memcpy_bytes == (int)COL_memset_bytes, "the same number");

/* The columns that say of what kind an activity of the table is. */
uint32_t activity_kind_mask(unsigned int table);

/* The kind (copy_kind.h) of a row of a table with GPROF_IS_COPYING. */
uint32_t activity_copy(const struct batch *batch, uint32_t row);

/*
 * A number of string_pool.h: the name of a kernel by its shape, of a copy or set by its kind, or of
 * a whole graph by its ID.
 */
uint32_t activity_name(const struct process *process, unsigned int table, uint32_t shape,
	uint32_t copy, uint64_t graph);

#endif
