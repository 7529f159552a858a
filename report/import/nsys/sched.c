/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When threads were on CPUs. nsys's events do not say why a thread leaves its CPU, so how long it
 * waits for one is unknown. An export of gprof's own has GPROF_THREAD_STATES, too, which does, and
 * of which the events are a part: then they only say how long each thread ran.
 */
#include "report/import/nsys/trace.h"

enum { SCHED_THREAD = 2, SCHED_IS_IN, SCHED_CPU };
const char *const nsys_sched_columns[NSYS_SCHED_COLUMNS] = {
	"start", "start", "globalTid", "isSchedIn", "cpu"};

static bool has_own_states(struct nsys_trace *trace)
{
	const struct nsys_query_want want = {.table = "GPROF_THREAD_STATES",
		NSYS_COLUMNS(nsys_own_state_columns),
		.nr_needed = NSYS_OWN_STATE_COLUMNS};
	struct nsys_query *query;

	if (!trace->own_states) {
		query = nsys_query_open(trace->database, &want);
		trace->own_states = query ? NSYS_YES : NSYS_NO;
		nsys_query_close(query);
	}
	return trace->own_states == NSYS_YES;
}

static void add_state(struct nsys_trace *trace, const struct nsys_thread *thread, uint64_t begin,
	uint64_t end, uint8_t state)
{
	struct gprof_row_thread_state *row;

	if (has_own_states(trace) || !begin || end <= begin) {
		return;
	}
	row = import_out_row(trace->out, GPROF_TABLE_thread_state);
	row->begin = begin;
	row->dur = end;
	row->task = thread->tid;
	row->cpu = thread->cpu;
	row->name = thread->name;
	row->state = state;
	row->switches = GPROF_THREAD_SWITCHED_AT_BEGIN | GPROF_THREAD_SWITCHED_AT_END;
}

static void leave_cpu(struct nsys_trace *trace, struct nsys_thread *thread, uint64_t tick)
{
	struct gprof_row_thread_cpu *row;

	add_state(trace, thread, thread->on_cpu_since, tick, GPROF_THREAD_RUNNING);
	thread->cpu_ns += tick - thread->on_cpu_since;
	thread->on_cpu_since = 0;
	thread->off_cpu_since = tick;
	row = import_out_row(trace->out, GPROF_TABLE_thread_cpu);
	row->time = tick;
	row->cpu_ns = thread->cpu_ns;
	row->wait_ns = GPROF_THREAD_CPU_UNKNOWN;
	row->thread = thread->id;
}

void nsys_sched_take(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	struct nsys_thread *thread =
		nsys_thread_of(trace, nsys_query_u64(query, SCHED_THREAD, 0), tick);

	if (nsys_query_u64(query, SCHED_IS_IN, 0)) {
		add_state(trace, thread, thread->off_cpu_since, tick, GPROF_THREAD_OFF_CPU);
		thread->on_cpu_since = tick;
		thread->off_cpu_since = 0;
		thread->cpu = nsys_query_u32(query, SCHED_CPU, 0);
	} else if (thread->on_cpu_since) {
		leave_cpu(trace, thread, tick);
	} else {
		thread->off_cpu_since = tick; /* what it did before is unknown */
	}
}

enum { OWN_THREAD = 2, OWN_CPU, OWN_STATE, OWN_SWITCHES, OWN_NAME };
const char *const nsys_own_state_columns[NSYS_OWN_STATE_COLUMNS] = {
	"start", "end", "globalTid", "cpu", "state", "switches", "nameId"};

void nsys_sched_take_own(struct nsys_trace *trace, const struct nsys_query *query, uint64_t tick)
{
	uint64_t tid = nsys_query_u64(query, OWN_THREAD, 0), end;
	uint32_t name = nsys_string(trace, query, OWN_NAME);
	struct gprof_row_thread_state *row;

	if (!nsys_tick(query, 1, &end) || end < tick) {
		trace->nr_incomplete++;
		return;
	}
	row = import_out_row(trace->out, GPROF_TABLE_thread_state);
	row->begin = tick;
	row->dur = end;
	row->task = nsys_thread_of(trace, tid, tick)->tid;
	row->cpu = nsys_query_u32(query, OWN_CPU, 0);
	row->name = name;
	row->state = (uint8_t)nsys_query_u32(query, OWN_STATE, GPROF_THREAD_OFF_CPU);
	row->switches = (uint8_t)nsys_query_u32(query, OWN_SWITCHES, 0);
}
