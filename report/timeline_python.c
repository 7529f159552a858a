/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline_python.h"

#include <inttypes.h>

#include "report/py_stack.h"

/* Ids of threads of the system are below. */
#define PYTHON_ROWS 0x40000000u

static void add_name(struct timeline *timeline, uint32_t thread, uint32_t tid)
{
	timeline_begin(timeline, 'M', NULL, "\"thread_name\"");
	timeline_place(timeline, timeline->pid, PYTHON_ROWS + tid, timeline->first_ns, NULL);
	buf_printf(timeline->out, ", \"args\": {\"name\": \"thread %u, Python\"}}", tid);
	timeline_begin(timeline, 'M', NULL, "\"thread_sort_index\"");
	timeline_place(timeline, timeline->pid, PYTHON_ROWS + tid, timeline->first_ns, NULL);
	buf_printf(timeline->out, ", \"args\": {\"sort_index\": %u}}", thread);
}

void timeline_python_take(struct timeline *timeline, struct idset *named, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t thread = (uint32_t)b->col[COL_py_call_thread][i];
		uint32_t tid = timeline_tid(timeline, thread);
		uint64_t begin = b->col[COL_py_call_begin][i];
		uint64_t begin_ns = timeline_host_ns(timeline, begin);
		uint64_t end_ns = timeline_host_ns(timeline, begin + b->col[COL_py_call_dur][i]);
		uint32_t code = (uint32_t)b->col[COL_py_call_py_code][i];

		if (!idset_has(named, thread)) {
			idset_add(named, thread);
			add_name(timeline, thread, tid);
		}
		timeline_begin(timeline, 'X', "python_function",
			timeline_name(py_code_text(timeline->process, code)));
		timeline_place(timeline, timeline->pid, PYTHON_ROWS + tid, begin_ns, &end_ns);
		buf_text(timeline->out, ", \"args\": {}}");
	}
}
