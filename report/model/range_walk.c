/* SPDX-License-Identifier: Apache-2.0 */
#include "report/model/range_walk.h"

#include <stdlib.h>
#include <uthash.h>

#include "report/util/buf.h"

/* Of a thread in a domain, the innermost last. */
struct range_pops {
	uint64_t key; /* thread << 32 | domain */
	struct range_mark *marks;
	size_t nr_marks, capacity;
	UT_hash_handle hh;
};

static struct range_pops *find(struct range_walk *walk, uint32_t thread, uint32_t domain)
{
	uint64_t key = (uint64_t)thread << 32 | domain;
	struct range_pops *pops;

	HASH_FIND(hh, walk->pops, &key, sizeof(key), pops);
	if (!pops) {
		pops = mem_zeroed(1, sizeof(*pops));
		pops->key = key;
		HASH_ADD(hh, walk->pops, key, sizeof(pops->key), pops);
	}
	return pops;
}

void range_walk_fini(struct range_walk *walk)
{
	struct range_pops *pops, *next;

	HASH_ITER(hh, walk->pops, pops, next)
	{
		HASH_DEL(walk->pops, pops);
		free(pops->marks);
		free(pops);
	}
}

void range_walk_pop(
	struct range_walk *walk, uint32_t thread, uint32_t domain, const struct range_mark *pop)
{
	struct range_pops *pops = find(walk, thread, domain);

	pops->marks =
		array_grow(pops->marks, pops->nr_marks, &pops->capacity, sizeof(*pops->marks));
	pops->marks[pops->nr_marks++] = *pop;
}

bool range_walk_push(
	struct range_walk *walk, uint32_t thread, uint32_t domain, struct range_mark *pop)
{
	struct range_pops *pops = find(walk, thread, domain);

	if (!pops->nr_marks) {
		return false;
	}
	*pop = pops->marks[--pops->nr_marks];
	return true;
}
