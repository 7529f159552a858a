/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analysis/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/comm/job_clock.h"

const struct view_class *const view_classes[] = {
	&view_model,
	&view_overview,
	&view_steps,
	&view_step_stats,
	&view_operator,
	&view_framework,
	&view_optype,
	&view_device,
	&view_temporal,
	&view_distributed,
	&view_straggler,
	&view_pipeline,
	&view_expert,
	&view_collective,
	&view_communication,
	&view_stall,
	&view_pending,
	&view_idle,
	&view_gaps,
	&view_launch,
	&view_queue,
	&view_bandwidth,
	&view_critical,
	&view_kernel,
	&view_kernel_operator,
	&view_breakdown,
	&view_gpu_use,
	&view_memcpy,
	&view_memset,
	&view_manipulation,
	&view_api,
	&view_sync,
	&view_nvtx,
	&view_userdefined,
	&view_python,
	&view_module,
	&view_memory,
	&view_memory_curve,
	&view_memory_events,
	&view_benchmark,
	&view_advice,
	&view_dataprep,
	&view_dataprep_steps,
	&view_utilization,
	&view_utilization_time,
	&view_windows,
	&view_threads,
	&view_overhead,
	&view_losses,
	&view_notices,
	&view_gpu_trace,
	&view_api_trace,
	NULL,
};

const struct view_class *view_find(const char *name, size_t nr_bytes)
{
	if (nr_bytes == 3 && memcmp(name, "gpu", 3) == 0) {
		return &view_device; /* JSON has its rows under that key, too */
	}
	for (size_t i = 0; view_classes[i]; i++) {
		if (strlen(view_classes[i]->name) == nr_bytes &&
			memcmp(view_classes[i]->name, name, nr_bytes) == 0) {
			return view_classes[i];
		}
	}
	return NULL;
}

static bool has_rows(const struct process *process, const uint8_t *tables, size_t nr_tables)
{
	for (size_t i = 0; i < nr_tables; i++) {
		const struct stream_table *table = stream_table(process->stream, tables[i]);

		if (table && table->nr_rows) {
			return true;
		}
	}
	return false;
}

bool view_has_device_records(const struct process *process, const char **why)
{
	static const uint8_t works[] = {GPROF_TABLE_kernel, GPROF_TABLE_memcpy, GPROF_TABLE_memset,
		GPROF_TABLE_graph, GPROF_TABLE_untimed};
	static const uint8_t calls[] = {GPROF_TABLE_api, GPROF_TABLE_api_launch,
		GPROF_TABLE_api_copy, GPROF_TABLE_api_set, GPROF_TABLE_api_alloc,
		GPROF_TABLE_api_sync};

	if (has_rows(process, works, sizeof(works))) {
		return true;
	}
	*why = "no call of CUDA was recorded";
	if (has_rows(process, calls, sizeof(calls))) {
		*why = *process_fact(process, "cupti.version", "")
			       ? "nothing that ran on a device was recorded"
			       : "the stream does not say why";
	}
	for (size_t i = 0; i < process->nr_notices; i++) {
		const char *cause = string_pool_text(process->notices[i].cause, NULL);

		if (strcasestr(cause, "cupti")) {
			*why = process->notices[i].text
				       ? string_pool_text(process->notices[i].text, NULL)
				       : cause;
			break;
		}
	}
	return false;
}

bool view_without_take(struct view_without *without, const struct process *process)
{
	bool has_none = !view_has_device_records(process, &without->why);

	without->nr_processes++;
	without->nr_without += has_none;
	return has_none;
}

void view_note_more(struct table *table, const char *format, ...)
{
	va_list arguments;
	char *more;

	va_start(arguments, format);
	if (vasprintf(&more, format, arguments) < 0) {
		more = NULL;
	}
	va_end(arguments);
	if (more) {
		table_note(table, "%s%s%s", table->note ? table->note : "", table->note ? "; " : "",
			more);
	}
	free(more);
}

void view_without_note(const struct view_without *without, struct table *table, const char *rest)
{
	if (without->nr_without == without->nr_processes && without->nr_without) {
		table_note(table, "no device records: %s%s", without->why, rest);
	} else if (without->nr_without) {
		view_note_more(table, "no device records of %zu process%s: %s%s",
			without->nr_without, without->nr_without == 1 ? "" : "es", without->why,
			rest);
	}
}

void view_note_host(struct table *table)
{
	view_note_more(table,
		"calls of gloo, MPI and UCC are communication of all devices of their process; "
		"where it has no work of devices, its row is of its host: computation is that of "
		"operators, on any thread, and GPU none");
}

void view_note_steps(struct table *table, const struct process *process)
{
	const char *rule = process_fact(process, "step.rule", "");
	const char *why = process_fact(process, "step.why", "");

	if (!*rule) {
		return; /* the user named it, or an older recorder */
	}
	if (strcmp(rule, "none") == 0) {
		view_note_more(table, "no steps: %s; GPROF_STEP says what ends one", why);
	} else {
		view_note_more(table, "found by %s, confidence %s: %s", rule,
			process_fact(process, "step.confidence", "unknown"), why);
	}
}

void view_note_clock(struct table *table, struct process *const *processes, size_t nr_processes)
{
	struct buf text = {0};

	job_clock_print(processes, nr_processes, "", &text);
	if (text.nr_bytes) {
		view_note_more(table, "%.*s", (int)text.nr_bytes, text.bytes);
	}
	buf_fini(&text);
}

void view_note_fit(struct table *table, struct process *const *processes, size_t nr_processes)
{
	struct buf text = {0};

	if (job_clock_print_fit(processes, nr_processes, "", &text)) {
		view_note_more(table, "%.*s", (int)text.nr_bytes, text.bytes);
	}
	buf_fini(&text);
}

void view_note_ranks(struct table *table, struct process *const *processes, size_t nr_processes)
{
	int64_t last = -1, world = -1;
	size_t nr_ranks = 0, nr_strangers = 0, nr_parts = 0;

	for (size_t i = 0; i < nr_processes; i++) {
		const struct process *process = processes[i];

		world = process->world > world ? process->world : world;
		nr_ranks += process->rank > last;
		last = process->rank > last ? process->rank : last;
		nr_strangers += process->is_foreign;
		nr_parts += process->rank >= 0 && !process_is_complete(process);
	}
	if (nr_ranks > 1 && (int64_t)nr_ranks < world) {
		view_note_more(table, "not of all ranks: %zu of %" PRId64, nr_ranks, world);
	}
	if (nr_ranks > 1 && nr_parts) {
		view_note_more(table, "of %zu process%s only what is left or was written so far",
			nr_parts, nr_parts == 1 ? "" : "es");
	}
	if (nr_strangers) {
		view_note_more(table,
			"not of one job, or not of one time: %zu process%s that no other one here "
			"shares a communicator with",
			nr_strangers, nr_strangers == 1 ? "" : "es");
	}
}
