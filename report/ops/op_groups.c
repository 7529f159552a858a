/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the blocks of a stream into groups for op_load.c, and finds for each group the first one
 * that may have activities of its calls. Checkpoints close groups; a group that is too large for
 * memory is split. The directory of blocks suffices for this, unless groups are split: then the
 * correlation IDs of calls and activities are read, too.
 */
#include "report/ops/op_load.h"

#include <stdlib.h>

#include "report/util/buf.h"

/* By how many checkpoints an activity may precede its call, and one to spare. */
#define SETS_AHEAD 2u

/* Calls that may launch something. */
static table_set call_tables(void)
{
	return table_bit(GPROF_TABLE_api) | table_bit(GPROF_TABLE_api_launch) |
	       table_bit(GPROF_TABLE_api_copy) | table_bit(GPROF_TABLE_api_set);
}

static unsigned int correlation_of(unsigned int table)
{
	if (call_tables() >> table & 1) {
		return COL_api_correlation;
	}
	return table == GPROF_TABLE_untimed ? COL_untimed_correlation : COL_kernel_correlation;
}

/* The state of op_groups_find. */
struct find {
	struct op_groups *groups;
	struct process *process;
	table_set host_tables;
	uint64_t most_rows; /* limit of rows in a group */
	uint64_t nr_rows;   /* rows in the last group */
	size_t nr_cut;	    /* groups not closed by a checkpoint */
	size_t *set_first;  /* by group: the first one up to the same checkpoint */
	size_t set_capacity;
};

static struct op_group *last_of(const struct find *find)
{
	return &find->groups->items[find->groups->nr - 1];
}

/* is_set: the first group after a checkpoint. */
static void add_group(struct find *find, size_t first, uint64_t last_tick, bool is_set)
{
	struct op_groups *groups = find->groups;

	groups->items =
		array_grow(groups->items, groups->nr, &groups->capacity, sizeof(*groups->items));
	find->set_first = array_grow(
		find->set_first, groups->nr, &find->set_capacity, sizeof(*find->set_first));
	find->set_first[groups->nr] = is_set ? groups->nr : find->set_first[groups->nr - 1];
	groups->items[groups->nr++] =
		(struct op_group){.first = first, .end = first, .last_tick = last_tick};
	find->nr_rows = 0;
}

/* Only rows that stay in memory count for the limit; other tables pass. */
static void add_block(struct find *find, size_t i)
{
	const struct stream_block *block = &find->process->stream->blocks[i];
	unsigned int table = stream_block_table(find->process->stream, i);
	bool is_host = find->host_tables >> table & 1;
	struct op_group *group = last_of(find);

	if (is_host || gprof_table_is(table, GPROF_IS_ACTIVITY | GPROF_IS_UNTIMED)) {
		if (find->nr_rows && find->nr_rows + block->nr_rows > find->most_rows) {
			add_group(find, i, group->last_tick, false);
			find->nr_cut++;
			group = last_of(find);
		}
		find->nr_rows += block->nr_rows;
	}
	group->end = i + 1;
	if (is_host && block->time_max > group->last_tick) {
		group->last_tick = block->time_max;
	}
	if (table == GPROF_TABLE_checkpoint) {
		add_group(find, i + 1, group->last_tick, true);
	}
}

/* ---- activities of a group ---- */

struct ids {
	uint64_t first, last; /* the lowest and the highest ID */
};

/* The correlation IDs in a group's rows of these tables, ignoring 0. */
static struct ids ids_of(const struct find *find, const struct op_group *group, table_set tables)
{
	struct stream *stream = find->process->stream;
	struct ids ids = {.first = UINT64_MAX};

	for (size_t i = group->first; i < group->end; i++) {
		unsigned int table = stream_block_table(stream, i);
		unsigned int column = correlation_of(table);
		struct batch batch;

		if (!(tables >> table & 1) || stream_load(stream, i, COL_BIT(column), 0, &batch)) {
			continue;
		}
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			uint64_t id = batch.col[column][row];

			ids.first = id && id < ids.first ? id : ids.first;
			ids.last = id > ids.last ? id : ids.last;
		}
	}
	return ids;
}

/* The first group, some checkpoints earlier, that may have activities of this one. */
static size_t first_ahead(const struct find *find, size_t group)
{
	size_t first = find->set_first[group];

	for (size_t i = 0; i < SETS_AHEAD && first; i++) {
		first = find->set_first[first - 1];
	}
	return first;
}

/*
 * Without splits, the last two checkpoints bound how far ahead activities may be. Among split
 * groups the rising correlation IDs decide: a group whose highest ID is below the first of the
 * calls has none of their activities.
 */
static void find_activities(struct find *find)
{
	struct op_groups *groups = find->groups;
	uint64_t *last_ids = mem_zeroed(groups->nr, sizeof(*last_ids));

	for (size_t i = 0; i < groups->nr; i++) {
		struct op_group *group = &groups->items[i];
		size_t ahead = i > SETS_AHEAD ? i - SETS_AHEAD : 0;

		group->activities_from = first_ahead(find, i);
		if (find->nr_cut) {
			last_ids[i] = ids_of(
				find, group, table_set_with(GPROF_IS_ACTIVITY | GPROF_IS_UNTIMED))
					      .last;
		}
		if (group->activities_from < ahead) { /* some of these are split */
			uint64_t first = ids_of(find, group, call_tables()).first;

			while (group->activities_from < ahead &&
				last_ids[group->activities_from] < first) {
				group->activities_from++;
			}
		}
	}
	free(last_ids);
}

void op_groups_find(struct op_groups *groups, struct process *process, table_set host_tables,
	uint64_t most_rows)
{
	struct find find = {.groups = groups,
		.process = process,
		.host_tables = host_tables,
		.most_rows = most_rows};

	add_group(&find, 0, 0, true);
	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		add_block(&find, i);
	}
	find_activities(&find);
	free(find.set_first);
}

void op_groups_fini(struct op_groups *groups)
{
	free(groups->items);
	*groups = (struct op_groups){0};
}
