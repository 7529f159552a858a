/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the times in which a device did nothing, from activities in the order of their begins, and
 * keeps the longest. The data loading view asks how idle devices were during a wait; advice keeps
 * the budget's gaps in the same heap. Until gaps_end() the array is a heap with the shortest gap on
 * top; from then on it is sorted by device and begin.
 */
#include "report/gpu/gaps.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/heap.h"
#include "report/util/sort.h"

static uint64_t length_of(const struct gap *gap)
{
	return gap->end - gap->begin;
}

/* ---- the longest: a heap with the shortest on top ---- */

static bool is_shorter(const void *a, const void *b)
{
	return length_of(a) < length_of(b);
}

void gaps_keep(struct gaps *gaps, const struct gap *gap)
{
	gaps->nr_all++;
	gaps->all_ns += length_of(gap);
	if (gaps->nr < GAPS_MAX) {
		gaps->items =
			array_grow(gaps->items, gaps->nr, &gaps->capacity, sizeof(*gaps->items));
		gaps->items[gaps->nr] = *gap;
		heap_rise(gaps->items, gaps->nr++, sizeof(*gaps->items), is_shorter);
	} else if (length_of(gap) > length_of(&gaps->items[0])) {
		gaps->items[0] = *gap;
		heap_sink(gaps->items, gaps->nr, sizeof(*gaps->items), is_shorter);
	}
}

/* ---- the scan ---- */

static struct gaps_device *find_device(struct gaps *gaps, const struct gpu_activity *work)
{
	for (size_t i = 0; i < gaps->nr_devices; i++) {
		if (gaps->devices[i].device == work->device) {
			return &gaps->devices[i];
		}
	}
	gaps->devices = array_grow(
		gaps->devices, gaps->nr_devices, &gaps->device_capacity, sizeof(*gaps->devices));
	gaps->devices[gaps->nr_devices] =
		(struct gaps_device){work->device, work->begin, work->begin};
	return &gaps->devices[gaps->nr_devices++];
}

/* A gap is between the end of all earlier activities of a device and the begin of the next one. */
void gaps_take(struct gaps *gaps, const struct gpu_activity *work)
{
	struct gaps_device *device = find_device(gaps, work);

	if (work->begin > device->until) {
		gaps_keep(gaps, &(struct gap){device->until, work->begin, work->device, 0, 0});
	}
	device->until = work->end > device->until ? work->end : device->until;
}

static int by_place(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return ORDER(COMPARE(x->device, y->device), COMPARE(x->begin, y->begin));
}

void gaps_end(struct gaps *gaps)
{
	if (gaps->nr) {
		qsort(gaps->items, gaps->nr, sizeof(*gaps->items), by_place);
	}
	for (size_t i = 0; i < gaps->nr; i++) {
		gaps->kept_ns += length_of(&gaps->items[i]);
	}
}

void gaps_fini(struct gaps *gaps)
{
	free(gaps->items);
	free(gaps->devices);
	*gaps = (struct gaps){0};
}

static bool ends_before(const struct gap *gap, uint32_t device, uint64_t ns)
{
	return gap->device < device || (gap->device == device && gap->end < ns);
}

/*
 * Returns the first gap of a device, or of a later one, that does not end before. Callers go in the
 * order of time, either way, so it searches from the last find on, with doubling steps.
 */
static size_t find_from(struct gaps *gaps, uint32_t device, uint64_t ns)
{
	size_t low = 0, high = gaps->nr, at;

	if (gaps->found < high && !ends_before(&gaps->items[gaps->found], device, ns)) {
		high = gaps->found;
	}
	for (size_t step = 1; gaps->found >= step; step *= 2) {
		if (ends_before(&gaps->items[gaps->found - step], device, ns)) {
			low = gaps->found - step + 1;
			break;
		}
		high = gaps->found - step;
	}
	BISECT(at, low, high, ends_before(&gaps->items[at], device, ns));
	gaps->found = at;
	return at;
}

static uint64_t common(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
	from = from > begin ? from : begin;
	to = to < end ? to : end;
	return from < to ? to - from : 0;
}

uint64_t gaps_idle_in(struct gaps *gaps, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < gaps->nr_devices; i++) {
		const struct gaps_device *device = &gaps->devices[i];
		size_t at = find_from(gaps, device->device, begin_ns);

		ns += common(begin_ns, end_ns, 0, device->first);
		ns += common(begin_ns, end_ns, device->until, UINT64_MAX);
		for (; at < gaps->nr; at++) {
			const struct gap *gap = &gaps->items[at];

			if (gap->device != device->device || gap->begin >= end_ns) {
				break;
			}
			ns += common(begin_ns, end_ns, gap->begin, gap->end);
		}
	}
	return ns;
}
