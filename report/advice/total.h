/* SPDX-License-Identifier: Apache-2.0 */
/* The last part of the facts: what can be said once all of a process was seen. */
#ifndef REPORT_ADVICE_TOTAL_H
#define REPORT_ADVICE_TOTAL_H

#include "report/advice/facts.h"
#include "report/analysis/utilization.h"

void advice_total(struct advice_facts *facts, const struct phases *phases,
	const struct overlap *sweep, const struct utilization *usage);

#endif
