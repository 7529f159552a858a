/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins by two keys: flows go by the ID that their begin and end share, and activities by process,
 * thread and begin, which the end of a flow repeats. Both are hashes of 64 bits.
 */
#include "report/import/kineto/linked.h"

#include <stdlib.h>

#include "report/util/buf.h"
#include "report/util/hash.h"
#include "report/util/sort.h"

struct flow {
	uint64_t where; /* 0: its end is not seen yet */
	uint64_t begin;
	uint32_t thread, name; /* thread 0: its begin is not seen yet */
};

void kineto_linked_fini(struct kineto_linked *linked)
{
	free(linked->activities);
	if (linked->has_flows) {
		idmap_fini(&linked->flows);
	}
	*linked = (struct kineto_linked){0};
}

uint64_t kineto_linked_key(uint64_t pid, uint64_t tid, uint64_t begin)
{
	const uint64_t parts[] = {pid, tid, begin};

	/* Never 0, and beyond the numbers that idmap.h keeps in its array. */
	return hash_fnv_add(HASH_FNV_BEGIN, parts, sizeof(parts)) | 1ull << 63;
}

struct kineto_activity *kineto_linked_add(struct kineto_linked *linked)
{
	linked->activities = array_grow(
		linked->activities, linked->nr, &linked->capacity, sizeof(*linked->activities));
	linked->activities[linked->nr] = (struct kineto_activity){0};
	return &linked->activities[linked->nr++];
}

static struct flow *find_flow(struct kineto_linked *linked, uint64_t id)
{
	if (!linked->has_flows) {
		idmap_init(&linked->flows, sizeof(struct flow));
		linked->has_flows = true;
	}
	return idmap_put(&linked->flows, id);
}

void kineto_linked_from(
	struct kineto_linked *linked, uint64_t id, uint32_t thread, uint32_t name, uint64_t begin)
{
	struct flow *flow = find_flow(linked, id);

	flow->thread = thread;
	flow->name = name;
	flow->begin = begin;
}

void kineto_linked_to(struct kineto_linked *linked, uint64_t id, uint64_t where)
{
	find_flow(linked, id)->where = where;
}

/* ---- joining ---- */

static void join_flows(struct kineto_linked *linked)
{
	struct idmap ends; /* size_t by the key of an activity: the flow that ends there, plus 1 */

	if (!linked->has_flows) {
		return;
	}
	idmap_init(&ends, sizeof(size_t));
	for (size_t i = 0; i < linked->flows.nr; i++) {
		const struct flow *flow = idmap_at(&linked->flows, i);

		if (flow->where && flow->thread) {
			*(size_t *)idmap_put(&ends, flow->where) = i + 1;
		}
	}
	for (size_t i = 0; i < linked->nr; i++) {
		struct kineto_activity *activity = &linked->activities[i];
		const size_t *end = idmap_get(&ends, activity->where);

		if (end) {
			const struct flow *flow = idmap_at(&linked->flows, *end - 1);

			activity->op_thread = flow->thread;
			activity->op_name = flow->name;
			activity->op_begin = flow->begin;
		}
	}
	idmap_fini(&ends);
}

static void leave_out_tasks(struct kineto_linked *linked)
{
	struct idmap collectives;

	idmap_init(&collectives, 1);
	for (size_t i = 0; i < linked->nr; i++) {
		const struct kineto_activity *activity = &linked->activities[i];

		if (activity->is_collective && activity->connection) {
			idmap_put(&collectives, activity->connection);
		}
	}
	for (size_t i = 0; i < linked->nr; i++) {
		struct kineto_activity *activity = &linked->activities[i];

		activity->is_left_out = !activity->is_collective && activity->connection &&
					idmap_get(&collectives, activity->connection);
	}
	idmap_fini(&collectives);
}

/* By thread and place, an outer one before what it contains. */
static int by_nesting(const void *a, const void *b)
{
	const struct kineto_activity *x = a, *y = b;

	return ORDER(COMPARE(x->op_thread, y->op_thread), COMPARE(x->place, y->place),
		COMPARE(x->begin, y->begin), COMPARE(y->end, x->end));
}

/*
 * In this order the first one that another contains follows it directly. A kernel has a name of its
 * own (traces that were loaded from nvprof); the time of an operator has that of its operator.
 */
static void leave_out_outer(struct kineto_linked *linked)
{
	if (linked->nr) {
		qsort(linked->activities, linked->nr, sizeof(*linked->activities), by_nesting);
	}
	for (size_t i = 0; i + 1 < linked->nr; i++) {
		struct kineto_activity *outer = &linked->activities[i];
		const struct kineto_activity *next = outer + 1;

		if (outer->op_thread && outer->name == outer->op_name && !outer->connection &&
			next->op_thread == outer->op_thread && next->place == outer->place &&
			next->end <= outer->end) {
			outer->is_left_out = true;
		}
	}
}

void kineto_linked_join(struct kineto_linked *linked)
{
	join_flows(linked);
	leave_out_tasks(linked);
	leave_out_outer(linked);
}
