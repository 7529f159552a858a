/* SPDX-License-Identifier: Apache-2.0 */
#include "report/op_groups.h"

#include <stdlib.h>

#include "report/buf.h"

_Static_assert(GPROF_NR_TABLES <= 64, "host_tables");

static struct op_group *add_group(struct op_groups *groups, size_t first, uint64_t last_tick)
{
	struct op_group *group;

	groups->items =
		array_grow(groups->items, groups->nr, &groups->capacity, sizeof(*groups->items));
	group = &groups->items[groups->nr++];
	*group = (struct op_group){.first = first, .end = first, .last_tick = last_tick};
	return group;
}

void op_groups_find(struct op_groups *groups, const struct stream_in *stream, uint64_t host_tables)
{
	struct op_group *group = add_group(groups, 0, 0);

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_in_block_table(stream, i);

		group->end = i + 1;
		if ((host_tables >> table & 1) && stream->blocks[i].time_max > group->last_tick) {
			group->last_tick = stream->blocks[i].time_max;
		}
		if (table == GPROF_TABLE_checkpoint) {
			group = add_group(groups, i + 1, group->last_tick);
		}
	}
}

void op_groups_fini(struct op_groups *groups)
{
	free(groups->items);
	*groups = (struct op_groups){0};
}
