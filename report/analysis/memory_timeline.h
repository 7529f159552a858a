/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a device (or of a kind) of a process over time: the peak, what is left at the end,
 * and a curve that fits a terminal. From the totals that allocators report after each event.
 */
#ifndef REPORT_ANALYSIS_MEMORY_TIMELINE_H
#define REPORT_ANALYSIS_MEMORY_TIMELINE_H

#include "report/util/buf.h"

#define MEMORY_TIMELINE_POINTS 64u

struct memory_timeline {
	uint64_t nr_allocs, nr_frees;
	uint64_t nr_untold; /* allocations without a total from the allocator */
	uint64_t peak_bytes, peak_tick;
	uint64_t peak_reserved_bytes; /* 0: not known */
	uint64_t reserved_at_peak_bytes;
	uint64_t last_tick, last_bytes;
	uint64_t first, end; /* ticks that the curve is for: the process's events */
	uint64_t curve[MEMORY_TIMELINE_POINTS]; /* the most in each part of the time */
	bool is_set[MEMORY_TIMELINE_POINTS];
};

void memory_timeline_init(struct memory_timeline *pool, uint64_t first, uint64_t end);

/*
 * An event, after which so much is in use and so much taken from the driver. Any order. A total
 * below what was just given is none: some allocators say 0.
 */
void memory_timeline_take(struct memory_timeline *pool, uint64_t tick, int64_t bytes,
	uint64_t in_use, uint64_t reserved);

/* In which of nr_parts equal parts of its time a moment lies, from 0. */
unsigned int memory_timeline_part(
	const struct memory_timeline *pool, uint64_t tick, unsigned int nr_parts);

/* Is `in_use` a total, after an event of so many bytes? */
static inline bool memory_timeline_is_known(int64_t bytes, uint64_t in_use)
{
	return bytes <= 0 || in_use >= (uint64_t)bytes;
}

/* Did the allocator report a total? If not, there is neither peak nor curve. */
bool memory_timeline_has_totals(const struct memory_timeline *pool);

/* Bytes in a unit that fits, with one decimal: "26.2 MB". */
void memory_timeline_add_bytes(struct buf *out, uint64_t bytes);

/* The curve, `title` above it. */
void memory_timeline_draw(const struct memory_timeline *pool, const char *title, struct buf *out);

#endif
