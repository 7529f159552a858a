/* SPDX-License-Identifier: Apache-2.0 */
#include "report/comm/nccl_launch.h"

#include <stdlib.h>

#include "report/util/buf.h"

#define LAUNCH_MASK (COL_BIT(COL_api_thread) | COL_BIT(COL_api_correlation))

void nccl_launches_fini(struct nccl_launches *launches)
{
	free(launches->spans);
	free(launches->items);
	*launches = (struct nccl_launches){0};
}

void nccl_launches_clear(struct nccl_launches *launches)
{
	launches->nr_spans = launches->nr = launches->last_span = launches->last = 0;
}

void nccl_launches_add(struct nccl_launches *launches, const struct nccl_span *span)
{
	if (span->after == span->last) {
		return;
	}
	launches->spans = array_grow(launches->spans, launches->nr_spans, &launches->spans_capacity,
		sizeof(*launches->spans));
	launches->spans[launches->nr_spans++] = *span;
}

/* ---- spans ---- */

/* By thread, then by id; what one thread launched later has higher ids, modulo 2^32. */
static int by_thread(const void *a, const void *b)
{
	const struct nccl_span *x = a, *y = b;

	if (x->thread != y->thread) {
		return x->thread < y->thread ? -1 : 1;
	}
	return x->last < y->last ? -1 : x->last > y->last;
}

static bool ends_before(const struct nccl_span *span, uint32_t thread, uint32_t correlation)
{
	return span->thread < thread || (span->thread == thread && span->last < correlation);
}

/* The first that does not end before a launch, mostly the one that it was for the launch before. */
static size_t find_end(struct nccl_launches *launches, uint32_t thread, uint32_t correlation)
{
	const struct nccl_span *spans = launches->spans;
	size_t low = 0, high = launches->nr_spans, last = launches->last_span;

	if ((!last || ends_before(&spans[last - 1], thread, correlation)) &&
		(last == high || !ends_before(&spans[last], thread, correlation))) {
		return last;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ends_before(&spans[middle], thread, correlation)) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	launches->last_span = low;
	return low;
}

static size_t find_op(struct nccl_launches *launches, uint32_t thread, uint32_t correlation)
{
	size_t at = find_end(launches, thread, correlation);
	const struct nccl_span *span = &launches->spans[at];

	return at < launches->nr_spans && span->thread == thread &&
			       correlation - span->after - 1 < span->last - span->after
		       ? span->op
		       : NCCL_LAUNCH_NONE;
}

/* ---- launches ---- */

static void add(struct nccl_launches *launches, uint32_t correlation, size_t op)
{
	if (op == NCCL_LAUNCH_NONE) {
		return;
	}
	launches->items = array_grow(
		launches->items, launches->nr, &launches->capacity, sizeof(*launches->items));
	launches->items[launches->nr++] = (struct nccl_launch){correlation, (uint32_t)op};
}

static int by_correlation(const void *a, const void *b)
{
	const struct nccl_launch *x = a, *y = b;

	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static void take(struct nccl_launches *launches, const struct batch *batch)
{
	for (uint32_t i = 0; i < batch->nr_rows; i++) {
		uint32_t id = (uint32_t)batch->col[COL_api_correlation][i];

		if (id) {
			add(launches, id,
				find_op(launches, (uint32_t)batch->col[COL_api_thread][i], id));
		}
	}
}

void nccl_launches_read(struct nccl_launches *launches, struct stream *stream)
{
	if (!launches->nr_spans) {
		return;
	}
	qsort(launches->spans, launches->nr_spans, sizeof(*launches->spans), by_thread);
	for (size_t i = 0; i < launches->nr_spans && !launches->spans[i].thread; i++) {
		add(launches, launches->spans[i].last, launches->spans[i].op);
	}
	for (size_t i = 0; i < stream->nr_blocks; i++) {
		unsigned int table = stream_block_table(stream, i);
		struct batch batch;

		if ((table == GPROF_TABLE_api || table == GPROF_TABLE_api_launch) &&
			!stream_load(stream, i, LAUNCH_MASK, 0, &batch)) {
			take(launches, &batch);
		}
	}
	if (launches->nr) {
		qsort(launches->items, launches->nr, sizeof(*launches->items), by_correlation);
	}
}

/* Kernels come about as they were launched: mostly that before their id is the last one again. */
size_t nccl_launches_find(struct nccl_launches *launches, uint32_t correlation)
{
	const struct nccl_launch *items = launches->items;
	size_t low = 0, high = launches->nr, last = launches->last;

	if (!launches->nr) {
		return NCCL_LAUNCH_NONE;
	}
	if (items[last].correlation <= correlation) {
		bool is_next = last + 1 < high && items[last + 1].correlation > correlation;

		low = last;
		high = is_next ? last + 1 : high;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].correlation <= correlation) {
			low = middle;
		} else {
			high = middle;
		}
	}
	launches->last = low;
	return items[low].correlation == correlation ? items[low].op : NCCL_LAUNCH_NONE;
}
