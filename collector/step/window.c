/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/step/window.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/format/correlation.h"
#include "collector/ring/correlation_ids.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"

/* So many between two flushes. Pages are touched as they are used. */
#define NR_WINDOWS 131072u

struct window {
	_Atomic int64_t first;
	_Atomic int64_t last; /* INT64_MAX: it is open */
};

/* Those from nr_retired to nr_windows are there, and in the order of their ids. */
static struct window_state {
	_Atomic uint64_t nr_opened;
	_Atomic uint64_t nr_windows;
	_Atomic uint64_t nr_retired;
	_Atomic uint64_t nr_closed;
	uint64_t nr_closed_before;	/* the last flush */
	struct window *_Atomic windows; /* number n is at n % NR_WINDOWS; NULL: none was needed */
} state;

static struct window *window_at(uint64_t index)
{
	return &atomic_load(&state.windows)[index % NR_WINDOWS];
}

void window_init(void)
{
	struct window *windows = atomic_load(&state.windows);

	if (windows) {
		munmap(windows, NR_WINDOWS * sizeof(*windows));
	}
	memset((void *)&state, 0, sizeof(state));
	correlation_ids_init();
}

/* The place of a new window, NULL if there is none. */
static struct window *next_window(uint64_t index)
{
	if (!atomic_load(&state.windows)) {
		atomic_store(&state.windows, memory_map(NR_WINDOWS * sizeof(struct window)));
	}
	return atomic_load(&state.windows) && index - atomic_load(&state.nr_retired) < NR_WINDOWS
		       ? window_at(index)
		       : NULL;
}

static int64_t newest_id(void)
{
	return (int64_t)correlation_ids_newest();
}

void window_open(void)
{
	uint64_t index = atomic_load(&state.nr_windows);
	struct window *window = next_window(index);

	atomic_fetch_add(&state.nr_opened, 1);
	if (window) {
		atomic_store(&window->first, newest_id() + 1);
		atomic_store(&window->last, INT64_MAX);
		atomic_store(&state.nr_windows, index + 1);
	} else if (index) {
		/* No memory: rather records of what was between two windows than none of this. */
		atomic_store(&window_at(index - 1)->last, INT64_MAX);
	}
}

void window_close(void)
{
	uint64_t n = atomic_load(&state.nr_windows);

	if (n) {
		atomic_store(&window_at(n - 1)->last, newest_id());
		atomic_store(&state.nr_closed, n);
	}
}

uint64_t window_newest(void)
{
	return atomic_load(&state.nr_opened);
}

/* The last window that begins with that id or before it; `end` if there is none. */
static uint64_t find(int64_t id, uint64_t begin, uint64_t end)
{
	uint64_t low = begin, high = end;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (atomic_load(&window_at(middle)->first) <= id) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low == begin ? end : low - 1;
}

bool window_has(uint32_t correlation)
{
	int64_t id = correlation_nearest(correlation_ids_newest(), correlation);
	uint64_t begin = atomic_load(&state.nr_retired), end = atomic_load(&state.nr_windows);
	uint64_t index = find(id, begin, end);

	if (!end) {
		/* There was no memory for any window: keep all records rather than none. */
		return atomic_load(&state.nr_opened) > 0;
	}
	if (index == end) {
		loss_add(LOSS_LATE, begin > 0);
		return false;
	}
	return id <= atomic_load(&window_at(index)->last);
}

void window_flush_begins(void)
{
	uint64_t n = atomic_load(&state.nr_windows), until = state.nr_closed_before;

	until = until + WINDOW_NR_KEPT < n ? until : n > WINDOW_NR_KEPT ? n - WINDOW_NR_KEPT : 0;
	if (until > atomic_load(&state.nr_retired)) {
		atomic_store(&state.nr_retired, until);
	}
	state.nr_closed_before = atomic_load(&state.nr_closed);
}
