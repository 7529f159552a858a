/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of ranks that do things together with NCCL, on one clock; see report_made.h. */
#ifndef TEST_UNIT_REPORT_RANKS_H
#define TEST_UNIT_REPORT_RANKS_H

#include <stdio.h>
#include <string.h>

#include "report/budget/budget.h"
#include "test/unit/report_made.h"

#define RANKS_KEY 0xc0ffee

/* A rank of a communicator of so many. */
static inline struct made ranks_open(uint32_t rank, uint32_t nr_ranks)
{
	char name[32], number[16];
	struct gprof_row_nccl_comm *comm;
	struct made made;

	snprintf(name, sizeof(name), "rank%u.gprof", rank);
	snprintf(number, sizeof(number), "%u", rank);
	made = made_open(name);
	gen_info(made.gen, "host.boot_id", "one boot");
	gen_info(made.gen, "rank.world", number);
	snprintf(number, sizeof(number), "%u", nr_ranks);
	gen_info(made.gen, "rank.world_size", number);
	comm = gen_row(made.gen, GPROF_TABLE_nccl_comm);
	comm->id = 1;
	comm->key = RANKS_KEY;
	comm->rank = (int32_t)rank;
	comm->nr_ranks = nr_ranks;
	return made;
}

/* Of a group, at that time, beside the others of it; peer: -1 none. */
static inline struct gprof_row_nccl *ranks_call(struct made *made, uint8_t kind, int32_t peer,
	uint32_t sequence, uint64_t bytes, uint64_t time)
{
	struct gprof_row_nccl *row = gen_row(made->gen, GPROF_TABLE_nccl);

	row->begin = time;
	row->dur = time + 10;
	row->thread = 1;
	row->comm = 1;
	row->sequence = sequence;
	row->group = time;
	row->bytes = bytes;
	row->peer = peer;
	row->kind = kind;
	row->correlation_before = made->correlation;
	row->correlation = made->correlation;
	return row;
}

/* The group's last, which launches its kernel; shape: of that. */
static inline void ranks_launch(
	struct made *made, struct gprof_row_nccl *row, uint32_t shape, uint64_t begin, uint64_t end)
{
	uint64_t time = row->begin;

	row->correlation = made->correlation + 1;
	made_launch(made, shape, time, 5, begin, end);
}

static inline struct process *ranks_close(struct made *made)
{
	gen_flush(made->gen);
	gen_close(made->gen, "exit");
	return streams_process(made->path);
}

/* A rank's time of a part, in the view budget. */
static inline uint64_t ranks_part(const struct table *table, uint64_t rank, unsigned int part)
{
	for (size_t row = 0; row < table->nr_rows; row++) {
		if (tables_number(table, row, "rank") == rank &&
			strcmp(tables_cell(table, row, "part")->text,
				budget_part_texts[part].title) == 0) {
			return tables_number(table, row, "total_ns");
		}
	}
	return 0;
}

#endif
