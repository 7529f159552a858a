/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a row of a trace as a row of its table. */
#ifndef REPORT_IMPORT_KINETO_ROWS_TABLE_H
#define REPORT_IMPORT_KINETO_ROWS_TABLE_H

#include "report/import/kineto/rows.h"

/* flags: those of a copy or a set. */
void kineto_row_write(struct import_out *out, const struct kineto_row *row, uint32_t flags);

#endif
