/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/format/intern.h"

#include <errno.h>
#include <string.h>

#include "collector/util/memory.h"

void intern_forget(struct intern *intern)
{
	memset(intern->entries, 0, intern->nr_entries * sizeof(*intern->entries));
	intern->arena_used = 0;
	intern->nr_used = 0;
}

int intern_init(struct intern *intern, uint32_t nr_things, size_t arena_bytes)
{
	if (intern->entries && intern->arena) {
		intern_forget(intern);
		intern->last_id = 0;
		return 0;
	}
	intern->nr_entries = nr_things * 2; /* at most half full */
	intern->arena_bytes = arena_bytes;
	/* A parent may have got only one of them. */
	if (!intern->entries) {
		intern->entries = memory_map(intern->nr_entries * sizeof(*intern->entries));
	}
	if (!intern->arena) {
		intern->arena = memory_map(arena_bytes);
	}
	return intern->entries && intern->arena ? 0 : -ENOMEM;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0xd6e8feb86659fd93u;
	return hash ^ hash >> 32;
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
		a = mix(a, load_word(bytes, 8));
		b = mix(b, load_word(bytes + 8, 8));
		c = mix(c, load_word(bytes + 16, 8));
		d = mix(d, load_word(bytes + 24, 8));
	}
	for (; nr_bytes >= 8; nr_bytes -= 8, bytes += 8) {
		a = mix(a, load_word(bytes, 8));
	}
	a = mix(a, load_word(bytes, nr_bytes));
	return mix(mix(a, b), mix(c, d));
}

const struct intern_entry *intern_find(
	struct intern *intern, const void *bytes, size_t nr_bytes, bool *is_new)
{
	uint64_t hash = hash_bytes(bytes, nr_bytes);
	struct intern_entry *entry;
	uint32_t at;

	*is_new = false;
	if (nr_bytes > intern->arena_bytes) {
		return NULL;
	}
	for (at = (uint32_t)hash;; at++) {
		entry = &intern->entries[at & (intern->nr_entries - 1)];
		if (!entry->id) {
			break;
		}
		if (entry->hash == hash && entry->nr_bytes == nr_bytes &&
			!memcmp(intern->arena + entry->at, bytes, nr_bytes)) {
			return entry;
		}
	}
	if (intern->nr_used >= intern->nr_entries / 2 ||
		intern->arena_used + nr_bytes > intern->arena_bytes) {
		intern_forget(intern);
		entry = &intern->entries[(uint32_t)hash & (intern->nr_entries - 1)];
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
