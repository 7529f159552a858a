/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table that is at most half full, beside an arena with the bytes themselves. Growing keeps
 * the ids; only forgetting assigns new ones. Both parts are mappings of their own, so a table that
 * is never used costs no memory.
 */
#include "collector/format/intern.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/util/hash.h"
#include "collector/util/memory.h"

void intern_forget(struct intern *intern)
{
	memset(intern->entries, 0, intern->nr_entries * sizeof(*intern->entries));
	intern->arena_used = 0;
	intern->nr_used = 0;
}

/* First the pointers, then the memory: a fork in between must not leave a child with stale ones. */
void intern_fini(struct intern *intern)
{
	const struct intern before = *intern;

	*intern = (struct intern){0};
	if (before.entries) {
		munmap(before.entries, before.nr_entries * sizeof(*before.entries));
	}
	if (before.arena) {
		munmap(before.arena, before.arena_bytes);
	}
}

int intern_init(
	struct intern *intern, uint32_t nr_things, size_t arena_bytes, uint32_t nr_doublings)
{
	if (intern->entries && intern->arena && intern->nr_entries == nr_things * 2 &&
		intern->arena_bytes == arena_bytes) {
		intern_forget(intern);
		intern->last_id = intern->nr_forgotten = 0;
		intern->nr_doublings = nr_doublings;
		return 0;
	}
	/* A parent's table may have grown, or got only one of its two mappings. */
	intern_fini(intern);
	intern->nr_entries = nr_things * 2; /* at most half full */
	intern->arena_bytes = arena_bytes;
	intern->nr_doublings = nr_doublings;
	intern->entries = memory_map(intern->nr_entries * sizeof(*intern->entries));
	intern->arena = memory_map(arena_bytes);
	return intern->entries && intern->arena ? 0 : -ENOMEM;
}

static void put_all(struct intern *to, const struct intern *from)
{
	for (uint32_t i = 0; i < from->nr_entries; i++) {
		const struct intern_entry *entry = &from->entries[i];
		uint32_t at = (uint32_t)entry->hash;

		while (entry->id && to->entries[at & (to->nr_entries - 1)].id) {
			at++;
		}
		if (entry->id) {
			to->entries[at & (to->nr_entries - 1)] = *entry;
		}
	}
	memcpy(to->arena, from->arena, from->arena_used);
}

/* Doubles the room. False: it has its bound, or there is no memory. */
static bool grow(struct intern *intern)
{
	struct intern larger = *intern, before = *intern;

	if (!intern->nr_doublings) {
		return false;
	}
	larger.nr_doublings--;
	larger.nr_entries *= 2;
	larger.arena_bytes *= 2;
	larger.entries = memory_map(larger.nr_entries * sizeof(*larger.entries));
	larger.arena = memory_map(larger.arena_bytes);
	if (!larger.entries || !larger.arena) {
		intern_fini(&larger);
		return false;
	}
	put_all(&larger, intern);
	*intern = larger;
	intern_fini(&before);
	return true;
}

static uint64_t load_word(const unsigned char *bytes, size_t nr_bytes)
{
	uint64_t word = 0;

	memcpy(&word, bytes, nr_bytes);
	return word;
}

/* Four words at a time, in four chains that the CPU runs side by side. */
static uint64_t hash_bytes(const unsigned char *bytes, size_t nr_bytes)
{
	uint64_t a = 0x9e3779b97f4a7c15u ^ nr_bytes, b = 1, c = 2, d = 3;

	for (; nr_bytes >= 32; nr_bytes -= 32, bytes += 32) {
		a = hash_mix(a, load_word(bytes, 8));
		b = hash_mix(b, load_word(bytes + 8, 8));
		c = hash_mix(c, load_word(bytes + 16, 8));
		d = hash_mix(d, load_word(bytes + 24, 8));
	}
	for (; nr_bytes >= 8; nr_bytes -= 8, bytes += 8) {
		a = hash_mix(a, load_word(bytes, 8));
	}
	a = hash_mix(a, load_word(bytes, nr_bytes));
	return hash_mix(hash_mix(a, b), hash_mix(c, d));
}

/* The entry of these bytes, or the free one that they would take. */
static struct intern_entry *look_up(
	struct intern *intern, uint64_t hash, const void *bytes, size_t nr_bytes)
{
	for (uint32_t at = (uint32_t)hash;; at++) {
		struct intern_entry *entry = &intern->entries[at & (intern->nr_entries - 1)];

		if (!entry->id || (entry->hash == hash && entry->nr_bytes == nr_bytes &&
					  !memcmp(intern->arena + entry->at, bytes, nr_bytes))) {
			return entry;
		}
	}
}

static bool is_full(const struct intern *intern, size_t nr_bytes)
{
	return intern->nr_used >= intern->nr_entries / 2 ||
	       intern->arena_used + nr_bytes > intern->arena_bytes;
}

/*
 * *is_new: the caller must define the id in the stream. A value that does not fit even after
 * growing makes the table forget all others first.
 */
const struct intern_entry *intern_find(
	struct intern *intern, const void *bytes, size_t nr_bytes, bool *is_new)
{
	uint64_t hash = hash_bytes(bytes, nr_bytes);
	struct intern_entry *entry;

	*is_new = false;
	if (nr_bytes > intern->arena_bytes) {
		return NULL;
	}
	entry = look_up(intern, hash, bytes, nr_bytes);
	if (entry->id) {
		return entry;
	}
	if (is_full(intern, nr_bytes)) {
		if (!grow(intern)) {
			intern_forget(intern);
			intern->nr_forgotten++;
		}
		entry = look_up(intern, hash, bytes, nr_bytes);
	}
	*entry = (struct intern_entry){.hash = hash,
		.id = ++intern->last_id,
		.nr_bytes = (uint32_t)nr_bytes,
		.at = intern->arena_used};
	memcpy(intern->arena + intern->arena_used, bytes, nr_bytes);
	intern->arena_used += nr_bytes;
	intern->nr_used++;
	*is_new = true;
	return entry;
}
