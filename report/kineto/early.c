/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/early.h"

#include <stdlib.h>

#include "report/util/buf.h"

void kineto_early_init(struct kineto_early *early)
{
	*early = (struct kineto_early){.ids = mem_zeroed(KINETO_EARLY_IDS, sizeof(*early->ids))};
}

void kineto_early_fini(struct kineto_early *early)
{
	free(early->ids);
}

/* Ids count up, so the last ones have a place each. */
static struct kineto_early_id *find(struct kineto_early *early, uint32_t id)
{
	struct kineto_early_id *found = &early->ids[id % KINETO_EARLY_IDS];

	if (found->id != id) {
		*found = (struct kineto_early_id){.id = id, .call = UINT64_MAX, .work = UINT64_MAX};
	}
	return found;
}

static void count(struct kineto_early *early, struct kineto_early_id *found)
{
	if (!found->is_counted && found->call != UINT64_MAX && found->work < found->call) {
		found->is_counted = true;
		early->nr++;
	}
}

void kineto_early_call(struct kineto_early *early, uint32_t id, uint64_t begin)
{
	struct kineto_early_id *found = id ? find(early, id) : NULL;

	if (found) {
		found->call = begin < found->call ? begin : found->call;
		count(early, found);
	}
}

void kineto_early_work(struct kineto_early *early, uint32_t id, uint64_t begin)
{
	struct kineto_early_id *found = id ? find(early, id) : NULL;

	if (found) {
		found->work = begin < found->work ? begin : found->work;
		count(early, found);
	}
}

uint64_t kineto_early_find(const struct kineto_early *early, uint32_t id)
{
	const struct kineto_early_id *found = &early->ids[id % KINETO_EARLY_IDS];

	return id && found->id == id ? found->call : UINT64_MAX;
}
