/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/process_tree.h"
#include "report/comm/job_clock.h"
#include "report/util/progress.h"
#include "report/util/text.h"

/* More than a system has. */
#define PIDS_APART 10000000u

/* Arrows of a kind that a process may have: correlation ids have 32 bits. */
#define ID_BITS 32u

/* ---- pieces ---- */

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

void timeline_add_us(struct buf *out, uint64_t ns)
{
	char decimals[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
		(char)('0' + ns % 10)};

	buf_uint(out, ns / 1000);
	buf_add(out, decimals, sizeof(decimals));
}

/* Tells how large the last event was. */
static void add_size(struct timeline *timeline)
{
	uint64_t at = timeline->out->nr_flushed + timeline->out->nr_bytes;

	if (timeline->part && timeline->part->sizes) {
		timeline_sizes_add(
			timeline->part->sizes, timeline->event_ns, at - timeline->event_at);
	}
	timeline->event_at = at;
}

void timeline_begin(struct timeline *timeline, char ph, const char *category, const char *name_json)
{
	struct buf *out = timeline->out;

	add_size(timeline);
	buf_text(out, timeline->nr_events++ ? ",\n{\"ph\": \"" : "\n{\"ph\": \"");
	buf_char(out, ph);
	if (category) {
		buf_text(out, "\", \"cat\": \"");
		buf_text(out, category);
	}
	buf_text(out, "\", \"name\": ");
	buf_text(out, name_json);
}

void timeline_place(struct timeline *timeline, uint32_t pid, uint32_t tid, uint64_t begin_ns,
	const uint64_t *end_ns)
{
	struct buf *out = timeline->out;

	timeline->event_ns = begin_ns;
	buf_text(out, ", \"pid\": ");
	buf_uint(out, pid);
	buf_text(out, ", \"tid\": ");
	buf_uint(out, tid);
	buf_text(out, ", \"ts\": ");
	timeline_add_us(out, begin_ns);
	if (end_ns) {
		buf_text(out, ", \"dur\": ");
		timeline_add_us(out, *end_ns > begin_ns ? *end_ns - begin_ns : 0);
	}
}

void timeline_flow(
	struct timeline *timeline, char ph, uint32_t id, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct buf *out = timeline->out;

	timeline_begin(timeline, ph, "ac2g", "\"ac2g\"");
	buf_text(out, ", \"id\": ");
	buf_uint(out, timeline->first_id + id);
	timeline_place(timeline, pid, tid, ns, NULL);
	buf_text(out, ph == 'f' ? ", \"bp\": \"e\"}" : "}");
}

const char *timeline_name(uint32_t name)
{
	static char **made;
	static size_t nr_made;

	if (name >= nr_made) {
		size_t nr = (size_t)name * 2 + 64;

		made = mem_resize(made, nr, sizeof(char *));
		memset(made + nr_made, 0, (nr - nr_made) * sizeof(char *));
		nr_made = nr;
	}
	if (!made[name]) {
		struct buf json = {0};
		size_t nr_bytes;
		const char *bytes = string_pool_shown(name, &nr_bytes);

		text_add_json(&json, bytes, nr_bytes);
		buf_char(&json, '\0');
		made[name] = json.bytes;
	}
	return made[name];
}

/* By another process of the file, or by a device: in containers pids are small. */
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

/* What a process is called in the file. */
static uint32_t file_pid(struct process *const *processes, size_t nr_processes, size_t k)
{
	return processes[k]->pid +
	       (is_pid_taken(processes, nr_processes, k) ? PIDS_APART * ((uint32_t)k + 1) : 0);
}

/* ---- the head of the file ---- */

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

	buf_printf(out, "{\"id\": %u, \"name\": %s", device->id, timeline_name(device->name));
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

static void add_head(
	struct timeline *timeline, struct process *const *processes, size_t nr_processes)
{
	const struct process *process = processes[0];
	struct buf *out = timeline->out;

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
		timeline->base_ns);
}

static void add_tail(struct timeline *timeline, struct process *const *processes,
	size_t nr_processes, uint64_t last_ns, const char *name)
{
	struct buf *out = timeline->out;
	struct buf clocks = {0};
	uint64_t nr_missing = 0;
	bool is_complete = true;

	timeline_begin(timeline, 'i', NULL, "\"Record Window End\"");
	buf_text(out, ", \"s\": \"g\"");
	timeline_place(
		timeline, file_pid(processes, nr_processes, 0), processes[0]->pid, last_ns, NULL);
	buf_text(out, "}],\n");
	for (size_t i = 0; i < nr_processes; i++) {
		nr_missing += process_missing(processes[i]);
		is_complete = is_complete && process_is_complete(processes[i]);
	}
	buf_printf(out,
		"\"gprof\": {\"version\": \"%s\", \"complete\": %s, \"missing_events\": %" PRIu64,
		GPROF_VERSION, is_complete ? "true" : "false", nr_missing);
	if (timeline->part && timeline->part->nr_parts) {
		buf_printf(out, ", \"part\": %zu, \"parts\": %zu", timeline->part->nr,
			timeline->part->nr_parts);
	}
	job_clock_tell(processes, nr_processes, "", &clocks);
	if (clocks.nr_bytes) {
		buf_text(out, ", \"clocks\": ");
		text_add_json(out, clocks.bytes, clocks.nr_bytes);
	}
	buf_fini(&clocks);
	buf_text(out, "},\n\"traceName\": ");
	text_add_json(out, name, strlen(name));
	buf_text(out, "\n}\n");
}

/* ---- processes ---- */

static void read_correlations(struct timeline *timeline)
{
	struct stream *stream = timeline->process->stream;

	for (size_t i = 0; i < stream->nr_blocks; i++) {
		struct idset *set = NULL;
		unsigned int column = COL_api_correlation;
		struct batch batch;

		switch (stream_block_table(stream, i)) {
		case GPROF_TABLE_api:
		case GPROF_TABLE_api_launch:
		case GPROF_TABLE_api_copy:
		case GPROF_TABLE_api_set:
		case GPROF_TABLE_api_alloc:
		case GPROF_TABLE_api_sync:
			set = timeline->called;
			break;
		case GPROF_TABLE_kernel:
		case GPROF_TABLE_memcpy:
		case GPROF_TABLE_memset:
		case GPROF_TABLE_graph:
			set = timeline->worked;
			column = COL_kernel_correlation;
			break;
		default:
			continue;
		}
		if (timeline_load(timeline, i, COL_BIT(column), &batch)) {
			for (uint32_t row = 0; row < batch.nr_rows; row++) {
				idset_add(set, (uint32_t)batch.col[column][row]);
			}
		}
	}
}

static void add_process_names(struct timeline *timeline)
{
	struct process *process = timeline->process;
	struct buf *out = timeline->out;
	struct buf name = {0};
	static const char *const keys[] = {"process_name", "process_labels", "process_sort_index"};

	process_tree_add_name(&name, process);
	for (int i = 0; i < 3; i++) {
		timeline_begin(timeline, 'M', NULL,
			i == 0	 ? "\"process_name\""
			: i == 1 ? "\"process_labels\""
				 : "\"process_sort_index\"");
		timeline_place(timeline, timeline->pid, 0, timeline->first_ns, NULL);
		buf_printf(out, ", \"args\": {\"%s\": ",
			strcmp(keys[i], "process_name") == 0 ? "name"
			: i == 1			     ? "labels"
							     : "sort_index");
		if (i == 0) {
			text_add_json(out, name.bytes, name.nr_bytes);
		} else {
			buf_text(out, i == 1 ? "\"CPU\"" : "0");
		}
		buf_text(out, "}}");
	}
	buf_fini(&name);
}

void timeline_enter(
	struct timeline *timeline, struct process *const *processes, size_t nr_processes, size_t k)
{
	struct process *process = processes[k];

	timeline->process = process;
	timeline->offset_ns = timeline_offset(processes, nr_processes, k);
	timeline->pid = file_pid(processes, nr_processes, k);
	timeline->first_id = (uint64_t)k << ID_BITS;
	timeline->first_device_pid = TIMELINE_DEVICES * (uint32_t)k;
	timeline->first_ns = 0;
	if (process->first_ns <= process->last_ns) {
		timeline->first_ns =
			process->first_ns + (uint64_t)timeline->offset_ns - timeline->base_ns;
	}
	timeline->called = idset_create();
	timeline->worked = idset_create();
	timeline->device_id = UINT32_MAX;
	idmap_init(&timeline->shape_args, sizeof(char *));
	read_correlations(timeline);
}

void timeline_leave(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->shape_args.nr; i++) {
		free(*(char **)idmap_at(&timeline->shape_args, i));
	}
	idmap_fini(&timeline->shape_args);
	idset_destroy(timeline->called);
	idset_destroy(timeline->worked);
}

void timeline_write_part(struct process *const *processes, size_t nr_processes,
	const struct timeline_pick *pick, const char *name, const struct timeline_part *part,
	struct buf *out)
{
	struct timeline timeline = {.out = out, .pick = pick, .part = part};

	timeline_find_base(&timeline, processes, nr_processes, 0);
	if (part && part->sizes) {
		timeline_sizes_begin(part->sizes, timeline.all_first_ns, timeline.all_last_ns);
	}
	progress_start("writing the timeline", timeline.nr_all);
	add_head(&timeline, processes, nr_processes);
	for (size_t i = 0; i < nr_processes; i++) {
		timeline_enter(&timeline, processes, nr_processes, i);
		add_process_names(&timeline);
		timeline_host(&timeline);
		timeline_devices(&timeline);
		timeline_leave(&timeline);
	}
	add_tail(&timeline, processes, nr_processes, timeline.all_last_ns, name);
	progress_stop();
	free(timeline.slices);
	free(timeline.free_slots);
	free(timeline.keys);
	free(timeline.scratch);
}

void timeline_write(struct process *const *processes, size_t nr_processes,
	const struct timeline_pick *pick, const char *name, struct buf *out)
{
	timeline_write_part(processes, nr_processes, pick, name, NULL, out);
}
