/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives of a trace: PyTorch gives the kernels of its NCCL backend what was asked for
 * ("Collective name", "In msg nelems" ...). Process groups become communicators: ranks have the
 * same name and list of ranks for the same group.
 */
#ifndef REPORT_KINETO_NCCL_H
#define REPORT_KINETO_NCCL_H

#include "report/kineto/event.h"
#include "report/kineto/rows.h"

struct kineto_group;

/* Zeroed is empty. */
struct kineto_nccl {
	struct kineto_group *groups; /* by key */
	uint32_t nr_groups;
};

void kineto_nccl_fini(struct kineto_nccl *nccl);

/* enum gprof_nccl; 0: it moves nothing, or is not known. */
uint8_t kineto_nccl_kind(struct kineto_json *json, const struct kineto_event *event);

/* Fills in the row of a kernel whose kind it has already. */
void kineto_nccl_fill(struct kineto_nccl *nccl, struct kineto_json *json,
	const struct kineto_event *event, struct kineto_row *row);

/*
 * Writes the communicators, and a fact nccl.group.ID for each that has a name. rank: the one of
 * this trace, NULL if it does not say.
 */
void kineto_nccl_write(struct kineto_nccl *nccl, const uint64_t *rank, struct kineto_out *out);

#endif
