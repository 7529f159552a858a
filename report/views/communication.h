/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the view `communication`, which the view `arrivals` shows too, and the columns that
 * both have: how NCCL ran the operations.
 */
#ifndef REPORT_VIEWS_COMMUNICATION_H
#define REPORT_VIEWS_COMMUNICATION_H

#include "report/analysis/view.h"
#include "report/comm/nccl_inside.h"
#include "report/comm/nccl_job.h"

extern const struct view_class view_communication;

struct communication_view;

const struct view_input *communication_input(const struct communication_view *view);
const struct nccl_ops *communication_ops(const struct communication_view *view);

/* Puts the times of all operations on one clock, the first time. */
const struct nccl_match *communication_match(struct communication_view *view);

/* The row has a member `inside`, a struct nccl_inside. */
#define HOW_COLUMNS(row)                                                                          \
	TABLE_COLUMN("algorithm", "Algorithm", TABLE_TEXT,                                        \
		.help = "NCCL's algorithm, from its profiler plugin: ring, tree, NVLS ...",       \
		TABLE_SET(row, inside, communication_set_algorithm)),                             \
		TABLE_COLUMN("protocol", "Protocol", TABLE_TEXT,                                  \
			.help = "NCCL's protocol, from its profiler plugin: LL, LL128 or simple", \
			TABLE_SET(row, inside, communication_set_protocol)),                      \
		TABLE_COLUMN("channels", "Channels", TABLE_COUNT,                                 \
			.help = "most channels that NCCL used for an operation",                  \
			TABLE_NONZERO(row, inside.channels))
void communication_set_algorithm(const void *inside, struct table_cell *cell);
void communication_set_protocol(const void *inside, struct table_cell *cell);

/*
 * Hides columns without --wide if no operation has a value: those above, and the waits of the
 * network transfers.
 */
void communication_hide_how(const struct communication_view *view, struct table *table);

#endif
