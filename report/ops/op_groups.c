/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ops/op_groups.h"

#include <stdlib.h>

#include "report/util/buf.h"

_Static_assert(GPROF_NR_TABLES <= 64, "host_tables");

/* So many checkpoints before its call work may be written, with one to spare. */
#define SETS_AHEAD 2u

#define BIT(table) ((uint64_t)1 << (table))

static const uint64_t call_tables = BIT(GPROF_TABLE_api) | BIT(GPROF_TABLE_api_launch) |
				    BIT(GPROF_TABLE_api_copy) | BIT(GPROF_TABLE_api_set);
static const uint64_t work_tables = BIT(GPROF_TABLE_kernel) | BIT(GPROF_TABLE_memcpy) |
				    BIT(GPROF_TABLE_memset) | BIT(GPROF_TABLE_graph) |
				    BIT(GPROF_TABLE_untimed);

static unsigned int correlation_of(unsigned int table)
{
	if (call_tables >> table & 1) {
		return COL_api_correlation;
	}
	return table == GPROF_TABLE_untimed ? COL_untimed_correlation : COL_kernel_correlation;
}

/* While they are found. */
struct find {
	struct op_groups *groups;
	struct process *process;
	uint64_t host_tables;
	uint64_t most_rows; /* of a group */
	uint64_t nr_rows;   /* of the last group */
	size_t nr_cut;	    /* groups that no checkpoint closed */
	size_t *set_first;  /* by group: the first of those up to the same checkpoint */
	size_t set_capacity;
};

static struct op_group *last_of(const struct find *find)
{
	return &find->groups->items[find->groups->nr - 1];
}

/* is_set: the first one behind a checkpoint. */
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

static void take_block(struct find *find, size_t i)
{
	const struct stream_block *block = &find->process->stream->blocks[i];
	unsigned int table = stream_block_table(find->process->stream, i);
	bool is_host = find->host_tables >> table & 1;
	struct op_group *group = last_of(find);

	if (is_host || (work_tables >> table & 1)) {
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

/* ---- which work a group needs ---- */

struct ids {
	uint32_t first, last; /* the lowest and the highest there are */
};

/* The correlation ids in a group's rows of these tables; rows without one do not count. */
static struct ids ids_of(const struct find *find, const struct op_group *group, uint64_t tables)
{
	struct stream *stream = find->process->stream;
	struct ids ids = {.first = UINT32_MAX};

	for (size_t i = group->first; i < group->end; i++) {
		unsigned int table = stream_block_table(stream, i);
		unsigned int column = correlation_of(table);
		struct batch batch;

		if (!(tables >> table & 1) || stream_load(stream, i, COL_BIT(column), 0, &batch)) {
			continue;
		}
		for (uint32_t row = 0; row < batch.nr_rows; row++) {
			uint32_t id = (uint32_t)batch.col[column][row];

			ids.first = id && id < ids.first ? id : ids.first;
			ids.last = id > ids.last ? id : ids.last;
		}
	}
	return ids;
}

/* The first group of the checkpoints before its own that may have its work. */
static size_t first_ahead(const struct find *find, size_t group)
{
	size_t first = find->set_first[group];

	for (size_t i = 0; i < SETS_AHEAD && first; i++) {
		first = find->set_first[first - 1];
	}
	return first;
}

static void find_work(struct find *find)
{
	struct op_groups *groups = find->groups;
	uint32_t *last_ids = mem_zeroed(groups->nr, sizeof(*last_ids));

	for (size_t i = 0; i < groups->nr; i++) {
		struct op_group *group = &groups->items[i];
		size_t ahead = i > SETS_AHEAD ? i - SETS_AHEAD : 0;

		group->work_from = first_ahead(find, i);
		if (find->nr_cut) {
			last_ids[i] = ids_of(find, group, work_tables).last;
		}
		if (group->work_from < ahead) { /* some of these are cut */
			uint32_t first = ids_of(find, group, call_tables).first;

			while (group->work_from < ahead && last_ids[group->work_from] < first) {
				group->work_from++;
			}
		}
	}
	free(last_ids);
}

void op_groups_find(
	struct op_groups *groups, struct process *process, uint64_t host_tables, uint64_t most_rows)
{
	struct find find = {.groups = groups,
		.process = process,
		.host_tables = host_tables,
		.most_rows = most_rows};

	add_group(&find, 0, 0, true);
	for (size_t i = 0; i < process->stream->nr_blocks; i++) {
		take_block(&find, i);
	}
	find_work(&find);
	free(find.set_first);
}

void op_groups_fini(struct op_groups *groups)
{
	free(groups->items);
	*groups = (struct op_groups){0};
}
