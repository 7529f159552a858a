/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what is in a stream: the process, how it began and ended, what is missing and why, and
 * then the rest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/session/common_options.h"
#include "report/session/options.h"
#include "report/model/process_exit.h"
#include "report/model/process_tree.h"
#include "report/comm/job_clock.h"
#include "report/util/text.h"

static void add_line(struct buf *out, const char *key, const char *value, size_t nr_bytes)
{
	size_t width;

	buf_text(out, "  ");
	width = text_add_shown(out, key, strlen(key), 0);
	buf_pad(out, ' ', width < 24 ? 24 - width : 0);
	buf_char(out, ' ');
	text_add_shown(out, value, nr_bytes, 0);
	buf_char(out, '\n');
}

/* A line whose value was put together in a buffer, which is freed. */
static void add_made(struct buf *out, const char *key, struct buf *value)
{
	add_line(out, key, value->bytes, value->nr_bytes);
	buf_fini(value);
}

/* ---- who it was ---- */

static void add_identity(struct buf *out, const struct process *process)
{
	const struct stream *stream = process->stream;
	struct buf line = {0};

	text_add_shown(out, stream->path, strlen(stream->path), 0);
	buf_char(out, '\n');
	buf_printf(&line, "%u on %s", process->pid, process_host(process));
	if (process->rank >= 0) {
		buf_printf(&line, ", rank %" PRId64, process->rank);
	}
	if (process->rank >= 0 && process->world >= 0) {
		buf_printf(&line, " of %" PRId64, process->world);
	}
	process_tree_add_worker(&line, process);
	add_made(out, "process", &line);
	add_line(out, "command", process_command(process), strlen(process_command(process)));
	line = (struct buf){0};
	buf_printf(&line, "version %u.%u, %" PRIu64 " bytes", stream->header.major,
		stream->header.minor, stream->size);
	add_made(out, "stream", &line);
}

/* ---- its begin and its end ---- */

static void add_begin(struct buf *out, const struct cmd_input *input, size_t index,
	const struct process_tree_member *member)
{
	const struct gprof_file_header *header = &input->processes[index]->stream->header;
	time_t start = (time_t)(header->start_realtime_ns / 1000000000u);
	struct buf line = {0};
	char text[64] = "not recorded";
	struct tm utc;

	if (start && gmtime_r(&start, &utc)) {
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc);
	}
	buf_printf(&line, "%s, ", text);
	if (!process_tree_add_begin(&line, input->processes, index, member)) {
		buf_text(&line, "parent not recorded");
	}
	add_made(out, "began", &line);
}

static void add_end(struct buf *out, const struct cmd_input *input, size_t index)
{
	const struct process *process = input->processes[index];
	struct buf line = {0};

	process_exit_add_text(&line, process, input->processes, input->nr_processes);
	add_made(out, "end", &line);
	if (process->first_ns <= process->last_ns) {
		buf_printf(out, "  %-24s %.6f s of events\n", "duration",
			(double)(process->last_ns - process->first_ns) / 1e9);
	}
}

/*
 * Adds the CPU time of the recorder's thread, which a process has written if it ended its stream.
 * The start takes some milliseconds: only in a longer recording does the share say something.
 */
static void add_cost(struct buf *out, const struct process *process)
{
	int64_t cpu_ns = process_number(process, "overhead.drain_cpu_ns");
	uint64_t span_ns =
		process->first_ns < process->last_ns ? process->last_ns - process->first_ns : 0;
	struct buf line = {0};

	if (cpu_ns < 0) {
		return;
	}
	buf_printf(&line, "%" PRId64 " ms", cpu_ns / 1000000);
	if (span_ns >= 1000000000) {
		buf_printf(&line, " (%.1f %% of a core)", (double)cpu_ns * 100 / (double)span_ns);
	}
	add_made(out, "profiler CPU", &line);
}

/* Facts with a line of their own above. */
static bool has_line(const char *key)
{
	static const char *const keys[] = {"process.command", "process.pid", "host.name",
		"rank.world", "rank.world_size", "loader.worker", "loader.workers", "end.how",
		"end.code"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(key, keys[i]) == 0) {
			return true;
		}
	}
	return false;
}

static void add_facts(struct buf *out, const struct process *process)
{
	buf_char(out, '\n');
	for (size_t i = 0; i < process->nr_facts; i++) {
		const char *key = string_pool_text(process->facts[i].key, NULL);
		size_t nr_bytes;
		const char *value = string_pool_text(process->facts[i].value, &nr_bytes);

		if (!has_line(key)) {
			add_line(out, key, value, nr_bytes);
		}
	}
}

static void add_devices(struct buf *out, const struct process *process)
{
	for (size_t i = 0; i < process->nr_devices; i++) {
		const struct model_device *device = &process->devices[i];
		struct buf line = {0};
		uint64_t value, lanes;
		char key[32];

		snprintf(key, sizeof(key), "gpu %u", device->id);
		buf_printf(&line, "%s", string_pool_text(device->name, NULL));
		if (*device->uuid) {
			buf_printf(&line, ", %s", device->uuid);
		}
		if (process_attribute(process, device->id, "multiprocessors", &value)) {
			buf_printf(&line, ", %" PRIu64 " multiprocessors", value);
		}
		if (process_attribute(process, device->id, "memory_bytes", &value)) {
			buf_printf(&line, ", %.1f GB", (double)value / 1e9);
		}
		if (process_attribute(process, device->id, "pcie_generation", &value) &&
			process_attribute(process, device->id, "pcie_lanes", &lanes)) {
			buf_printf(&line, ", PCIe %" PRIu64 " x%" PRIu64, value, lanes);
		}
		add_made(out, key, &line);
	}
}

static void add_tables(struct buf *out, const struct process *process)
{
	const struct stream *stream = process->stream;
	uint64_t event_bytes = 0, nr_events = 0;

	buf_printf(out, "\n  %-14s %8s %12s %12s %10s\n", "table", "blocks", "rows", "bytes",
		"bytes/row");
	for (size_t i = 0; i < stream->nr_tables; i++) {
		const struct stream_table *table = &stream->tables[i];
		uint64_t stored = table->nr_rows - table->nr_ring_rows;
		size_t width;

		if (!table->nr_rows) {
			continue;
		}
		buf_text(out, "  ");
		width = text_add_shown(out, table->name, strlen(table->name), 14);
		buf_pad(out, ' ', width < 14 ? 14 - width : 0);
		buf_printf(out, " %8" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10.2f%s\n",
			table->nr_blocks, table->nr_rows, table->bytes,
			stored ? (double)table->bytes / (double)stored : 0,
			table->known ? "" : "  (unknown to this gprof-report)");
		if (gprof_table_is(table->known, GPROF_IS_EVENT)) {
			event_bytes += table->bytes;
			nr_events += stored;
		}
	}
	buf_printf(out, "\n  %" PRIu64 " %s", process->nr_events,
		text_many(process->nr_events, "event", "events"));
	if (stream->ring_rows) {
		buf_printf(out, " (%" PRIu64 " rows from the ring file instead of %zu blocks)",
			stream->ring_rows, stream->nr_ignored);
	}
	if (nr_events) {
		buf_printf(out, ", %.2f bytes per event, %.2f with headers and definitions",
			(double)event_bytes / (double)nr_events,
			(double)stream->size / (double)nr_events);
	}
	buf_char(out, '\n');
}

static void add_notice(struct buf *out, const struct model_notice *notice)
{
	struct buf line = {0};

	buf_printf(&line, "%s", string_pool_text(notice->cause, NULL));
	if (notice->code) {
		buf_printf(&line, " (code %" PRId64 ")", notice->code);
	}
	buf_printf(&line, ": %s", string_pool_text(notice->text, NULL));
	add_made(out, "notice", &line);
}

/* In one line how much of it is there. */
static void add_sum(struct buf *out, const struct process *process)
{
	uint64_t missing = process_missing(process);
	struct buf line = {0};

	if (process_is_complete(process)) {
		buf_text(&line, "everything; nothing was lost or damaged");
	} else if (missing) {
		buf_printf(&line, "%" PRIu64 " %s missing", missing,
			text_many(missing, "event is", "events are"));
	} else {
		buf_printf(&line, "all calls that had returned%s",
			process->is_ended ? ""
					  : "; GPU records up to the last flush (GPROF_FLUSH_MS)");
	}
	if (stream_is_damaged(process->stream)) {
		buf_text(&line, "; the file is damaged, see gprof-report check");
	}
	add_made(out, "recorded", &line);
}

static void add_losses(struct buf *out, const struct process *process)
{
	add_sum(out, process);
	for (size_t i = 0; i < process->nr_losses; i++) {
		struct buf line = {0};

		buf_printf(&line, "%" PRIu64 " events: %s", process->losses[i].count,
			string_pool_text(process->losses[i].cause, NULL));
		add_made(out, "lost", &line);
	}
	for (size_t i = 0; i < process->nr_notices; i++) {
		add_notice(out, &process->notices[i]);
	}
}

static void add_processes(struct buf *out, const struct cmd_input *input)
{
	struct process_tree_member *members =
		mem_zeroed(input->nr_processes, sizeof(struct process_tree_member));

	process_tree_find(input->processes, input->nr_processes, members);
	if (input->nr_processes > 1) {
		buf_printf(out, "%zu processes\n", input->nr_processes);
		process_tree_add_tree(out, input->processes, input->nr_processes, members);
		buf_char(out, '\n');
	}
	for (size_t i = 0; i < input->nr_processes; i++) {
		const struct process *process = input->processes[i];

		buf_text(out, i ? "\n" : "");
		add_identity(out, process);
		add_begin(out, input, i, &members[i]);
		add_end(out, input, i);
		add_losses(out, process);
		add_cost(out, process);
		add_facts(out, process);
		add_devices(out, process);
		add_tables(out, process);
	}
	free(members);
}

static const struct option_line options[] = {
	COMMON_OPTIONS_RUN_OPTION,
	COMMON_OPTIONS_HELP_OPTION,
	{0},
};

static int print(const struct common_options *asked, char *const *paths, int nr_paths)
{
	struct cmd_input input;
	struct buf out = {0};
	enum cmd_exit status, written;

	status = cmd_open(&input, paths, nr_paths, &asked->filter);
	if (status) {
		cmd_close(&input);
		return status;
	}
	job_clock_align(input.processes, input.nr_processes);
	add_processes(&out, &input);
	written = cmd_write(NULL, &out);
	status = cmd_warn_inconsistent(&input, &asked->filter, cmd_warn_losses(&input));
	cmd_close(&input);
	buf_fini(&out);
	return written ? written : status;
}

static int run(int argc, char **argv)
{
	struct common_options asked = {.command = &cmd_info};
	int option, status = 0;

	while (!status && (option = options_get(&cmd_info, argc, argv)) >= 0) {
		status = common_options_take(&asked, option);
	}
	status = status ? status : print(&asked, argv + optind, argc - optind);
	common_options_fini(&asked);
	return status == COMMON_OPTIONS_HELP ? CMD_GOOD : status;
}

const struct command cmd_info = {
	.name = "info",
	.arguments = "[OPTION]... [PATH]...",
	.help = "show what a stream contains: process, host, GPUs, versions, sizes, losses",
	.options = options,
	.run = run,
};
