/* SPDX-License-Identifier: Apache-2.0 */
/* Converts events into rows, and counts those that are not kept. */
#ifndef REPORT_IMPORT_KINETO_CONVERT_H
#define REPORT_IMPORT_KINETO_CONVERT_H

#include <stdbool.h>

#include "report/import/kineto/event.h"
#include "report/import/out.h"
#include "report/import/step_names.h"
#include "report/import/kineto/foreign.h"
#include "report/import/kineto/linked.h"
#include "report/import/kineto/pairs.h"
#include "report/import/kineto/rows.h"
#include "report/import/kineto/threads.h"
#include "report/util/idmap.h"

/*
 * Collectives of a trace. PyTorch records arguments with the kernels of its NCCL backend
 * ("Collective name", "In msg nelems" ...). Process groups become communicators: ranks of the same
 * group have the same name and list of ranks.
 */

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
void kineto_nccl_write(struct kineto_nccl *nccl, const uint64_t *rank, struct import_out *out);

/* ---- all events ---- */

/* Events of a kind ("cat") that is not read. */
struct kineto_unread {
	char name[40]; /* cut, and without characters that no kind has */
	uint64_t nr_events;
};

/* Other profilers with events of the same format, and other meanings. */
enum kineto_dialect {
	KINETO_USUAL,
	KINETO_OLD_TORCH, /* PyTorch's profiler before Kineto */
	KINETO_ASCEND,	  /* trace_view.json of torch_npu's profiler */
};

#define KINETO_KINDS_MAX 16u /* all others are counted with the last one */

struct kineto_convert {
	struct import_out *out;
	struct kineto_json json;
	struct kineto_threads threads;
	struct kineto_rows rows;
	struct kineto_shapes shapes;
	struct kineto_python python;
	struct kineto_pairs pairs;
	struct kineto_nccl nccl;
	struct kineto_foreign foreign;
	enum kineto_dialect dialect;
	struct kineto_linked linked;
	uint64_t pair_order;		/* of the begin of the current pair, 0: none */
	struct import_step_names steps; /* ranges that may be some */
	uint8_t *call_tables;		/* by string id; 0: not known yet */
	size_t nr_call_tables;
	uint64_t first_ns, last_ns;		    /* of what was kept; first > last: nothing */
	uint64_t nr_flows, nr_gpu_ranges, nr_other; /* no view uses them */
	struct kineto_unread kinds[KINETO_KINDS_MAX];
	size_t nr_kinds;
	uint64_t nr_pairs;	/* unpaired begins and ends of kinds that are kept */
	uint64_t nr_incomplete; /* without begin, duration or name */
};

void kineto_convert_init(struct kineto_convert *convert, struct import_out *out);
void kineto_convert_fini(struct kineto_convert *convert);

/* Converts the event in convert->json. False if it is no event. */
bool kineto_convert_event(struct kineto_convert *convert);

/* Are flows needed? Else they are most of a trace, and need not be parsed. */
static inline bool kineto_convert_wants_flows(const struct kineto_convert *convert)
{
	return convert->dialect != KINETO_USUAL;
}

/* After the last event: adds the activities that only flows relate to operators. */
void kineto_convert_linked(struct kineto_convert *convert);

#endif
