/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/pick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/select.h"
#include "report/timeline/timeline.h"

const char *const timeline_tracks[] = {
	"api", "ops", "nvtx", "python", "gpu", "counters", "steps", "marks", NULL};

/* ---- what is asked for ---- */

/* A time with its unit up to `end`; seconds without one. */
static bool parse_time(const char *text, const char *end, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	char *unit;
	double number;

	if (text == end || !strchr("0123456789.", *text)) {
		return false;
	}
	number = strtod(text, &unit);
	if (unit == text || unit > end || !isfinite(number)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].name) == (size_t)(end - unit) &&
			strncmp(units[i].name, unit, (size_t)(end - unit)) == 0) {
			number *= units[i].ns;
			*ns = number < 9e18 ? (uint64_t)(number + 0.5) : INT64_MAX;
			return true;
		}
	}
	return false;
}

bool timeline_pick_time(struct timeline_pick *pick, const char *text)
{
	const char *dash = strchr(text, '-');

	if (!dash || (dash == text && !dash[1])) {
		return false;
	}
	pick->has_time = true;
	pick->begin_ns = 0;
	pick->end_ns = UINT64_MAX;
	return (dash == text || parse_time(text, dash, &pick->begin_ns)) &&
	       (!dash[1] || parse_time(dash + 1, dash + strlen(dash), &pick->end_ns)) &&
	       pick->begin_ns < pick->end_ns;
}

bool timeline_pick_tracks(struct timeline_pick *pick, const char *list)
{
	while (*list) {
		size_t length = strcspn(list, ","), i = 0;

		while (timeline_tracks[i] && (strlen(timeline_tracks[i]) != length ||
						     memcmp(timeline_tracks[i], list, length))) {
			i++;
		}
		if (!timeline_tracks[i]) {
			return false;
		}
		pick->tracks |= 1u << i;
		list += length + (list[length] == ',');
	}
	return pick->tracks != 0;
}

bool timeline_is_for_hta(const struct timeline *timeline)
{
	return timeline->pick && timeline->pick->is_for_hta;
}

bool timeline_shows(const struct timeline *timeline, enum timeline_track track)
{
	return !timeline->pick || !timeline->pick->tracks || (timeline->pick->tracks & track);
}

bool timeline_picks(const struct timeline *timeline, uint64_t begin_ns, uint64_t end_ns)
{
	const struct timeline_pick *pick = timeline->pick;
	const struct timeline_part *part = timeline->part;
	uint64_t first = timeline->all_first_ns;

	if (part && (begin_ns < part->begin_ns || begin_ns >= part->end_ns)) {
		return false;
	}
	if (!pick) {
		return true;
	}
	if (end_ns > begin_ns && end_ns - begin_ns < pick->min_ns) {
		return false;
	}
	begin_ns = begin_ns > first ? begin_ns - first : 0;
	end_ns = end_ns > first ? end_ns - first : 0;
	return !pick->has_time ||
	       (begin_ns < pick->end_ns && (end_ns > pick->begin_ns || begin_ns == pick->begin_ns));
}

/* ---- rows ---- */

static enum timeline_track track_of(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_op:
		return TIMELINE_OPS;
	case GPROF_TABLE_nvtx:
		return TIMELINE_NVTX;
	case GPROF_TABLE_py_call:
		return TIMELINE_PYTHON;
	case GPROF_TABLE_alloc:
	case GPROF_TABLE_sample:
		return TIMELINE_COUNTERS;
	case GPROF_TABLE_kernel:
	case GPROF_TABLE_memcpy:
	case GPROF_TABLE_memset:
	case GPROF_TABLE_graph:
	case GPROF_TABLE_sync:
	case GPROF_TABLE_overhead:
		return TIMELINE_GPU;
	default:
		return TIMELINE_API;
	}
}

static bool is_device(unsigned int table)
{
	return track_of(table) == TIMELINE_GPU;
}

/*
 * HolisticTraceAnalysis takes each event with a length for a call or for work: functions of Python,
 * calls of NCCL and CUPTI's overhead are neither, and waits are work to some of its analyses.
 */
static bool is_miscounted(unsigned int table)
{
	return table == GPROF_TABLE_py_call || table == GPROF_TABLE_sync ||
	       table == GPROF_TABLE_overhead || table == GPROF_TABLE_alloc ||
	       table == GPROF_TABLE_nccl;
}

static bool is_moment(unsigned int table)
{
	return table == GPROF_TABLE_alloc || table == GPROF_TABLE_sample;
}

static bool has_row(struct timeline *timeline, const struct batch *batch, uint32_t row)
{
	uint64_t begin = batch->col[0][row];
	uint64_t end = begin + (is_moment(batch->table) ? 0 : batch->col[1][row]);

	return is_device(batch->table)
		       ? timeline_picks(timeline, timeline_device_ns(timeline, begin),
				 timeline_device_ns(timeline, end))
		       : timeline_picks(timeline, timeline_host_ns(timeline, begin),
				 timeline_host_ns(timeline, end));
}

/* Leaves the rows that are shown. The columns lie in memory of ours from then on. */
static void cut(struct timeline *timeline, struct batch *batch)
{
	static uint64_t *columns[SCHEMA_COLUMNS];
	static uint32_t rows[GPROF_BLOCK_ROWS];
	uint32_t nr = 0;

	for (uint32_t i = 0; i < batch->nr_rows && nr < GPROF_BLOCK_ROWS; i++) {
		if (has_row(timeline, batch, i)) {
			rows[nr++] = i;
		}
	}
	for (unsigned int k = 0; k < SCHEMA_COLUMNS; k++) {
		if (!batch->col[k]) {
			continue;
		}
		if (!columns[k]) {
			columns[k] = mem_zeroed(GPROF_BLOCK_ROWS, sizeof(uint64_t));
		}
		for (uint32_t i = 0; i < nr; i++) {
			columns[k][i] = batch->col[k][rows[i]];
		}
		batch->col[k] = columns[k];
	}
	batch->nr_rows = nr;
}

/* By the times that its header tells: a timeline of many parts reads each block once or twice. */
static bool may_have(struct timeline *timeline, uint64_t block)
{
	const struct stream *stream = timeline->process->stream;
	uint64_t first = stream->blocks[block].time_min, last = stream->blocks[block].time_max;

	if (is_device(stream_block_table(stream, block))) {
		first = timeline_device_ns(timeline, first);
		last = timeline_device_ns(timeline, last);
	} else {
		first = timeline_host_ns(timeline, first);
		last = timeline_host_ns(timeline, last);
	}
	return first < timeline->part->end_ns && last >= timeline->part->begin_ns;
}

uint32_t timeline_api_mask(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_api_launch:
		return COL_ALL(NR_COL_api) | COL_BIT(COL_api_launch_py_stack);
	case GPROF_TABLE_api:
	case GPROF_TABLE_api_copy:
	case GPROF_TABLE_api_set:
	case GPROF_TABLE_api_alloc:
	case GPROF_TABLE_api_sync:
		return COL_ALL(NR_COL_api);
	default:
		return 0;
	}
}

bool timeline_load(struct timeline *timeline, uint64_t block, uint32_t mask, struct batch *batch)
{
	struct process *process = timeline->process;
	unsigned int table = stream_block_table(process->stream, block);
	bool has_times = table != GPROF_TABLE_nvtx;
	bool has_part = timeline->part && timeline->part->nr_parts && has_times;
	bool is_cut = has_part || (timeline->pick && has_times &&
					  (timeline->pick->has_time || timeline->pick->min_ns));

	if (!timeline_shows(timeline, track_of(table)) ||
		(timeline_is_for_hta(timeline) && is_miscounted(table)) ||
		(has_part && !may_have(timeline, block))) {
		return false;
	}
	mask |= select_mask(process, table) |
		(is_cut ? COL_BIT(0) | (is_moment(table) ? 0 : COL_BIT(1)) : 0);
	if (stream_load(process->stream, block, mask, 0, batch)) {
		return false;
	}
	select_cut(process, batch);
	if (is_cut) {
		cut(timeline, batch);
	}
	return batch->nr_rows > 0;
}
