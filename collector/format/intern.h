/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps texts, launch shapes and places to ids. A full table grows, to a bound; then it forgets
 * everything and continues with new ids. So no id is reused, and a value may have several; the
 * stream defines each id when it is assigned. For the drain thread.
 */
#ifndef COLLECTOR_FORMAT_INTERN_H
#define COLLECTOR_FORMAT_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern_entry {
	uint64_t hash;
	uint32_t id; /* 0: empty */
	uint32_t nr_bytes;
	uint64_t at; /* in the arena */
};

struct intern {
	struct intern_entry *entries;
	char *arena;
	size_t arena_bytes;
	size_t arena_used;
	uint32_t nr_entries; /* a power of two */
	uint32_t nr_used;
	uint32_t last_id;
	uint32_t nr_doublings; /* that are left */
	uint32_t nr_forgotten; /* times that it was full: for good, or there was no memory */
};

/* Then it was memory that was short, if it was full. */
static inline bool intern_may_grow(const struct intern *intern)
{
	return intern->nr_doublings != 0;
}

/*
 * Room for nr_things (a power of two) of arena_bytes altogether, in zeroed *intern, which may
 * double so many times; one that was made before forgets everything and starts its ids again.
 * Returns 0 or -ENOMEM.
 */
int intern_init(
	struct intern *intern, uint32_t nr_things, size_t arena_bytes, uint32_t nr_doublings);

/* Frees its room; zeroed *intern has none. */
void intern_fini(struct intern *intern);

/* Forgets everything, and continues with new ids. */
void intern_forget(struct intern *intern);

/*
 * The entry of these bytes (ids start at 1), valid until the next call; *is_new says whether this
 * call made it. NULL if the bytes exceed the arena.
 */
const struct intern_entry *intern_find(
	struct intern *intern, const void *bytes, size_t nr_bytes, bool *is_new);

#endif
