/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the count of correlation IDs, and resumes it after a pause. Both times the distance to the
 * next ID is unknown, so that ID is accepted however far ahead it is.
 */
#include "collector/ring/correlation_ids.h"

struct correlation_ids correlation_ids;

void correlation_ids_init(void)
{
	atomic_store(&correlation_ids.newest, 0);
	atomic_store(&correlation_ids.is_behind, true);
}

void correlation_ids_missed(void)
{
	atomic_store(&correlation_ids.is_behind, true);
}
