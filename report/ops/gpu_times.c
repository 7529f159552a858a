/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The join of activities and calls by correlation ID, in a table made for how IDs come: rising, and
 * in neighbourhoods that soon are all removed. op_launch.c puts the times of activities in; the
 * call that op_load.c then reads takes its own out. A hash finds pages of 16 IDs, not single IDs,
 * so neighbours share one probe. The last page is remembered: most look-ups go there.
 */
#include "report/ops/gpu_times.h"

#include <stdlib.h>

#include "report/util/buf.h"

#define FIRST_BITS 6u

void gpu_times_fini(struct gpu_times *times)
{
	free(times->pages);
	free(times->slots);
	*times = (struct gpu_times){0};
}

/* ---- slots ---- */

static size_t mask_of(const struct gpu_times *times)
{
	return ((size_t)1 << times->slot_bits) - 1;
}

/* The product's upper bits separate dense ranges as well as strides. */
static size_t home_of(const struct gpu_times *times, uint64_t number)
{
	return (number * 0x9e3779b97f4a7c15u) >> (64 - times->slot_bits);
}

/* The slot of the page, or the free one for it. */
static size_t find_slot(const struct gpu_times *times, uint64_t number)
{
	size_t at = home_of(times, number);

	while (times->slots[at].place && times->slots[at].number != number) {
		at = (at + 1) & mask_of(times);
	}
	return at;
}

static void grow_slots(struct gpu_times *times)
{
	struct gpu_times_slot *old = times->slots;
	size_t nr_old = old ? (size_t)1 << times->slot_bits : 0;

	times->slot_bits = old ? times->slot_bits + 1 : FIRST_BITS;
	times->slots = mem_zeroed((size_t)1 << times->slot_bits, sizeof(*times->slots));
	for (size_t i = 0; i < nr_old; i++) {
		if (old[i].place) {
			times->slots[find_slot(times, old[i].number)] = old[i];
		}
	}
	free(old);
}

/* Moves entries behind the hole forward, unless that would put them before their home. */
static void close_hole(struct gpu_times *times, size_t hole)
{
	struct gpu_times_slot *slots = times->slots;
	size_t mask = mask_of(times);

	for (size_t at = (hole + 1) & mask; slots[at].place; at = (at + 1) & mask) {
		size_t home = home_of(times, slots[at].number);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			slots[hole] = slots[at];
			hole = at;
		}
	}
	slots[hole] = (struct gpu_times_slot){0};
}

/* ---- pages ---- */

/* 1 + the index of an empty page. */
static uint32_t new_page(struct gpu_times *times)
{
	uint32_t place = times->first_free;

	if (place) {
		times->first_free = times->pages[place - 1].next_free;
		return place;
	}
	times->pages = array_grow(
		times->pages, times->nr_pages, &times->page_capacity, sizeof(*times->pages));
	times->pages[times->nr_pages++] = (struct gpu_times_page){0};
	return (uint32_t)times->nr_pages;
}

static struct gpu_times_page *make_page(struct gpu_times *times, uint64_t number)
{
	struct gpu_times_slot *slot;

	if (!times->slots || 2 * (times->nr_used + 1) > mask_of(times) + 1) {
		grow_slots(times);
	}
	slot = &times->slots[find_slot(times, number)];
	if (!slot->place) {
		*slot = (struct gpu_times_slot){number, new_page(times)};
		times->nr_used++;
	}
	times->last = *slot;
	return &times->pages[slot->place - 1];
}

/* NULL if there is none. */
static struct gpu_times_page *find_page(const struct gpu_times *times, uint64_t number)
{
	uint32_t place;

	if (times->last.place && times->last.number == number) {
		return &times->pages[times->last.place - 1];
	}
	place = times->slots ? times->slots[find_slot(times, number)].place : 0;
	return place ? &times->pages[place - 1] : NULL;
}

/* close_hole() may move slots, but pages stay where they are, so only `last` must be forgotten. */
static void drop_page(struct gpu_times *times, uint64_t number)
{
	size_t at = find_slot(times, number);
	uint32_t place = times->slots[at].place;

	times->pages[place - 1].next_free = times->first_free;
	times->first_free = place;
	times->last.place = 0;
	times->nr_used--;
	close_hole(times, at);
}

/* ---- entries ---- */

struct gpu_times_entry *gpu_times_put(struct gpu_times *times, uint64_t correlation)
{
	struct gpu_times_page *page;
	struct gpu_times_entry *entry;

	if (!correlation) {
		return NULL;
	}
	page = find_page(times, correlation / GPU_TIMES_PAGE_IDS);
	if (!page) {
		page = make_page(times, correlation / GPU_TIMES_PAGE_IDS);
	}
	entry = &page->entries[correlation % GPU_TIMES_PAGE_IDS];
	if (!entry->is_used) {
		entry->is_used = 1;
		page->nr_entries++;
		times->nr_entries++;
	}
	return entry;
}

/* The page is emptied entry by entry, so a page that is used again starts with zeros. */
bool gpu_times_remove(
	struct gpu_times *times, uint64_t correlation, struct gpu_times_entry *removed)
{
	uint64_t number = correlation / GPU_TIMES_PAGE_IDS;
	struct gpu_times_page *page;
	struct gpu_times_entry *entry;

	if (!correlation || !times->nr_entries) {
		return false;
	}
	page = find_page(times, number);
	entry = page ? &page->entries[correlation % GPU_TIMES_PAGE_IDS] : NULL;
	if (!entry || !entry->is_used) {
		return false;
	}
	*removed = *entry;
	*entry = (struct gpu_times_entry){0};
	times->nr_entries--;
	if (--page->nr_entries) {
		times->last = (struct gpu_times_slot){number, (uint32_t)(page - times->pages) + 1};
	} else {
		drop_page(times, number);
	}
	return true;
}
