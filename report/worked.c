/* SPDX-License-Identifier: Apache-2.0 */
#include "report/worked.h"

#include <stdlib.h>

#include "report/buf.h"

void worked_fini(struct worked *worked)
{
	free(worked->entries);
	*worked = (struct worked){0};
}

/*
 * Ids count up, so eight in a row stand beside each other, in the same lines of the cache. The
 * product's low bits tell all eights of a dense range apart.
 */
static size_t home_of(const struct worked *worked, uint32_t correlation)
{
	return ((correlation >> 3) * 8 * 0x9e3779b1u + (correlation & 7)) & (worked->capacity - 1);
}

/* The entry of the id, or the free one where it would stand. */
static struct worked_entry *find(const struct worked *worked, uint32_t correlation)
{
	size_t at = home_of(worked, correlation);

	while (worked->entries[at].correlation && worked->entries[at].correlation != correlation) {
		at = (at + 1) & (worked->capacity - 1);
	}
	return &worked->entries[at];
}

/* Makes room, and leaves out what was taken. */
static void renew(struct worked *worked)
{
	struct worked old = *worked;

	worked->capacity = 1024;
	while (worked->capacity < 4 * (old.nr_entries + 1)) {
		worked->capacity *= 2;
	}
	worked->entries = mem_zeroed(worked->capacity, sizeof(*worked->entries));
	worked->nr_used = old.nr_entries;
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.entries[i].correlation && !old.entries[i].is_taken) {
			*find(worked, old.entries[i].correlation) = old.entries[i];
		}
	}
	free(old.entries);
}

struct worked_entry *worked_put(struct worked *worked, uint32_t correlation)
{
	struct worked_entry *entry;

	if (!correlation) {
		return NULL;
	}
	if (2 * (worked->nr_used + 1) > worked->capacity) {
		renew(worked);
	}
	entry = find(worked, correlation);
	worked->nr_used += !entry->correlation;
	worked->nr_entries += !entry->correlation || entry->is_taken;
	entry->correlation = correlation;
	entry->is_taken = false;
	return entry;
}

void worked_add(struct worked *worked, uint32_t correlation, uint64_t ns)
{
	struct worked_entry *entry = worked_put(worked, correlation);

	if (entry) {
		entry->nr_works += entry->nr_works < UINT32_MAX;
		entry->ns += ns;
	}
}

/*
 * Nobody looks past a place that is free, so the last one of those in a row need not be kept, nor
 * what was taken right before it. What counted up is mostly taken in that order, too.
 */
static void free_places(struct worked *worked, size_t at)
{
	size_t mask = worked->capacity - 1;

	if (worked->entries[(at + 1) & mask].correlation) {
		return;
	}
	while (worked->entries[at].is_taken) {
		worked->entries[at] = (struct worked_entry){0};
		worked->nr_used--;
		at = (at - 1) & mask;
	}
}

const struct worked_entry *worked_find(const struct worked *worked, uint32_t correlation)
{
	const struct worked_entry *entry;

	if (!correlation || !worked->nr_entries) {
		return NULL;
	}
	entry = find(worked, correlation);
	return entry->correlation && !entry->is_taken ? entry : NULL;
}

bool worked_take(struct worked *worked, uint32_t correlation, struct worked_entry *taken)
{
	struct worked_entry *entry;

	if (!correlation || !worked->nr_entries) {
		return false;
	}
	entry = find(worked, correlation);
	if (!entry->correlation || entry->is_taken) {
		return false;
	}
	*taken = *entry;
	*entry = (struct worked_entry){.correlation = correlation, .is_taken = true};
	worked->nr_entries--;
	free_places(worked, (size_t)(entry - worked->entries));
	return true;
}
