/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from the IDs of a stream to elements of one size. IDs mostly count up; then a
 * look-up is one load. Other ids go into a hash table, so memory never depends on the size of an
 * id.
 */
#ifndef REPORT_UTIL_IDMAP_H
#define REPORT_UTIL_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_far;

struct idmap {
	size_t element_bytes;
	char *elements; /* in order of arrival */
	size_t nr, capacity;
	uint32_t *near; /* id -> index in elements + 1, 0 = unknown */
	size_t nr_near;
	struct idmap_far *far;
};

void idmap_init(struct idmap *map, size_t element_bytes);
void idmap_fini(struct idmap *map);

/* Used by the inline functions: the index of an id in the hash table. */
int64_t idmap_find_far(const struct idmap *map, uint64_t id);

/* The index of the id's element in `elements`, -1 if there is none. */
static inline int64_t idmap_find(const struct idmap *map, uint64_t id)
{
	if (id < map->nr_near && map->near[id]) {
		return (int64_t)map->near[id] - 1;
	}
	return map->far ? idmap_find_far(map, id) : -1;
}

/* The element at an index below nr. */
static inline void *idmap_at(const struct idmap *map, size_t place)
{
	return map->elements + place * map->element_bytes;
}

/* The element with that id, NULL if there is none. Valid until the next idmap_put. */
static inline void *idmap_get(const struct idmap *map, uint64_t id)
{
	int64_t place = idmap_find(map, id);

	return place < 0 ? NULL : idmap_at(map, (size_t)place);
}

/* Used by idmap_put: adds an element of zeros for an id that has none. */
void *idmap_add(struct idmap *map, uint64_t id);

/* The element with that id, created as zeros if there is none. */
static inline void *idmap_put(struct idmap *map, uint64_t id)
{
	int64_t place = idmap_find(map, id);

	return place < 0 ? idmap_add(map, id) : idmap_at(map, (size_t)place);
}

#endif
