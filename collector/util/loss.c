/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One counter for each cause. The drain takes a counter by an exchange and writes its value as a
 * row (stream/loss_rows.c), so nothing is counted twice.
 */
#include "collector/util/loss.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic uint64_t lost[LOSS_NR_CAUSES];

void loss_add(enum loss_cause cause, uint64_t nr_events)
{
	if (nr_events) {
		atomic_fetch_add_explicit(&lost[cause], nr_events, memory_order_relaxed);
	}
}

uint64_t loss_take(enum loss_cause cause)
{
	return atomic_exchange(&lost[cause], 0);
}

void loss_forget(void)
{
	memset((void *)lost, 0, sizeof(lost));
}
