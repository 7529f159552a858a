/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What filled the GPUs of a process when an allocation failed for the last time. The scan only
 * looks for such calls; where there is one, memory/memory_snapshot.c reads the process's memory
 * up to it. What the driver gave is divided into what a framework's allocator has in use, what it
 * keeps without use, and what is none of its.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/memory/memory.h"
#include "report/memory/memory_snapshot.h"
#include "report/analysis/view.h"
#include "report/model/py_stack.h"
#include "report/model/select.h"
#include "report/model/time_axis.h"
#include "report/util/string_pool.h"
#include "report/util/text.h"

struct failed_process {
	struct process *process;
	uint64_t nr_failed;
};

struct failed_row {
	struct {
		uint32_t device, category, module, name;
	} key;
	uint64_t bytes, nr_blocks;
	UT_hash_handle hh;
};

struct failed_view {
	struct view_input input;
	struct failed_process *processes;
	size_t nr_processes, capacity;
};

/* Behind those of enum alloc_category. */
enum { KEPT = NR_ALLOC_CATEGORIES, BESIDE, REFUSED };

struct shown_row {
	struct failed_row row;
	const struct process *process;
	uint64_t all_bytes;
	uint32_t name;
	const char *place, *category;
};

static const struct table_column columns[] = {
	VIEW_PROCESS_COLUMNS(shown_row, process, .is_wide_only = true),
	TABLE_COLUMN(
		"place", "Memory", TABLE_TEXT, .help = "the GPU", TABLE_MEMBER(shown_row, place)),
	TABLE_COLUMN(
		"bytes", "Size", TABLE_SIZE, .is_major = true, TABLE_MEMBER(shown_row, row.bytes)),
	TABLE_COLUMN("share_pct", "% of process", TABLE_PERCENT,
		.help = "as a share of all GPU memory that the process had",
		TABLE_SHARE(shown_row, row.bytes, all_bytes)),
	TABLE_COLUMN("blocks", "Blocks", TABLE_COUNT, TABLE_MEMBER(shown_row, row.nr_blocks)),
	TABLE_COLUMN("category", "Category", TABLE_TEXT,
		.help = "see memory-categories; `cached`: kept by the framework's allocator, not "
			"in "
			"use; `" MEMORY_DIRECT_NAME
			"`: not through that allocator; `refused`: asked "
			"for",
		TABLE_MEMBER(shown_row, category)),
	TABLE_COLUMN("module", "Module", TABLE_NAME,
		.help = "innermost module whose forward call allocated, with GPROF_PYTHON=modules",
		TABLE_NONZERO(shown_row, row.key.module)),
	TABLE_COLUMN("name", "Allocated by", TABLE_NAME, .is_name = true,
		.help = "operator or call that allocated", TABLE_MEMBER(shown_row, name)),
};

/* ---- the scan: is there any? ---- */

static void on_batch(void *context, struct process *process, const struct batch *batch)
{
	struct failed_view *view = context;
	struct failed_process *last =
		view->nr_processes ? &view->processes[view->nr_processes - 1] : NULL;

	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		if (batch->col[COL_api_alloc_result][i] != MEMORY_OUT_OF_MEMORY ||
			batch->col[COL_api_alloc_op][i] ||
			!memory_snapshot_is_of_gpu(batch->col[COL_api_alloc_space][i])) {
			continue;
		}
		if (!last || last->process != process) {
			view->processes = array_grow(view->processes, view->nr_processes,
				&view->capacity, sizeof(*view->processes));
			last = &view->processes[view->nr_processes++];
			*last = (struct failed_process){.process = process};
		}
		last->nr_failed++;
	}
}

/* ---- what was in use ---- */

static uint32_t word(const char *text)
{
	return string_pool_intern(text, strlen(text));
}

static struct failed_row *row_of(struct failed_row **rows, uint32_t device, uint32_t category,
	const struct memory_frames *frames)
{
	struct failed_row *row, key;

	memset(&key, 0, sizeof(key));
	key.key.device = device;
	key.key.category = category;
	for (uint32_t i = 0; frames && i < frames->nr_ops; i++) {
		bool is_module = frames->ops[i].is & OP_IS_MODULE;

		if (is_module && !key.key.module) {
			key.key.module = frames->ops[i].name;
		} else if (frames->ops[i].is & OP_IS_OPERATOR && !key.key.name) {
			key.key.name = frames->ops[i].name;
		}
	}
	if (frames && !key.key.name) {
		key.key.name = frames->call ? frames->call : word("(no operator)");
	}
	hash_put(*rows, key, &key.key, row);
	return row;
}

static void add_blocks(const struct memory_snapshot *snapshot, struct failed_row **rows)
{
	for (size_t i = 0; i < snapshot->nr_blocks; i++) {
		const struct memory_event *block = snapshot->blocks[i];
		struct memory_frames frames;
		struct failed_row *row;

		memory_snapshot_frames(block->frames, &frames);
		row = row_of(rows, block->device, block->category, &frames);
		row->bytes += block->bytes;
		row->nr_blocks++;
	}
}

/* Segments that blocks tell of alone are as large as the blocks. */
static void add_segments(const struct memory_snapshot *snapshot, struct failed_row **rows)
{
	for (size_t i = 0; i < snapshot->nr_segments; i++) {
		const struct memory_segment *segment = &snapshot->segments[i];
		struct memory_frames frames;
		struct failed_row *row;
		uint64_t kept;

		if (segment->end != MEMORY_LEFT || segment->is_assumed) {
			continue;
		}
		if (!segment->has_blocks) {
			memory_snapshot_frames(segment->frames, &frames);
			row = row_of(rows, segment->device, BESIDE, &frames);
			row->bytes += segment->bytes;
			row->nr_blocks++;
			continue;
		}
		kept = segment->bytes - segment->used_bytes;
		if (kept) {
			row = row_of(rows, segment->device, KEPT, NULL);
			row->bytes += kept;
			row->nr_blocks++;
		}
	}
}

static void add_refused(const struct memory_event *event, struct failed_row **rows)
{
	struct memory_frames frames;
	struct failed_row *row;

	memory_snapshot_frames(event->frames, &frames);
	row = row_of(rows, 0, REFUSED, &frames);
	row->bytes = event->bytes;
	row->nr_blocks = 1;
}

/* ---- the table ---- */

static const char *category_name(uint32_t category)
{
	if (category < NR_ALLOC_CATEGORIES) {
		return alloc_category_names[category];
	}
	if (category == REFUSED) {
		return "refused";
	}
	return category == BESIDE ? MEMORY_DIRECT_NAME : "cached";
}

static void add_row(struct table *table, const struct process *process,
	const struct failed_row *row, uint64_t all_bytes)
{
	bool is_refused = row->key.category == REFUSED; /* a call does not say of which GPU */
	char place[32];

	snprintf(place, sizeof(place), "GPU %u", row->key.device);
	table_add(table,
		&(struct shown_row){.row = *row,
			.process = process,
			.all_bytes = is_refused ? 0 : all_bytes,
			.name = row->key.name ? row->key.name : word("(framework's allocator)"),
			.place = is_refused ? NULL : place,
			.category = category_name(row->key.category)});
	if (row->key.module) {
		table_set_wide(table, "module", false);
	}
}

/* "aten::empty in Linear_1 (train.py(12): forward)": who asked for what was refused. */
static void add_asker(struct buf *text, struct process *process, const struct memory_frames *frames)
{
	uint32_t name = 0, module = 0;

	for (uint32_t i = 0; i < frames->nr_ops; i++) {
		if (frames->ops[i].is & OP_IS_MODULE) {
			module = module ? module : frames->ops[i].name;
		} else if (frames->ops[i].is & OP_IS_OPERATOR) {
			name = name ? name : frames->ops[i].name;
		}
	}
	if (name) {
		buf_printf(text, " for %s", string_pool_shown(name, NULL));
	}
	if (module) {
		buf_printf(text, " in %s", string_pool_shown(module, NULL));
	}
	if (frames->py_stack) {
		buf_printf(text, ", called from %s",
			string_pool_shown(py_stack_text(process, frames->py_stack), NULL));
	}
}

static void note(struct table *table, const struct failed_process *failed,
	const struct memory_event *event, uint64_t in_use)
{
	struct process *process = failed->process;
	uint64_t at_ns = time_axis_time(process, clock_map_time(&process->host_clock, event->tick));
	uint64_t device_bytes;
	struct memory_frames frames;
	struct buf text = {0};
	char time[TEXT_TIME_BYTES];

	memory_snapshot_frames(event->frames, &frames);
	buf_printf(&text, "%" PRIu64 " %s of GPU memory failed in process %u%s %s of ",
		failed->nr_failed, text_many(failed->nr_failed, "allocation", "allocations"),
		process->pid, failed->nr_failed == 1 ? ":" : "; the last one was",
		frames.call ? string_pool_shown(frames.call, NULL) : "one");
	memory_timeline_add_bytes(&text, event->bytes);
	add_asker(&text, process, &frames);
	buf_printf(&text, ", at %s. The process had ", text_time(time, (double)at_ns));
	memory_timeline_add_bytes(&text, in_use);
	if (memory_snapshot_device_bytes(process, &device_bytes)) {
		buf_text(&text, "; the GPU has ");
		memory_timeline_add_bytes(&text, device_bytes);
	}
	buf_char(&text, '\0');
	table_note(table, "%s.", text.bytes);
	buf_fini(&text);
}

static void fill_process(struct table *table, const struct failed_process *failed)
{
	struct memory_snapshot snapshot;
	struct failed_row *rows = NULL;
	uint64_t all_bytes = 0;

	memory_snapshot_read_failed(&snapshot, failed->process);
	add_blocks(&snapshot, &rows);
	add_segments(&snapshot, &rows);
	for (const struct failed_row *row = rows; row; row = row->hh.next) {
		all_bytes += row->bytes;
	}
	if (snapshot.nr_events) {
		add_refused(&snapshot.events[snapshot.nr_events - 1], &rows);
	}
	for (const struct failed_row *row = rows; row; row = row->hh.next) {
		add_row(table, failed->process, row, all_bytes);
	}
	if (snapshot.nr_events) {
		note(table, failed, &snapshot.events[snapshot.nr_events - 1], all_bytes);
	}
	hash_free(rows);
	memory_snapshot_fini(&snapshot);
}

static void fill_table(void *state, struct table *table)
{
	const struct failed_view *view = state;

	table_set_wide(table, "module", true);
	for (size_t i = 0; i < view->nr_processes; i++) {
		fill_process(table, &view->processes[i]);
	}
	table_sort(table, "bytes");
	if (!view->nr_processes) {
		table_note(table, "No allocation of GPU memory failed.");
	}
}

static void fini(void *state)
{
	free(((struct failed_view *)state)->processes);
}

static const struct scan_want wants[] = {
	{GPROF_TABLE_api_alloc, COLS(api_alloc, result, op, space), 0}};

VIEW(memory_failed, 374) = {
	.name = "memory-failed",
	.subject = VIEW_ABOUT_MEMORY,
	.help = "what was in use when an allocation of GPU memory failed",
	.about = "Of the last call of cudaMalloc or its kin that failed in each process, in the "
		 "selected steps. PyTorch frees what it caches and tries once more before it "
		 "gives up, so a failed call need not be an error. memory-categories explains the "
		 "categories.",
	.is_default = true,
	.is_empty_hidden = true,
	.title = "Out of memory: what was in use",
	VIEW_COLUMNS(columns),
	VIEW_STATE(struct failed_view),
	.scan = {.wants = wants, .nr_wants = 1, .on_batch = on_batch},
	.fill = fill_table,
	.fini = fini,
};
