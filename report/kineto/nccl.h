/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives of a trace. PyTorch records arguments with the kernels of its NCCL backend
 * ("Collective name", "In msg nelems" ...). Process groups become communicators: ranks of the same
 * group have the same name and list of ranks.
 */
#ifndef REPORT_KINETO_NCCL_H
#define REPORT_KINETO_NCCL_H

#include "report/kineto/event.h"
#include "report/kineto/rows.h"

struct kineto_group;

/* Zero-initialized. */
struct kineto_nccl {
	struct kineto_group *groups; /* by key */
	uint32_t nr_groups;
};

void kineto_nccl_fini(struct kineto_nccl *nccl);

/* enum gprof_nccl; 0: it moves nothing, or is unknown. */
uint8_t kineto_nccl_kind(struct kineto_json *json, const struct kineto_event *event);

/* Fills in the row of a kernel whose kind is set. */
void kineto_nccl_fill(struct kineto_nccl *nccl, struct kineto_json *json,
	const struct kineto_event *event, struct kineto_row *row);

/*
 * Writes the communicators, and fact nccl.group.ID for each that has a name. rank: that of the
 * trace, NULL if unknown.
 */
void kineto_nccl_write(struct kineto_nccl *nccl, const uint64_t *rank, struct kineto_out *out);

#endif
