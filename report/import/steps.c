/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An importer adds each range that names a step; at the end they are sorted by begin and become
 * step rows. A step lasts until the next one begins, so only a gap between two needs a row for the
 * end, and overlaps are cut and reported. Only the thread whose step begins first counts; steps of
 * others are left out and reported.
 */
#include "report/import/steps.h"

#include <stdlib.h>

#include "report/model/model.h"
#include "report/stream/block_index.h"
#include "report/util/buf.h"
#include "report/util/sort.h"

void import_steps_fini(struct import_steps *steps)
{
	free(steps->items);
	*steps = (struct import_steps){0};
}

void import_steps_add(
	struct import_steps *steps, uint64_t begin, uint64_t end, uint64_t number, uint32_t thread)
{
	steps->items = array_grow(steps->items, steps->nr, &steps->capacity, sizeof(*steps->items));
	steps->items[steps->nr] = (struct import_step){
		.begin = begin, .end = end, .number = number, .thread = thread, .order = steps->nr};
	steps->nr++;
}

static int by_begin(const void *a, const void *b)
{
	const struct import_step *x = a, *y = b;

	return ORDER(COMPARE(x->begin, y->begin), x->order < y->order ? -1 : 1);
}

static void add_row(
	struct import_out *out, uint64_t tick, uint64_t number, uint32_t thread, uint8_t how)
{
	struct gprof_row_step *row = import_out_row(out, GPROF_TABLE_step);

	row->time = tick;
	row->step = number;
	row->thread = thread;
	row->how = how;
}

void import_steps_write(struct import_steps *steps, struct import_out *out)
{
	const struct import_step *last = NULL;

	if (steps->nr) {
		qsort(steps->items, steps->nr, sizeof(*steps->items), by_begin);
	}
	for (size_t i = 0; i < steps->nr; i++) {
		const struct import_step *step = &steps->items[i];

		if (last && step->number == last->number && step->begin == last->begin) {
			continue; /* a duplicate */
		}
		if (step->thread != steps->items[0].thread) {
			steps->nr_other++;
			continue;
		}
		/* Smaller gaps are those of rounded times: the step ends where the next one begins.
		 */
		if (last && last->end + 2 < step->begin) {
			add_row(out, last->end, last->number, last->thread, MODEL_STEP_END);
		}
		steps->nr_overlapping += last && last->end > step->begin;
		add_row(out, last && last->end + 1 == step->begin ? last->end : step->begin,
			step->number, step->thread, MODEL_STEP_TRACE);
		last = step;
	}
	if (last) {
		add_row(out, last->end, last->number, last->thread, MODEL_STEP_END);
	}
}

void import_steps_add_damages(const struct import_steps *steps, struct stream *stream)
{
	if (steps->nr_overlapping) {
		stream_add_damage(
			stream, 0, 0, "steps overlap: each ends where the next one begins");
	}
	if (steps->nr_other) {
		stream_add_damage(stream, 0, 0,
			"several threads have steps: those of the thread that began first are "
			"taken");
	}
}
