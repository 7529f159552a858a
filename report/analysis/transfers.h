/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NCCL's operations moved, as network.h compares it: each collective whose ranks are all here
 * is a move of its communicator, each send with its receive one of two ranks.
 */
#ifndef REPORT_ANALYSIS_TRANSFERS_H
#define REPORT_ANALYSIS_TRANSFERS_H

#include "report/comm/slow_links.h"
#include "report/comm/nccl_ops.h"
#include "report/analysis/overlap.h"

/*
 * The moves, to be freed, of steps that are chosen and have an end. The operations are matched
 * (nccl_match.h), `processes` are theirs, and the overlap has been over all of these.
 */
struct transfer *transfers_make(struct nccl_ops *ops, struct process *const *processes,
	size_t nr_processes, const struct overlap *overlap, size_t *nr_moves);

#endif
