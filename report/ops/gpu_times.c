/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/gpu_times.h"

#include <stdlib.h>

#include "report/util/buf.h"

#define FIRST_BITS 6u

void gpu_times_fini(struct gpu_times *worked)
{
	free(worked->pages);
	free(worked->slots);
	*worked = (struct gpu_times){0};
}

/* ---- slots ---- */

static size_t mask_of(const struct gpu_times *worked)
{
	return ((size_t)1 << worked->slot_bits) - 1;
}

/* The product's upper bits tell dense ranges apart, and strides. */
static size_t home_of(const struct gpu_times *worked, uint32_t number)
{
	return (number * 0x9e3779b1u) >> (32 - worked->slot_bits);
}

/* The slot of the page, or the free one where it would stand. */
static size_t find_slot(const struct gpu_times *worked, uint32_t number)
{
	size_t at = home_of(worked, number);

	while (worked->slots[at].place && worked->slots[at].number != number) {
		at = (at + 1) & mask_of(worked);
	}
	return at;
}

static void grow_slots(struct gpu_times *worked)
{
	struct gpu_times_slot *old = worked->slots;
	size_t nr_old = old ? (size_t)1 << worked->slot_bits : 0;

	worked->slot_bits = old ? worked->slot_bits + 1 : FIRST_BITS;
	worked->slots = mem_zeroed((size_t)1 << worked->slot_bits, sizeof(*worked->slots));
	for (size_t i = 0; i < nr_old; i++) {
		if (old[i].place) {
			worked->slots[find_slot(worked, old[i].number)] = old[i];
		}
	}
	free(old);
}

/* Those behind the hole that could not have come to stand there move up. */
static void close_hole(struct gpu_times *worked, size_t hole)
{
	struct gpu_times_slot *slots = worked->slots;
	size_t mask = mask_of(worked);

	for (size_t at = (hole + 1) & mask; slots[at].place; at = (at + 1) & mask) {
		size_t home = home_of(worked, slots[at].number);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			slots[hole] = slots[at];
			hole = at;
		}
	}
	slots[hole] = (struct gpu_times_slot){0};
}

/* ---- pages ---- */

/* 1 + the place of an empty page. */
static uint32_t new_page(struct gpu_times *worked)
{
	uint32_t place = worked->first_free;

	if (place) {
		worked->first_free = worked->pages[place - 1].next_free;
		return place;
	}
	worked->pages = array_grow(
		worked->pages, worked->nr_pages, &worked->page_capacity, sizeof(*worked->pages));
	worked->pages[worked->nr_pages++] = (struct gpu_times_page){0};
	return (uint32_t)worked->nr_pages;
}

static struct gpu_times_page *make_page(struct gpu_times *worked, uint32_t number)
{
	struct gpu_times_slot *slot;

	if (!worked->slots || 2 * (worked->nr_used + 1) > mask_of(worked) + 1) {
		grow_slots(worked);
	}
	slot = &worked->slots[find_slot(worked, number)];
	if (!slot->place) {
		*slot = (struct gpu_times_slot){number, new_page(worked)};
		worked->nr_used++;
	}
	worked->last = *slot;
	return &worked->pages[slot->place - 1];
}

/* NULL if there is none. */
static struct gpu_times_page *find_page(const struct gpu_times *worked, uint32_t number)
{
	uint32_t place;

	if (worked->last.place && worked->last.number == number) {
		return &worked->pages[worked->last.place - 1];
	}
	place = worked->slots ? worked->slots[find_slot(worked, number)].place : 0;
	return place ? &worked->pages[place - 1] : NULL;
}

static void drop_page(struct gpu_times *worked, uint32_t number)
{
	size_t at = find_slot(worked, number);
	uint32_t place = worked->slots[at].place;

	worked->pages[place - 1].next_free = worked->first_free;
	worked->first_free = place;
	worked->last.place = 0;
	worked->nr_used--;
	close_hole(worked, at);
}

/* ---- entries ---- */

struct gpu_times_entry *gpu_times_put(struct gpu_times *worked, uint32_t correlation)
{
	struct gpu_times_page *page;
	struct gpu_times_entry *entry;

	if (!correlation) {
		return NULL;
	}
	page = find_page(worked, correlation / GPU_TIMES_PAGE_IDS);
	if (!page) {
		page = make_page(worked, correlation / GPU_TIMES_PAGE_IDS);
	}
	entry = &page->entries[correlation % GPU_TIMES_PAGE_IDS];
	if (!entry->correlation) {
		entry->correlation = correlation;
		page->nr_entries++;
		worked->nr_entries++;
	}
	return entry;
}

struct gpu_times_entry *gpu_times_add(struct gpu_times *worked, uint32_t correlation, uint64_t ns)
{
	struct gpu_times_entry *entry = gpu_times_put(worked, correlation);

	if (entry) {
		entry->nr_works += entry->nr_works < UINT32_MAX;
		entry->ns += ns;
	}
	return entry;
}

const struct gpu_times_entry *gpu_times_find(const struct gpu_times *worked, uint32_t correlation)
{
	const struct gpu_times_page *page = find_page(worked, correlation / GPU_TIMES_PAGE_IDS);
	const struct gpu_times_entry *entry =
		page ? &page->entries[correlation % GPU_TIMES_PAGE_IDS] : NULL;

	return entry && entry->correlation ? entry : NULL;
}

bool gpu_times_take(struct gpu_times *worked, uint32_t correlation, struct gpu_times_entry *taken)
{
	uint32_t number = correlation / GPU_TIMES_PAGE_IDS;
	struct gpu_times_page *page;
	struct gpu_times_entry *entry;

	if (!correlation || !worked->nr_entries) {
		return false;
	}
	page = find_page(worked, number);
	entry = page ? &page->entries[correlation % GPU_TIMES_PAGE_IDS] : NULL;
	if (!entry || !entry->correlation) {
		return false;
	}
	*taken = *entry;
	*entry = (struct gpu_times_entry){0};
	worked->nr_entries--;
	if (--page->nr_entries) {
		worked->last =
			(struct gpu_times_slot){number, (uint32_t)(page - worked->pages) + 1};
	} else {
		drop_page(worked, number);
	}
	return true;
}
