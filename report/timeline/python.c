/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/python.h"

#include "report/model/py_stack.h"
#include "report/timeline/json_lane.h"

void timeline_python_take(struct timeline *timeline, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint32_t thread = (uint32_t)b->col[COL_py_call_thread][i];
		uint32_t tid = TIMELINE_PYTHON_ROWS + timeline_tid(timeline, thread);
		uint64_t begin = b->col[COL_py_call_begin][i];
		uint64_t begin_ns = timeline_host_ns(timeline, begin);
		uint64_t end_ns = timeline_host_ns(timeline, begin + b->col[COL_py_call_dur][i]);
		uint32_t code;

		if (!timeline_lanes_place(
			    timeline->lanes, TIMELINE_LANE_CALL, &tid, begin_ns, end_ns)) {
			continue;
		}
		code = (uint32_t)b->col[COL_py_call_py_code][i];
		timeline_begin(timeline, 'X', "python_function",
			timeline_name(py_code_text(timeline->process, code)));
		timeline_place(timeline, timeline->pid, tid, begin_ns, &end_ns);
		buf_text(timeline->out, ", \"args\": {}}");
	}
}
