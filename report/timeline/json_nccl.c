/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/json_nccl.h"

#include <inttypes.h>

#include "report/comm/nccl_names.h"
#include "report/comm/nccl_ops.h"
#include "report/timeline/json_lane.h"

static void add_args(struct timeline *timeline, const struct batch *b, uint32_t row)
{
	uint32_t comm = (uint32_t)b->col[COL_nccl_comm][row];
	struct buf *out = timeline->out;
	const char *separator = "";

	buf_text(out, ", \"args\": {");
	if (b->col[COL_nccl_bytes][row]) {
		buf_printf(out, "\"bytes\": %" PRIu64, b->col[COL_nccl_bytes][row]);
		separator = ", ";
	}
	if (b->col[COL_nccl_sequence][row]) {
		buf_printf(out, "%s\"sequence number\": %" PRIu64, separator,
			b->col[COL_nccl_sequence][row]);
		separator = ", ";
	}
	if (comm) {
		buf_printf(out, "%s\"communicator\": %s", separator,
			timeline_name(nccl_names_comm(timeline->process, comm)));
		separator = ", ";
	}
	if (b->col[COL_nccl_result][row]) {
		buf_printf(out, "%s\"result\": %d", separator, (int)b->col[COL_nccl_result][row]);
	}
	buf_text(out, "}}");
}

void timeline_nccl_take(struct timeline *timeline, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_rows; i++) {
		uint64_t begin = b->col[COL_nccl_begin][i];
		uint64_t begin_ns = timeline_host_ns(timeline, begin);
		uint64_t end_ns = timeline_host_ns(timeline, begin + b->col[COL_nccl_dur][i]);
		uint32_t tid = timeline_tid(timeline, b->col[COL_nccl_thread][i]);

		/* Traces of others have operators for those of no thread. */
		if (!b->col[COL_nccl_thread][i] ||
			!timeline_lanes_place(
				timeline->lanes, TIMELINE_LANE_CALL, &tid, begin_ns, end_ns)) {
			continue;
		}
		timeline_begin(timeline, 'X', "nccl",
			timeline_name(nccl_names_call((uint8_t)b->col[COL_nccl_kind][i])));
		timeline_place(timeline, timeline->pid, tid, begin_ns, &end_ns);
		add_args(timeline, b, i);
	}
}
