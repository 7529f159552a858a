/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each process is read in four parts: a walk over the host's slices that finds their rows
 * (is_placing), the same walk again to write them, the GPU activities, and the counters. The sink
 * of slice_walk.c for activities lets them wait (struct waiting) until no later block can have an
 * earlier one.
 */
#include "report/timeline/chrome.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm/job_clock.h"
#include "report/model/device_records.h"
#include "report/model/process_tree.h"
#include "report/timeline/chrome_events.h"
#include "report/timeline/chrome_rows.h"
#include "report/timeline/track_counters.h"
#include "report/util/external_sort.h"
#include "report/util/progress.h"
#include "report/util/text.h"

/* The row of the Python functions of a thread has the thread's tid and this. */
#define PYTHON_ROWS 0x40000000u
/* The row of its states has this, which is above all lanes of threads. */
#define STATE_ROWS 0x20000000u

/*
 * The index by which an unknown stream is sorted; viewers take indices as signed numbers of 32
 * bits.
 */
#define LAST_STREAM 0xffffffu

/* HolisticTraceAnalysis rounds to us. */
#define DROPPED_STEP_NS 1000u

/* An activity that waits until all that begin before it are written. */
struct waiting {
	struct external_sort_head head; /* by begin, then the longest first: CUPTI's ns */
	struct slice slice;
};

/* A counter of a process or GPU. */
struct chrome_counter {
	uint32_t pid;
	uint32_t name, unit; /* of string_pool.h */
};

struct chrome {
	struct timeline timeline;
	struct chrome_events events;
	struct external_sort *waiting;
	/* of the current process */
	struct chrome_lanes *lanes;
	bool is_placing; /* in the first walk, which finds the rows of threads */
	struct chrome_launches launches;
	struct chrome_streams streams;
	struct track_counters counters;
	struct track_rows counter_rows; /* the groups of counters */
	struct idmap counter_tracks;	/* struct chrome_counter, by track */
	struct idset *overhead_tids;	/* whose rows are named */
	struct slice last_step;		/* that was written; then how many were */
	size_t nr_steps;
	struct slice
		*late; /* host slices that follow all others in the file, see chrome_events.h */
	size_t nr_late, late_capacity;
};

/* ---- the head and tail of the file ---- */

static void add_property(struct buf *out, const struct process *process, uint32_t device,
	const char *key, const char *attribute, uint64_t factor)
{
	uint64_t value;

	if (process_attribute(process, device, attribute, &value)) {
		buf_printf(out, ", \"%s\": %" PRIu64, key, value * factor);
	}
}

static void add_device(
	struct buf *out, const struct process *process, const struct model_device *device)
{
	static const struct {
		const char *key, *attribute;
	} properties[] = {{"totalGlobalMem", "memory_bytes"}, {"computeMajor", "capability_major"},
		{"computeMinor", "capability_minor"},
		{"maxThreadsPerBlock", "max_threads_per_block"},
		{"regsPerBlock", "registers_per_block"}, {"warpSize", "warp_threads"},
		{"sharedMemPerBlock", "shared_bytes_per_block"}, {"numSms", "multiprocessors"},
		{"regsPerMultiprocessor", "registers_per_multiprocessor"},
		{"sharedMemPerMultiprocessor", "shared_bytes_per_multiprocessor"}};
	uint64_t warp_threads = 32;

	buf_printf(out, "{\"id\": %u, \"name\": %s", device->id, chrome_text(device->name));
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		add_property(
			out, process, device->id, properties[i].key, properties[i].attribute, 1);
	}
	process_attribute(process, device->id, "warp_threads", &warp_threads);
	add_property(out, process, device->id, "maxThreadsPerMultiprocessor",
		"max_warps_per_multiprocessor", warp_threads);
	buf_char(out, '}');
}

static void add_fact(
	struct buf *out, const struct process *process, const char *key, const char *fact)
{
	const char *value = process_fact(process, fact, "");

	if (*value) {
		buf_printf(out, "\"%s\": ", key);
		text_add_json(out, value, strlen(value));
		buf_text(out, ",\n");
	}
}

static void add_head(struct chrome *chrome, struct process *const *processes, size_t nr_processes)
{
	const struct process *process = processes[0];
	struct buf *out = chrome->events.out;

	buf_text(out, "{\"schemaVersion\": 1,\n\"deviceProperties\": [");
	for (size_t i = 0; i < process->nr_devices; i++) {
		buf_text(out, i ? ",\n  " : "\n  ");
		add_device(out, process, &process->devices[i]);
	}
	buf_text(out, "],\n");
	add_fact(out, process, "cupti_version", "cupti.version");
	add_fact(out, process, "cuda_runtime_version", "cuda.runtime_version");
	add_fact(out, process, "cuda_driver_version", "cuda.driver_version");
	add_fact(out, process, "host_name", "host.name");
	if (nr_processes == 1 && process->rank >= 0) {
		buf_printf(out,
			"\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %" PRId64
			", \"world_size\": %" PRId64 "},\n",
			process->rank, process->world > 0 ? process->world : 1);
	}
	buf_printf(out,
		"\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": %" PRIu64
		",\n\"traceEvents\": [",
		chrome->timeline.base_ns);
}

/* Losses are written behind the events: damage in columns is found by reading them. */
static void add_tail(struct chrome *chrome, struct process *const *processes, size_t nr_processes,
	const char *name)
{
	struct buf *out = chrome->events.out;
	const struct timeline_part *part = chrome->timeline.part;
	const char *source = process_source(processes[0]);
	const char *lacking = process_lacks_gpu(processes[0]);
	struct buf clocks = {0};
	uint64_t nr_missing = 0;
	bool is_complete = true;

	chrome_begin_global_instant(&chrome->events, "\"Record Window End\"",
		timeline_pid(processes, nr_processes, 0), processes[0]->pid,
		chrome->timeline.all_last_ns);
	buf_text(out, "}],\n");
	for (size_t i = 0; i < nr_processes; i++) {
		nr_missing += process_missing(processes[i]);
		is_complete = is_complete && process_is_complete(processes[i]);
	}
	buf_printf(out,
		"\"gprof\": {\"version\": \"%s\", \"complete\": %s, \"missing_events\": %" PRIu64,
		GPROF_VERSION, is_complete ? "true" : "false", nr_missing);
	if (*source) {
		buf_printf(out, ", \"source\": \"%s\"", source);
	}
	if (process_has_operator_times(processes[0])) {
		buf_text(out, ", \"operator_times\": true");
	}
	if (lacking) {
		buf_text(out, ", \"no_gpu\": ");
		text_add_json(out, lacking, strlen(lacking));
	}
	if (part && part->nr_parts) {
		buf_printf(out, ", \"part\": %zu, \"parts\": %zu", part->nr, part->nr_parts);
	}
	job_clock_print(processes, nr_processes, "", &clocks);
	if (clocks.nr_bytes) {
		buf_text(out, ", \"clocks\": ");
		text_add_json(out, clocks.bytes, clocks.nr_bytes);
	}
	buf_fini(&clocks);
	buf_text(out, "},\n\"traceName\": ");
	text_add_json(out, name, strlen(name));
	buf_text(out, "\n}\n");
}

/* ---- names of rows ---- */

static void add_meta_text(struct chrome *chrome, const char *what, uint32_t pid, uint32_t tid,
	const char *key, const struct buf *text)
{
	struct buf *out = chrome->events.out;

	chrome_begin_meta(&chrome->events, what, pid, tid);
	buf_printf(out, "\"%s\": ", key);
	text_add_json(out, text->bytes, text->nr_bytes);
	buf_text(out, "}}");
}

static void add_meta_json(struct chrome *chrome, const char *what, uint32_t pid, uint32_t tid,
	const char *key, const char *json)
{
	chrome_begin_meta(&chrome->events, what, pid, tid);
	buf_printf(chrome->events.out, "\"%s\": %s}}", key, json);
}

static void add_sort_index(
	struct chrome *chrome, const char *what, uint32_t pid, uint32_t tid, uint32_t index)
{
	chrome_begin_meta(&chrome->events, what, pid, tid);
	buf_printf(chrome->events.out, "\"sort_index\": %u}}", index);
}

/* Processes in their order, each with its GPUs behind it. */
static uint32_t process_order(const struct chrome *chrome)
{
	return chrome->timeline.first_device_pid / TIMELINE_DEVICES * (TIMELINE_DEVICES + 1);
}

static void name_process(struct chrome *chrome)
{
	uint32_t pid = chrome->timeline.pid;
	struct buf name = {0};

	process_tree_add_name(&name, chrome->timeline.process);
	if (name.nr_bytes != 1 || *name.bytes != '?') {
		add_meta_text(chrome, "\"process_name\"", pid, 0, "name", &name);
	}
	add_meta_json(chrome, "\"process_labels\"", pid, 0, "labels", "\"CPU\"");
	add_sort_index(chrome, "\"process_sort_index\"", pid, 0, process_order(chrome));
	buf_fini(&name);
}

/* The row of a thread and its further lanes. Viewers add the tid. */
static void name_thread_row(struct chrome *chrome, uint32_t row, uint32_t sort_index,
	const char *own_name, size_t nr_bytes)
{
	for (size_t k = 0; k < chrome_lanes_nr(chrome->lanes, row); k++) {
		uint32_t tid = chrome_lanes_tid(row, k);
		struct buf name = {0};

		buf_add(&name, own_name, nr_bytes);
		if (k) {
			buf_printf(&name, " (%zu)", k + 1);
		}
		add_meta_text(chrome, "\"thread_name\"", chrome->timeline.pid, tid, "name", &name);
		add_sort_index(
			chrome, "\"thread_sort_index\"", chrome->timeline.pid, tid, sort_index);
		buf_fini(&name);
	}
}

/* Threads of the process, also those without slices, then rows that are no thread's. */
static void name_threads(struct chrome *chrome)
{
	struct process *process = chrome->timeline.process;
	struct idset *named = idset_create();

	for (size_t i = 0; i < process->threads.nr; i++) {
		const struct model_thread *thread = idmap_at(&process->threads, i);
		uint32_t tid = timeline_tid(&chrome->timeline, thread->id);
		size_t nr_bytes;
		const char *name = string_pool_text(thread->name, &nr_bytes);

		if (!idset_has(named, tid)) {
			idset_add(named, tid);
			name_thread_row(chrome, tid, thread->id, nr_bytes ? name : "thread",
				nr_bytes ? nr_bytes : strlen("thread"));
		}
	}
	for (size_t i = 0; i < chrome_lanes_nr_rows(chrome->lanes); i++) {
		uint32_t row = chrome_lanes_row(chrome->lanes, i);
		char name[64] = "thread";

		if (row >= PYTHON_ROWS) {
			snprintf(name, sizeof(name), "Python of thread %u", row - PYTHON_ROWS);
		} else if (row >= STATE_ROWS) {
			snprintf(name, sizeof(name), "CPU of thread %u", row - STATE_ROWS);
		}
		if (!idset_has(named, row)) {
			name_thread_row(
				chrome, row, row & ~(PYTHON_ROWS | STATE_ROWS), name, strlen(name));
		}
	}
	idset_destroy(named);
}

static uint32_t device_pid(const struct chrome *chrome, uint32_t device)
{
	uint32_t most = TIMELINE_DEVICES - 1;

	return chrome->timeline.first_device_pid + (device < most ? device : most);
}

static void name_device(struct chrome *chrome, uint32_t device)
{
	uint32_t pid = device_pid(chrome, device);
	char label[32];

	snprintf(label, sizeof(label), device == UINT32_MAX ? "\"GPU (unknown)\"" : "\"GPU %u\"",
		device);
	add_meta_json(chrome, "\"process_name\"", pid, 0, "name",
		chrome_text(process_device_name(chrome->timeline.process, device)));
	add_meta_json(chrome, "\"process_labels\"", pid, 0, "labels", label);
	add_sort_index(chrome, "\"process_sort_index\"", pid, 0,
		process_order(chrome) + 1 + pid - chrome->timeline.first_device_pid);
}

static void name_stream_row(struct chrome *chrome, const struct chrome_stream_row *row)
{
	static const char *const suffixes[] = {[CHROME_STREAM_RANGES] = " (ranges)",
		[CHROME_STREAM_WORK] = "",
		[CHROME_STREAM_WAITS] = " (sync)"};
	uint32_t pid = device_pid(chrome, row->device);
	uint32_t number = row->stream < LAST_STREAM ? row->stream : LAST_STREAM;
	struct buf name = {0};

	buf_printf(&name, chrome_stream_is_unknown(row->stream) ? "stream (unknown)" : "stream %u",
		row->stream);
	if (row->lane) {
		buf_printf(&name, " (%u)", row->lane);
	}
	buf_text(&name, suffixes[row->kind]);
	add_meta_text(chrome, "\"thread_name\"", pid, row->tid, "name", &name);
	add_sort_index(chrome, "\"thread_sort_index\"", pid, row->tid,
		number * 8u + (uint32_t)row->kind * 3 + (row->lane < 2 ? row->lane : 2));
	buf_fini(&name);
}

/* GPUs with streams, then those that have counters alone. */
static void name_devices(struct chrome *chrome)
{
	struct idset *named = idset_create();

	for (size_t i = 0; i < chrome->streams.nr; i++) {
		const struct chrome_stream_row *row = &chrome->streams.rows[i];

		if (!idset_has(named, row->device)) {
			idset_add(named, row->device);
			name_device(chrome, row->device);
		}
		name_stream_row(chrome, row);
	}
	for (size_t i = 0; i < chrome->counter_rows.nr; i++) {
		const struct track_row *row = &chrome->counter_rows.rows[i];

		if (row->kind == TRACK_ROW_DEVICE && !idset_has(named, row->a)) {
			name_device(chrome, row->a);
		}
	}
	idset_destroy(named);
}

/* ---- counters ---- */

static void on_track(void *context, const struct track *track)
{
	(void)context;
	(void)track;
}

static void on_counter_track(void *context, const struct track *track, const char *unit)
{
	struct chrome *chrome = context;
	struct chrome_counter *counter = idmap_put(&chrome->counter_tracks, (uint32_t)track->id);

	unit = *unit ? unit : "value";
	*counter = (struct chrome_counter){.pid = chrome->timeline.pid,
		.name = string_pool_intern(track->name, strlen(track->name)),
		.unit = string_pool_intern(unit, strlen(unit))};
	for (size_t i = 0; i < chrome->counter_rows.nr; i++) {
		const struct track_row *row = &chrome->counter_rows.rows[i];

		if (row->track == track->parent && !track_row_is_of_process(row)) {
			counter->pid = device_pid(chrome, row->a);
		}
	}
}

static void on_count(void *context, uint64_t track, uint64_t ns, double value)
{
	struct chrome *chrome = context;
	const struct chrome_counter *counter = idmap_get(&chrome->counter_tracks, (uint32_t)track);

	if (counter) {
		chrome_add_count(&chrome->events, chrome_text(counter->name),
			chrome_text(counter->unit), counter->pid, ns, value);
	}
}

static void begin_counters(struct chrome *chrome, const struct track_sink *sink)
{
	chrome->counter_rows =
		(struct track_rows){.sink = sink, .next_track = 1, .timeline = &chrome->timeline};
	idmap_init(&chrome->counter_tracks, sizeof(struct chrome_counter));
	track_counters_init(&chrome->counters, &chrome->counter_rows);
}

static void end_counters(struct chrome *chrome)
{
	track_counters_fini(&chrome->counters);
	track_rows_clear(&chrome->counter_rows);
	idmap_fini(&chrome->counter_tracks);
}

static void on_sample(void *context, const struct slice_sample *sample)
{
	struct chrome *chrome = context;

	track_counters_sample(&chrome->counters, sample);
}

/* ---- slices of the host ---- */

/* The name of a range as one text: "domain:range". */
static uint32_t whole_name(const struct slice *slice)
{
	struct buf text = {0};
	const char *bytes;
	size_t nr_bytes;
	uint32_t name;

	if (slice->kind == SLICE_STEP) {
		buf_printf(&text, "ProfilerStep#%" PRIu64, slice->value);
	} else if (slice->domain) {
		bytes = string_pool_text(slice->domain, &nr_bytes);
		buf_add(&text, bytes, nr_bytes);
		buf_char(&text, ':');
		bytes = string_pool_text(slice->name, &nr_bytes);
		buf_add(&text, bytes, nr_bytes);
	} else {
		return slice->name;
	}
	name = string_pool_intern(text.bytes, text.nr_bytes);
	buf_fini(&text);
	return name;
}

/* Relates a slice to its row; the first pass also relates it to its launch. */
static struct chrome_lane_slice lane_slice(const struct slice *slice, bool is_placing)
{
	struct chrome_lane_slice lane = {
		.kind = CHROME_LANE_OTHER, .begin_ns = slice->begin_ns, .end_ns = slice->end_ns};

	switch (slice->kind) {
	case SLICE_CALL:
		lane.kind = CHROME_LANE_CALL;
		lane.what = slice->correlation;
		return lane;
	case SLICE_OP:
		lane.kind = slice->category == CATEGORY_OPERATOR     ? CHROME_LANE_OP
			    : slice->category == CATEGORY_ANNOTATION ? CHROME_LANE_ANNOTATION
								     : CHROME_LANE_OTHER;
		break;
	case SLICE_RANGE:
		lane.kind = CHROME_LANE_RANGE;
		break;
	case SLICE_STEP:
		lane.kind = CHROME_LANE_STEP;
		break;
	default:
		break;
	}
	lane.what = is_placing && lane.kind != CHROME_LANE_OTHER ? whole_name(slice) : 0;
	return lane;
}

/* Returns the id in the file of the operator that made a launch. */
static uint64_t launcher_id(const struct chrome *chrome, const struct chrome_launch *launch)
{
	return launch && launch->op ? chrome->timeline.first_id + launch->op : 0;
}

/*
 * Puts a slice into its row. Returns whether to write it now. Instants, and ranges that overlap
 * freely, need no room in a row.
 */
static bool place_host_slice(struct chrome *chrome, struct slice *slice)
{
	const struct chrome_lane_slice lane = lane_slice(slice, chrome->is_placing);
	uint32_t number;

	slice->row = slice->kind == SLICE_STATE ? STATE_ROWS + (uint32_t)slice->thread
						: timeline_tid(&chrome->timeline, slice->thread);
	slice->row += slice->kind == SLICE_PYTHON ? PYTHON_ROWS : 0;
	if (chrome->is_placing) {
		chrome_note_launch(&chrome->events, slice);
	}
	if (slice->kind == SLICE_MARK || slice->kind == SLICE_FREE_RANGE) {
		return !chrome->is_placing;
	}
	number = chrome_lanes_place(chrome->lanes, &lane, &slice->row);
	slice->external_id = slice->kind == SLICE_CALL
				     ? launcher_id(chrome, chrome_launches_find(&chrome->launches,
								   slice->correlation))
				     : chrome->timeline.first_id + number;
	return number != 0;
}

static void on_host_slice(void *context, struct slice *slice)
{
	struct chrome *chrome = context;

	if (slice->kind == SLICE_STEP && !chrome->is_placing) {
		chrome->last_step = *slice;
		chrome->nr_steps++;
	}
	if (slice->is_trace_range || !place_host_slice(chrome, slice)) {
		return;
	}
	if (slice->kind == SLICE_STEP) {
		slice->name = whole_name(slice);
		chrome_add_span(&chrome->events, "user_annotation", slice, chrome->timeline.pid,
			slice->row);
	} else if (chrome_may_take_arrow(&chrome->events, slice)) {
		chrome->late = array_grow(chrome->late, chrome->nr_late, &chrome->late_capacity,
			sizeof(*chrome->late));
		chrome->late[chrome->nr_late++] = *slice;
	} else {
		chrome_add_slice(&chrome->events, slice, chrome->timeline.pid, slice->row);
	}
}

static void write_late(struct chrome *chrome)
{
	for (size_t i = 0; i < chrome->nr_late; i++) {
		chrome_add_slice(&chrome->events, &chrome->late[i], chrome->timeline.pid,
			chrome->late[i].row);
	}
	chrome->nr_late = 0;
}

static void on_flow(void *context, uint64_t nr, const struct slice_flow_end *from,
	const struct slice_flow_end *to)
{
	struct chrome *chrome = context;

	chrome_add_autograd_flow(&chrome->events, nr, from, to);
}

static void on_alloc(void *context, const struct slice_alloc *alloc)
{
	struct chrome *chrome = context;

	chrome_add_alloc(
		&chrome->events, alloc, track_counters_has_totals(&chrome->counters, alloc));
	track_counters_alloc(&chrome->counters, alloc);
}

/*
 * HolisticTraceAnalysis drops the last of several steps as unfinished; ours are all whole, so one
 * more is put behind them, of a category that gprof-report takes for no step. Of a file with a
 * single step it drops nothing, not even activities without a call.
 */
static void add_step_to_drop(struct chrome *chrome)
{
	uint64_t begin_ns = timeline_last_ns(&chrome->timeline);
	struct slice step = {.kind = SLICE_STEP,
		.begin_ns = begin_ns,
		.end_ns = begin_ns + DROPPED_STEP_NS,
		.value = chrome->last_step.value + 1};

	if (chrome->nr_steps > 1 && timeline_has(&chrome->timeline, step.begin_ns, step.end_ns)) {
		step.name = whole_name(&step);
		chrome_add_span(&chrome->events, "gpu_user_annotation", &step, chrome->timeline.pid,
			timeline_tid(&chrome->timeline, chrome->last_step.thread));
	}
}

static void walk_host(struct chrome *chrome, bool is_placing)
{
	const struct slice_sink sink = {.slice = on_host_slice,
		.flow = on_flow,
		.alloc = on_alloc,
		.sample = on_sample,
		.context = chrome};
	/* Readers take the first of two slices that have the same time for the outer one. */
	const struct slice_walk walk = {.timeline = &chrome->timeline,
		.sink = &sink,
		.is_times_only = is_placing,
		.is_outer_first = true,
		.is_whole_only = true};

	chrome->is_placing = is_placing;
	chrome->nr_steps = 0;
	if (timeline_shows(&chrome->timeline, TIMELINE_STEPS)) {
		slice_walk_steps(&walk);
		if (!is_placing && timeline_is_for_hta(&chrome->timeline)) {
			add_step_to_drop(chrome);
		}
	}
	slice_walk_blocks(
		&walk, SLICES_HOST | SLICES_NVTX | (is_placing ? 0 : (unsigned int)SLICES_SAMPLES));
}

/* ---- slices of devices ---- */

static void write_activity(void *context, const void *record)
{
	struct chrome *chrome = context;
	struct slice copy = ((const struct waiting *)record)->slice, *slice = &copy;
	bool is_wait = slice->kind == SLICE_WAIT;
	uint32_t tid = chrome_streams_place(&chrome->streams, &slice->place,
		is_wait ? CHROME_STREAM_WAITS : CHROME_STREAM_WORK, slice->begin_ns, slice->end_ns);
	const struct chrome_launch *launch =
		is_wait ? NULL : chrome_launches_find(&chrome->launches, slice->correlation);

	if (launch) {
		slice->external_id = launcher_id(chrome, launch);
		chrome_launches_extend(
			&chrome->launches, launch, &slice->place, slice->begin_ns, slice->end_ns);
	}
	chrome_add_slice(&chrome->events, slice, device_pid(chrome, slice->place.device), tid);
}

static void add_waiting(struct chrome *chrome, const struct slice *slice)
{
	struct waiting *waiting = external_sort_add(chrome->waiting);

	/* If two begin together, the longer one comes first: the other may be nested in it. */
	waiting->head = (struct external_sort_head){slice->clock_begin, ~slice->clock_end};
	waiting->slice = *slice;
}

/* Writes the activities that begin before `clock_ns`. */
static void release(void *context, uint64_t clock_ns)
{
	struct chrome *chrome = context;

	external_sort_release(chrome->waiting, clock_ns);
}

static void on_gpu_slice(void *context, struct slice *slice)
{
	struct chrome *chrome = context;
	uint32_t tid = (uint32_t)slice->thread;

	if (slice->kind == SLICE_OVERHEAD) {
		chrome_add_overhead(&chrome->events, slice, !idset_has(chrome->overhead_tids, tid));
		idset_add(chrome->overhead_tids, tid);
	} else {
		add_waiting(chrome, slice);
	}
}

/* Writes what ranges launched, in rows beside the streams. */
static void write_spans(struct chrome *chrome)
{
	struct chrome_launches *launches = &chrome->launches;

	chrome_launches_sort(launches);
	for (size_t i = 0; i < launches->nr_spans; i++) {
		const struct chrome_span *span = &launches->spans[i];
		struct slice slice = {.name = launches->ranges[span->range].name,
			.begin_ns = span->begin_ns,
			.end_ns = span->end_ns,
			.place = {.device = span->device, .stream = span->stream}};
		uint32_t tid = chrome_streams_place(&chrome->streams, &slice.place,
			CHROME_STREAM_RANGES, slice.begin_ns, slice.end_ns);

		chrome_add_span(&chrome->events, "gpu_user_annotation", &slice,
			device_pid(chrome, span->device), tid);
	}
}

static void walk_devices(struct chrome *chrome)
{
	const struct slice_sink sink = {
		.slice = on_gpu_slice, .no_earlier = release, .context = chrome};
	const struct slice_walk walk = {.timeline = &chrome->timeline, .sink = &sink};

	chrome->waiting = external_sort_create(sizeof(struct waiting), 0, 0);
	external_sort_hand_out(chrome->waiting, write_activity, chrome);
	slice_walk_blocks(&walk, SLICES_GPU);
	release(chrome, UINT64_MAX);
	external_sort_destroy(chrome->waiting);
	if (!timeline_is_for_tensorboard(&chrome->timeline)) {
		write_spans(chrome);
	}
}

/* ---- the file ---- */

/*
 * The host is walked twice: once for lanes and launches (chrome_rows.c, chrome_launches.c), then to
 * write. Activities come after, since they name the operators that launched them.
 */
static void write_process(struct chrome *chrome)
{
	const struct track_sink counter_sink = {.track = on_track,
		.counter_track = on_counter_track,
		.count = on_count,
		.context = chrome};

	chrome_events_enter(&chrome->events);
	begin_counters(chrome, &counter_sink);
	name_process(chrome);
	chrome->lanes = chrome_lanes_create();
	chrome_launches_init(&chrome->launches, chrome->timeline.launched);
	walk_host(chrome, true);
	chrome_lanes_find(chrome->lanes, &chrome->launches);
	name_threads(chrome);
	walk_host(chrome, false);
	write_late(chrome);
	chrome_lanes_destroy(chrome->lanes);
	chrome->overhead_tids = idset_create();
	walk_devices(chrome);
	track_counters_walk(&chrome->counters);
	name_devices(chrome);
	end_counters(chrome);
	chrome_launches_fini(&chrome->launches);
	chrome_streams_fini(&chrome->streams);
	idset_destroy(chrome->overhead_tids);
	chrome_events_leave(&chrome->events);
}

void chrome_write(struct process *const *processes, size_t nr_processes,
	const struct chrome_file *file, struct buf *out)
{
	struct chrome chrome = {.timeline = {.filter = file->filter, .part = file->part},
		.events = {.timeline = &chrome.timeline, .out = out, .sizes = file->sizes}};
	struct timeline *timeline = &chrome.timeline;
	struct timeline_sizes *sizes = file->sizes;

	timeline_find_base(timeline, processes, nr_processes, 0);
	if (sizes) {
		sizes->begin_ns = timeline->all_first_ns;
		sizes->span_ns = (timeline->all_last_ns > timeline->all_first_ns
						 ? timeline->all_last_ns - timeline->all_first_ns
						 : 0) /
					 TIMELINE_SPANS +
				 1;
	}
	progress_start("writing the timeline", timeline->nr_all);
	add_head(&chrome, processes, nr_processes);
	for (size_t i = 0; i < nr_processes; i++) {
		timeline_enter(timeline, processes, nr_processes, i);
		timeline_read_launches(timeline);
		write_process(&chrome);
		timeline_leave(timeline);
	}
	add_tail(&chrome, processes, nr_processes, file->name);
	progress_stop();
	free(chrome.late);
}
