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

static void grow(struct worked *worked)
{
	struct worked old = *worked;

	worked->capacity = old.capacity ? 2 * old.capacity : 1024;
	worked->entries = mem_zeroed(worked->capacity, sizeof(*worked->entries));
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.entries[i].correlation) {
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
	if (2 * (worked->nr_entries + 1) > worked->capacity) {
		grow(worked);
	}
	entry = find(worked, correlation);
	worked->nr_entries += !entry->correlation;
	entry->correlation = correlation;
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

/* Those behind the hole that could not have come to stand there move up. */
static void close_hole(struct worked *worked, size_t hole)
{
	size_t mask = worked->capacity - 1;

	for (size_t at = (hole + 1) & mask; worked->entries[at].correlation; at = (at + 1) & mask) {
		size_t home = home_of(worked, worked->entries[at].correlation);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			worked->entries[hole] = worked->entries[at];
			hole = at;
		}
	}
	worked->entries[hole] = (struct worked_entry){0};
}

const struct worked_entry *worked_find(const struct worked *worked, uint32_t correlation)
{
	const struct worked_entry *entry;

	if (!correlation || !worked->nr_entries) {
		return NULL;
	}
	entry = find(worked, correlation);
	return entry->correlation ? entry : NULL;
}

bool worked_take(struct worked *worked, uint32_t correlation, struct worked_entry *taken)
{
	struct worked_entry *entry;

	if (!correlation || !worked->nr_entries) {
		return false;
	}
	entry = find(worked, correlation);
	if (!entry->correlation) {
		return false;
	}
	*taken = *entry;
	worked->nr_entries--;
	close_hole(worked, (size_t)(entry - worked->entries));
	return true;
}
