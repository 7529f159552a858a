/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: ranges of NVTX whose name says that they are one. The names are tried in the order below;
 * the first that two ranges have counts, and one of PyTorch's profiler alone.
 */
#include "report/nsys/trace.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* With a number behind it, or without; then they are counted from 0. */
static const char *const names[] = {"ProfilerStep", "global_step", "training_step", "train_step",
	"train step", "step", "iteration", "iter", "batch"};
#define NR_NAMES (sizeof(names) / sizeof(names[0]))

_Static_assert(2 * NR_NAMES <= NSYS_STEP_NAMES, "with and without a number");

/* "step 12", "step_12", "Step #12", "iteration: 12", "batch[12]" */
static bool read_number(const char *text, size_t nr_bytes, uint64_t *number)
{
	size_t i = 0;
	bool has_digit = false;

	while (i < nr_bytes && strchr(" #_:=-([", text[i]) && text[i]) {
		i++;
	}
	for (*number = 0; i < nr_bytes && isdigit((unsigned char)text[i]); i++) {
		if (*number > UINT64_MAX / 10 - 1) {
			return false;
		}
		*number = *number * 10 + (uint64_t)(text[i] - '0');
		has_digit = true;
	}
	while (i < nr_bytes && strchr(" )]", text[i]) && text[i]) {
		i++;
	}
	return has_digit && i == nr_bytes;
}

void nsys_steps_add(struct nsys_trace *trace, uint32_t thread, const char *name, size_t nr_bytes,
	uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < NR_NAMES; i++) {
		size_t length = strlen(names[i]);
		uint64_t number;

		if (nr_bytes < length || strncasecmp(name, names[i], length) != 0) {
			continue;
		}
		if (nr_bytes == length) {
			struct import_steps *steps = &trace->steps[2 * i + 1];

			import_steps_add(steps, begin, end, steps->nr, thread);
		} else if (read_number(name + length, nr_bytes - length, &number)) {
			import_steps_add(&trace->steps[2 * i], begin, end, number, thread);
		}
	}
}

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
	if (write_own(trace)) {
		return;
	}
	for (size_t i = 0; i < 2 * NR_NAMES; i++) {
		if (trace->steps[i].nr > (i > 0)) {
			import_steps_write(&trace->steps[i], trace->out);
			return;
		}
	}
}

void nsys_steps_fini(struct nsys_trace *trace)
{
	for (size_t i = 0; i < NSYS_STEP_NAMES; i++) {
		import_steps_fini(&trace->steps[i]);
	}
}
