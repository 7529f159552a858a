/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: those that gprof recorded, where it wrote the export; else ranges of NVTX by their names.
 */
#include "report/import/nsys/trace.h"

enum {
	STEP_TIME,
	STEP_NUMBER,
	STEP_HOW,
	STEP_THREAD,
	STEP_PROCESS,
};

static void take_own(struct nsys_trace *trace, const struct nsys_query *query, void *nr_steps)
{
	struct nsys_thread *thread;
	struct gprof_row_step *row;
	uint64_t tick;

	if (nsys_query_u64(query, STEP_PROCESS, 0) != (trace->process & NSYS_ID_MASK) ||
		!nsys_tick(query, STEP_TIME, &tick)) {
		return;
	}
	thread = nsys_thread_of(trace, nsys_query_u64(query, STEP_THREAD, 0), UINT64_MAX);
	row = import_out_row(trace->out, GPROF_TABLE_step);
	row->time = tick;
	row->step = nsys_query_u64(query, STEP_NUMBER, 0);
	row->how = (uint8_t)nsys_query_u32(query, STEP_HOW, 0);
	row->thread = thread->id;
	++*(uint64_t *)nr_steps;
}

/*
 * Where gprof wrote the export, the steps that it had recorded are beside nsys's tables. The first
 * row alone only says where the recording began.
 */
static bool write_own(struct nsys_trace *trace)
{
	static const char *const columns[] = {"time_ns", "step", "how", "tid", "pid"};
	const struct nsys_query_want want = {
		.table = "step", NSYS_COLUMNS(columns), .nr_needed = 5, .order = "1"};
	uint64_t nr_steps = 0;

	nsys_table_read(trace, &want, take_own, &nr_steps);
	return nr_steps > 1;
}

void nsys_steps_write(struct nsys_trace *trace)
{
	if (!write_own(trace)) {
		import_step_names_write(&trace->steps, trace->out);
	}
}
