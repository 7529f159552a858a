/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps IDs of a stream to elements, for all dictionaries of model.c and for many views. IDs count
 * from 1 in most streams, so an array by ID answers with one load. A damaged stream may have any
 * ID: the array may be only so much longer than the number of elements, and IDs beyond go into a
 * hash.
 *
 *   id -> near[id] = index + 1 -> elements[index]         elements in the order of arrival
 *   id -> far (hash)      index -> elements[index]
 */
#include "report/util/idmap.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/buf.h"
#include "report/util/hash.h"

/* `near` may be this many times longer than the number of elements. */
#define NEAR_SLACK  4u
#define NEAR_ALWAYS 65536u

struct idmap_far {
	uint64_t id;
	uint32_t place;
	UT_hash_handle hh;
};

void idmap_init(struct idmap *map, size_t element_bytes)
{
	*map = (struct idmap){.element_bytes = element_bytes};
}

void idmap_fini(struct idmap *map)
{
	hash_free(map->far);
	free(map->elements);
	free(map->near);
	*map = (struct idmap){0};
}

int64_t idmap_find_far(const struct idmap *map, uint64_t id)
{
	struct idmap_far *far;

	HASH_FIND(hh, map->far, &id, sizeof(id), far);
	return far ? (int64_t)far->place : -1;
}

static void remember_far(struct idmap *map, uint64_t id)
{
	struct idmap_far *far = mem_zeroed(1, sizeof(*far));

	far->id = id;
	far->place = (uint32_t)map->nr;
	HASH_ADD(hh, map->far, id, sizeof(far->id), far);
}

static void remember_near(struct idmap *map, uint64_t id)
{
	if (id >= map->nr_near) {
		size_t nr_near = map->nr_near ? map->nr_near : 64;
		uint32_t *near;

		while (nr_near <= id) {
			nr_near *= 2;
		}
		/* Fresh memory is zero already: most of its pages may never be touched. */
		near = mem_zeroed(nr_near, sizeof(*near));
		if (map->near) {
			memcpy(near, map->near, map->nr_near * sizeof(*near));
		}
		free(map->near);
		map->near = near;
		map->nr_near = nr_near;
	}
	map->near[id] = (uint32_t)map->nr + 1;
}

void *idmap_add(struct idmap *map, uint64_t id)
{
	map->elements = array_grow(map->elements, map->nr, &map->capacity, map->element_bytes);
	if (id < NEAR_ALWAYS + NEAR_SLACK * map->nr) {
		remember_near(map, id);
	} else {
		remember_far(map, id);
	}
	memset(idmap_at(map, map->nr), 0, map->element_bytes);
	return idmap_at(map, map->nr++);
}
