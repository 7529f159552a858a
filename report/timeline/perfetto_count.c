/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "report/timeline/perfetto.h"
#include "report/analysis/utilization.h"

/* Kinds of counters behind those of samples, whose kinds are their metrics. */
enum {
	COUNT_QUEUE = 256,
	COUNT_COPIES,
	COUNT_ALLOCATED, /* by device, with the type above */
	COUNT_RESERVED,
};

/* That run at once and count; real devices have a handful of copy engines. */
#define COPIES_MOST 4096u

/* Of a device, or of the process. */
static struct perfetto_counter *counter_of(struct perfetto *pftrace, uint32_t kind, uint32_t device,
	uint64_t parent, const char *name, const char *unit)
{
	struct perfetto_counter *counter;

	for (size_t i = 0; i < pftrace->nr_counters; i++) {
		if (pftrace->counters[i].kind == kind && pftrace->counters[i].device == device) {
			return &pftrace->counters[i];
		}
	}
	pftrace->counters = array_grow(pftrace->counters, pftrace->nr_counters,
		&pftrace->counter_capacity, sizeof(*pftrace->counters));
	counter = &pftrace->counters[pftrace->nr_counters++];
	*counter = (struct perfetto_counter){
		.kind = kind, .device = device, .track = pftrace->next_track++};
	perfetto_out_counter_track(
		&pftrace->out, counter->track, parent, name, unit, (int32_t)kind - 1024);
	return counter;
}

static uint64_t device_track(struct perfetto *pftrace, uint32_t device)
{
	size_t row = perfetto_device_row(pftrace, device); /* may move the rows */

	return pftrace->rows.rows[row].track;
}

/* ---- samples ---- */

/* What a sample is worth, as the view `utilization` has it; false for the first of those that rise.
 */
static bool value_of(struct perfetto *pftrace, const struct utilization_metric *what,
	uint8_t metric, uint64_t ns, uint64_t raw, double *value)
{
	uint64_t last_ns = pftrace->samples[metric].ns, last = pftrace->samples[metric].value;
	bool has_last = last_ns && ns > last_ns && raw >= last;

	switch (what->meaning) {
	case USAGE_SHOWN:
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
	default:
		return false;
	}
	pftrace->samples[metric].ns = ns;
	pftrace->samples[metric].value = raw;
	return has_last;
}

/* The host's CPUs: the busy time stands before that of all, which is the later sample of both. */
static bool host_value(
	struct perfetto *pftrace, uint8_t metric, uint64_t ns, uint64_t raw, double *value)
{
	uint64_t busy = pftrace->samples[GPROF_METRIC_HOST_CPU_BUSY_NS].value;
	uint64_t all = pftrace->samples[GPROF_METRIC_HOST_CPU_ALL_NS].value;
	uint64_t last_busy = pftrace->samples[0].value;
	bool has_last = pftrace->samples[GPROF_METRIC_HOST_CPU_ALL_NS].ns != 0;

	pftrace->samples[metric].value = raw;
	if (metric == GPROF_METRIC_HOST_CPU_BUSY_NS) {
		return false;
	}
	pftrace->samples[metric].ns = ns;
	pftrace->samples[0].value = busy;
	if (!has_last || raw <= all || busy < last_busy) {
		return false;
	}
	*value = 100 * (double)(busy - last_busy) / (double)(raw - all);
	return true;
}

static void count_sample(
	struct perfetto *pftrace, uint8_t metric, uint32_t device, uint64_t ns, uint64_t raw)
{
	bool is_host =
		metric == GPROF_METRIC_HOST_CPU_BUSY_NS || metric == GPROF_METRIC_HOST_CPU_ALL_NS;
	const struct utilization_metric *what;
	uint64_t parent;
	double value;

	if (!metric || metric >= usage_nr_metrics ||
		metric >= sizeof(pftrace->samples) / sizeof(pftrace->samples[0])) {
		return;
	}
	what = &usage_metrics[is_host ? GPROF_METRIC_HOST_CPU_BUSY_NS : metric];
	if (!(is_host ? host_value(pftrace, metric, ns, raw, &value)
		      : value_of(pftrace, what, metric, ns, raw, &value))) {
		return;
	}
	parent = device == USAGE_NO_DEVICE ? pftrace->process_track : device_track(pftrace, device);
	perfetto_out_count(&pftrace->out,
		counter_of(pftrace, is_host ? GPROF_METRIC_HOST_CPU_BUSY_NS : metric, device,
			parent, what->name, what->meaning == USAGE_REASONS ? "bits" : what->unit)
			->track,
		ns, value);
}

void perfetto_count_samples(struct perfetto *pftrace, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		count_sample(pftrace, (uint8_t)b->col[COL_sample_metric][i],
			(uint32_t)b->col[COL_sample_device][i],
			timeline_host_ns(&pftrace->timeline, b->col[COL_sample_time][i]),
			b->col[COL_sample_value][i]);
	}
}

/* ---- memory ---- */

void perfetto_count_allocs(struct perfetto *pftrace, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t type = (uint32_t)b->col[COL_alloc_device_type][i];
		uint32_t device = (uint32_t)b->col[COL_alloc_device][i];
		uint64_t ns = timeline_host_ns(&pftrace->timeline, b->col[COL_alloc_time][i]);
		uint64_t parent = type ? device_track(pftrace, device) : pftrace->process_track;
		uint32_t key = device | type << 8;

		perfetto_out_count(&pftrace->out,
			counter_of(pftrace, COUNT_ALLOCATED, key, parent,
				type ? "allocated by the framework"
				     : "allocated by the framework (host)",
				"bytes")
				->track,
			ns, (double)b->col[COL_alloc_allocated_bytes][i]);
		if (b->col[COL_alloc_reserved_bytes][i]) {
			perfetto_out_count(&pftrace->out,
				counter_of(pftrace, COUNT_RESERVED, key, parent,
					"reserved by the framework", "bytes")
					->track,
				ns, (double)b->col[COL_alloc_reserved_bytes][i]);
		}
	}
}

/* ---- queues of streams: calls that launch, less what began of them ---- */

static bool has_queues(const struct perfetto *pftrace)
{
	return timeline_shows(&pftrace->timeline, TIMELINE_COUNTERS) && !pftrace->out.sink;
}

static struct perfetto_queue *queue_depth_of(
	struct perfetto *pftrace, const struct model_place *place)
{
	struct perfetto_queue *queue =
		perfetto_queues_find(&pftrace->queues, place->device, place->stream);
	char name[64];

	if (!queue->track) {
		snprintf(name, sizeof(name),
			place->stream == UINT32_MAX ? "launched, not begun, stream (unknown)"
						    : "launched, not begun, stream %" PRIu32,
			place->stream);
		queue->track = pftrace->next_track++;
		perfetto_out_counter_track(&pftrace->out, queue->track,
			device_track(pftrace, place->device), name, "", COUNT_QUEUE - 1024);
	}
	return queue;
}

void perfetto_count_launch(struct perfetto *pftrace, uint32_t correlation, uint64_t ns)
{
	if (has_queues(pftrace)) {
		perfetto_queues_call(&pftrace->queues, correlation, ns);
	}
}

void perfetto_count_work(struct perfetto *pftrace, uint32_t correlation,
	const struct model_place *place, uint64_t ns)
{
	uint64_t call_ns;

	if (has_queues(pftrace) && perfetto_queues_begin(&pftrace->queues, correlation, &call_ns)) {
		perfetto_queue_add(queue_depth_of(pftrace, place), &pftrace->out, call_ns, ns);
	}
}

/* ---- bandwidth of copies ---- */

static void count_rate(struct perfetto *pftrace, uint32_t device, uint64_t ns, double step)
{
	uint32_t key = device;
	struct perfetto_counter *counter = counter_of(pftrace, COUNT_COPIES, key,
		device_track(pftrace, device), "copy bandwidth", "GB/s");
	bool is_running = false;

	for (size_t i = 0; i < pftrace->nr_copies; i++) {
		is_running |= pftrace->copies[i].device == device;
	}
	/* Sums of fractions end beside zero. */
	counter->level = is_running ? counter->level + step : 0;
	perfetto_out_count(&pftrace->out, counter->track, ns, counter->level);
}

void perfetto_count_copies_until(struct perfetto *pftrace, uint64_t ns)
{
	while (pftrace->nr_copies) {
		struct perfetto_copy copy;
		size_t first = 0;

		for (size_t i = 1; i < pftrace->nr_copies; i++) {
			if (pftrace->copies[i].end_ns < pftrace->copies[first].end_ns) {
				first = i;
			}
		}
		copy = pftrace->copies[first];
		if (copy.end_ns > ns) {
			return;
		}
		pftrace->copies[first] = pftrace->copies[--pftrace->nr_copies];
		count_rate(pftrace, copy.device, copy.end_ns, -copy.rate);
	}
}

void perfetto_count_copy(struct perfetto *pftrace, uint32_t device, uint64_t begin_ns,
	uint64_t end_ns, uint64_t bytes)
{
	struct perfetto_copy copy = {.end_ns = end_ns, .device = device};

	if (!timeline_shows(&pftrace->timeline, TIMELINE_COUNTERS) || end_ns <= begin_ns ||
		pftrace->nr_copies == COPIES_MOST) {
		return;
	}
	perfetto_count_copies_until(pftrace, begin_ns);
	copy.rate = (double)bytes / (double)(end_ns - begin_ns);
	pftrace->copies = array_grow(pftrace->copies, pftrace->nr_copies, &pftrace->copy_capacity,
		sizeof(*pftrace->copies));
	pftrace->copies[pftrace->nr_copies++] = copy;
	count_rate(pftrace, device, begin_ns, copy.rate);
}
