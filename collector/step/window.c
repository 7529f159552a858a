/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each window holds the first and the last correlation ID of its calls. IDs grow, so a binary
 * search finds the window of a record. A window is retired at the second flush that begins after it
 * was closed, by which time its records have come, but not while it is among the last
 * WINDOW_NR_KEPT.
 */
#include "collector/step/window.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/format/correlation.h"
#include "collector/ring/correlation_ids.h"
#include "collector/util/loss.h"
#include "collector/util/memory.h"

/* A block is a few pages. All blocks together hold the windows between two flushes. */
#define BLOCK_WINDOWS 1024u
#define NR_BLOCKS     256u

struct window {
	_Atomic int64_t first;
	_Atomic int64_t last;
	atomic_bool is_open;
};

/* Those from nr_retired to nr_windows are there, and in the order of their ids. */
static struct window_state {
	_Atomic uint64_t nr_opened;
	_Atomic uint64_t nr_windows;
	_Atomic uint64_t nr_retired;
	_Atomic uint64_t nr_closed;
	uint64_t nr_closed_before; /* the last flush */
	struct window *_Atomic blocks[NR_BLOCKS];
} state;

static struct window *_Atomic *block_of(uint64_t index)
{
	return &state.blocks[index / BLOCK_WINDOWS % NR_BLOCKS];
}

static struct window *window_at(uint64_t index)
{
	return &atomic_load(block_of(index))[index % BLOCK_WINDOWS];
}

static void free_block(struct window *_Atomic *block)
{
	struct window *windows = atomic_exchange(block, NULL);

	if (windows) {
		munmap(windows, BLOCK_WINDOWS * sizeof(*windows));
	}
}

void window_init(void)
{
	for (uint32_t i = 0; i < NR_BLOCKS; i++) {
		free_block(&state.blocks[i]);
	}
	memset((void *)&state, 0, sizeof(state));
	correlation_ids_init();
}

/* Returns the entry for a new window, NULL if there is none. */
static struct window *next_window(uint64_t index)
{
	struct window *_Atomic *block = block_of(index);

	if (index - atomic_load(&state.nr_retired) >= (NR_BLOCKS - 1) * BLOCK_WINDOWS) {
		return NULL;
	}
	if (!atomic_load(block)) {
		atomic_store(block, memory_map(BLOCK_WINDOWS * sizeof(struct window)));
	}
	return atomic_load(block) ? window_at(index) : NULL;
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
		atomic_store(&window->is_open, true);
		atomic_store(&state.nr_windows, index + 1);
	} else if (index) {
		/* No memory: rather records of what was between two windows than none of this. */
		atomic_store(&window_at(index - 1)->is_open, true);
	}
}

void window_close(void)
{
	uint64_t n = atomic_load(&state.nr_windows);

	if (n) {
		struct window *window = window_at(n - 1);

		atomic_store(&window->last, newest_id());
		atomic_store(&window->is_open, false);
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
	const struct window *window;

	if (!end) {
		/* There was no memory for any window: keep all records rather than none. */
		return atomic_load(&state.nr_opened) > 0;
	}
	if (index == end) {
		loss_add(LOSS_LATE, begin > 0);
		return false;
	}
	window = window_at(index);
	return atomic_load(&window->is_open) || id <= atomic_load(&window->last);
}

void window_flush_begins(void)
{
	uint64_t n = atomic_load(&state.nr_windows), until = state.nr_closed_before;
	uint64_t retired = atomic_load(&state.nr_retired);

	until = until + WINDOW_NR_KEPT < n ? until : n > WINDOW_NR_KEPT ? n - WINDOW_NR_KEPT : 0;
	for (; retired < until; retired++) {
		/*
		 * Freed before nr_retired moves on, since from then on a new window may use the
		 * block.
		 */
		if (retired % BLOCK_WINDOWS == BLOCK_WINDOWS - 1) {
			free_block(block_of(retired));
		}
		atomic_store(&state.nr_retired, retired + 1);
	}
	state.nr_closed_before = atomic_load(&state.nr_closed);
}
