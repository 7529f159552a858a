/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a process as `torch.cuda.memory._dump_snapshot` writes it, for the viewer at
 * pytorch.org/memory_viz and for torch.cuda._memory_viz. The keys are those of that function's
 * result (documented at `torch.cuda.memory._snapshot`); streams of blocks are not recorded, so all
 * are of stream 0. Where PyTorch has frames of C++, this has the operators, modules and calls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/memory/memory.h"
#include "report/memory/memory_snapshot.h"
#include "report/cli/export.h"
#include "report/session/session.h"
#include "report/util/pickle.h"
#include "report/util/string_pool.h"

struct writer {
	struct pickle pickle;
	const struct memory_snapshot *snapshot;
	struct idmap frames; /* uint32_t: 1 + the memo of a list of frames */
	uint32_t nr_devices;
};

static void add_number(struct pickle *pickle, const char *key, uint64_t value)
{
	pickle_text(pickle, key);
	pickle_number(pickle, value);
}

static void add_text(struct pickle *pickle, const char *key, const char *value)
{
	pickle_text(pickle, key);
	pickle_text(pickle, value);
}

/* ---- frames ---- */

static void add_frame(struct pickle *pickle, uint32_t name, uint32_t file, uint32_t line)
{
	pickle_item(pickle);
	pickle_dict_begin(pickle);
	pickle_text(pickle, "name");
	pickle_name(pickle, name);
	pickle_text(pickle, "filename");
	pickle_name(pickle, file);
	add_number(pickle, "line", line);
	pickle_dict_end(pickle);
}

static uint32_t word(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

/* A damaged stream may have cycles, so the frames are limited. */
static void add_python(struct writer *writer, uint32_t id)
{
	const struct process *process = writer->snapshot->process;
	const struct model_py_stack *stack = idmap_get(&process->py_stacks, id);

	for (unsigned int i = 0; stack && i < 4 * MEMORY_FRAMES_MAX; i++) {
		const struct model_py_code *code = idmap_get(&process->py_codes, stack->code);

		add_frame(&writer->pickle, code ? code->name : word("(unknown)"),
			code && code->file ? code->file : word("Python"), stack->line);
		stack = stack->parent ? idmap_get(&process->py_stacks, stack->parent) : NULL;
	}
}

static const char *kind_of(uint32_t is)
{
	if (is & OP_IS_MODULE) {
		return "module";
	}
	return is & OP_IS_USER ? "range" : "operator";
}

/* Writes each list once: it is the same value for all that it stands for, as in PyTorch's files. */
static void add_frames(struct writer *writer, uint32_t name)
{
	struct pickle *pickle = &writer->pickle;
	uint32_t *memo = idmap_put(&writer->frames, name);
	struct memory_frames frames;

	pickle_text(pickle, "frames");
	if (*memo) {
		pickle_again(pickle, *memo - 1);
		return;
	}
	memory_snapshot_frames(name, &frames);
	pickle_list_begin(pickle);
	if (frames.call) {
		add_frame(pickle, frames.call, word("call"), 0);
	}
	for (uint32_t i = 0; i < frames.nr_ops; i++) {
		add_frame(pickle, frames.ops[i].name, word(kind_of(frames.ops[i].is)), 0);
	}
	add_python(writer, frames.py_stack);
	/* The viewer takes no frames for a block from before its own history. */
	if (!frames.call && !frames.nr_ops && !frames.py_stack) {
		add_frame(pickle, word("(unknown)"), word("not recorded"), 0);
	}
	pickle_list_end(pickle);
	*memo = 1 + pickle_keep(pickle);
}

/* ---- events ---- */

static uint8_t device_of(const struct writer *writer, const struct memory_event *event)
{
	return event->segment == MEMORY_NO_SEGMENT
		       ? event->device
		       : writer->snapshot->segments[event->segment].device;
}

/* Microseconds since 1970, as PyTorch has them. */
static uint64_t time_us(const struct writer *writer, uint64_t tick)
{
	struct process *process = writer->snapshot->process;
	uint64_t ns = clock_map_time(&process->host_clock, tick);

	return (ns + (uint64_t)process->realtime_offset_ns) / 1000;
}

static const char *category_of(const struct memory_event *event)
{
	if (event->kind == MEMORY_EVENT_SEGMENT_ALLOC) {
		return MEMORY_DIRECT_NAME;
	}
	return event->category < NR_ALLOC_CATEGORIES ? alloc_category_names[event->category]
						     : "unknown";
}

static void add_event(struct writer *writer, const struct memory_event *event, const char *action)
{
	struct pickle *pickle = &writer->pickle;

	pickle_item(pickle);
	pickle_dict_begin(pickle);
	add_text(pickle, "action", action);
	add_number(pickle, "addr", event->address);
	add_number(pickle, "size", event->bytes);
	add_number(pickle, "stream", 0);
	add_number(pickle, "time_us", time_us(writer, event->tick));
	if (event->kind == MEMORY_EVENT_REFUSED) {
		add_number(pickle, "device_free", event->free_bytes);
	}
	if (strcmp(action, "alloc") == 0) {
		add_text(pickle, "category", category_of(event));
	}
	add_frames(writer, event->frames);
	pickle_dict_end(pickle);
}

static void add_free(struct writer *writer, const struct memory_event *event)
{
	add_event(writer, event, "free_requested");
	add_event(writer, event, "free_completed");
}

/* The viewer takes a second allocation at an address for one that was never freed. */
static void add_replaced(struct writer *writer, const struct memory_event *event)
{
	struct memory_event before = *event;

	before.kind = MEMORY_EVENT_FREE;
	before.bytes = event->replaced_bytes;
	before.frames = 0;
	add_free(writer, &before);
}

/* Memory beside the allocator is a segment that one block fills, since the viewer draws blocks. */
static void add_events_of(struct writer *writer, const struct memory_event *event)
{
	bool is_beside = event->segment != MEMORY_NO_SEGMENT &&
			 !writer->snapshot->segments[event->segment].has_blocks;

	switch (event->kind) {
	case MEMORY_EVENT_ALLOC:
		if (event->replaced_bytes) {
			add_replaced(writer, event);
		}
		add_event(writer, event, "alloc");
		break;
	case MEMORY_EVENT_FREE:
		add_free(writer, event);
		break;
	case MEMORY_EVENT_SEGMENT_ALLOC:
		add_event(writer, event, "segment_alloc");
		if (is_beside) {
			add_event(writer, event, "alloc");
		}
		break;
	case MEMORY_EVENT_SEGMENT_FREE:
		if (event->segment == MEMORY_NO_SEGMENT) {
			break; /* nobody knows how large it was */
		}
		if (is_beside) {
			add_free(writer, event);
		}
		add_event(writer, event, "segment_free");
		break;
	default:
		add_event(writer, event, "oom");
	}
}

/*
 * Ends each device's events as PyTorch does. Its viewer wants a category "unknown" among those of a
 * file that has any, and fails without.
 */
static void add_last(struct writer *writer, uint64_t tick)
{
	struct pickle *pickle = &writer->pickle;

	pickle_item(pickle);
	pickle_dict_begin(pickle);
	add_text(pickle, "action", "snapshot");
	add_number(pickle, "addr", 0);
	add_number(pickle, "size", 0);
	add_number(pickle, "stream", 0);
	add_number(pickle, "time_us", time_us(writer, tick));
	add_text(pickle, "category", "unknown");
	pickle_text(pickle, "frames");
	pickle_list_begin(pickle);
	pickle_list_end(pickle);
	pickle_dict_end(pickle);
}

static void add_traces(struct writer *writer)
{
	const struct memory_snapshot *snapshot = writer->snapshot;

	pickle_text(&writer->pickle, "device_traces");
	pickle_list_begin(&writer->pickle);
	for (uint32_t device = 0; device < writer->nr_devices; device++) {
		pickle_item(&writer->pickle);
		pickle_list_begin(&writer->pickle);
		for (size_t i = 0; i < snapshot->nr_events; i++) {
			const struct memory_event *event = &snapshot->events[i];

			if (event->is_selected && device_of(writer, event) == device) {
				add_events_of(writer, event);
			}
		}
		add_last(writer, snapshot->events[snapshot->nr_events - 1].tick);
		pickle_list_end(&writer->pickle);
	}
	pickle_list_end(&writer->pickle);
}

/* ---- segments at the end ---- */

static void add_block(
	struct writer *writer, uint64_t address, uint64_t bytes, bool is_in_use, uint32_t frames)
{
	struct pickle *pickle = &writer->pickle;

	if (!bytes) {
		return;
	}
	pickle_item(pickle);
	pickle_dict_begin(pickle);
	add_number(pickle, "address", address);
	add_number(pickle, "size", bytes);
	add_number(pickle, "requested_size", bytes);
	add_text(pickle, "state", is_in_use ? "active_allocated" : "inactive");
	if (is_in_use) {
		add_frames(writer, frames);
	} else {
		pickle_text(pickle, "frames");
		pickle_list_begin(pickle);
		pickle_list_end(pickle);
	}
	pickle_dict_end(pickle);
}

/* All of the segment, in the order of addresses: blocks in use, and what lies between them. */
static void add_blocks(struct writer *writer, const struct memory_segment *segment)
{
	uint64_t at = segment->address, end = segment->address + segment->bytes;

	if (!segment->has_blocks) {
		add_block(writer, at, segment->bytes, true, segment->frames);
		return;
	}
	for (size_t i = 0; i < segment->nr_blocks; i++) {
		const struct memory_event *block =
			writer->snapshot->blocks[segment->first_block + i];
		uint64_t bytes =
			end - block->address < block->bytes ? end - block->address : block->bytes;

		if (block->address < at) {
			continue; /* of a damaged stream: within another one */
		}
		add_block(writer, at, block->address - at, false, 0);
		add_block(writer, block->address, bytes, true, block->frames);
		at = block->address + bytes;
	}
	add_block(writer, at, end - at, false, 0);
}

/* PyTorch's small pool takes 2 MiB at once, its large pool more. */
#define SMALL_SEGMENT_BYTES ((uint64_t)2 << 20)

static void add_segment(struct writer *writer, const struct memory_segment *segment)
{
	uint64_t in_use = segment->used_bytes;
	struct pickle *pickle = &writer->pickle;

	pickle_item(pickle);
	pickle_dict_begin(pickle);
	add_number(pickle, "device", segment->device);
	add_number(pickle, "address", segment->address);
	add_number(pickle, "total_size", segment->bytes);
	add_number(pickle, "allocated_size", in_use);
	add_number(pickle, "active_size", in_use);
	add_number(pickle, "requested_size", in_use);
	add_number(pickle, "stream", 0);
	add_text(pickle, "segment_type", segment->bytes <= SMALL_SEGMENT_BYTES ? "small" : "large");
	pickle_text(pickle, "is_expandable");
	pickle_false(pickle);
	add_frames(writer, segment->frames);
	pickle_text(pickle, "blocks");
	pickle_list_begin(pickle);
	add_blocks(writer, segment);
	pickle_list_end(pickle);
	pickle_dict_end(pickle);
}

static void add_segments(struct writer *writer)
{
	pickle_text(&writer->pickle, "segments");
	pickle_list_begin(&writer->pickle);
	for (size_t i = 0; i < writer->snapshot->nr_segments; i++) {
		if (writer->snapshot->segments[i].end == MEMORY_LEFT) {
			add_segment(writer, &writer->snapshot->segments[i]);
		}
	}
	pickle_list_end(&writer->pickle);
}

/* ---- the file ---- */

static void write_snapshot(const struct memory_snapshot *snapshot, struct buf *out)
{
	struct writer writer = {.snapshot = snapshot, .nr_devices = 1};

	for (size_t i = 0; i < snapshot->nr_events; i++) {
		uint32_t device = device_of(&writer, &snapshot->events[i]);

		writer.nr_devices = device >= writer.nr_devices ? device + 1 : writer.nr_devices;
	}
	idmap_init(&writer.frames, sizeof(uint32_t));
	pickle_begin(&writer.pickle, out);
	pickle_dict_begin(&writer.pickle);
	add_segments(&writer);
	add_traces(&writer);
	pickle_dict_end(&writer.pickle);
	pickle_end(&writer.pickle);
	idmap_fini(&writer.frames);
}

/* Says why there is no process to write, or not one. */
static void refuse(size_t nr, uint64_t nr_nameless)
{
	if (nr) {
		cmd_error("cannot write a memory snapshot of %zu processes: choose one with --rank "
			  "or --pid",
			nr);
	} else if (nr_nameless) {
		cmd_error("cannot write a memory snapshot: %" PRIu64
			  " allocations and frees of GPU memory have no address",
			nr_nameless);
	} else {
		cmd_error("cannot write a memory snapshot: no allocation of GPU memory is recorded "
			  "or selected");
	}
}

/* Reads the memory of the one process that uses GPUs; false where there is none, or more. */
static bool choose(const struct cmd_input *input, struct memory_snapshot *snapshot)
{
	uint64_t nr_nameless = 0;
	size_t nr = 0;

	for (size_t i = 0; i < input->nr_processes; i++) {
		struct memory_snapshot another;

		memory_snapshot_read(&another, input->processes[i]);
		nr_nameless += another.nr_nameless;
		if (!another.nr_events || nr++) {
			memory_snapshot_fini(&another);
			continue;
		}
		*snapshot = another;
	}
	if (nr == 1) {
		return true;
	}
	refuse(nr, nr_nameless);
	if (nr) {
		memory_snapshot_fini(snapshot);
	}
	return false;
}

static void say_written(const char *path, const struct memory_snapshot *snapshot)
{
	char text[128];
	uint64_t nr = 0;

	for (size_t i = 0; i < snapshot->nr_events; i++) {
		nr += snapshot->events[i].is_selected;
	}
	snprintf(text, sizeof(text), "%" PRIu64 " memory events of process %u", nr,
		snapshot->process->pid);
	cmd_wrote(path, text);
	if (snapshot->nr_nameless) {
		cmd_error("%" PRIu64 " events of the allocator have no address and are left out",
			snapshot->nr_nameless);
	}
}

enum cmd_exit export_memory_viz(const char *path, const struct cmd_input *input)
{
	struct memory_snapshot snapshot;
	struct cmd_output output;
	enum cmd_exit status;
	struct buf out;

	if (!choose(input, &snapshot)) {
		return CMD_FAILED;
	}
	cmd_output_init(&output, &out, path);
	write_snapshot(&snapshot, &out);
	status = cmd_output_end(&output, &out);
	buf_fini(&out);
	if (status == CMD_GOOD) {
		say_written(path, &snapshot);
	}
	memory_snapshot_fini(&snapshot);
	return status;
}
