/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kind is on for the whole process (a flag) or for contexts (a count); `nr` sums both up, so that
 * client_kinds_any() is one load. `work` notes which kinds of work have been on for the whole
 * process: only with all of them does the number of the client's records equal what gprof has
 * missed.
 */
#include "collector/cupti/client_kinds.h"

#include <stdatomic.h>

#include "collector/cupti/cupti_abi.h"

/* Larger kinds, which a later CUPTI may have, share one counter. */
#define MAX_KIND 256u

static struct client_kinds_state {
	_Atomic uint32_t nr; /* kinds that are on, per context */
	_Atomic uint8_t is_on[MAX_KIND];
	_Atomic uint32_t nr_contexts[MAX_KIND + 1];
	_Atomic uint32_t work; /* of the kinds of work, those that have been on for everything */
} state;

enum { WORK_KERNEL = 1, WORK_COPY = 2, WORK_SET = 4, WORK_ALL = 7 };

static uint32_t work_of(uint32_t kind)
{
	switch (kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
		return WORK_KERNEL;
	case CUPTI_KIND_MEMCPY:
		return WORK_COPY;
	case CUPTI_KIND_MEMSET:
		return WORK_SET;
	default:
		return 0;
	}
}

static uint32_t place_of(uint32_t kind)
{
	return kind < MAX_KIND ? kind : MAX_KIND;
}

void client_kinds_add(uint32_t kind, bool is_context)
{
	if (is_context || kind >= MAX_KIND) {
		atomic_fetch_add(&state.nr_contexts[place_of(kind)], 1);
		atomic_fetch_add(&state.nr, 1);
		return;
	}
	atomic_fetch_or(&state.work, work_of(kind));
	if (!atomic_exchange(&state.is_on[kind], 1)) {
		atomic_fetch_add(&state.nr, 1);
	}
}

static bool drop_context(uint32_t kind)
{
	_Atomic uint32_t *nr = &state.nr_contexts[place_of(kind)];
	uint32_t n = atomic_load(nr);

	while (n && !atomic_compare_exchange_weak(nr, &n, n - 1)) {
	}
	return n > 0;
}

void client_kinds_remove(uint32_t kind, bool is_context)
{
	if (is_context || kind >= MAX_KIND ? drop_context(kind)
					   : atomic_exchange(&state.is_on[kind], 0) != 0) {
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
	atomic_store(&state.nr_contexts[MAX_KIND], 0);
	atomic_store(&state.nr, 0);
}

bool client_kinds_take_complete(void)
{
	return atomic_exchange(&state.work, 0) == WORK_ALL;
}
