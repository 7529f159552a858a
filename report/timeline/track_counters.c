/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and allocations are counted as a walk meets them. Launches and copies need the order of
 * begins: track_counters_walk() sorts all activities, finds their calls, and counts queues up and
 * down.
 */
#include "report/timeline/track_counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/util/heap.h"
#include "report/util/external_sort.h"
#include "report/util/hash.h"
#include "report/util/idmap.h"
#include "report/util/rate.h"

/* Kinds of counters; those of samples are their metrics. */
enum {
	COUNT_QUEUE = 256,
	COUNT_COPIES,
	COUNT_ALLOCATED, /* by device, with the type above */
	COUNT_RESERVED,
};

struct track_counter {
	uint32_t kind, device;
	uint64_t track;
	double level;
	uint64_t nr_running; /* copies of the device */
};

struct running_copy {
	uint64_t key; /* of heap.h: the complement of its end in ns */
	double rate;  /* GB/s */
	uint32_t device;
};

static void add_track(const struct track_rows *rows, uint64_t track, uint64_t parent,
	const char *name, const char *unit, uint32_t kind)
{
	rows->sink->counter_track(rows->sink->context,
		&(struct track){.id = track,
			.parent = parent,
			.name = name,
			.rank = (int32_t)kind,
			.kind = TRACK_OTHER},
		unit);
}

/* ---- launch queues ---- */

struct launch {
	uint64_t ns;
	uint64_t correlation;
	UT_hash_handle hh;
};

void launch_queues_init(struct launch_queues *queues)
{
	*queues = (struct launch_queues){.begun = idset_create()};
}

void launch_queues_fini(struct launch_queues *queues)
{
	hash_free(queues->launches);
	for (size_t i = 0; i < queues->nr; i++) {
		free(queues->queues[i].begins);
	}
	free(queues->queues);
	idset_destroy(queues->begun);
	*queues = (struct launch_queues){0};
}

struct launch_queue *launch_queues_find(
	struct launch_queues *queues, uint32_t device, uint32_t stream)
{
	for (size_t i = 0; i < queues->nr; i++) {
		if (queues->queues[i].device == device && queues->queues[i].stream == stream) {
			return &queues->queues[i];
		}
	}
	queues->queues =
		array_grow(queues->queues, queues->nr, &queues->capacity, sizeof(*queues->queues));
	queues->queues[queues->nr] = (struct launch_queue){.device = device, .stream = stream};
	return &queues->queues[queues->nr++];
}

static struct launch *find_launch(struct launch_queues *queues, uint64_t correlation)
{
	struct launch *launch;

	HASH_FIND(hh, queues->launches, &correlation, sizeof(correlation), launch);
	return launch;
}

void launch_queues_launch(struct launch_queues *queues, uint64_t correlation, uint64_t ns)
{
	struct launch *launch;

	if (idset_has(queues->begun, correlation) || find_launch(queues, correlation)) {
		return;
	}
	launch = mem_zeroed(1, sizeof(*launch));
	launch->ns = ns;
	launch->correlation = correlation;
	HASH_ADD(hh, queues->launches, correlation, sizeof(launch->correlation), launch);
}

bool launch_queues_begin(struct launch_queues *queues, uint64_t correlation, uint64_t *launch_ns)
{
	struct launch *launch;

	if (idset_has(queues->begun, correlation)) {
		return false; /* the first node of a graph counts */
	}
	idset_add(queues->begun, correlation);
	launch = find_launch(queues, correlation);
	if (!launch) {
		return false;
	}
	*launch_ns = launch->ns;
	HASH_DEL(queues->launches, launch);
	free(launch);
	return true;
}

/* Counts down for what began until then. */
static void write_begins(struct launch_queue *queue, const struct track_sink *sink, uint64_t ns)
{
	while (queue->first < queue->nr && queue->begins[queue->first] <= ns) {
		/* Times of a counter must not fall, see launch_queue_add. */
		if (queue->begins[queue->first] > queue->written_ns) {
			queue->written_ns = queue->begins[queue->first];
		}
		queue->first++;
		sink->count(sink->context, queue->track, queue->written_ns, (double)--queue->depth);
	}
}

/* Moves what is left to the front once more than half is done, so that moves stay cheap. */
static void make_room(struct launch_queue *queue)
{
	if (queue->first > queue->nr / 2) {
		queue->nr -= queue->first;
		memmove(queue->begins, queue->begins + queue->first,
			queue->nr * sizeof(*queue->begins));
		queue->first = 0;
	}
	queue->begins =
		array_grow(queue->begins, queue->nr, &queue->capacity, sizeof(*queue->begins));
}

void launch_queue_add(struct launch_queue *queue, const struct track_sink *sink, uint64_t launch_ns,
	uint64_t begin_ns)
{
	/* Launches of several threads may take effect in another order than they began. */
	launch_ns = launch_ns > queue->written_ns ? launch_ns : queue->written_ns;
	write_begins(queue, sink, launch_ns);
	queue->written_ns = launch_ns;
	sink->count(sink->context, queue->track, launch_ns, (double)++queue->depth);
	make_room(queue);
	queue->begins[queue->nr++] = begin_ns;
}

void launch_queues_end(struct launch_queues *queues, const struct track_sink *sink)
{
	for (size_t i = 0; i < queues->nr; i++) {
		write_begins(&queues->queues[i], sink, UINT64_MAX);
	}
}

/* ---- the counters of a process ---- */

static void count_shown(void *context, uint64_t track, uint64_t ns, double value)
{
	const struct track_rows *rows = ((const struct track_counters *)context)->rows;

	if (timeline_has(rows->timeline, ns, ns)) {
		rows->sink->count(rows->sink->context, track, ns, value);
	}
}

void track_counters_init(struct track_counters *counters, struct track_rows *rows)
{
	*counters = (struct track_counters){
		.rows = rows, .shown = {.count = count_shown, .context = counters}};
	launch_queues_init(&counters->queues);
	counters->with_totals = idset_create();
}

void track_counters_fini(struct track_counters *counters)
{
	launch_queues_fini(&counters->queues);
	idset_destroy(counters->with_totals);
	free(counters->counters);
	free(counters->copies);
}

static bool is_counting(const struct track_counters *counters)
{
	return counters->rows->sink->count &&
	       timeline_shows(counters->rows->timeline, TIMELINE_COUNTERS);
}

static void add_count(
	const struct track_counters *counters, uint64_t track, uint64_t ns, double value)
{
	counters->shown.count(counters->shown.context, track, ns, value);
}

/* Finds a counter of a device or of the process, or makes it. */
static struct track_counter *counter_of(struct track_counters *counters, uint32_t kind,
	uint32_t device, uint64_t parent, const char *name, const char *unit)
{
	struct track_counter *counter;

	for (size_t i = 0; i < counters->nr; i++) {
		if (counters->counters[i].kind == kind && counters->counters[i].device == device) {
			return &counters->counters[i];
		}
	}
	counters->counters = array_grow(
		counters->counters, counters->nr, &counters->capacity, sizeof(*counters->counters));
	counter = &counters->counters[counters->nr++];
	*counter = (struct track_counter){
		.kind = kind, .device = device, .track = counters->rows->next_track++};
	add_track(counters->rows, counter->track, parent, name, unit, kind);
	return counter;
}

/* The groups that counters stand in. */
static uint64_t device_group(struct track_counters *counters, uint32_t device)
{
	size_t row = track_rows_device_counters(counters->rows, device); /* may move the rows */

	return counters->rows->rows[row].track;
}

static uint64_t process_group(struct track_counters *counters)
{
	size_t row = track_rows_process_counters(counters->rows);

	return counters->rows->rows[row].track;
}

/* ---- samples ---- */

/*
 * Finds the value of a sample as the view `utilization` has it; false: the first of a rising
 * metric.
 */
static bool value_of(struct track_counters *counters, const struct utilization_metric *what,
	uint8_t metric, uint64_t ns, uint64_t raw, double *value)
{
	uint64_t last_ns = counters->samples[metric].ns, last = counters->samples[metric].value;
	bool has_last = last_ns && ns > last_ns && raw >= last;

	switch (what->meaning) {
	case USAGE_SHOWN:
	case USAGE_MEAN:
		*value = (double)raw * what->factor;
		return true;
	case USAGE_REASONS:
		*value = (double)(raw & USAGE_SLOW_REASONS);
		return true;
	case USAGE_PER_CPU:
	case USAGE_PER_S:
		*value = has_last ? (double)(raw - last) / (double)(ns - last_ns) : 0;
		*value *= what->meaning == USAGE_PER_CPU ? 100 : 1e9;
		break;
	case USAGE_LENGTH:
		counters->samples[metric].value = raw;
		return false;
	default:
		return false;
	}
	counters->samples[metric].ns = ns;
	counters->samples[metric].value = raw;
	return has_last;
}

static void add_sample(
	struct track_counters *counters, uint8_t metric, uint32_t device, uint64_t ns, double value)
{
	const struct utilization_metric *what = &usage_metrics[metric];
	uint64_t parent = device == USAGE_NO_DEVICE ? process_group(counters)
						    : device_group(counters, device);

	add_count(counters,
		counter_of(counters, metric, device, parent, what->name,
			what->meaning == USAGE_REASONS ? "bits" : what->unit)
			->track,
		ns, value);
}

/* Time of all CPUs comes after its parts, whose shares it gives. */
static void add_shares(struct track_counters *counters, const struct slice_sample *all)
{
	uint64_t last_all = counters->samples[all->metric].value;
	bool has_last = counters->samples[all->metric].ns && all->value > last_all;

	for (uint8_t metric = 0; metric < usage_nr_metrics; metric++) {
		struct track_sample *part = &counters->samples[metric];

		if (usage_metrics[metric].meaning != USAGE_PER_ALL) {
			continue;
		}
		if (has_last && part->ns && part->has_next && part->next >= part->value) {
			add_sample(counters, metric, all->device, all->ns,
				100 * (double)(part->next - part->value) /
					(double)(all->value - last_all));
		}
		part->ns = part->has_next ? all->ns : 0;
		part->value = part->next;
		part->has_next = false;
	}
	counters->samples[all->metric].ns = all->ns;
	counters->samples[all->metric].value = all->value;
}

/* A mean is drawn from where it began, as a curve keeps its value until the next one. */
static uint64_t begin_of(const struct track_counters *counters, const struct slice_sample *sample)
{
	uint64_t length = counters->samples[GPROF_METRIC_GPU_MEANS_NS].value;

	return usage_metrics[sample->metric].meaning == USAGE_MEAN && length < sample->ns
		       ? sample->ns - length
		       : sample->ns;
}

/* The power of a GPU has a curve; it need not be drawn by its energy, too. */
static bool is_drawn(const struct slice_sample *sample)
{
	return sample->metric && sample->metric < usage_nr_metrics &&
	       sample->metric != GPROF_METRIC_GPU_ENERGY_MJ;
}

void track_counters_sample(struct track_counters *counters, const struct slice_sample *sample)
{
	uint8_t metric = sample->metric;
	double value;

	if (!is_counting(counters) || !is_drawn(sample)) {
		return;
	}
	if (usage_metrics[metric].meaning == USAGE_PER_ALL) {
		counters->samples[metric].next = sample->value;
		counters->samples[metric].has_next = true;
	} else if (usage_metrics[metric].meaning == USAGE_ALL) {
		add_shares(counters, sample);
	} else if (value_of(counters, &usage_metrics[metric], metric, sample->ns, sample->value,
			   &value)) {
		add_sample(counters, metric, sample->device, begin_of(counters, sample), value);
	}
}

/* ---- memory ---- */

static uint32_t memory_key(const struct slice_alloc *alloc)
{
	return alloc->device | alloc->device_type << 8;
}

bool track_counters_has_totals(struct track_counters *counters, const struct slice_alloc *alloc)
{
	if (alloc->allocated_bytes || alloc->reserved_bytes) {
		idset_add(counters->with_totals, memory_key(alloc));
	}
	return idset_has(counters->with_totals, memory_key(alloc));
}

void track_counters_alloc(struct track_counters *counters, const struct slice_alloc *alloc)
{
	bool is_host = !alloc->device_type;
	uint64_t parent;
	uint32_t key = memory_key(alloc);

	if (!is_counting(counters) || !track_counters_has_totals(counters, alloc)) {
		return;
	}
	parent = is_host ? process_group(counters) : device_group(counters, alloc->device);
	add_count(counters,
		counter_of(counters, COUNT_ALLOCATED, key, parent,
			is_host ? "allocated by the framework (host)"
				: "allocated by the framework",
			"bytes")
			->track,
		alloc->ns, (double)alloc->allocated_bytes);
	if (alloc->reserved_bytes) {
		struct track_counter *reserved = counter_of(counters, COUNT_RESERVED, key, parent,
			"reserved by the framework", "bytes");
		double bytes = (double)alloc->reserved_bytes;

		if (reserved->level != bytes) { /* few allocations reserve more */
			reserved->level = bytes;
			add_count(counters, reserved->track, alloc->ns, bytes);
		}
	}
}

/* ---- depth of launch queues ---- */

static struct launch_queue *queue_depth_of(
	struct track_counters *counters, const struct model_place *place)
{
	struct launch_queue *queue =
		launch_queues_find(&counters->queues, place->device, place->stream);
	char name[64];

	if (!queue->track) {
		snprintf(name, sizeof(name),
			place->stream == UINT32_MAX ? "launch queue depth, stream (unknown)"
						    : "launch queue depth, stream %" PRIu32,
			place->stream);
		queue->track = counters->rows->next_track++;
		add_track(counters->rows, queue->track, device_group(counters, place->device), name,
			"", COUNT_QUEUE);
	}
	return queue;
}

/* An activity that seems to begin before its call was never queued. */
static void count_launch(struct track_counters *counters, uint64_t correlation, uint64_t launch_ns,
	const struct model_place *place, uint64_t begin_ns)
{
	if (launch_ns <= begin_ns) {
		launch_queues_launch(&counters->queues, correlation, launch_ns);
	}
	if (launch_queues_begin(&counters->queues, correlation, &launch_ns)) {
		launch_queue_add(
			queue_depth_of(counters, place), &counters->shown, launch_ns, begin_ns);
	}
}

/* ---- bandwidth of copies ---- */

static void count_rate(
	struct track_counters *counters, uint32_t device, uint64_t ns, double step, bool is_begin)
{
	uint32_t key = device;
	struct track_counter *counter = counter_of(counters, COUNT_COPIES, key,
		device_group(counters, device), "copy bandwidth", "GB/s");

	counter->nr_running += is_begin ? 1 : -1ull;
	/* Sums of fractions do not return to zero exactly. */
	counter->level = counter->nr_running ? counter->level + step : 0;
	add_count(counters, counter->track, ns, counter->level);
}

/* The running copies are a heap: the one that ends first is on top. */
static void push_copy(struct track_counters *counters, struct running_copy copy)
{
	counters->copies = array_grow(counters->copies, counters->nr_copies,
		&counters->copy_capacity, sizeof(*counters->copies));
	heap_push(counters->copies, counters->nr_copies++, sizeof(copy),
		offsetof(struct running_copy, key), &copy);
}

static struct running_copy pop_copy(struct track_counters *counters)
{
	struct running_copy first = counters->copies[0];
	struct running_copy last = counters->copies[--counters->nr_copies];

	heap_drop(counters->copies, counters->nr_copies, sizeof(last),
		offsetof(struct running_copy, key), &last);
	return first;
}

static void end_copies(struct track_counters *counters, uint64_t ns)
{
	while (counters->nr_copies && ~counters->copies[0].key <= ns) {
		struct running_copy copy = pop_copy(counters);

		count_rate(counters, copy.device, ~copy.key, -copy.rate, false);
	}
}

static void count_copy(struct track_counters *counters, uint32_t device, uint64_t begin_ns,
	uint64_t end_ns, uint64_t bytes)
{
	struct running_copy copy = {.key = ~end_ns, .device = device};

	if (end_ns <= begin_ns) {
		return;
	}
	end_copies(counters, begin_ns);
	copy.rate = rate_gb_of((double)bytes, end_ns - begin_ns);
	push_copy(counters, copy);
	count_rate(counters, device, begin_ns, copy.rate, true);
}

/* ---- launches and copies of all of the recording ---- */

/* Bytes that are sorted in memory at a time: records are small. */
#define SORTED_BYTES (3u << 20)

struct counted_activity {
	struct external_sort_head head; /* by begin */
	uint64_t correlation, dur_ns, bytes;
	uint32_t place;
	bool is_copy;
};

/* The call that launched an activity. */
struct counted_call {
	uint64_t begin_ns;
};

struct counted {
	struct timeline timeline; /* the current process, without a filter */
	struct external_sort *activities;
	struct idmap calls; /* struct counted_call, by correlation ID */
};

static void add_activities(struct counted *counted, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct counted_activity *activity = external_sort_add(counted->activities);
		uint64_t correlation = b->col[COL_kernel_correlation][i];

		activity->head.key =
			timeline_device_ns(&counted->timeline, b->col[COL_kernel_begin][i]);
		activity->dur_ns = b->col[COL_kernel_dur][i];
		activity->place = (uint32_t)b->col[COL_kernel_place][i];
		activity->correlation = correlation;
		activity->is_copy = b->table == GPROF_TABLE_memcpy;
		activity->bytes = activity->is_copy ? b->col[COL_memcpy_bytes][i] : 0;
		if (correlation) {
			((struct counted_call *)idmap_put(&counted->calls, correlation))->begin_ns =
				UINT64_MAX;
		}
	}
}

static void add_calls(struct counted *counted, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		struct counted_call *call =
			idmap_get(&counted->calls, b->col[COL_api_correlation][i]);
		uint64_t begin_ns;

		if (call) {
			begin_ns = timeline_host_ns(&counted->timeline, b->col[COL_api_begin][i]);
			call->begin_ns = begin_ns < call->begin_ns ? begin_ns : call->begin_ns;
		}
	}
}

static void read_blocks(struct counted *counted, unsigned int facts, uint32_t mask,
	void (*add)(struct counted *counted, const struct batch *b))
{
	const struct stream *stream = counted->timeline.process->stream;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i);
		uint32_t bytes = table == GPROF_TABLE_memcpy ? COLS(memcpy, bytes) : 0;
		struct batch batch;

		if (gprof_table_is(table, facts) &&
			timeline_load(&counted->timeline, i, mask | bytes, &batch)) {
			add(counted, &batch);
		}
	}
}

static void count_activity(struct track_counters *counters, const struct counted *counted,
	const struct counted_activity *activity)
{
	struct model_place place = process_place(counted->timeline.process, activity->place);
	const struct counted_call *call = idmap_get(&counted->calls, activity->correlation);
	uint64_t begin_ns = activity->head.key;

	if (activity->is_copy) {
		count_copy(counters, place.device, begin_ns, begin_ns + activity->dur_ns,
			activity->bytes);
	}
	if (call && call->begin_ns != UINT64_MAX) {
		count_launch(counters, activity->correlation, call->begin_ns, &place, begin_ns);
	}
}

/*
 * A count depends on all that happened before, so the filter does not apply to what is read, only
 * to what is shown.
 */
void track_counters_walk(struct track_counters *counters)
{
	struct counted counted = {.timeline = *counters->rows->timeline};

	if (!is_counting(counters)) {
		return;
	}
	counted.timeline.filter = NULL;
	counted.timeline.part = NULL;
	counted.activities = external_sort_create(sizeof(struct counted_activity), 0, SORTED_BYTES);
	idmap_init(&counted.calls, sizeof(struct counted_call));
	read_blocks(&counted, GPROF_IS_ACTIVITY, COLS(kernel, begin, dur, place, correlation),
		add_activities);
	external_sort_finish(counted.activities);
	read_blocks(&counted, GPROF_IS_CALL, COLS(api, begin, correlation), add_calls);
	for (size_t i = 0; i < external_sort_nr(counted.activities); i++) {
		count_activity(counters, &counted, external_sort_at(counted.activities, i));
	}
	end_copies(counters, UINT64_MAX);
	launch_queues_end(&counters->queues, &counters->shown);
	external_sort_destroy(counted.activities);
	idmap_fini(&counted.calls);
}
