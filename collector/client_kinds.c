/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/client_kinds.h"

#include <stdatomic.h>

#define MAX_KIND 256u

static struct client_kinds_state {
	_Atomic uint32_t nr; /* that are on, each context apart */
	_Atomic uint8_t is_on[MAX_KIND];
	_Atomic uint32_t nr_contexts[MAX_KIND];
} state;

void client_kinds_add(uint32_t kind, bool is_context)
{
	if (kind >= MAX_KIND) {
		return;
	}
	if (is_context) {
		atomic_fetch_add(&state.nr_contexts[kind], 1);
		atomic_fetch_add(&state.nr, 1);
	} else if (!atomic_exchange(&state.is_on[kind], 1)) {
		atomic_fetch_add(&state.nr, 1);
	}
}

static bool drop_context(uint32_t kind)
{
	uint32_t n = atomic_load(&state.nr_contexts[kind]);

	while (n && !atomic_compare_exchange_weak(&state.nr_contexts[kind], &n, n - 1)) {
	}
	return n > 0;
}

void client_kinds_remove(uint32_t kind, bool is_context)
{
	if (kind < MAX_KIND &&
		(is_context ? drop_context(kind) : atomic_exchange(&state.is_on[kind], 0) != 0)) {
		atomic_fetch_sub(&state.nr, 1);
	}
}

bool client_kinds_any(void)
{
	return atomic_load(&state.nr) != 0;
}

void client_kinds_clear(void)
{
	for (uint32_t kind = 0; kind < MAX_KIND; kind++) {
		atomic_store(&state.is_on[kind], 0);
		atomic_store(&state.nr_contexts[kind], 0);
	}
	atomic_store(&state.nr, 0);
}
