/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All formats read blocks through timeline_load(), which leaves out what the filter, the selection
 * or the part of the file does not want: whole blocks by the times in their headers, then rows.
 * Host ticks and CUPTI's times become ns behind base_ns, on one axis for all processes.
 */
#include "report/timeline/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/select.h"
#include "report/model/time_axis.h"

/*
 * All files of a job begin their axis at the same time, since tools that compare ranks ignore it.
 * A day: as doubles, times in us have a resolution of 0.015 ns. Whole us stay whole.
 */
#define BASE_STEP_NS (86400ull * 1000000000)

/* More than the pids of a system. */
#define PIDS_APART 10000000u

const char *const timeline_tracks[] = {
	"api", "ops", "nvtx", "python", "gpu", "counters", "steps", "marks", NULL};

/* ---- the filter of the user ---- */

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

bool timeline_parse_time(const char *text, uint64_t *ns)
{
	return parse_time(text, text + strlen(text), ns);
}

bool timeline_filter_parse_time(struct timeline_filter *filter, const char *text)
{
	const char *dash = strchr(text, '-');

	if (!dash || (dash == text && !dash[1])) {
		return false;
	}
	filter->has_time = true;
	filter->begin_ns = 0;
	filter->end_ns = UINT64_MAX;
	return (dash == text || parse_time(text, dash, &filter->begin_ns)) &&
	       (!dash[1] || parse_time(dash + 1, dash + strlen(dash), &filter->end_ns)) &&
	       filter->begin_ns < filter->end_ns;
}

bool timeline_filter_parse_tracks(struct timeline_filter *filter, const char *list)
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
		filter->tracks |= 1u << i;
		list += length + (list[length] == ',');
	}
	return filter->tracks != 0;
}

/* ---- the time axis ---- */

void timeline_find_base(struct timeline *timeline, struct process *const *processes,
	size_t nr_processes, uint64_t before_ns)
{
	uint64_t last_ns = 0;

	timeline->origin_ns = time_axis_set(processes, nr_processes);
	timeline->base_ns = timeline->origin_ns / BASE_STEP_NS * BASE_STEP_NS;
	if (before_ns) {
		timeline->base_ns =
			timeline->origin_ns > before_ns ? timeline->origin_ns - before_ns : 0;
	}
	timeline->all_first_ns = timeline->origin_ns - timeline->base_ns;
	for (size_t i = 0; i < nr_processes; i++) {
		const struct process *process = processes[i];

		timeline->nr_all += process->nr_events;
		if (process->first_ns <= process->last_ns) {
			uint64_t process_ns = time_axis_time(process, process->last_ns);

			last_ns = process_ns > last_ns ? process_ns : last_ns;
		}
	}
	timeline->all_last_ns = timeline->all_first_ns + last_ns;
}

uint64_t timeline_host_ns(struct timeline *timeline, uint64_t tick)
{
	uint64_t ns = clock_map_time(&timeline->process->host_clock, tick) +
		      (uint64_t)timeline->offset_ns;

	return ns > timeline->base_ns ? ns - timeline->base_ns : 0;
}

uint64_t timeline_last_ns(const struct timeline *timeline)
{
	return timeline->process->last_ns + (uint64_t)timeline->offset_ns - timeline->base_ns;
}

uint64_t timeline_device_ns(struct timeline *timeline, uint64_t device_ns)
{
	uint64_t ns = clock_map_time(&timeline->process->device_clock, device_ns) +
		      (uint64_t)timeline->offset_ns;

	return ns > timeline->base_ns ? ns - timeline->base_ns : 0;
}

uint32_t timeline_tid(const struct timeline *timeline, uint64_t thread)
{
	const struct model_thread *found =
		thread > UINT32_MAX ? NULL
				    : idmap_get(&timeline->process->threads, (uint32_t)thread);

	return found && found->tid ? found->tid : (uint32_t)thread;
}

/* ---- pids ---- */

/* Another process of the file or a device may have the pid: in containers pids are small. */
static bool is_pid_taken(struct process *const *processes, size_t nr_processes, size_t k)
{
	if (processes[k]->pid < TIMELINE_DEVICES * nr_processes) {
		return true;
	}
	for (size_t i = 0; i < k; i++) {
		if (processes[i]->pid == processes[k]->pid) {
			return true;
		}
	}
	return false;
}

uint32_t timeline_pid(struct process *const *processes, size_t nr_processes, size_t k)
{
	return processes[k]->pid +
	       (is_pid_taken(processes, nr_processes, k) ? PIDS_APART * ((uint32_t)k + 1) : 0);
}

/* ---- launches ---- */

/* begins_ns: uint64_t, the first begin of what was launched, by correlation ID. */
static void add_activities(
	struct timeline *timeline, const struct batch *b, struct idmap *begins_ns)
{
	for (uint32_t row = 0; row < b->nr_rows; row++) {
		uint64_t correlation = b->col[COL_kernel_correlation][row];
		uint64_t begin_ns = timeline_device_ns(timeline, b->col[COL_kernel_begin][row]);
		uint64_t *first_ns = idmap_put(begins_ns, correlation);

		if (!idset_has(timeline->launched, correlation) || begin_ns < *first_ns) {
			*first_ns = begin_ns;
		}
		idset_add(timeline->launched, correlation);
	}
}

static void add_calls(
	struct timeline *timeline, const struct batch *b, const struct idmap *begins_ns)
{
	for (uint32_t row = 0; row < b->nr_rows; row++) {
		uint64_t correlation = b->col[COL_api_correlation][row];
		const uint64_t *first_ns = idmap_get(begins_ns, correlation);

		idset_add(timeline->called, correlation);
		if (first_ns &&
			*first_ns < timeline_host_ns(timeline, b->col[COL_api_begin][row])) {
			idset_add(timeline->early, correlation);
		}
	}
}

/*
 * Activities are read before calls: a call whose activity seems to begin before it is noted as
 * early, since an arrow between the two would point back.
 */
void timeline_read_launches(struct timeline *timeline)
{
	const struct stream *stream = timeline->process->stream;
	struct idmap begins_ns;

	idmap_init(&begins_ns, sizeof(uint64_t));
	for (int are_calls = 0; are_calls < 2; are_calls++) {
		uint32_t mask = are_calls ? COLS(api, begin, correlation)
					  : COLS(kernel, begin, correlation);

		for (size_t i = 0; i < stream->nr_blocks; i++) {
			unsigned int table = stream_block_table(stream, i);
			struct batch batch;

			if (!gprof_table_is(table, are_calls ? GPROF_IS_CALL : GPROF_IS_ACTIVITY) ||
				!timeline_load(timeline, i, mask, &batch)) {
				continue;
			}
			if (are_calls) {
				add_calls(timeline, &batch, &begins_ns);
			} else {
				add_activities(timeline, &batch, &begins_ns);
			}
		}
	}
	idmap_fini(&begins_ns);
}

bool timeline_has_flow(const struct timeline *timeline, uint64_t correlation)
{
	return correlation && idset_has(timeline->launched, correlation) &&
	       idset_has(timeline->called, correlation) && !idset_has(timeline->early, correlation);
}

/* ---- the current process ---- */

static void set_process(struct timeline *timeline, struct process *process)
{
	timeline->process = process;
	timeline->offset_ns = (int64_t)(timeline->origin_ns - process->origin_ns);
}

void timeline_enter(
	struct timeline *timeline, struct process *const *processes, size_t nr_processes, size_t k)
{
	struct process *process = processes[k];

	set_process(timeline, process);
	timeline->pid = timeline_pid(processes, nr_processes, k);
	timeline->first_id = (uint64_t)k << TIMELINE_ID_BITS;
	timeline->first_device_pid = TIMELINE_DEVICES * (uint32_t)k;
	timeline->first_ns = 0;
	if (process->first_ns <= process->last_ns) {
		timeline->first_ns =
			process->first_ns + (uint64_t)timeline->offset_ns - timeline->base_ns;
	}
	timeline->called = idset_create();
	timeline->launched = idset_create();
	timeline->early = idset_create();
	timeline->device_id = UINT32_MAX;
	timeline->compiled = compiled_code_create(process);
}

void timeline_leave(struct timeline *timeline)
{
	idset_destroy(timeline->called);
	idset_destroy(timeline->launched);
	idset_destroy(timeline->early);
	compiled_code_destroy(timeline->compiled);
}

const struct compiled_work *timeline_compiled_work(
	const struct timeline *timeline, const struct model_shape *shape)
{
	return compiled_code_find(timeline->compiled, shape->name, 0);
}

bool timeline_occupancy(struct timeline *timeline, const struct model_shape *shape, uint32_t device,
	struct occupancy *occupancy)
{
	if (timeline->device_id != device) {
		timeline->device_id = device;
		timeline->device = occupancy_device(timeline->process, device);
	}
	return occupancy_compute(&timeline->device, shape, occupancy);
}

/* ---- what is shown ---- */

bool timeline_is_for_hta(const struct timeline *timeline)
{
	return timeline->filter && timeline->filter->is_for_hta;
}

bool timeline_is_for_tensorboard(const struct timeline *timeline)
{
	return timeline->filter && timeline->filter->is_for_tensorboard;
}

bool timeline_shows(const struct timeline *timeline, enum timeline_track track)
{
	return !timeline->filter || !timeline->filter->tracks || (timeline->filter->tracks & track);
}

bool timeline_has(const struct timeline *timeline, uint64_t begin_ns, uint64_t end_ns)
{
	const struct timeline_filter *filter = timeline->filter;
	const struct timeline_part *part = timeline->part;
	uint64_t first = timeline->all_first_ns;

	if (part && (begin_ns < part->begin_ns || begin_ns >= part->end_ns)) {
		return false;
	}
	if (!filter) {
		return true;
	}
	if (end_ns > begin_ns && end_ns - begin_ns < filter->min_ns) {
		return false;
	}
	begin_ns = begin_ns > first ? begin_ns - first : 0;
	end_ns = end_ns > first ? end_ns - first : 0;
	return !filter->has_time ||
	       (begin_ns < filter->end_ns &&
		       (end_ns > filter->begin_ns || begin_ns == filter->begin_ns));
}

/* ---- blocks ---- */

unsigned int timeline_source_of(unsigned int table)
{
	if (gprof_table_is(table, GPROF_ON_THREAD_TRACK)) {
		return SLICES_HOST;
	}
	if (gprof_table_is(table, GPROF_ON_STREAM_TRACK)) {
		return SLICES_GPU;
	}
	switch (table) {
	case GPROF_TABLE_nvtx:
		return SLICES_NVTX;
	case GPROF_TABLE_overhead:
		return SLICES_GPU;
	case GPROF_TABLE_sample:
		return SLICES_SAMPLES;
	case GPROF_TABLE_loss:
		return SLICES_LOSSES;
	default:
		return 0;
	}
}

static bool is_device(unsigned int table)
{
	return timeline_source_of(table) == SLICES_GPU;
}

static enum timeline_track track_of(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_op:
		return TIMELINE_OPS;
	case GPROF_TABLE_nvtx:
		return TIMELINE_NVTX;
	case GPROF_TABLE_py_call:
	case GPROF_TABLE_py_gc:
		return TIMELINE_PYTHON;
	case GPROF_TABLE_alloc:
	case GPROF_TABLE_sample:
		return TIMELINE_COUNTERS;
	default:
		return is_device(table) ? TIMELINE_GPU : TIMELINE_API;
	}
}

/*
 * HolisticTraceAnalysis counts each event with a duration as a call or as GPU activity: Python
 * functions, NCCL calls and CUPTI's overhead are neither, and some analyses count waits as
 * activity.
 */
static bool is_miscounted(unsigned int table)
{
	return table == GPROF_TABLE_py_call || table == GPROF_TABLE_py_gc ||
	       table == GPROF_TABLE_sync || table == GPROF_TABLE_overhead ||
	       table == GPROF_TABLE_alloc || table == GPROF_TABLE_nccl ||
	       table == GPROF_TABLE_thread_state;
}

static bool is_instant(unsigned int table)
{
	return table == GPROF_TABLE_alloc || table == GPROF_TABLE_sample;
}

static bool has_row(struct timeline *timeline, const struct batch *batch, uint32_t row)
{
	uint64_t begin = batch->col[0][row];
	uint64_t end = begin + (is_instant(batch->table) ? 0 : batch->col[1][row]);

	if (is_device(batch->table)) {
		uint64_t begin_ns = timeline_device_ns(timeline, begin);

		return timeline_has(timeline, begin_ns, begin_ns + end - begin);
	}
	return timeline_has(
		timeline, timeline_host_ns(timeline, begin), timeline_host_ns(timeline, end));
}

/* Keeps the rows that are shown. The columns are in our own memory from then on. */
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

/* From the first begin to the last end of the rows of a block, on the axis. */
struct block_span {
	uint64_t first_ns, last_ns;
};

static struct block_span span_of(struct timeline *timeline, uint64_t block)
{
	const struct stream *stream = timeline->process->stream;
	uint64_t first = stream->blocks[block].time_min, last = stream->blocks[block].time_max;

	if (is_device(stream_block_table(stream, block))) {
		return (struct block_span){
			timeline_device_ns(timeline, first), timeline_device_ns(timeline, last)};
	}
	return (struct block_span){
		timeline_host_ns(timeline, first), timeline_host_ns(timeline, last)};
}

/* By the times in the header: of a part, or of a short time, few blocks are read. */
static bool may_have(struct timeline *timeline, uint64_t block, bool has_part)
{
	const struct timeline_filter *filter = timeline->filter;
	struct block_span span = span_of(timeline, block);
	uint64_t zero = timeline->all_first_ns, rounding;

	if (has_part && (span.first_ns >= timeline->part->end_ns ||
				span.last_ns < timeline->part->begin_ns)) {
		return false;
	}
	if (!filter || !filter->has_time || !timeline->process->stream->blocks[block].time_max) {
		return true;
	}
	/* Rows keep their durations where clocks differ in rate, so they may end a little later. */
	rounding = (span.last_ns - span.first_ns) / 1024 + 1000;
	return (span.first_ns <= zero || span.first_ns - zero < filter->end_ns) &&
	       (span.last_ns + rounding > zero &&
		       span.last_ns + rounding - zero >= filter->begin_ns);
}

/* Tables whose rows are all slices. */
static bool has_slices(unsigned int table)
{
	unsigned int source = timeline_source_of(table);

	return (source == SLICES_HOST || source == SLICES_GPU) && table != GPROF_TABLE_nccl &&
	       table != GPROF_TABLE_alloc && table != GPROF_TABLE_overhead;
}

uint64_t timeline_least_events(struct process *const *processes, size_t nr_processes, size_t k,
	const struct timeline_filter *filter)
{
	struct timeline timeline = {.filter = filter};
	const struct stream *stream = processes[k]->stream;
	uint64_t nr = 0;

	timeline_find_base(&timeline, processes, nr_processes, 0);
	set_process(&timeline, processes[k]);
	for (size_t i = 0; i < stream->nr_blocks && !processes[k]->select; i++) {
		struct block_span span = span_of(&timeline, i);

		if (has_slices(stream_block_table(stream, i)) &&
			timeline_has(&timeline, span.first_ns, span.first_ns) &&
			timeline_has(&timeline, span.last_ns, span.last_ns)) {
			nr += stream->blocks[i].nr_rows;
		}
	}
	return nr;
}

/* Cutting needs begins and lengths: columns 0 and 1 of all tables that have times. */
bool timeline_load(struct timeline *timeline, uint64_t block, uint32_t mask, struct batch *batch)
{
	struct process *process = timeline->process;
	unsigned int table = stream_block_table(process->stream, block);
	bool has_times = table != GPROF_TABLE_nvtx;
	bool has_part = timeline->part && timeline->part->nr_parts && has_times;
	bool is_cut = has_part || (timeline->filter && has_times &&
					  (timeline->filter->has_time || timeline->filter->min_ns));

	if (!timeline_shows(timeline, track_of(table)) ||
		(timeline_is_for_hta(timeline) && is_miscounted(table)) ||
		(is_cut && !may_have(timeline, block, has_part))) {
		return false;
	}
	mask |= select_mask(process, table) |
		(is_cut ? COL_BIT(0) | (is_instant(table) ? 0 : COL_BIT(1)) : 0);
	if (stream_load(process->stream, block, mask, 0, batch)) {
		return false;
	}
	select_cut(process, batch);
	if (is_cut) {
		cut(timeline, batch);
	}
	return batch->nr_rows > 0;
}
