/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the operators of each thread nest: rows_nest.h. It goes from the first begin to the last
 * and keeps a stack of the operators that are open, outermost first, each ending within the one
 * below.
 */
#include "report/kineto/rows_nest.h"

#include <stdlib.h>

#include "report/kineto/rows.h"
#include "report/ops/op.h"
#include "report/util/buf.h"

/* The open operators of a thread; NULL at the start. */
struct open_ops {
	struct kineto_row **ops;
	size_t nr, capacity;
	uint64_t nr_cut;
};

static bool can_nest(const struct kineto_row *row)
{
	return row->table == GPROF_TABLE_op && row->source == GPROF_FRAMEWORK_TORCH &&
	       row->kind != OP_TORCH_USER && row->kind != OP_TORCH_ANNOTATION;
}

/* By thread, then an outer operator before what it contains. */
static int by_begin(const void *a, const void *b)
{
	const struct kineto_row *x = *(struct kineto_row *const *)a;
	const struct kineto_row *y = *(struct kineto_row *const *)b;

	if (x->thread != y->thread) {
		return x->thread < y->thread ? -1 : 1;
	}
	if (x->begin != y->begin) {
		return x->begin < y->begin ? -1 : 1;
	}
	return kineto_row_is_before(y, x) ? -1 : 1;
}

static void end_at(struct open_ops *open, struct kineto_row *row, uint64_t end)
{
	open->nr_cut += row->end - end > KINETO_EARLY_NS;
	row->end = end;
}

/* Closes what ends before the operator, or where it begins, and opens the operator. */
static void open_op(struct open_ops *open, struct kineto_row *row)
{
	for (; open->nr; open->nr--) {
		struct kineto_row *outer = open->ops[open->nr - 1];

		if (outer->end >= row->end && outer->end > row->begin) {
			break;
		}
		if (outer->end <= row->begin) {
			continue;
		}
		if (outer->end - row->begin >= row->end - outer->end) {
			end_at(open, row, outer->end);
			break;
		}
		end_at(open, outer, row->begin);
	}
	open->ops = array_grow(open->ops, open->nr, &open->capacity, sizeof(*open->ops));
	open->ops[open->nr++] = row;
}

uint64_t kineto_rows_nest(struct kineto_row *rows, size_t nr_rows)
{
	struct kineto_row **ops = mem_zeroed(nr_rows + 1, sizeof(*ops));
	struct open_ops open = {0};
	bool is_sorted = true;
	size_t nr = 0;

	for (size_t i = 0; i < nr_rows; i++) {
		if (can_nest(&rows[i])) {
			ops[nr++] = &rows[i];
			is_sorted =
				is_sorted && (nr == 1 || by_begin(&ops[nr - 2], &ops[nr - 1]) < 0);
		}
	}
	if (!is_sorted) {
		qsort(ops, nr, sizeof(*ops), by_begin);
	}
	for (size_t i = 0; i < nr; i++) {
		if (i && ops[i]->thread != ops[i - 1]->thread) {
			open.nr = 0;
		}
		open_op(&open, ops[i]);
	}
	free(open.ops);
	free(ops);
	return open.nr_cut;
}
