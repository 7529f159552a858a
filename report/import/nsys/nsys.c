/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports exports of Nsight Systems (`nsys export -t sqlite`), and those of gprof itself, which
 * have views by the same names. Each process becomes a stream of our own format in memory, so that
 * everything else reads it like any stream.
 *
 *     CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET, _GRAPH_TRACE   kernel, memcpy, memset, graph,
 *                                                                  with shape and place
 *     CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, _CUDA_EVENT             sync, event
 *     CUPTI_ACTIVITY_KIND_RUNTIME, _DRIVER                         call, api_*, api_nested
 *     OSRT_API                                                     api, of the system
 *     NVTX_EVENTS                                                  nvtx, op, step, nccl, nccl_comm
 *     GPROF_OPERATORS (of gprof)                                   op
 *     CUDA_GPU_MEMORY_USAGE_EVENTS                                 memory
 *     COMPOSITE_EVENTS, SAMPLING_CALLCHAINS                        cpu_sample, native_stack,
 *     CUDA_CALLCHAINS, OSRT_CALLCHAINS                             native_stack,
 *                                                                  code_file
 *     SCHED_EVENTS                                                 thread_cpu, thread_state
 *     GPROF_THREAD_STATES (of gprof)                               thread_state
 *     GPU_METRICS                                                  sample
 *     PROFILER_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD              overhead
 *     TARGET_INFO_*, ThreadNames, PROCESSES, META_DATA_*           device, attribute, thread, info
 *
 * Columns differ by the version of the schema: those that a table lacks are unknown. A notice says
 * which tables have no rows, and which are not read.
 */
#include "report/import/nsys/nsys.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/import/nsys/trace.h"
#include "report/util/buf.h"
#include "report/util/err.h"
#include "report/util/progress.h"
#include "report/util/sort.h"

/* The number of the process of a file that has one and does not say which it is. */
#define NO_PROCESS 0u
/* One machine does not run more. */
#define MAX_PARTS 4096u

/* ---- the processes of a file ---- */

static void add_part(struct stream *stream, uint64_t process, size_t *capacity)
{
	for (size_t i = 0; i < stream->nr_parts; i++) {
		if (stream->parts[i] == process) {
			return;
		}
	}
	if (stream->nr_parts < MAX_PARTS) {
		stream->parts = array_grow(
			stream->parts, stream->nr_parts, capacity, sizeof(*stream->parts));
		stream->parts[stream->nr_parts++] = process;
	}
}

/* Adds the processes that have rows in a table; true if there is such a table. */
static bool add_parts(struct stream *stream, struct nsys_database *database,
	const struct nsys_source *source, size_t *capacity)
{
	const char *const columns[] = {source->columns[0]};
	struct nsys_query_want want = {
		.table = source->table, .columns = columns, .nr_columns = 1, .nr_needed = 1};
	struct nsys_query *query = nsys_query_open(database, &want);
	const char *const keys[] = {source->key ? source->key : ""};
	int64_t key;

	if (!query) {
		return false;
	}
	nsys_query_close(query);
	want.columns = keys;
	want.where = source->where;
	want.is_distinct = true;
	query = source->key ? nsys_query_open(database, &want) : NULL;
	while (query && nsys_query_next(query)) {
		if (nsys_query_integer(query, 0, &key)) {
			add_part(stream, (uint64_t)key >> NSYS_PROCESS_SHIFT, capacity);
		}
	}
	nsys_query_close(query);
	return true;
}

/* False if no table is one of an export. */
static bool find_parts(struct stream *stream, struct nsys_database *database)
{
	const struct nsys_source *source;
	bool has_table = false;
	size_t capacity = 0;

	for (int of_system = 0; of_system < 2 && !stream->nr_parts; of_system++) {
		for (size_t i = 0; (source = nsys_source_at(i)); i++) {
			if (source->is_of_system == (of_system != 0)) {
				has_table |= add_parts(stream, database, source, &capacity);
			}
		}
	}
	if (has_table && !stream->nr_parts) {
		add_part(stream, NO_PROCESS, &capacity);
	}
	if (stream->nr_parts) {
		qsort(stream->parts, stream->nr_parts, sizeof(*stream->parts), by_u64);
	}
	return has_table;
}

/* ---- one process ---- */

static void trace_init(
	struct nsys_trace *trace, const struct stream *stream, struct nsys_database *database)
{
	*trace = (struct nsys_trace){.database = database,
		.process = stream->parts[stream->part],
		.is_only = stream->nr_parts == 1,
		.is_first = stream->part == 0,
		.first_tick = UINT64_MAX};
	idmap_init(&trace->threads, sizeof(struct nsys_thread));
	trace->called = idset_create();
	trace->async = idset_create();
}

static void trace_fini(struct nsys_trace *trace)
{
	nsys_nccl_fini(trace);
	nsys_samples_fini(trace);
	nsys_events_fini(trace);
	nsys_host_fini(trace);
	import_step_names_fini(&trace->steps);
	nsys_strings_fini(trace);
	free(trace->devices);
	idmap_fini(&trace->threads);
	idset_destroy(trace->called);
	idset_destroy(trace->async);
}

/* Returns the descriptor of the stream, or a negative code with err_set. */
static int read_trace(struct nsys_trace *trace)
{
	struct import_out_end end = {.format = "nsys"};

	nsys_facts_read(trace);
	nsys_host_read_domains(trace);
	nsys_host_read_metrics(trace);
	nsys_host_read_async(trace);
	nsys_nccl_read(trace);
	nsys_samples_read(trace);
	nsys_events_read(trace);
	if (trace->first_tick == UINT64_MAX) {
		trace->first_tick = NSYS_TICKS_BEFORE;
	}
	nsys_gpu_read_events(trace);
	nsys_steps_write(trace);
	nsys_nccl_write(trace);
	nsys_facts_write(trace);
	end.pid = trace->process & NSYS_ID_MASK;
	end.first_tick = trace->first_tick;
	end.last_tick = trace->last_tick;
	end.base_ns = trace->utc_ns ? trace->utc_ns - NSYS_TICKS_BEFORE : 0;
	end.has_no_date = !trace->utc_ns;
	return import_out_finish(trace->out, &end);
}

static void add_damages(struct stream *stream, const struct nsys_trace *trace)
{
	if (trace->problem) {
		stream_add_damage(stream, 0, 0, trace->problem);
	}
	import_step_names_add_damages(&trace->steps, stream);
}

static int import_part(struct stream *stream, struct nsys_database *database)
{
	struct nsys_trace trace;
	int fd;

	trace_init(&trace, stream, database);
	trace.out = import_out_create();
	if (!trace.out) {
		trace_fini(&trace);
		return -ENOMEM;
	}
	progress_start("reading the database", stream->size);
	fd = read_trace(&trace);
	progress_stop();
	if (fd >= 0) {
		add_damages(stream, &trace);
		import_out_replace(stream, fd);
	}
	trace_fini(&trace);
	return fd < 0 ? fd : 0;
}

int nsys_import(struct stream *stream)
{
	unsigned char bytes[16];
	ssize_t nr_bytes = pread(stream->fd, bytes, sizeof(bytes), 0);
	struct nsys_database *database;
	int rc = 0;

	if (nr_bytes < 0 || !nsys_database_is_one(bytes, (size_t)nr_bytes)) {
		return 0;
	}
	database = nsys_database_open(stream->fd, stream->size);
	if (!database) {
		return -EINVAL;
	}
	if (!stream->nr_parts && !find_parts(stream, database)) {
		rc = err_set(-EINVAL,
			"it is a SQLite database, but no export of Nsight Systems: it has none of "
			"the tables CUPTI_ACTIVITY_KIND_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME and "
			"NVTX_EVENTS");
	}
	rc = rc ? rc : import_part(stream, database);
	nsys_database_close(database);
	return rc;
}
