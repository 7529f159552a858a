/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   record of the kernel     row that it ends            what the thread does then
 *   switched in              runnable, blocked           running
 *   switched out             running                     runnable (it lost the CPU), or blocked
 *   lost records             none: unknown               unknown, until the next record
 *   exit                     running                     nothing
 *
 * At the start, and after lost records, the next record says what the thread has done since then:
 * one that is switched out ran. One that is switched in did not, and why not is unknown.
 */
#include "collector/sample/thread_switches.h"

#include <string.h>

#include "collector/format/format.h"
#include "collector/stream/batch.h"
#include "collector/stream/dictionary.h"

static const uint8_t state_after[] = {
	[CPU_RING_SWITCHED_IN] = GPROF_THREAD_RUNNING,
	[CPU_RING_PREEMPTED] = GPROF_THREAD_RUNNABLE,
	[CPU_RING_BLOCKED] = GPROF_THREAD_BLOCKED,
	[CPU_RING_SWITCHED_OUT] = GPROF_THREAD_OFF_CPU,
	[CPU_RING_EXITED] = 0,
};

void thread_switches_begin(
	struct thread_switches *switches, const struct clock_anchor *now, uint64_t monotonic_ns)
{
	*switches = (struct thread_switches){.since_ns = monotonic_ns,
		.since_raw = clock_raw_near(now, monotonic_ns),
		.state = GPROF_THREAD_OFF_CPU};
}

static void add_row(const struct thread_switches *switches, const struct thread_switches_of *of,
	uint64_t end_raw, bool is_switch)
{
	uint32_t name = dictionary_text(of->name, strlen(of->name));
	struct gprof_row_thread_state *row = batch_add(GPROF_TABLE_thread_state);

	row->begin = switches->since_raw;
	row->dur = end_raw;
	row->task = of->tid;
	row->cpu = switches->cpu;
	row->name = name;
	row->state = switches->state;
	row->switches =
		(uint8_t)((switches->has_switched_then ? GPROF_THREAD_SWITCHED_AT_BEGIN : 0) |
			  (is_switch ? GPROF_THREAD_SWITCHED_AT_END : 0));
}

/* Ends what the thread has done so far. */
static void go_on(struct thread_switches *switches, const struct thread_switches_of *of,
	uint64_t monotonic_ns, bool is_switch)
{
	uint64_t raw = clock_raw_near(of->now, monotonic_ns);

	if (of->is_wanted && switches->state && raw > switches->since_raw) {
		add_row(switches, of, raw, is_switch);
	}
	switches->since_ns = monotonic_ns;
	switches->since_raw = raw;
	switches->has_switched_then = is_switch;
}

void thread_switches_add(struct thread_switches *switches, const struct thread_switches_of *of,
	const struct cpu_ring_switch *record)
{
	bool is_in = record->what == CPU_RING_SWITCHED_IN,
	     is_exit = record->what == CPU_RING_EXITED;

	if (!switches->state || record->monotonic_ns < switches->since_ns ||
		(record->monotonic_ns == switches->since_ns && switches->has_switched_then)) {
		return;
	}
	if (record->what == CPU_RING_LOST) {
		thread_switches_begin(switches, of->now, record->monotonic_ns);
		return;
	}
	if (!switches->is_known) {
		switches->state = is_in ? GPROF_THREAD_OFF_CPU : GPROF_THREAD_RUNNING;
		switches->cpu = record->cpu;
	}
	go_on(switches, of, record->monotonic_ns, !is_exit);
	switches->is_known = true;
	switches->state = state_after[record->what];
	switches->cpu = record->cpu;
}

/* What a thread has done is unknown as long as it has had no record. */
void thread_switches_cut(struct thread_switches *switches, const struct thread_switches_of *of)
{
	if (switches->is_known && of->now->monotonic_ns > switches->since_ns) {
		go_on(switches, of, of->now->monotonic_ns, false);
	} else if (!of->is_wanted && switches->state) {
		thread_switches_begin(switches, of->now, of->now->monotonic_ns);
	}
}

void thread_switches_end(struct thread_switches *switches, const struct thread_switches_of *of)
{
	thread_switches_cut(switches, of);
	*switches = (struct thread_switches){.state = 0};
}
