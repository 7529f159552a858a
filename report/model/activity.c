/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names GPU activities and reads what kind of copy a row is. Views, timelines and replays ask here,
 * so that a kind of activity has one name in all of them.
 */
#include "report/model/activity.h"

#include <stdio.h>

uint32_t activity_kind_mask(unsigned int table)
{
	switch (table) {
	case GPROF_TABLE_kernel:
		return COLS(kernel, shape);
	case GPROF_TABLE_memcpy:
		return COLS(memcpy, bytes, copy_kind, src_kind, dst_kind, flags);
	case GPROF_TABLE_memset:
		return COLS(memset, bytes, memory_kind, flags);
	default:
		return COLS(graph, graph);
	}
}

uint32_t activity_copy(const struct batch *b, uint32_t row)
{
	bool is_set = b->table == GPROF_TABLE_memset;
	uint64_t flags = b->col[is_set ? COL_memset_flags : COL_memcpy_flags][row];
	uint32_t kind;

	if (is_set) {
		kind = COPY_IS_SET | copy_pack(0, 0, (uint32_t)b->col[COL_memset_memory_kind][row]);
	} else {
		kind = copy_pack((uint32_t)b->col[COL_memcpy_copy_kind][row],
			(uint32_t)b->col[COL_memcpy_src_kind][row],
			(uint32_t)b->col[COL_memcpy_dst_kind][row]);
	}
	return kind | (flags & GPROF_COPY_ASYNC ? COPY_IS_ASYNC : 0);
}

static uint32_t graph_name(uint64_t graph)
{
	char text[64];
	int length = snprintf(
		text, sizeof(text), "(CUDA graph %llu as a whole)", (unsigned long long)graph);

	return string_pool_intern(text, (size_t)length);
}

uint32_t activity_name(const struct process *process, unsigned int table, uint32_t shape,
	uint32_t copy, uint64_t graph)
{
	if (table == GPROF_TABLE_kernel) {
		return process_shape_name(process, shape);
	}
	return gprof_table_is(table, GPROF_IS_COPYING) ? copy_name(copy) : graph_name(graph);
}
