/* SPDX-License-Identifier: Apache-2.0 */
#include "report/reduce/reduce_rows.h"

#include <stdlib.h>

void reduce_rows_init(struct reduce_rows *rows)
{
	*rows = (struct reduce_rows){.sums = NULL};
	keyed_stats_init(&rows->tally);
}

void reduce_rows_fini(struct reduce_rows *rows)
{
	keyed_stats_fini(&rows->tally);
	free(rows->sums);
	*rows = (struct reduce_rows){.sums = NULL};
}

uint64_t *reduce_rows_find(struct reduce_rows *rows, uint32_t name, uint32_t kind, uint32_t *row)
{
	size_t nr_rows = rows->tally.nr_rows;

	*row = keyed_stats_find(&rows->tally, (uint64_t)kind << 32 | name, name, kind);
	if (*row == nr_rows) {
		rows->sums = array_grow(rows->sums, nr_rows, &rows->capacity, sizeof(*rows->sums));
		rows->sums[nr_rows] = (struct reduce_sums){{0}};
	}
	return rows->sums[*row].sums;
}
