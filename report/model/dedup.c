/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops recordings that the user named twice, right after a session has opened its inputs and
 * before anything adds them up. The processes arrive sorted, so copies of a recording are
 * neighbours: each process is compared only with the kept ones that have the same rank, host, pid
 * and start.
 */
#include "report/model/model.h"

#include <string.h>

#include "report/stream/file.h"
#include "report/util/buf.h"

#define MAX_TOLD 5u

/* Compares what processes are sorted by: copies of a recording are neighbours. */
static bool has_same_keys(const struct process *a, const struct process *b)
{
	return a->rank == b->rank && a->pid == b->pid &&
	       a->stream->header.start_realtime_ns == b->stream->header.start_realtime_ns &&
	       strcmp(process_host(a), process_host(b)) == 0;
}

/* Compares all bytes. A trace is compared as the stream made of it. */
static bool has_same_bytes(const struct stream *a, const struct stream *b)
{
	char bytes[2][4096];
	bool is_same = a->size == b->size;

	for (uint64_t at = 0; is_same && at < a->size; at += sizeof(bytes[0])) {
		size_t nr = a->size - at < sizeof(bytes[0]) ? a->size - at : sizeof(bytes[0]);

		is_same = !stream_file_read(a, at, bytes[0], nr) &&
			  !stream_file_read(b, at, bytes[1], nr) && !memcmp(bytes[0], bytes[1], nr);
	}
	return is_same;
}

/*
 * A stream has a random id. But a damaged header loses it, so the process must match, too. A trace
 * does not identify its process reliably, so its bytes must match.
 */
static bool is_duplicate(const struct process *a, const struct process *b)
{
	if (a->stream->header.stream_id != b->stream->header.stream_id) {
		return false;
	}
	return process_is_same(a, b) || has_same_bytes(a->stream, b->stream);
}

static void warn_duplicate(const struct process *duplicate, const struct process *kept,
	void (*warn)(const char *sentence))
{
	struct buf line = {0};

	buf_printf(&line, "%s is the same recording as %s and is ignored: name it once",
		duplicate->stream->label, kept->stream->label);
	buf_char(&line, 0);
	warn(line.bytes);
	buf_fini(&line);
}

static void warn_rest(size_t nr, void (*warn)(const char *sentence))
{
	struct buf line = {0};

	buf_printf(&line, "%zu more recordings are named twice and are ignored", nr);
	buf_char(&line, 0);
	warn(line.bytes);
	buf_fini(&line);
}

/* Finds the same recording among the kept ones from `first` on; nr_kept if there is none. */
static size_t find_duplicate(struct process *const *processes, size_t first, size_t nr_kept,
	const struct process *process)
{
	while (first < nr_kept && !is_duplicate(processes[first], process)) {
		first++;
	}
	return first;
}

/*
 * Compacts the array in place: processes[0 .. nr_kept) are kept, and `first` is where the current
 * run of equal keys starts. A copy with more events takes over the slot of the shorter one, which
 * keeps the order.
 */
bool dedup_drop(
	struct process **processes, size_t *nr_processes, void (*warn)(const char *sentence))
{
	size_t nr_kept = 0, nr_dropped = 0, first = 0; /* first: of those with equal keys */

	for (size_t i = 0; i < *nr_processes; i++) {
		struct process *process = processes[i];
		size_t duplicate;

		if (nr_kept && !has_same_keys(processes[nr_kept - 1], process)) {
			first = nr_kept;
		}
		duplicate = find_duplicate(processes, first, nr_kept, process);
		if (duplicate == nr_kept) {
			processes[nr_kept++] = process;
			continue;
		}
		if (process->nr_events > processes[duplicate]->nr_events) {
			struct process *less = processes[duplicate];

			processes[duplicate] = process;
			process = less;
		}
		if (nr_dropped++ < MAX_TOLD) {
			warn_duplicate(process, processes[duplicate], warn);
		}
		process_destroy(process);
	}
	if (nr_dropped > MAX_TOLD) {
		warn_rest(nr_dropped - MAX_TOLD, warn);
	}
	*nr_processes = nr_kept;
	return nr_dropped > 0;
}
