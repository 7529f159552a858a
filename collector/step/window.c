/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/step/window.h"

#include <stdatomic.h>
#include <string.h>

/* Windows whose late records may still arrive. */
#define NR_WINDOWS 16u

/* Correlation ids wrap, so they are compared by difference. */
struct window {
	_Atomic uint32_t first;
	_Atomic uint32_t last;
	atomic_bool is_open;
};

static struct window_state {
	_Atomic uint32_t nr_windows;
	_Atomic uint32_t correlation;
	struct window windows[NR_WINDOWS];
} state;

void window_init(void)
{
	memset((void *)&state, 0, sizeof(state));
}

void window_open(void)
{
	uint32_t n = atomic_fetch_add(&state.nr_windows, 1);
	struct window *window = &state.windows[n % NR_WINDOWS];

	atomic_store(&window->first, atomic_load(&state.correlation) + 1);
	atomic_store(&window->is_open, true);
}

void window_close(void)
{
	uint32_t n = atomic_load(&state.nr_windows);

	if (n) {
		struct window *window = &state.windows[(n - 1) % NR_WINDOWS];

		atomic_store(&window->last, atomic_load(&state.correlation));
		atomic_store(&window->is_open, false);
	}
}

uint32_t window_newest(void)
{
	return atomic_load(&state.nr_windows);
}

void window_saw_correlation(uint32_t correlation)
{
	if ((int32_t)(correlation -
		      atomic_load_explicit(&state.correlation, memory_order_relaxed)) > 0) {
		atomic_store_explicit(&state.correlation, correlation, memory_order_relaxed);
	}
}

bool window_has(uint32_t correlation)
{
	uint32_t n = atomic_load(&state.nr_windows);

	for (uint32_t i = 0; i < n && i < NR_WINDOWS; i++) {
		struct window *window = &state.windows[(n - 1 - i) % NR_WINDOWS];

		if ((int32_t)(correlation - atomic_load(&window->first)) >= 0 &&
			(atomic_load(&window->is_open) ||
				(int32_t)(correlation - atomic_load(&window->last)) <= 0)) {
			return true;
		}
	}
	return false;
}
