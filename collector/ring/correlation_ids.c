/* SPDX-License-Identifier: Apache-2.0 */
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
