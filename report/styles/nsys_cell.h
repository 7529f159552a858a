/* SPDX-License-Identifier: Apache-2.0 */
/* Titles and numbers as `nsys stats` prints them; of times in the unit that is asked for. */
#ifndef REPORT_STYLES_NSYS_CELL_H
#define REPORT_STYLES_NSYS_CELL_H

#include "report/table/print.h"

/* The title, in whose brackets the unit stands. */
void nsys_cell_title(
	struct buf *out, const struct table_column *column, const struct table_unit *unit);

/* Separated: with a comma before each three digits. Times in larger units have as many digits as
 * whole ns take. */
void nsys_cell_number(struct buf *out, const struct table_column *column,
	const struct table_cell *cell, const struct table_unit *unit, bool is_separated);

#endif
