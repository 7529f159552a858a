/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the view memory_curve. It needs two passes. The scan finds when most is in use, from
 * totals, and thereby the times to sample. The walk then brings each block with its free, its
 * operator and its category; it is added to all samples at which it was alive.
 *
 *   samples     s0   s1   s2   s3       peaks and ends of parts, ends of steps
 *   block          |---------|          alive at s1 and s2: from first_sample(allocation)
 *                                       up to first_sample(free), which is s3
 */
#include "report/memory/memory_in_use.h"

#include <stdlib.h>
#include <string.h>

#include "report/model/process_tree.h"
#include "report/model/select.h"
#include "report/model/time_axis.h"
#include "report/util/hash.h"
#include "report/util/heap.h"
#include "report/util/sort.h"

struct memory_part {
	unsigned int number;
	struct memory_total most, last;
};

/* ---- the scan: totals ---- */

/* Inserts from the back: events come nearly in order. */
static struct memory_part *find_part(struct memory_in_use_place *in_use, unsigned int number)
{
	size_t at = in_use->nr_parts;

	while (at && in_use->parts[at - 1].number > number) {
		at--;
	}
	if (at && in_use->parts[at - 1].number == number) {
		return &in_use->parts[at - 1];
	}
	in_use->parts = array_grow(
		in_use->parts, in_use->nr_parts, &in_use->part_capacity, sizeof(*in_use->parts));
	for (size_t i = in_use->nr_parts++; i > at; i--) {
		in_use->parts[i] = in_use->parts[i - 1];
	}
	in_use->parts[at] = (struct memory_part){.number = number};
	return &in_use->parts[at];
}

static struct memory_in_use_place *place_of(struct memory_in_use *all, uint32_t number)
{
	const struct process *process = all->scan.memory.places[number].process;

	while (all->nr_places <= number) {
		all->places = array_grow(
			all->places, all->nr_places, &all->capacity, sizeof(*all->places));
		all->places[all->nr_places++] = (struct memory_in_use_place){0};
	}
	if (!all->places[number].stride) {
		all->places[number].stride = process->nr_steps / MEMORY_STEPS + 1;
		all->places[number].nr_step_ends =
			process->nr_steps / all->places[number].stride + 1;
		all->places[number].step_ends =
			mem_zeroed(all->places[number].nr_step_ends, sizeof(struct memory_total));
	}
	return &all->places[number];
}

/* The first step, with all before it, may be longer than the others together. */
static unsigned int part_of(const struct memory_place *place, uint64_t tick)
{
	const struct process *process = place->process;
	struct memory_timeline span;
	uint64_t later = process->nr_steps > 1 ? process->steps[1].tick : 0;

	if (later <= place->pool.first || later >= place->pool.end) {
		return memory_timeline_part(&place->pool, tick, MEMORY_PARTS);
	}
	if (tick < later) {
		memory_timeline_init(&span, place->pool.first, later);
		return memory_timeline_part(&span, tick, MEMORY_FIRST_PARTS);
	}
	memory_timeline_init(&span, later, place->pool.end);
	return MEMORY_FIRST_PARTS +
	       memory_timeline_part(&span, tick, MEMORY_PARTS - MEMORY_FIRST_PARTS);
}

/* Is it before or at the time that the user asks for? */
static bool is_before_at(const struct view_at *at, struct process *process, uint64_t tick)
{
	if (!at->is_step) {
		return time_axis_time(process, clock_map_time(&process->host_clock, tick)) <=
		       at->value;
	}
	for (size_t i = 0; i + 1 < process->nr_steps; i++) {
		if (process->steps[i].step == at->value && !model_step_is_gap(&process->steps[i])) {
			return tick < process->steps[i + 1].tick;
		}
	}
	return false;
}

/*
 * An event in step n may be the last before the end of step n, so it is kept under the next
 * boundary, step n+1's start. With more than MEMORY_STEPS steps, boundaries are a stride apart.
 */
static void on_change(void *context, uint32_t number, const struct memory_total *total)
{
	struct memory_in_use *all = context;
	const struct memory_place *of = &all->scan.memory.places[number];
	struct memory_in_use_place *place = place_of(all, number);
	struct memory_part *part;
	size_t step;

	/* The total at the end of a step may come from an event of an earlier step. */
	step = process_steps_begun(of->process, total->tick);
	step = (step + place->stride - 1) / place->stride;
	if (step < place->nr_step_ends && total->tick >= place->step_ends[step].tick) {
		place->step_ends[step] = *total;
	}
	if (all->input.at.is_set && total->tick >= place->at.tick &&
		is_before_at(&all->input.at, of->process, total->tick)) {
		place->at = *total;
	}
	if (!select_has_tick(of->process, total->tick)) {
		return;
	}
	part = find_part(place, part_of(of, total->tick));
	if (total->in_use >= part->most.in_use) {
		part->most = *total;
	}
	if (total->tick >= part->last.tick) {
		part->last = *total;
	}
}

void memory_in_use_init(void *state)
{
	struct memory_in_use *all = state;

	/* `reduce` needs peaks alone. */
	all->scan.memory.on_change = all->input.is_merged ? NULL : on_change;
	all->scan.memory.context = all;
}

/* ---- the times ---- */

static struct memory_sample *add_sample(
	struct memory_in_use_place *place, const struct memory_total *total, uint64_t step)
{
	struct memory_sample *sample = &place->samples[place->nr_samples++];

	*sample = (struct memory_sample){.total = *total, .step = step};
	return sample;
}

/* The ends of selected steps, each with the last total before it. */
static void add_step_ends(struct memory_in_use_place *place, const struct process *process)
{
	struct memory_total last = {0};

	for (size_t i = 0; i < place->nr_step_ends && i * place->stride < process->nr_steps; i++) {
		const struct model_step *next = &process->steps[i * place->stride];

		last = place->step_ends[i].tick ? place->step_ends[i] : last;
		if (i && last.tick && !model_step_is_gap(next - 1) &&
			select_has_step(process, i * place->stride - 1)) {
			/* The event after the end belongs to the next step. */
			const struct memory_total end = {
				next->tick ? next->tick - 1 : 0, last.in_use, last.reserved};

			add_sample(place, &end, next[-1].step);
		}
	}
}

static int by_tick(const void *a, const void *b)
{
	const struct memory_sample *x = a, *y = b;

	return ORDER(COMPARE(x->total.tick, y->total.tick), COMPARE(x->step, y->step));
}

static unsigned int most_largest(const struct memory_sample *sample)
{
	return sample->is_at ? MEMORY_LARGEST_AT : MEMORY_LARGEST;
}

/* The time that the user chose is no candidate for the peak: it is shown by itself. */
static void make_samples(struct memory_in_use *all, uint32_t number)
{
	struct memory_in_use_place *place = place_of(all, number);
	const struct process *process = all->scan.memory.places[number].process;

	place->samples =
		mem_zeroed(2 * place->nr_parts + place->nr_step_ends + 2, sizeof(*place->samples));
	for (size_t i = 0; i < place->nr_parts; i++) {
		const struct memory_part *part = &place->parts[i];

		if (part->most.tick < part->last.tick) {
			add_sample(place, &part->most, MEMORY_NO_STEP);
		}
		add_sample(place, &part->last, MEMORY_NO_STEP);
	}
	add_step_ends(place, process);
	if (place->at.tick) {
		add_sample(place, &place->at, MEMORY_NO_STEP)->is_at = true;
	}
	qsort(place->samples, place->nr_samples, sizeof(*place->samples), by_tick);
	for (size_t i = 0; i < place->nr_samples; i++) {
		place->samples[i].largest =
			mem_zeroed(most_largest(&place->samples[i]), sizeof(struct alloc_block));
		if (!place->samples[i].is_at &&
			place->samples[i].total.in_use > place->samples[place->peak].total.in_use) {
			place->peak = i;
		}
	}
}

/* ---- the second pass: blocks ---- */

/* The first sample at or after a tick. */
static size_t first_sample(const struct memory_in_use_place *place, uint64_t tick)
{
	size_t at;

	BISECT(at, 0, place->nr_samples, place->samples[at].total.tick < tick);
	return at;
}

static bool is_smaller(const void *a, const void *b)
{
	const struct alloc_block *x = a, *y = b;

	return x->bytes < y->bytes;
}

static void add_largest(struct memory_sample *sample, const struct alloc_block *block)
{
	unsigned int most = most_largest(sample);

	if (sample->nr_largest < most) {
		sample->largest[sample->nr_largest] = *block;
		heap_rise(sample->largest, sample->nr_largest++, sizeof(*block), is_smaller);
	} else if (sample->largest[0].bytes < block->bytes) {
		sample->largest[0] = *block;
		heap_sink(sample->largest, most, sizeof(*block), is_smaller);
	}
}

static void add_peak(struct memory_in_use *all, const struct alloc_block *block)
{
	struct memory_peak_row *row, key;

	memset(&key, 0, sizeof(key));
	key.key.place = block->place;
	key.key.category = block->category;
	key.key.name = block->name;
	key.key.module = block->module;
	hash_put(all->peak_rows, key, &key.key, row);
	row->bytes += block->bytes;
	row->nr_blocks++;
}

static void on_block(void *context, const struct alloc_block *block)
{
	struct memory_in_use *all = context;
	struct memory_in_use_place *place = &all->places[block->place];
	size_t first = first_sample(place, block->tick), end = first_sample(place, block->freed);

	place->has_blocks = true;
	place->nr_blocks[block->category]++;
	for (size_t i = first; i < end; i++) {
		place->samples[i].bytes[block->category] += block->bytes;
		place->samples[i].known += block->bytes;
		add_largest(&place->samples[i], block);
	}
	if (first <= place->peak && place->peak < end) {
		add_peak(all, block);
	}
}

void memory_in_use_begin(void *context, struct process *process)
{
	struct memory_in_use *all = context;
	int64_t nr_workers;

	all->process = process;
	all->categories.on_block = on_block;
	all->categories.context = all;
	memory_forget(&all->scan.memory);
	alloc_categories_begin(&all->categories, process_tree_worker(process, &nr_workers) >= 0);
	for (uint32_t i = 0; i < all->scan.memory.nr_places; i++) {
		if (all->scan.memory.places[i].process == process) {
			make_samples(all, i);
		}
	}
}

void memory_in_use_alloc(void *context, const struct op_alloc *alloc, const struct op *op)
{
	struct memory_in_use *all = context;
	uint32_t number = memory_place(
		&all->scan.memory, all->process, alloc->device_type % MEMORY_DRIVER, alloc->device);
	uint64_t freed = memory_freed(&all->scan.memory, number, alloc);

	(void)place_of(all, number);
	if (alloc->bytes > 0 && !all->input.is_merged) {
		alloc_categories_take(&all->categories, alloc, op, number, freed);
	}
}

void memory_in_use_end(void *context, struct process *process, const struct phases *phases)
{
	struct memory_in_use *all = context;

	(void)process;
	(void)phases;
	alloc_categories_end(&all->categories);
	for (size_t i = 0; i < all->nr_places; i++) {
		all->places[i].has_blocks &= !all->scan.memory.places[i].has_nameless_free;
	}
	memory_forget(&all->scan.memory);
}

void memory_in_use_fini(void *state)
{
	struct memory_in_use *all = state;

	memory_scan_fini(&all->scan);
	for (size_t i = 0; i < all->nr_places; i++) {
		struct memory_in_use_place *place = &all->places[i];

		for (size_t k = 0; k < place->nr_samples; k++) {
			free(place->samples[k].largest);
		}
		free(place->samples);
		free(place->step_ends);
		free(place->parts);
	}
	free(all->places);
	hash_free(all->peak_rows);
}
