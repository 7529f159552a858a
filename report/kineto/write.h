/* SPDX-License-Identifier: Apache-2.0 */
/* A row of a trace as the row of our table that it belongs to. */
#ifndef REPORT_KINETO_WRITE_H
#define REPORT_KINETO_WRITE_H

#include "report/kineto/rows.h"

/* is_async: of a copy or set, its call said so. */
void kineto_write_row(struct kineto_out *out, const struct kineto_row *row, bool is_async);

#endif
