/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds pipelines from sends and receives: processes that exchange with one or two neighbours each,
 * in a row or a ring. In a row they are stages; the first one is the end that sends before it
 * receives.
 */
#ifndef REPORT_COMM_PIPELINE_H
#define REPORT_COMM_PIPELINE_H

#include "report/comm/nccl_match.h"

enum { PIPELINE_MAX = 2 }; /* neighbours */

struct pipeline_rank {
	uint32_t neighbours[PIPELINE_MAX]; /* processes, as nccl_op.process */
	uint32_t nr_neighbours;		   /* PIPELINE_MAX + 1: more; 0: it is in no pipeline */
	uint32_t nr_stages;		   /* of its row; 0: a ring */
	int32_t stage;			   /* from 0; -1: unknown */
	/* The number of its receives, by step (as in nccl_op.step) and neighbour. */
	uint32_t (*nr_received)[PIPELINE_MAX];
	uint32_t nr_steps;
};

struct pipeline {
	struct pipeline_rank *ranks; /* by process */
	size_t nr;
	size_t nr_meshed; /* processes that exchange with more than two, or with such ones */
};

/* Expects matched operations, see nccl_match.h. */
void pipeline_find(struct pipeline *pipeline, struct nccl_ops *ops);
void pipeline_fini(struct pipeline *pipeline);

#endif
