/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drain takes full buffers, the oldest first, turns their records into rows (record.c), and
 * gives them back zeroed. Kinds are enabled while a record window wants them. activity_yield() and
 * activity_reclaim() hand CUPTI over to another client and back (cupti_share.c).
 */
#include "collector/cupti/activity.h"

#include <stdatomic.h>

#include "collector/cupti/buffer.h"
#include "collector/cupti/cupti.h"
#include "collector/cupti/record.h"
#include "collector/cupti/share_clock.h"
#include "collector/util/config.h"
#include "collector/util/loss.h"
#include "collector/util/notice.h"
#include "collector/util/pace.h"
#include "collector/util/target.h"

#define PREFETCH_BYTES 1024
/* Records between two checks whether the drain should rest. */
#define RECORDS_APART 256u
/* CUPTI makes three at once. */
#define MIN_GPU_BUFFERS 4u

static struct activity_state {
	bool is_on;
	uint64_t gpu_buffer_bytes, gpu_buffers; /* as CUPTI reports them, 0 if unknown */
	/* Settings of another client for the whole process, or CUPTI's defaults. */
	_Atomic uint32_t thread_id_type;
	_Atomic uint32_t all_syncs;
	uint8_t is_zeroed; /* CUPTI_ATTR_ZEROED_OUT_BUFFER */
} state = {.all_syncs = 1};

/*
 * Declares whether the provider of buffers has zeroed them; if not, CUPTI does it on the target's
 * thread. Older libraries lack this setting and always do it.
 */
static void set_zeroed(uint8_t is_zeroed, uint8_t *before)
{
	size_t nr_bytes = sizeof(is_zeroed);

	if (before && cupti.cuptiActivityGetAttribute &&
		cupti.cuptiActivityGetAttribute(CUPTI_ATTR_ZEROED_OUT_BUFFER, &nr_bytes, before)) {
		*before = 0;
	}
	nr_bytes = sizeof(is_zeroed);
	if (cupti.cuptiActivitySetAttribute) {
		cupti.cuptiActivitySetAttribute(
			CUPTI_ATTR_ZEROED_OUT_BUFFER, &nr_bytes, &is_zeroed);
	}
}

/* Settings of the whole process: gprof's while it records, else the client's. */
static void set(uint32_t thread_id_type, uint32_t all_syncs)
{
	if (cupti.cuptiSetThreadIdType) {
		cupti.cuptiSetThreadIdType(thread_id_type);
	}
	if (cupti.cuptiActivityEnableAllSyncRecords) {
		cupti.cuptiActivityEnableAllSyncRecords((uint8_t)all_syncs);
	}
}

void activity_set_ours(void)
{
	set(CUPTI_THREAD_ID_SYSTEM, 0); /* no row for each "not ready" */
	set_zeroed(1, &state.is_zeroed);
}

static uint64_t get_attribute(int attribute)
{
	size_t value = 0, nr_bytes = sizeof(value);

	if (!cupti.cuptiActivityGetAttribute ||
		cupti.cuptiActivityGetAttribute(attribute, &nr_bytes, &value)) {
		return 0;
	}
	return value;
}

/*
 * CUPTI keeps times on the GPU in buffers of its own size, and makes more of them while kernels are
 * in flight. Beyond the limit kernels have no times, which is counted. Must come before the first
 * context.
 */
static void limit_gpu_memory(uint64_t max_bytes)
{
	uint64_t buffer_bytes = get_attribute(CUPTI_ATTR_DEVICE_BUFFER_SIZE);
	size_t limit, nr_bytes = sizeof(limit);

	if (buffer_bytes && cupti.cuptiActivitySetAttribute) {
		limit = max_bytes / buffer_bytes;
		limit = limit < MIN_GPU_BUFFERS ? MIN_GPU_BUFFERS : limit;
		cupti.cuptiActivitySetAttribute(
			CUPTI_ATTR_DEVICE_BUFFER_POOL_LIMIT, &nr_bytes, &limit);
	}
	state.gpu_buffer_bytes = buffer_bytes;
	state.gpu_buffers = get_attribute(CUPTI_ATTR_DEVICE_BUFFER_POOL_LIMIT);
}

uint64_t activity_gpu_bytes(void)
{
	return state.gpu_buffer_bytes * state.gpu_buffers;
}

void activity_start(uint64_t pool_bytes)
{
	uint32_t rc;

	if (!buffer_init(pool_bytes)) {
		cupti_refuse("no memory for CUPTI's buffers", CUPTI_OUT_OF_MEMORY);
		return;
	}
	state.is_on = false;
	limit_gpu_memory(config_number(CONFIG_CUPTI_GPU_MB) * 1000000u);
	rc = buffer_register();
	if (rc) {
		cupti_refuse("cuptiActivityRegisterCallbacks", rc);
		return;
	}
	activity_set_ours();
}

struct kind {
	uint32_t kind;
	bool is_required; /* without it there is no point */
	bool is_static;	  /* a fact: enabled once, with a dump of what exists */
};

/* Enabled in this order; a record of a whole graph replaces those of its nodes. */
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

/*
 * Synchronisations and events make CUPTI look at every call of CUDA, 0.2 us each on an H200, and
 * after the first of these kinds is off again, too. Hooks know which stream and event a call is
 * about.
 */
static bool is_chosen(const struct kind *kind)
{
	switch (kind->kind) {
	case CUPTI_KIND_GRAPH_TRACE:
		return config_number(CONFIG_GRAPH) == GRAPH_GRAPH;
	case CUPTI_KIND_SYNCHRONIZATION:
	case CUPTI_KIND_CUDA_EVENT:
		return config_number(CONFIG_CALLS) == CALLS_ALL;
	default:
		return true;
	}
}

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct kind *find_kind(uint32_t kind)
{
	size_t i = 0;

	while (i < NR_KINDS && kinds[i].kind != kind) {
		i++;
	}
	return i < NR_KINDS ? &kinds[i] : NULL;
}

bool activity_has(uint32_t kind)
{
	return find_kind(kind) != NULL;
}

static bool is_record_wanted(const struct cupti_record *record)
{
	const struct kind *kind = find_kind(record->kind);

	return kind && is_chosen(kind) && record_is_event(record);
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
		notice_add("CUPTI kind off", (int)rc,
			"activity kind %u is not available here; its records are missing",
			kind->kind);
	}
}

void activity_set_enabled(bool is_wanted)
{
	if (is_wanted == state.is_on || !cupti_is_live() || !buffer_is_ready()) {
		return;
	}
	state.is_on = is_wanted;
	for (size_t i = 0; i < NR_KINDS && cupti_is_live(); i++) {
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

static void count_dropped(bool is_ours)
{
	size_t dropped = 0;

	if (!cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) && dropped && is_ours) {
		loss_add(LOSS_CUPTI, dropped);
	}
}

void activity_flush(bool is_last)
{
	if (!cupti_is_live() || !buffer_is_ready()) {
		return;
	}
	cupti.cuptiActivityFlushAll(is_last ? CUPTI_FLAG_FLUSH_FORCED : 0);
	count_dropped(true);
}

/* ---- with another client ---- */

void activity_client_set_thread_id_type(uint32_t type)
{
	atomic_store(&state.thread_id_type, type);
}

void activity_client_set_all_syncs(uint32_t is_on)
{
	atomic_store(&state.all_syncs, is_on);
}

/*
 * Waits briefly for running work to finish, then flushes by force: all records of our turn must be
 * in our buffers before CUPTI gets the client's.
 */
void activity_yield(void)
{
	unsigned int tries;

	if (cupti_is_live() && buffer_is_ready()) {
		/* The facts too: they would come to the client unasked. */
		for (size_t i = 0; i < NR_KINDS; i++) {
			if (is_chosen(&kinds[i]) && (state.is_on || kinds[i].is_static)) {
				cupti.cuptiActivityDisable(kinds[i].kind);
			}
		}
		/* Gives running work a little time, since a forced flush truncates its times. */
		for (tries = 0; tries < 25 && buffer_nr_ours(); tries++) {
			cupti.cuptiActivityFlushAll(0);
			if (buffer_nr_ours()) {
				target_pause(200000);
			}
		}
		buffer_lend(true, is_record_wanted);
		for (tries = 0; tries < 4 && buffer_nr_ours(); tries++) {
			cupti.cuptiActivityFlushAll(CUPTI_FLAG_FLUSH_FORCED);
		}
		count_dropped(true);
		set(atomic_load(&state.thread_id_type), atomic_load(&state.all_syncs));
		set_zeroed(state.is_zeroed, NULL);
	}
	buffer_lend(true, is_record_wanted);
	buffer_take_nr_records();
	state.is_on = false;
}

uint64_t activity_reclaim(void)
{
	for (unsigned int tries = 0; tries < 4 && buffer_nr_theirs(); tries++) {
		cupti.cuptiActivityFlushAll(CUPTI_FLAG_FLUSH_FORCED);
	}
	buffer_lend(false, is_record_wanted);
	count_dropped(false);
	if (buffer_is_ready()) {
		activity_set_ours();
	}
	return buffer_take_nr_records();
}

void activity_lost(void)
{
	buffer_lost();
	state.is_on = false;
}

void activity_decode(uint8_t *buffer, size_t valid_bytes)
{
	struct cupti_record *record = NULL;
	uint32_t rc, n = 0;

	record_begin_buffer();
	while (valid_bytes) {
		rc = cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record);
		if (rc) {
			/* MAX_LIMIT_REACHED is the end; anything else cuts the buffer short. */
			loss_add(LOSS_CUPTI_RECORD, rc != CUPTI_MAX_LIMIT_REACHED);
			return;
		}
		/* Written last by another core, and long: what will be read of a later one. */
		__builtin_prefetch((const char *)record + PREFETCH_BYTES);
		__builtin_prefetch((const char *)record + PREFETCH_BYTES + 64);
		__builtin_prefetch((const char *)record + PREFETCH_BYTES + 128);
		record_take(record);
		if (++n % RECORDS_APART == 0) {
			pace_look();
		}
	}
}

unsigned int activity_drain(void)
{
	struct buffer buffer;
	unsigned int n = 0;

	buffer_touch();
	share_clock_look(); /* without buffers, too: pairs are better the more there are */
	for (; buffer_take(&buffer); n++) {
		/* A client may have set its clock since then, and these records have it. */
		share_clock_look();
		activity_decode(buffer.bytes, buffer.valid_bytes);
		buffer_give_back(&buffer);
		pace_look();
	}
	return n;
}

void activity_forget(void)
{
	state.is_on = false;
	buffer_forget();
}
