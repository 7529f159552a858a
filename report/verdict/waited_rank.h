/* SPDX-License-Identifier: Apache-2.0 */
/* Names the rank that the others wait for. */
#ifndef REPORT_VERDICT_WAITED_RANK_H
#define REPORT_VERDICT_WAITED_RANK_H

#include "report/analysis/headline.h"
#include "report/comm/rank_waits.h"

/*
 * The rank that more than half of all waiting in the steps that count is for; -1: none is. The
 * waits are of the processes of the headline, in their order.
 */
int64_t waited_rank(const struct headline *headline, const struct rank_waits *waits);

#endif
