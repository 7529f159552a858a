/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a stream: who, where, with what, how it ended, how large, and what was lost. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/cmd.h"
#include "report/text.h"

static void add_line(struct buf *out, const char *key, const char *value, size_t nr_bytes)
{
	buf_printf(out, "  %-24s ", key);
	text_add_shown(out, value, nr_bytes, 0);
	buf_char(out, '\n');
}

static void add_head(struct buf *out, const struct process *process)
{
	const struct stream_in *stream = process->stream;
	const struct gprof_file_header *header = &stream->header;
	time_t start = (time_t)(header->start_realtime_ns / 1000000000u);
	struct tm utc;
	char text[64] = "?";

	text_add_shown(out, stream->path, strlen(stream->path), 0);
	buf_char(out, '\n');
	if (gmtime_r(&start, &utc)) {
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc);
	}
	buf_printf(out, "  %-24s %u.%u, %" PRIu64 " bytes, started %s\n", "stream", header->major,
		header->minor, stream->size, text);
	if (process->first_ns <= process->last_ns) {
		buf_printf(out, "  %-24s %.6f s of events\n", "duration",
			(double)(process->last_ns - process->first_ns) / 1e9);
	}
	buf_printf(out, "  %-24s %s\n", "state",
		process->is_ended   ? "ended by its process"
		: stream->has_rings ? "unfinished; its rings were read"
				    : "unfinished: its process was killed, or still runs");
}

static void add_facts(struct buf *out, const struct process *process)
{
	for (size_t i = 0; i < process->nr_facts; i++) {
		size_t nr_bytes;
		const char *value = names_raw(process->facts[i].value, &nr_bytes);

		add_line(out, names_raw(process->facts[i].key, NULL), value, nr_bytes);
	}
}

static void add_devices(struct buf *out, const struct process *process)
{
	for (size_t i = 0; i < process->nr_devices; i++) {
		const struct model_device *device = &process->devices[i];
		struct buf line = {0};
		uint64_t value;
		char key[32];

		snprintf(key, sizeof(key), "gpu %u", device->id);
		buf_printf(&line, "%s", names_raw(device->name, NULL));
		if (*device->uuid) {
			buf_printf(&line, ", %s", device->uuid);
		}
		if (process_attribute(process, device->id, "multiprocessors", &value)) {
			buf_printf(&line, ", %" PRIu64 " multiprocessors", value);
		}
		if (process_attribute(process, device->id, "memory_bytes", &value)) {
			buf_printf(&line, ", %.1f GB", (double)value / 1e9);
		}
		add_line(out, key, line.bytes, line.nr_bytes);
		buf_fini(&line);
	}
}

static void add_tables(struct buf *out, const struct process *process)
{
	const struct stream_in *stream = process->stream;
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
			table->known ? "" : "  (not known to this gprof-report)");
		if (model_is_event(table->known)) {
			event_bytes += table->bytes;
			nr_events += stored;
		}
	}
	buf_printf(out, "\n  %" PRIu64 " events", process->nr_events);
	if (stream->ring_rows) {
		buf_printf(out, " (%" PRIu64 " rows out of the rings, in place of %zu blocks)",
			stream->ring_rows, stream->nr_ignored);
	}
	if (nr_events) {
		buf_printf(out, ", %.2f bytes an event, %.2f with everything around it",
			(double)event_bytes / (double)nr_events,
			(double)stream->size / (double)nr_events);
	}
	buf_char(out, '\n');
}

static void add_losses(struct buf *out, const struct process *process)
{
	uint64_t missing = process_missing(process);

	for (size_t i = 0; i < process->nr_notices; i++) {
		const struct model_notice *notice = &process->notices[i];
		struct buf line = {0};

		buf_printf(&line, "%s", names_raw(notice->cause, NULL));
		if (notice->code) {
			buf_printf(&line, " (code %" PRId64 ")", notice->code);
		}
		buf_printf(&line, ": %s", names_raw(notice->text, NULL));
		add_line(out, "notice", line.bytes, line.nr_bytes);
		buf_fini(&line);
	}
	for (size_t i = 0; i < process->nr_losses; i++) {
		struct buf line = {0};

		buf_printf(&line, "%" PRIu64 " events: %s", process->losses[i].count,
			names_raw(process->losses[i].cause, NULL));
		add_line(out, "lost", line.bytes, line.nr_bytes);
		buf_fini(&line);
	}
	if (process_is_complete(process)) {
		buf_text(out, "  complete: nothing is lost or damaged\n");
	} else {
		buf_printf(out, "  incomplete: %" PRIu64 " events are known to be missing%s\n",
			missing,
			stream_in_is_damaged(process->stream) ? ", the file is damaged" : "");
	}
}

static int run(int argc, char **argv)
{
	struct cmd_input input;
	struct buf out = {0};
	enum cmd_exit status, written;

	if (argc > 1 && argv[1][0] == '-' && argv[1][1]) {
		return strcmp(argv[1], "--help") == 0
			       ? cmd_print_usage(&cmd_info)
			       : cmd_usage(&cmd_info, "info does not take '%s'", argv[1]);
	}
	status = cmd_open(&input, argv + 1, argc - 1, NULL);
	if (status) {
		cmd_close(&input);
		return status;
	}
	for (size_t i = 0; i < input.nr_processes; i++) {
		const struct process *process = input.processes[i];

		buf_text(&out, i ? "\n" : "");
		add_head(&out, process);
		add_facts(&out, process);
		add_devices(&out, process);
		add_tables(&out, process);
		add_losses(&out, process);
	}
	written = cmd_write(NULL, &out);
	status = cmd_tell_losses(&input);
	cmd_close(&input);
	buf_fini(&out);
	return written ? written : status;
}

const struct command cmd_info = {
	.name = "info",
	.arguments = "[PATH]...",
	.help = "what is in a stream: process, host, GPUs, versions, tables, sizes, losses",
	.options = "",
	.run = run,
};
