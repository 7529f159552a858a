/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/perfetto.h"

#include <stdlib.h>

#include "report/model/process_tree.h"
#include "report/comm/job_clock.h"
#include "report/util/progress.h"
#include "report/util/text.h"

/* What comes before the first event (samples, notices, the first step) has times, too. */
#define BEFORE_NS (3600ull * 1000000000)

static void write_process_track(
	struct perfetto *pftrace, struct process *const *processes, size_t nr_processes, size_t k)
{
	const struct process *process = processes[k];
	struct process_tree_member *members = mem_zeroed(nr_processes, sizeof(*members));
	struct buf called = {0}, name = {0}, label = {0};

	process_tree_find(processes, nr_processes, members);
	process_tree_add_name(&called, process);
	text_add_shown(&name, called.bytes, called.nr_bytes, 0);
	if (process->rank >= 0) {
		buf_printf(&label, "rank %d, ", (int)process->rank);
	}
	buf_printf(&label, "%s, ", process_host(process));
	process_tree_add_begin(&label, processes, k, members);
	job_clock_tell_one(process, ", ", &label);
	buf_char(&name, '\0');
	buf_char(&label, '\0');
	pftrace->process_track = pftrace->next_track++;
	perfetto_out_process(&pftrace->out, pftrace->process_track, pftrace->timeline.pid,
		name.bytes, label.bytes, (int32_t)k);
	buf_fini(&called);
	buf_fini(&name);
	buf_fini(&label);
	free(members);
}

static void write_process(
	struct perfetto *pftrace, struct process *const *processes, size_t nr_processes, size_t k)
{
	timeline_enter(&pftrace->timeline, processes, nr_processes, k);
	pftrace->rows = (struct perfetto_rows){.next_track = &pftrace->next_track};
	pftrace->spool = external_sort_create(sizeof(struct perfetto_slice), 0, 0);
	perfetto_queues_init(&pftrace->queues);
	pftrace->nr_counters = pftrace->nr_copies = pftrace->nr_arrows = 0;
	memset(pftrace->samples, 0, sizeof(pftrace->samples));
	idmap_init(&pftrace->shapes, sizeof(struct buf));
	write_process_track(pftrace, processes, nr_processes, k);
	perfetto_read(pftrace);
	perfetto_comm_take(pftrace, (uint32_t)k);
	perfetto_write_slices(pftrace);
	for (size_t i = 0; i < pftrace->shapes.nr; i++) {
		buf_fini(idmap_at(&pftrace->shapes, i));
	}
	idmap_fini(&pftrace->shapes);
	perfetto_queues_fini(&pftrace->queues);
	external_sort_destroy(pftrace->spool);
	perfetto_rows_fini(&pftrace->rows);
	timeline_leave(&pftrace->timeline);
}

static void write_processes(
	struct perfetto *pftrace, struct process *const *processes, size_t nr_processes)
{
	progress_start("writing the timeline", pftrace->timeline.nr_all);
	perfetto_comm_read(pftrace, processes, nr_processes);
	for (size_t i = 0; i < nr_processes; i++) {
		write_process(pftrace, processes, nr_processes, i);
	}
	progress_stop();
	perfetto_out_end(&pftrace->out);
	free(pftrace->arrows);
	free(pftrace->counters);
	free(pftrace->copies);
	nccl_ops_fini(&pftrace->collectives);
}

struct perfetto_written perfetto_write(struct process *const *processes, size_t nr_processes,
	const struct timeline_pick *pick, struct buf *out)
{
	struct perfetto pftrace = {.timeline = {.pick = pick}, .next_track = 1};
	struct timeline *timeline = &pftrace.timeline;

	timeline_find_base(timeline, processes, nr_processes, BEFORE_NS);
	perfetto_out_begin(&pftrace.out, out, timeline->all_first_ns,
		timeline->base_ns + timeline->all_first_ns);
	write_processes(&pftrace, processes, nr_processes);
	return (struct perfetto_written){
		pftrace.out.nr_slices, pftrace.out.nr_instants, pftrace.out.nr_counts};
}

void perfetto_walk(struct process *const *processes, size_t nr_processes,
	const struct timeline_pick *pick,
	void (*begin)(void *context, uint64_t base_ns, uint64_t first_ns, uint64_t last_ns),
	const struct perfetto_sink *sink)
{
	struct perfetto pftrace = {.timeline = {.pick = pick}, .next_track = 1};
	struct timeline *timeline = &pftrace.timeline;

	timeline_find_base(timeline, processes, nr_processes, BEFORE_NS);
	begin(sink->context, timeline->base_ns, timeline->all_first_ns, timeline->all_last_ns);
	perfetto_out_begin_sink(&pftrace.out, sink);
	write_processes(&pftrace, processes, nr_processes);
}
