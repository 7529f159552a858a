/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/memory_timeline.h"

#define CURVE_LINES 8u

void memory_timeline_init(struct memory_timeline *pool, uint64_t first, uint64_t end)
{
	*pool = (struct memory_timeline){.first = first, .end = end > first ? end : first + 1};
}

unsigned int memory_timeline_part(
	const struct memory_timeline *pool, uint64_t tick, unsigned int nr_parts)
{
	uint64_t after = tick > pool->first ? tick - pool->first : 0;
	unsigned __int128 place = (unsigned __int128)after * nr_parts / (pool->end - pool->first);

	return place < nr_parts ? (unsigned int)place : nr_parts - 1;
}

void memory_timeline_take(struct memory_timeline *pool, uint64_t tick, int64_t bytes,
	uint64_t in_use, uint64_t reserved)
{
	unsigned int point = memory_timeline_part(pool, tick, MEMORY_TIMELINE_POINTS);

	pool->nr_allocs += bytes > 0;
	pool->nr_frees += bytes < 0;
	if (!memory_timeline_is_known(bytes, in_use)) {
		pool->nr_untold++;
		return;
	}
	if (in_use > pool->peak_bytes) {
		pool->peak_bytes = in_use;
		pool->peak_tick = tick;
		pool->reserved_at_peak_bytes = reserved;
	}
	if (reserved > pool->peak_reserved_bytes) {
		pool->peak_reserved_bytes = reserved;
	}
	if (tick >= pool->last_tick) {
		pool->last_tick = tick;
		pool->last_bytes = in_use;
	}
	pool->curve[point] = in_use > pool->curve[point] ? in_use : pool->curve[point];
	pool->is_set[point] = true;
}

bool memory_timeline_has_totals(const struct memory_timeline *pool)
{
	return !pool->nr_allocs || pool->nr_untold < pool->nr_allocs;
}

static const struct unit {
	uint64_t bytes;
	const char *name;
} units[] = {{1000000000, "GB"}, {1000000, "MB"}, {1000, "KB"}, {1, "B"}};

static const struct unit *unit_of(uint64_t bytes)
{
	const struct unit *unit = units;

	while (unit->bytes > 1 && bytes < unit->bytes) {
		unit++;
	}
	return unit;
}

void memory_timeline_add_bytes(struct buf *out, uint64_t bytes)
{
	const struct unit *unit = unit_of(bytes);

	buf_printf(out, unit->bytes > 1 ? "%.1f %s" : "%.0f %s",
		(double)bytes / (double)unit->bytes, unit->name);
}

void memory_timeline_draw(const struct memory_timeline *pool, const char *title, struct buf *out)
{
	const struct unit *unit = unit_of(pool->peak_bytes);
	uint64_t heights[MEMORY_TIMELINE_POINTS], last = 0;

	for (unsigned int i = 0; i < MEMORY_TIMELINE_POINTS; i++) {
		last = pool->is_set[i] ? pool->curve[i] : last; /* nothing happened: as before */
		heights[i] = pool->peak_bytes ? (uint64_t)((unsigned __int128)last * CURVE_LINES /
							   pool->peak_bytes)
					      : 0;
		heights[i] += last && heights[i] < CURVE_LINES;
	}
	buf_printf(out, "\n  %s\n", title);
	for (unsigned int line = CURVE_LINES; line > 0; line--) {
		unsigned int width = MEMORY_TIMELINE_POINTS;

		while (width && heights[width - 1] < line) {
			width--;
		}
		buf_printf(out, "  %8.1f %-2s |",
			(double)pool->peak_bytes * line / CURVE_LINES / (double)unit->bytes,
			unit->name);
		for (unsigned int i = 0; i < width; i++) {
			buf_char(out, heights[i] >= line ? '#' : ' ');
		}
		buf_char(out, '\n');
	}
	buf_pad(out, ' ', 14);
	buf_char(out, '+');
	buf_pad(out, '-', MEMORY_TIMELINE_POINTS);
	buf_text(out, " time of the process\n");
}
