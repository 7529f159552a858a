/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/activity.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "collector/collector.h"
#include "collector/config.h"
#include "collector/cupti.h"
#include "collector/memory.h"
#include "collector/record.h"
#include "collector/stack.h"

/* Small enough that many threads can hold one each, large enough for 1,200 kernels. */
#define BUFFER_BYTES (256u << 10)
#define MAX_BUFFERS  65536u
/* From this API version (CUDA 12.9) on a refused buffer does not crash CUPTI. */
#define MAY_REFUSE     27u
#define SCRATCH_BYTES  (64u << 10)
#define PREFETCH_BYTES 1024

static struct activity_state {
	char *pool; /* NULL: not started */
	uint32_t nr_buffers;
	_Atomic uint32_t *links;
	_Atomic size_t *valid_bytes;
	struct stack free;
	struct stack full;
	_Atomic uint32_t nr_full;
	bool is_on;
} state;

/* ---- CUPTI's side: any thread, no lock, no CUPTI call ---- */

static void on_requested(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	uint32_t index = stack_pop(&state.free, state.links);

	*max_records = 0;
	*bytes = BUFFER_BYTES;
	if (index != STACK_NONE) {
		*buffer = (uint8_t *)state.pool + (size_t)index * BUFFER_BYTES;
		return;
	}
	ring_wake();
	*buffer = NULL;
	*bytes = 0;
	if (cupti.version < MAY_REFUSE) {
		/* Somewhere to write to; its records are counted as lost and thrown away. */
		*buffer = memory_map(SCRATCH_BYTES);
		*bytes = *buffer ? SCRATCH_BYTES : 0;
	}
	collector_lose(COLLECTOR_LOST_CUPTI_BUFFER, *buffer ? 0 : 1);
}

static void count_scratch(uint8_t *buffer, size_t valid_bytes)
{
	struct cupti_record *record = NULL;
	uint64_t n = 0;

	while (valid_bytes && !cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record)) {
		n++;
	}
	collector_lose(COLLECTOR_LOST_CUPTI_BUFFER, n);
	munmap(buffer, SCRATCH_BYTES);
}

static void on_completed(
	void *context, uint32_t stream_id, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	size_t at = (size_t)((char *)buffer - state.pool);

	(void)context;
	(void)stream_id;
	(void)bytes;
	if ((char *)buffer < state.pool || at >= (size_t)state.nr_buffers * BUFFER_BYTES) {
		if (buffer) {
			count_scratch(buffer, valid_bytes);
		}
		return;
	}
	atomic_store(&state.valid_bytes[at / BUFFER_BYTES], valid_bytes);
	stack_push(&state.full, state.links, (uint32_t)(at / BUFFER_BYTES));
	/* Early enough that CUPTI does not run out of buffers while the drain catches up. */
	if (atomic_fetch_add(&state.nr_full, 1) + 1 >= state.nr_buffers / 4) {
		ring_wake();
	}
}

/* ---- our side ---- */

void activity_start(uint64_t pool_bytes)
{
	uint32_t n = (uint32_t)(pool_bytes / BUFFER_BYTES);
	uint32_t rc;

	n = n < MAX_BUFFERS ? n : MAX_BUFFERS;
	state.links = memory_map(n * sizeof(*state.links));
	state.valid_bytes = memory_map(n * sizeof(*state.valid_bytes));
	state.pool = memory_map((size_t)n * BUFFER_BYTES);
	if (!state.links || !state.valid_bytes || !state.pool) {
		state.pool = NULL;
		cupti_refuse("no memory for CUPTI's buffers", CUPTI_OUT_OF_MEMORY);
		return;
	}
	state.nr_buffers = n;
	stack_init(&state.free);
	stack_init(&state.full);
	while (n--) {
		stack_push(&state.free, state.links, n); /* the lowest is used first */
	}
	rc = cupti.cuptiActivityRegisterCallbacks(on_requested, on_completed);
	if (rc) {
		cupti_refuse("cuptiActivityRegisterCallbacks", rc);
		return;
	}
	if (cupti.cuptiSetThreadIdType) {
		cupti.cuptiSetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
	}
	if (cupti.cuptiActivityEnableAllSyncRecords) {
		cupti.cuptiActivityEnableAllSyncRecords(0); /* no row for each "not ready" */
	}
}

struct kind {
	uint32_t kind;
	bool is_required; /* without it there is no point */
	bool is_static;	  /* a fact: enabled once, with a dump of what exists */
};

/* One after the other; the graph level takes the place of the nodes of a graph. */
static const struct kind kinds[] = {
	{CUPTI_KIND_DEVICE, false, true},
	{CUPTI_KIND_CONTEXT, false, true},
	{CUPTI_KIND_STREAM, false, true},
	{CUPTI_KIND_GRAPH_TRACE, false, false},
	{CUPTI_KIND_CONCURRENT_KERNEL, true, false},
	{CUPTI_KIND_MEMCPY, true, false},
	{CUPTI_KIND_MEMCPY2, false, false},
	{CUPTI_KIND_MEMSET, true, false},
	{CUPTI_KIND_SYNCHRONIZATION, false, false},
	{CUPTI_KIND_MEMORY2, false, false},
	{CUPTI_KIND_OVERHEAD, false, false},
	{CUPTI_KIND_CUDA_EVENT, false, false},
};

static bool is_chosen(const struct kind *kind)
{
	return kind->kind != CUPTI_KIND_GRAPH_TRACE || config_number(CONFIG_GRAPH) == GRAPH_GRAPH;
}

static void enable(const struct kind *kind)
{
	uint32_t rc = CUPTI_NOT_SUPPORTED;

	if (kind->is_static && cupti.cuptiActivityEnableAndDump) {
		rc = cupti.cuptiActivityEnableAndDump(kind->kind);
	}
	if (rc) {
		rc = cupti.cuptiActivityEnable(kind->kind);
	}
	if (rc && kind->is_required) {
		cupti_refuse("cuptiActivityEnable", rc);
	} else if (rc) {
		collector_notice("CUPTI kind off", (int)rc,
			"activity kind %u is not available here; its records are missing",
			kind->kind);
	}
}

void activity_follow(bool is_wanted)
{
	if (is_wanted == state.is_on || !cupti_is_live() || !state.pool) {
		return;
	}
	state.is_on = is_wanted;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && cupti_is_live(); i++) {
		if (!is_chosen(&kinds[i])) {
			continue;
		}
		if (is_wanted) {
			enable(&kinds[i]);
		} else if (!kinds[i].is_static) {
			cupti.cuptiActivityDisable(kinds[i].kind);
		}
	}
}

void activity_flush(bool is_last)
{
	size_t dropped = 0;

	if (!cupti_is_live() || !state.pool) {
		return;
	}
	cupti.cuptiActivityFlushAll(is_last ? CUPTI_FLAG_FLUSH_FORCED : 0);
	if (!cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) && dropped) {
		collector_lose(COLLECTOR_LOST_CUPTI, dropped);
	}
}

void activity_decode(uint8_t *buffer, size_t valid_bytes)
{
	struct cupti_record *record = NULL;
	uint32_t rc;

	record_begin_buffer();
	while (valid_bytes) {
		rc = cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record);
		if (rc) {
			/* MAX_LIMIT_REACHED is the end; anything else cuts the buffer short. */
			collector_lose(COLLECTOR_LOST_CUPTI_RECORD, rc != CUPTI_MAX_LIMIT_REACHED);
			return;
		}
		/* Written last by another core, and long: what will be read of a later one. */
		__builtin_prefetch((const char *)record + PREFETCH_BYTES);
		__builtin_prefetch((const char *)record + PREFETCH_BYTES + 64);
		__builtin_prefetch((const char *)record + PREFETCH_BYTES + 128);
		record_take(record);
	}
}

unsigned int activity_drain(void)
{
	unsigned int n = 0;

	if (!state.pool) {
		return 0;
	}
	for (;;) {
		uint32_t index = stack_pop(&state.full, state.links);

		if (index == STACK_NONE) {
			return n;
		}
		activity_decode((uint8_t *)state.pool + (size_t)index * BUFFER_BYTES,
			atomic_load(&state.valid_bytes[index]));
		atomic_fetch_sub(&state.nr_full, 1);
		stack_push(&state.free, state.links, index);
		n++;
	}
}

void activity_forget(void)
{
	state = (struct activity_state){0};
}
